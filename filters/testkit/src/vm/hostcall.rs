//! The hostcalls of ABI 0.2.1 as Envoy offers them.

use std::fmt;

macro_rules! hostcalls {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A function that the host offers to a module under the import module `env`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Hostcall {
            $($(#[$doc])* $variant,)*
        }

        impl Hostcall {
            /// Every hostcall, for sweeps.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name under which a module imports it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

hostcalls! {
    /// Writes a log line.
    Log = "proxy_log",
    /// Reads the host's log level.
    GetLogLevel = "proxy_get_log_level",
    /// Reads the wall clock.
    GetCurrentTimeNanoseconds = "proxy_get_current_time_nanoseconds",
    /// Asks for ticks on the root context.
    SetTickPeriodMilliseconds = "proxy_set_tick_period_milliseconds",
    /// Reads a range of a buffer.
    GetBufferBytes = "proxy_get_buffer_bytes",
    /// Reads a buffer's length.
    GetBufferStatus = "proxy_get_buffer_status",
    /// Replaces, prepends to or appends to a buffer.
    SetBufferBytes = "proxy_set_buffer_bytes",
    /// Reads a whole header map.
    GetHeaderMapPairs = "proxy_get_header_map_pairs",
    /// Replaces a whole header map.
    SetHeaderMapPairs = "proxy_set_header_map_pairs",
    /// Reads the size of a header map in bytes.
    GetHeaderMapSize = "proxy_get_header_map_size",
    /// Reads the first value of a header.
    GetHeaderMapValue = "proxy_get_header_map_value",
    /// Adds a header beside those of the same name.
    AddHeaderMapValue = "proxy_add_header_map_value",
    /// Replaces all headers of a name by one.
    ReplaceHeaderMapValue = "proxy_replace_header_map_value",
    /// Removes all headers of a name.
    RemoveHeaderMapValue = "proxy_remove_header_map_value",
    /// Reads a property.
    GetProperty = "proxy_get_property",
    /// Stores a property in the exchange's filter state.
    SetProperty = "proxy_set_property",
    /// Reads a shared value and its compare-and-set number.
    GetSharedData = "proxy_get_shared_data",
    /// Stores a shared value.
    SetSharedData = "proxy_set_shared_data",
    /// Registers this VM as the reader of a queue.
    RegisterSharedQueue = "proxy_register_shared_queue",
    /// Finds a queue by name.
    ResolveSharedQueue = "proxy_resolve_shared_queue",
    /// Takes the oldest item of a queue.
    DequeueSharedQueue = "proxy_dequeue_shared_queue",
    /// Appends to a queue.
    EnqueueSharedQueue = "proxy_enqueue_shared_queue",
    /// Lets a paused stream go on.
    ContinueStream = "proxy_continue_stream",
    /// Resets a stream.
    CloseStream = "proxy_close_stream",
    /// Answers the request in the upstream's stead.
    SendLocalResponse = "proxy_send_local_response",
    /// Dispatches an HTTP call-out.
    HttpCall = "proxy_http_call",
    /// Dispatches a unary gRPC call-out.
    GrpcCall = "proxy_grpc_call",
    /// Opens a gRPC stream.
    GrpcStream = "proxy_grpc_stream",
    /// Sends a message on a gRPC stream.
    GrpcSend = "proxy_grpc_send",
    /// Cancels a gRPC call or stream.
    GrpcCancel = "proxy_grpc_cancel",
    /// Closes a gRPC stream from this side.
    GrpcClose = "proxy_grpc_close",
    /// Reads the status of the last call-out.
    GetStatus = "proxy_get_status",
    /// Makes following hostcalls act on another context.
    SetEffectiveContext = "proxy_set_effective_context",
    /// Calls a function that the proxy itself registered.
    CallForeignFunction = "proxy_call_foreign_function",
    /// Says that a context which asked to live on is done.
    Done = "proxy_done",
    /// Defines a metric.
    DefineMetric = "proxy_define_metric",
    /// Adds to a metric.
    IncrementMetric = "proxy_increment_metric",
    /// Sets a metric, or records a sample.
    RecordMetric = "proxy_record_metric",
    /// Reads a metric.
    GetMetric = "proxy_get_metric",
}

impl Hostcall {
    /// The hostcall that a module imports under this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|hostcall| hostcall.name() == name)
    }
}

impl fmt::Display for Hostcall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

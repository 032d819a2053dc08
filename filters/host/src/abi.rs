//! The proxy-wasm ABI 0.2.1's host calls, made safe.
//!
//! Each returns the host's refusal as an error: no status makes any of them panic, not even one that the ABI
//! does not define, and results are bytes, for the host does not promise UTF-8.
//! (<https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1>)
#![allow(unsafe_code)]

use core::ptr::{null, null_mut};

use portcullis_policy::HostError;

use crate::buffers;

/// `proxy_buffer_type_t`.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum Buffer {
    HttpRequestBody = 0,
    HttpResponseBody = 1,
    HttpCallResponseBody = 4,
    PluginConfiguration = 7,
}

/// `proxy_header_map_type_t`.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum Map {
    HttpRequestHeaders = 0,
    HttpRequestTrailers = 1,
    HttpResponseHeaders = 2,
    HttpResponseTrailers = 3,
    HttpCallResponseHeaders = 6,
    HttpCallResponseTrailers = 7,
}

/// `proxy_log_level_t`.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum LogLevel {
    Debug = 1,
    Info = 2,
    Warn = 3,
    Error = 4,
}

/// `proxy_stream_type_t`.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum Stream {
    HttpRequest = 0,
    HttpResponse = 1,
}

/// `proxy_metric_type_t`.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum Metric {
    Counter = 0,
    Gauge = 1,
}

/// A raw status is a plain number here: an `enum` would be undefined behaviour as soon as the host returned a
/// number that the enum does not list.
fn check(status: u32) -> Result<(), HostError> {
    Err(match status {
        0 => return Ok(()),
        1 => HostError::NotFound,
        2 => HostError::BadArgument,
        8 => HostError::CasMismatch,
        10 => HostError::InternalFailure,
        other => HostError::Other(other),
    })
}

/// Runs a host call that returns bytes. An address of zero stands for no bytes.
fn bytes(call: impl FnOnce(*mut *mut u8, *mut usize) -> u32) -> Result<Vec<u8>, HostError> {
    let mut address = null_mut();
    let mut size = 0;
    let status = call(&raw mut address, &raw mut size);
    let result = buffers::take(address, size);
    check(status)?;
    match result {
        Some(bytes) => Ok(bytes),
        None if address.is_null() || size == 0 => Ok(Vec::new()),
        None => Err(HostError::Malformed),
    }
}

/// `clockid` of WASI: the clock that cannot be set.
const CLOCK_MONOTONIC: u32 = 1;

macro_rules! host_calls {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        #[cfg(target_arch = "wasm32")]
        #[link(wasm_import_module = "env")]
        unsafe extern "C" {
            $(fn $name($($argument: $type),*) -> u32;)*
        }
        // Elsewhere there is no host: everything fails, so that the crate can be checked and tested natively.
        $(
            #[cfg(not(target_arch = "wasm32"))]
            #[allow(clippy::too_many_arguments)]
            unsafe fn $name($(_: $type),*) -> u32 {
                10
            }
        )*
    };
}

host_calls! {
    fn proxy_log(level: LogLevel, message: *const u8, message_size: usize);
    fn proxy_get_current_time_nanoseconds(return_time: *mut u64);
    fn proxy_set_tick_period_milliseconds(period: u32);
    fn proxy_set_effective_context(context_id: u32);
    fn proxy_get_buffer_bytes(
        buffer: Buffer, start: usize, max_size: usize, return_data: *mut *mut u8, return_size: *mut usize,
    );
    fn proxy_set_buffer_bytes(buffer: Buffer, start: usize, size: usize, data: *const u8, data_size: usize);
    fn proxy_get_header_map_pairs(map: Map, return_data: *mut *mut u8, return_size: *mut usize);
    fn proxy_add_header_map_value(
        map: Map, name: *const u8, name_size: usize, value: *const u8, value_size: usize,
    );
    fn proxy_replace_header_map_value(
        map: Map, name: *const u8, name_size: usize, value: *const u8, value_size: usize,
    );
    fn proxy_remove_header_map_value(map: Map, name: *const u8, name_size: usize);
    fn proxy_get_property(
        path: *const u8, path_size: usize, return_data: *mut *mut u8, return_size: *mut usize,
    );
    fn proxy_set_property(path: *const u8, path_size: usize, value: *const u8, value_size: usize);
    fn proxy_get_shared_data(
        key: *const u8, key_size: usize, return_data: *mut *mut u8, return_size: *mut usize, return_cas: *mut u32,
    );
    fn proxy_set_shared_data(
        key: *const u8, key_size: usize, value: *const u8, value_size: usize, cas: u32,
    );
    fn proxy_http_call(
        cluster: *const u8, cluster_size: usize, headers: *const u8, headers_size: usize, body: *const u8,
        body_size: usize, trailers: *const u8, trailers_size: usize, timeout: u32, return_token: *mut u32,
    );
    fn proxy_define_metric(kind: Metric, name: *const u8, name_size: usize, return_id: *mut u32);
    fn proxy_increment_metric(id: u32, offset: i64);
    fn proxy_record_metric(id: u32, value: u64);
    fn proxy_continue_stream(stream: Stream);
    fn proxy_done();
    fn proxy_send_local_response(
        status: u32, details: *const u8, details_size: usize, body: *const u8, body_size: usize,
        headers: *const u8, headers_size: usize, grpc_status: i32,
    );
}

#[cfg(target_arch = "wasm32")]
#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn clock_time_get(clock: u32, precision: u64, return_time: *mut u64) -> u32;
}
#[cfg(not(target_arch = "wasm32"))]
unsafe fn clock_time_get(_: u32, _: u64, _: *mut u64) -> u32 {
    52
}

// SAFETY, for every call below: pointers that go out are to live slices with their own lengths, or to local
// variables that outlive the call; the host copies what it wants before it returns and keeps no address. Memory
// that comes back is looked up in `buffers`, never dereferenced as the host gave it.

/// Writes a line to the host's log.
///
/// # Errors
/// The host's refusal.
pub fn log(level: LogLevel, message: &str) -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe { proxy_log(level, message.as_ptr(), message.len()) })
}

/// Nanoseconds since the Unix epoch.
///
/// # Errors
/// The host's refusal.
pub fn current_time() -> Result<u64, HostError> {
    let mut time = 0;
    // SAFETY: see above.
    check(unsafe { proxy_get_current_time_nanoseconds(&raw mut time) })?;
    Ok(time)
}

/// Nanoseconds on the monotonic clock of the process, which all VMs of it share. The proxy-wasm ABI has the wall
/// clock only; this one is WASI's (`clock_time_get`, snapshot preview 1).
///
/// # Errors
/// The host's refusal.
pub fn monotonic_time() -> Result<u64, HostError> {
    let mut time = 0;
    // SAFETY: see above.
    match unsafe { clock_time_get(CLOCK_MONOTONIC, 1, &raw mut time) } {
        0 => Ok(time),
        // WASI has status codes of its own; which of them it was helps nobody.
        _ => Err(HostError::InternalFailure),
    }
}

/// Tells the host that the plugin whose end it waits for is done.
///
/// # Errors
/// The host's refusal.
pub fn done() -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe { proxy_done() })
}

/// Sets the tick's period in milliseconds; 0 stops it.
///
/// # Errors
/// The host's refusal.
pub fn set_tick_period(milliseconds: u32) -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe { proxy_set_tick_period_milliseconds(milliseconds) })
}

/// Makes later host calls of this callback apply to another context.
///
/// # Errors
/// There is no such context.
pub fn set_effective_context(context_id: u32) -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe { proxy_set_effective_context(context_id) })
}

/// At most `max_size` bytes of a buffer from `start` on.
///
/// # Errors
/// The host's refusal.
pub fn buffer(buffer: Buffer, start: usize, max_size: usize) -> Result<Vec<u8>, HostError> {
    // SAFETY: see above.
    bytes(|data, size| unsafe { proxy_get_buffer_bytes(buffer, start, max_size, data, size) })
}

/// Replaces `size` bytes of a buffer at `start`.
///
/// # Errors
/// The host's refusal.
pub fn set_buffer(buffer: Buffer, start: usize, size: usize, with: &[u8]) -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe { proxy_set_buffer_bytes(buffer, start, size, with.as_ptr(), with.len()) })
}

/// All fields of a header map, serialized.
///
/// # Errors
/// The host's refusal.
pub fn header_map(map: Map) -> Result<Vec<u8>, HostError> {
    // SAFETY: see above.
    bytes(|data, size| unsafe { proxy_get_header_map_pairs(map, data, size) })
}

/// Appends a header.
///
/// # Errors
/// The host's refusal.
pub fn add_header(map: Map, name: &str, value: &[u8]) -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe { proxy_add_header_map_value(map, name.as_ptr(), name.len(), value.as_ptr(), value.len()) })
}

/// Replaces a header, or appends it.
///
/// # Errors
/// The host's refusal.
pub fn replace_header(map: Map, name: &str, value: &[u8]) -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe {
        proxy_replace_header_map_value(map, name.as_ptr(), name.len(), value.as_ptr(), value.len())
    })
}

/// Removes all headers of this name.
///
/// # Errors
/// The host's refusal.
pub fn remove_header(map: Map, name: &str) -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe { proxy_remove_header_map_value(map, name.as_ptr(), name.len()) })
}

/// The property at a path whose parts are joined by NUL.
///
/// # Errors
/// [`HostError::NotFound`] when there is none.
pub fn property(path: &[u8]) -> Result<Vec<u8>, HostError> {
    // SAFETY: see above.
    bytes(|data, size| unsafe { proxy_get_property(path.as_ptr(), path.len(), data, size) })
}

/// Sets the property at a path whose parts are joined by NUL.
///
/// # Errors
/// The host's refusal.
pub fn set_property(path: &[u8], value: &[u8]) -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe { proxy_set_property(path.as_ptr(), path.len(), value.as_ptr(), value.len()) })
}

/// A shared value and its version.
///
/// # Errors
/// [`HostError::NotFound`] when there is none.
pub fn shared_data(key: &str) -> Result<(Vec<u8>, u32), HostError> {
    let mut cas = 0;
    // SAFETY: see above.
    let value = bytes(|data, size| unsafe {
        proxy_get_shared_data(key.as_ptr(), key.len(), data, size, &raw mut cas)
    })?;
    Ok((value, cas))
}

/// Writes a shared value if its version is `cas`, or blindly if `cas` is 0. Where there is no value, any version
/// writes.
///
/// # Errors
/// [`HostError::CasMismatch`] when the version is another.
pub fn set_shared_data(key: &str, value: &[u8], cas: u32) -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe { proxy_set_shared_data(key.as_ptr(), key.len(), value.as_ptr(), value.len(), cas) })
}

/// Sends an HTTP request; gives the token that its reply will carry.
///
/// # Errors
/// The host did not send it.
pub fn http_call(
    cluster: &str,
    headers: &[(&str, &[u8])],
    body: &[u8],
    timeout_milliseconds: u32,
) -> Result<u32, HostError> {
    let headers = serialize_map(headers).ok_or(HostError::BadArgument)?;
    let mut token = 0;
    // SAFETY: see above.
    check(unsafe {
        proxy_http_call(
            cluster.as_ptr(),
            cluster.len(),
            headers.as_ptr(),
            headers.len(),
            body.as_ptr(),
            body.len(),
            null(),
            0,
            timeout_milliseconds,
            &raw mut token,
        )
    })?;
    Ok(token)
}

/// Defines a metric, or finds it.
///
/// # Errors
/// The host's refusal.
pub fn define_metric(kind: Metric, name: &str) -> Result<u32, HostError> {
    let mut id = 0;
    // SAFETY: see above.
    check(unsafe { proxy_define_metric(kind, name.as_ptr(), name.len(), &raw mut id) })?;
    Ok(id)
}

/// Adds to a metric.
///
/// # Errors
/// The host's refusal.
pub fn increment_metric(id: u32, offset: i64) -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe { proxy_increment_metric(id, offset) })
}

/// Sets a metric.
///
/// # Errors
/// The host's refusal.
pub fn record_metric(id: u32, value: u64) -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe { proxy_record_metric(id, value) })
}

/// Lets a held stream go on.
///
/// # Errors
/// The host's refusal.
pub fn continue_stream(stream: Stream) -> Result<(), HostError> {
    // SAFETY: see above.
    check(unsafe { proxy_continue_stream(stream) })
}

/// Ends the exchange with a response of our own. The gRPC status is left to the host, which derives it from the
/// HTTP status for a gRPC request.
///
/// # Errors
/// The host's refusal.
pub fn send_local_response(
    status: u32,
    details: &str,
    headers: &[(&str, &[u8])],
    body: &[u8],
) -> Result<(), HostError> {
    let headers = serialize_map(headers).ok_or(HostError::BadArgument)?;
    // SAFETY: see above.
    check(unsafe {
        proxy_send_local_response(
            status,
            details.as_ptr(),
            details.len(),
            body.as_ptr(),
            body.len(),
            headers.as_ptr(),
            headers.len(),
            -1,
        )
    })
}

/// The ABI's form of a header map: see [`HeaderList::from_serialized`](portcullis_policy::HeaderList).
fn serialize_map(fields: &[(&str, &[u8])]) -> Option<Vec<u8>> {
    let mut out = u32::try_from(fields.len()).ok()?.to_le_bytes().to_vec();
    for (name, value) in fields {
        out.extend(u32::try_from(name.len()).ok()?.to_le_bytes());
        out.extend(u32::try_from(value.len()).ok()?.to_le_bytes());
    }
    for (name, value) in fields {
        out.extend_from_slice(name.as_bytes());
        out.push(0);
        out.extend_from_slice(value);
        out.push(0);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use portcullis_policy::HeaderList;

    use super::*;

    #[test]
    fn serializes_what_a_header_list_reads() {
        let fields: [(&str, &[u8]); 3] = [(":path", b"/"), ("a", b""), ("a", b"\xff\x00")];
        let list = HeaderList::from_serialized(serialize_map(&fields).unwrap()).unwrap();
        let read: Vec<_> = list.iter().collect();
        assert_eq!(read, fields.map(|(name, value)| (name.as_bytes(), value)));
    }

    #[test]
    fn gives_undefined_statuses_as_they_are() {
        assert_eq!(check(0), Ok(()));
        assert_eq!(check(u32::MAX), Err(HostError::Other(u32::MAX)));
        assert_eq!(check(3), Err(HostError::Other(3)));
    }
}

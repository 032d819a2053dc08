//! The callbacks of the ABI, made as Envoy makes them.

use super::exchange::{MapType, Side};
use super::header_map::HeaderMap;
use super::host::{CallReply, Context};
use super::machine::{Action, Vm, wire_length};
use super::record::ContextId;
use super::status;
use super::trap::Trap;

/// Whether more of a message follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndOfStream {
    /// More follows: a body, another chunk, or trailers.
    No,
    /// This was the last part.
    Yes,
}

/// Whether a context may be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It may.
    Yes,
    /// The module will say `proxy_done` when it may.
    Later,
}

/// Envoy's own numbers for what shall happen to a body chunk.
const BUFFER: u32 = 1;
const WATERMARK: u32 = 2;

impl Vm {
    /// Brings the request headers of the exchange.
    ///
    /// # Errors
    /// When the module traps, as for every callback.
    pub fn request_headers(&mut self, id: ContextId, end: EndOfStream) -> Result<Action, Trap> {
        let arguments =
            [id.0, self.map_length(id, MapType::RequestHeaders), u32::from(end == EndOfStream::Yes)];
        self.map_callback(id, MapType::RequestHeaders, "proxy_on_request_headers", &arguments)
    }

    /// Brings a chunk of the request body. While the module pauses, chunks pile up before it.
    ///
    /// # Errors
    /// When the module traps.
    pub fn request_body(&mut self, id: ContextId, chunk: &[u8], end: EndOfStream) -> Result<Action, Trap> {
        self.body_callback(id, Side::Request, "proxy_on_request_body", chunk, end)
    }

    /// Brings the request trailers of the exchange.
    ///
    /// # Errors
    /// When the module traps.
    pub fn request_trailers(&mut self, id: ContextId) -> Result<Action, Trap> {
        let arguments = [id.0, self.map_length(id, MapType::RequestTrailers)];
        self.map_callback(id, MapType::RequestTrailers, "proxy_on_request_trailers", &arguments)
    }

    /// Brings the response headers of the exchange.
    ///
    /// # Errors
    /// When the module traps.
    pub fn response_headers(&mut self, id: ContextId, end: EndOfStream) -> Result<Action, Trap> {
        let arguments =
            [id.0, self.map_length(id, MapType::ResponseHeaders), u32::from(end == EndOfStream::Yes)];
        self.map_callback(id, MapType::ResponseHeaders, "proxy_on_response_headers", &arguments)
    }

    /// Brings a chunk of the response body. While the module pauses, chunks pile up before it.
    ///
    /// # Errors
    /// When the module traps.
    pub fn response_body(&mut self, id: ContextId, chunk: &[u8], end: EndOfStream) -> Result<Action, Trap> {
        self.body_callback(id, Side::Response, "proxy_on_response_body", chunk, end)
    }

    /// Brings the response trailers of the exchange.
    ///
    /// # Errors
    /// When the module traps.
    pub fn response_trailers(&mut self, id: ContextId) -> Result<Action, Trap> {
        let arguments = [id.0, self.map_length(id, MapType::ResponseTrailers)];
        self.map_callback(id, MapType::ResponseTrailers, "proxy_on_response_trailers", &arguments)
    }

    /// Whether the last callback sent a local response, after which Envoy stops the stream whatever the
    /// callback returned.
    #[must_use]
    pub fn stopped_by_local_response(&self) -> bool {
        self.store.data().stop_iteration
    }

    /// Brings the answer to an HTTP call-out; it is within the module's reach while the callback runs.
    ///
    /// # Errors
    /// When the module traps.
    pub fn http_call_response(&mut self, token: u32, reply: CallReply) -> Result<(), Trap> {
        let sizes = [reply.headers.len(), reply.body.len(), reply.trailers.len()].map(wire_length);
        self.store.data_mut().inbound.http = Some(reply);
        let outcome = self.root_callback("proxy_on_http_call_response", &[&[token], &sizes[..]].concat());
        self.store.data_mut().inbound.http = None;
        outcome
    }

    /// Tells that an HTTP call-out failed: no headers, no body, no trailers.
    ///
    /// # Errors
    /// When the module traps.
    pub fn http_call_failure(&mut self, token: u32) -> Result<(), Trap> {
        self.store.data_mut().inbound.status = (status::BROKEN_CONNECTION, b"reset".to_vec());
        let outcome = self.root_callback("proxy_on_http_call_response", &[token, 0, 0, 0]);
        self.store.data_mut().inbound.status.1.clear();
        outcome
    }

    /// Tells of an HTTP call-out's answer with these sizes, true or not, and nothing within reach.
    ///
    /// # Errors
    /// When the module traps.
    pub fn http_call_sizes(
        &mut self,
        token: u32,
        headers: u32,
        body_size: u32,
        trailers: u32,
    ) -> Result<(), Trap> {
        self.root_callback("proxy_on_http_call_response", &[token, headers, body_size, trailers])
    }

    /// Brings the initial metadata of a gRPC call-out's answer.
    ///
    /// # Errors
    /// When the module traps.
    pub fn grpc_initial_metadata(&mut self, token: u32, metadata: HeaderMap) -> Result<(), Trap> {
        let count = wire_length(metadata.len());
        self.store.data_mut().inbound.grpc_initial = Some(metadata);
        let outcome = self.root_callback("proxy_on_grpc_receive_initial_metadata", &[token, count]);
        self.store.data_mut().inbound.grpc_initial = None;
        outcome
    }

    /// Brings a message. For a unary call it is the last event that Envoy tells of.
    ///
    /// # Errors
    /// When the module traps.
    pub fn grpc_receive(&mut self, token: u32, message: &[u8]) -> Result<(), Trap> {
        self.store.data_mut().inbound.grpc_message = Some(message.to_vec());
        let outcome = self.root_callback("proxy_on_grpc_receive", &[token, wire_length(message.len())]);
        let host = self.store.data_mut();
        host.inbound.grpc_message = None;
        if token % 2 == 1 {
            host.open_grpc.remove(&token);
        }
        outcome
    }

    /// Brings the trailing metadata of a gRPC call-out's answer.
    ///
    /// # Errors
    /// When the module traps.
    pub fn grpc_trailing_metadata(&mut self, token: u32, metadata: HeaderMap) -> Result<(), Trap> {
        let count = wire_length(metadata.len());
        self.store.data_mut().inbound.grpc_trailing = Some(metadata);
        let outcome = self.root_callback("proxy_on_grpc_receive_trailing_metadata", &[token, count]);
        self.store.data_mut().inbound.grpc_trailing = None;
        outcome
    }

    /// Tells that a gRPC call failed, or that the peer ended a stream.
    ///
    /// # Errors
    /// When the module traps.
    pub fn grpc_close(&mut self, token: u32, grpc_status: u32, message: &str) -> Result<(), Trap> {
        self.store.data_mut().inbound.status = (grpc_status, message.as_bytes().to_vec());
        let outcome = self.root_callback("proxy_on_grpc_close", &[token, grpc_status]);
        let host = self.store.data_mut();
        host.inbound.status.1.clear();
        host.open_grpc.remove(&token);
        outcome
    }

    /// Ticks the root context, whether a period was set or not.
    ///
    /// # Errors
    /// When the module traps.
    pub fn tick(&mut self) -> Result<(), Trap> {
        self.root_callback("proxy_on_tick", &[])
    }

    /// Tells that a queue has items.
    ///
    /// # Errors
    /// When the module traps.
    pub fn queue_ready(&mut self, queue: u32) -> Result<(), Trap> {
        self.root_callback("proxy_on_queue_ready", &[queue])
    }

    /// Tells of a foreign function's result.
    ///
    /// # Errors
    /// When the module traps.
    pub fn foreign_function(&mut self, function: u32, data: &[u8]) -> Result<(), Trap> {
        self.store.data_mut().inbound.call_data = data.to_vec();
        let outcome = self.root_callback("proxy_on_foreign_function", &[function, wire_length(data.len())]);
        self.store.data_mut().inbound.call_data.clear();
        outcome
    }

    /// Asks for the log of an exchange: headers of both sides and response trailers are there to read.
    ///
    /// # Errors
    /// When the module traps.
    pub fn log(&mut self, id: ContextId) -> Result<(), Trap> {
        if let Some(exchange) = self.store.data_mut().exchange_of(id) {
            exchange.begin_log();
        }
        let outcome = self.enter(id, "proxy_on_log", &[id.0]);
        if let Some(exchange) = self.store.data_mut().exchange_of(id) {
            exchange.end_log();
        }
        outcome.map(drop)
    }

    /// Tells a context that it ended.
    ///
    /// # Errors
    /// When the module traps.
    pub fn done(&mut self, id: ContextId) -> Result<Done, Trap> {
        if self.enter(id, "proxy_on_done", &[id.0])? == Some(0) {
            self.store.data_mut().awaiting_done.insert(id.0);
            return Ok(Done::Later);
        }
        Ok(Done::Yes)
    }

    /// Deletes a context. It can be read with [`Vm::exchange`] all the same.
    ///
    /// # Errors
    /// When the module traps.
    pub fn delete(&mut self, id: ContextId) -> Result<(), Trap> {
        let outcome = self.enter(id, "proxy_on_delete", &[id.0]);
        let host = self.store.data_mut();
        host.awaiting_done.remove(&id.0);
        if let Some(Context::Exchange(exchange)) = host.contexts.remove(&id.0) {
            host.finished.insert(id.0, *exchange);
        }
        outcome.map(drop)
    }

    /// Ends an exchange as Envoy does: log, done, delete, without waiting for a module that is not done.
    ///
    /// # Errors
    /// When the module traps.
    pub fn finish(&mut self, id: ContextId) -> Result<(), Trap> {
        self.log(id)?;
        self.done(id)?;
        self.delete(id)
    }

    fn root_callback(&mut self, export: &str, arguments: &[u32]) -> Result<(), Trap> {
        let root = ContextId::ROOT;
        self.enter(root, export, &[&[root.0], arguments].concat()).map(drop)
    }

    fn map_callback(
        &mut self,
        id: ContextId,
        map: MapType,
        export: &str,
        arguments: &[u32],
    ) -> Result<Action, Trap> {
        self.exchange_mut(id).bring(map);
        let action = Action::from_raw(self.enter(id, export, arguments)?.unwrap_or(0));
        if action == Action::Continue && !self.stopped_by_local_response() {
            let exchange = self.exchange_mut(id);
            exchange.release(map);
            // Trailers that are let go take a body that was held back along.
            match map {
                MapType::RequestTrailers => exchange.request_body.pass_held(),
                MapType::ResponseTrailers => exchange.response_body.pass_held(),
                _ => {}
            }
        }
        Ok(action)
    }

    fn body_callback(
        &mut self,
        id: ContextId,
        side: Side,
        export: &str,
        chunk: &[u8],
        end: EndOfStream,
    ) -> Result<Action, Trap> {
        let body = self.exchange_mut(id).body_mut(side);
        body.receive(chunk);
        let arguments = [id.0, wire_length(body.buffer.len()), u32::from(end == EndOfStream::Yes)];
        let action = Action::from_raw(self.enter(id, export, &arguments)?.unwrap_or(0));
        let stopped = self.stopped_by_local_response();
        let body = self.exchange_mut(id).body_mut(side);
        match action.raw() {
            _ if stopped => body.drop_chunk(),
            0 => body.pass(),
            BUFFER | WATERMARK => body.hold(),
            _ => body.drop_chunk(),
        }
        Ok(action)
    }
}

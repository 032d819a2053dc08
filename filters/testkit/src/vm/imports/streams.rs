//! Streams let go on or reset, and local responses.

use wasmtime::{Caller, Linker};

use super::{Reply, Slots, answer};
use crate::vm::exchange::Side;
use crate::vm::host::Host;
use crate::vm::hostcall::Hostcall;
use crate::vm::record::{LocalResponse, StreamAction, StreamKind};
use crate::vm::status;

pub(super) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::ContinueStream;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, kind: u32| {
        answer(caller, call, Slots::NONE, |frame| {
            let kind = StreamKind::from_wire(kind).ok_or(status::BAD_ARGUMENT)?;
            let side = match kind {
                StreamKind::Request => Side::Request,
                StreamKind::Response => Side::Response,
                StreamKind::Downstream | StreamKind::Upstream => return Err(status::BAD_ARGUMENT),
            };
            let host = frame.host();
            let context = host.context_id();
            if let Some(exchange) = host.exchange_mut() {
                exchange.resume(side);
            }
            host.script.record.stream_actions.push((context, StreamAction::Continue(kind)));
            Ok(Reply::nothing())
        })
    })?;

    let call = Hostcall::CloseStream;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, kind: u32| {
        answer(caller, call, Slots::NONE, |frame| {
            let kind = StreamKind::from_wire(kind).ok_or(status::BAD_ARGUMENT)?;
            let context = frame.host().context_id();
            frame.host().script.record.stream_actions.push((context, StreamAction::Close(kind)));
            Ok(Reply::nothing())
        })
    })?;

    let call = Hostcall::SendLocalResponse;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>,
              status: u32,
              details: u32,
              details_size: u32,
              body: u32,
              body_size: u32,
              headers: u32,
              headers_size: u32,
              grpc_status: i32| {
            answer(caller, call, Slots::NONE, |frame| {
                let details = frame.bytes(details, details_size)?;
                let body = frame.bytes(body, body_size)?;
                let headers = frame.map(headers, headers_size)?.lower_cased();
                let host = frame.host();
                let context = host.context_id();
                let grpc_status = (grpc_status != -1).then_some(grpc_status);
                let response = LocalResponse { context, status, details, headers, body, grpc_status };
                host.script.record.local_responses.push(response);
                host.stop_iteration = true;
                Ok(Reply::nothing())
            })
        },
    )?;
    Ok(())
}

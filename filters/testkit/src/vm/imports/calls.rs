//! Call-outs over HTTP and gRPC.

use std::time::Duration;

use wasmtime::{Caller, Linker};

use super::{Frame, Reply, Slots, answer};
use crate::vm::host::Host;
use crate::vm::hostcall::Hostcall;
use crate::vm::record::{GrpcAction, GrpcCall, GrpcKind, HttpCall};
use crate::vm::status;

pub(super) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    http(linker)?;
    grpc_open(linker)?;
    grpc_use(linker)?;
    let call = Hostcall::GetStatus;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, code: u32, text: u32, size: u32| {
            answer(caller, call, Slots::data(text, size).narrow(code), |frame| {
                let (code, text) = frame.host().inbound.status.clone();
                Ok(Reply { data: Some(text), ..Reply::number(code) })
            })
        },
    )?;
    Ok(())
}

fn http(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::HttpCall;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>,
              upstream: u32,
              upstream_size: u32,
              headers: u32,
              headers_size: u32,
              body: u32,
              body_size: u32,
              trailers: u32,
              trailers_size: u32,
              timeout: i32,
              token: u32| {
            answer(caller, call, Slots::NONE.narrow(token), |frame| {
                let request = HttpCall {
                    token: frame.host().next_http_token,
                    context: frame.host().context_id(),
                    upstream: frame.bytes(upstream, upstream_size)?,
                    headers: frame.map(headers, headers_size)?,
                    body: frame.bytes(body, body_size)?,
                    trailers: frame.map(trailers, trailers_size)?,
                    timeout: milliseconds(timeout)?,
                };
                dispatch_http(frame.host(), request)
            })
        },
    )?;
    Ok(())
}

fn dispatch_http(host: &mut Host, request: HttpCall) -> Result<Reply, u32> {
    let addressed = [":method", ":path", ":authority"];
    if !addressed.into_iter().all(|name| request.headers.first(name).is_some())
        || !host.script.clusters.contains(&request.upstream)
    {
        return Err(status::BAD_ARGUMENT);
    }
    let token = request.token;
    host.next_http_token += 1;
    host.script.record.http_calls.push(request);
    Ok(Reply::number(token))
}

fn milliseconds(timeout: i32) -> Result<Duration, u32> {
    u64::try_from(timeout).map(Duration::from_millis).map_err(|_| status::BAD_ARGUMENT)
}

fn grpc_open(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::GrpcCall;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>,
              service: u32,
              service_size: u32,
              name: u32,
              name_size: u32,
              method: u32,
              method_size: u32,
              metadata: u32,
              metadata_size: u32,
              message: u32,
              message_size: u32,
              timeout: u32,
              token: u32| {
            answer(caller, call, Slots::NONE.narrow(token), |frame| {
                let timeout = Duration::from_millis(u64::from(timeout));
                let kind = GrpcKind::Unary { message: frame.bytes(message, message_size)?, timeout };
                let address = [(service, service_size), (name, name_size), (method, method_size)];
                open_grpc(frame, address, (metadata, metadata_size), kind)
            })
        },
    )?;

    let call = Hostcall::GrpcStream;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>,
              service: u32,
              service_size: u32,
              name: u32,
              name_size: u32,
              method: u32,
              method_size: u32,
              metadata: u32,
              metadata_size: u32,
              token: u32| {
            answer(caller, call, Slots::NONE.narrow(token), |frame| {
                let address = [(service, service_size), (name, name_size), (method, method_size)];
                open_grpc(frame, address, (metadata, metadata_size), GrpcKind::Stream)
            })
        },
    )?;
    Ok(())
}

fn open_grpc(
    frame: &mut Frame<'_, '_>,
    [service, name, method]: [(u32, u32); 3],
    metadata: (u32, u32),
    kind: GrpcKind,
) -> Result<Reply, u32> {
    let service = frame.bytes(service.0, service.1)?;
    let service_name = frame.bytes(name.0, name.1)?;
    let method = frame.bytes(method.0, method.1)?;
    let metadata = frame.map(metadata.0, metadata.1)?;
    let host = frame.host();
    let wanted = u32::from(matches!(kind, GrpcKind::Unary { .. }));
    if host.next_grpc_token % 2 != wanted {
        host.next_grpc_token += 1;
    }
    let token = host.next_grpc_token;
    host.next_grpc_token += 1;
    host.open_grpc.insert(token);
    let context = host.context_id();
    let opened = GrpcCall { token, context, service, service_name, method, metadata, kind };
    host.script.record.grpc_calls.push(opened);
    Ok(Reply::number(token))
}

fn grpc_use(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::GrpcSend;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, token: u32, message: u32, message_size: u32, end_of_stream: u32| {
            answer(caller, call, Slots::NONE, |frame| {
                let message = frame.bytes(message, message_size)?;
                if token % 2 == 1 {
                    return Err(status::BAD_ARGUMENT);
                }
                let action = GrpcAction::Send { token, message, end_of_stream: end_of_stream != 0 };
                act_on_grpc(frame, token, action)
            })
        },
    )?;

    let call = Hostcall::GrpcCancel;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, token: u32| {
        answer(caller, call, Slots::NONE, |frame| {
            let reply = act_on_grpc(frame, token, GrpcAction::Cancel { token })?;
            frame.host().open_grpc.remove(&token);
            Ok(reply)
        })
    })?;

    let call = Hostcall::GrpcClose;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, token: u32| {
        answer(caller, call, Slots::NONE, |frame| act_on_grpc(frame, token, GrpcAction::Close { token }))
    })?;
    Ok(())
}

fn act_on_grpc(frame: &mut Frame<'_, '_>, token: u32, action: GrpcAction) -> Result<Reply, u32> {
    let host = frame.host();
    if !host.open_grpc.contains(&token) {
        return Err(status::NOT_FOUND);
    }
    host.script.record.grpc_actions.push(action);
    Ok(Reply::nothing())
}

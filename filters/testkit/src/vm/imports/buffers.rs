//! Bodies, configurations and messages as byte buffers.

use wasmtime::{Caller, Linker};

use super::{Reply, Slots, answer};
use crate::vm::exchange::Side;
use crate::vm::host::{Host, Phase};
use crate::vm::hostcall::Hostcall;
use crate::vm::status;

/// The buffers of the ABI.
#[derive(Clone, Copy, Debug)]
enum Buffer {
    Body(Side),
    /// A TCP connection's data, which an HTTP filter never has.
    Connection,
    HttpCallBody,
    GrpcMessage,
    VmConfiguration,
    PluginConfiguration,
    CallData,
}

impl Buffer {
    fn from_wire(buffer: u32) -> Result<Self, u32> {
        Ok(match buffer {
            0 => Self::Body(Side::Request),
            1 => Self::Body(Side::Response),
            2 | 3 => Self::Connection,
            4 => Self::HttpCallBody,
            5 => Self::GrpcMessage,
            6 => Self::VmConfiguration,
            7 => Self::PluginConfiguration,
            8 => Self::CallData,
            _ => return Err(status::BAD_ARGUMENT),
        })
    }

    /// The buffer's bytes. Some buffers are "not found" out of their callback; the others are just empty.
    fn bytes(self, host: &Host) -> Result<&[u8], u32> {
        match self {
            Self::Body(side) => {
                let body = host.exchange().and_then(|exchange| exchange.body(side).reachable());
                Ok(body.map_or(&[], Vec::as_slice))
            }
            Self::Connection => Ok(&[]),
            Self::HttpCallBody => {
                host.inbound.http.as_ref().map(|reply| reply.body.as_slice()).ok_or(status::NOT_FOUND)
            }
            Self::GrpcMessage => Ok(host.inbound.grpc_message.as_deref().unwrap_or_default()),
            Self::VmConfiguration => Ok(&host.script.vm_configuration),
            Self::PluginConfiguration if host.phase == Phase::Configuring => {
                Ok(&host.script.plugin_configuration)
            }
            Self::PluginConfiguration => Err(status::NOT_FOUND),
            Self::CallData => Ok(&host.inbound.call_data),
        }
    }
}

pub(super) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::GetBufferBytes;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, buffer: u32, start: u32, length: u32, data: u32, size: u32| {
            answer(caller, call, Slots::data(data, size), |frame| {
                let bytes = Buffer::from_wire(buffer)?.bytes(frame.host())?;
                let (start, length) = (as_size(start)?, as_size(length)?);
                let rest = bytes.get(start..).ok_or(status::BAD_ARGUMENT)?;
                let part = &rest[..length.min(rest.len())];
                // For an empty range Envoy answers `Ok` and leaves the return slots as they are.
                Ok(if part.is_empty() { Reply::nothing() } else { Reply::data(part) })
            })
        },
    )?;

    let call = Hostcall::GetBufferStatus;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, buffer: u32, length: u32, flags: u32| {
            answer(caller, call, Slots::NONE.narrow(length).narrow(flags), |frame| {
                let length = Buffer::from_wire(buffer)?.bytes(frame.host())?.len();
                Ok(Reply { numbers: [u64::try_from(length).ok(), Some(0)], ..Reply::nothing() })
            })
        },
    )?;

    let call = Hostcall::SetBufferBytes;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, buffer: u32, start: u32, length: u32, data: u32, size: u32| {
            answer(caller, call, Slots::NONE, |frame| {
                let buffer = Buffer::from_wire(buffer)?;
                buffer.bytes(frame.host())?;
                let data = frame.bytes(data, size)?;
                let Buffer::Body(side) = buffer else { return Err(status::BAD_ARGUMENT) };
                let body = frame.host().body_mut(side).ok_or(status::BAD_ARGUMENT)?;
                splice(body, as_size(start)?, as_size(length)?, data)?;
                Ok(Reply::nothing())
            })
        },
    )?;
    Ok(())
}

/// Prepends, replaces the whole, or appends. Envoy refuses to replace a part.
fn splice(body: &mut Vec<u8>, start: usize, length: usize, data: Vec<u8>) -> Result<(), u32> {
    if start == 0 && length == 0 {
        body.splice(0..0, data);
    } else if start == 0 && length >= body.len() {
        *body = data;
    } else if start != 0 && start >= body.len() {
        body.extend(data);
    } else {
        return Err(status::BAD_ARGUMENT);
    }
    Ok(())
}

fn as_size(number: u32) -> Result<usize, u32> {
    usize::try_from(number).map_err(|_| status::BAD_ARGUMENT)
}

//! Log, clock, ticks, properties, contexts, foreign functions.

use std::time::Duration;

use wasmtime::{Caller, Linker};

use super::{Frame, Reply, Slots, answer};
use crate::vm::host::Host;
use crate::vm::hostcall::Hostcall;
use crate::vm::record::{ContextId, ForeignCall, LogLevel, LogSource};
use crate::vm::status;

pub(super) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    log_and_time(linker)?;
    properties(linker)?;
    contexts(linker)
}

fn log_and_time(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::Log;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, level: u32, at: u32, size: u32| {
            answer(caller, call, Slots::NONE, |frame| {
                let level = LogLevel::from_wire(level).ok_or(status::BAD_ARGUMENT)?;
                let text = frame.bytes(at, size)?;
                frame.host().log(level, LogSource::Hostcall, &text);
                Ok(Reply::nothing())
            })
        },
    )?;

    let call = Hostcall::GetLogLevel;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, at: u32| {
        answer(caller, call, Slots::NONE.narrow(at), |frame| {
            Ok(Reply::number(frame.host().script.log_level as u32))
        })
    })?;

    let call = Hostcall::GetCurrentTimeNanoseconds;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, at: u32| {
        answer(caller, call, Slots::NONE.wide(at), |frame| Ok(Reply::number(frame.host().script.now)))
    })?;

    let call = Hostcall::SetTickPeriodMilliseconds;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, period: u32| {
        answer(caller, call, Slots::NONE, |frame| {
            let period = Duration::from_millis(u64::from(period));
            frame.host().script.record.tick_period = Some(period);
            Ok(Reply::nothing())
        })
    })?;
    Ok(())
}

fn properties(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::GetProperty;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, path: u32, path_size: u32, value: u32, value_size: u32| {
            answer(caller, call, Slots::data(value, value_size), |frame| {
                let path = frame.bytes(path, path_size)?;
                let host = frame.host();
                let own = host.exchange().and_then(|exchange| exchange.properties.get_wire(&path));
                own.or_else(|| host.script.properties.get_wire(&path))
                    .map(Reply::data)
                    .ok_or(status::NOT_FOUND)
            })
        },
    )?;

    let call = Hostcall::SetProperty;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, path: u32, path_size: u32, value: u32, value_size: u32| {
            answer(caller, call, Slots::NONE, |frame| {
                let (path, value) = (frame.bytes(path, path_size)?, frame.bytes(value, value_size)?);
                let exchange = frame.host().exchange_mut().ok_or(status::NOT_FOUND)?;
                exchange.properties.set_wire(&path, value);
                Ok(Reply::nothing())
            })
        },
    )?;
    Ok(())
}

fn contexts(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::SetEffectiveContext;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, id: u32| {
        answer(caller, call, Slots::NONE, |frame| {
            let host = frame.host();
            if !host.contexts.contains_key(&id) {
                return Err(status::BAD_ARGUMENT);
            }
            host.effective = ContextId(id);
            Ok(Reply::nothing())
        })
    })?;

    let call = Hostcall::Done;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>| {
        answer(caller, call, Slots::NONE, |frame| {
            let host = frame.host();
            let context = host.context_id();
            if !host.awaiting_done.remove(&context.0) {
                return Err(status::NOT_FOUND);
            }
            host.script.record.done.push(context);
            Ok(Reply::nothing())
        })
    })?;

    let call = Hostcall::CallForeignFunction;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>,
              name: u32,
              name_size: u32,
              arguments: u32,
              arguments_size: u32,
              results: u32,
              results_size: u32| {
            // A caller that does not want the results passes null.
            let slots = if results == 0 { Slots::NONE } else { Slots::data(results, results_size) };
            answer(caller, call, slots, |frame| {
                call_foreign(frame, (name, name_size), (arguments, arguments_size))
            })
        },
    )?;
    Ok(())
}

fn call_foreign(frame: &mut Frame<'_, '_>, name: (u32, u32), arguments: (u32, u32)) -> Result<Reply, u32> {
    let function = String::from_utf8_lossy(&frame.bytes(name.0, name.1)?).into_owned();
    let arguments = frame.bytes(arguments.0, arguments.1)?;
    let host = frame.host();
    let context = host.context_id();
    let reply = host.script.foreign.get(&function).cloned();
    host.script.record.foreign_calls.push(ForeignCall { context, function, arguments });
    let reply = reply.ok_or(status::NOT_FOUND)?;
    Ok(Reply { status: reply.status, ..Reply::data(reply.results) })
}

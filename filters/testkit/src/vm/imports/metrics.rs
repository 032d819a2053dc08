//! Counters, gauges and histograms.

use wasmtime::{Caller, Linker};

use super::{Reply, Slots, answer};
use crate::vm::host::Host;
use crate::vm::hostcall::Hostcall;

pub(super) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::DefineMetric;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, kind: u32, name: u32, name_size: u32, id: u32| {
            answer(caller, call, Slots::NONE.narrow(id), |frame| {
                let name = frame.bytes(name, name_size)?;
                frame.host().script.metrics.define(kind, &name).map(Reply::number)
            })
        },
    )?;

    let call = Hostcall::IncrementMetric;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, id: u32, offset: i64| {
        answer(caller, call, Slots::NONE, |frame| {
            frame.host().script.metrics.increment(id, offset).map(|()| Reply::nothing())
        })
    })?;

    let call = Hostcall::RecordMetric;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, id: u32, value: u64| {
        answer(caller, call, Slots::NONE, |frame| {
            frame.host().script.metrics.record(id, value).map(|()| Reply::nothing())
        })
    })?;

    let call = Hostcall::GetMetric;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, id: u32, at: u32| {
        answer(caller, call, Slots::NONE.wide(at), |frame| {
            frame.host().script.metrics.read(id).map(Reply::number)
        })
    })?;
    Ok(())
}

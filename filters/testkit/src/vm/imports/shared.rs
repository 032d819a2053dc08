//! Shared data and shared queues.

use wasmtime::{Caller, Linker};

use super::{Reply, Slots, answer};
use crate::vm::host::Host;
use crate::vm::hostcall::Hostcall;
use crate::vm::status;

pub(super) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    data(linker)?;
    queues(linker)
}

fn data(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::GetSharedData;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, key: u32, key_size: u32, value: u32, value_size: u32, cas: u32| {
            answer(caller, call, Slots::data(value, value_size).narrow(cas), |frame| {
                let key = frame.bytes(key, key_size)?;
                let (value, cas) = frame.host().script.shared.get(&key).ok_or(status::NOT_FOUND)?;
                Ok(Reply { data: Some(value), ..Reply::number(cas) })
            })
        },
    )?;

    let call = Hostcall::SetSharedData;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, key: u32, key_size: u32, value: u32, value_size: u32, cas: u32| {
            answer(caller, call, Slots::NONE, |frame| {
                let (key, value) = (frame.bytes(key, key_size)?, frame.bytes(value, value_size)?);
                frame.host().script.shared.set(key, value, cas).map(|()| Reply::nothing())
            })
        },
    )?;
    Ok(())
}

fn queues(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::RegisterSharedQueue;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, name: u32, name_size: u32, token: u32| {
            answer(caller, call, Slots::NONE.narrow(token), |frame| {
                let name = frame.bytes(name, name_size)?;
                let script = &frame.host().script;
                Ok(Reply::number(script.shared.register_queue(&script.vm_id, &name)))
            })
        },
    )?;

    let call = Hostcall::ResolveSharedQueue;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>,
              vm_id: u32,
              vm_id_size: u32,
              name: u32,
              name_size: u32,
              token: u32| {
            answer(caller, call, Slots::NONE.narrow(token), |frame| {
                let (vm_id, name) = (frame.bytes(vm_id, vm_id_size)?, frame.bytes(name, name_size)?);
                let script = &frame.host().script;
                let vm_id = if vm_id.is_empty() { &script.vm_id } else { &vm_id };
                script.shared.resolve_queue(vm_id, &name).map(Reply::number).ok_or(status::NOT_FOUND)
            })
        },
    )?;

    let call = Hostcall::DequeueSharedQueue;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, token: u32, data: u32, size: u32| {
            answer(caller, call, Slots::data(data, size), |frame| {
                frame.host().script.shared.dequeue(token).map(Reply::data)
            })
        },
    )?;

    let call = Hostcall::EnqueueSharedQueue;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, token: u32, data: u32, size: u32| {
            answer(caller, call, Slots::NONE, |frame| {
                let item = frame.bytes(data, size)?;
                frame.host().script.shared.enqueue(token, item).map(|()| Reply::nothing())
            })
        },
    )?;
    Ok(())
}

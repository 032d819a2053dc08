//! Headers, trailers and metadata.

use wasmtime::{Caller, Linker};

use super::{Frame, Reply, Slots, answer};
use crate::vm::exchange::MapType;
use crate::vm::host::Host;
use crate::vm::hostcall::Hostcall;
use crate::vm::status;

pub(super) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    reading(linker)?;
    writing_one(linker)?;
    writing_all(linker)
}

fn map_type(map: u32) -> Result<MapType, u32> {
    MapType::from_wire(map).ok_or(status::BAD_ARGUMENT)
}

fn reading(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::GetHeaderMapPairs;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, map: u32, data: u32, size: u32| {
            answer(caller, call, Slots::data(data, size), |frame| {
                let map = map_type(map)?;
                // A map out of reach reads as empty, and an empty map as no bytes at all.
                let pairs = frame.host().readable_map(map).filter(|map| !map.is_empty());
                Ok(Reply::data(pairs.map(|map| map.to_wire()).unwrap_or_default()))
            })
        },
    )?;

    let call = Hostcall::GetHeaderMapSize;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, map: u32, size: u32| {
        answer(caller, call, Slots::NONE.narrow(size), |frame| {
            let map = map_type(map)?;
            let map = frame.host().readable_map(map).ok_or(status::BAD_ARGUMENT)?;
            Ok(Reply::number(u32::try_from(map.byte_size()).unwrap_or(u32::MAX)))
        })
    })?;

    let call = Hostcall::GetHeaderMapValue;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, map: u32, name: u32, name_size: u32, data: u32, size: u32| {
            answer(caller, call, Slots::data(data, size), |frame| {
                let map = map_type(map)?;
                let name = frame.bytes(name, name_size)?;
                let map = frame.host().readable_map(map).ok_or(status::BAD_ARGUMENT)?;
                map.first(&name).map(Reply::data).ok_or(status::NOT_FOUND)
            })
        },
    )?;
    Ok(())
}

fn writing_one(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::AddHeaderMapValue;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, map: u32, name: u32, name_size: u32, value: u32, value_size: u32| {
            answer(caller, call, Slots::NONE, |frame| {
                let (map, name, value) = header(frame, map, (name, name_size), (value, value_size))?;
                frame.host().change_map(map, |map| map.add(name, value)).map(|()| Reply::nothing())
            })
        },
    )?;

    let call = Hostcall::ReplaceHeaderMapValue;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, map: u32, name: u32, name_size: u32, value: u32, value_size: u32| {
            answer(caller, call, Slots::NONE, |frame| {
                let (map, name, value) = header(frame, map, (name, name_size), (value, value_size))?;
                frame.host().change_map(map, |map| map.replace(name, value)).map(|()| Reply::nothing())
            })
        },
    )?;

    let call = Hostcall::RemoveHeaderMapValue;
    linker.func_wrap(
        "env",
        call.name(),
        move |caller: Caller<'_, Host>, map: u32, name: u32, name_size: u32| {
            answer(caller, call, Slots::NONE, |frame| {
                let map = map_type(map)?;
                let name = frame.bytes(name, name_size)?;
                frame.host().change_map(map, |map| map.remove(name)).map(|()| Reply::nothing())
            })
        },
    )?;
    Ok(())
}

fn writing_all(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let call = Hostcall::SetHeaderMapPairs;
    linker.func_wrap("env", call.name(), move |caller: Caller<'_, Host>, map: u32, at: u32, size: u32| {
        answer(caller, call, Slots::NONE, |frame| {
            let map = map_type(map)?;
            let pairs = frame.map(at, size)?.lower_cased();
            frame.host().change_map(map, |map| *map = pairs).map(|()| Reply::nothing())
        })
    })?;
    Ok(())
}

type Header = (MapType, Vec<u8>, Vec<u8>);

fn header(frame: &mut Frame<'_, '_>, map: u32, name: (u32, u32), value: (u32, u32)) -> Result<Header, u32> {
    let map = map_type(map)?;
    let name = frame.bytes(name.0, name.1)?.to_ascii_lowercase();
    Ok((map, name, frame.bytes(value.0, value.1)?))
}

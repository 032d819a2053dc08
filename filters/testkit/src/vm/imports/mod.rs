//! The import module `env`: every hostcall of ABI 0.2.1, as Envoy answers it.

mod buffers;
mod calls;
mod maps;
mod metrics;
mod shared;
mod streams;
mod world;

use wasmtime::{Caller, Linker};

use super::fault::{Fault, Lie};
use super::header_map::HeaderMap;
use super::host::{Host, Phase};
use super::hostcall::Hostcall;
use super::memory::Guest;
use super::status;
use super::trap::Refused;

pub(super) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    world::link(linker)?;
    buffers::link(linker)?;
    maps::link(linker)?;
    shared::link(linker)?;
    streams::link(linker)?;
    calls::link(linker)?;
    metrics::link(linker)
}

/// Where the module wants the results: pointers to its own variables.
#[derive(Clone, Copy, Debug, Default)]
struct Slots {
    data: Option<(u32, u32)>,
    numbers: [Option<NumberSlot>; 2],
}

#[derive(Clone, Copy, Debug)]
enum NumberSlot {
    Narrow(u32),
    Wide(u32),
}

impl Slots {
    const NONE: Self = Self { data: None, numbers: [None, None] };

    fn data(pointer: u32, size: u32) -> Self {
        Self { data: Some((pointer, size)), ..Self::NONE }
    }

    fn narrow(self, at: u32) -> Self {
        self.number(NumberSlot::Narrow(at))
    }

    fn wide(self, at: u32) -> Self {
        self.number(NumberSlot::Wide(at))
    }

    fn number(mut self, slot: NumberSlot) -> Self {
        if let Some(free) = self.numbers.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(slot);
        }
        self
    }
}

/// What a hostcall returns besides its status; slots without a value stay untouched.
#[derive(Debug, Default)]
struct Reply {
    status: u32,
    data: Option<Vec<u8>>,
    numbers: [Option<u64>; 2],
}

impl Reply {
    fn nothing() -> Self {
        Self::default()
    }

    fn data(data: impl Into<Vec<u8>>) -> Self {
        Self { data: Some(data.into()), ..Self::default() }
    }

    fn number(number: impl Into<u64>) -> Self {
        Self { numbers: [Some(number.into()), None], ..Self::default() }
    }
}

/// A hostcall at work: its arguments are in the module's memory, its subject in the host.
struct Frame<'caller, 'store> {
    caller: &'caller mut Caller<'store, Host>,
}

impl Frame<'_, '_> {
    fn host(&mut self) -> &mut Host {
        self.caller.data_mut()
    }

    fn bytes(&mut self, at: u32, length: u32) -> Result<Vec<u8>, u32> {
        guest(self.caller).and_then(|guest| guest.read(&self.caller, at, length)).ok_or(REACH)
    }

    fn map(&mut self, at: u32, length: u32) -> Result<HeaderMap, u32> {
        self.bytes(at, length).map(|wire| HeaderMap::from_wire(&wire))
    }
}

const REACH: u32 = status::INVALID_MEMORY_ACCESS;

fn guest(caller: &Caller<'_, Host>) -> Option<Guest> {
    caller.data().guest.clone()
}

/// Runs one hostcall: counts it, lets a fault strike, does the work, writes the results.
fn answer(
    mut caller: Caller<'_, Host>,
    hostcall: Hostcall,
    slots: Slots,
    work: impl FnOnce(&mut Frame<'_, '_>) -> Result<Reply, u32>,
) -> wasmtime::Result<u32> {
    let host = caller.data_mut();
    if host.phase == Phase::Initializing && hostcall != Hostcall::Log {
        return Err(wasmtime::Error::new(Refused::Forbidden(hostcall.name())));
    }
    host.script.record.count(hostcall);
    match host.script.faults.strike(hostcall) {
        Some(Fault::Status(status)) => Ok(status),
        Some(Fault::Lie(lie)) => tell(&mut caller, slots, &lie),
        None => match work(&mut Frame { caller: &mut caller }) {
            Ok(reply) => deliver(&mut caller, slots, &reply),
            Err(status) => Ok(status),
        },
    }
}

fn deliver(caller: &mut Caller<'_, Host>, slots: Slots, reply: &Reply) -> wasmtime::Result<u32> {
    let Some(guest) = guest(caller) else { return Ok(REACH) };
    if let (Some((pointer, size)), Some(data)) = (slots.data, &reply.data) {
        // Nothing is allocated for an empty answer: the module gets a null pointer.
        let at = if data.is_empty() { Some(0) } else { guest.place(&mut *caller, data)? };
        let Some(at) = at else { return Ok(REACH) };
        if write_data_slots(caller, &guest, (pointer, size), at, data.len()).is_none() {
            return Ok(REACH);
        }
    }
    let numbers = slots.numbers.into_iter().zip(reply.numbers);
    for (slot, number) in numbers.filter_map(|(slot, number)| slot.zip(number)) {
        if write_number(caller, &guest, slot, number).is_none() {
            return Ok(REACH);
        }
    }
    Ok(reply.status)
}

fn tell(caller: &mut Caller<'_, Host>, slots: Slots, lie: &Lie) -> wasmtime::Result<u32> {
    let Some(guest) = guest(caller) else { return Ok(REACH) };
    let written = match (lie, slots.data) {
        (Lie::Number(number), _) => slots
            .numbers
            .into_iter()
            .flatten()
            .try_for_each(|slot| write_number(caller, &guest, slot, *number)),
        (_, None) => Some(()),
        (Lie::Null, Some(slots)) => write_data_slots(caller, &guest, slots, 0, 0),
        (Lie::NullWithSize(size), Some(slots)) => {
            write_data_slots(caller, &guest, slots, 0, usize::try_from(*size).unwrap_or(usize::MAX))
        }
        (Lie::Empty, Some(slots)) => {
            let at = guest.place(&mut *caller, &[])?;
            at.and_then(|at| write_data_slots(caller, &guest, slots, at, 0))
        }
        (Lie::Bytes(bytes), Some(slots)) => {
            let at = guest.place(&mut *caller, bytes)?;
            at.and_then(|at| write_data_slots(caller, &guest, slots, at, bytes.len()))
        }
    };
    Ok(if written.is_some() { status::OK } else { REACH })
}

fn write_data_slots(
    caller: &mut Caller<'_, Host>,
    guest: &Guest,
    (pointer, size): (u32, u32),
    at: u32,
    length: usize,
) -> Option<()> {
    guest.write(&mut *caller, pointer, &at.to_le_bytes())?;
    guest.write(&mut *caller, size, &u32::try_from(length).ok()?.to_le_bytes())
}

fn write_number(caller: &mut Caller<'_, Host>, guest: &Guest, slot: NumberSlot, number: u64) -> Option<()> {
    let bytes = number.to_le_bytes();
    match slot {
        NumberSlot::Narrow(at) => guest.write(&mut *caller, at, &bytes[..4]),
        NumberSlot::Wide(at) => guest.write(&mut *caller, at, &bytes),
    }
}

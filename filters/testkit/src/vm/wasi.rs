//! The import module `wasi_snapshot_preview1`: as much of it as Rust's standard library calls.

use wasmtime::{Caller, Linker};

use super::host::Host;
use super::memory::Guest;
use super::record::{LogLevel, LogSource};
use super::trap::Refused;

/// The import module's name.
pub(super) const MODULE: &str = "wasi_snapshot_preview1";

/// The WASI functions that Envoy itself offers. A module which imports another does not load there.
pub(super) const IN_ENVOY: &[&str] = &[
    "fd_write",
    "fd_read",
    "fd_seek",
    "fd_close",
    "fd_fdstat_get",
    "environ_get",
    "environ_sizes_get",
    "args_get",
    "args_sizes_get",
    "clock_time_get",
    "random_get",
    "proc_exit",
    "path_open",
    "fd_prestat_get",
    "fd_prestat_dir_name",
];

/// The functions that do something here; any other that a module imports answers [`NOT_IMPLEMENTED`].
pub(super) const OFFERED: &[&str] = &[
    "fd_write",
    "fd_fdstat_get",
    "environ_get",
    "environ_sizes_get",
    "args_get",
    "args_sizes_get",
    "clock_time_get",
    "random_get",
    "proc_exit",
];

const SUCCESS: u32 = 0;
const BAD_DESCRIPTOR: u32 = 8;
const FAULT: u32 = 21;
/// The answer of every function that is offered in name only.
pub(super) const NOT_IMPLEMENTED: i32 = 52;
const NOT_SUPPORTED: u32 = 58;

pub(super) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    output(linker)?;
    start_values(linker)?;
    linker.func_wrap(
        MODULE,
        "clock_time_get",
        |mut caller: Caller<'_, Host>, clock: u32, _precision: u64, at: u32| {
            // The wall clock and the monotonic one, as in Envoy.
            if clock > 1 {
                return NOT_SUPPORTED;
            }
            let now = caller.data().script.now;
            write(&mut caller, at, &now.to_le_bytes())
        },
    )?;
    linker.func_wrap(MODULE, "random_get", |mut caller: Caller<'_, Host>, at: u32, length: u32| {
        let Ok(length) = usize::try_from(length) else { return FAULT };
        if length > caller.data().script.memory_limit {
            return FAULT;
        }
        let bytes = caller.data_mut().random_bytes(length);
        write(&mut caller, at, &bytes)
    })?;
    linker.func_wrap(MODULE, "proc_exit", |_: Caller<'_, Host>, code: i32| -> wasmtime::Result<()> {
        Err(wasmtime::Error::new(Refused::Exit(code)))
    })?;
    Ok(())
}

/// Standard output and error go to the log.
fn output(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap(
        MODULE,
        "fd_write",
        |mut caller: Caller<'_, Host>, descriptor: u32, vectors: u32, count: u32, written: u32| {
            let (level, source) = match descriptor {
                1 => (LogLevel::Info, LogSource::Stdout),
                2 => (LogLevel::Error, LogSource::Stderr),
                _ => return BAD_DESCRIPTOR,
            };
            let Some(text) = gather(&caller, vectors, count) else { return FAULT };
            let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
            if !text.is_empty() {
                let line = text.strip_suffix(b"\n").unwrap_or(&text);
                caller.data_mut().log(level, source, line);
            }
            write(&mut caller, written, &length.to_le_bytes())
        },
    )?;
    linker.func_wrap(MODULE, "fd_fdstat_get", |mut caller: Caller<'_, Host>, descriptor: u32, at: u32| {
        if !matches!(descriptor, 1 | 2) {
            return BAD_DESCRIPTOR;
        }
        // 24 bytes, of which only the right to write is set.
        let mut state = [0_u8; 24];
        state[8] = 64;
        write(&mut caller, at, &state)
    })?;
    Ok(())
}

fn gather(caller: &Caller<'_, Host>, vectors: u32, count: u32) -> Option<Vec<u8>> {
    let guest = guest(caller)?;
    let mut text = Vec::new();
    for index in 0..count {
        let vector = vectors.checked_add(index.checked_mul(8)?)?;
        let at = guest.read_u32(caller, vector)?;
        let length = guest.read_u32(caller, vector.checked_add(4)?)?;
        text.extend(guest.read(caller, at, length)?);
    }
    Some(text)
}

/// Environment and arguments; of the latter there are none.
fn start_values(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap(
        MODULE,
        "environ_sizes_get",
        |mut caller: Caller<'_, Host>, count: u32, size: u32| {
            let entries = environment(&caller);
            let bytes: usize = entries.iter().map(Vec::len).sum();
            write_sizes(&mut caller, (count, entries.len()), (size, bytes))
        },
    )?;
    linker.func_wrap(
        MODULE,
        "environ_get",
        |mut caller: Caller<'_, Host>, mut table: u32, mut buffer: u32| {
            for entry in environment(&caller) {
                let placed = write(&mut caller, table, &buffer.to_le_bytes());
                let copied = write(&mut caller, buffer, &entry);
                if placed != SUCCESS || copied != SUCCESS {
                    return FAULT;
                }
                table = table.wrapping_add(4);
                buffer = buffer.wrapping_add(u32::try_from(entry.len()).unwrap_or(u32::MAX));
            }
            SUCCESS
        },
    )?;
    linker.func_wrap(MODULE, "args_sizes_get", |mut caller: Caller<'_, Host>, count: u32, size: u32| {
        write_sizes(&mut caller, (count, 0), (size, 0))
    })?;
    linker.func_wrap(MODULE, "args_get", |_: Caller<'_, Host>, _table: u32, _buffer: u32| SUCCESS)?;
    Ok(())
}

fn environment(caller: &Caller<'_, Host>) -> Vec<Vec<u8>> {
    let entries = caller.data().script.environment.iter();
    entries.map(|(name, value)| format!("{name}={value}\0").into_bytes()).collect()
}

fn write_sizes(caller: &mut Caller<'_, Host>, count: (u32, usize), size: (u32, usize)) -> u32 {
    for (at, number) in [count, size] {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        if write(caller, at, &number.to_le_bytes()) != SUCCESS {
            return FAULT;
        }
    }
    SUCCESS
}

fn guest(caller: &Caller<'_, Host>) -> Option<Guest> {
    caller.data().guest.clone()
}

fn write(caller: &mut Caller<'_, Host>, at: u32, bytes: &[u8]) -> u32 {
    match guest(caller).and_then(|guest| guest.write(&mut *caller, at, bytes)) {
        Some(()) => SUCCESS,
        None => FAULT,
    }
}

//! A process in which a module runs: wasmtime, and as much of WASI as the engine's program calls.

use std::io::{self, Read, Write};
use std::path::Path;

use wasmtime::{Caller, Engine, Extern, Linker, Memory, Module, Store};

const WASI: &str = "wasi_snapshot_preview1";

const SUCCESS: u32 = 0;
const BAD_DESCRIPTOR: u32 = 8;
const FAULT: u32 = 21;
const IO: u32 = 29;
const NOT_SUPPORTED: u32 = 58;

/// Runs a command module with the standard input and output of this process, until it ends.
pub fn run(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    // Cranelift optimizes for speed unless it is told otherwise.
    let engine = Engine::default();
    let module = Module::from_file(&engine, path)?;
    let mut linker = Linker::new(&engine);
    link(&mut linker)?;
    let mut store = Store::new(&engine, ());
    let instance = linker.instantiate(&mut store, &module)?;
    instance.get_typed_func::<(), ()>(&mut store, "_start")?.call(&mut store, ())?;
    Ok(())
}

fn link(linker: &mut Linker<()>) -> wasmtime::Result<()> {
    linker.func_wrap(
        WASI,
        "fd_read",
        |mut caller: Caller<'_, ()>, descriptor: u32, vectors: u32, _count: u32, read: u32| {
            if descriptor != 0 {
                return BAD_DESCRIPTOR;
            }
            // To fill one of several buffers is to read, too.
            let Some((at, length)) = vector(&mut caller, vectors, 0) else { return FAULT };
            let mut bytes = vec![0; length];
            match io::stdin().lock().read(&mut bytes) {
                Ok(length) => all_good([
                    write(&mut caller, at, &bytes[..length]),
                    write(&mut caller, read, &(length as u32).to_le_bytes()),
                ]),
                Err(_) => IO,
            }
        },
    )?;
    linker.func_wrap(
        WASI,
        "fd_write",
        |mut caller: Caller<'_, ()>, descriptor: u32, vectors: u32, count: u32, written: u32| {
            let mut total = 0;
            for index in 0..count {
                let Some(bytes) = gathered(&mut caller, vectors, index) else { return FAULT };
                let result = match descriptor {
                    1 => io::stdout().write_all(&bytes),
                    2 => io::stderr().write_all(&bytes),
                    _ => return BAD_DESCRIPTOR,
                };
                if result.and_then(|()| io::stdout().flush()).is_err() {
                    return IO;
                }
                total += bytes.len() as u32;
            }
            write(&mut caller, written, &total.to_le_bytes())
        },
    )?;
    for name in ["environ_sizes_get", "args_sizes_get"] {
        linker.func_wrap(WASI, name, |mut caller: Caller<'_, ()>, count: u32, size: u32| {
            all_good([write(&mut caller, count, &[0; 4]), write(&mut caller, size, &[0; 4])])
        })?;
    }
    for name in ["environ_get", "args_get"] {
        linker.func_wrap(WASI, name, |_table: u32, _buffer: u32| SUCCESS)?;
    }
    linker.func_wrap(WASI, "random_get", |mut caller: Caller<'_, ()>, at: u32, length: u32| {
        // The engine draws no random numbers; what the standard library does with these decides nothing.
        write(&mut caller, at, &vec![7; length as usize])
    })?;
    linker.func_wrap(WASI, "clock_time_get", |_clock: u32, _precision: u64, _at: u32| NOT_SUPPORTED)?;
    linker.func_wrap(WASI, "fd_fdstat_get", |_descriptor: u32, _at: u32| BAD_DESCRIPTOR)?;
    linker.func_wrap(WASI, "proc_exit", |code: i32| -> wasmtime::Result<()> {
        Err(wasmtime::Error::msg(format!("the module ended with {code}")))
    })?;
    Ok(())
}

fn memory(caller: &mut Caller<'_, ()>) -> Option<Memory> {
    match caller.get_export("memory") {
        Some(Extern::Memory(memory)) => Some(memory),
        _ => None,
    }
}

/// The address and the length of a buffer in a list of them.
fn vector(caller: &mut Caller<'_, ()>, vectors: u32, index: u32) -> Option<(u32, usize)> {
    let memory = memory(caller)?;
    let mut word = |at: u32| -> Option<u32> {
        let mut bytes = [0; 4];
        memory.read(&mut *caller, at as usize, &mut bytes).ok()?;
        Some(u32::from_le_bytes(bytes))
    };
    let at = vectors.checked_add(index.checked_mul(8)?)?;
    Some((word(at)?, word(at.checked_add(4)?)? as usize))
}

fn gathered(caller: &mut Caller<'_, ()>, vectors: u32, index: u32) -> Option<Vec<u8>> {
    let (at, length) = vector(caller, vectors, index)?;
    let memory = memory(caller)?;
    let bytes = memory.data(&*caller).get(at as usize..(at as usize).checked_add(length)?)?;
    Some(bytes.to_vec())
}

fn write(caller: &mut Caller<'_, ()>, at: u32, bytes: &[u8]) -> u32 {
    match memory(caller).map(|memory| memory.write(&mut *caller, at as usize, bytes)) {
        Some(Ok(())) => SUCCESS,
        _ => FAULT,
    }
}

fn all_good(results: [u32; 2]) -> u32 {
    results.into_iter().find(|result| *result != SUCCESS).unwrap_or(SUCCESS)
}

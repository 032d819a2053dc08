//! A compiled module.

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use wasmtime::{Config, Engine, ExternType, InstancePre, Linker, OptLevel, ValType};

use super::host::Host;
use super::hostcall::Hostcall;
use super::{imports, wasi};

/// A module compiled and linked once, from which any number of VMs start. Cheap to clone; may be shared
/// between threads.
#[derive(Clone)]
pub struct Module {
    compiled: wasmtime::Module,
    linked: InstancePre<Host>,
}

/// Why a module cannot run in a proxy.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    Unreadable(std::io::Error),
    /// Not WebAssembly, or not valid.
    Invalid(String),
    /// The ABI's marker, memory, or allocator is not among the exports.
    MissingExport(&'static str),
    /// An import that no proxy offers, as `module.function`.
    UnknownImport(String),
    /// An import whose signature is not the ABI's.
    Unlinkable(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "cannot read the module: {error}"),
            Self::Invalid(reason) => write!(f, "invalid module: {reason}"),
            Self::MissingExport(name) => write!(f, "the module does not export {name}"),
            Self::UnknownImport(name) => write!(f, "the module imports {name}, which no proxy offers"),
            Self::Unlinkable(reason) => write!(f, "the module cannot be linked: {reason}"),
        }
    }
}

impl std::error::Error for LoadError {}

impl Module {
    /// Reads and compiles a `.wasm` file.
    ///
    /// # Errors
    /// When the file is unreadable, or Envoy would refuse the module; see [`LoadError`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        Self::from_bytes(std::fs::read(path).map_err(LoadError::Unreadable)?)
    }

    /// Compiles a module from its bytes.
    ///
    /// # Errors
    /// When Envoy would refuse the module; see [`LoadError`].
    pub fn from_bytes(wasm: impl AsRef<[u8]>) -> Result<Self, LoadError> {
        let invalid = |error: wasmtime::Error| LoadError::Invalid(format!("{error:#}"));
        let engine = engine().map_err(invalid)?;
        let compiled = wasmtime::Module::new(engine, wasm).map_err(invalid)?;
        let exports = |name: &str| compiled.get_export(name).is_some();
        if !exports("proxy_abi_version_0_2_1") {
            return Err(LoadError::MissingExport("proxy_abi_version_0_2_1"));
        }
        if !exports("memory") {
            return Err(LoadError::MissingExport("memory"));
        }
        if !exports("malloc") && !exports("proxy_on_memory_allocate") {
            return Err(LoadError::MissingExport("proxy_on_memory_allocate"));
        }
        let linked = link(engine, &compiled)?;
        Ok(Self { compiled, linked })
    }

    /// The names of all exports, in the module's order.
    #[must_use]
    pub fn exports(&self) -> Vec<String> {
        self.compiled.exports().map(|export| export.name().to_owned()).collect()
    }

    /// Whether an export of this name is there.
    #[must_use]
    pub fn has_export(&self, name: &str) -> bool {
        self.compiled.get_export(name).is_some()
    }

    /// All imports as module and name, in the module's order.
    #[must_use]
    pub fn imports(&self) -> Vec<(String, String)> {
        let imports = self.compiled.imports();
        imports.map(|import| (import.module().to_owned(), import.name().to_owned())).collect()
    }

    /// The hostcalls among the imports: the capabilities it needs, and those worth failing.
    #[must_use]
    pub fn hostcalls(&self) -> Vec<Hostcall> {
        let imports = self.compiled.imports().filter(|import| import.module() == "env");
        imports.filter_map(|import| Hostcall::by_name(import.name())).collect()
    }

    /// WASI functions among the imports that Envoy does not offer: with any of them, it refuses the module.
    /// Here they answer `ENOSYS`.
    #[must_use]
    pub fn foreign_wasi_imports(&self) -> Vec<String> {
        let imports = self.compiled.imports().filter(|import| import.module() == wasi::MODULE);
        imports
            .map(|import| import.name().to_owned())
            .filter(|name| !wasi::IN_ENVOY.contains(&&**name))
            .collect()
    }

    pub(super) fn engine(&self) -> &Engine {
        self.compiled.engine()
    }

    pub(super) fn linked(&self) -> &InstancePre<Host> {
        &self.linked
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("exports", &self.exports()).finish_non_exhaustive()
    }
}

/// One engine serves the whole process.
fn engine() -> wasmtime::Result<&'static Engine> {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    if let Some(engine) = ENGINE.get() {
        return Ok(engine);
    }
    let mut config = Config::new();
    config.consume_fuel(true);
    // Tests run little and compile much. Fuel is counted on WebAssembly instructions either way.
    config.cranelift_opt_level(OptLevel::None);
    let engine = Engine::new(&config)?;
    Ok(ENGINE.get_or_init(|| engine))
}

fn link(engine: &Engine, compiled: &wasmtime::Module) -> Result<InstancePre<Host>, LoadError> {
    let unlinkable = |error: wasmtime::Error| LoadError::Unlinkable(format!("{error:#}"));
    let mut linker = Linker::new(engine);
    imports::link(&mut linker).map_err(unlinkable)?;
    wasi::link(&mut linker).map_err(unlinkable)?;
    for import in compiled.imports() {
        let (module, name) = (import.module(), import.name());
        if offered(module, name) {
            continue;
        }
        match import.ty() {
            ExternType::Func(ty)
                if module == wasi::MODULE && ty.results().all(|result| matches!(result, ValType::I32)) =>
            {
                let stub = linker.func_new(module, name, ty, |_, _, results| {
                    results.fill(wasmtime::Val::I32(wasi::NOT_IMPLEMENTED));
                    Ok(())
                });
                stub.map_err(unlinkable)?;
            }
            _ => return Err(LoadError::UnknownImport(format!("{module}.{name}"))),
        }
    }
    linker.instantiate_pre(compiled).map_err(unlinkable)
}

/// Whether the host offers it. A wrong signature is left for the linker to report.
fn offered(module: &str, name: &str) -> bool {
    match module {
        "env" => Hostcall::by_name(name).is_some(),
        wasi::MODULE => wasi::OFFERED.contains(&name),
        _ => false,
    }
}

//! A running VM: how it starts, how the host enters it, and what can be seen of it.

use wasmtime::{Instance, Store, Val};

use super::exchange::{Exchange, MapType};
use super::host::{Context, Host, Phase};
use super::memory::Guest;
use super::module::Module;
use super::record::{ContextId, Record};
use super::script::Script;
use super::trap::{Trap, TrapKind};

/// How far a VM came when it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Startup {
    /// It serves.
    Ready,
    /// `proxy_on_vm_start` returned false; it was not configured.
    VmRefused,
    /// `proxy_on_configure` returned false.
    ConfigurationRefused,
}

/// What a module told the host to do next with a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Go on; also when the module does not export the callback.
    Continue,
    /// Wait until told to go on.
    Pause,
    /// A number that ABI 0.2.1 does not define for modules. Envoy stops the stream for any of them.
    Other(u32),
}

impl Action {
    /// The action as the module returned it.
    #[must_use]
    pub fn from_raw(raw: u32) -> Self {
        match raw {
            0 => Self::Continue,
            1 => Self::Pause,
            other => Self::Other(other),
        }
    }

    /// The number on the wire.
    #[must_use]
    pub fn raw(self) -> u32 {
        match self {
            Self::Continue => 0,
            Self::Pause => 1,
            Self::Other(other) => other,
        }
    }
}

/// A module in a VM of its own, as one worker of Envoy has it, with one plugin.
///
/// Each callback enters the VM with its own context as the current one, no effective context, and fresh
/// fuel. A callback the module does not export is skipped with the host's
/// default. After a trap the VM is lost: every further entry fails with [`TrapKind::AlreadyFailed`].
pub struct Vm {
    pub(super) store: Store<Host>,
    instance: Instance,
    startup: Startup,
    next_context: u32,
    fuel_used: u64,
    failed: Option<String>,
}

impl std::fmt::Debug for Vm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vm")
            .field("startup", &self.startup)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

impl Vm {
    /// Starts a VM: `_initialize` (and `main`) or `_start`, then the root context's creation, VM start and
    /// configuration. See [`Vm::startup`] for what the module said to it.
    ///
    /// # Errors
    /// When the module cannot be instantiated, or traps.
    pub fn start(module: &Module, script: Script) -> Result<Self, Trap> {
        let fuel = script.fuel;
        let mut store = Store::new(module.engine(), Host::new(script));
        store.limiter(|host| &mut host.limits);
        let linked = store.set_fuel(fuel).and_then(|()| module.linked().instantiate(&mut store));
        let instance = linked.map_err(|error| Trap::from_error("instantiation", &error, &[]))?;
        let guest = Self::guest(&mut store, instance);
        let guest = guest.map_err(|error| Trap::from_error("instantiation", &error, &[]))?;
        store.data_mut().guest = Some(guest);
        let next_context = ContextId::ROOT.0 + 1;
        let mut vm =
            Self { store, instance, startup: Startup::Ready, next_context, fuel_used: 0, failed: None };
        vm.initialize()?;
        vm.startup = vm.configure()?;
        Ok(vm)
    }

    fn guest(store: &mut Store<Host>, instance: Instance) -> wasmtime::Result<Guest> {
        let memory = instance
            .get_memory(&mut *store, "memory")
            .ok_or_else(|| wasmtime::Error::msg("the export `memory` is not a memory"))?;
        // Envoy looks for `malloc` first.
        let name = if instance.get_func(&mut *store, "malloc").is_some() {
            "malloc"
        } else {
            "proxy_on_memory_allocate"
        };
        Ok(Guest { memory, allocate: instance.get_typed_func(&mut *store, name)? })
    }

    fn initialize(&mut self) -> Result<(), Trap> {
        if self.exports("_initialize") {
            self.enter(ContextId::VM, "_initialize", &[])?;
            self.enter(ContextId::VM, "main", &[0, 0])?;
        } else {
            self.enter(ContextId::VM, "_start", &[])?;
        }
        Ok(())
    }

    fn configure(&mut self) -> Result<Startup, Trap> {
        let root = ContextId::ROOT;
        let host = self.store.data_mut();
        host.contexts.insert(root.0, Context::Root);
        host.phase = Phase::Configuring;
        self.enter(root, "proxy_on_context_create", &[root.0, 0])?;
        self.store.data_mut().phase = Phase::Running;
        let size = wire_length(self.script().vm_configuration.len());
        if self.enter(root, "proxy_on_vm_start", &[root.0, size])? == Some(0) {
            return Ok(Startup::VmRefused);
        }
        self.reconfigure()
    }

    /// Calls `proxy_on_configure` with the script's plugin configuration.
    ///
    /// # Errors
    /// When the module traps.
    pub fn reconfigure(&mut self) -> Result<Startup, Trap> {
        let root = ContextId::ROOT;
        self.store.data_mut().phase = Phase::Configuring;
        let size = wire_length(self.script().plugin_configuration.len());
        let accepted = self.enter(root, "proxy_on_configure", &[root.0, size])? != Some(0);
        self.store.data_mut().phase = Phase::Running;
        self.startup = if accepted { Startup::Ready } else { Startup::ConfigurationRefused };
        Ok(self.startup)
    }

    /// What the module said when it was started and last configured.
    #[must_use]
    pub fn startup(&self) -> Startup {
        self.startup
    }

    /// Whether the module accepted its configuration.
    #[must_use]
    pub fn configured(&self) -> bool {
        self.startup == Startup::Ready
    }

    /// The world as it stands.
    #[must_use]
    pub fn script(&self) -> &Script {
        &self.store.data().script
    }

    /// The world, for a test to change.
    pub fn script_mut(&mut self) -> &mut Script {
        &mut self.store.data_mut().script
    }

    /// What the module did.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.script().record
    }

    /// The fuel that the last callback used: its work, in about as many instructions. It is the same in
    /// every run, so a test may hold two inputs against each other.
    #[must_use]
    pub fn fuel_used(&self) -> u64 {
        self.fuel_used
    }

    /// The size of the module's memory, in bytes. It never shrinks.
    #[must_use]
    pub fn memory_size(&self) -> usize {
        self.store.data().guest.as_ref().map_or(0, |guest| guest.memory.data_size(&self.store))
    }

    /// Creates the context of a new exchange, which starts as the script's
    /// [`exchange`](Script::exchange).
    ///
    /// # Errors
    /// When the module traps.
    pub fn create_exchange(&mut self) -> Result<ContextId, Trap> {
        let exchange = self.script().exchange.clone();
        self.create_exchange_with(exchange)
    }

    /// Creates the context of this exchange.
    ///
    /// # Errors
    /// When the module traps.
    pub fn create_exchange_with(&mut self, exchange: Exchange) -> Result<ContextId, Trap> {
        let id = ContextId(self.next_context);
        self.next_context += 1;
        self.store.data_mut().contexts.insert(id.0, Context::Exchange(Box::new(exchange)));
        self.enter(id, "proxy_on_context_create", &[id.0, ContextId::ROOT.0])?;
        Ok(id)
    }

    /// An exchange as it stands, or as it stood when it was deleted.
    ///
    /// # Panics
    /// When there never was such an exchange.
    #[must_use]
    pub fn exchange(&self, id: ContextId) -> &Exchange {
        let host = self.store.data();
        match host.contexts.get(&id.0) {
            Some(Context::Exchange(exchange)) => exchange,
            _ => host.finished.get(&id.0).unwrap_or_else(|| panic!("{id:?} is not an exchange")),
        }
    }

    /// An exchange, for a test to change between two callbacks.
    ///
    /// # Panics
    /// When there is no such exchange, or it was deleted.
    pub fn exchange_mut(&mut self, id: ContextId) -> &mut Exchange {
        self.store.data_mut().exchange_of(id).unwrap_or_else(|| panic!("{id:?} is not a live exchange"))
    }

    /// Calls any export with any 32-bit arguments, for callbacks no honest host would make: contexts that
    /// do not exist, sizes that are not true. Nothing is brought within the module's reach. `None` when the
    /// module does not export it; `Some(0)` also for a function without a result.
    ///
    /// # Errors
    /// When the module traps, or the export is not a function of as many 32-bit arguments.
    pub fn call(&mut self, context: ContextId, export: &str, arguments: &[u32]) -> Result<Option<u32>, Trap> {
        self.enter(context, export, arguments)
    }

    pub(super) fn exports(&mut self, name: &str) -> bool {
        self.instance.get_func(&mut self.store, name).is_some()
    }

    /// Enters the VM.
    pub(super) fn enter(
        &mut self,
        context: ContextId,
        export: &str,
        arguments: &[u32],
    ) -> Result<Option<u32>, Trap> {
        if let Some(earlier) = &self.failed {
            let message = format!("the VM failed before: {earlier}");
            return Err(Trap::new(TrapKind::AlreadyFailed, export, message, &self.record().log));
        }
        let Some(function) = self.instance.get_func(&mut self.store, export) else { return Ok(None) };
        let host = self.store.data_mut();
        host.current = context;
        host.effective = ContextId::VM;
        host.stop_iteration = false;
        let fuel = host.script.fuel;
        let arguments: Vec<Val> = arguments.iter().map(|argument| Val::I32(argument.cast_signed())).collect();
        let mut results = vec![Val::I32(0); function.ty(&self.store).results().len()];
        let outcome =
            self.store.set_fuel(fuel).and_then(|()| function.call(&mut self.store, &arguments, &mut results));
        self.fuel_used = fuel.saturating_sub(self.store.get_fuel().unwrap_or(0));
        let host = self.store.data_mut();
        host.current = ContextId::VM;
        host.effective = ContextId::VM;
        match outcome {
            Ok(()) => Ok(Some(results.first().and_then(Val::i32).unwrap_or(0).cast_unsigned())),
            Err(error) => {
                let trap = Trap::from_error(export, &error, &self.record().log);
                self.failed = Some(format!("{} ({:?})", trap.callback(), trap.kind()));
                Err(trap)
            }
        }
    }

    pub(super) fn map_length(&self, id: ContextId, map: MapType) -> u32 {
        wire_length(self.exchange(id).map(map).len())
    }
}

pub(super) fn wire_length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

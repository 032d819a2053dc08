//! Modules in WebAssembly text that the harness's own tests drive.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::fmt::Write;
use std::sync::OnceLock;

use portcullis_testkit::vm::{Action, ContextId, EndOfStream, Exchange, Hostcall, Module, Script, Vm};

/// Every hostcall with its parameters: `i` for 32 bits, `l` for 64. All return a 32-bit status.
pub const SIGNATURES: &[(Hostcall, &str)] = &[
    (Hostcall::Log, "iii"),
    (Hostcall::GetLogLevel, "i"),
    (Hostcall::GetCurrentTimeNanoseconds, "i"),
    (Hostcall::SetTickPeriodMilliseconds, "i"),
    (Hostcall::GetBufferBytes, "iiiii"),
    (Hostcall::GetBufferStatus, "iii"),
    (Hostcall::SetBufferBytes, "iiiii"),
    (Hostcall::GetHeaderMapPairs, "iii"),
    (Hostcall::SetHeaderMapPairs, "iii"),
    (Hostcall::GetHeaderMapSize, "ii"),
    (Hostcall::GetHeaderMapValue, "iiiii"),
    (Hostcall::AddHeaderMapValue, "iiiii"),
    (Hostcall::ReplaceHeaderMapValue, "iiiii"),
    (Hostcall::RemoveHeaderMapValue, "iii"),
    (Hostcall::GetProperty, "iiii"),
    (Hostcall::SetProperty, "iiii"),
    (Hostcall::GetSharedData, "iiiii"),
    (Hostcall::SetSharedData, "iiiii"),
    (Hostcall::RegisterSharedQueue, "iii"),
    (Hostcall::ResolveSharedQueue, "iiiii"),
    (Hostcall::DequeueSharedQueue, "iii"),
    (Hostcall::EnqueueSharedQueue, "iii"),
    (Hostcall::ContinueStream, "i"),
    (Hostcall::CloseStream, "i"),
    (Hostcall::SendLocalResponse, "iiiiiiii"),
    (Hostcall::HttpCall, "iiiiiiiiii"),
    (Hostcall::GrpcCall, "iiiiiiiiiiii"),
    (Hostcall::GrpcStream, "iiiiiiiii"),
    (Hostcall::GrpcSend, "iiii"),
    (Hostcall::GrpcCancel, "i"),
    (Hostcall::GrpcClose, "i"),
    (Hostcall::GetStatus, "iii"),
    (Hostcall::SetEffectiveContext, "i"),
    (Hostcall::CallForeignFunction, "iiiiii"),
    (Hostcall::Done, ""),
    (Hostcall::DefineMetric, "iiii"),
    (Hostcall::IncrementMetric, "il"),
    (Hostcall::RecordMetric, "il"),
    (Hostcall::GetMetric, "ii"),
];

/// The least that a host loads: the ABI's marker, memory, and an allocator that only ever moves on.
const LEAST: &str = r#"
    (memory (export "memory") 4)
    (global $free (mut i32) (i32.const 65536))
    (func (export "proxy_abi_version_0_2_1"))
    (func (export "proxy_on_memory_allocate") (param $size i32) (result i32)
        (local $at i32)
        (local.set $at (global.get $free))
        (global.set $free (i32.add (global.get $free) (i32.add (local.get $size) (i32.const 8))))
        (local.get $at))
"#;

/// The text of a module: imports first, then the least, then the rest.
pub fn text(imports: &str, rest: &str) -> String {
    format!("(module {imports} {LEAST} {rest})")
}

/// A module from text.
pub fn module(imports: &str, rest: &str) -> Module {
    let wasm = wat::parse_str(text(imports, rest)).expect("the text is well-formed");
    Module::from_bytes(wasm).expect("the module loads")
}

/// A module whose exports pass every hostcall on, with the arguments a test gives.
fn puppet_module() -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| {
        let (mut imports, mut rest) = (String::new(), String::new());
        for (hostcall, parameters) in SIGNATURES {
            let types: String =
                parameters.chars().map(|kind| if kind == 'l' { " i64" } else { " i32" }).collect();
            writeln!(imports, r#"(import "env" "{hostcall}" (func ${hostcall} (param{types}) (result i32)))"#)
                .expect("a string takes all");
            let narrow = " i32".repeat(parameters.len());
            let arguments: String = parameters
                .chars()
                .enumerate()
                .map(|(index, kind)| match kind {
                    'l' => format!(" (i64.extend_i32_s (local.get {index}))"),
                    _ => format!(" (local.get {index})"),
                })
                .collect();
            writeln!(
                rest,
                r#"(func (export "call_{hostcall}") (param{narrow}) (result i32) (call ${hostcall}{arguments}))"#
            )
            .expect("a string takes all");
        }
        for (callback, parameters) in [
            ("request_headers", 3),
            ("request_body", 3),
            ("request_trailers", 2),
            ("response_headers", 3),
            ("response_body", 3),
            ("response_trailers", 2),
        ] {
            let parameters = " i32".repeat(parameters);
            writeln!(
                rest,
                r#"(func (export "proxy_on_{callback}") (param{parameters}) (result i32) (global.get $action))"#
            )
            .expect("a string takes all");
        }
        rest.push_str(
            r#"
            (global $action (mut i32) (i32.const 0))
            (func (export "act") (param i32) (global.set $action (local.get 0)))
            (func (export "peek") (param i32) (result i32) (i32.load8_u (local.get 0)))
            (func (export "poke") (param i32 i32) (i32.store8 (local.get 0) (local.get 1)))
            "#,
        );
        module(&imports, &rest)
    })
}

/// A place in the puppet's memory.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub at: u32,
    pub length: u32,
}

/// Where results are asked for: a pointer, a size, and a number.
pub const POINTER: u32 = 16;
pub const SIZE: u32 = 24;
pub const NUMBER: u32 = 32;

/// A VM whose module does what the test says.
pub struct Puppet {
    pub vm: Vm,
    free: u32,
}

impl Puppet {
    pub fn start(script: Script) -> Self {
        Self { vm: Vm::start(puppet_module(), script).expect("the puppet starts"), free: 1024 }
    }

    /// A started exchange whose request headers, and only they, are held.
    pub fn with_request(exchange: Exchange) -> (Self, ContextId) {
        let mut puppet = Self::start(Script { exchange, ..Script::default() });
        let id = puppet.vm.create_exchange().expect("contexts are created");
        puppet.act(Action::Pause);
        puppet.vm.request_headers(id, EndOfStream::Yes).expect("headers are taken");
        (puppet, id)
    }

    /// Makes the callbacks return this.
    pub fn act(&mut self, action: Action) {
        self.vm.call(ContextId::ROOT, "act", &[action.raw()]).expect("acts");
    }

    /// Puts bytes into the module's memory.
    pub fn put(&mut self, bytes: impl AsRef<[u8]>) -> Place {
        let bytes = bytes.as_ref();
        let place = Place { at: self.free, length: u32::try_from(bytes.len()).expect("small") };
        for (at, byte) in (place.at..).zip(bytes) {
            self.vm.call(ContextId::ROOT, "poke", &[at, u32::from(*byte)]).expect("pokes");
        }
        self.free += place.length;
        place
    }

    /// Makes a hostcall from a context and returns its status.
    pub fn call(&mut self, context: ContextId, hostcall: Hostcall, arguments: &[u32]) -> u32 {
        let export = format!("call_{hostcall}");
        self.vm.call(context, &export, arguments).expect("calls").expect("is exported")
    }

    /// Reads the module's memory.
    pub fn read(&mut self, at: u32, length: u32) -> Vec<u8> {
        let mut peek =
            |at| self.vm.call(ContextId::ROOT, "peek", &[at]).expect("peeks").expect("is exported");
        (at..at + length).map(|at| u8::try_from(peek(at)).expect("a byte")).collect()
    }

    pub fn word(&mut self, at: u32) -> u32 {
        u32::from_le_bytes(self.read(at, 4).try_into().expect("four bytes"))
    }

    /// Overwrites the slots, so that a call which leaves them untouched shows.
    pub fn spoil_slots(&mut self) {
        for at in POINTER..NUMBER + 8 {
            self.vm.call(ContextId::ROOT, "poke", &[at, 0xee]).expect("pokes");
        }
    }

    /// The data that the last call returned through [`POINTER`] and [`SIZE`].
    pub fn data(&mut self) -> Vec<u8> {
        let (at, length) = (self.word(POINTER), self.word(SIZE));
        self.read(at, length)
    }
}

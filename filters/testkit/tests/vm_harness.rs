//! How a VM loads, starts, fails and is left alone.
#![cfg(feature = "vm")]

mod vm_support;

use portcullis_testkit::vm::{
    Action, ContextId, Done, EndOfStream, Exchange, LoadError, LogLevel, LogSource, MapType, Module, Script,
    Startup, TrapKind, Vm,
};

use vm_support::{module, text};

#[test]
fn skips_callbacks_that_are_not_exported() {
    let mut vm = Vm::start(&module("", ""), Script::configured("{}")).unwrap();
    assert_eq!(vm.startup(), Startup::Ready);

    let id = vm.create_exchange().unwrap();
    assert_eq!(vm.request_headers(id, EndOfStream::No).unwrap(), Action::Continue);
    assert_eq!(vm.request_body(id, b"body", EndOfStream::No).unwrap(), Action::Continue);
    assert_eq!(vm.request_trailers(id).unwrap(), Action::Continue);
    assert_eq!(vm.response_headers(id, EndOfStream::Yes).unwrap(), Action::Continue);
    vm.tick().unwrap();
    assert_eq!(vm.done(id).unwrap(), Done::Yes);
    vm.finish(id).unwrap();
    assert_eq!(vm.call(id, "proxy_on_anything", &[1]).unwrap(), None);
}

#[test]
fn starts_in_the_order_of_the_abi() {
    let says = |callback: &str, word: u32, parameters: usize, results: &str| {
        let parameters = " i32".repeat(parameters);
        format!(
            r#"(func (export "{callback}") (param{parameters}) {results}
                (i32.store8 (global.get $at) (i32.const {word}))
                (global.set $at (i32.add (global.get $at) (i32.const 1)))
                {})"#,
            if results.is_empty() { "" } else { "(i32.const 1)" },
        )
    };
    let rest = [
        r#"(global $at (mut i32) (i32.const 0))
           (func (export "peek") (param i32) (result i32) (i32.load8_u (local.get 0)))"#
            .to_owned(),
        says("_initialize", 1, 0, ""),
        says("_start", 9, 0, ""),
        says("main", 2, 2, "(result i32)"),
        says("proxy_on_context_create", 3, 2, ""),
        says("proxy_on_vm_start", 4, 2, "(result i32)"),
        says("proxy_on_configure", 5, 2, "(result i32)"),
    ]
    .concat();
    let mut vm = Vm::start(&module("", &rest), Script::default()).unwrap();
    let order: Vec<_> = (0..6).map(|at| vm.call(ContextId::ROOT, "peek", &[at]).unwrap().unwrap()).collect();
    assert_eq!(order, [1, 2, 3, 4, 5, 0], "a reactor is initialized, never started");
}

#[test]
fn tells_who_refused_to_start() {
    let refuses = |callback| {
        module("", &format!(r#"(func (export "{callback}") (param i32 i32) (result i32) (i32.const 0))"#))
    };
    for (callback, startup) in
        [("proxy_on_vm_start", Startup::VmRefused), ("proxy_on_configure", Startup::ConfigurationRefused)]
    {
        let vm = Vm::start(&refuses(callback), Script::default()).unwrap();
        assert_eq!((vm.startup(), vm.configured()), (startup, false), "{callback}");
    }
}

/// Configures successfully only if the buffer holds 3 bytes: read back through the hostcall.
#[test]
fn shows_the_plugin_configuration_while_configuring_only() {
    let rest = r#"
        (func $status (result i32)
            (call $buffer (i32.const 7) (i32.const 0) (i32.const 100) (i32.const 16) (i32.const 24)))
        (func (export "proxy_on_vm_start") (param i32 i32) (result i32)
            (i32.eq (call $status) (i32.const 1)))
        (func (export "proxy_on_configure") (param i32 i32) (result i32)
            (i32.and
                (i32.eqz (call $status))
                (i32.and
                    (i32.eq (i32.load (i32.const 24)) (i32.const 3))
                    (i32.eq (local.get 1) (i32.const 3)))))
        (func (export "status") (result i32) (call $status))"#;
    let import = r#"(import "env" "proxy_get_buffer_bytes"
        (func $buffer (param i32 i32 i32 i32 i32) (result i32)))"#;
    let module = module(import, rest);
    let mut vm = Vm::start(&module, Script::configured("abc")).unwrap();
    assert_eq!(vm.startup(), Startup::Ready);
    assert_eq!(vm.call(ContextId::ROOT, "status", &[]).unwrap(), Some(1), "not found afterwards");

    vm.script_mut().plugin_configuration = b"abcd".to_vec();
    assert_eq!(vm.reconfigure().unwrap(), Startup::ConfigurationRefused);
}

const LOG: &str = r#"(import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))"#;
const HELLO: &str = r#"(data (i32.const 512) "the last words")"#;

#[test]
fn surfaces_a_trap_with_the_log_and_calls_the_vm_no_more() {
    let rest = format!(
        r#"{HELLO} (func (export "proxy_on_tick") (param i32)
            (drop (call $log (i32.const 4) (i32.const 512) (i32.const 14))) unreachable)"#
    );
    let mut vm = Vm::start(&module(LOG, &rest), Script::default()).unwrap();

    let trap = vm.tick().unwrap_err();
    assert_eq!((trap.kind(), trap.callback()), (TrapKind::Unreachable, "proxy_on_tick"));
    assert_eq!(trap.log().len(), 1);
    assert_eq!((trap.log()[0].level, trap.log()[0].source), (LogLevel::Error, LogSource::Hostcall));
    assert!(trap.to_string().contains("the last words"), "{trap}");

    assert_eq!(vm.tick().unwrap_err().kind(), TrapKind::AlreadyFailed);
    assert_eq!(vm.create_exchange().unwrap_err().kind(), TrapKind::AlreadyFailed);
}

#[test]
fn stops_endless_work() {
    for (name, body, kind) in [
        ("loop", "(loop $again (br $again))", TrapKind::OutOfFuel),
        ("recursion", "(call $tick (local.get 0))", TrapKind::StackOverflow),
    ] {
        let rest = format!(r#"(func $tick (export "proxy_on_tick") (param i32) {body})"#);
        let script = Script { fuel: 10_000_000, ..Script::default() };
        let mut vm = Vm::start(&module("", &rest), script).unwrap();
        assert_eq!(vm.tick().unwrap_err().kind(), kind, "{name}");
    }
    let script = Script { fuel: 10_000_000, ..Script::default() };
    let endless = module(
        "",
        r#"(func (export "proxy_on_configure") (param i32 i32) (result i32) (loop (br 0)) (i32.const 1))"#,
    );
    assert_eq!(Vm::start(&endless, script).unwrap_err().kind(), TrapKind::OutOfFuel);
}

#[test]
fn gives_every_callback_fresh_fuel_and_measures_it() {
    let rest = r#"(func (export "spin") (param i32)
        (loop $again
            (local.set 0 (i32.sub (local.get 0) (i32.const 1)))
            (br_if $again (local.get 0))))"#;
    let mut vm = Vm::start(&module("", rest), Script { fuel: 10_000, ..Script::default() }).unwrap();
    let mut spin = |rounds| {
        vm.call(ContextId::ROOT, "spin", &[rounds]).unwrap();
        vm.fuel_used()
    };
    let (few, many) = (spin(10), spin(1000));
    assert_eq!(spin(1000), many, "work is the same in every run");
    assert!(many > 50 * few, "{few} {many}");
    (0..20).for_each(|_| assert_eq!(spin(1000), many));
}

#[test]
fn limits_memory() {
    let grow = r#"(func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))"#;
    let script = Script { memory_limit: 1 << 20, ..Script::default() };
    let mut vm = Vm::start(&module("", grow), script).unwrap();
    assert_eq!(vm.call(ContextId::ROOT, "grow", &[12]).unwrap(), Some(4));
    assert_eq!(vm.memory_size(), 1 << 20);
    assert_eq!(vm.call(ContextId::ROOT, "grow", &[1]).unwrap(), Some(u32::MAX));
}

#[test]
fn forbids_hostcalls_but_logging_while_initializing() {
    let tick = r#"(import "env" "proxy_set_tick_period_milliseconds" (func $tick (param i32) (result i32)))"#;
    let rest = r#"(func (export "_initialize") (drop (call $tick (i32.const 1))))"#;
    let trap = Vm::start(&module(tick, rest), Script::default()).unwrap_err();
    assert_eq!(trap.kind(), TrapKind::Forbidden);

    let rest = format!(
        r#"{HELLO} (func (export "_initialize") (drop (call $log (i32.const 2) (i32.const 512) (i32.const 3))))"#
    );
    let vm = Vm::start(&module(LOG, &rest), Script::default()).unwrap();
    assert!(vm.record().logged("the"));
}

#[test]
fn offers_what_the_standard_library_needs_of_wasi() {
    let imports = r#"
        (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
        (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (import "wasi_snapshot_preview1" "environ_sizes_get" (func $sizes (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "environ_get" (func $environ (param i32 i32) (result i32)))"#;
    // Two vectors at 600: "the " and "last\n"; the environment's table at 700, its text at 720.
    let rest = r#"
        (data (i32.const 512) "the last\n")
        (data (i32.const 600) "\00\02\00\00\04\00\00\00\04\02\00\00\05\00\00\00")
        (func (export "write") (param i32) (result i32)
            (call $write (local.get 0) (i32.const 600) (i32.const 2) (i32.const 64)))
        (func (export "random") (result i32)
            (drop (call $random (i32.const 64) (i32.const 4))) (i32.load (i32.const 64)))
        (func (export "now") (result i32)
            (drop (call $clock (i32.const 0) (i64.const 0) (i32.const 64))) (i32.load (i32.const 64)))
        (func (export "yield") (result i32) (call $yield))
        (func (export "exit") (param i32) (call $exit (local.get 0)))
        (func (export "environ") (result i32)
            (drop (call $sizes (i32.const 64) (i32.const 68)))
            (drop (call $environ (i32.const 700) (i32.const 720)))
            (i32.load (i32.load (i32.const 704))))"#;
    let module = module(imports, rest);
    assert_eq!(module.foreign_wasi_imports(), ["sched_yield"]);

    let environment = vec![("A".to_owned(), "1".to_owned()), ("BC".to_owned(), "2".to_owned())];
    let start = || {
        let script = Script { now: 77, environment: environment.clone(), ..Script::default() };
        Vm::start(&module, script).unwrap()
    };
    let call = |vm: &mut Vm, export: &str, arguments: &[u32]| {
        vm.call(ContextId::ROOT, export, arguments).unwrap().unwrap()
    };
    let mut vm = start();
    assert_eq!(call(&mut vm, "write", &[2]), 0);
    assert_eq!(call(&mut vm, "write", &[3]), 8, "no such descriptor");
    let [line] = &vm.record().log[..] else { panic!("{:?}", vm.record().log) };
    assert_eq!((line.text.as_str(), line.source), ("the last", LogSource::Stderr));
    assert_eq!(call(&mut vm, "now", &[]), 77);
    assert_eq!(call(&mut vm, "yield", &[]), 52);
    assert_eq!(call(&mut vm, "environ", &[]), u32::from_le_bytes(*b"BC=2"));
    let drawn = (call(&mut vm, "random", &[]), call(&mut vm, "random", &[]));
    assert_ne!(drawn.0, drawn.1);
    assert_eq!(call(&mut start(), "random", &[]), drawn.0, "seeded");
    assert_eq!(vm.call(ContextId::ROOT, "exit", &[3]).unwrap_err().kind(), TrapKind::Exit(3));
}

#[test]
fn shows_headers_to_the_log_whatever_came_before() {
    let imports = r#"(import "env" "proxy_get_header_map_size" (func $size (param i32 i32) (result i32)))
        (import "env" "proxy_remove_header_map_value" (func $remove (param i32 i32 i32) (result i32)))"#;
    let rest = r#"(func (export "proxy_on_log") (param i32)
            (i32.store (i32.const 0) (call $size (i32.const 0) (i32.const 64)))
            (i32.store (i32.const 4) (call $remove (i32.const 0) (i32.const 512) (i32.const 0))))
        (func (export "peek") (param i32) (result i32) (i32.load (local.get 0)))"#;
    let exchange = Exchange::default().with_map(MapType::RequestHeaders, [("a", "1")]);
    let mut vm = Vm::start(&module(imports, rest), Script { exchange, ..Script::default() }).unwrap();
    let id = vm.create_exchange().unwrap();
    vm.log(id).unwrap();
    let mut peek = |at| vm.call(ContextId::ROOT, "peek", &[at]).unwrap();
    assert_eq!((peek(0), peek(64)), (Some(0), Some(2)), "readable");
    assert_eq!(peek(4), Some(2), "not writable");
}

#[test]
fn refuses_what_envoy_refuses_to_load() {
    let load = |text: &str| Module::from_bytes(wat::parse_str(text).unwrap()).unwrap_err();
    let marker = r#"(func (export "proxy_abi_version_0_2_1"))"#;
    let memory = r#"(memory (export "memory") 1)"#;
    for (wanted, text) in [
        ("proxy_abi_version_0_2_1", "(module)".to_owned()),
        ("memory", format!("(module {marker})")),
        ("proxy_on_memory_allocate", format!("(module {marker} {memory})")),
    ] {
        assert!(matches!(load(&text), LoadError::MissingExport(name) if name == wanted), "{wanted}");
    }
    let import = text(r#"(import "env" "proxy_teleport" (func))"#, "");
    assert!(matches!(load(&import), LoadError::UnknownImport(name) if name == "env.proxy_teleport"));
    let import = text(r#"(import "env" "proxy_done" (func (param i32)))"#, "");
    assert!(matches!(load(&import), LoadError::Unlinkable(_)));
    assert!(matches!(Module::from_bytes(b"\0asm"), Err(LoadError::Invalid(_))));
    assert!(matches!(Module::from_file("/nowhere.wasm"), Err(LoadError::Unreadable(_))));
}

#[test]
fn lists_exports_and_imports() {
    let module = module(LOG, r#"(func (export "proxy_on_tick") (param i32))"#);
    assert!(module.has_export("proxy_on_tick") && !module.has_export("proxy_on_log"));
    assert!(module.exports().contains(&"memory".to_owned()));
    assert_eq!(module.imports(), [("env".to_owned(), "proxy_log".to_owned())]);
    assert_eq!(module.hostcalls(), [portcullis_testkit::vm::Hostcall::Log]);
}

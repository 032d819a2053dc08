//! Hosts that refuse, lie and change their minds: a module may give up on a request, never on itself, and never
//! lets a request pass that nobody has admitted.

use portcullis_testkit::vm::{Exchange, Hostcall, Lie, STATUSES, Script, Trap, Vm};

use crate::support::{drive, module, request, start, subjects};

type Fault = Box<dyn Fn(&mut Script)>;

/// Every host call that the module makes, failing in every way: always, and at its first few calls only.
fn faults(name: &str) -> Vec<(String, Fault)> {
    let mut faults: Vec<(String, Fault)> = Vec::new();
    for hostcall in module(name).hostcalls() {
        for &status in STATUSES {
            faults.push((
                format!("{hostcall} returns {status}"),
                Box::new(move |script| {
                    script.fail(hostcall, status);
                }),
            ));
            for nth in 1..=4 {
                faults.push((
                    format!("call {nth} of {hostcall} returns {status}"),
                    Box::new(move |script| {
                        script.fail_nth(hostcall, nth, status);
                    }),
                ));
            }
        }
        let lies =
            [Lie::Null, Lie::NullWithSize(9), Lie::NullWithSize(u32::MAX), Lie::Empty, Lie::Number(u64::MAX)];
        let lies = lies.into_iter().map(|lie| (format!("{lie:?}"), lie));
        let maps = Lie::malformed_maps().into_iter().map(|(name, lie)| (name.to_owned(), lie));
        for (what, lie) in lies.chain(maps) {
            for nth in 0..=2 {
                let lie = lie.clone();
                faults.push((
                    format!("{hostcall} lies: {what} (call {nth}, 0 for all)"),
                    Box::new(move |script| match nth {
                        0 => {
                            script.lie(hostcall, lie.clone());
                        }
                        nth => {
                            script.lie_nth(hostcall, nth, lie.clone());
                        }
                    }),
                ));
            }
        }
    }
    faults
}

#[test]
fn no_answer_of_the_host_makes_a_module_trap() {
    for (name, config) in subjects() {
        let mut runs = 0;
        for (fault, inject) in faults(name) {
            let run = || -> Result<Vm, Trap> {
                let mut vm = start(name, &config, &inject)?;
                drive(&mut vm, request("acme", "s"), "200")?;
                drive(&mut vm, Exchange::default(), "401")?;
                // An exchange of which the module hears only at its end.
                let id = vm.create_exchange()?;
                vm.finish(id)?;
                vm.tick()?;
                Ok(vm)
            };
            if let Err(trap) = run() {
                panic!("{name} {config}: {fault}: {trap}");
            }
            runs += 1;
        }
        assert!(runs > 100, "{name}: only {runs} runs");
    }
}

#[test]
fn a_fault_that_comes_after_the_start_does_not_make_a_module_trap_either() {
    for (name, config) in subjects() {
        for (fault, inject) in faults(name) {
            let mut vm = start(name, &config, |_| {}).unwrap();
            assert!(vm.configured());
            inject(vm.script_mut());
            for status in ["200", "401", "nonsense"] {
                if let Err(trap) = drive(&mut vm, request("acme", status), status) {
                    panic!("{name} {config}: {fault}: {trap}");
                }
            }
        }
    }
}

#[test]
fn no_answer_of_the_host_lets_a_request_pass_that_nobody_admitted() {
    for (name, config) in subjects() {
        if !["client-id", "gateway"].contains(&name) {
            continue;
        }
        for (fault, inject) in faults(name) {
            for (exchange, status) in [
                (Exchange::default(), "200"),
                (request("acme", "wrong"), "401"),
                (request("acme", "s"), "500"),
            ] {
                let Ok(mut vm) = start(name, &config, |_| {}) else { panic!("{name}") };
                inject(vm.script_mut());
                let outcome =
                    drive(&mut vm, exchange, status).unwrap_or_else(|trap| panic!("{fault}: {trap}"));
                assert!(!outcome.went_on, "{name} {config}: {fault}: let a request pass ({status})");
            }
        }
    }
}

#[test]
fn an_honest_host_gets_admitted_requests_and_no_others() {
    for (name, config) in subjects() {
        let guards = ["client-id", "gateway"].contains(&name);
        for (status, admits) in [("200", true), ("401", false), ("500", false)] {
            let is_list = config.to_string().contains("registry");
            let mut vm = start(name, &config, |_| {}).unwrap();
            let outcome = drive(&mut vm, request("acme", "s"), status).unwrap();
            assert_eq!(outcome.went_on, !guards || (admits && !is_list), "{name} {config}: {status}");
        }
    }
}

#[test]
fn callbacks_in_any_order_and_for_strangers_do_not_make_a_module_trap() {
    for (name, config) in subjects() {
        let mut vm = start(name, &config, |_| {}).unwrap();
        let strangers = [0, 1, 2, 77, u32::MAX].map(portcullis_testkit::vm::ContextId);
        for id in strangers {
            for (export, arguments) in [
                ("proxy_on_request_headers", vec![id.0, 3, 0]),
                ("proxy_on_request_body", vec![id.0, u32::MAX, 1]),
                ("proxy_on_request_trailers", vec![id.0, 1]),
                ("proxy_on_response_headers", vec![id.0, 1, 1]),
                ("proxy_on_http_call_response", vec![id.0, 9, u32::MAX, u32::MAX, u32::MAX]),
                ("proxy_on_tick", vec![id.0]),
                ("proxy_on_log", vec![id.0]),
                ("proxy_on_done", vec![id.0]),
                ("proxy_on_context_create", vec![id.0, 1]),
                ("proxy_on_context_create", vec![id.0, 0]),
                ("proxy_on_configure", vec![id.0, u32::MAX]),
                ("proxy_on_delete", vec![id.0]),
                ("proxy_on_delete", vec![id.0]),
            ] {
                if let Err(trap) = vm.call(id, export, &arguments) {
                    panic!("{name}: {export}{arguments:?}: {trap}");
                }
            }
        }
    }
}

#[test]
fn a_stranger_s_request_is_refused() {
    let mut vm = start("client-id", &crate::support::per_request(), |_| {}).unwrap();
    let stranger = portcullis_testkit::vm::ContextId(77);
    let action = vm.call(stranger, "proxy_on_request_headers", &[77, 3, 1]).unwrap();
    assert_eq!(action, Some(1));
    assert!(vm.record().calls(Hostcall::SendLocalResponse) > 0);
}

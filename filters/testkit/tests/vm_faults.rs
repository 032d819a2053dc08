//! Hostcalls that fail on demand, or lie.
#![cfg(feature = "vm")]

mod vm_support;

use std::collections::BTreeSet;

use portcullis_testkit::vm::{ContextId, Exchange, Hostcall, Lie, MapType, STATUSES, Script, status};

use vm_support::{NUMBER, POINTER, Puppet, SIGNATURES, SIZE};

const ROOT: ContextId = ContextId::ROOT;
const UNTOUCHED: u32 = 0xeeee_eeee;

#[test]
fn every_hostcall_returns_every_status_on_demand() {
    let covered: BTreeSet<_> = SIGNATURES.iter().map(|(hostcall, _)| *hostcall).collect();
    assert_eq!(covered, Hostcall::ALL.iter().copied().collect());

    let mut puppet = Puppet::start(Script::default());
    for (hostcall, parameters) in SIGNATURES {
        for status in STATUSES {
            puppet.vm.script_mut().fail(*hostcall, *status);
            let arguments = vec![POINTER; parameters.len()];
            assert_eq!(puppet.call(ROOT, *hostcall, &arguments), *status, "{hostcall}");
        }
    }
    let record = puppet.vm.record();
    assert!(record.log.is_empty() && record.http_calls.is_empty() && record.local_responses.is_empty());
    assert_eq!(record.calls(Hostcall::Log), STATUSES.len() as u64);
    assert_eq!(puppet.word(POINTER), 0, "nothing was written");
}

#[test]
fn strikes_the_nth_call_only() {
    let mut puppet = Puppet::start(Script::default());
    puppet.vm.script_mut().fail_nth(Hostcall::GetLogLevel, 2, status::UNIMPLEMENTED);
    let answers: Vec<_> = (0..4).map(|_| puppet.call(ROOT, Hostcall::GetLogLevel, &[NUMBER])).collect();
    assert_eq!(answers, [0, status::UNIMPLEMENTED, 0, 0]);

    puppet.vm.script_mut().fail(Hostcall::GetLogLevel, 99);
    assert_eq!(puppet.call(ROOT, Hostcall::GetLogLevel, &[NUMBER]), 99);
    puppet.vm.script_mut().heal();
    assert_eq!(puppet.call(ROOT, Hostcall::GetLogLevel, &[NUMBER]), 0);
}

#[test]
fn lies_about_data_and_numbers() {
    let exchange = Exchange::default().with_map(MapType::RequestHeaders, [("x-a", "1")]);
    let (mut puppet, id) = Puppet::with_request(exchange);
    let pairs = |puppet: &mut Puppet, lie: Lie| {
        puppet.vm.script_mut().lie(Hostcall::GetHeaderMapPairs, lie);
        puppet.spoil_slots();
        assert_eq!(puppet.call(id, Hostcall::GetHeaderMapPairs, &[0, POINTER, SIZE]), status::OK);
        (puppet.word(POINTER), puppet.word(SIZE))
    };
    assert_eq!(pairs(&mut puppet, Lie::Null), (0, 0));
    assert_eq!(pairs(&mut puppet, Lie::NullWithSize(9)), (0, 9));
    let (at, size) = pairs(&mut puppet, Lie::Empty);
    assert!(at != 0 && at != UNTOUCHED && size == 0);
    assert_eq!(pairs(&mut puppet, Lie::Number(7)), (UNTOUCHED, UNTOUCHED), "there is no number to lie about");
    for (name, lie) in Lie::malformed_maps() {
        let Lie::Bytes(bytes) = lie.clone() else { panic!("{name}") };
        pairs(&mut puppet, lie);
        assert_eq!(puppet.data(), bytes, "{name}");
    }

    puppet.vm.script_mut().lie_nth(Hostcall::GetLogLevel, 1, Lie::Number(0xdead_beef));
    assert_eq!(puppet.call(ROOT, Hostcall::GetLogLevel, &[NUMBER]), status::OK);
    assert_eq!(puppet.word(NUMBER), 0xdead_beef);
    puppet.call(ROOT, Hostcall::GetLogLevel, &[NUMBER]);
    assert_eq!(puppet.word(NUMBER), 0, "the truth again");
}

#[test]
fn a_struck_hostcall_does_nothing() {
    let exchange = Exchange::default().with_map(MapType::RequestHeaders, [("x-a", "1")]);
    let (mut puppet, id) = Puppet::with_request(exchange.clone());
    let name = puppet.put("x-a");
    for status in STATUSES {
        puppet.vm.script_mut().fail(Hostcall::RemoveHeaderMapValue, *status);
        puppet.call(id, Hostcall::RemoveHeaderMapValue, &[0, name.at, name.length]);
    }
    let headers = puppet.vm.exchange(id).map(MapType::RequestHeaders);
    assert_eq!(headers, exchange.map(MapType::RequestHeaders));
}

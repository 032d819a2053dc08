//! What the hostcalls do when nothing is wrong.
#![cfg(feature = "vm")]

mod vm_support;

use std::collections::BTreeSet;
use std::time::Duration;

use portcullis_testkit::vm::{
    Action, CallReply, Clusters, ContextId, EndOfStream, Exchange, ForeignReply, GrpcAction, HeaderMap,
    Hostcall, MapType, Script, SharedStore, StreamAction, StreamKind, status,
};

use vm_support::{NUMBER, POINTER, Place, Puppet, SIZE};

const ROOT: ContextId = ContextId::ROOT;

fn get() -> Exchange {
    Exchange::default()
        .with_map(MapType::RequestHeaders, [(":method", "GET"), ("x-a", "1"), ("x-b", "2"), ("x-a", "3")])
}

fn header(puppet: &mut Puppet, id: ContextId, call: Hostcall, name: &str, value: &[u8]) -> u32 {
    let (name, value) = (puppet.put(name), puppet.put(value));
    puppet.call(id, call, &[0, name.at, name.length, value.at, value.length])
}

#[test]
fn header_maps_change_as_in_envoy() {
    let (mut puppet, id) = Puppet::with_request(get());
    assert_eq!(header(&mut puppet, id, Hostcall::AddHeaderMapValue, "X-B", b"\xff"), status::OK);
    assert_eq!(header(&mut puppet, id, Hostcall::ReplaceHeaderMapValue, "X-A", b"9"), status::OK);
    let gone = puppet.put(":method");
    assert_eq!(puppet.call(id, Hostcall::RemoveHeaderMapValue, &[0, gone.at, gone.length]), status::OK);

    let expected: [(&str, &[u8]); 3] = [("x-b", b"2"), ("x-b", b"\xff"), ("x-a", b"9")];
    assert_eq!(puppet.vm.exchange(id).map(MapType::RequestHeaders), &HeaderMap::from(expected));
    assert_eq!(puppet.vm.record().route_cache_clears, 3);

    let wire = puppet.put(HeaderMap::from([("X-New", "1")]).to_wire());
    assert_eq!(puppet.call(id, Hostcall::SetHeaderMapPairs, &[0, wire.at, wire.length]), status::OK);
    let expected = HeaderMap::from([("x-new", "1")]);
    assert_eq!(puppet.vm.exchange(id).map(MapType::RequestHeaders), &expected);
    assert_eq!(puppet.call(id, Hostcall::GetHeaderMapSize, &[0, NUMBER]), status::OK);
    assert_eq!(puppet.word(NUMBER), 6);
}

#[test]
fn header_maps_are_read_as_bytes() {
    let (mut puppet, id) = Puppet::with_request(get());
    assert_eq!(header_value(&mut puppet, id, 0, "X-A"), Ok(b"1".to_vec()), "the first of duplicates");
    assert_eq!(header_value(&mut puppet, id, 0, "x-c"), Err(status::NOT_FOUND));
    assert_eq!(header_value(&mut puppet, id, 2, "x-c"), Err(status::BAD_ARGUMENT), "no response yet");
    assert_eq!(header_value(&mut puppet, id, 8, "x-c"), Err(status::BAD_ARGUMENT), "no such map");

    assert_eq!(puppet.call(id, Hostcall::GetHeaderMapPairs, &[0, POINTER, SIZE]), status::OK);
    let wire = puppet.data();
    assert_eq!(&HeaderMap::from_wire(&wire), get().map(MapType::RequestHeaders));
    puppet.spoil_slots();
    assert_eq!(puppet.call(id, Hostcall::GetHeaderMapPairs, &[2, POINTER, SIZE]), status::OK);
    assert_eq!((puppet.word(POINTER), puppet.word(SIZE)), (0, 0), "out of reach reads as empty");
}

fn header_value(puppet: &mut Puppet, id: ContextId, map: u32, name: &str) -> Result<Vec<u8>, u32> {
    let name = puppet.put(name);
    match puppet.call(id, Hostcall::GetHeaderMapValue, &[map, name.at, name.length, POINTER, SIZE]) {
        status::OK => Ok(puppet.data()),
        status => Err(status),
    }
}

#[test]
fn headers_go_out_of_reach_once_they_are_let_go() {
    let exchange = get().with_map(MapType::ResponseHeaders, [(":status", "200")]);
    let (mut puppet, id) = Puppet::with_request(exchange);
    assert!(header_value(&mut puppet, id, 0, "x-a").is_ok());
    assert_eq!(puppet.call(id, Hostcall::ContinueStream, &[0]), status::OK);
    assert_eq!(header_value(&mut puppet, id, 0, "x-a"), Err(status::BAD_ARGUMENT));

    puppet.vm.response_headers(id, EndOfStream::Yes).unwrap();
    assert_eq!(header_value(&mut puppet, id, 2, ":status"), Ok(b"200".to_vec()));
    puppet.act(Action::Continue);
    puppet.vm.response_headers(id, EndOfStream::Yes).unwrap();
    assert_eq!(header_value(&mut puppet, id, 2, ":status"), Err(status::BAD_ARGUMENT));
}

#[test]
fn a_body_piles_up_while_the_module_pauses() {
    let (mut puppet, id) = Puppet::with_request(get());
    let read = |puppet: &mut Puppet, start: u32, length: u32| {
        puppet.spoil_slots();
        let status = puppet.call(id, Hostcall::GetBufferBytes, &[0, start, length, POINTER, SIZE]);
        if puppet.word(POINTER) == 0xeeee_eeee { (status, None) } else { (status, Some(puppet.data())) }
    };
    assert_eq!(read(&mut puppet, 0, 10), (status::OK, None), "no body yet");
    puppet.vm.request_body(id, b"one ", EndOfStream::No).unwrap();
    puppet.vm.request_body(id, b"two", EndOfStream::Yes).unwrap();
    assert_eq!(read(&mut puppet, 0, u32::MAX), (status::OK, Some(b"one two".to_vec())));
    assert_eq!(read(&mut puppet, 4, 2), (status::OK, Some(b"tw".to_vec())));
    assert_eq!(read(&mut puppet, 7, 2), (status::OK, None), "nothing there: the slots stay as they were");
    assert_eq!(read(&mut puppet, 8, 1), (status::BAD_ARGUMENT, None));
    assert_eq!(puppet.call(id, Hostcall::GetBufferStatus, &[0, SIZE, NUMBER]), status::OK);
    assert_eq!(puppet.word(SIZE), 7);

    let write = |puppet: &mut Puppet, start: u32, length: u32, text: &str| {
        let text = puppet.put(text);
        puppet.call(id, Hostcall::SetBufferBytes, &[0, start, length, text.at, text.length])
    };
    assert_eq!(write(&mut puppet, 0, 0, "zero "), status::OK);
    assert_eq!(write(&mut puppet, 100, 0, " three"), status::OK);
    assert_eq!(puppet.vm.exchange(id).request_body.buffer, b"zero one two three");
    assert_eq!(write(&mut puppet, 0, 4, "null"), status::BAD_ARGUMENT, "Envoy replaces no part");
    assert_eq!(write(&mut puppet, 0, 100, "new"), status::OK);

    assert_eq!(puppet.call(id, Hostcall::ContinueStream, &[0]), status::OK);
    assert_eq!(puppet.vm.exchange(id).request_body.passed, b"new");
    assert_eq!(write(&mut puppet, 0, 100, "late"), status::BAD_ARGUMENT);
    let resumed = (id, StreamAction::Continue(StreamKind::Request));
    assert_eq!(puppet.vm.record().stream_actions, [resumed]);
}

#[test]
fn trailers_that_are_let_go_take_a_held_body_along() {
    let (mut puppet, id) = Puppet::with_request(get());
    puppet.vm.request_body(id, b"held", EndOfStream::No).unwrap();
    assert_eq!(puppet.vm.exchange(id).request_body.passed, b"");
    puppet.act(Action::Continue);
    puppet.vm.request_trailers(id).unwrap();
    assert_eq!(puppet.vm.exchange(id).request_body.passed, b"held");
}

#[test]
fn a_chunk_that_is_neither_held_nor_let_go_is_lost() {
    let (mut puppet, id) = Puppet::with_request(get());
    puppet.act(Action::Other(3));
    puppet.vm.request_body(id, b"lost ", EndOfStream::No).unwrap();
    puppet.act(Action::Continue);
    puppet.vm.request_body(id, b"kept", EndOfStream::Yes).unwrap();
    assert_eq!(puppet.vm.exchange(id).request_body.passed, b"kept");
}

#[test]
fn shared_data_is_compared_and_set() {
    let shared = SharedStore::default();
    let start = || Puppet::start(Script { shared: shared.clone(), ..Script::default() });
    let (mut one, mut two) = (start(), start());
    let set = |puppet: &mut Puppet, value: &str, cas: u32| {
        let (key, value) = (puppet.put("key"), puppet.put(value));
        puppet.call(ROOT, Hostcall::SetSharedData, &[key.at, key.length, value.at, value.length, cas])
    };
    let get = |puppet: &mut Puppet| {
        let key = puppet.put("key");
        let arguments = [key.at, key.length, POINTER, SIZE, NUMBER];
        match puppet.call(ROOT, Hostcall::GetSharedData, &arguments) {
            status::OK => Ok((puppet.data(), puppet.word(NUMBER))),
            status => Err(status),
        }
    };
    assert_eq!(get(&mut one), Err(status::NOT_FOUND));
    assert_eq!(set(&mut one, "first", u32::MAX), status::OK, "any number creates an absent key");
    assert_eq!(set(&mut two, "second", u32::MAX), status::CAS_MISMATCH);
    let (value, cas) = get(&mut two).unwrap();
    assert_eq!(value, b"first");
    assert_eq!(set(&mut two, "second", cas), status::OK);
    assert_eq!(set(&mut one, "late", cas), status::CAS_MISMATCH);
    assert_eq!(set(&mut one, "blind", 0), status::OK, "zero overwrites");
    assert_eq!(shared.get("key").unwrap().0, b"blind");
    assert_ne!(get(&mut one).unwrap().1, cas);
}

#[test]
fn queues_keep_their_order() {
    let mut puppet = Puppet::start(Script::default());
    let name = puppet.put("queue");
    let none = Place { at: 0, length: 0 };
    let resolve = [none.at, none.length, name.at, name.length, NUMBER];
    assert_eq!(puppet.call(ROOT, Hostcall::ResolveSharedQueue, &resolve), status::NOT_FOUND);
    assert_eq!(puppet.call(ROOT, Hostcall::RegisterSharedQueue, &[name.at, name.length, NUMBER]), status::OK);
    let token = puppet.word(NUMBER);
    assert_eq!(puppet.call(ROOT, Hostcall::ResolveSharedQueue, &resolve), status::OK);
    assert_eq!(puppet.word(NUMBER), token);
    for item in ["one", "two"] {
        let item = puppet.put(item);
        assert_eq!(
            puppet.call(ROOT, Hostcall::EnqueueSharedQueue, &[token, item.at, item.length]),
            status::OK
        );
    }
    for item in [b"one", b"two"] {
        assert_eq!(puppet.call(ROOT, Hostcall::DequeueSharedQueue, &[token, POINTER, SIZE]), status::OK);
        assert_eq!(puppet.data(), item);
    }
    assert_eq!(puppet.call(ROOT, Hostcall::DequeueSharedQueue, &[token, POINTER, SIZE]), status::EMPTY);
    assert_eq!(
        puppet.call(ROOT, Hostcall::DequeueSharedQueue, &[token + 1, POINTER, SIZE]),
        status::NOT_FOUND
    );
}

#[test]
fn properties_belong_to_their_exchange() {
    let (mut puppet, id) = Puppet::with_request(get());
    puppet.vm.script_mut().properties.set(&["node", "id"], "gateway-1");
    let get = |puppet: &mut Puppet, context: ContextId, path: &str| {
        let path = puppet.put(path);
        match puppet.call(context, Hostcall::GetProperty, &[path.at, path.length, POINTER, SIZE]) {
            status::OK => Ok(puppet.data()),
            status => Err(status),
        }
    };
    let set = |puppet: &mut Puppet, context: ContextId| {
        let (path, value) = (puppet.put("client"), puppet.put("me"));
        puppet.call(context, Hostcall::SetProperty, &[path.at, path.length, value.at, value.length])
    };
    assert_eq!(get(&mut puppet, ROOT, "node\0id"), Ok(b"gateway-1".to_vec()));
    assert_eq!(get(&mut puppet, id, "node\0name"), Err(status::NOT_FOUND));
    assert_eq!(set(&mut puppet, ROOT), status::NOT_FOUND, "the root context has no filter state");
    assert_eq!(set(&mut puppet, id), status::OK);
    assert_eq!(get(&mut puppet, id, "client"), Ok(b"me".to_vec()));
    assert_eq!(puppet.vm.exchange(id).properties.get(&["client"]), Some(&b"me"[..]));
    let other = puppet.vm.create_exchange().unwrap();
    assert_eq!(get(&mut puppet, other, "client"), Err(status::NOT_FOUND));
}

#[test]
fn http_calls_are_recorded_and_answered() {
    let (mut puppet, id) = Puppet::with_request(get());
    puppet.vm.script_mut().clusters = Clusters::Only(BTreeSet::from([b"auth".to_vec()]));
    let dispatch = |puppet: &mut Puppet, cluster: &str, headers: HeaderMap, timeout: u32| {
        let (cluster, headers, body) =
            (puppet.put(cluster), puppet.put(headers.to_wire()), puppet.put("ping"));
        let arguments = [
            cluster.at,
            cluster.length,
            headers.at,
            headers.length,
            body.at,
            body.length,
            0,
            0,
            timeout,
            NUMBER,
        ];
        puppet.call(id, Hostcall::HttpCall, &arguments)
    };
    let whole = || HeaderMap::from([(":method", "POST"), (":path", "/"), (":authority", "auth")]);
    let mut headless = whole();
    headless.remove(":path");
    assert_eq!(dispatch(&mut puppet, "auth", headless, 250), status::BAD_ARGUMENT);
    assert_eq!(dispatch(&mut puppet, "elsewhere", whole(), 250), status::BAD_ARGUMENT);
    assert_eq!(dispatch(&mut puppet, "auth", whole(), u32::MAX), status::BAD_ARGUMENT, "negative");
    assert_eq!(dispatch(&mut puppet, "auth", whole(), 250), status::OK);
    let token = puppet.word(NUMBER);

    let [call] = &puppet.vm.record().http_calls[..] else { panic!("one call") };
    assert_eq!((call.token, call.context, call.timeout), (token, id, Duration::from_millis(250)));
    assert_eq!((&call.upstream[..], &call.headers, &call.body[..]), (&b"auth"[..], &whole(), &b"ping"[..]));

    let reply = CallReply { headers: HeaderMap::from([(":status", "200")]), ..CallReply::default() };
    puppet.vm.http_call_response(token, reply).unwrap();
    puppet.vm.http_call_failure(token).unwrap();
    let out_of_reach = puppet.call(ROOT, Hostcall::GetBufferBytes, &[4, 0, 1, POINTER, SIZE]);
    assert_eq!(out_of_reach, status::NOT_FOUND);
}

#[test]
fn grpc_calls_are_odd_and_streams_even() {
    let mut puppet = Puppet::start(Script::default());
    let [service, name] = ["svc", "pkg.Service"].map(|text| puppet.put(text));
    let address = [service.at, service.length, name.at, name.length, name.at, name.length, 0, 0];
    let unary = [&address[..], &[service.at, service.length, 50, NUMBER]].concat();
    let stream = [&address[..], &[NUMBER]].concat();
    let mut tokens = Vec::new();
    for (call, arguments) in
        [(Hostcall::GrpcCall, &unary), (Hostcall::GrpcCall, &unary), (Hostcall::GrpcStream, &stream)]
    {
        assert_eq!(puppet.call(ROOT, call, arguments), status::OK);
        tokens.push(puppet.word(NUMBER));
    }
    assert_eq!(tokens, [1, 3, 4]);
    assert_eq!(puppet.vm.record().grpc_calls[0].service_name, b"pkg.Service");

    assert_eq!(
        puppet.call(ROOT, Hostcall::GrpcSend, &[1, 0, 0, 1]),
        status::BAD_ARGUMENT,
        "a call takes no more"
    );
    assert_eq!(puppet.call(ROOT, Hostcall::GrpcSend, &[4, 0, 0, 1]), status::OK);
    assert_eq!(puppet.call(ROOT, Hostcall::GrpcCancel, &[3]), status::OK);
    assert_eq!(puppet.call(ROOT, Hostcall::GrpcCancel, &[3]), status::NOT_FOUND);
    puppet.vm.grpc_receive(1, b"reply").unwrap();
    assert_eq!(puppet.call(ROOT, Hostcall::GrpcCancel, &[1]), status::NOT_FOUND, "answered");
    let sent = GrpcAction::Send { token: 4, message: vec![], end_of_stream: true };
    assert_eq!(puppet.vm.record().grpc_actions, [sent, GrpcAction::Cancel { token: 3 }]);
}

#[test]
fn a_local_response_stops_the_stream() {
    let (mut puppet, id) = Puppet::with_request(get());
    let (body, headers) = (puppet.put("no"), puppet.put(HeaderMap::from([("X-Why", "1")]).to_wire()));
    let arguments = [401, 0, 0, body.at, body.length, headers.at, headers.length, u32::MAX];
    assert_eq!(puppet.call(id, Hostcall::SendLocalResponse, &arguments), status::OK);
    assert!(puppet.vm.stopped_by_local_response());
    let [response] = &puppet.vm.record().local_responses[..] else { panic!("one response") };
    assert_eq!((response.context, response.status, response.grpc_status), (id, 401, None));
    assert_eq!((&response.body[..], response.headers.text("x-why")), (&b"no"[..], Some("1".to_owned())));
}

#[test]
fn metrics_are_read_by_name() {
    let mut puppet = Puppet::start(Script::default());
    let define = |puppet: &mut Puppet, kind: u32, name: &str| {
        let name = puppet.put(name);
        assert_eq!(
            puppet.call(ROOT, Hostcall::DefineMetric, &[kind, name.at, name.length, NUMBER]),
            status::OK
        );
        puppet.word(NUMBER)
    };
    let (counter, gauge, histogram) =
        (define(&mut puppet, 0, "hits"), define(&mut puppet, 1, "open"), define(&mut puppet, 2, "time"));
    let minus_two = (-2_i32).cast_unsigned();
    for (call, id, value, expected) in [
        (Hostcall::IncrementMetric, counter, 5, status::OK),
        (Hostcall::IncrementMetric, counter, 0, status::BAD_ARGUMENT),
        (Hostcall::RecordMetric, gauge, 7, status::OK),
        (Hostcall::IncrementMetric, gauge, minus_two, status::OK),
        (Hostcall::RecordMetric, histogram, 3, status::OK),
        (Hostcall::IncrementMetric, histogram, 3, status::BAD_ARGUMENT),
        (Hostcall::RecordMetric, 4000, 3, status::NOT_FOUND),
        (Hostcall::GetMetric, gauge, NUMBER, status::OK),
        (Hostcall::GetMetric, histogram, NUMBER, status::BAD_ARGUMENT),
    ] {
        assert_eq!(puppet.call(ROOT, call, &[id, value]), expected, "{call} {id}");
    }
    assert_eq!(puppet.word(NUMBER), 5);
    let metrics = &puppet.vm.script().metrics;
    assert_eq!((metrics.value("hits"), metrics.value("open"), metrics.value("none")), (5, 5, 0));
    assert_eq!(metrics.get("time").unwrap().samples, [3]);
}

/// The effective context lasts one callback, so this takes a module that sets it and acts within one.
#[test]
fn the_effective_context_redirects_hostcalls_until_the_callback_returns() {
    let imports = r#"
        (import "env" "proxy_set_effective_context" (func $effective (param i32) (result i32)))
        (import "env" "proxy_continue_stream" (func $continue (param i32) (result i32)))"#;
    let rest = r#"(func (export "resume") (param i32) (result i32)
        (local $status i32)
        (local.set $status (call $effective (local.get 0)))
        (drop (call $continue (i32.const 0)))
        (local.get $status))"#;
    let mut vm =
        portcullis_testkit::vm::Vm::start(&vm_support::module(imports, rest), Script::default()).unwrap();
    let id = vm.create_exchange().unwrap();
    for (target, expected) in
        [(id, status::OK), (ContextId(99), status::BAD_ARGUMENT), (ContextId(0), status::OK)]
    {
        assert_eq!(vm.call(ROOT, "resume", &[target.0]).unwrap(), Some(expected));
    }
    vm.delete(id).unwrap();
    assert_eq!(vm.call(ROOT, "resume", &[id.0]).unwrap(), Some(status::BAD_ARGUMENT), "gone");
    let contexts: Vec<_> = vm.record().stream_actions.iter().map(|(context, _)| *context).collect();
    assert_eq!(contexts, [id, ROOT, ROOT, ROOT]);
}

#[test]
fn the_world_is_what_the_script_says() {
    let mut puppet = Puppet::start(Script { now: 5, ..Script::default() });
    puppet.vm.script_mut().advance(Duration::from_nanos(2));
    assert_eq!(puppet.call(ROOT, Hostcall::GetCurrentTimeNanoseconds, &[NUMBER]), status::OK);
    assert_eq!(puppet.word(NUMBER), 7);
    assert_eq!(puppet.call(ROOT, Hostcall::SetTickPeriodMilliseconds, &[20]), status::OK);
    assert_eq!(puppet.vm.record().tick_period, Some(Duration::from_millis(20)));

    let reply = ForeignReply { status: status::OK, results: b"done".to_vec() };
    puppet.vm.script_mut().foreign.insert("known".to_owned(), reply);
    for (name, expected) in [("known", status::OK), ("unknown", status::NOT_FOUND)] {
        let name = puppet.put(name);
        let arguments = [name.at, name.length, 0, 0, POINTER, SIZE];
        assert_eq!(puppet.call(ROOT, Hostcall::CallForeignFunction, &arguments), expected);
    }
    assert_eq!(puppet.data(), b"done");
    assert_eq!(puppet.vm.record().foreign_calls.len(), 2);
    assert_eq!(puppet.vm.record().calls(Hostcall::CallForeignFunction), 2);
}

#[test]
fn arguments_outside_memory_are_refused() {
    let mut puppet = Puppet::start(Script::default());
    for (call, arguments) in [
        (Hostcall::Log, &[2, u32::MAX, 10][..]),
        (Hostcall::Log, &[2, 0, u32::MAX][..]),
        (Hostcall::GetCurrentTimeNanoseconds, &[u32::MAX][..]),
        (Hostcall::RegisterSharedQueue, &[0, 4, 4 * 65536 - 3][..]),
    ] {
        assert_eq!(puppet.call(ROOT, call, arguments), status::INVALID_MEMORY_ACCESS, "{call}");
    }
}

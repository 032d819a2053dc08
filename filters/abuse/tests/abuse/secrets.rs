//! How much a refusal tells of a secret by the work that it takes.
//!
//! The module itself runs in a VM that counts instructions, so that the count is the same in every run and on every
//! machine: no clock is read. `portcullis-timing` measures the same by the clock.

use std::collections::BTreeMap;

use portcullis_testkit::envoy::module_path;
use portcullis_testkit::vm::{
    CallReply, ContextId, EndOfStream, Exchange, HeaderMap, MapType, Module, Script, Vm,
};
use serde_json::json;
use sha2::{Digest, Sha256};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// The module, with a list of clients: `one` has one secret, `three` has three, `none` has none, `out` is disabled.
fn vm() -> Vm {
    let module = Module::from_file(module_path("client-id")).unwrap();
    let config = json!({"auth": {"registry": {"cluster": "auth"}}});
    let mut vm = Vm::start(&module, Script::configured(config.to_string())).unwrap();
    let secret = |text: &str| {
        let salt = [7_u8; 16];
        let digest = Sha256::new().chain_update(salt).chain_update(text).finalize();
        json!({"salt": hex::encode(salt), "sha256": hex::encode(digest)})
    };
    let list = json!({"version": 1, "clients": [
        {"id": "one", "secrets": [secret(SECRET)]},
        {"id": "out", "disabled": true, "secrets": [secret(SECRET)]},
        {"id": "non", "secrets": []},
        {"id": "tri", "secrets": [secret(SECRET), secret("another"), secret("a third")]},
    ]});
    vm.tick().unwrap();
    let token = vm.record().http_calls.last().expect("the list is asked for").token;
    let headers = HeaderMap::from([(":status", "200")]);
    let body = list.to_string().into_bytes();
    vm.http_call_response(token, CallReply { headers, body, ..CallReply::default() }).unwrap();
    vm
}

/// The instructions that a request with these credentials takes, and whether it goes on.
fn cost(vm: &mut Vm, id: &str, secret: &str) -> (u64, bool) {
    let headers = [
        (":method", "GET"),
        (":path", "/"),
        (":authority", "a"),
        ("client_id", id),
        ("client_secret", secret),
    ];
    let exchange = Exchange::default().with_map(MapType::RequestHeaders, headers);
    let refused = vm.record().local_responses.len();
    let exchange: ContextId = vm.create_exchange_with(exchange).unwrap();
    vm.request_headers(exchange, EndOfStream::Yes).unwrap();
    let fuel = vm.fuel_used();
    let passed = vm.record().local_responses.len() == refused;
    vm.finish(exchange).unwrap();
    (fuel, passed)
}

/// The same after others like it, when memory has been taken and what is learnt once is known.
fn settled(vm: &mut Vm, id: &str, secret: &str) -> (u64, bool) {
    for _ in 0..3 {
        cost(vm, id, secret);
    }
    cost(vm, id, secret)
}

/// Secrets of one length that share ever more of their beginning, or of their end, with the right one.
fn guesses() -> Vec<String> {
    let wrong: String = SECRET.chars().map(|digit| if digit == 'f' { 'e' } else { 'f' }).collect();
    let mut guesses = Vec::new();
    for right in 0..SECRET.len() {
        guesses.push(SECRET[..right].to_owned() + &wrong[right..]);
        guesses.push(wrong[..SECRET.len() - right].to_owned() + &SECRET[SECRET.len() - right..]);
    }
    guesses
}

#[test]
fn a_wrong_secret_takes_the_same_work_however_much_of_it_is_right() {
    let mut vm = vm();
    assert!(settled(&mut vm, "one", SECRET).1, "the right one is right");
    for client in ["one", "out", "tri", "non", "who"] {
        let mut counts: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for guess in guesses() {
            let (work, passed) = settled(&mut vm, client, &guess);
            assert!(!passed, "{client} {guess}");
            counts.entry(work).or_default().push(guess);
        }
        assert_eq!(counts.len(), 1, "{client}: {counts:?}");
    }
}

/// Whether there is such a client, and how many secrets it has, is told by no digest: each decision takes as many as the
/// client of the list with the most secrets. What remains is the search of a name among the names.
#[test]
fn a_client_that_is_not_there_takes_as_many_digests_as_any() {
    let mut vm = vm();
    let digest = {
        // Of a secret that takes another block of SHA-256: what a block costs.
        let one = settled(&mut vm, "who", &"x".repeat(30)).0;
        let two = settled(&mut vm, "who", &"x".repeat(94)).0;
        two - one
    };
    let known = settled(&mut vm, "one", &guesses()[0]).0;
    for client in ["who", "non", "out", "tri"] {
        let work = settled(&mut vm, client, &guesses()[0]).0;
        let difference = work.abs_diff(known);
        assert!(
            difference < digest / 4,
            "{client}: {work} and {known} for one that is there, {digest} for a block"
        );
    }
}

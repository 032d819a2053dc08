//! Whether the time that a refusal takes tells of the secret: the module in a VM, by the clock, in the manner of dudect
//! (Reparaz, Balasch, Verbauwhede: "Dude, is my code constant time?", 2017). Secrets of two classes, one of which shares all
//! but the last byte with the right secret and the other nothing, are tried in random order; Welch's t-test compares what
//! they take. Beyond 4.5 the classes differ, and the program fails.
//!
//! The clock sees the machine, too: run it on an idle one. `tests/abuse/secrets.rs` counts instructions instead.
//!
//! Usage: timing [SAMPLES]

use std::process::ExitCode;
use std::time::Instant;

use portcullis_testkit::envoy::module_path;
use portcullis_testkit::vm::{CallReply, EndOfStream, Exchange, HeaderMap, MapType, Module, Script, Vm};
use serde_json::json;
use sha2::{Digest, Sha256};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
/// The statistic beyond which the paper takes classes to differ.
const THRESHOLD: f64 = 4.5;

fn main() -> ExitCode {
    let samples = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(200_000);
    let near = SECRET[..31].to_owned() + "e";
    let far: String = SECRET.chars().map(|digit| if digit == 'f' { 'e' } else { 'f' }).collect();
    let mut vm = vm();
    let mut choice = Choice(0x9e37_79b9_7f4a_7c15);
    let mut times = [Vec::new(), Vec::new()];
    for at in 0..samples {
        let class = choice.next();
        let taken = time(&mut vm, [&near, &far][class]);
        // The first ones warm caches.
        if at > samples / 100 {
            times[class].push(taken);
        }
        // What the VM's record keeps of each exchange is not to grow for ever.
        if at % 2000 == 1999 {
            vm = self::vm();
            time(&mut vm, &near);
        }
    }
    // As the paper does: interrupts make the slowest of both classes.
    let mut worst = 0.0_f64;
    for kept in [1.0, 0.9, 0.5] {
        let t = welch(&cropped(&times, kept));
        println!("the fastest {:3.0} %: t = {t:.2}", kept * 100.0);
        worst = worst.max(t.abs());
    }
    println!("{samples} samples, worst |t| = {worst:.2}, threshold {THRESHOLD}");
    if worst < THRESHOLD { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn vm() -> Vm {
    let module = Module::from_file(module_path("client-id")).expect("the module");
    let config = json!({"auth": {"registry": {"cluster": "auth"}}});
    let mut vm = Vm::start(&module, Script::configured(config.to_string())).expect("a VM");
    let salt = [7_u8; 16];
    let digest = Sha256::new().chain_update(salt).chain_update(SECRET).finalize();
    let secrets = json!([{"salt": hex::encode(salt), "sha256": hex::encode(digest)}]);
    let list = json!({"version": 1, "clients": [{"id": "one", "secrets": secrets}]});
    vm.tick().expect("a tick");
    let token = vm.record().http_calls.last().expect("the list is asked for").token;
    let reply = CallReply {
        headers: HeaderMap::from([(":status", "200")]),
        body: list.to_string().into_bytes(),
        ..CallReply::default()
    };
    vm.http_call_response(token, reply).expect("the list is taken over");
    vm
}

/// Nanoseconds that a request with this secret takes.
fn time(vm: &mut Vm, secret: &str) -> f64 {
    let headers = [
        (":method", "GET"),
        (":path", "/"),
        (":authority", "a"),
        ("client_id", "one"),
        ("client_secret", secret),
    ];
    let exchange = Exchange::default().with_map(MapType::RequestHeaders, headers);
    let exchange = vm.create_exchange_with(exchange).expect("an exchange");
    let before = Instant::now();
    vm.request_headers(exchange, EndOfStream::Yes).expect("an answer");
    let taken = before.elapsed();
    vm.finish(exchange).expect("an end");
    taken.as_secs_f64() * 1e9
}

/// The part of both classes that took less than this quantile of all.
fn cropped(times: &[Vec<f64>; 2], kept: f64) -> [Vec<f64>; 2] {
    let mut all: Vec<f64> = times.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let at = ((all.len() - 1) as f64 * kept) as usize;
    let limit = all[at];
    times.each_ref().map(|class| class.iter().copied().filter(|time| *time <= limit).collect())
}

/// Welch's t.
#[expect(clippy::cast_precision_loss)]
fn welch([one, other]: &[Vec<f64>; 2]) -> f64 {
    let moments = |times: &[f64]| {
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (mean, variance / count)
    };
    let ((one, of_one), (other, of_other)) = (moments(one), moments(other));
    (one - other) / (of_one + of_other).sqrt()
}

/// Marsaglia's xorshift, which is random enough to mix two classes.
struct Choice(u64);

impl Choice {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::from(self.0 >> 40 & 1 == 1)
    }
}

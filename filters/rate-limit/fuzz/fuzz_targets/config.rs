//! Configuration documents of any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_policy::config::parse;
use portcullis_policy::{Chain, Policy};
use portcullis_rate_limit::{Config, RateLimit};

fuzz_target!(|data: &[u8]| {
    let Ok(config) = parse::<Config>(data) else { return };
    let checked = config.check();
    assert_eq!(RateLimit::from_config(config.clone()).map(|_| ()).is_ok(), taken(data));
    if checked.is_ok() {
        assert!((1..=8).contains(&config.limits.len()));
        assert!(config.limits.iter().all(|limit| limit.max > 0 && limit.period_ms > 0));
        // Written down again, it reads as the same document.
        let text = serde_json::to_vec(&config).unwrap();
        let again = serde_json::to_vec(&parse::<Config>(&text).unwrap()).unwrap();
        assert_eq!(text, again);
    }
});

fn taken(data: &[u8]) -> bool {
    Chain::new().then_configured::<RateLimit>(data).is_ok()
}

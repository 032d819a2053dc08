//! Answers of the rate limit service of any bytes.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use portcullis_policy::headers::is_reserved;
use portcullis_rate_limit::cluster::reply::{MAX_BYTES, Nonsense, read};
use portcullis_rate_limit::cluster::{AddedHeaders, PermittedHeaders, ServiceConfig};

const PERMITTED: [&str; 3] = ["r", "x-limited", "retry-after"];

thread_local! {
    static RULES: PermittedHeaders = {
        let config = serde_json::json!({
            "cluster": "limits", "domain": "shop", "request_headers": PERMITTED, "response_headers": PERMITTED,
        });
        let config: ServiceConfig = serde_json::from_value(config).unwrap();
        PermittedHeaders::compile(&config).unwrap()
    };
}

/// Nothing that a service says may end a header line, address another resource, or pass for the suite's own word.
fn check_headers(headers: &AddedHeaders) {
    for (name, value) in headers.iter() {
        assert!(!name.is_empty() && !name.starts_with(':') && !is_reserved(name.as_bytes()));
        assert!(name.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()));
        assert!(!value.iter().any(|byte| b"\r\n\0".contains(byte)));
        assert!(PERMITTED.contains(&name));
    }
}

fn check(body: &[u8]) {
    match RULES.with(|rules| read(body, rules)) {
        Ok(ruling) => {
            assert!(body.len() <= MAX_BYTES);
            assert!(ruling.standings.len() <= 8);
            for standing in &ruling.standings {
                assert!(standing.retry == Duration::ZERO || standing.retry == standing.reset);
            }
            check_headers(&ruling.request_headers);
            check_headers(&ruling.response_headers);
            assert!(ruling.body.is_none_or(|body| !body.bytes.is_empty()));
        }
        Err(nonsense) => assert_eq!(nonsense == Nonsense::TooLong, body.len() > MAX_BYTES),
    }
}

fuzz_target!(|data: &[u8]| {
    check(data);
    // In a frame, so that most inputs get as far as the message.
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    check(&[&[0], &length[..], data].concat());
});

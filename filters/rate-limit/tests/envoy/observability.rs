//! What operators see.

use portcullis_testkit::envoy::{AccessLog, PATIENCE};
use serde_json::json;

use crate::support::*;

#[test]
fn leaves_the_outcome_to_envoy_s_own_access_log() {
    let format =
        "%FILTER_STATE(wasm.portcullis.rate-limit.outcome:PLAIN)% %RESPONSE_CODE_DETAILS% %PATH(NQ:PATH)%";
    let policy = two_an_hour(json!({"scope": {"exempt": [{"path_prefix": "/health"}]}}));
    let gateway = Gateway::start_with(|config| {
        config.filter(plugin(&policy)).access_log(AccessLog::Stdout(format.to_owned()))
    });
    for path in ["/health", "/1", "/2", "/3"] {
        Http::One.request(gateway.addr(), "GET", path, &[]);
        let expected = match path {
            "/health" => "rate-limit:skipped:exempt via_upstream /health".to_owned(),
            "/3" => "rate-limit:rejected:quota-exceeded rate_limit_quota_exceeded /3".to_owned(),
            _ => format!("rate-limit:passed:admitted via_upstream {path}"),
        };
        gateway.envoy.wait_for_stdout(PATIENCE, |line| line == expected);
    }
    assert_eq!((gateway.count("exempt"), gateway.count("admitted"), gateway.count("rejected")), (1, 2, 1));
}

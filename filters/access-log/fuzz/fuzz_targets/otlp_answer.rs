//! Whatever a collector answers can be read, and a pause until a date gets shorter.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_access_log::otlp::fuzzing;
use portcullis_policy::time::Timestamp;
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let rejected = fuzzing::rejected_records(input);
    if let Ok(Value::Object(answer)) = serde_json::from_slice(input)
        && !answer.keys().any(|name| name.starts_with("partial"))
    {
        assert_eq!(rejected, Some(0));
    }
    let now = Timestamp::from_nanos(1_767_225_600_000_000_000);
    // The later it is, the shorter the pause until a date; a number of seconds stays the same.
    if let Some(pause) = fuzzing::retry_after(input, now) {
        let later = now.after(core::time::Duration::from_secs(1));
        assert!(fuzzing::retry_after(input, later).is_some_and(|left| left <= pause));
    }
});

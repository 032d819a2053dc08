//! Serialized `google.protobuf.Struct` messages of any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_policy::protobuf_struct;

fuzz_target!(|data: &[u8]| {
    if let Some(json) = protobuf_struct::to_json(data) {
        let value: serde_json::Value = serde_json::from_slice(&json).expect("valid JSON");
        assert!(value.is_object());
    }
});

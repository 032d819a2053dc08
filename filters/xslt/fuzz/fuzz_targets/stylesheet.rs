//! Stylesheets of any bytes, one of which may include the other.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_xslt::{CompileOptions, Stylesheet};

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let (main, other) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut options = CompileOptions::default();
    options.documents.insert("a".to_owned(), other.to_vec());
    if let Err(error) = Stylesheet::compile(main, &options) {
        assert!(!error.to_string().is_empty());
        // The same mistake is found in the same place.
        assert_eq!(Stylesheet::compile(main, &options).unwrap_err(), error);
    }
});

//! Transformations by any stylesheet of any document: the result is well-formed, and always the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_xml::{Document, Limits};
use portcullis_xslt::{CompileOptions, Output, Parameters, Stylesheet, TransformError, TransformLimits};

fn run(stylesheet: &Stylesheet, input: &[u8], chunk: usize) -> Option<Result<Output, TransformError>> {
    let mut builder = stylesheet.source(&Limits::default());
    for chunk in input.chunks(chunk) {
        builder.feed(chunk).ok()?;
    }
    let source = builder.finish().ok()?;
    let limits = TransformLimits { steps: 200_000, ..TransformLimits::default() };
    Some(stylesheet.transform(source, &Parameters::new(), &limits, &mut Vec::new()))
}

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let (source, input) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Ok(stylesheet) = Stylesheet::compile(source, &CompileOptions::default()) else { return };
    let Some(result) = run(&stylesheet, input, usize::MAX) else { return };
    assert_eq!(run(&stylesheet, input, 3).as_ref(), Some(&result));
    match result {
        Err(error) => assert!(!error.to_string().is_empty()),
        // A stylesheet can call its text whatever it likes.
        Ok(_) if source.windows(10).any(|word| word == b"media-type") => {}
        Ok(output) => check(&output),
    }
});

/// The result need not have one element alone, but must be well-formed inside another.
fn check(output: &Output) {
    let text = std::str::from_utf8(&output.bytes).expect("UTF-8");
    // Text has no markup; a document type declaration would be refused.
    if &*output.media_type != "text/xml" || text.contains("<!DOCTYPE") {
        return;
    }
    let content = match text.strip_prefix("<?xml ") {
        Some(rest) => rest.split_once("?>").expect("an XML declaration ends").1,
        None => text,
    };
    let limits = Limits { depth: 1 << 20, bindings: 1 << 20, attributes: 1 << 20, ..Limits::default() };
    if let Err(error) = Document::parse(format!("<r>{content}</r>").as_bytes(), &limits) {
        assert!(matches!(error.kind, portcullis_xml::ErrorKind::LimitExceeded(..)), "{error}: {text}");
    }
}

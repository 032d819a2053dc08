//! Documents of any bytes, in chunks of any sizes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_xml::{Charset, Control, Error, Limits, Position, Sink, StartTag, Tokenizer};

/// Every call, written down.
#[derive(Default, PartialEq, Debug)]
struct Calls(Vec<String>);

impl Calls {
    fn add(&mut self, call: String) -> Control {
        self.0.push(call);
        Control::Continue
    }
}

impl Sink for Calls {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        assert!(!tag.name().local.is_empty());
        assert_eq!(tag.name().namespace.is_empty(), tag.name().namespace_id.0 == 0);
        let attributes: Vec<_> = tag.attributes().iter().collect();
        let declarations: Vec<_> = tag.declarations().collect();
        for (place, attribute) in attributes.iter().enumerate() {
            // No two have the same expanded name.
            let (namespace, local) = (attribute.name.namespace, attribute.name.local);
            let found =
                attributes.iter().position(|it| (it.name.namespace, it.name.local) == (namespace, local));
            assert_eq!(found, Some(place));
        }
        self.add(format!("start {:?} {attributes:?} {declarations:?}", tag.name()))
    }

    fn end(&mut self) -> Control {
        self.add("end".to_owned())
    }

    fn text(&mut self, text: &str) -> Control {
        assert!(!text.is_empty());
        self.add(format!("text {text:?}"))
    }

    fn comment(&mut self, text: &str) -> Control {
        assert!(!text.contains("--"));
        self.add(format!("comment {text:?}"))
    }

    fn processing_instruction(&mut self, target: &str, data: &str) -> Control {
        assert!(!data.contains("?>"));
        self.add(format!("instruction {target:?} {data:?}"))
    }
}

fn read<'a>(
    limits: &Limits,
    charset: Option<Charset>,
    chunks: impl Iterator<Item = &'a [u8]>,
) -> (Calls, Result<Position, Error>) {
    let mut tokenizer = Tokenizer::new(limits);
    if let Some(charset) = charset {
        tokenizer = tokenizer.with_charset(charset);
    }
    let mut calls = Calls::default();
    let (mut bytes, mut count) = (0, 0);
    let mut result = Ok(());
    for chunk in chunks {
        (bytes, count) = (bytes + chunk.len(), count + 1);
        result = tokenizer.feed(chunk, &mut calls).map(|_| ());
        if result.is_err() {
            break;
        }
    }
    let end = result.and_then(|()| tokenizer.finish(&mut calls)).map(|()| tokenizer.position());
    let most = u64::try_from((bytes + count) * 8 + 64).unwrap();
    assert!(tokenizer.work() <= most, "{} steps for {bytes} bytes", tokenizer.work());
    (calls, end)
}

fuzz_target!(|data: &[u8]| {
    // The first two bytes say how the rest is read.
    let [mode, sizes, document @ ..] = data else { return };
    let limits = match mode & 1 {
        0 => Limits::default(),
        _ => Limits {
            depth: 3,
            attributes: 3,
            bindings: 3,
            namespaces: 3,
            name_bytes: 8,
            value_bytes: 8,
            text_bytes: 16,
            document_bytes: 200,
            ..Limits::default()
        },
    };
    let charset = match (mode >> 1) & 7 {
        1 => Some(Charset::Utf8),
        2 => Some(Charset::Latin1),
        3 => Some(Charset::Utf16),
        4 => Some(Charset::Utf16Le),
        5 => Some(Charset::Ascii),
        _ => None,
    };
    let whole = read(&limits, charset, [document].into_iter());
    // Sizes that follow from one byte, small and large by turns.
    let mut rest = document;
    let mut size = usize::from(*sizes);
    let chunks = core::iter::from_fn(|| {
        size = (size * 5 + 1) % 23;
        let (chunk, others) = rest.split_at(size.min(rest.len()));
        let is_over = rest.is_empty();
        rest = others;
        (!is_over).then_some(chunk)
    });
    assert_eq!(read(&limits, charset, chunks), whole);
    assert_eq!(read(&limits, charset, document.chunks(1)), whole);
});

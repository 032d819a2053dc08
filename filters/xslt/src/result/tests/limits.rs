//! How much may be written.

use super::*;

fn limited(format: &OutputFormat, change: impl FnOnce(&mut ResultLimits)) -> Script {
    let mut limits = LIMITS;
    change(&mut limits);
    Script { names: Names::default(), writer: ResultWriter::new(format, limits) }
}

#[test]
fn bounds_the_output_whatever_is_written() {
    type Step = fn(&mut Script) -> Result<(), ResultError>;
    let steps: [Step; 6] = [
        |script| script.writer.text("&"),
        |script| script.writer.comment("c"),
        |script| script.writer.processing_instruction("p", "d"),
        |script| {
            let name = script.name("b");
            script.writer.start_element(&script.names, name)?;
            script.writer.end_element()
        },
        |script| {
            let name = script.name("b");
            script.writer.start_element(&script.names, name)?;
            script.writer.attribute(&script.names, name, "v")?;
            script.writer.end_element()
        },
        |script| {
            let name = script.name("{u}p:b");
            script.writer.start_element(&script.names, name)?;
            script.writer.namespace(&script.names, name.prefix, portcullis_xml::tree::UriId::NONE)?;
            script.writer.end_element()
        },
    ];
    for step in steps {
        let mut script = limited(&plain(), |limits| limits.output_bytes = 100);
        script.start("a").text("t");
        let error = (0..100).find_map(|_| step(&mut script).err());
        assert_eq!(error, Some(ResultError::OutputTooLarge(100)));
    }
    let text = OutputFormat { method: Method::Text, ..plain() };
    let mut script = limited(&text, |limits| limits.output_bytes = 3);
    assert_eq!(script.writer.text("abc"), Ok(()));
    assert_eq!(script.writer.text("d"), Err(ResultError::OutputTooLarge(3)));
}

#[test]
fn takes_output_up_to_the_very_limit() {
    for (limit, fits) in [(7, true), (6, false)] {
        let mut script = limited(&plain(), |limits| limits.output_bytes = limit);
        script.start("ab").end();
        assert_eq!(script.writer.text("xy").is_ok(), fits);
    }
}

#[test]
fn counts_added_white_space() {
    let indented = OutputFormat { indent: Indent::TwoSpaces, ..plain() };
    for (limit, fits) in [(15, true), (14, false)] {
        let mut script = limited(&indented, |limits| limits.output_bytes = limit);
        script.start("a").start("b").end().end();
        let writer = script.writer;
        let finished = writer.finish();
        assert_eq!(finished.is_ok(), fits, "{finished:?}");
    }
}

#[test]
fn bounds_the_text_of_all_captures_that_there_are() {
    let mut script = limited(&plain(), |limits| limits.capture_bytes = 4);
    for _ in 0..3 {
        // What has ended does not count any more.
        script.writer.begin_string();
        script.text("abcd");
        script.writer.end_string().unwrap();
    }
    script.writer.begin_fragment();
    script.text("ab");
    script.writer.begin_string();
    script.text("cd");
    assert_eq!(script.writer.comment("e"), Err(ResultError::CapturesTooLarge(4)));
}

#[test]
fn bounds_the_nodes_of_fragments_but_not_of_strings() {
    let mut script = limited(&plain(), |limits| limits.fragment_nodes = 2);
    script.writer.begin_string();
    script.comment("").comment("").comment("");
    script.writer.end_string().unwrap();
    for _ in 0..2 {
        script.writer.begin_fragment();
        script.start("a").attribute("b", "");
        script.writer.end_fragment().unwrap();
    }
    script.writer.begin_fragment();
    script.start("a").attribute("b", "");
    let name = script.name("c");
    assert_eq!(script.writer.start_element(&script.names, name), Err(ResultError::FragmentTooLarge(2)));
}

#[test]
fn bounds_the_attributes_of_an_element_replaced_ones_counted() {
    for fragment in [false, true] {
        let mut script = Script::plain();
        if fragment {
            script.writer.begin_fragment();
        }
        script.start("a");
        for index in 0..100 {
            script.attribute(if index % 2 == 0 { "b" } else { "c" }, "v");
        }
        let name = script.name("b");
        let added = script.writer.attribute(&script.names, name, "v");
        assert_eq!(added.map(|_| ()), Err(ResultError::TooManyAttributes(100)));
    }
}

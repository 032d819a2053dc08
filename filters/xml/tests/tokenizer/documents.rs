//! What is handed on of documents that are well-formed.

use portcullis_xml::{Control, Limits, Sink, StartTag, Tokenizer};

use crate::events::{Events, events, read_chunks};

#[test]
fn hands_on_every_part_in_document_order() {
    assert_eq!(
        events("<?xml version='1.0'?>\n<!--c--><?p d?>\n<a b='1'>x<c/>y<!-- d --><?e?></a>\n<!--f-->"),
        [
            "!\"c\"",
            "?p \"d\"",
            "<a b=\"1\"",
            "\"x\"",
            "<c",
            ">c",
            "\"y\"",
            "!\" d \"",
            "?e \"\"",
            ">a",
            "!\"f\"",
        ]
    );
}

#[test]
fn joins_character_data_references_and_sections_into_one_piece() {
    assert_eq!(
        events("<a>1&lt;2<![CDATA[<&]]>3&#x34;<![CDATA[]]>&#53;]]&gt;<![CDATA[]]]]>&amp;</a>")[1..],
        ["\"1<2<&345]]>]]&\"", ">a"]
    );
    assert_eq!(events("<a><![CDATA[]]></a>"), ["<a", ">a"], "and hands on no empty piece");
    assert_eq!(events("<a>x<!---->y</a>")[1..], ["\"x\"", "!\"\"", "\"y\"", ">a"]);
}

#[test]
fn makes_every_line_end_a_line_feed() {
    assert_eq!(
        events("<a>1\r\n2\r3\n4\r\r\n5&#13;\n<![CDATA[\r\n]]><!--\r--><?p \r\nx\r?></a>")[1..],
        ["\"1\\n2\\n3\\n4\\n\\n5\\r\\n\\n\"", "!\"\\n\"", "?p \"x\\n\"", ">a"]
    );
}

#[test]
fn normalizes_attribute_values() {
    assert_eq!(
        events("<a b=' 1\t2\n3\r\n4\r5&#9;&#xA;&#xD; ' c=\"'&quot;&apos;\" d='\"'/>")[0],
        r#"<a b=" 1 2 3 4 5\t\n\r " c="'\"'" d="\"""#
    );
}

#[test]
fn takes_white_space_wherever_it_may_stand() {
    assert_eq!(events("\n <a \t b\r\n=\n'1' ></a\n>\t"), ["<a b=\"1\"", ">a"]);
    assert_eq!(events("<?xml version = \"1.0\"\tencoding\n=\r'UTF-8' standalone='no' ?><a />"), ["<a", ">a"]);
}

#[test]
fn resolves_prefixes_by_the_innermost_declaration() {
    assert_eq!(
        events(
            "<p:a xmlns:p='u:1' xmlns='u:2' p:x='1' y='2'><b><p:c xmlns:p='u:3' xmlns=''><d/></p:c></b><p:e/></p:a>"
        ),
        [
            "<p:a{u:1} (p=u:1) (=u:2) p:x{u:1}=\"1\" y=\"2\"",
            "<b{u:2}",
            "<p:c{u:3} (p=u:3) (=)",
            "<d",
            ">d",
            ">p:c{u:3}",
            ">b{u:2}",
            "<p:e{u:1}",
            ">p:e{u:1}",
            ">p:a{u:1}",
        ]
    );
}

#[test]
fn knows_the_prefix_xml_without_a_declaration() {
    const XML: &str = "http://www.w3.org/XML/1998/namespace";
    assert_eq!(events("<a xml:lang='de'/>")[0], format!("<a xml:lang{{{XML}}}=\"de\""));
    assert_eq!(events("<xml:a/>")[0], format!("<xml:a{{{XML}}}"));
    assert_eq!(events(format!("<a xmlns:xml='{XML}'/>"))[0], format!("<a (xml={XML})"));
}

#[test]
fn gives_one_namespace_one_identifier_whatever_the_prefix() {
    #[derive(Default)]
    struct Ids(Vec<(u32, Vec<u32>, Vec<u32>)>);
    impl Sink for Ids {
        fn start(&mut self, tag: &StartTag<'_>) -> Control {
            let attributes = tag.attributes().iter().map(|it| it.name.namespace_id.0).collect();
            let declared = tag.declarations().map(|(_, _, id)| id.0).collect();
            self.0.push((tag.name().namespace_id.0, attributes, declared));
            Control::Continue
        }
    }

    let mut ids = Ids::default();
    let mut tokenizer = Tokenizer::new(&Limits::default());
    let document =
        b"<a xmlns='u:1' xml:x=''><b/><p:b xmlns:p='u:1' q:x='' xmlns:q='u:2'/><q:b xmlns:q='u:2'/></a>";
    tokenizer.feed(document, &mut ids).unwrap();
    tokenizer.finish(&mut ids).unwrap();

    assert_eq!(
        ids.0,
        [(2, vec![1], vec![2]), (2, vec![], vec![]), (2, vec![3], vec![2, 3]), (3, vec![], vec![3])]
    );
}

#[test]
fn finds_attributes_by_expanded_name() {
    struct Find;
    impl Sink for Find {
        fn start(&mut self, tag: &StartTag<'_>) -> Control {
            let value =
                |namespace, local| tag.attributes().find(namespace, local).map(|it| it.value.to_owned());
            assert_eq!(value("", "x").as_deref(), Some("1"));
            assert_eq!(value("u:1", "x").as_deref(), Some("2"));
            assert_eq!(value("u:1", "y"), None);
            assert_eq!(value("", "p"), None, "a declaration is none");
            Control::Stop
        }
    }
    let mut tokenizer = Tokenizer::new(&Limits::default());
    let document = b"<a xmlns:p='u:1' x='1' p:x='2'/>";
    assert_eq!(tokenizer.feed(document, &mut Find), Ok(Control::Stop));
}

#[test]
fn takes_names_of_any_script() {
    assert_eq!(
        events("<\u{4e66}:\u{fc}ber\u{b7}\u{300} xmlns:\u{4e66}='u:1' \u{10400}='\u{10ffff}'/>").len(),
        2
    );
}

#[test]
fn tells_the_xml_declaration_from_targets_that_begin_like_it() {
    assert_eq!(
        events("<?xml-stylesheet href='s'?><?xmlns?><a/>")[..2],
        ["?xml-stylesheet \"href='s'\"", "?xmlns \"\""]
    );
}

#[test]
fn reads_any_version_1_as_1_0() {
    for version in ["1.0", "1.1", "1.2", "1.99"] {
        assert_eq!(events(format!("<?xml version='{version}'?><a/>")), ["<a", ">a"]);
    }
}

#[test]
fn reads_nothing_behind_the_call_that_the_sink_stops_at() {
    let document = "<a b='c'>t<d/><!--e--><?f?>u</a><$";
    let all = ["<a b=\"c\"", "\"t\"", "<d", ">d", "!\"e\"", "?f \"\"", "\"u\"", ">a"];
    let ends = [9, 10, 14, 14, 22, 27, 28, 32];
    for (calls, end) in (1..=all.len()).zip(ends) {
        for size in [1, 5, document.len()] {
            let tokenizer = Tokenizer::new(&Limits { document_bytes: 40, ..Limits::default() });
            let chunks = document.as_bytes().chunks(size).chain([&b"not read"[..]; 10]);
            let outcome = read_chunks(tokenizer, Events::stopping_after(calls), chunks);
            assert_eq!(outcome.error, None);
            assert_eq!(outcome.events.lines, all[..calls]);
            assert_eq!(outcome.position.map(|position| position.offset), Some(end));
        }
    }
}

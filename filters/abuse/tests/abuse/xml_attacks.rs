//! XML that is made to be read by something weaker.

use portcullis_abuse::Gateway;
use portcullis_abuse::policies::{GOOD, reading_bodies};
use portcullis_testkit::envoy::{Backend, Http, Response, http_reply};

fn post(gateway: &Gateway, http: Http, content_type: &str, body: &[u8]) -> Response {
    let headers = [&GOOD[..], &[("content-type", content_type.as_bytes())]].concat();
    http.request(gateway.addr(), "POST", "/", &headers, body)
}

/// Refused with one of these statuses, and nothing of it has come to the upstream.
#[track_caller]
fn assert_refused(
    gateway: &Gateway,
    http: Http,
    what: &str,
    content_type: &str,
    body: &[u8],
    statuses: &[u16],
) {
    let response = post(gateway, http, content_type, body);
    assert!(statuses.contains(&response.status), "{http:?} {what} {response:?}");
    assert_eq!(gateway.upstream.take(), [], "{http:?} {what}");
    // Nothing of the message comes back.
    let told = response.text();
    assert!(!told.contains("hunter2") && told.len() < 2000, "{what} {told}");
}

fn utf16(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_be_bytes).collect()
}

/// No document type, so no entities: neither those that grow, nor those that fetch.
#[test]
fn document_types_are_refused_whatever_they_declare_and_nothing_is_fetched() {
    let gateway = Gateway::start(&reading_bodies());
    let outside = Backend::start();
    let at = outside.addr();
    let mut laughs = "<!DOCTYPE a [<!ENTITY l0 'lol'>".to_owned();
    for level in 1..12 {
        laughs += &format!("<!ENTITY l{level} '{}'>", format!("&l{};", level - 1).repeat(10));
    }
    laughs += "]><a>&l11;</a>";
    let quadratic =
        format!("<!DOCTYPE a [<!ENTITY x '{}'>]><a>{}</a>", "y".repeat(50_000), "&x;".repeat(10_000));
    for document in [
        laughs,
        quadratic,
        "<!DOCTYPE a><a>hunter2</a>".to_owned(),
        "<!doctype a><a/>".into(),
        "<!DOCTYPE a [<!ENTITY x 'y'>]><a/>".into(),
        "<!DOCTYPE a [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><a>&a;</a>".into(),
        "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>".into(),
        format!("<!DOCTYPE a [<!ENTITY x SYSTEM 'http://{at}/x'>]><a>&x;</a>"),
        format!("<!DOCTYPE a SYSTEM 'http://{at}/a.dtd'><a/>"),
        format!("<!DOCTYPE a PUBLIC '-//x//y' 'http://{at}/a.dtd'><a/>"),
        format!("<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://{at}/p'>%p;]><a/>"),
        "<!DOCTYPE a [<!ATTLIST a b CDATA 'c'>]><a/>".into(),
        "<?xml version='1.0'?><!-- x --><!DOCTYPE a><a/>".into(),
        "<a>&undeclared;</a>".into(),
        "<a b='&undeclared;'/>".into(),
        "<a>&#0;</a>".into(),
        "<a>&#xd800;</a>".into(),
        "<a>&#x110000;</a>".into(),
        "<a>&#99999999999999999999;</a>".into(),
        "<a>&amp</a>".into(),
    ] {
        for http in Http::BOTH {
            assert_refused(
                &gateway,
                http,
                &document[..document.len().min(60)],
                "text/xml",
                document.as_bytes(),
                &[400],
            );
            assert_refused(&gateway, http, "in UTF-16", "text/xml", &utf16(&document), &[400]);
        }
    }
    // These fetch in other readers; here they are elements like any other, and text.
    for document in [
        format!("<a xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='http://{at}/x'/></a>"),
        format!("<?xml-stylesheet href='http://{at}/x'?><a/>"),
        format!(
            "<a xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:schemaLocation='urn:a http://{at}/x'/>"
        ),
        "<a><![CDATA[<!DOCTYPE b>]]></a>".into(),
    ] {
        assert_eq!(post(&gateway, Http::One, "text/xml", document.as_bytes()).status, 200, "{document}");
        assert_eq!(gateway.upstream.take().len(), 1);
    }
    assert_eq!((outside.connections(), outside.count()), (0, 0));
    gateway.assert_sound();
}

/// Deep, wide, long, and full of names: each within the bytes that may come, and each over another limit or none.
#[test]
fn documents_of_every_shape_are_taken_or_refused_and_the_vm_lives() {
    let gateway = Gateway::start(&reading_bodies());
    let nested = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    let attributes = |count: usize| {
        let all: String = (0..count).map(|at| format!(" a{at}='{at}'")).collect();
        format!("<a{all}/>")
    };
    let namespaces = |count: usize| {
        let all: String = (0..count).map(|at| format!(" xmlns:n{at}='urn:{at}'")).collect();
        format!("<a{all}/>")
    };
    // Each element declares prefixes anew, and each asks for all of them.
    let shadowing = |depth: usize| {
        let open: String =
            (0..depth).map(|at| format!("<p:a xmlns:p='urn:{at}' xmlns='urn:d{at}'>")).collect();
        open + &"</p:a>".repeat(depth)
    };
    let many_prefixes = {
        let all: String = (0..100).map(|at| format!(" xmlns:n{at}='urn:{at}'")).collect();
        let inner: String = (0..5000).map(|at| format!("<n{}:a/>", at % 100)).collect();
        format!("<a{all}>{inner}</a>")
    };
    for (what, document, statuses) in [
        ("depth 250", nested(250), &[200][..]),
        ("depth 257", nested(257), &[400, 413]),
        ("depth 100,000", nested(100_000), &[400, 413]),
        ("never closed", "<a>".repeat(300_000), &[400, 413]),
        ("100 attributes", attributes(100), &[200]),
        ("50,000 attributes", attributes(50_000), &[200, 400, 413]),
        ("100 namespaces", namespaces(100), &[200]),
        ("30,000 namespaces", namespaces(30_000), &[200, 400, 413]),
        ("shadowing", shadowing(60), &[200]),
        ("more shadowing", shadowing(200), &[400]),
        ("prefixes", many_prefixes, &[200]),
        ("an attribute twice", "<a b='1' b='2'/>".to_owned(), &[400]),
        (
            "an attribute twice by namespace",
            "<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>".to_owned(),
            &[400],
        ),
        ("an unbound prefix", "<p:a/>".to_owned(), &[400]),
        ("a long name", format!("<{}/>", "n".repeat(500_000)), &[200, 400, 413]),
        ("a long attribute", format!("<a b='{}'/>", "v".repeat(900_000)), &[200, 400, 413]),
        ("a long comment", format!("<!--{}--><a/>", "c".repeat(900_000)), &[200, 400, 413]),
        ("a long instruction", format!("<?p {}?><a/>", "c".repeat(900_000)), &[200, 400, 413]),
        ("dashes", format!("<!--{}", "- ".repeat(400_000)), &[400, 413]),
        ("brackets", format!("<a><![CDATA[{}", "]]".repeat(400_000)), &[400, 413]),
        ("references", format!("<a>{}</a>", "&#65;".repeat(150_000)), &[200]),
        ("ampersands", format!("<a>{}</a>", "&".repeat(900_000)), &[400]),
        ("open angles", "<".repeat(900_000), &[400]),
        ("quotes", format!("<a b='{}", "\"'".repeat(400_000)), &[400, 413]),
        ("white space", " ".repeat(1_000_000), &[400, 413]),
        ("a million elements", format!("<a>{}</a>", "<b/>".repeat(240_000)), &[200, 400, 413]),
        ("two roots", "<a/><b/>".to_owned(), &[400]),
        ("nothing", " ".to_owned(), &[400]),
    ] {
        for http in Http::BOTH {
            let response = post(&gateway, http, "text/xml", document.as_bytes());
            assert!(statuses.contains(&response.status), "{http:?} {what} {response:?}");
            assert_eq!(gateway.upstream.take().len(), usize::from(response.status == 200), "{http:?} {what}");
            assert!(response.text().len() < 2000, "{what}");
        }
    }
    gateway.assert_sound();
}

/// What one reader takes for one character another takes for another.
#[test]
fn encodings_that_can_be_read_in_two_ways_are_refused() {
    let gateway = Gateway::start(&reading_bodies());
    let utf7 = b"<?xml version='1.0' encoding='UTF-7'?>+ADw-a/+AD4-";
    let ebcdic = b"\x4c\x6f\xa7\x94\x93";
    let ucs4 = b"\0\0\xfe\xff\0\0\0<\0\0\0a\0\0\0/\0\0\0>";
    for (content_type, body, statuses) in [
        ("text/xml", &utf7[..], &[400, 415][..]),
        ("text/xml; charset=utf-7", b"<a/>", &[415]),
        ("text/xml", ebcdic, &[400, 415]),
        ("text/xml", ucs4, &[400, 415]),
        ("text/xml", b"\xff\xfe<\0a\0/\0>", &[400]),
        ("text/xml", b"\xfe\xff\xd8\0\0<", &[400]),
        ("text/xml", b"<a>\xff</a>", &[400]),
        ("text/xml", b"<a>\xc0\xaf</a>", &[400]),
        ("text/xml", b"<a>\xed\xa0\x80</a>", &[400]),
        ("text/xml", b"<a>\xf4\x90\x80\x80</a>", &[400]),
        ("text/xml", b"<a>\0</a>", &[400]),
        ("text/xml", b"<a>\x0b</a>", &[400]),
        ("text/xml", "<a>\u{ffff}</a>".as_bytes(), &[400]),
        ("text/xml; charset=us-ascii", "<a>\u{e9}</a>".as_bytes(), &[400]),
        ("text/xml; charset=utf-16", b"<a/>", &[400]),
        ("text/xml; charset=utf-8; charset=utf-16", b"<a/>", &[415]),
        ("text/xml; charset=utf-8", b"<?xml version='1.0' encoding='iso-8859-1'?><a/>", &[200, 400]),
        ("text/xml", b"<?xml version='1.0' encoding='utf-16'?><a/>", &[400]),
        ("text/xml", b" <?xml version='1.0'?><a/>", &[400]),
        ("text/xml, application/json", b"<a/>", &[415]),
    ] {
        for http in Http::BOTH {
            let response = post(&gateway, http, content_type, body);
            assert!(
                statuses.contains(&response.status),
                "{http:?} {content_type} {} {response:?}",
                body.escape_ascii()
            );
            let passed = gateway.upstream.take();
            assert_eq!(passed.len(), usize::from(response.status == 200), "{http:?} {}", body.escape_ascii());
        }
    }
    gateway.assert_sound();
}

/// What an upstream sends is read no more generously: the client gets 502, and nothing of the message.
#[test]
fn a_hostile_upstream_is_a_bad_gateway() {
    let gateway = Gateway::start(&reading_bodies());
    for body in [
        "<!DOCTYPE a [<!ENTITY x 'hunter2'>]><a>&x;</a>".to_owned(),
        "<a>".repeat(100_000),
        "<a>hunter2".into(),
        "<a>\0hunter2</a>".into(),
        format!("<a>{}</a>", "<b/>".repeat(600_000)),
    ] {
        let reply = http_reply(200, &[("content-type", b"text/xml")], body.as_bytes());
        gateway.upstream.reply_with(move |_| reply.clone());
        for http in Http::BOTH {
            let response = http.get(gateway.addr(), "/", &GOOD);
            // Envoy itself gives up on what is more than it holds.
            assert!([500, 502].contains(&response.status), "{http:?} {response:?}");
            assert!(!response.text().contains("hunter2"), "{http:?} {response:?}");
        }
    }
    gateway.upstream.reply_with(|_| http_reply(200, &[], b""));
    gateway.assert_sound();
}

/// JSON, too, is made to be read by something weaker.
#[test]
fn json_of_every_shape_is_taken_or_refused_and_the_vm_lives() {
    let gateway = Gateway::start(&reading_bodies());
    let many: String = (0..60_000).map(|at| format!("\"k{at}\":1,")).collect();
    for (what, document, statuses) in [
        ("two members of the name", "{\"to\":\"a\",\"to\":\"b\"}".to_owned(), &[400][..]),
        ("the name, escaped", "{\"to\":\"a\",\"\\u0074o\":\"b\"}".into(), &[400]),
        ("deep lists", "[".repeat(500_000), &[400, 413]),
        ("deep objects", "{\"a\":".repeat(150_000), &[400, 413]),
        ("deep and whole", format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), &[200, 400, 413]),
        ("many members", format!("{{{many}\"to\":\"a\"}}"), &[200]),
        ("a long number", format!("{{\"to\":{}}}", "9".repeat(900_000)), &[200, 400, 413]),
        ("a long exponent", "{\"to\":1e99999999}".into(), &[200]),
        ("a long text", format!("{{\"to\":\"{}\"}}", "a".repeat(900_000)), &[200, 413]),
        ("half of a pair", "{\"to\":\"\\ud800\"}".into(), &[200, 400]),
        ("not JSON", "{'to':'a'}".into(), &[400]),
        ("NaN", "{\"to\":NaN}".into(), &[400]),
        ("a comment", "{\"to\":\"a\"/**/}".into(), &[400]),
        ("more behind it", "{\"to\":\"a\"}{}".into(), &[400]),
        ("a comma", "{\"to\":\"a\",}".into(), &[400]),
        ("a mark", "\u{feff}{\"to\":\"a\"}".into(), &[200, 400]),
    ] {
        for http in Http::BOTH {
            let response = post(&gateway, http, "application/json", document.as_bytes());
            assert!(statuses.contains(&response.status), "{http:?} {what} {response:?}");
            let passed = gateway.upstream.take();
            assert_eq!(passed.len(), usize::from(response.status == 200), "{http:?} {what}");
            assert!(passed.iter().all(|message| message.body == document.as_bytes()), "{http:?} {what}");
        }
    }
    gateway.assert_sound();
}

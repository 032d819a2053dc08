//! What all messages together may take while they are being read.

use portcullis_content_router::ContentRouter;
use portcullis_policy::{Chain, Direction, HeldMemory};
use portcullis_testkit::inprocess::Worker;
use serde_json::{Value, json};

use crate::support::*;

/// The least that can be configured, in bytes.
const LEAST: usize = 1 << 20;

fn bounded(transformation: &Value) -> Value {
    with(both(transformation), json!({"limits": {"max_held_bytes": LEAST}}))
}

/// The beginning of a message of markup alone, which takes some 300 KB.
fn markup() -> String {
    format!("<a>{}", "<a/>".repeat(5000))
}

fn stalled(worker: &mut Worker, at: Direction, body: &str) -> (Fared, Sent) {
    let sent = begin(worker, at, XML);
    worker.body(sent.id, at, body.as_bytes(), false);
    (fared(worker, &sent), sent)
}

/// Begins messages and stalls each, until one is not taken.
fn fill(worker: &mut Worker, at: Direction, body: &str) -> (Vec<Sent>, Fared, Sent) {
    let mut held = Vec::new();
    loop {
        assert!(held.len() < 500, "there is a bound");
        match stalled(worker, at, body) {
            (Fared::Held, sent) => held.push(sent),
            (fared, sent) => return (held, fared, sent),
        }
    }
}

#[test]
fn messages_beyond_what_all_may_take_are_refused_until_others_have_ended() {
    for at in BOTH {
        let mut worker = worker(&bounded(&json!({"stylesheet": a_to_b()})));
        let (held, fared, refused) = fill(&mut worker, at, &markup());
        assert_eq!(fared, Fared::Refused(503), "{at:?}");
        assert!((2..8).contains(&held.len()), "{at:?} {}", held.len());
        assert!(
            HeldMemory::of_worker() <= LEAST,
            "what was refused takes nothing: {}",
            HeldMemory::of_worker()
        );
        assert_eq!(count(&worker, &format!("{}.busy", word(at))), 1);
        assert_eq!(
            outcome(&worker, &refused),
            Some(format!("xslt-transform:failed-closed:{}-busy", word(at)))
        );
        let code = worker.reply(refused.id).code_details;
        assert!(code.ends_with("_busy"), "{code}");
        worker.finish(refused.id);

        // They end in every way: done, malformed, aborted.
        let mut held = held.into_iter();
        let done = held.next().unwrap();
        worker.body(done.id, at, b"</a>", true);
        assert!(matches!(crate::support::fared(&worker, &done), Fared::Passed(_)));
        let malformed = held.next().unwrap();
        worker.body(malformed.id, at, b"</b>", true);
        assert!(matches!(crate::support::fared(&worker, &malformed), Fared::Refused(_)));
        for sent in held {
            worker.abort(sent.id);
        }
        assert_eq!(HeldMemory::of_messages(), 0, "{at:?}");
        assert_eq!(send(&mut worker, at, XML, "<a/>"), passed("<b/>"));
    }
}

/// The sum is bounded by what is held, whatever it is made of.
#[test]
fn every_kind_of_content_is_counted() {
    let name = "n".repeat(30_000);
    let names: String = (0..2000).map(|at| format!("<element-{at}/>")).collect();
    let namespaces: String = (0..1000).map(|at| format!("<a xmlns='urn:{at}'/>")).collect();
    for (what, body) in [
        ("nodes", markup()),
        ("text", format!("<a>{}<a/>", "x".repeat(100_000))),
        ("text that goes on", format!("<a>{}", "x".repeat(100_000))),
        ("a value", format!("<a b='{}'/>", "x".repeat(50_000))),
        ("a value that goes on", format!("<a b='{}", "x".repeat(50_000))),
        ("a comment", format!("<a><!--{}-->", "x".repeat(100_000))),
        ("a comment that goes on", format!("<a><!--{}", "x".repeat(100_000))),
        ("data", format!("<a><?p {}?>", "x".repeat(100_000))),
        ("a name that goes on", format!("<{name}")),
        ("names of open elements", format!("<{name}><{name}>")),
        ("names", format!("<a>{names}")),
        ("namespaces", format!("<a>{namespaces}")),
        ("depth", "<a>".repeat(250)),
    ] {
        let mut worker = worker(&bounded(&json!({"stylesheet": a_to_b()})));
        let mut held = Vec::new();
        while held.len() < 400 {
            let sent = begin(&mut worker, Direction::Request, XML);
            worker.body(sent.id, Direction::Request, body.as_bytes(), false);
            match fared(&worker, &sent) {
                Fared::Held => held.push(sent),
                fared => {
                    assert_eq!(fared, Fared::Refused(503), "{what}");
                    break;
                }
            }
        }
        assert!(held.len() < 400, "{what}");
        let each = LEAST / (held.len() + 1);
        assert!(each >= body.len() / 2, "{what} takes {each} bytes for {}", body.len());
    }
}

#[test]
fn envelopes_count_as_what_is_written_of_them() {
    let envelope = |header: &str| {
        format!("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Header>{header}")
    };
    let mut worker = worker(&bounded(&json!({"stylesheet": a_to_b(), "source": "operation"})));
    let header = format!("<h>{}</h>", "x".repeat(100_000));
    let (held, fared, _) = fill(&mut worker, Direction::Request, &envelope(&header));
    assert_eq!(fared, Fared::Refused(503));
    assert!(held.len() < 6, "{}", held.len());
}

/// Let through, a message takes nothing.
#[test]
fn a_message_that_passes_instead_takes_nothing() {
    for at in BOTH {
        let mut worker = worker(&bounded(&json!({"stylesheet": a_to_b(), "on_error": {"busy": "pass"}})));
        let (_held, fared, _) = fill(&mut worker, at, &markup());
        assert_eq!(fared, passed(&markup()));
        for _ in 0..50 {
            let (fared, _) = stalled(&mut worker, at, &markup());
            assert_eq!(fared, passed(&markup()));
        }
        assert!(HeldMemory::of_worker() <= LEAST);
        assert_eq!(count(&worker, &format!("{}.busy", word(at))), 51);
    }
}

#[test]
fn a_message_that_takes_more_by_itself_is_too_large() {
    let mut worker = worker(&bounded(&json!({"stylesheet": a_to_b()})));
    let body = format!("<a>{}</a>", "<a/>".repeat(40_000));
    assert_eq!(send(&mut worker, Direction::Request, XML, &body), Fared::Refused(413));
    assert_eq!(count(&worker, "request.too_large"), 1);
}

/// Messages of which nothing but headers has come take little, and not nothing.
#[test]
fn messages_without_a_body_so_far_are_counted_too() {
    let mut worker = worker(&bounded(&json!({"stylesheet": a_to_b()})));
    let mut sent = Vec::new();
    loop {
        assert!(sent.len() < 2000, "there is a bound");
        sent.push(begin(&mut worker, Direction::Request, XML));
        if sent.last().is_some_and(|last| fared(&worker, last) != Fared::Held) {
            break;
        }
    }
    assert_eq!(fared(&worker, sent.last().unwrap()), Fared::Refused(503));
    assert!(sent.len() > 50, "{}", sent.len());
}

/// What a router reads, for itself or for the transformation behind it, is of the same sum.
#[test]
fn a_router_before_counts_with_it() {
    let rules = json!([{"when": {"xpath": {"expression": "/a/last"}}, "then": {"route": "r"}}]);
    let router = json!({"rules": rules, "body": {"max_held_bytes": LEAST}});
    let transformation = with(bounded(&json!({"stylesheet": a_to_b()})), json!({"response": null}));
    let chain = |transformed: bool| {
        let chain = Chain::new().then_configured::<ContentRouter>(router.to_string().as_bytes()).unwrap();
        if !transformed {
            return chain;
        }
        chain
            .then_configured::<portcullis_xslt_transform::XsltTransform>(
                transformation.to_string().as_bytes(),
            )
            .unwrap()
    };
    // A tree grows if somebody wants one.
    let mut worker = Worker::start(chain(true)).unwrap();
    let (held, fared, refused) = fill(&mut worker, Direction::Request, &markup());
    assert_eq!(fared, Fared::Refused(503));
    assert_eq!(worker.reply(refused.id).code_details, "content_router_busy");
    assert_eq!(worker.host.metric("portcullis.content_router.busy"), 1);
    assert!((2..8).contains(&held.len()), "{}", held.len());
    // What the router has decided, the transformation goes on to count.
    worker.body(held[0].id, Direction::Request, b"<last/>", false);
    assert_eq!(crate::support::fared(&worker, &held[0]), Fared::Held);
    let before = HeldMemory::of_worker();
    worker.abort(held[0].id);
    assert!(HeldMemory::of_worker() + 200_000 < before);
    drop(worker);
    assert_eq!(HeldMemory::of_worker(), 0);

    // Alone, it keeps what has not ended.
    let mut worker = Worker::start(chain(false)).unwrap();
    let text = format!("<a>{}", "x".repeat(300_000));
    let (held, fared, _) = fill(&mut worker, Direction::Request, &text);
    assert_eq!(fared, Fared::Refused(503));
    assert!(held.len() < 4, "{}", held.len());
}

/// What the host holds of a message counts, beside what the policy has made of it.
#[test]
fn what_the_host_holds_is_counted() {
    let mut worker = worker(&bounded(&json!({"stylesheet": a_to_b()})));
    let text = format!("<a>{}<a/>", "x".repeat(100_000));
    let sent = begin(&mut worker, Direction::Request, XML);
    worker.body(sent.id, Direction::Request, text.as_bytes(), false);
    assert!(HeldMemory::of_worker() >= 200_000, "{}", HeldMemory::of_worker());
    worker.abort(sent.id);
    assert_eq!(HeldMemory::of_worker(), 0);
}

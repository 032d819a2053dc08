//! Policies that put another body in the place of the one that came.

use std::cell::RefCell;
use std::rc::Rc;

use portcullis_policy::host::Direction;
use portcullis_policy::{
    BodyEvent, Callbacks, Chain, ConfigError, EndOfStream, Exchange, Flow, HostError, Policy,
};
use portcullis_testkit::inprocess::{Fault, Worker};

type Seen = Rc<RefCell<Vec<String>>>;

/// What it does with a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// Holds it and puts this in the place of the whole body, once it is there.
    Replace(&'static str),
    /// Looks on, and tries to replace what it does not hold.
    Meddle,
    /// Holds it to the end and looks on.
    Hold,
}

struct Editor {
    name: &'static str,
    doing: Doing,
    seen: Seen,
}

impl Editor {
    fn begin(&self, end: EndOfStream) -> Flow {
        match (self.doing, end) {
            (Doing::Meddle, _) | (_, EndOfStream::Yes) => Flow::Continue,
            _ => Flow::NeedBody,
        }
    }

    fn see(&self, at: Direction, exchange: &mut Exchange<'_>, what: &str, end: EndOfStream) -> Flow {
        let held = exchange.body(at, 0..1000).unwrap();
        self.seen.borrow_mut().push(format!("{} {what}: {}", self.name, String::from_utf8(held).unwrap()));
        match (self.doing, end) {
            (Doing::Meddle, _) => {
                assert_eq!(exchange.replace_body(at, b"meddled"), Err(HostError::NotFound));
                Flow::Continue
            }
            (_, EndOfStream::No) => Flow::NeedBody,
            (Doing::Replace(with), EndOfStream::Yes) => match exchange.replace_body(at, with.as_bytes()) {
                Ok(()) => Flow::Continue,
                Err(_) => Flow::Reply(Box::new(portcullis_policy::Reply::internal_error())),
            },
            (Doing::Hold, EndOfStream::Yes) => Flow::Continue,
        }
    }
}

impl Policy for Editor {
    const NAME: &'static str = "editor";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS
        .and(Callbacks::REQUEST_BODY)
        .and(Callbacks::RESPONSE_HEADERS)
        .and(Callbacks::RESPONSE_BODY);
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Err(ConfigError::new("", "editors are made, not configured"))
    }

    fn on_request_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, end: EndOfStream) -> Flow {
        assert_eq!(exchange.replace_body(Direction::Request, b"early"), Err(HostError::NotFound));
        self.begin(end)
    }

    fn on_request_body(&mut self, (): &mut (), exchange: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        self.see(Direction::Request, exchange, &format!("{:?}", body.fresh), body.end)
    }

    fn on_request_trailers(&mut self, (): &mut (), exchange: &mut Exchange<'_>) -> Flow {
        self.see(Direction::Request, exchange, "trailers", EndOfStream::Yes)
    }

    fn on_response_headers(&mut self, (): &mut (), _: &mut Exchange<'_>, end: EndOfStream) -> Flow {
        self.begin(end)
    }

    fn on_response_body(&mut self, (): &mut (), exchange: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        self.see(Direction::Response, exchange, &format!("{:?}", body.fresh), body.end)
    }

    fn on_response_trailers(&mut self, (): &mut (), exchange: &mut Exchange<'_>) -> Flow {
        self.see(Direction::Response, exchange, "trailers", EndOfStream::Yes)
    }
}

fn worker(editors: &[(&'static str, Doing)]) -> (Worker, Seen) {
    let seen = Seen::default();
    let chain = editors.iter().fold(Chain::new(), |chain, (name, doing)| {
        chain.then(Editor { name, doing: *doing, seen: Rc::clone(&seen) })
    });
    (Worker::start(chain).unwrap(), seen)
}

/// Sends a body in pieces, a request's or a response's, with trailers or without; gives what has gone on.
fn send(worker: &mut Worker, at: Direction, pieces: &[&str], trailers: bool) -> String {
    let id = worker.open();
    worker.request_headers(id, [(":method", "POST"), (":path", "/")], at == Direction::Response);
    if at == Direction::Response {
        worker.response_headers(id, [(":status", "200")], false);
    }
    let (last, before) = pieces.split_last().unwrap();
    for piece in before {
        worker.body(id, at, piece.as_bytes(), false);
    }
    worker.body(id, at, last.as_bytes(), !trailers);
    if trailers {
        worker.trailers(id, at);
    }
    assert!(worker.host.has_gone_on(id, at));
    String::from_utf8(worker.host.passed_body(id, at)).unwrap()
}

#[test]
fn policies_behind_see_the_new_body_as_if_it_had_come_so() {
    for with in ["new and longer", "n", "four", ""] {
        for trailers in [false, true] {
            let (mut worker, seen) =
                worker(&[("a", Doing::Replace(with)), ("b", Doing::Hold), ("c", Doing::Meddle)]);
            assert_eq!(send(&mut worker, Direction::Request, &["ol", "d."], trailers), with);
            let seen = seen.borrow();
            let behind: Vec<_> = seen.iter().filter(|line| !line.starts_with("a ")).cloned().collect();
            let range = format!("0..{}", with.len());
            let expected = |name: &str| match (with, trailers) {
                // A message that has become empty ends with its headers.
                ("", false) => vec![],
                ("", true) => vec![format!("{name} trailers: ")],
                (_, false) => vec![format!("{name} {range}: {with}")],
                (_, true) => vec![format!("{name} {range}: {with}"), format!("{name} trailers: {with}")],
            };
            assert_eq!(behind, [expected("b"), expected("c")].concat(), "{with:?} {trailers}");
        }
    }
}

#[test]
fn policies_before_have_seen_the_old_body_and_are_not_shown_the_new_one() {
    let editors = [("a", Doing::Hold), ("b", Doing::Replace("new and much longer")), ("c", Doing::Hold)];
    let (mut worker, seen) = worker(&editors);
    assert_eq!(send(&mut worker, Direction::Request, &["old"], true), "new and much longer");
    assert_eq!(
        *seen.borrow(),
        [
            "a 0..3: old",
            "a trailers: old",
            "b 0..3: old",
            "b trailers: old",
            "c 0..19: new and much longer",
            "c trailers: new and much longer",
        ]
    );
}

#[test]
fn each_of_several_replaces_what_the_one_before_has_left() {
    for (at, expected) in [(Direction::Request, "last"), (Direction::Response, "first")] {
        for pieces in [&["ab"][..], &["a", "b"], &["a", "b", ""]] {
            let (mut worker, seen) = worker(&[("a", Doing::Replace("first")), ("b", Doing::Replace("last"))]);
            assert_eq!(send(&mut worker, at, pieces, false), expected);
            let last = seen.borrow().last().cloned().unwrap();
            let (name, shown) = if at == Direction::Request { ("b", "first") } else { ("a", "last") };
            assert_eq!(last, format!("{name} 0..{}: {shown}", shown.len()));
        }
    }
}

/// What a policy behind had seen before it was held cannot be unsaid.
#[test]
fn a_policy_that_has_let_some_of_the_message_pass_replaces_nothing() {
    let (mut worker, _) = worker(&[("a", Doing::Meddle), ("b", Doing::Hold)]);
    assert_eq!(send(&mut worker, Direction::Request, &["o", "ld"], true), "old");
    assert_eq!(send(&mut worker, Direction::Response, &["o", "ld"], false), "old");
}

#[test]
fn the_host_s_refusal_is_the_policy_s_to_deal_with() {
    let (mut worker, _) = worker(&[("a", Doing::Replace("new"))]);
    worker.host.fail(Fault::ReplaceBody);
    let id = worker.open();
    worker.request_headers(id, [(":method", "POST"), (":path", "/")], false);
    worker.body(id, Direction::Request, b"old", true);
    assert_eq!(worker.reply(id).status, 500);
}

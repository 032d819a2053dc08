//! What an exchange offers the policies of a chain: its headers, and what they tell each other.

use std::time::Duration;

use portcullis_policy::host::{Direction, HeaderMap, Level};
use portcullis_policy::{
    BodyEvent, Callbacks, Chain, ConfigError, EndOfStream, Exchange, ExchangeId, Flow, HeaderList,
    HeldMemory, HostError, Policy, QuotaLeft, SharedDocument, SharedTree,
};
use portcullis_testkit::inprocess::Worker;
use portcullis_xml::{Charset, Limits, Tokenizer, TreeBuilder};

/// What a policy does in a callback; the log has what it says of it.
type Act = fn(&mut Exchange<'_>) -> String;

/// Does what the test says.
#[derive(Default)]
struct Acts {
    /// With the request's headers.
    request: Option<Act>,
    /// With all of the request's body, which it holds for this.
    body: Option<Act>,
    /// With the request's trailers.
    trailers: Option<Act>,
    /// With the response's headers.
    response: Option<Act>,
    documents: Option<Limits>,
}

fn act(act: Option<Act>, exchange: &mut Exchange<'_>) {
    if let Some(act) = act {
        let line = act(exchange);
        exchange.host().log(Level::Info, &line);
    }
}

impl Policy for Acts {
    const NAME: &'static str = "acts";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS
        .and(Callbacks::REQUEST_BODY)
        .and(Callbacks::RESPONSE_HEADERS)
        .and(Callbacks::RESPONSE_BODY);
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Ok(Self::default())
    }

    fn document_limits(&self) -> Option<Limits> {
        self.documents.clone()
    }

    fn on_request_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
        act(self.request, exchange);
        if self.body.is_some() { Flow::NeedBody } else { Flow::Continue }
    }

    fn on_request_body(&mut self, (): &mut (), exchange: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        match (self.body, body.end) {
            (Some(_), EndOfStream::No) => Flow::NeedBody,
            (on_body, _) => {
                act(on_body, exchange);
                Flow::Continue
            }
        }
    }

    fn on_request_trailers(&mut self, (): &mut (), exchange: &mut Exchange<'_>) -> Flow {
        act(self.trailers, exchange);
        Flow::Continue
    }

    fn on_response_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
        act(self.response, exchange);
        Flow::Continue
    }
}

fn on_request(request: Act) -> Acts {
    Acts { request: Some(request), ..Acts::default() }
}

fn worker(policies: impl IntoIterator<Item = Acts>) -> Worker {
    Worker::start(policies.into_iter().fold(Chain::new(), Chain::then)).unwrap()
}

fn fields(headers: &HeaderList) -> String {
    let text = String::from_utf8_lossy;
    let fields: Vec<_> =
        headers.iter().map(|(name, value)| format!("{}={}", text(name), text(value))).collect();
    fields.join(" ")
}

fn known(exchange: &Exchange<'_>) -> String {
    exchange.known_request_headers().map_or_else(|| "unknown".to_owned(), fields)
}

fn text(bytes: Option<&[u8]>) -> String {
    bytes.map_or_else(|| "none".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
}

#[test]
fn a_request_s_headers_are_known_from_when_a_policy_reads_them() {
    let reads = on_request(|exchange| {
        let before = known(exchange);
        exchange.request_headers().unwrap();
        format!("{before}, then {}", known(exchange))
    });
    let mut worker =
        worker([on_request(|exchange| known(exchange)), reads, on_request(|exchange| known(exchange))]);
    for _ in 0..2 {
        let id = worker.request([(":path", "/"), ("x", "1")]);
        worker.finish(id);
    }
    let of_each = ["unknown", "unknown, then :path=/ x=1", ":path=/ x=1"];
    assert_eq!(worker.log_lines(Level::Info), of_each.repeat(2));
}

/// Sets, adds to and removes fields of a map that has two of each.
fn edit(exchange: &mut Exchange<'_>, map: HeaderMap) {
    exchange.set_header(map, "set", b"3").unwrap();
    exchange.add_header(map, "added-to", b"3").unwrap();
    exchange.remove_header(map, "removed").unwrap();
}

const BEFORE: [(&str, &str); 6] =
    [("set", "1"), ("set", "2"), ("added-to", "1"), ("added-to", "2"), ("removed", "1"), ("removed", "2")];
const AFTER: &str = "set=3 added-to=1 added-to=2 added-to=3";

#[test]
fn changes_to_request_headers_show_upstream_and_to_policies() {
    let edits = on_request(|exchange| {
        exchange.request_headers().unwrap();
        edit(exchange, HeaderMap::RequestHeaders);
        known(exchange)
    });
    let edits_unread = on_request(|exchange| {
        edit(exchange, HeaderMap::RequestHeaders);
        String::new()
    });
    for (editor, said) in [(edits, AFTER), (edits_unread, "")] {
        let behind = on_request(|exchange| fields(exchange.request_headers().unwrap()));
        let mut worker = worker([editor, behind]);
        let id = worker.request(BEFORE);
        assert_eq!(fields(&worker.host.upstream_headers(id)), AFTER);
        assert_eq!(worker.log_lines(Level::Info), [said, AFTER]);
    }
}

#[test]
fn changes_to_other_maps_are_no_changes_to_the_request_s_headers() {
    let editor = Acts {
        request: Some(|exchange| fields(exchange.request_headers().unwrap())),
        trailers: Some(|exchange| {
            edit(exchange, HeaderMap::RequestTrailers);
            known(exchange)
        }),
        response: Some(|exchange| {
            edit(exchange, HeaderMap::ResponseHeaders);
            known(exchange)
        }),
        ..Acts::default()
    };
    let mut worker = worker([editor]);
    let id = worker.open();
    worker.request_headers(id, [("set", "1"), ("removed", "1")], false);
    worker.trailers_of(id, Direction::Request, BEFORE);
    worker.response_headers(id, BEFORE, true);
    assert_eq!(fields(&worker.host.upstream_trailers(id).unwrap()), AFTER);
    assert_eq!(fields(&worker.host.downstream_headers(id)), AFTER);
    assert_eq!(fields(&worker.host.upstream_headers(id)), "set=1 removed=1");
    assert_eq!(worker.log_lines(Level::Info), ["set=1 removed=1"; 3]);
}

#[test]
fn the_path_and_the_length_that_came_are_told_after_policies_have_set_others() {
    let sets = on_request(|exchange| {
        for (path, length) in [("/new", "5"), ("/newer", "7")] {
            exchange.set_header(HeaderMap::RequestHeaders, ":path", path.as_bytes()).unwrap();
            exchange.set_header(HeaderMap::RequestHeaders, "content-length", length.as_bytes()).unwrap();
        }
        format!(
            "{} {}",
            text(exchange.original_path()),
            text(exchange.original_length(exchange.known_request_headers()))
        )
    });
    // The first thing that happens to the request, so that nobody has read what came.
    let sets_length = on_request(|exchange| {
        exchange.set_request_header("content-length", b"5").unwrap();
        format!(
            "{} {}",
            text(exchange.original_path()),
            text(exchange.original_length(exchange.known_request_headers()))
        )
    });
    let came = [(":path", "/old"), ("content-length", "3")];
    for (setter, upstream) in
        [(sets, ":path=/newer content-length=7"), (sets_length, ":path=/old content-length=5")]
    {
        let mut worker = worker([setter]);
        for _ in 0..2 {
            let id = worker.request(came);
            assert_eq!(fields(&worker.host.upstream_headers(id)), upstream);
            worker.finish(id);
        }
        assert_eq!(worker.log_lines(Level::Info), ["/old 3"; 2]);
    }
}

#[test]
fn the_length_that_came_is_that_of_the_headers_if_nobody_has_set_another() {
    let reads = on_request(|exchange| {
        exchange.request_headers().unwrap();
        text(exchange.original_length(exchange.known_request_headers()))
    });
    let mut worker = worker([reads]);
    worker.request([(":path", "/"), ("content-length", "3")]);
    worker.request([(":path", "/")]);
    assert_eq!(worker.log_lines(Level::Info), ["3", "none"]);
}

#[test]
fn the_length_that_came_outlives_its_header_and_is_not_one_that_a_policy_sets_or_adds() {
    let editor = on_request(|exchange| {
        exchange.remove_request_header("content-length").unwrap();
        let removed = text(exchange.original_length(exchange.known_request_headers()));
        exchange.set_request_header("content-length", b"5").unwrap();
        let set = text(exchange.original_length(exchange.known_request_headers()));
        exchange.remove_request_header("content-length").unwrap();
        exchange.add_header(HeaderMap::RequestHeaders, "content-length", b"7").unwrap();
        format!("{removed} {set} {}", text(exchange.original_length(exchange.known_request_headers())))
    });
    let adds = on_request(|exchange| {
        exchange.add_header(HeaderMap::RequestHeaders, "content-length", b"7").unwrap();
        text(exchange.original_length(exchange.known_request_headers()))
    });
    for (policy, told) in [(editor, ["3 3 3", "none none none"]), (adds, ["3", "none"])] {
        let mut worker = worker([policy]);
        worker.request([(":path", "/"), ("content-length", "3")]);
        worker.request([(":path", "/")]);
        assert_eq!(worker.log_lines(Level::Info), told);
    }
}

fn told(exchange: &Exchange<'_>) -> String {
    let left =
        |field| exchange.quota_told(field).map_or(String::from("-"), |left| left.remaining.to_string());
    ["a", "b", "c"].map(left).join(" ")
}

fn left(remaining: u64) -> QuotaLeft {
    QuotaLeft { remaining, retry: Duration::ZERO }
}

#[test]
fn policies_know_what_the_response_tells_of_quotas_in_each_field() {
    let before = Acts {
        response: Some(|exchange| {
            exchange.tell_quota("a", left(2));
            told(exchange)
        }),
        ..Acts::default()
    };
    let behind = Acts {
        request: Some(|exchange| told(exchange)),
        response: Some(|exchange| {
            exchange.tell_quota("a", left(5));
            exchange.tell_quota("b", left(7));
            told(exchange)
        }),
        ..Acts::default()
    };
    let mut worker = worker([before, behind]);
    for _ in 0..2 {
        let id = worker.request([(":path", "/")]);
        worker.response_headers(id, [(":status", "200")], true);
        worker.finish(id);
    }
    assert_eq!(worker.log_lines(Level::Info), ["- - -", "5 7 -", "2 7 -"].repeat(2));
}

#[test]
fn where_no_body_has_come_none_is_replaced() {
    let replaces: Act = |exchange| {
        let result = exchange.replace_body(Direction::Request, b"new");
        assert_eq!(result, Err(HostError::NotFound));
        "refused".to_owned()
    };
    type Ending = fn(&mut Worker, ExchangeId);
    let endings: [(&str, Ending); 2] = [
        ("an empty body", |worker, id| {
            worker.body(id, Direction::Request, b"", true);
        }),
        ("trailers", |worker, id| {
            worker.trailers(id, Direction::Request);
        }),
    ];
    for (what, end) in endings {
        let mut worker = worker([Acts { body: Some(replaces), trailers: Some(replaces), ..Acts::default() }]);
        let id = worker.open();
        worker.request_headers(id, [(":path", "/")], false);
        end(&mut worker, id);
        assert_eq!(worker.log_lines(Level::Info), ["refused"], "{what}");
        assert!(worker.host.has_gone_on(id, Direction::Request), "{what}");
        assert_eq!(worker.host.passed_body(id, Direction::Request), b"", "{what}");
    }
}

fn limits(depth: u32) -> Limits {
    Limits { depth, ..Limits::default() }
}

fn wanting(depth: u32) -> Acts {
    Acts { documents: Some(limits(depth)), ..Acts::default() }
}

#[test]
fn a_policy_is_told_within_which_limits_the_next_behind_it_reads_documents() {
    let wanted: Act =
        |exchange| exchange.document_wanted().map_or("none".to_owned(), |limits| limits.depth.to_string());
    let asks = |policy: Acts| Acts { request: Some(wanted), ..policy };
    let mut worker = worker([Acts::default(), wanting(7), wanting(9), Acts::default()].map(asks));
    worker.request([(":path", "/")]);
    assert_eq!(worker.log_lines(Level::Info), ["7", "9", "none", "none"]);
}

/// Shares what has been read of a body in UTF-8.
fn share(exchange: &mut Exchange<'_>) -> String {
    let limits = limits(7);
    exchange.share_document(SharedDocument {
        read: 3,
        charset: Some(Charset::Utf8),
        tree: SharedTree::Growing {
            tokenizer: Box::new(Tokenizer::new(&limits)),
            tree: Box::new(TreeBuilder::new(&limits)),
        },
        memory: HeldMemory::default(),
        limits,
    });
    "shared".to_owned()
}

fn take_within(exchange: &mut Exchange<'_>, limits: &Limits, charset: Option<Charset>) -> String {
    let taken = exchange.take_document(limits, charset);
    taken.map_or_else(|| "nothing".to_owned(), |document| format!("{} bytes", document.read))
}

fn take(exchange: &mut Exchange<'_>) -> String {
    take_within(exchange, &limits(7), Some(Charset::Utf8))
}

#[test]
fn a_document_goes_once_to_a_policy_that_reads_it_the_same_in_the_same_encoding() {
    let takers: [(Act, &str); 6] = [
        (|exchange| take_within(exchange, &limits(8), Some(Charset::Utf8)), "nothing"),
        (|exchange| take_within(exchange, &limits(7), Some(Charset::Latin1)), "nothing"),
        (|exchange| take_within(exchange, &limits(7), None), "nothing"),
        (|exchange| take_within(exchange, &limits(8), None), "nothing"),
        // The tree is looked after by whoever takes it.
        (|exchange| take_within(exchange, &Limits { nodes: 1, ..limits(7) }, Some(Charset::Utf8)), "3 bytes"),
        (take, "nothing"),
    ];
    let policies = takers.map(|(taker, _)| on_request(taker));
    let mut worker = worker([on_request(share)].into_iter().chain(policies));
    worker.request([(":path", "/")]);
    let expected: Vec<_> = ["shared"].into_iter().chain(takers.map(|(_, expected)| expected)).collect();
    assert_eq!(worker.log_lines(Level::Info), expected);
}

#[test]
fn a_document_that_a_policy_declines_stays_while_one_behind_it_wants_it() {
    let declines = || {
        on_request(|exchange| {
            exchange.decline_document();
            "declined".to_owned()
        })
    };
    for (behind, expected) in [(wanting(7), "3 bytes"), (Acts::default(), "nothing")] {
        let mut worker = worker([on_request(share), declines(), Acts { request: Some(take), ..behind }]);
        worker.request([(":path", "/")]);
        assert_eq!(worker.log_lines(Level::Info), ["shared", "declined", expected]);
    }
}

#[test]
fn a_document_does_not_outlive_the_body_that_it_was_read_from() {
    let replaces: Act = |exchange| {
        exchange.replace_body(Direction::Request, b"new").unwrap();
        "replaced".to_owned()
    };
    let mut worker = worker([
        on_request(take),
        Acts { body: Some(share), ..Acts::default() },
        Acts { body: Some(replaces), ..Acts::default() },
        Acts { body: Some(take), ..Acts::default() },
        Acts { body: Some(share), ..Acts::default() },
    ]);
    for _ in 0..2 {
        let id = worker.open();
        worker.request_headers(id, [(":path", "/")], false);
        worker.body(id, Direction::Request, b"old", true);
        worker.finish(id);
    }
    let lines = ["nothing", "shared", "replaced", "nothing", "shared"];
    assert_eq!(worker.log_lines(Level::Info), lines.repeat(2));
}

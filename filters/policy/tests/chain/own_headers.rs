//! Headers that only policies may set: what clients send under their names goes, and nothing else.

use std::cell::RefCell;
use std::rc::Rc;

use portcullis_policy::host::Direction;
use portcullis_policy::{
    Callbacks, Chain, ConfigError, Dependency, EndOfStream, Exchange, Fact, Flow, HeaderMap, Moment, Next,
    Policy, SecretName, outcome_property,
};
use portcullis_testkit::inprocess::{Fate, Fault, SharedData, TestHost, Worker};

/// Owns headers and sets them, or not; tells which headers it has seen.
#[derive(Default)]
struct Owner {
    owns: &'static [&'static str],
    asks_for: &'static [&'static str],
    sets: &'static [(&'static str, &'static str)],
    decides_by: &'static [(&'static str, Moment)],
    reading: Reading,
    seen: Rc<RefCell<Vec<String>>>,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Reading {
    #[default]
    Always,
    Never,
}

impl Policy for Owner {
    const NAME: &'static str = "owner";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS;
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Ok(Self::default())
    }

    fn own_headers(&self) -> Vec<String> {
        self.owns.iter().map(|name| (*name).to_owned()).collect()
    }

    fn reads(&self) -> Vec<Dependency> {
        let dependency = |(name, moment): &(&str, Moment)| Dependency {
            fact: Fact::Header((*name).to_owned()),
            moment: *moment,
            field: "key[0]".to_owned(),
        };
        self.decides_by.iter().map(dependency).collect()
    }

    fn secret_names(&self) -> Vec<SecretName> {
        self.asks_for.iter().map(|name| SecretName::Header((*name).to_owned())).collect()
    }

    fn on_request_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
        if self.reading == Reading::Always
            && let Ok(headers) = exchange.request_headers()
        {
            let names = headers.iter().map(|(name, _)| String::from_utf8_lossy(name).into_owned());
            *self.seen.borrow_mut() = names.filter(|name| !name.starts_with(':')).collect();
        }
        for (name, value) in self.sets {
            exchange.set_request_header(name, value.as_bytes()).unwrap();
        }
        Flow::Continue
    }
}

/// A policy that owns nothing and looks at nothing.
fn bystander() -> Owner {
    Owner { reading: Reading::Never, ..Owner::default() }
}

fn owning(owns: &'static [&'static str]) -> Owner {
    Owner { owns, ..Owner::default() }
}

fn upstream(worker: &Worker, id: portcullis_policy::ExchangeId) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers = worker.host.upstream_headers(id);
    let fields = headers.iter().filter(|(name, _)| name[0] != b':');
    fields.map(|(name, value)| format!("{}={}", text(name), text(value))).collect()
}

const FORGED: [(&str, &str); 10] = [
    (":path", "/"),
    ("x-route", "forged"),
    ("x_route", "forged"),
    ("x.route", "forged"),
    ("x~portcullis!client'id", "forged"),
    ("x-portcullis-client-id", "forged"),
    ("x_portcullis_route", "forged"),
    ("x-portcullis-anything", "forged"),
    ("x-route", "again"),
    ("x-router", "own"),
];

#[test]
fn what_clients_send_under_the_names_of_policies_is_gone_before_the_first_policy_looks() {
    let first = Owner::default();
    let seen = Rc::clone(&first.seen);
    let chain = Chain::new().then(first).then(owning(&["x-route"]));
    let mut worker = Worker::start(chain).unwrap();
    let id = worker.request(FORGED);
    assert_eq!(*seen.borrow(), ["x-router"]);
    assert_eq!(upstream(&worker, id), ["x-router=own"]);
}

#[test]
fn what_one_policy_of_a_chain_sets_the_next_does_not_take_away() {
    let route = Owner { sets: &[("x-portcullis-route", "a")], ..owning(&["x-portcullis-route"]) };
    let client = Owner { sets: &[("x-portcullis-client-id", "acme")], ..owning(&["x-portcullis-client-id"]) };
    let mut worker = Worker::start(Chain::new().then(route).then(client)).unwrap();
    let id = worker.request(FORGED);
    let mut headers = upstream(&worker, id);
    headers.sort();
    assert_eq!(
        headers,
        [
            "x-portcullis-client-id=acme",
            "x-portcullis-route=a",
            "x-route=again",
            "x-route=forged",
            "x-router=own",
            "x.route=forged",
            "x_route=forged"
        ]
    );
}

/// Whoever reads the header in another spelling finds what the policy has set, or nothing.
#[test]
fn what_a_policy_sets_or_removes_stands_beside_no_other_spelling() {
    let sent = [
        (":path", "/"),
        ("-path", "own"),
        ("x-b", "1"),
        ("x-a", "2"),
        ("x.a", "3"),
        ("X_A", "4"),
        ("x~a", "5"),
    ];
    for (does, expected) in [
        (Does::Set, &["-path=own", "x-b=1", "x-a=new"][..]),
        (Does::Add, &["-path=own", "x-b=1", "x-a=2", "x-a=new"]),
        (Does::Remove, &["-path=own", "x-b=1"]),
        (Does::SetPath, &["-path=own", "x-b=1", "x-a=2", "x.a=3", "x_a=4", "x~a=5"]),
    ] {
        let mut worker = Worker::start(Chain::new().then(does)).unwrap();
        let id = worker.request(sent.map(|(name, value)| (name.to_ascii_lowercase(), value)));
        assert_eq!(upstream(&worker, id), expected, "{does:?}");
        // What a policy behind would see is the same, and nothing was read for it twice.
        assert_eq!(worker.host.take_reads(), ["RequestHeaders"], "{does:?}");
    }
}

/// Does one thing to a header of the request.
#[derive(Debug, Clone, Copy)]
enum Does {
    Set,
    Add,
    Remove,
    SetPath,
}

impl Policy for Does {
    const NAME: &'static str = "does";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS;
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Ok(Self::Set)
    }

    fn on_request_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
        match self {
            Self::Set => exchange.set_request_header("x-a", b"new"),
            Self::Add => exchange.add_header(HeaderMap::RequestHeaders, "x-a", b"new"),
            Self::Remove => exchange.remove_header(HeaderMap::RequestHeaders, "x-a"),
            Self::SetPath => exchange.set_request_header(":path", b"/new"),
        }
        .unwrap();
        let known = exchange.known_request_headers().unwrap();
        let spellings = known.all_spellings("x-a").count();
        assert_eq!(
            spellings,
            match self {
                Self::Set => 1,
                Self::Add => 2,
                Self::Remove => 0,
                Self::SetPath => 4,
            }
        );
        Flow::Continue
    }
}

#[test]
fn what_an_earlier_filter_of_the_suite_has_set_stays_and_what_it_has_not_goes() {
    for (said, own, expected) in [
        (Some("client-id"), "x-route", &["x-portcullis-client-id=forged", "x-router=own"][..]),
        (Some("content-router"), "x-route", &["x-router=own"]),
        (None, "x-route", &["x-router=own"]),
        // What the chain owns itself is its own to set, whoever set it before.
        (
            Some("client-id"),
            "x-portcullis-client-id",
            &["x-route=forged", "x_route=forged", "x.route=forged", "x-route=again", "x-router=own"],
        ),
    ] {
        let owns: &'static [&'static str] =
            if own == "x-route" { &["x-route"] } else { &["x-portcullis-client-id"] };
        let mut worker = Worker::start(Chain::new().then(owning(owns))).unwrap();
        let id = worker.open();
        if let Some(policy) = said {
            worker.host.give_property(id, &[&outcome_property(policy)], b"said");
        }
        worker.request_headers(id, FORGED, true);
        assert_eq!(upstream(&worker, id), expected, "{said:?} {own}");
    }
}

#[test]
fn an_outcome_that_cannot_be_read_vouches_for_nothing() {
    let mut worker = Worker::start(Chain::new().then(owning(&["x-route"]))).unwrap();
    let id = worker.open();
    worker.host.give_property(id, &[&outcome_property("client-id")], b"said");
    worker.host.fail(Fault::ReadProperty);
    worker.request_headers(id, FORGED, true);
    assert_eq!(upstream(&worker, id), ["x-router=own"]);
}

#[test]
fn a_chain_that_owns_nothing_reads_nothing_and_takes_nothing_away() {
    let mut worker = Worker::start(Chain::new().then(bystander()).then(bystander())).unwrap();
    let id = worker.open();
    worker.request_headers(id, FORGED, false);
    worker.trailers_of(id, Direction::Request, [("x-portcullis-route", "forged")]);
    assert_eq!(upstream(&worker, id).len(), FORGED.len() - 1);
    assert_eq!(worker.host.upstream_trailers(id).unwrap().len(), 1);
    assert_eq!(worker.host.take_reads(), [""; 0]);
}

#[test]
fn headers_are_read_once_and_nothing_else_is_asked_where_nobody_forges() {
    let chain = Chain::new().then(Owner::default()).then(owning(&["x-route"])).then(owning(&["x-other"]));
    let mut worker = Worker::start(chain).unwrap();
    worker.request([(":path", "/"), ("x-router", "own")]);
    assert_eq!(worker.host.take_reads(), ["RequestHeaders"]);
}

#[test]
fn trailers_under_those_names_go_too() {
    let owner = Owner { asks_for: &["Client_Id"], ..owning(&["x-route"]) };
    let mut worker = Worker::start(Chain::new().then(owner)).unwrap();
    let id = worker.open();
    worker.request_headers(id, [(":path", "/"), ("client_id", "acme")], false);
    let trailers = [
        ("x_route", "forged"),
        ("x.route", "forged"),
        ("x'portcullis-client-id", "forged"),
        ("client_id", "forged"),
        ("client-id", "forged"),
        ("x-sum", "1"),
    ];
    assert_eq!(worker.trailers_of(id, Direction::Request, trailers), Next::Continue);
    let trailers = worker.host.upstream_trailers(id).unwrap();
    assert_eq!(trailers.iter().collect::<Vec<_>>(), [(&b"x-sum"[..], &b"1"[..])]);
    assert_eq!(upstream(&worker, id), ["client_id=acme"], "headers are for the policy to remove");
}

/// A proxy behind Envoy removes what `connection` names. Envoy takes the header from all requests but upgrades; should
/// one come nevertheless, it goes.
#[test]
fn connection_names_nothing_that_policies_set() {
    const UPGRADE: (&str, &str) = ("upgrade", "websocket");
    for (headers, expected) in [
        (
            &[("connection", "upgrade, x-route"), UPGRADE][..],
            &["connection=upgrade", "upgrade=websocket"][..],
        ),
        (&[("connection", "x_route\t,Upgrade ,te"), UPGRADE], &["connection=upgrade", "upgrade=websocket"]),
        (&[("connection", "Upgrade"), UPGRADE], &["connection=Upgrade", "upgrade=websocket"]),
        (
            &[("connection", "upgrade"), UPGRADE, ("connection", "x-route")],
            &["connection=upgrade", "upgrade=websocket"],
        ),
        (&[("connection", "x-route"), UPGRADE], &["upgrade=websocket"]),
        (&[("connection", "upgrade, x-route")], &[]),
        (&[UPGRADE], &["upgrade=websocket"]),
    ] {
        let mut worker = Worker::start(Chain::new().then(owning(&["x-route"]))).unwrap();
        let id = worker.request([&[(":path", "/")][..], headers].concat());
        assert_eq!(upstream(&worker, id), expected, "{headers:?}");
    }
    let mut worker = Worker::start(Chain::new().then(Owner::default())).unwrap();
    let id = worker.request([(":path", "/"), ("connection", "upgrade, x-route"), UPGRADE]);
    assert_eq!(upstream(&worker, id).len(), 2, "a chain that owns nothing leaves it");
}

#[test]
fn trailers_that_cannot_be_cleaned_do_not_pass() {
    let mut worker = Worker::start(Chain::new().then(owning(&["x-route"]))).unwrap();
    let id = worker.open();
    worker.request_headers(id, [(":path", "/")], false);
    worker.host.fail(Fault::WriteHeaders);
    assert_eq!(worker.trailers_of(id, Direction::Request, [("x-route", "forged")]), Next::Hold);
    assert_eq!(worker.reply(id).status, 500);
}

#[test]
fn a_request_whose_headers_cannot_be_cleaned_does_not_pass_even_if_no_policy_looks() {
    for fault in [Fault::ReadHeaders, Fault::WriteHeaders] {
        for reading in [Reading::Always, Reading::Never] {
            let host = TestHost::new(SharedData::default());
            host.fail(fault);
            let owner = Owner { reading, ..owning(&["x-route"]) };
            let mut worker = Worker::start_with(Chain::new().then(owner), host).unwrap();
            let id = worker.request(FORGED);
            assert_eq!(worker.reply(id).status, 500);
            // The reply comes by as a response, and goes on.
            assert_eq!(worker.response_headers(id, [(":status", "500")], true), Next::Continue);
        }
    }
}

#[test]
fn requests_without_forged_headers_need_no_right_to_write() {
    let mut worker = Worker::start(Chain::new().then(owning(&["x-route"]))).unwrap();
    worker.host.fail(Fault::WriteHeaders);
    let id = worker.request([(":path", "/")]);
    assert_eq!(worker.fate(id), Fate::Admitted);
}

/// A policy that decides by a header.
fn deciding_by(decides_by: &'static [(&'static str, Moment)]) -> Owner {
    Owner { decides_by, ..Owner::default() }
}

#[test]
fn a_policy_that_decides_by_a_reserved_header_does_not_see_what_clients_send_under_its_name() {
    for reader in [
        deciding_by(&[("x-other", Moment::Request), ("x-portcullis-client-id", Moment::Request)]),
        deciding_by(&[("X_Portcullis-Route", Moment::Request)]),
        deciding_by(&[("x-portcullis-client-id", Moment::Response)]),
    ] {
        let seen = Rc::clone(&reader.seen);
        let mut worker = Worker::start(Chain::new().then(bystander()).then(reader)).unwrap();
        let id = worker.request(FORGED);
        let left = ["x-route", "x_route", "x.route", "x-route", "x-router"];
        assert_eq!(*seen.borrow(), left);
        assert_eq!(upstream(&worker, id).len(), left.len());
        let id = worker.open();
        worker.request_headers(id, [(":path", "/")], false);
        worker.trailers_of(id, Direction::Request, [("x-portcullis-client-id", "forged"), ("a", "b")]);
        let trailers = worker.host.upstream_trailers(id).unwrap();
        assert_eq!(trailers.iter().collect::<Vec<_>>(), [(&b"a"[..], &b"b"[..])]);
    }
}

#[test]
fn a_policy_that_decides_by_a_reserved_header_sees_what_an_earlier_filter_has_set() {
    let reader = deciding_by(&[("x-portcullis-client-id", Moment::Request)]);
    let seen = Rc::clone(&reader.seen);
    let mut worker = Worker::start(Chain::new().then(reader)).unwrap();
    let id = worker.open();
    worker.host.give_property(id, &[&outcome_property("client-id")], b"admitted");
    worker.request_headers(
        id,
        [
            (":path", "/"),
            ("connection", "x-portcullis-client-id"),
            ("x-portcullis-client-id", "a"),
            ("x-portcullis-route", "b"),
        ],
        true,
    );
    assert_eq!(*seen.borrow(), ["connection", "x-portcullis-client-id"]);
}

#[test]
fn a_chain_that_decides_by_other_headers_removes_none() {
    let reader = deciding_by(&[("x-route", Moment::Request)]);
    let seen = Rc::clone(&reader.seen);
    let mut worker = Worker::start(Chain::new().then(reader)).unwrap();
    worker.request(FORGED);
    assert_eq!(seen.borrow().len(), FORGED.len() - 1);
}

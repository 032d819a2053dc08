//! What clients can make a worker hold is bounded: docs/security.md has the table, and each of its rows a test here. A test
//! drives the thing beyond its bound, twice, in the shipped example's Envoy with the chain of all policies, in as much memory
//! as the chart gives a container. It sees what the table says of the bound, that it was counted, that no VM has ended, that
//! others are served, and that the second time takes no more memory than the first. Rows whose bounds do not get in each
//! other's way share an Envoy, for most of a test is Envoy's start.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};

use portcullis_abuse::Flood;
use portcullis_abuse::policies::{GOOD, client_id_with, everything};
use portcullis_testkit::envoy::{
    Backend, Behaviour, ClosedPort, Envoy, EnvoyConfig, Fields, HostileServer, PATIENCE, Reply, concurrently,
    h1, http_reply, wait_until,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::contained::{CONTAINER, Contained, MANAGER, MIB, add_cluster, configure, example, set};

/// What a second flood may add: allocators do not use the same pages twice in the same way.
const SLACK: u64 = 16 * MIB;

/// Drives something beyond its bound, twice. `flood` sees what happens at the bound, and returns what holds it there.
#[track_caller]
fn drive<Held>(gateway: &Contained, served: &str, counter: &str, flood: impl Fn(&Contained, u64) -> Held) {
    drive_counted(gateway, served, &format!("wasmcustom.portcullis.{counter}"), flood);
}

/// The same with any counter of Envoy's.
#[track_caller]
fn drive_counted<Held>(
    gateway: &Contained,
    served: &str,
    counter: &str,
    flood: impl Fn(&Contained, u64) -> Held,
) {
    let count = || gateway.envoy.stat(counter).unwrap_or(0);
    assert_eq!(gateway.status(served), Some(200), "before");
    let before = gateway.container.memory();
    let mut after_first = 0;
    for round in 0..2 {
        let counted = count();
        let held = flood(gateway, round);
        wait_until(&format!("{counter} counts"), PATIENCE, || count() > counted);
        drop(held);
        wait_until("others are served", PATIENCE, || gateway.status(served) == Some(200));
        wait_until("nothing is under way", PATIENCE, || gateway.active() == 0);
        if round == 0 {
            after_first = gateway.container.memory();
        }
    }
    wait_until("a second flood takes no more", PATIENCE, || {
        gateway.container.memory() <= after_first + SLACK
    });
    gateway.assert_no_vm_died();
    assert!(gateway.container.peak() < CONTAINER);
    eprintln!(
        "{counter}: {} MiB before, {} after a flood, {} after another, {} at most",
        before / MIB,
        after_first / MIB,
        gateway.container.memory() / MIB,
        gateway.container.peak() / MIB,
    );
}

/// The chain of all policies with these in the place of those of the same name.
fn all_but(changed: impl IntoIterator<Item = Value>) -> Value {
    let mut policies = everything();
    for policy in changed {
        let (name, _) = policy.as_object().and_then(|policy| policy.iter().next()).unwrap();
        let place = policies.iter().position(|other| other.get(name).is_some()).unwrap();
        policies[place] = policy;
    }
    json!({"policies": policies})
}

/// The chain's policy of this name with these members.
fn with(name: &str, members: Value) -> Value {
    let mut policy = everything().into_iter().find(|policy| policy.get(name).is_some()).unwrap();
    let Value::Object(members) = members else { panic!("an object") };
    policy[name].as_object_mut().unwrap().extend(members);
    policy
}

fn start(document: Value) -> Option<Contained> {
    Contained::start(|bootstrap| configure(bootstrap, document))
}

/// Requests that announce a longer body than they send, each over a connection that stays open.
fn unfinished(addr: SocketAddr, count: usize, fields: &[(&str, &[u8])], body: &[u8]) -> Vec<TcpStream> {
    unfinished_at("/", addr, count, fields, body)
}

fn unfinished_at(
    path: &str,
    addr: SocketAddr,
    count: usize,
    fields: &[(&str, &[u8])],
    body: &[u8],
) -> Vec<TcpStream> {
    let fields = [&GOOD[..], fields].concat();
    let mut bytes = h1::head("POST", path, &fields, body.len() + 100);
    bytes.extend_from_slice(body);
    let open = |_| {
        let mut stream = TcpStream::connect(addr).unwrap();
        // One that is refused may be closed before all is sent.
        let _ = stream.write_all(&bytes);
        stream
    };
    (0..count).map(open).collect()
}

/// The statuses of many requests, over four connections.
fn statuses(
    addr: SocketAddr,
    count: usize,
    fields: impl Fn(usize) -> Vec<(&'static str, String)> + Sync,
) -> Vec<u16> {
    const CONNECTIONS: usize = 4;
    concurrently(CONNECTIONS, |first| {
        let mut connection = h1::Connection::open(addr);
        let status = |at| {
            let fields = fields(at);
            let fields: Vec<(&str, &[u8])> =
                fields.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
            connection.send("GET", "/", &fields, b"").unwrap();
            connection.read_response().unwrap().status
        };
        (first..count).step_by(CONNECTIONS).map(status).collect::<Vec<u16>>()
    })
    .concat()
}

fn credentials(client: &str) -> Vec<(&'static str, String)> {
    vec![("client_id", client.to_owned()), ("client_secret", "s3cret".to_owned())]
}

fn lines(gateway: &Contained) -> Vec<Value> {
    let json = |line: String| serde_json::from_str(line.get(line.find('{')?..)?).ok();
    gateway.envoy.log_lines().into_iter().filter_map(json).collect()
}

const XML: (&str, &[u8]) = ("content-type", b"application/xml");
/// content-router decides by it, and reads no body.
const DECIDES: (&str, &[u8]) = ("x-to", b"a");

/// `body.max_held_bytes` and `limits.max_held_bytes`: 503; `content_router.busy`, `xslt_transform.request.busy`.
#[test]
fn bodies_that_are_read() {
    let document = all_but([
        with("content-router", json!({"body": {"max_held_bytes": MIB}})),
        with("xslt-transform", json!({"limits": {"max_held_bytes": MIB}})),
    ]);
    let Some(gateway) = start(document) else { return };
    let text = [&b"<order to=\""[..], &[b'x'; 60_000]].concat();
    let json = [&b"{\"to\": \""[..], &[b'x'; 60_000]].concat();
    let tree = [&b"<a>"[..], &b"<a/>".repeat(5000)].concat();
    let rows: [(&str, Fields, &[u8]); 3] = [
        ("content_router.busy", &[XML], &text),
        ("content_router.busy", &[("content-type", b"application/json")], &json),
        ("xslt_transform.request.busy", &[XML, DECIDES], &tree),
    ];
    for (counter, fields, body) in rows {
        drive(&gateway, "/", counter, |gateway, _| {
            let held = unfinished(gateway.addr(), 60, fields, body);
            wait_until("most are refused", PATIENCE, || (1..30).contains(&gateway.active()));
            assert_eq!(gateway.status("/"), Some(200), "what has no body is served meanwhile");
            held
        });
    }
}

/// `max_temporary_bytes`, `max_nodes`, `max_output_bytes`, `max_steps` of xslt-transform: 500; `xslt_transform.request.stylesheet`.
#[test]
fn what_a_transformation_takes() {
    // Every element has all others in a variable: squares, unless a limit ends it.
    let stylesheet = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
        <xsl:template match='/'><r><xsl:for-each select='//a'>\
        <xsl:variable name='v'><xsl:copy-of select='//a'/></xsl:variable><xsl:value-of select='string-length($v)'/>\
        <xsl:copy-of select='//a'/></xsl:for-each></r></xsl:template></xsl:stylesheet>";
    let transform = json!({"xslt-transform": {"request": {
        "stylesheet": {"inline": stylesheet}, "when": {"media-type": {"matches": "application/xml"}},
    }}});
    let Some(gateway) = start(all_but([transform])) else { return };
    for elements in [1000, 50_000] {
        let body = [&b"<a>"[..], &b"<a/>".repeat(elements), b"</a>"].concat();
        drive(&gateway, "/", "xslt_transform.request.stylesheet", |gateway, _| {
            let fields = [GOOD[0], GOOD[1], XML, DECIDES];
            let status = h1::request(gateway.addr(), "POST", "/", &fields, &body).status;
            assert_eq!(status, 500, "{elements}");
        });
    }
}

/// `max_waiting` of client-id and `service.max_waiting` of rate-limit: 503; `client_id.overload`,
/// `rate_limit.service_overload`.
#[test]
fn requests_that_wait_for_services() {
    let auth = HostileServer::start(Behaviour::Reply(http_reply(200, &[], b"")));
    let limits = HostileServer::start(Behaviour::Hang);
    let asks = client_id_with(json!({
        "auth": {"per-request": {"cluster": "slow", "timeout_ms": 60_000, "retries": 0}}, "max_waiting": 64,
        "scope": {"exempt": [{"path_prefix": "/unasked"}]},
    }));
    let counts = json!({"rate-limit": {
        "key": ["host"], "limits": [{"max": 1_000_000, "period_ms": 3_600_000}],
        "scope": {"exempt": [{"path_prefix": "/uncounted"}]},
        "service": {"cluster": "limits", "domain": "test", "timeout_ms": 1000, "max_waiting": 64, "on_outage": "closed"},
    }});
    let Some(gateway) = Contained::start(|bootstrap| {
        configure(bootstrap, all_but([asks, counts]));
        add_cluster(bootstrap, "slow", auth.addr(), false);
        add_cluster(bootstrap, "limits", limits.addr(), true);
    }) else {
        return;
    };
    let begin = |path: &str, client: &str| {
        let mut connection = h1::Connection::open(gateway.addr());
        let fields: [(&str, &[u8]); 2] = [("client_id", client.as_bytes()), ("client_secret", b"s3cret")];
        connection.send("GET", path, &fields, b"").unwrap();
        connection
    };
    drive(&gateway, "/uncounted", "client_id.overload", |gateway, round| {
        auth.behave(Behaviour::Gate(http_reply(200, &[], b"")));
        let before = gateway.counter("client_id.overload");
        let held: Vec<_> = (0..200).map(|at| begin("/uncounted", &format!("client-{round}-{at}"))).collect();
        wait_until("the rest is refused", PATIENCE, || {
            gateway.counter("client_id.overload") == before + 200 - 64
        });
        assert_eq!(gateway.status("/uncounted"), Some(200), "who is remembered is served meanwhile");
        auth.open_gate();
        held
    });
    drive(&gateway, "/uncounted", "rate_limit.service_overload", |gateway, _| {
        let held: Vec<_> = (0..200).map(|_| begin("/unasked", "acme")).collect();
        assert_eq!(gateway.status("/uncounted"), Some(200), "others are served meanwhile");
        for mut connection in held {
            assert_eq!(connection.read_response().unwrap().status, 503);
        }
    });
}

/// `cache.entries` and `cache.shared_slots`: who was not seen for longest is asked about again; `client_id.cache_miss`.
/// `store.slots` with each `when_full`: shared, uncounted, or 503; `rate_limit.table_full_…`. `max_queue_bytes`: the oldest
/// lines go; `access_log.otlp_dropped_queue_full`.
#[test]
fn what_is_remembered() {
    let table = |name: &str, when_full: &str| {
        json!({"rate-limit": {
            "name": name, "key": [{"header": {"name": format!("x-{name}")}}],
            "limits": [{"max": 1_000_000, "period_ms": 3_600_000}],
            "store": {"slots": 256, "when_full": when_full},
        }})
    };
    let log = with(
        "access-log",
        json!({"sinks": ["envoy-log", {"otlp": {
            "cluster": "collector", "max_queue_bytes": 65_536, "max_batch_bytes": 65_536,
        }}]}),
    );
    let mut document = all_but([
        client_id_with(json!({"cache": {"entries": 200, "shared_slots": 200}})),
        table("refuse", "refuse"),
        log,
    ]);
    for policy in [table("admit", "admit"), table("share", "share")] {
        document["policies"].as_array_mut().unwrap().insert(1, policy);
    }
    let collector = ClosedPort::reserve();
    let Some(gateway) = Contained::start(|bootstrap| {
        configure(bootstrap, document);
        add_cluster(bootstrap, "collector", collector.addr(), false);
    }) else {
        return;
    };
    drive(&gateway, "/", "client_id.cache_miss", |gateway, round| {
        let asked = gateway.auth.count();
        let client = |at| credentials(&format!("{at}-{}", "c".repeat(100)));
        let statuses = statuses(gateway.addr(), 600, client);
        assert!(statuses.iter().all(|status| *status == 200), "{round}");
        assert!(gateway.auth.count() - asked > 360, "{round}: those who went are asked about again");
    });
    for (name, counter) in [
        ("x-share", "rate_limit.table_full_shared"),
        ("x-admit", "rate_limit.table_full_admitted"),
        ("x-refuse", "rate_limit.table_full_refused"),
    ] {
        drive(&gateway, "/", counter, |gateway, round| {
            let key = |at| [credentials("acme"), vec![(name, format!("{round}-{at}"))]].concat();
            let statuses = statuses(gateway.addr(), 600, key);
            let refused = statuses.iter().filter(|status| **status == 503).count();
            assert_eq!(refused > 200, name == "x-refuse", "{name}: {refused}");
            assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{name}");
        });
    }
    drive(&gateway, "/", "access_log.otlp_dropped_queue_full", |gateway, _| {
        let statuses = statuses(gateway.addr(), 300, |_| credentials("acme"));
        assert!(statuses.iter().all(|status| *status == 200));
        let queued = gateway.envoy.stat("wasmcustom.portcullis.access_log.otlp_queued");
        assert!((1..300).contains(&queued.unwrap()), "{queued:?}");
    });
}

/// `max_exchange_bytes`: requests beyond it get 503, and are logged; `engine.memory_refused`. Bodies that access-log captures
/// are cut where there is no room for more, and values at `max_field_bytes`.
#[test]
fn exchanges_that_stay_open() {
    let slow = HostileServer::start(Behaviour::Gate(http_reply(200, &[], b"")));
    let asks = client_id_with(json!({
        "auth": {"per-request": {"cluster": "slow", "timeout_ms": 60_000, "retries": 0}}, "max_waiting": 10_000,
        "scope": {"exempt": [{"path_prefix": "/public"}]},
    }));
    let log = with("access-log", json!({"capture": {"request": {"max_bytes": 65_536}, "response": {}}}));
    let mut document = all_but([asks, log]);
    document["max_exchange_bytes"] = json!(MIB);
    let Some(gateway) = Contained::start(|bootstrap| {
        configure(bootstrap, document);
        add_cluster(bootstrap, "slow", slow.addr(), false);
    }) else {
        return;
    };
    drive(&gateway, "/public", "engine.memory_refused", |gateway, round| {
        slow.behave(Behaviour::Gate(http_reply(200, &[], b"")));
        let before = gateway.counter("engine.memory_refused");
        let refused = || gateway.counter("engine.memory_refused") - before;
        let client = format!("client-{round}");
        let flood = Flood::start(
            gateway.addr(),
            2,
            100,
            &[("client_id", client.as_bytes()), ("client_secret", b"s")],
        );
        // 28 KB each, and 8 bytes for each field: 34 of them fill a MiB, with what else is kept of each.
        wait_until("most are refused", PATIENCE, || refused() >= 150);
        assert!(refused() < 180, "{}", refused());
        let response = h1::request(gateway.addr(), "GET", "/public", &GOOD, b"");
        assert_eq!(response.status, 503);
        assert!(response.text().contains("holds too many requests"), "{}", response.text());
        wait_until("the refusal is logged", PATIENCE, || {
            lines(gateway).iter().any(|line| line["details"] == "portcullis_memory_full")
        });
        drop(flood);
        slow.open_gate();
    });
    let cut = || {
        let is_cut = |body: &str| body.ends_with('…') && body.len() < 60_000;
        lines(&gateway).iter().filter(|line| line["request"].as_str().is_some_and(is_cut)).count()
    };
    drive(&gateway, "/public", "engine.memory_refused", |gateway, _| {
        let text = [&b"a="[..], &[b'x'; 60_000]].concat();
        let form: [(&str, &[u8]); 2] = [DECIDES, ("content-type", b"application/x-www-form-urlencoded")];
        let before = cut();
        let refused = gateway.counter("engine.memory_refused");
        let held = unfinished_at("/public", gateway.addr(), 100, &form, &text);
        wait_until("some are refused", PATIENCE, || gateway.counter("engine.memory_refused") > refused);
        drop(held);
        wait_until("a body is cut", PATIENCE, || cut() > before);
    });
    let agent = "a".repeat(20_000);
    let fields = [GOOD[0], GOOD[1], ("user-agent", agent.as_bytes())];
    assert_eq!(h1::request(gateway.addr(), "GET", "/public", &fields, b"").status, 200);
    wait_until("the line is cut", PATIENCE, || {
        lines(&gateway).iter().any(|line| {
            let agent = line["agent"].as_str().unwrap_or_default();
            agent.len() == 1024 + '…'.len_utf8() && agent.ends_with('…')
        })
    });
}

/// `max_memory_bytes` of the list of clients: the list is refused, and the one before it stays; `client_id.registry_refused`.
#[test]
fn lists_of_clients() {
    let policy = json!({"client-id": {"auth": {"registry": {
        "cluster": "auth", "interval_ms": 1000, "max_memory_bytes": 65_536,
    }}}});
    let salt = *b"\x01\x02\x03\x04\x05\x06\x07\x08";
    let digest = hex::encode(Sha256::new().chain_update(salt).chain_update("s3cret").finalize());
    let list = move |others: usize| {
        let client =
            |id: String| json!({"id": id, "secrets": [{"salt": hex::encode(salt), "sha256": digest}]});
        let others = (0..others).map(|at| format!("client-{at}"));
        let clients: Vec<_> = others.chain(["acme".to_owned()]).map(client).collect();
        json!({"version": 1, "clients": clients}).to_string()
    };
    let services = HostileServer::start(Behaviour::Reply(http_reply(200, &[], list(1).as_bytes())));
    let Some(gateway) = Contained::start(|bootstrap| {
        let mut policy = policy;
        policy["client-id"]["auth"]["registry"]["cluster"] = json!("lists");
        configure(bootstrap, all_but([policy]));
        add_cluster(bootstrap, "lists", services.addr(), false);
    }) else {
        return;
    };
    wait_until("the first list is there", PATIENCE, || gateway.status("/") == Some(200));
    services.behave(Behaviour::Reply(http_reply(200, &[], list(5000).as_bytes())));
    drive(&gateway, "/", "client_id.registry_refused", |gateway, _| {
        let counted = gateway.counter("client_id.registry_refused");
        wait_until("lists are refused", PATIENCE, || {
            gateway.counter("client_id.registry_refused") > counted + 1
        });
    });
}

/// The connection's buffer limits and the route's timeout: the response is cut; `cluster.echo.upstream_rq_timeout`.
#[test]
fn responses_that_are_not_taken() {
    let Some(gateway) = Contained::start(|bootstrap| {
        configure(bootstrap, json!({"policies": everything()}));
        let route = format!("{MANAGER}/route_config/virtual_hosts/0/routes/0/route/timeout");
        set(bootstrap, &route, json!("3s"));
    }) else {
        return;
    };
    let large = Reply::ok(vec![b'x'; 16 << 20]);
    gateway.upstream.reply_with(move |request| {
        if request.path.starts_with("/large") { large.clone() } else { Reply::ok("small") }
    });
    drive_counted(&gateway, "/", "cluster.echo.upstream_rq_timeout", |gateway, _| {
        let held: Vec<_> = (0..20)
            .map(|_| {
                let mut connection = h1::Connection::open(gateway.addr());
                connection.send("GET", "/large", &GOOD, b"").unwrap();
                connection
            })
            .collect();
        assert_eq!(gateway.status("/"), Some(200), "others are served meanwhile");
        wait_until("they are given up", PATIENCE, || gateway.active() == 0);
        held
    });
}

/// The answers of an auth service are held whole by Envoy, whatever client-id reads of them: the example bounds that.
#[test]
fn long_answers_of_the_auth_service_are_cut_off() {
    let (upstream, auth) = (Backend::start(), Backend::start());
    auth.reply_with(|_| Reply::status(200).body(vec![b'x'; 31 << 20]));
    let envoy = Envoy::start(&EnvoyConfig::of_text(&example(&upstream, &auth).to_string()));
    for at in 0..8 {
        let client = format!("client-{at}");
        let response = h1::request(
            envoy.addr(),
            "GET",
            "/",
            &[("client_id", client.as_bytes()), ("client_secret", b"s")],
            b"",
        );
        assert_eq!(response.status, 503, "{response:?}");
    }
    let lines = envoy.log_lines();
    assert!(
        lines.iter().any(|line| line.contains("buffer size limit for async client response")),
        "{lines:?}"
    );
}

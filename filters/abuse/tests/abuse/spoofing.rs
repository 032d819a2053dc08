//! Headers that only policies may set, sent by clients, on every way a request can take.

use std::net::SocketAddr;

use portcullis_abuse::policies::{
    GOOD, WRONG, access_log, client_id, client_id_with, content_router, everything, rate_limit,
};
use portcullis_abuse::{Gateway, Message};
use portcullis_testkit::envoy::{
    Backend, Body, Envoy, EnvoyConfig, Fields, Http, WasmPlugin, h1, h2, http_reply, workspace_root,
};
use serde_json::json;

/// What no client may say of itself, in the spellings that some upstream takes for the same.
const FORGED: Fields = &[
    ("x-portcullis-client-id", b"root"),
    ("x-portcullis-client-id", b"forged"),
    ("X-Portcullis-Client-Id", b"forged"),
    ("x_portcullis_client_id", b"forged"),
    ("X-PORTCULLIS-CLIENT_TIER", b"forged"),
    ("x-portcullis-client-name", b"forged"),
    ("x-portcullis-route", b"forged"),
    ("x_portcullis-route", b"forged"),
    ("x.portcullis.client.id", b"forged"),
    ("x~portcullis!client'tier", b"forged"),
    ("x-portcullis-unverified", b"forged"),
    ("x-portcullis-", b"forged"),
    ("x-portcullis-of-some-later-version", b"forged"),
];

/// Names that resemble them, and are the client's own business.
const OTHERS: Fields =
    &[("x-portcullis", b"mine"), ("xx-portcullis-route", b"mine"), ("x-portculliss-a", b"mine")];

fn fields(more: Fields) -> Vec<(&'static str, &'static [u8])> {
    let more: Vec<(&'static str, &'static [u8])> =
        more.iter().map(|(name, value)| (leaked(name), leaked_bytes(value))).collect();
    [FORGED, OTHERS, &more].concat()
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn leaked_bytes(bytes: &[u8]) -> &'static [u8] {
    Box::leak(bytes.to_vec().into_boxed_slice())
}

/// What the upstream was told in the suite's name is this, and what is the client's own is there.
#[track_caller]
fn assert_told(message: &Message, told: &[(&str, &str)]) {
    let told: Vec<_> =
        told.iter().map(|(name, value)| (format!("x-portcullis-{name}"), (*value).to_owned())).collect();
    assert_eq!(message.of_the_suite(), told, "{message:?}");
    for (name, value) in OTHERS {
        assert_eq!(message.all(name), [*value], "{message:?}");
    }
}

const ADMITTED: [(&str, &str); 3] = [("client-id", "acme"), ("client-tier", "gold"), ("route", "other")];

#[test]
fn forged_headers_never_pass_with_a_request_that_is_let_through() {
    let gateway = Gateway::start(&everything());
    let preflight: Fields = &[("origin", b"https://a.test"), ("access-control-request-method", b"PUT")];
    for http in Http::BOTH {
        for (method, path, more, told) in [
            ("GET", "/", &GOOD[..], &ADMITTED[..]),
            ("HEAD", "/", &GOOD, &ADMITTED),
            ("GET", "/public", &[], &[("route", "other")]),
            ("OPTIONS", "/", preflight, &[("route", "other")]),
            ("GET", "/?to=abc", &GOOD, &[("client-id", "acme"), ("client-tier", "gold"), ("route", "asked")]),
        ] {
            let headers = fields(more);
            if (http, method) == (Http::One, "HEAD") {
                let mut connection = h1::Connection::open(gateway.addr());
                connection.send(method, path, &headers, b"").unwrap();
                assert_eq!(connection.read_head_response().unwrap().status, 200);
            } else {
                assert_eq!(
                    http.request(gateway.addr(), method, path, &headers, b"").status,
                    200,
                    "{http:?} {path}"
                );
            }
            assert_told(&gateway.upstream.take_one(), told);
        }
    }
    gateway.assert_sound();
}

#[test]
fn forged_headers_never_pass_with_a_body_or_its_trailers() {
    let gateway = Gateway::start(&everything());
    for http in Http::BOTH {
        for (content_type, body, route) in [
            ("text/xml", &b"<order to='a'/>"[..], "ordered"),
            ("application/json", b"{\"to\":\"a\"}", "document"),
            ("text/plain", b"anything", "none"),
        ] {
            let headers = fields(&[&GOOD[..], &[("content-type", content_type.as_bytes())]].concat());
            let mut request = http.begin(gateway.addr(), "POST", "/", &headers, Body::Chunked);
            for byte in body {
                request.send(&[*byte]).unwrap();
            }
            request.end(&fields(&[])).unwrap();
            assert_eq!(request.response().unwrap().status, 200, "{http:?} {content_type}");
            let message = gateway.upstream.take_one();
            // What cannot be read passes without a route.
            let told: Vec<_> = ADMITTED
                .iter()
                .copied()
                .filter(|(name, _)| *name != "route")
                .chain((route != "none").then_some(("route", route)))
                .collect();
            assert_told(&message, &told);
            assert_eq!(message.trailers_of_the_suite(), [], "{http:?} {content_type}");
            assert!(message.trailers.contains(&(b"x-portcullis".to_vec(), b"mine".to_vec())), "{message:?}");
        }
    }
    gateway.assert_sound();
}

/// The names that upstreams believe, and by which Envoy finds the route.
const BELIEVED: [&str; 5] = [
    "x-portcullis-client-id",
    "x-portcullis-client-name",
    "x-portcullis-client-tier",
    "x-portcullis-unverified",
    "x-portcullis-route",
];

/// All bytes of a token that are neither letters nor digits (RFC 9110, section 5.6.2).
const SEPARATORS: &[u8] = b"!#$%&'*+-.^_`|~";

/// The name with each separator in each place of a hyphen, and in all of them.
fn spellings(name: &str) -> Vec<String> {
    let places: Vec<_> = name.match_indices('-').map(|(at, _)| vec![at]).collect();
    let all = places.concat();
    let spelled = |(places, separator): (&Vec<usize>, &u8)| {
        let mut name = name.as_bytes().to_vec();
        places.iter().for_each(|at| name[*at] = *separator);
        String::from_utf8(name).unwrap()
    };
    let mut names: Vec<_> = places
        .iter()
        .chain([&all])
        .flat_map(|places| SEPARATORS.iter().map(move |separator| spelled((places, separator))))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// PHP takes `.` for `_`, and lighttpd's CGI every byte that is neither a letter nor a digit.
#[test]
fn no_spelling_of_a_believed_name_passes_in_headers_or_trailers() {
    let outage =
        json!({"on_outage": "open", "auth": {"per-request": {"cluster": "nobody-knows", "retries": 0}}});
    let decided = Gateway::start(&everything());
    let open = Gateway::start(&[client_id_with(outage)]);
    let preflight: Fields = &[("origin", b"https://a.test"), ("access-control-request-method", b"PUT")];
    for (gateway, method, path, more, told) in [
        (&decided, "POST", "/?to=abc", &GOOD[..], &[ADMITTED[0], ADMITTED[1], ("route", "asked")][..]),
        (&decided, "POST", "/public?to=abc", &[], &[("route", "asked")]),
        (&decided, "OPTIONS", "/?to=abc", preflight, &[("route", "asked")]),
        (&open, "POST", "/", &GOOD, &[("unverified", "auth-unreachable")]),
    ] {
        let told: Vec<_> =
            told.iter().map(|(name, value)| (format!("x-portcullis-{name}"), (*value).to_owned())).collect();
        for (http, name) in Http::BOTH.into_iter().flat_map(|http| BELIEVED.map(|name| (http, name))) {
            let names = spellings(name);
            let forged: Vec<_> = names.iter().map(|name| (&name[..], &b"forged"[..])).collect();
            let headers = [&forged[..], more].concat();
            let mut request = http.begin(gateway.addr(), method, path, &headers, Body::Chunked);
            request.send(b"anything").unwrap();
            request.end(&forged).unwrap();
            assert_eq!(request.response().unwrap().status, 200, "{http:?} {path} {name}");
            let message = gateway.upstream.take_one();
            assert_eq!(message.of_the_suite(), told, "{http:?} {path} {name}");
            assert_eq!(message.trailers_of_the_suite(), [], "{http:?} {path} {name}");
        }
    }
    decided.assert_sound();
}

/// An upstream that takes another spelling for the credentials must not find there what nobody has checked.
#[test]
fn no_spelling_of_a_credential_passes_unchecked() {
    for setting in ["remove", "keep"] {
        let gateway = Gateway::start(&[client_id_with(json!({"upstream_credentials": setting}))]);
        let kept = |value: &'static [u8]| if setting == "keep" { vec![value] } else { vec![] };
        for (http, separator) in
            Http::BOTH.into_iter().flat_map(|http| SEPARATORS.iter().map(move |it| (http, it)))
        {
            let separator = char::from(*separator);
            let (id, secret) = (format!("client{separator}id"), format!("client{separator}secret"));
            let alone: Fields = &[(&id, b"acme"), (&secret, b"s3cret")];
            let mut request = http.begin(gateway.addr(), "POST", "/", alone, Body::Chunked);
            request.send(b"anything").unwrap();
            request.end(&[(&id, b"forged"), (&secret, b"forged")]).unwrap();
            assert_eq!(request.response().unwrap().status, 200, "{http:?} {id}");
            let message = gateway.upstream.take_one();
            assert_eq!(message.all_spellings("client_id"), kept(b"acme"), "{http:?} {id} {message:?}");
            assert_eq!(message.all_spellings("client_secret"), kept(b"s3cret"), "{http:?} {id} {message:?}");
            if separator != '_' {
                for beside in [("client_id", &b"globex"[..]), ("client_secret", b"other")] {
                    let headers = [alone, &[beside]].concat();
                    assert_eq!(
                        http.get(gateway.addr(), "/", &headers).status,
                        400,
                        "{http:?} {id} {beside:?}"
                    );
                }
            }
        }
        assert_eq!(gateway.upstream.take(), [], "{setting}");
        gateway.assert_sound();
    }
}

/// A rule about a header holds whichever spelling of it the upstream reads.
#[test]
fn no_spelling_of_a_header_evades_a_rule() {
    let is_admin =
        |values: &str| json!({"header": {"name": "x-role", "value": {"exact": "admin"}, "values": values}});
    let is_user = json!({"header": {"name": "x-role", "value": {"exact": "user"}}});
    let router = json!({"content-router": {
        "rules": [
            {"when": is_admin("any"), "then": {"reply": {"status": 403}}},
            {"when": is_user, "then": {"route": "user"}},
        ],
        "default": {"reply": {"status": 404}},
    }});
    let gateway = Gateway::start(&[router]);
    for (http, other) in
        Http::BOTH.into_iter().flat_map(|http| spellings("x-role").into_iter().map(move |it| (http, it)))
    {
        for (beside, status) in [(&b"admin"[..], 403), (b"other", 404), (b"user", 200)] {
            let headers: Fields = &[("x-role", b"user"), (&other, beside)];
            assert_eq!(http.get(gateway.addr(), "/", headers).status, status, "{http:?} {other} {beside:?}");
        }
    }
}

/// Nobody gets by a forged header what the configuration gives by a real one: neither a quota, nor a route, nor a line.
#[test]
fn forged_headers_decide_nothing() {
    let by_tier = json!({"content-router": {
        "rules": [{"when": {"header": {"name": "x-portcullis-client-tier"}}, "then": {"route": "known"}}],
        "default": {"route": "unknown"},
    }});
    let mut limits = rate_limit();
    limits["rate-limit"]["key"] = json!(["client-id", {"header": {"name": "x-portcullis-client-id"}}]);
    limits["rate-limit"]["limits"] = json!([{"max": 2, "period_ms": 3_600_000}]);
    let gateway = Gateway::start(&[client_id(), limits, by_tier, access_log()]);
    for (at, http) in [Http::One, Http::Two, Http::One].into_iter().enumerate() {
        let mut forged = fields(&[]);
        forged.push(("x-portcullis-client-id", leaked_bytes(at.to_string().as_bytes())));
        let response = http.get(gateway.addr(), "/public", &forged);
        assert_eq!(response.status, if at < 2 { 200 } else { 429 }, "{at}");
        let line = gateway.line(at);
        assert_eq!((&line["client"], &line["tier"]), (&json!(null), &json!(null)), "{line}");
    }
    for message in gateway.upstream.take() {
        assert_told(&message, &[("route", "unknown")]);
    }
    gateway.assert_sound();
}

/// A route that is chosen by the header is chosen by the policy, also where `cluster_header` takes it as it is.
#[test]
fn forged_headers_choose_no_cluster() {
    let to = |to: &str, route: &str| json!({"when": {"header": {"name": "x-to", "value": {"exact": to}}}, "then": {"route": route}});
    let router = json!({"content-router": {"rules": [to("there", "upstream"), to("nowhere", "no-cluster")]}});
    let gateway = Gateway::start_with(&[router], |config| {
        config.route(json!({"match": {"prefix": "/"}, "route": {"cluster_header": "x-portcullis-route"}}))
    });
    let forged: Fields = &[("x-portcullis-route", b"upstream"), ("x_portcullis_route", b"upstream")];
    for http in Http::BOTH {
        // Nobody has named a cluster, for no rule is true: Envoy has no route.
        assert_eq!(http.get(gateway.addr(), "/", forged).status, 404, "{http:?}");
        assert_eq!(gateway.upstream.take(), [], "{http:?}");
        assert_eq!(
            http.get(gateway.addr(), "/", &[forged, &[("x-to", b"there")]].concat()).status,
            200,
            "{http:?}"
        );
        assert_eq!(gateway.upstream.take_one().of_the_suite().len(), 1, "{http:?}");
        assert_eq!(
            http.get(gateway.addr(), "/", &[forged, &[("x-to", b"nowhere")]].concat()).status,
            503,
            "{http:?}"
        );
    }
}

/// A shipped example with a filter that refuses `/admin`, and with routes that turn it off and allow upgrades: one for each
/// believed name, for requests in which this name has the value `forged`.
fn example_that_a_header_opens(name: &str, peers: &[(u16, SocketAddr)]) -> EnvoyConfig {
    let guard = json!({"name": "guard", "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
        "rules": {"action": "DENY", "policies": {"admin": {
            "permissions": [{"url_path": {"path": {"prefix": "/admin"}}}], "principals": [{"any": true}],
        }}},
    }});
    let off = json!({"guard": {
        "@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "disabled": true, "config": {},
    }});
    let routes = BELIEVED.map(|name| {
        let route = json!({
            "match": {"prefix": "/", "headers": [{"name": name, "string_match": {"exact": "forged"}}]},
            "route": {"cluster": "echo", "upgrade_configs": [{"upgrade_type": "websocket"}]},
            "typed_per_filter_config": off,
        });
        format!("              - {route}\n")
    });
    let text = EnvoyConfig::example(name, peers);
    let (router, list) =
        ("          - name: envoy.filters.http.router\n", "              routes:\n".to_owned());
    assert!(text.contains(router) && text.contains(&list), "{name}");
    EnvoyConfig::of_text(
        &text
            .replace(router, &format!("          - {guard}\n{router}"))
            .replace(&list, &format!("{list}{}", routes.concat())),
    )
}

/// Envoy chooses a route by what the client has sent, before any filter runs, and with it which filters run at all.
#[test]
fn forged_headers_turn_off_no_filter_and_allow_no_upgrade() {
    let (upstream, auth) = (Backend::start(), Backend::start());
    let config = example_that_a_header_opens("gateway", &[(8081, upstream.addr()), (8082, auth.addr())]);
    let envoy = Envoy::start(&config);
    let upgrade: Fields = &[("connection", b"upgrade"), ("upgrade", b"websocket")];
    for http in Http::BOTH {
        assert_eq!(http.get(envoy.addr(), "/", &GOOD).status, 200, "{http:?}");
        assert_eq!(http.get(envoy.addr(), "/admin", &GOOD).status, 403, "{http:?}");
        for name in BELIEVED {
            let forged = [&GOOD[..], &[(name, b"forged")]].concat();
            assert_eq!(http.get(envoy.addr(), "/admin", &forged).status, 403, "{http:?} {name}");
        }
    }
    assert_eq!(upstream.requests().len(), 2);
    for name in BELIEVED {
        let mut connection = h1::Connection::open(envoy.addr());
        connection.send("GET", "/", &[&GOOD[..], &[(name, b"forged")], upgrade].concat(), b"").unwrap();
        assert_eq!(connection.read_response().unwrap().status, 403, "{name}");
    }
    assert_eq!(upstream.requests().len(), 2);
}

#[test]
fn every_example_with_policies_keeps_forged_headers_from_routes() {
    let mut managers = 0;
    for folder in std::fs::read_dir(workspace_root().join("envoy-config")).unwrap() {
        let path = folder.unwrap().path().join("envoy.yaml");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if text.contains(".wasm }") {
            let count = |part: &str| text.matches(part).count();
            let removed = "- remove_on_match: { key_matcher: { prefix: x-portcullis- } }";
            assert_eq!(count(removed), count(".HttpConnectionManager"), "{}", path.display());
            managers += count(removed);
        }
    }
    assert!(managers > 0);
}

/// Refusals, Envoy's own replies, and upstreams that are not there: nothing of a forged header comes back.
#[test]
fn replies_of_the_gateway_say_nothing_that_a_client_has_made_up() {
    let gateway = Gateway::start_with(&everything(), |config| {
        config
            .route(json!({"match": {"path": "/direct"}, "direct_response": {"status": 200, "body": {"inline_string": "ok"}}}))
            .route(json!({"match": {"path": "/redirect"}, "redirect": {"path_redirect": "/elsewhere"}}))
            .route(json!({"match": {"path": "/nowhere"}, "route": {"cluster": "nowhere"}}))
            .merge_connection_manager(json!({"route_config": {"validate_clusters": false}}))
            .route(json!({"match": {"prefix": "/there"}, "route": {"cluster": "upstream"}}))
    });
    let forged = [
        ("x-ratelimit-limit", &b"forged"[..]),
        ("x-ratelimit-remaining", b"forged"),
        ("retry-after", b"forged"),
    ];
    let wrong: Fields = &[("client_id", b"acme"), ("client_secret", WRONG.as_bytes())];
    for http in Http::BOTH {
        for (path, more, status) in [
            ("/direct", &GOOD[..], 200),
            ("/redirect", &GOOD, 301),
            ("/nowhere", &GOOD, 503),
            ("/no-route", &GOOD, 404),
            ("/there", &[], 401),
            ("/there", wrong, 401),
            ("/there?client_id=a&client_id=b", &[], 400),
        ] {
            let headers = fields(&[more, &forged].concat());
            let response = http.get(gateway.addr(), path, &headers);
            assert_eq!(response.status, status, "{http:?} {path}");
            let told = format!("{:?} {}", response.headers, response.text());
            assert!(!told.contains("forged") && !told.contains("root"), "{http:?} {path} {told}");
            assert!(!told.to_lowercase().contains("x-portcullis"), "{http:?} {path} {told}");
        }
    }
    assert_eq!(gateway.upstream.take(), []);
}

/// The quota is the policy's to tell: what an upstream says of it is replaced where the policy counts, and what a client
/// says is no concern of anybody's.
#[test]
fn the_client_learns_of_its_quota_from_the_policy() {
    let gateway = Gateway::start(&everything());
    let reply = http_reply(
        200,
        &[("X-RateLimit-Limit", b"7"), ("x-ratelimit-remaining", b"7"), ("X-RATELIMIT-RESET", b"7")],
        b"",
    );
    gateway.upstream.reply_with(move |_| reply.clone());
    for http in Http::BOTH {
        for (path, more) in [("/", &GOOD[..]), ("/public", &[])] {
            let headers = fields(&[more, &[("x-ratelimit-remaining", b"forged")]].concat());
            let response = http.get(gateway.addr(), path, &headers);
            for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
                let values = response.headers.all(name);
                assert!(
                    values.len() == 1 && values[0] != b"7" && values[0] != b"forged",
                    "{http:?} {path} {values:?}"
                );
            }
        }
    }
    gateway.assert_sound();
}

/// WebSocket and CONNECT: what passes is a request with the policy's headers, and then a tunnel.
#[test]
fn upgrades_carry_no_forged_headers() {
    let gateway = Gateway::start_with(&everything(), allowing_websocket);
    take_up_upgrades(&gateway);
    let upgrade: Fields = &[("connection", b"upgrade"), ("upgrade", b"websocket")];
    for (path, more, told) in [("/", &GOOD[..], &ADMITTED[..]), ("/public", &[], &[("route", "other")])] {
        let mut connection = h1::Connection::open(gateway.addr());
        connection.send("GET", path, &fields(&[upgrade, more].concat()), b"").unwrap();
        assert_eq!(connection.read_response().unwrap().status, 101, "{path}");
        assert_told(&gateway.upstream.take_one(), told);
    }
    let mut connection = h1::Connection::open(gateway.addr());
    connection.send("GET", "/", &fields(upgrade), b"").unwrap();
    assert_eq!(connection.read_response().unwrap().status, 401);
    assert_eq!(gateway.upstream.take(), []);
    gateway.assert_sound();
}

/// Allows upgrades to WebSocket, over both versions of HTTP.
fn allowing_websocket(config: EnvoyConfig) -> EnvoyConfig {
    config.merge_connection_manager(json!({
        "upgrade_configs": [{"upgrade_type": "websocket"}],
        "http2_protocol_options": {"allow_connect": true},
    }))
}

/// Answers an upgrade by taking it up.
fn take_up_upgrades(gateway: &Gateway) {
    gateway.upstream.reply_with(|message| {
        if message.all("upgrade").is_empty() {
            return http_reply(200, &[], b"");
        }
        b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n".to_vec()
    });
}

/// A proxy behind Envoy removes every header that `connection` names (RFC 9110, section 7.6.1).
#[test]
fn connection_takes_away_nothing_that_policies_set() {
    let outage =
        json!({"on_outage": "open", "auth": {"per-request": {"cluster": "nobody-knows", "retries": 0}}});
    let decided = Gateway::start_with(&everything(), allowing_websocket);
    let open = Gateway::start_with(&[client_id_with(outage)], allowing_websocket);
    for (gateway, told) in [(&decided, &ADMITTED[..]), (&open, &[("unverified", "auth-unreachable")])] {
        take_up_upgrades(gateway);
        let told: Vec<_> =
            told.iter().map(|(name, value)| (format!("x-portcullis-{name}"), (*value).to_owned())).collect();
        for connection in [
            &["upgrade, x-portcullis-client-id, x-portcullis-unverified"][..],
            &["x-portcullis-client-id,UPGRADE"],
            &["Upgrade\t , te,\tX_Portcullis_Client-Id ,keep-alive"],
            &["upgrade", "x-portcullis-client-id"],
            &["x-portcullis-client-tier", "Upgrade", "close, x-portcullis-route"],
            &["upgrade, http2-settings"],
            &["Upgrade"],
        ] {
            let mut fields: Vec<_> =
                connection.iter().map(|value| ("Connection", value.as_bytes())).collect();
            fields.extend(GOOD);
            fields.extend([
                ("Upgrade", &b"websocket"[..]),
                ("Proxy-Connection", b"x-portcullis-client-id"),
                ("Keep-Alive", b"x-portcullis-client-id"),
            ]);
            let mut client = h1::Connection::open(gateway.addr());
            client.send("GET", "/", &fields, b"").unwrap();
            assert_eq!(client.read_response().unwrap().status, 101, "{connection:?}");
            let message = gateway.upstream.take_one();
            assert_eq!(message.of_the_suite(), told, "{connection:?}");
            let options: Vec<_> =
                message.all("connection").iter().map(|it| it.to_ascii_lowercase()).collect();
            assert_eq!(options, [b"upgrade"], "{connection:?}");
            for name in ["proxy-connection", "keep-alive"] {
                assert!(message.all(name).is_empty(), "{connection:?} {message:?}");
            }
        }
        let client = h2::Connection::open(gateway.addr());
        let asked = client.begin_upgrade("websocket", "/", &GOOD).unwrap();
        assert_eq!(asked.upgrade_response().unwrap().status, 200);
        let message = gateway.upstream.take_one();
        assert_eq!((message.of_the_suite(), message.all("connection")), (told, vec![&b"upgrade"[..]]));
    }
    decided.assert_no_failures();
}

/// Envoy treats these fields itself where no upgrade is asked for, before any policy sets a header.
#[test]
fn envoy_passes_on_no_field_of_the_connection() {
    let gateway = Gateway::start(&everything());
    let told = ADMITTED.map(|(name, value)| (format!("x-portcullis-{name}"), value.to_owned()));
    for connection in ["x-portcullis-client-id", "close, x-portcullis-client-id", "te, x-own", "upgrade"] {
        let hop: Fields = &[
            ("connection", connection.as_bytes()),
            ("proxy-connection", b"x-portcullis-client-id"),
            ("keep-alive", b"x-portcullis-client-id"),
            ("te", b"trailers, x-portcullis-client-id"),
        ];
        let response = h1::request(gateway.addr(), "GET", "/", &[&GOOD[..], hop].concat(), b"");
        assert_eq!(response.status, 200, "{connection}");
        let message = gateway.upstream.take_one();
        assert_eq!(message.of_the_suite(), told, "{connection}");
        for (name, left) in
            [("connection", &[][..]), ("proxy-connection", &[]), ("keep-alive", &[]), ("te", &[b"trailers"])]
        {
            assert_eq!(message.all(name), left, "{connection} {name} {message:?}");
        }
    }
    gateway.assert_no_failures();
}

/// An outage that lets requests pass marks them; nobody can mark another way, or take the mark away.
#[test]
fn an_open_outage_is_marked_by_the_policy_alone() {
    let unknown = json!({"per-request": {"cluster": "nobody-knows", "retries": 0}});
    let gateway = Gateway::start(&[client_id_with(json!({"on_outage": "open", "auth": unknown}))]);
    for http in Http::BOTH {
        assert_eq!(http.get(gateway.addr(), "/", &fields(&GOOD)).status, 200, "{http:?}");
        assert_told(&gateway.upstream.take_one(), &[("unverified", "auth-unreachable")]);
        assert_eq!(http.get(gateway.addr(), "/", &fields(&[])).status, 401, "{http:?}");
        assert_eq!(gateway.upstream.take(), [], "{http:?}");
    }
}

/// Each policy in a filter of its own: what the first says the second believes, and nothing else.
#[test]
fn filters_of_their_own_believe_each_other_and_no_client() {
    let document = |policy: serde_json::Value| policy.as_object().unwrap().values().next().unwrap().clone();
    let gateway = Gateway::launch(|config| {
        config.filter(WasmPlugin::module("client-id").json_configuration(&document(client_id()))).filter(
            WasmPlugin::module("content-router")
                .json_configuration(&document(content_router()))
                .allow_on_headers_stop_iteration(true),
        )
    });
    for http in Http::BOTH {
        for (path, more, told) in [("/", &GOOD[..], &ADMITTED[..]), ("/public", &[], &[("route", "other")])] {
            assert_eq!(http.get(gateway.addr(), path, &fields(more)).status, 200, "{http:?} {path}");
            assert_told(&gateway.upstream.take_one(), told);
        }
    }
    gateway.assert_sound();
}

/// The question to the auth service has the credentials and nothing that a client could make up beside them.
#[test]
fn nothing_but_credentials_comes_to_the_auth_service() {
    let gateway = Gateway::start(&everything());
    for http in Http::BOTH {
        gateway.auth.clear();
        let secret = format!("{http:?}");
        let more = [
            &[("client_id", &b"acme"[..]), ("client_secret", secret.as_bytes())][..],
            &[
                ("cookie", b"forged"),
                ("x-client-tier", b"forged"),
                ("x-forwarded-user", b"forged"),
                ("te", b"trailers"),
            ],
        ]
        .concat();
        assert_eq!(http.get(gateway.addr(), "/forged?forged=1", &fields(&more)).status, 200, "{http:?}");
        let [question] = &gateway.auth.requests()[..] else { panic!("one question") };
        assert_eq!((&question.method[..], &question.path[..]), ("GET", "/verify"));
        assert!(!format!("{question:?}").contains("forged"), "{question:?}");
    }
    gateway.assert_sound();
}

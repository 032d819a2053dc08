//! Who passes, who does not, and what each side learns of it.

use portcullis_client_id::ClientId;
use portcullis_policy::host::Direction;
use portcullis_policy::{Chain, Next, Policy, SecretName};
use serde_json::{Value, json};

use crate::support::*;

#[test]
fn asks_the_auth_service_with_the_credentials_as_basic() {
    let mut worker = worker(&with(
        per_request(),
        json!({"auth": {"per-request": {"method": "POST", "path": "/check?x=1", "authority": "auth.internal", "timeout_ms": 250}}}),
    ));
    call(&mut worker, "acme", "s:3");
    let question = worker.pending_call();
    assert_eq!(question.cluster, "auth");
    assert_eq!(question.timeout.as_millis(), 250);
    for (name, value) in [
        (":method", "POST"),
        (":path", "/check?x=1"),
        (":authority", "auth.internal"),
        ("authorization", "Basic YWNtZTpzOjM="),
    ] {
        assert_eq!(question.header(name).as_deref(), Some(value), "{name}");
    }
}

#[test]
fn tells_the_upstream_who_an_admitted_client_is() {
    let mut worker = worker(&per_request());
    let id = call(&mut worker, "acme", "s3");
    assert_held(&worker, id);
    let token = worker.pending_call().token;
    worker.answer(token, 204, &[("x-client-name", "Acme Ltd"), ("x-client-tier", "gold")], b"");
    assert_admitted(&worker, id);
    assert_eq!(upstream(&worker, id, "x-portcullis-client-id").as_deref(), Some("acme"));
    assert_eq!(upstream(&worker, id, "x-portcullis-client-name").as_deref(), Some("Acme Ltd"));
    assert_eq!(upstream(&worker, id, "x-portcullis-client-tier").as_deref(), Some("gold"));
    assert_eq!(worker.host.property_of(id, &["portcullis.client_id"]).as_deref(), Some(&b"acme"[..]));
    assert_eq!(metric(&worker, "admitted"), 1);
}

#[test]
fn lets_the_auth_service_rename_the_client_and_leaves_out_what_is_no_text() {
    let mut worker = worker(&with(
        per_request(),
        json!({"auth": {"per-request": {"identity": {"client_id": "X-Canonical"}}}}),
    ));
    let id = call(&mut worker, "alias", "s");
    let token = worker.pending_call().token;
    let mut headers: portcullis_policy::HeaderList =
        [(":status", "200"), ("x-canonical", "acme")].into_iter().collect();
    headers.add("x-client-name", b"\xff\xfe");
    headers.add("x-client-tier", b"");
    worker.answer_raw(token, headers, b"");
    assert_admitted(&worker, id);
    assert_eq!(upstream(&worker, id, "x-portcullis-client-id").as_deref(), Some("acme"));
    assert_eq!(upstream(&worker, id, "x-portcullis-client-name"), None);
    assert_eq!(upstream(&worker, id, "x-portcullis-client-tier"), None);
}

#[test]
fn refuses_with_a_challenge_and_counts_the_reason() {
    for (answer, reason) in [(None, "missing"), (Some(401), "invalid"), (Some(403), "disabled")] {
        let mut worker =
            worker(&with(per_request(), json!({"rejection": {"realm": "a \"b\"", "reason": "shown"}})));
        let id = match answer {
            None => worker.request([(":method", "GET"), (":path", "/")]),
            Some(_) => call(&mut worker, "acme", "s"),
        };
        if let Some(answer) = answer {
            let token = worker.pending_call().token;
            worker.answer(token, answer, &[("www-authenticate", "theirs")], b"theirs");
        }
        assert_eq!(status(&worker, id), 401, "{reason}");
        assert_eq!(details(&worker, id), format!("client_id_{reason}"));
        assert_eq!(
            reply_header(&worker, id, "www-authenticate").as_deref(),
            Some(r#"Basic realm="a \"b\"", charset="UTF-8""#)
        );
        assert_eq!(reply_header(&worker, id, "content-type").as_deref(), Some("application/problem+json"));
        let problem: serde_json::Value = serde_json::from_str(&body(&worker, id)).unwrap();
        assert_eq!((&problem["status"], &problem["reason"]), (&json!(401), &json!(reason)));
        assert_eq!(metric(&worker, &format!("rejected_{reason}")), 1);
        assert_eq!(metric(&worker, "admitted"), 0);
    }
}

#[test]
fn hides_the_reason_unless_told_to_show_it() {
    let mut worker = worker(&per_request());
    let missing = worker.request([(":path", "/")]);
    let invalid = call(&mut worker, "acme", "s");
    let token = worker.pending_call().token;
    worker.answer(token, 401, &[], b"");
    assert_eq!(body(&worker, missing), body(&worker, invalid));
    assert!(!body(&worker, missing).contains("missing"));
}

#[test]
fn challenges_with_another_scheme_if_told_to() {
    let mut worker = worker(&with(per_request(), json!({"rejection": {"scheme": "X-Client", "realm": "r"}})));
    let id = worker.request([(":path", "/")]);
    assert_eq!(reply_header(&worker, id, "www-authenticate").as_deref(), Some(r#"X-Client realm="r""#));
}

#[test]
fn answers_a_soap_caller_with_a_fault() {
    let mut worker = worker(&per_request());
    let id = worker.request([(":path", "/"), ("content-type", "text/xml"), ("soapaction", "urn:a")]);
    assert_eq!(status(&worker, id), 401);
    assert!(body(&worker, id).contains("<faultcode>soapenv:Client</faultcode>"));
    assert!(reply_header(&worker, id, "www-authenticate").is_some());
}

#[test]
fn refuses_what_can_be_read_in_two_ways_without_asking_anybody() {
    const DUPLICATED: &str = "A credential is given more than once.";
    for (headers, explanation) in [
        (&[("authorization", "Basic YTpi"), ("authorization", "Basic YTpj")][..], DUPLICATED),
        (&[("client_id", "a"), ("client_id", "b"), ("client_secret", "s")], DUPLICATED),
        (
            &[("authorization", "Basic nonsense")],
            "The Authorization header does not hold well-formed Basic credentials.",
        ),
        (
            &[(":path", "/?client_id=a%00&client_secret=s")],
            "A credential is too long or has characters that are not allowed.",
        ),
        (&[(":path", "/?client_id=a&client_secret=%zz")], "A credential's percent-encoding is broken."),
    ] {
        let mut worker = worker(&per_request());
        let id = worker.request(headers.iter().copied());
        assert_eq!(status(&worker, id), 400, "{headers:?}");
        assert_eq!(details(&worker, id), "client_id_malformed");
        assert_eq!(reply_header(&worker, id, "www-authenticate"), None);
        let problem: Value = serde_json::from_str(&body(&worker, id)).unwrap();
        assert_eq!(problem["detail"], explanation, "{headers:?}");
        assert_eq!(worker.host.calls_sent(), 0);
        assert_eq!(metric(&worker, "rejected_malformed"), 1);
    }
}

#[test]
fn takes_the_credentials_away_before_the_upstream() {
    let mut worker = worker(&per_request());
    let id = worker.request([
        (":path", "/a?x=1&client_id=q&y=2&client_secret=q"),
        ("authorization", "Basic YWNtZTpzMw=="),
        ("client_id", "h"),
        ("client_secret", "h"),
    ]);
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    assert_admitted(&worker, id);
    assert_eq!(upstream(&worker, id, ":path").as_deref(), Some("/a?x=1&y=2"));
    for name in ["authorization", "client_id", "client_secret"] {
        assert_eq!(upstream(&worker, id, name), None, "{name}");
    }
    assert_eq!(upstream(&worker, id, "x-portcullis-client-id").as_deref(), Some("acme"));
}

#[test]
fn takes_the_credentials_away_before_it_knows_the_answer() {
    for (path, answer) in [
        ("/a?client_id=q&client_secret=TOP", 500),
        ("/a?client_id=q&client_secret=TOP", 401),
        ("/a?client_secret=TOP", 0),
    ] {
        let mut worker = worker(&per_request());
        let id = worker.request([(":path", path)]);
        if answer > 0 {
            let token = worker.pending_call().token;
            worker.answer(token, answer, &[], b"");
        }
        assert!(worker.reply(id).status >= 400);
        assert_eq!(upstream(&worker, id, ":path").as_deref(), Some("/a"), "{answer}");
    }
}

#[test]
fn leaves_another_scheme_s_authorization_to_the_upstream() {
    let mut worker = worker(&per_request());
    let id = worker.request([
        (":path", "/"),
        ("authorization", "Bearer token"),
        ("client_id", "acme"),
        ("client_secret", "s"),
    ]);
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    assert_eq!(upstream(&worker, id, "authorization").as_deref(), Some("Bearer token"));
}

#[test]
fn keeps_credentials_for_the_upstream_if_told_to() {
    let mut worker = worker(&with(per_request(), json!({"upstream_credentials": "keep"})));
    let id = call(&mut worker, "acme", "s3");
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    assert_eq!(upstream(&worker, id, "client_secret").as_deref(), Some("s3"));
}

/// The separators of a token (RFC 9110, section 5.6.2): some reader takes each for an underscore.
const SEPARATORS: &str = "!#$%&'*+-.^_`|~";

/// An upstream might read what nobody has checked.
#[test]
fn a_credential_in_another_spelling_is_the_same_credential() {
    for credentials in ["remove", "keep"] {
        let mut worker = worker(&with(per_request(), json!({"upstream_credentials": credentials})));
        for separator in SEPARATORS.chars() {
            let (other_id, other_secret) =
                (format!("client{separator}id"), format!("client{separator}secret"));
            let alone = [(":path", "/"), (&other_id, "acme"), (&other_secret, "s3")];
            let id = worker.request(alone);
            if separator == SEPARATORS.chars().next().unwrap() {
                let token = worker.pending_call().token;
                worker.answer(token, 200, &[], b"");
            }
            assert_admitted(&worker, id);
            let kept = (credentials == "keep").then(|| "acme".to_owned());
            assert_eq!(upstream(&worker, id, &other_id), kept, "{credentials} {other_id}");
            assert_eq!(upstream(&worker, id, "x-portcullis-client-id").as_deref(), Some("acme"));
            if separator == '_' {
                continue;
            }
            for (name, value) in [("client_id", "globex"), ("client_secret", "s4"), ("client_id", "acme")] {
                let id = worker.request([&alone[..], &[(name, value)]].concat());
                assert_eq!(worker.reply(id).status, 400, "{credentials} {other_id} {name}");
            }
        }
    }
}

/// Two identities for two readers, one of which nobody has checked.
#[test]
fn keeps_the_credentials_that_decide_and_no_others() {
    const BASIC: (&str, &str) = ("authorization", "Basic YWNtZTpzMw==");
    const QUERY: &str = "/?a=1&client_id=acme&client_secret=s3";
    for (sent, expected) in [
        (
            &[(":path", QUERY), BASIC, ("client_id", "globex"), ("client.secret", "x")][..],
            &[(":path", "/?a=1"), BASIC][..],
        ),
        (
            &[
                (":path", QUERY),
                ("client-id", "acme"),
                ("client_secret", "s3"),
                ("authorization", "Bearer t"),
            ],
            &[
                (":path", "/?a=1"),
                ("client-id", "acme"),
                ("client_secret", "s3"),
                ("authorization", "Bearer t"),
            ],
        ),
        (&[(":path", QUERY)], &[(":path", QUERY)]),
    ] {
        let mut worker = worker(&with(per_request(), json!({"upstream_credentials": "keep"})));
        let id = worker.request(sent.iter().copied());
        let token = worker.pending_call().token;
        worker.answer(token, 200, &[], b"");
        let headers = worker.host.upstream_headers(id);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let fields = headers.iter().map(|(name, value)| (text(name), text(value)));
        let mut fields: Vec<_> = fields.filter(|(name, _)| !name.starts_with("x-portcullis-")).collect();
        let mut expected: Vec<_> =
            expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        fields.sort();
        expected.sort();
        assert_eq!(fields, expected, "{sent:?}");
    }
}

/// One origin may have a name in common with another.
#[test]
fn keeps_what_decides_whichever_other_origin_names_it_too() {
    let origins = json!([
        {"headers": {"id": "x-id", "secret": "x-secret"}},
        {"headers": {"id": "x_id", "secret": "x-key"}},
        {"query": {"id": "id", "secret": "secret"}},
        {"query": {"id": "id", "secret": "key"}},
    ]);
    let config = with(per_request(), json!({"upstream_credentials": "keep", "credentials": origins}));
    let mut worker = worker(&config);
    let sent = [(":path", "/?id=b&key=k"), ("x-id", "acme"), ("x-secret", "s3"), ("x-key", "other")];
    let id = worker.request(sent);
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    for (name, expected) in
        [("x-id", Some("acme")), ("x-secret", Some("s3")), ("x-key", None), (":path", Some("/"))]
    {
        assert_eq!(upstream(&worker, id, name).as_deref(), expected, "{name}");
    }
    let id = worker.request([(":path", "/?id=acme&key=k&secret=s3")]);
    assert_admitted(&worker, id);
    assert_eq!(upstream(&worker, id, ":path").as_deref(), Some("/?id=acme&secret=s3"));
}

#[test]
fn strips_suite_headers_of_every_spelling_on_every_way_through() {
    let spoofed = [
        ("x-portcullis-client-id", "root"),
        ("x-portcullis-client-id", "root2"),
        ("x-portcullis-unverified", "no"),
        ("x_portcullis_client_tier", "gold"),
        ("x-portcullis_route", "a"),
        ("x.portcullis.client.id", "root"),
        ("x~portcullis!client'tier", "gold"),
    ];
    let mut worker = worker(&with(
        per_request(),
        json!({"on_outage": "open", "scope": {"exempt": [{"path_prefix": "/public"}]}}),
    ));
    let exempt = worker.request([(":path", "/public")].into_iter().chain(spoofed));
    let credentials = [(":path", "/a"), ("client_id", "acme"), ("client_secret", "s")];
    let admitted = worker.request(credentials.into_iter().chain(spoofed));
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    worker.host.fail(portcullis_testkit::inprocess::Fault::UnknownCluster);
    let open = worker
        .request([(":path", "/a"), ("client_id", "b"), ("client_secret", "s")].into_iter().chain(spoofed));
    for (id, expected) in [
        (exempt, &[][..]),
        (admitted, &[("x-portcullis-client-id", "acme")]),
        (open, &[("x-portcullis-unverified", "auth-unreachable")]),
    ] {
        assert_admitted(&worker, id);
        let headers = worker.host.upstream_headers(id);
        let suite: Vec<_> = headers
            .iter()
            .map(|(name, value)| (std::str::from_utf8(name).unwrap(), std::str::from_utf8(value).unwrap()))
            .filter(|(name, _)| name.contains("portcullis"))
            .collect();
        assert_eq!(suite, expected);
    }
    assert_eq!(metric(&worker, "exempt"), 1);
}

#[test]
fn strips_its_own_headers_even_if_another_filter_has_set_them() {
    let mut worker = worker(&with(per_request(), json!({"scope": {"exempt": [{"path_prefix": "/public"}]}})));
    let id = worker.open();
    worker.host.give_property(id, &["portcullis.client-id.outcome"], b"client-id:passed:admitted");
    let own = ["id", "name", "tier"].map(|name| format!("x-portcullis-client-{name}"));
    let own = own.into_iter().chain(["x-portcullis-unverified".to_owned()]).map(|name| (name, "theirs"));
    worker.request_headers(id, [(":path".to_owned(), "/public")].into_iter().chain(own), true);
    assert_admitted(&worker, id);
    let headers = worker.host.upstream_headers(id);
    assert_eq!(headers.iter().collect::<Vec<_>>(), [(&b":path"[..], &b"/public"[..])]);
}

#[test]
fn tells_the_other_policies_under_which_names_secrets_stand() {
    let names = |config: &Value| {
        let config = serde_json::from_value(config.clone()).unwrap();
        ClientId::from_config(config).unwrap().secret_names()
    };
    let header = |name: &str| SecretName::Header(name.to_owned());
    let parameter = |name: &str| SecretName::Parameter(name.to_owned());
    let default = [
        header("authorization"),
        header("client_id"),
        header("client_secret"),
        parameter("client_id"),
        parameter("client_secret"),
    ];
    assert_eq!(names(&per_request()), default);
    let own =
        json!([{"headers": {"id": "X-Id", "secret": "X-Key"}}, {"query": {"id": "Id", "secret": "Key"}}]);
    assert_eq!(
        names(&with(per_request(), json!({"credentials": own}))),
        [header("x-id"), header("x-key"), parameter("Id"), parameter("Key")]
    );
}

#[test]
fn strips_suite_headers_from_trailers_too() {
    let mut worker = worker(&with(per_request(), json!({"scope": {"exempt": [{"path_prefix": "/public"}]}})));
    for path in ["/public", "/a"] {
        let id = worker.open();
        worker.request_headers(id, [(":path", path), ("client_id", "acme"), ("client_secret", "s")], false);
        worker.body(id, Direction::Request, b"body", false);
        let spoofed =
            [("x-portcullis-client-id", "root"), ("x_portcullis_client_tier", "gold"), ("x-own", "1")];
        worker.trailers_of(id, Direction::Request, spoofed);
        if path == "/a" {
            let token = worker.pending_call().token;
            worker.answer(token, 200, &[], b"");
        }
        assert_admitted(&worker, id);
        let trailers = worker.host.upstream_trailers(id).unwrap();
        assert_eq!(trailers.iter().collect::<Vec<_>>(), [(&b"x-own"[..], &b"1"[..])], "{path}");
    }
}

#[test]
fn treats_a_request_without_a_path_as_any_other() {
    let mut worker = worker(&with(per_request(), json!({"scope": {"only": [{"path_prefix": "/api"}]}})));
    let id = worker.request([(":method", "CONNECT"), (":authority", "a:443")]);
    assert_eq!(status(&worker, id), 401);
    let id = worker.request([(":method", "CONNECT"), ("client_id", "acme"), ("client_secret", "s")]);
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    assert_admitted(&worker, id);
}

#[test]
fn identifies_by_identifier_alone_where_that_will_do() {
    let mut worker = worker(&with(per_request(), json!({"secret": "optional"})));
    let id = worker.request([(":path", "/"), ("client_id", "acme")]);
    assert_eq!(worker.pending_call().header("authorization").as_deref(), Some("Basic YWNtZTo="));
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    assert_admitted(&worker, id);
}

#[test]
fn holds_back_body_and_end_until_it_has_decided() {
    let mut worker = worker(&per_request());
    let id = worker.open();
    let headers = [(":path", "/"), ("client_id", "acme"), ("client_secret", "s")];
    assert_eq!(worker.request_headers(id, headers, false), Next::Hold);
    assert_eq!(worker.body(id, Direction::Request, b"some ", false), Next::Hold);
    assert_eq!(worker.body(id, Direction::Request, b"more", true), Next::Hold);
    assert_held(&worker, id);
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    assert_admitted(&worker, id);
    assert_eq!(worker.host.passed_body(id, Direction::Request), b"some more");
}

#[test]
fn holds_back_trailers_and_lets_nothing_through_after_a_refusal() {
    let mut worker = worker(&per_request());
    let id = worker.open();
    worker.request_headers(id, [(":path", "/"), ("client_id", "acme"), ("client_secret", "s")], false);
    assert_eq!(worker.trailers(id, Direction::Request), Next::Hold);
    let token = worker.pending_call().token;
    worker.answer(token, 401, &[], b"");
    assert_eq!(status(&worker, id), 401);
    assert_eq!(worker.body(id, Direction::Request, b"late", true), Next::Hold);
    assert_eq!(worker.host.passed_body(id, Direction::Request), b"");
}

#[test]
fn refuses_configurations_by_naming_the_field_and_never_its_value() {
    for (change, expected) in [
        (json!({"auth": null}), "auth: "),
        (json!({"auth": {"per-request": {"cluster": ""}}}), "auth.per-request.cluster: must name"),
        (
            json!({"auth": {"per-request": {"timeout_ms": "hunter2"}}}),
            "auth.per-request.timeout_ms: expected u32",
        ),
        (
            json!({"auth": {"per-request": {"timeout_ms": 0}}}),
            "auth.per-request.timeout_ms: must be from 1 to 60000",
        ),
        (json!({"auth": {"per-request": {"path": "verify"}}}), "auth.per-request.path: must begin with /"),
        (json!({"auth": {"per-request": {"path": "/a b"}}}), "auth.per-request.path: must begin with /"),
        (json!({"auth": {"per-request": {"method": "G T"}}}), "auth.per-request.method: must be"),
        (
            json!({"auth": {"per-request": {"identity": {"tier": "x y"}}}}),
            "auth.per-request.identity.tier: must be",
        ),
        (json!({"auth": {"per-request": {"secret": "hunter2"}}}), "auth.per-request.secret: unknown field"),
        (json!({"credentials": []}), "credentials: must name at least one"),
        (json!({"credentials": ["basic", "basic"]}), "credentials[1]: stands in the list already"),
        (json!({"credentials": [{"headers": {"id": "a b"}}]}), "credentials[0].id: must be a header name"),
        (
            json!({"credentials": [{"headers": {"id": "x-portcullis-id"}}]}),
            "credentials[0].id: must be a header name",
        ),
        (
            json!({"credentials": [{"headers": {"id": "content_length"}}]}),
            "credentials[0].id: must not be a header that means something else",
        ),
        (
            json!({"credentials": [{"headers": {"id": "a-b", "secret": "a.b"}}]}),
            "credentials[0].secret: must be another name than id",
        ),
        (
            json!({"credentials": [{"headers": {"id": "A", "secret": "a"}}]}),
            "credentials[0].secret: must be another",
        ),
        (json!({"credentials": [{"query": {"id": ""}}]}), "credentials[0].id: must not be empty"),
        (json!({"credentials": ["cookie"]}), "credentials[0]: expected"),
        (json!({"cache": {"jitter_percent": 101}}), "cache.jitter_percent: must be from 0 to 100"),
        (json!({"cache": {"entries": -1}}), "cache.entries: expected u32"),
        (json!({"max_waiting": 0}), "max_waiting: must be from 1"),
        (json!({"scope": {"only": [{"path_prefix": "x"}]}}), "scope.only[0].path_prefix: must begin with /"),
        (json!({"rejection": {"realm": "a\nb"}}), "rejection.realm: must be printable"),
        (json!({"on_outage": "hunter2"}), "on_outage: expected"),
    ] {
        let config = with(per_request(), change);
        let error = chain(&config).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with(expected), "{config}: {error:?}");
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn needs_an_auth_section_and_nothing_else() {
    let error = Chain::new().then_configured::<ClientId>(b"").err().unwrap().to_string();
    assert_eq!(error, "missing field `auth`");
    assert!(chain(&json!({"auth": {"per-request": {"cluster": "auth"}}})).is_ok());
}

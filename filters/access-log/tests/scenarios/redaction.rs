//! What lines must not show.

use portcullis_access_log::AccessLog;
use portcullis_policy::host::Level;
use portcullis_policy::{Chain, Direction};
use portcullis_testkit::inprocess::Worker;
use serde_json::json;

use crate::support::{Gate, lines, worker};

#[test]
fn credentials_are_hidden_without_being_asked() {
    let mut worker = worker(&json!({
        "query": "keep",
        "format": {"text": "%REQ(AUTHORIZATION)% %REQ(COOKIE)% %REQ(X-NONE?CLIENT_SECRET)% %RESP(SET-COOKIE):3% \
                            %REQ(:PATH)% %REQ(REFERER)% %RESP(LOCATION)%"},
    }));
    let id = worker.request([
        (":path", "/a?client_secret=hunter2&x=1&PASSWORD=hunter2"),
        ("authorization", "Bearer hunter2"),
        ("cookie", "session=hunter2"),
        ("client_secret", "hunter2"),
        ("referer", "https://a/b?access_token=hunter2"),
    ]);
    let location = "https://a/#access_token=hunter2&state=1";
    worker.response_headers(
        id,
        [(":status", "302"), ("set-cookie", "s=hunter2"), ("location", location)],
        true,
    );
    worker.finish(id);
    assert_eq!(
        lines(&worker),
        ["[redacted] [redacted] [redacted] [re /a?client_secret=[redacted]&x=1&PASSWORD=[redacted] \
          https://a/b?access_token=[redacted] https://a/#access_token=[redacted]&state=1"]
    );
}

/// Names that nobody has listed: their words say what they are.
#[test]
fn names_whose_words_suggest_a_secret_are_hidden_everywhere() {
    let names = [
        "password_confirmation",
        "old_password",
        "current_password",
        "secret",
        "api_key",
        "auth_token",
        "authorization",
        "pwd",
        "X-Amz-Signature",
        "user[apiKey]",
        "%61pi%5Fkey",
    ];
    let members = [
        "@password",
        "oldPassword",
        "APIKey",
        "x.api.key",
        "client-secret",
        "XAmzSignature",
        "api\\u005fkey",
    ];
    let shown = "tokens_used=12&author=me&signature_algorithm=hs256&page=3";
    let mut worker = worker(&json!({
        "query": "keep",
        "capture": {"request": {}},
        "format": {"text": "%REQ(:PATH)% %REQ(REFERER)% %REQ(X-API-KEY)% %REQ(X.API.KEY)% %REQ(X-AUTH-TOKEN)% \
                            %RESP(LOCATION)% %RESP(X-REQUEST-SIGNATURE)% %PORTCULLIS(REQUEST_BODY)%"},
    }));
    let query: String = names.iter().map(|name| format!("{name}=hunter2&")).collect();
    let json: String = members.iter().map(|name| format!(r#""{name}":["hunter2"],"#)).collect();
    for (content_type, body) in [
        ("application/json", format!(r#"{{{json}"tokens_used":12}}"#)),
        ("application/x-www-form-urlencoded", format!("{query}{shown}")),
    ] {
        let path = format!("/a?{query}{shown}");
        let referer = format!("https://b{path}");
        let id = worker.open();
        let headers = [
            (":method", "POST"),
            (":path", &path),
            ("content-type", content_type),
            ("referer", &referer),
            ("x-api-key", "hunter2"),
            ("x.api.key", "hunter2"),
            ("x-auth-token", "hunter2"),
        ];
        worker.request_headers(id, headers, false);
        worker.body(id, Direction::Request, body.as_bytes(), true);
        let headers = [(":status", "302"), ("location", &referer), ("x-request-signature", "hunter2")];
        worker.response_headers(id, headers, true);
        worker.finish(id);
        let lines = lines(&worker);
        let line = lines.last().unwrap();
        assert!(!line.contains("hunter2"), "{line}");
        assert!(line.contains(shown) && line.contains(r"tokens_used"), "{line}");
    }
}

#[test]
fn names_that_are_excepted_are_shown_unless_they_are_listed() {
    let mut worker = worker(&json!({
        "query": "keep",
        "redact": {"except": ["pageToken", "X-Signature", "password"]},
        "format": {"text": "%REQ(:PATH)% %REQ(X-SIGNATURE)% %REQ(X-OTHER-SIGNATURE)%"},
    }));
    let id = worker.request([
        (":path", "/a?page_token=2&token=hunter2&password=hunter2"),
        ("x-signature", "3"),
        ("x-other-signature", "hunter2"),
    ]);
    worker.finish(id);
    assert_eq!(lines(&worker), ["/a?page_token=2&token=[redacted]&password=[redacted] 3 [redacted]"]);
}

#[test]
fn what_is_named_is_hidden_everywhere() {
    let mut worker = worker(&json!({
        "query": "keep",
        "redact": {"headers": ["X-Api-Key"], "query": ["Token"], "json": ["/a/*/secret"]},
        "capture": {"request": {}},
        "format": {"text": "%REQ(X-API-KEY)% %REQ(:PATH)% %PORTCULLIS(RECEIVED_PATH)% %PORTCULLIS(REQUEST_BODY)%"},
    }));
    let id = worker.open();
    let headers =
        [(":path", "/?t%6fken=hunter2"), ("x-api-key", "hunter2"), ("content-type", "application/json")];
    worker.request_headers(id, headers, false);
    let body = br#"{"a":[{"secret":"hunter2","b":1}],"token":"hunter2"}"#;
    worker.body(id, Direction::Request, body, true);
    worker.finish(id);
    assert_eq!(
        lines(&worker),
        [
            r#"[redacted] /?t%6fken=[redacted] /?t%6fken=[redacted] {"a":[{"secret":"[redacted]","b":1}],"token":"[redacted]"}"#
        ]
    );
}

/// A policy that lets credentials through (client-id does for exempt requests) has told their names to the chain.
#[test]
fn names_of_secrets_that_another_policy_looks_for_are_hidden() {
    let document = json!({
        "query": "keep",
        "capture": {"request": {"content_types": ["*/*"]}},
        "format": {"text": "%REQ(X-OWN-KEY)% %REQ(:PATH)% %PORTCULLIS(REQUEST_BODY)%"},
    });
    for chain in [
        Chain::new().then(Gate).then_configured::<AccessLog>(document.to_string().as_bytes()).unwrap(),
        Chain::new().then_configured::<AccessLog>(document.to_string().as_bytes()).unwrap().then(Gate),
    ] {
        let mut worker = Worker::start(chain).unwrap();
        let id = worker.open();
        let form = ("content-type", "application/x-www-form-urlencoded");
        let path = (":path", "/?own_key=hunter2");
        worker.request_headers(id, [path, ("x-own-key", "hunter2"), form], false);
        worker.body(id, Direction::Request, b"a=1&own_key=hunter2", true);
        worker.finish(id);
        let shown = worker.log_lines(Level::Debug).concat();
        assert!(shown.contains("[redacted]") && !shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn the_default_line_hides_named_parameters_when_it_keeps_the_query() {
    let mut worker = worker(&json!({"query": "keep", "redact": {"query": ["token"]}}));
    let id = worker.request([(":path", "/a?token=hunter2&b=1")]);
    worker.finish(id);
    assert!(lines(&worker)[0].contains(r#""path":"/a?token=[redacted]&b=1""#), "{:?}", lines(&worker));
}

#[test]
fn no_cut_of_a_body_shows_a_secret() {
    let body = br#"{"user":{"name":"a","password":"hunter2"},"cards":[{"number":"hunter2"}],"end":true}"#;
    for limit in 1..=body.len() {
        let mut worker = worker(&json!({
            "capture": {"request": {"max_bytes": limit}},
            "redact": {"json": ["/cards/*/number"]},
            "format": {"text": "%PORTCULLIS(REQUEST_BODY)%"},
        }));
        let id = worker.open();
        worker.request_headers(id, [("content-type", "application/json")], false);
        worker.body(id, Direction::Request, body, true);
        worker.finish(id);
        assert!(!lines(&worker)[0].contains("hunter"), "{limit}: {}", lines(&worker)[0]);
    }
}

/// A client that was redirected after an implicit grant may send what stood behind the `#`.
#[test]
fn a_fragment_is_a_query_to_every_mode_of_the_default_line() {
    for (query, expected) in [
        (json!("redacted"), "/a#[redacted]"),
        (json!("keep"), "/a#access_token=[redacted]&x=1"),
        (json!("drop"), "/a"),
    ] {
        let mut worker = worker(&json!({"query": query}));
        let id = worker.request([(":path", "/a#access_token=hunter2&x=1")]);
        worker.finish(id);
        let line: serde_json::Value = serde_json::from_str(&lines(&worker)[0]).unwrap();
        assert_eq!(line["path"], expected);
    }
}

#[test]
fn credentials_of_oauth_and_of_login_forms_are_hidden_in_every_spelling() {
    let names = "code code_verifier device_code token subject_token actor_token id_token_hint logout_token \
                 SAMLResponse new_password passwd pin otp accessToken client-secret clientSecret user.password \
                 user[password] ;jsessionid";
    for name in names.split_whitespace() {
        let mut worker = worker(&json!({"query": "keep", "capture": {"request": {}}}));
        let id = worker.open();
        let path = format!("/a?x=1&{name}=hunter2&y=2");
        let json_type = ("content-type", "application/json");
        worker.request_headers(id, [(":path", path.as_str()), json_type], false);
        let body = json!({"a": {name.trim_start_matches(';'): "hunter2"}, "b": 1}).to_string();
        worker.body(id, Direction::Request, body.as_bytes(), true);
        worker.finish(id);
        let line = lines(&worker).concat();
        assert!(!line.contains("hunter2") && line.contains("&y=2"), "{name}: {line}");
    }
}

#[test]
fn characters_that_change_how_a_text_reads_are_escaped() {
    let value = "a\u{202e}b\u{200b}c\u{2066}d\u{feff}";
    for (document, expected) in [
        (json!({"format": {"text": "%REQ(X-A)%"}}), r"a\u202eb\u200bc\u2066d\ufeff".to_owned()),
        (
            json!({"format": {"json": {"a": "%REQ(X-A)%"}}}),
            r#"{"a":"a\u202eb\u200bc\u2066d\ufeff"}"#.to_owned(),
        ),
    ] {
        let mut worker = worker(&document);
        let id = worker.request([("x-a", value)]);
        worker.finish(id);
        assert_eq!(lines(&worker), [expected]);
    }
}

//! A stock nginx with a password file does as an auth service.

use serde_json::json;

use crate::support::nginx::Nginx;
use crate::support::{Fields, Gateway, Http, per_request};

/// "s3cret" in the forms that nginx reads by itself, and in that of the C library.
const PASSWORDS: &str = "plain:{PLAIN}s3cret
sha:{SHA}/vNB+F2HQ559kaLUZbmHHvZrXpg=
apr1:$apr1$abcdefgh$M2T3erDstkD7SsE2QQnfH0
sha512:$6$abcdefgh$Z7KfoKnKTSZrzo5VZ0YubGLQOj9ov6sHo9TmE3zIU/LHKhpE30zCnZ0mcIXYf9r9rQ4DYaXoxAFSPFlcWdxjB.
";

#[test]
fn admits_and_refuses_by_the_password_file() {
    let Some(nginx) = Nginx::start("passwords", PASSWORDS) else { return };
    let gateway = Gateway::start(&per_request(json!({"cache": {"entries": 0}})), nginx.addr());
    for http in Http::BOTH {
        for id in ["plain", "sha", "apr1", "sha512"] {
            gateway.backend.clear();
            let good: Fields = &[("client_id", id.as_bytes()), ("client_secret", b"s3cret")];
            let bad: Fields = &[("client_id", id.as_bytes()), ("client_secret", b"S3cret")];

            assert_eq!(http.get(gateway.addr(), "/", good).status, 200, "{http:?} {id}");
            assert_eq!(http.get(gateway.addr(), "/", bad).status, 401, "{http:?} {id}");

            let requests = gateway.backend.requests();
            assert_eq!(requests.len(), 1);
            assert_eq!(requests[0].headers.text("x-portcullis-client-id").as_deref(), Some(id));
        }
        let stranger: Fields = &[("client_id", b"nobody"), ("client_secret", b"s3cret")];
        assert_eq!(http.get(gateway.addr(), "/", stranger).status, 401, "{http:?}");
    }
}

#[test]
fn is_an_outage_when_it_ends_and_no_longer_asked_while_its_answer_is_remembered() {
    let Some(nginx) = Nginx::start("ending", PASSWORDS) else { return };
    let gateway = Gateway::start(&per_request(json!({})), nginx.addr());
    let known: Fields = &[("client_id", b"plain"), ("client_secret", b"s3cret")];
    let unknown: Fields = &[("client_id", b"sha"), ("client_secret", b"s3cret")];
    for http in Http::BOTH {
        assert_eq!(http.get(gateway.addr(), "/", known).status, 200, "{http:?}");
    }

    drop(nginx);

    for http in Http::BOTH {
        assert_eq!(http.get(gateway.addr(), "/", known).status, 200, "{http:?}");
        assert_eq!(http.get(gateway.addr(), "/", unknown).status, 503, "{http:?}");
    }
}

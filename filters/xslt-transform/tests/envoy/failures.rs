//! Messages that cannot be transformed: the client is told, and the VM lives on.

use portcullis_testkit::envoy::{Backend, Cluster, Envoy, EnvoyConfig, PATIENCE, Reply};
use serde_json::json;

use crate::support::*;

#[test]
fn requests_are_refused_before_the_upstream_sees_anything_of_them() {
    let gateway = Gateway::start(&both(&json!({"stylesheet": swap()})));
    let large = vec![b' '; 2 << 20];
    for http in Http::BOTH {
        for (headers, body, status, code) in [
            (XML, &b"<a>"[..], 400, "malformed"),
            (&[("content-type", b"application/json")], b"{}", 415, "content_type"),
            (&[("content-type", b"text/xml"), ("content-encoding", b"gzip")], b"<a/>", 415, "encoded"),
            (&[("content-type", b"multipart/related")], b"--", 415, "multipart"),
            (XML, &large, 413, "too_large"),
        ] {
            let before = gateway.count(&format!("request.{code}"));
            let response = gateway.post(http, headers, body);
            assert_eq!(response.status, status, "{http:?} {code} {response:?}");
            assert!(response.text().contains("transformed") || code == "malformed", "{response:?}");
            assert_eq!(gateway.count(&format!("request.{code}")), before + 1, "{http:?} {code}");
        }
        let response = gateway.post(http, SOAP, b"<a>");
        assert!(response.text().contains("<faultcode>soapenv:Client</faultcode>"), "{response:?}");
    }
    assert_eq!(gateway.backend.count(), 0);
    for http in Http::BOTH {
        assert_eq!(gateway.post(http, XML, b"<a/>").text(), "<a/>", "and the next one passes");
    }
    gateway.assert_sound();
}

#[test]
fn responses_that_cannot_be_transformed_do_not_reach_the_client() {
    let gateway = Gateway::start(&json!({"response": {"stylesheet": swap()}}));
    for http in Http::BOTH {
        for (reply, code) in [
            (Reply::ok("<a>secret").header("content-type", "text/xml"), "malformed"),
            (Reply::ok("<a/>").header("content-type", "text/html"), "content_type"),
            (Reply::ok("x").header("content-type", "text/xml").header("content-encoding", "gzip"), "encoded"),
            (Reply::status(206).body("<a").header("content-type", "text/xml"), "partial"),
            (Reply::ok(vec![b' '; 2 << 20]).header("content-type", "text/xml"), "too_large"),
            (
                Reply::status(200).chunks(vec![vec![b' '; 100_000]; 20]).header("content-type", "text/xml"),
                "too_large",
            ),
        ] {
            gateway.backend.reply(reply);
            let before = gateway.count(&format!("response.{code}"));
            let response = gateway.post(http, SOAP, b"<x/>");
            // A body of more than Envoy holds is Envoy's to refuse, if it comes faster than it is looked at.
            let is_envoys = code == "too_large" && response.status == 500;
            assert!(response.status == 502 || is_envoys, "{http:?} {code} {response:?}");
            assert!(!response.text().contains("secret"), "{response:?}");
            if !is_envoys {
                assert!(response.text().contains("<faultcode>soapenv:Server</faultcode>"), "{response:?}");
                assert_eq!(gateway.count(&format!("response.{code}")), before + 1, "{http:?} {code}");
            }
        }
        gateway.backend.reply(Reply::ok("<a/>").header("content-type", "text/xml"));
        assert_eq!(gateway.post(http, SOAP, b"<x/>").text(), "<b/>");
    }
    gateway.assert_sound();
}

#[test]
fn what_may_pass_untransformed_passes_byte_for_byte() {
    let pass =
        json!({"malformed": "pass", "content_type": "pass", "stylesheet": "pass", "too_large": "pass"});
    let gateway = Gateway::start_with(|config| {
        let policy = json!({"request": {"stylesheet": swap(), "on_error": pass},
            "response": {"stylesheet": swap(), "on_error": pass}, "limits": {"max_bytes": 20_000}});
        config.filter(plugin(&policy, Flag::True))
    });
    let long = format!("<a>{}", "x".repeat(15_000));
    let larger = format!("<a>{}</a>", "x".repeat(300_000));
    for http in Http::BOTH {
        for (content_type, body) in [
            ("text/xml", "<a><b></a>"),
            ("application/json", "{}"),
            ("text/xml", &long),
            ("text/xml", &larger),
        ] {
            let response = gateway.post(http, &[("content-type", content_type.as_bytes())], body.as_bytes());
            assert_eq!(response.status, 200, "{http:?} {content_type}");
            assert!(response.text() == body);
            assert!(gateway.received().body == body.as_bytes());
        }
        // The same in pieces without a length.
        let mut request = http.begin(gateway.addr(), "POST", "/", XML, Body::Chunked);
        for piece in larger.as_bytes().chunks(7000) {
            request.send(piece).unwrap();
        }
        request.finish();
        assert!(request.response().unwrap().text() == larger);
        assert!(gateway.received().body == larger.as_bytes());
    }
    gateway.assert_sound();
}

/// Documents and stylesheets that would take a recursive engine's stack: the VM has 1 MiB of it.
#[test]
fn neither_deep_documents_nor_deep_recursion_end_the_vm() {
    let recursive = inline(
        "<xsl:output omit-xml-declaration='yes'/>\
         <xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates select='@*|node()'/></xsl:copy></xsl:template>\
         <xsl:template match='/for-ever'><xsl:call-template name='for-ever'/></xsl:template>\
         <xsl:template name='for-ever'><x><xsl:call-template name='for-ever'/></x></xsl:template>\
         <xsl:template match='/down'><xsl:call-template name='down'><xsl:with-param name='n' select='9000'/></xsl:call-template></xsl:template>\
         <xsl:template name='down'><xsl:param name='n'/><xsl:variable name='v'><v><xsl:value-of select='$n'/></v></xsl:variable>\
         <xsl:if test='$n &gt; 0'><x><xsl:call-template name='down'><xsl:with-param name='n' select='$n - 1'/></xsl:call-template></x></xsl:if>\
         </xsl:template>",
    );
    let policy = json!({"request": {"stylesheet": recursive}, "limits": {"max_depth": 1024}});
    let gateway = Gateway::start(&policy);
    let nested = |depth: usize| format!("{}{}", "<n>".repeat(depth), "</n>".repeat(depth)).into_bytes();
    for http in Http::BOTH {
        let deepest = nested(1024);
        let response = gateway.post(http, XML, &deepest);
        assert_eq!(response.status, 200);
        assert!(canonical_of_deep(&response.body) == 1024);
        assert_eq!(gateway.post(http, XML, &nested(1025)).status, 400);
        assert_eq!(gateway.post(http, XML, b"<for-ever/>").status, 500);
        assert_eq!(gateway.post(http, XML, b"<down/>").status, 200);
        assert_eq!(gateway.post(http, XML, b"<a/>").text(), "<a/>", "the VM lives");
    }
    let line = gateway.envoy.wait_for_log(PATIENCE, |line| line.contains("stylesheet failed"));
    assert!(line.contains("more than 10000 templates inside one another"), "{line}");
    gateway.assert_sound();
}

/// How many elements are within one another.
fn canonical_of_deep(document: &[u8]) -> usize {
    String::from_utf8(document.to_vec()).unwrap().matches("<n").count()
}

#[test]
fn forged_identities_reach_no_stylesheet() {
    let stylesheet = inline(
        "<xsl:output omit-xml-declaration='yes'/><xsl:param name='client' select=\"'nobody'\"/>\
         <xsl:template match='/'><c><xsl:value-of select='$client'/></c></xsl:template>",
    );
    let policy = json!({"request": {"stylesheet": stylesheet, "parameters": {"client": "client-id"}}});
    let gateway = Gateway::start(&policy);
    let headers: Fields = &[("content-type", b"text/xml"), ("x-portcullis-client-id", b"root")];
    for http in Http::BOTH {
        assert_eq!(gateway.post(http, headers, b"<a/>").text(), "<c>nobody</c>");
    }
}

/// Envoy follows a redirect by itself, and sends what its filters have made of the request through all of them again.
#[test]
fn a_request_that_envoy_redirects_is_transformed_once_or_refused() {
    for (on_error, status) in [(json!({}), 500), (json!({"redirected": "pass"}), 200)] {
        let policy = json!({"request": {"stylesheet": swap(), "on_error": on_error}});
        let backend = Backend::start();
        let config = EnvoyConfig::new()
            .cluster(Cluster::http1("echo", backend.addr()))
            .filter(plugin(&policy, Flag::True))
            .route(json!({"match": {"prefix": "/"}, "route": {
                "cluster": "echo", "internal_redirect_policy": {"redirect_response_codes": [307]},
            }}));
        let gateway = Gateway { envoy: Envoy::start(&config), backend };
        let elsewhere = format!("http://{}/elsewhere", gateway.addr());
        gateway.backend.reply_with(move |request| {
            if request.path == "/elsewhere" {
                return echo(request);
            }
            Reply::status(307).header("location", &elsewhere)
        });
        for http in Http::BOTH {
            gateway.backend.clear();
            let response = gateway.post(http, XML, b"<a/>");
            assert_eq!(response.status, status, "{http:?} {response:?}");
            let requests = gateway.backend.requests();
            assert_eq!(requests.len(), if status == 200 { 2 } else { 1 }, "{http:?}");
            assert!(requests.iter().all(|request| request.body == b"<b/>"), "{http:?} {requests:?}");
        }
        assert_eq!(gateway.count("request.redirected"), 2);
        gateway.assert_sound();
    }
}

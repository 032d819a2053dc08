//! What lies in Envoy, and how much of it there may be.

use portcullis_testkit::envoy::{PATIENCE, Reply, wait_until};
use serde_json::json;

use crate::support::*;

/// Bodies and results of up to what Envoy is told to hold.
#[test]
fn messages_as_large_as_the_limits_allow_are_transformed() {
    let policy = json!({"request": {"stylesheet": swap()}, "response": {"stylesheet": swap()},
        "limits": {"max_bytes": 3_000_000, "max_output_bytes": 3_000_000, "max_nodes": 1_000_000}});
    let gateway =
        Gateway::start_with(|config| config.buffer_limit(4 << 20).filter(plugin(&policy, Flag::True)));
    let body = format!("<r>{}</r>", "<a>some text that is not too short</a>".repeat(70_000));
    assert!(body.len() > 2_500_000);
    for http in Http::BOTH {
        let response = gateway.post(http, XML, body.as_bytes());
        assert_eq!(response.status, 200, "{http:?}");
        assert!(response.body == body.as_bytes());
        assert!(gateway.received().body.starts_with(b"<r><b>"));
    }
    gateway.assert_sound();
}

/// A result that is larger than what Envoy may hold is Envoy's to refuse: it does so while the policy puts it there, and
/// nothing of the message goes on.
#[test]
fn results_larger_than_envoy_s_buffers_are_refused_and_the_vm_lives() {
    let growing = inline(
        "<xsl:output omit-xml-declaration='yes'/>\
         <xsl:template match='/r'><r><xsl:for-each select='a'><xsl:copy-of select='/r'/></xsl:for-each></r></xsl:template>\
         <xsl:template match='/s'><s/></xsl:template>",
    );
    for (side, refused) in [("request", 413), ("response", 500)] {
        let policy = json!({side: {"stylesheet": growing}});
        let gateway =
            Gateway::start_with(|config| config.buffer_limit(32 << 10).filter(plugin(&policy, Flag::True)));
        let body = format!("<r>{}</r>", "<a>0123456789</a>".repeat(60));
        for http in Http::BOTH {
            for chunked in [false, true] {
                gateway.backend.clear();
                if side == "response" {
                    let reply = Reply::status(200).header("content-type", "text/xml");
                    gateway.backend.reply(if chunked {
                        reply.chunks(body.as_bytes().chunks(300).map(<[u8]>::to_vec))
                    } else {
                        reply.body(body.clone())
                    });
                }
                let shape = if chunked { Body::Chunked } else { Body::Length(body.len()) };
                let mut request = http.begin(gateway.addr(), "POST", "/", XML, shape);
                for piece in body.as_bytes().chunks(300) {
                    request.send(piece).unwrap();
                }
                request.finish();
                let response = request.response().unwrap();
                // All that came in one piece is not held, and so has no limit.
                let went_on = response.status == 200 && response.body.len() > 60_000
                    || side == "request"
                        && gateway.backend.requests().iter().any(|got| got.body.len() > 60_000);
                assert!(response.status == refused || went_on, "{side} {http:?} {chunked} {response:?}");
                assert!(went_on || side == "response" || gateway.backend.count() == 0, "{http:?} {chunked}");

                if side == "response" {
                    gateway.backend.reply(Reply::ok("<s/>").header("content-type", "text/xml"));
                }
                let next = gateway.post(http, XML, b"<s/>");
                assert_eq!((next.status, next.text()), (200, "<s/>".to_owned()), "{side} {http:?} {chunked}");
            }
        }
        gateway.assert_sound();
    }
}

/// Each takes some ten times its bytes of the VM's memory, of which Envoy gives 1 GiB: together they would end it.
#[test]
fn many_stalled_messages_are_refused_before_they_end_the_vm() {
    let gateway = Gateway::start_with(|config| {
        config.workers(1).filter(plugin(&json!({"request": {"stylesheet": swap()}}), Flag::True))
    });
    let body = format!("<a>{}", "<a/>".repeat(240_000));
    for http in Http::BOTH {
        let before = gateway.count("request.busy");
        let mut stalled = Vec::new();
        for _ in 0..120 {
            let mut request = http.begin(gateway.addr(), "POST", "/", XML, Body::Chunked);
            for piece in body.as_bytes().chunks(64 << 10) {
                if request.send(piece).is_err() {
                    break;
                }
            }
            stalled.push(request);
        }
        let refused = || gateway.count("request.busy") - before;
        wait_until("refusals", PATIENCE, || refused() > 20);
        assert!(refused() < 120, "some are held");
        // Each time one is let in or not, the VM is the same.
        let response = stalled.pop().unwrap().response().unwrap();
        assert_eq!(response.status, 503, "{response:?}");
        for request in stalled {
            request.abort();
        }
        wait_until("the memory to be given back", PATIENCE, || {
            gateway.post(http, XML, b"<a/>").text() == "<b/>"
        });
    }
    assert!(gateway.backend.requests().iter().all(|request| request.body == b"<b/>"));
    gateway.assert_sound();
}

//! JSON documents that readers take in different ways.

use crate::gateway::Gateway;
use crate::reader::Reader;
use crate::rule::Mode;
use crate::tally::Tally;

/// Documents that say which task is asked for. In `task` are an `s` and a `k`, which U+017F and U+212A fold to.
const DOCUMENTS: &[&[u8]] = &[
    br#"{"task":"user"}"#,
    br#"{"task":"admin"}"#,
    br#"{"task":"something"}"#,
    br#"{"x":"admin"}"#,
    // Duplicates.
    br#"{"task":"user","task":"admin"}"#,
    br#"{"task":"admin","task":"user"}"#,
    br#"{"task":"user","task":null}"#,
    br#"{"x":{"task":"admin"},"task":"user"}"#,
    // Names of another case.
    br#"{"task":"user","TASK":"admin"}"#,
    br#"{"TASK":"admin","task":"user"}"#,
    br#"{"Task":"admin"}"#,
    br#"{"task":"user","ta\u017fk":"admin"}"#,
    br#"{"task":"user","tas\u212a":"admin"}"#,
    "{\"task\":\"user\",\"ta\u{17f}\u{212a}\":\"admin\"}".as_bytes(),
    "{\"ta\u{17f}k\":\"admin\"}".as_bytes(),
    br#"{"tas\u212A":"admin"}"#,
    // Escapes.
    br#"{"\u0074ask":"admin"}"#,
    br#"{"task":"\u0061dmin"}"#,
    br#"{"task":"user","\u0074\u0061sk":"admin"}"#,
    br#"{"task":"user","task\u0000":"admin"}"#,
    br#"{"task":"user","\u0000task":"admin"}"#,
    br#"{"task":"admin\u0000"}"#,
    br#"{"task":"admin","x":"\ud800"}"#,
    br#"{"task":"user","\udc00":"admin"}"#,
    br#"{"task":"user","task\ud800":"admin"}"#,
    br#"{"task":"\ud800admin"}"#,
    br#"{"task":"\x61dmin"}"#,
    // Marks, white space, other encodings.
    b"\xef\xbb\xbf{\"task\":\"admin\"}",
    b"\xff\xfe{\0\"\0t\0a\0s\0k\0\"\0:\0\"\0a\0d\0m\0i\0n\0\"\0}\0",
    b"{\0\"\0t\0a\0s\0k\0\"\0:\0\"\0a\0d\0m\0i\0n\0\"\0}\0",
    b"\r\n\t {\"task\" : \"admin\"}\r\n",
    b"\x0c{\"task\":\"admin\"}",
    b"{\"task\":\"admin\"}\0",
    b"{\"task\":\"ad\nmin\"}",
    b"{\"task\":\"user\",\"ta\xffsk\":\"admin\"}",
    b"{\"task\":\"user\",\"x\":\"\xff\"}",
    b"{\"task\":\"user\",\"tas\xc1\xab\":\"admin\"}",
    // Numbers.
    br#"{"task":"user","n":1e400}"#,
    br#"{"task":"admin","n":-1E-99999}"#,
    br#"{"task":"admin","n":123456789012345678901234567890}"#,
    br#"{"task":1e400}"#,
    br#"{"task":9007199254740993}"#,
    br#"{"task":"user","n":01}"#,
    br#"{"task":"user","n":+1}"#,
    br#"{"task":"user","n":.5}"#,
    br#"{"task":"user","n":NaN}"#,
    br#"{"task":"user","n":-Infinity}"#,
    // What some take for JSON.
    br#"{"task":"admin",}"#,
    br#"{'task':'admin'}"#,
    br#"{task:"admin"}"#,
    br#"{"task":"user"}{"task":"admin"}"#,
    br#"{"task":"user"} "admin""#,
    br#"{"task":"user"/*,"task":"admin"*/}"#,
    b"{\"task\":\"user\"//\n,\"task\":\"admin\"\n}",
    // Other shapes.
    br#"[{"task":"admin"}]"#,
    br#"{"task":["admin"]}"#,
    br#"{"task":{"task":"admin"}}"#,
    br#"{"task":null}"#,
    br#"{"task":true}"#,
    br#""admin""#,
    br#"{"":"admin","task":"user"}"#,
    br#"{"__proto__":{"task":"admin"}}"#,
];

pub(crate) fn run(reader: &Reader, gateway: &Gateway, tally: &mut Tally) {
    let deep = format!("{{\"task\":\"admin\",\"x\":{}1{}}}", "[".repeat(600), "]".repeat(600));
    let deeper = format!("{{\"task\":\"admin\",\"x\":{}1{}}}", "[".repeat(20_000), "]".repeat(20_000));
    let generated = [deep.as_bytes(), deeper.as_bytes()];
    for document in DOCUMENTS.iter().copied().chain(generated) {
        let case = || document.get(..100).unwrap_or(document).escape_ascii().to_string();
        let fields = [Mode::Enforced.credentials(), &[("content-type", b"application/json")]].concat();
        let fate = gateway.request(reader, "POST", Mode::Enforced.path(), &fields, document);
        let Some(seen) = fate.seen else {
            tally.cell(None, None, case);
            continue;
        };
        let routes = seen.header("x-portcullis-route");
        let acts = seen.acts();
        if acts.is_empty() {
            // The reader refuses the document, whatever the route.
            tally.cell(None, None, case);
        }
        for (view, act) in acts {
            // No route would be none of the default either.
            let route = routes.first().copied().unwrap_or("none");
            tally.cell(Some(&[act]), Some(route), || {
                format!("JSON {} is read ({view}), routed {route}", case())
            });
        }
    }
}

//! Node's http.

use super::installed;
use crate::reader::{Plan, Reader, run};

pub(super) fn start() -> Option<Reader> {
    let [node] = installed(["node"])?;
    let plan = Plan { name: "node-http", reads_queries: true, reads_json: true };
    Some(plan.start(|folder, addr| {
        let program = folder.copy("http.mjs");
        vec![run(&node, |command| {
            command.arg(&program).arg(addr.port().to_string());
        })]
    }))
}

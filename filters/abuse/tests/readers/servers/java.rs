//! Java's com.sun.net.httpserver.HttpServer.

use super::installed;
use crate::reader::{Plan, Reader, run};

pub(super) fn start() -> Option<Reader> {
    // With a compiler, which runs the source.
    let [java, _] = installed(["java", "javac"])?;
    let plan = Plan { name: "java-httpserver", reads_queries: false, reads_json: false };
    Some(plan.start(|folder, addr| {
        let program = folder.copy("Reader.java");
        vec![run(&java, |command| {
            command.args(["-XX:TieredStopAtLevel=1", "-Xmx64m"]).arg(&program).arg(addr.port().to_string());
        })]
    }))
}

//! Python's wsgiref.

use super::installed;
use crate::reader::{Plan, Reader, run};

pub(super) fn start() -> Option<Reader> {
    let [python] = installed(["python3"])?;
    let plan = Plan { name: "python-wsgiref", reads_queries: true, reads_json: true };
    Some(plan.start(|folder, addr| {
        let program = folder.copy("wsgi.py");
        vec![run(&python, |command| {
            command.arg("-IB").arg(&program).arg(addr.port().to_string());
        })]
    }))
}

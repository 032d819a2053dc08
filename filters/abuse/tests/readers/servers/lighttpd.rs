//! lighttpd, which runs CGI programs.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use portcullis_testkit::envoy::Program;

use super::installed;
use crate::reader::{Folder, Plan, Reader, run};

/// lighttpd with a CGI program.
pub(super) fn cgi() -> Option<Reader> {
    let [lighttpd, _] = installed(["lighttpd", "python3"])?;
    let plan = Plan { name: "lighttpd-cgi", reads_queries: false, reads_json: false };
    Some(plan.start(|folder, addr| {
        let program = folder.copy("show.cgi");
        vec![start(&lighttpd, folder, addr, &program, "")]
    }))
}

/// Starts lighttpd, which runs `program` by this interpreter, or by itself, for each request. PHP starts
/// faster without the extensions that it finds by default.
pub(super) fn start(
    lighttpd: &Path,
    folder: &Folder,
    addr: SocketAddr,
    program: &Path,
    interpreter: &str,
) -> Program {
    let (root, program, port) = (folder.path().display(), program.display(), addr.port());
    let text = format!(
        "server.modules = ( \"mod_alias\", \"mod_setenv\", \"mod_cgi\" )
         server.bind = \"127.0.0.1\"
         server.port = {port}
         server.document-root = \"{root}\"
         server.upload-dirs = ( \"{root}\" )
         server.errorlog = \"/dev/null\"
         alias.url = ( \"/public\" => \"{program}\", \"/api\" => \"{program}\" )
         setenv.add-environment = ( \"PHP_INI_SCAN_DIR\" => \"{root}\" )
         cgi.assign = ( \"\" => \"{interpreter}\" )\n"
    );
    let conf = folder.write("lighttpd.conf", &text);
    run(lighttpd, |command| {
        command.arg("-D").arg("-f").arg(conf).stdout(Stdio::null()).stderr(Stdio::null());
    })
}

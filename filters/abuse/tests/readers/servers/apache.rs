//! Apache httpd, which runs CGI programs.

use std::path::Path;
use std::process::Stdio;

use super::installed;
use crate::reader::{Plan, Reader, run};

/// Where Debian keeps its modules.
const MODULES: &str = "/usr/lib/apache2/modules";

/// httpd with a CGI program. It is told to merge trailers into headers, which it does not do by itself.
pub(super) fn cgi() -> Option<Reader> {
    let [httpd, _] = installed(["apache2", "python3"])?;
    if !Path::new(MODULES).is_dir() {
        return None;
    }
    let plan = Plan { name: "apache-cgi", reads_queries: false, reads_json: false };
    Some(plan.start(|folder, addr| {
        let (root, program) = (folder.path().display(), folder.copy("show.cgi"));
        let program = program.display();
        let modules: String = ["mpm_prefork", "authz_core", "alias", "cgi"]
            .iter()
            .map(|name| format!("LoadModule {name}_module {MODULES}/mod_{name}.so\n"))
            .collect();
        let text = format!(
            "{modules}
             ServerRoot {root}
             DefaultRuntimeDir {root}
             PidFile {root}/pid
             Listen {addr}
             ServerName gateway.test
             ErrorLog /dev/null
             KeepAlive Off
             MergeTrailers On
             ScriptAlias /public {program}
             ScriptAlias /api {program}
             <Directory {root}>
                 Require all granted
             </Directory>\n"
        );
        let conf = folder.write("httpd.conf", &text);
        // One process, so that to kill it is to end httpd.
        vec![run(&httpd, |command| {
            command.arg("-X").arg("-f").arg(conf).stdout(Stdio::null()).stderr(Stdio::null());
        })]
    }))
}

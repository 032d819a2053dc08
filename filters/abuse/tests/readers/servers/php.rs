//! PHP.

use super::{installed, lighttpd, nginx};
use crate::reader::{Plan, Reader, run, wait_for_socket};

/// php-cgi as a FastCGI server behind nginx.
pub(super) fn fastcgi() -> Option<Reader> {
    let [nginx, php] = installed(["nginx", "php-cgi"])?;
    let plan = Plan { name: "php-fastcgi", reads_queries: true, reads_json: true };
    Some(plan.start(|folder, addr| {
        let (program, socket) = (folder.copy("show.php"), folder.file("socket"));
        let server = run(&php, |command| {
            command.arg("-b").arg(&socket).env("PHP_FCGI_MAX_REQUESTS", "0");
        });
        let server = wait_for_socket(server, &socket);
        vec![nginx::start(&nginx, folder, addr, &nginx::fastcgi_pass(&socket, &program)), server]
    }))
}

/// php-cgi, run by lighttpd for each request. It is told that `;` separates parameters too.
pub(super) fn cgi() -> Option<Reader> {
    let [lighttpd, php] = installed(["lighttpd", "php-cgi"])?;
    let plan = Plan { name: "php-cgi", reads_queries: true, reads_json: true };
    Some(plan.start(|folder, addr| {
        folder.write(".user.ini", "arg_separator.input = \"&;\"\n");
        let program = folder.copy("show.php");
        vec![lighttpd::start(&lighttpd, folder, addr, &program, &php.display().to_string())]
    }))
}

/// The server that comes with PHP.
pub(super) fn own_server() -> Option<Reader> {
    let [php] = installed(["php"])?;
    let plan = Plan { name: "php-server", reads_queries: true, reads_json: true };
    Some(plan.start(|folder, addr| {
        let program = folder.copy("show.php");
        vec![run(&php, |command| {
            command.args(["-q", "-S", &addr.to_string()]).arg(&program).stderr(std::process::Stdio::null());
        })]
    }))
}

//! nginx, which makes parameters of FastCGI and of uwsgi out of headers.

use std::net::SocketAddr;
use std::path::Path;

use portcullis_testkit::envoy::Program;

use super::installed;
use crate::reader::{Folder, Plan, Reader, run, wait_for_socket};

/// nginx before fcgiwrap, which runs a CGI program with the parameters as its environment.
pub(super) fn fastcgi() -> Option<Reader> {
    let [nginx, fcgiwrap, _] = installed(["nginx", "fcgiwrap", "python3"])?;
    let plan = Plan { name: "nginx-fastcgi", reads_queries: false, reads_json: false };
    Some(plan.start(|folder, addr| {
        let (program, socket) = (folder.copy("show.cgi"), folder.file("socket"));
        let wrapper = run(&fcgiwrap, |command| {
            command.arg("-s").arg(format!("unix:{}", socket.display()));
        });
        let wrapper = wait_for_socket(wrapper, &socket);
        vec![start(&nginx, folder, addr, &fastcgi_pass(&socket, &program)), wrapper]
    }))
}

/// nginx before uwsgi, which runs a CGI program with the parameters as its environment.
pub(super) fn uwsgi() -> Option<Reader> {
    let [nginx, uwsgi, _] = installed(["nginx", "uwsgi", "python3"])?;
    let plan = Plan { name: "nginx-uwsgi", reads_queries: false, reads_json: false };
    Some(plan.start(|folder, addr| {
        let (program, socket) = (folder.copy("show.cgi"), folder.file("socket"));
        let server = run(&uwsgi, |command| {
            command.args(["--plugins", "cgi", "--disable-logging", "--logto", "/dev/null", "--uwsgi-socket"]);
            command.arg(&socket).arg("--cgi").arg(&program);
        });
        let server = wait_for_socket(server, &socket);
        let location = format!(
            "uwsgi_pass unix:{};
             uwsgi_modifier1 9;
             uwsgi_param REQUEST_METHOD $request_method;
             uwsgi_param REQUEST_URI $request_uri;
             uwsgi_param PATH_INFO $document_uri;
             uwsgi_param QUERY_STRING $query_string;
             uwsgi_param CONTENT_LENGTH $content_length;
             uwsgi_param SERVER_PROTOCOL $server_protocol;
             {}",
            socket.display(),
            variables("uwsgi_param"),
        );
        vec![start(&nginx, folder, addr, &location), server]
    }))
}

/// What a location needs to hand requests to a FastCGI server behind this socket, which runs `program`.
pub(super) fn fastcgi_pass(socket: &Path, program: &Path) -> String {
    format!(
        "fastcgi_pass unix:{};
         fastcgi_param GATEWAY_INTERFACE CGI/1.1;
         fastcgi_param REDIRECT_STATUS 200;
         fastcgi_param SCRIPT_FILENAME {};
         fastcgi_param REQUEST_METHOD $request_method;
         fastcgi_param REQUEST_URI $request_uri;
         fastcgi_param QUERY_STRING $query_string;
         fastcgi_param CONTENT_TYPE $content_type;
         fastcgi_param CONTENT_LENGTH $content_length;
         fastcgi_param SERVER_PROTOCOL $server_protocol;
         {}",
        socket.display(),
        program.display(),
        variables("fastcgi_param"),
    )
}

/// Parameters from nginx's own variables, under the names of the headers that the reader is asked for.
fn variables(directive: &str) -> String {
    crate::rule::IDENTITY
        .iter()
        .map(|name| format!("{directive} {name} $http_{} if_not_empty;\n", name.replace('-', "_")))
        .collect()
}

/// Starts nginx with this location. It is told to pass all headers on, which it does not do by itself.
pub(super) fn start(nginx: &Path, folder: &Folder, addr: SocketAddr, location: &str) -> Program {
    // One process, so that to kill it is to end nginx.
    let text = format!(
        "daemon off;
         master_process off;
         pid pid;
         events {{}}
         http {{
             access_log off;
             error_log stderr crit;
             client_body_temp_path body;
             proxy_temp_path proxy;
             fastcgi_temp_path fastcgi;
             uwsgi_temp_path uwsgi;
             scgi_temp_path scgi;
             server {{
                 listen {addr};
                 underscores_in_headers on;
                 ignore_invalid_headers off;
                 location / {{ {location} }}
             }}
         }}\n"
    );
    folder.write("conf", &text);
    run(nginx, |command| {
        command.arg("-p").arg(folder.path()).args(["-c", "conf", "-e", "stderr"]);
    })
}

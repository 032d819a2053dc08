//! Stock nginx as an auth service, and as a cache.

use std::env;
use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use portcullis_testkit::envoy::{PATIENCE, wait_for};

/// With this in the environment, a missing nginx fails the tests that need it instead of skipping them.
const REQUIRE: &str = "PORTCULLIS_REQUIRE_NGINX";

/// A running nginx, which ends when dropped.
pub(crate) struct Nginx {
    process: Child,
    addr: SocketAddr,
    prefix: PathBuf,
}

impl Nginx {
    /// Starts nginx with these lines as its password file; it serves one file, `/verify`, to those who are in there.
    /// `None` where it is not installed.
    ///
    /// The location serves a file: with `return 204` it would admit everybody, for nginx runs `return` before it
    /// looks at passwords.
    #[track_caller]
    pub(crate) fn start(name: &str, passwords: &str) -> Option<Self> {
        Self::serving(
            name,
            passwords,
            "location = /verify { auth_basic clients; auth_basic_user_file passwords; }",
        )
    }

    /// Starts nginx as a shared cache in front of this server. `x-cache` says in its responses where they come from: HIT
    /// or MISS. `None` where it is not installed.
    #[track_caller]
    pub(crate) fn cache(name: &str, origin: SocketAddr) -> Option<Self> {
        Self::serving(
            name,
            "",
            &format!(
                "underscores_in_headers on;
                 location / {{
                     proxy_http_version 1.1;
                     proxy_pass http://{origin};
                     proxy_cache shared;
                     add_header x-cache $upstream_cache_status always;
                 }}"
            ),
        )
    }

    #[track_caller]
    fn serving(name: &str, passwords: &str, server: &str) -> Option<Self> {
        let Some(binary) = binary() else {
            assert!(env::var_os(REQUIRE).is_none(), "{REQUIRE} is set, but nginx is not installed");
            // Past the test harness, which hides what passing tests print.
            let _ = writeln!(std::io::stderr(), "skipped, for nginx is not installed: {name} of client-id");
            return None;
        };
        // nginx cannot choose a port, and one that is free now may be taken when it comes to listen.
        let started = (0..5).find_map(|_| Self::try_start(&binary, name, passwords, server));
        Some(started.expect("nginx starts; see its messages above"))
    }

    /// `None` when nginx ends instead of listening.
    fn try_start(binary: &Path, name: &str, passwords: &str, server: &str) -> Option<Self> {
        let addr = free_port();
        let prefix = env::temp_dir().join(format!("portcullis-nginx-{name}-{}", std::process::id()));
        fs::create_dir_all(&prefix).expect("a directory for nginx");
        for (file, text) in [
            ("passwords", passwords.to_owned()),
            ("verify", "yes\n".to_owned()),
            ("conf", conf(addr, server)),
        ] {
            fs::write(prefix.join(file), text).expect("a file for nginx");
        }
        let process = Command::new(binary)
            .arg("-p")
            .arg(&prefix)
            .args(["-c", "conf", "-e", "stderr"])
            .stdin(Stdio::null())
            .spawn()
            .expect("nginx can be run");
        let mut nginx = Self { process, addr, prefix };
        wait_for("nginx listens or ends", PATIENCE, || {
            // It writes the file when it has its port.
            let listens = nginx.prefix.join("pid").exists();
            let runs = matches!(nginx.process.try_wait(), Ok(None));
            (listens || !runs).then_some(listens && runs)
        })
        .then_some(nginx)
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.prefix);
    }
}

/// One process, so that to kill it is to end nginx, and so that it reads its files as the user who wrote them.
fn conf(addr: SocketAddr, server: &str) -> String {
    format!(
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
             proxy_cache_path cache keys_zone=shared:1m;
             server {{
                 listen {addr};
                 root .;
                 {server}
             }}
         }}\n"
    )
}

fn binary() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Debian keeps it where only root's PATH leads.
    env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin")])
        .map(|folder| folder.join("nginx"))
        .find(|candidate| candidate.is_file())
}

fn free_port() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("a bound address")
}

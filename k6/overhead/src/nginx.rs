//! Stock nginx as a reverse proxy, alone and with its XSLT module.

use std::env;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use portcullis_transform_workloads::Sheet;

/// Debian's package `libnginx-mod-http-xslt-filter`.
const MODULE: &str = "ngx_http_xslt_filter_module.so";

const PATIENCE: Duration = Duration::from_secs(10);

/// A reverse proxy, and what it does to replies.
#[derive(Debug, Clone)]
pub struct NginxConfig {
    pub upstream: SocketAddr,
    /// None to pass replies on as they come.
    pub transformation: Option<&'static Sheet>,
}

/// A running nginx, stopped when dropped.
pub struct Nginx {
    process: Child,
    addr: SocketAddr,
    prefix: PathBuf,
}

impl Nginx {
    /// # Errors
    /// When it does not start: it is not installed, say, or lacks the module.
    pub fn start(config: &NginxConfig) -> Result<Self, String> {
        let binary = binary().ok_or("nginx is not installed; Debian has it in `nginx-light`")?;
        // It cannot choose a port, and one that is free now may be taken when it comes to listen.
        (0..5)
            .find_map(|_| Self::try_start(&binary, config).transpose())
            .unwrap_or_else(|| Err("nginx does not start; its messages are above".to_owned()))
    }

    /// `None` when nginx ends instead of listening.
    fn try_start(binary: &Path, config: &NginxConfig) -> Result<Option<Self>, String> {
        let said = |error: std::io::Error| error.to_string();
        let module = config.transformation.map(|_| module(binary)).transpose()?;
        let addr =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|port| port.local_addr()).map_err(said)?;
        let prefix =
            env::temp_dir().join(format!("portcullis-overhead-{}-{}", std::process::id(), addr.port()));
        fs::create_dir_all(&prefix).map_err(said)?;
        fs::write(prefix.join("conf"), text(config, addr, module.as_deref())).map_err(said)?;
        if let Some(sheet) = config.transformation {
            fs::write(prefix.join("sheet.xsl"), sheet.text).map_err(said)?;
        }
        let process = Command::new(binary)
            .arg("-p")
            .arg(&prefix)
            .args(["-c", "conf", "-e", "stderr"])
            .stdin(Stdio::null())
            .spawn()
            .map_err(said)?;
        let mut nginx = Self { process, addr, prefix };
        let start = Instant::now();
        // It writes the file when it has its port.
        while !nginx.prefix.join("pid").exists() {
            if nginx.process.try_wait().map_err(said)?.is_some() || start.elapsed() > PATIENCE {
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(Some(nginx))
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
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

/// One process that does what a worker does, so that its CPU time is all there is, and to kill it is to end nginx.
/// Connections to the upstream are kept, as Envoy keeps them; a reply of any size that is measured fits into the
/// buffers, and nothing is written to disk.
fn text(config: &NginxConfig, addr: SocketAddr, module: Option<&Path>) -> String {
    let load = module.map(|module| format!("load_module {};", module.display())).unwrap_or_default();
    let transform = config.transformation.map(transform).unwrap_or_default();
    let upstream = config.upstream;
    format!(
        "daemon off;
         master_process off;
         pid pid;
         {load}
         events {{ worker_connections 1024; }}
         http {{
             access_log off;
             error_log stderr error;
             client_body_temp_path body;
             proxy_temp_path proxy;
             fastcgi_temp_path fastcgi;
             uwsgi_temp_path uwsgi;
             scgi_temp_path scgi;
             keepalive_requests 1000000000;
             keepalive_timeout 1h;
             tcp_nodelay on;
             upstream backend {{
                 server {upstream};
                 keepalive 64;
                 keepalive_requests 1000000000;
                 keepalive_timeout 1h;
             }}
             server {{
                 listen {addr};
                 location / {{
                     proxy_pass http://backend;
                     proxy_http_version 1.1;
                     proxy_set_header Connection '';
                     proxy_buffer_size 16k;
                     proxy_buffers 32 16k;
                     proxy_busy_buffers_size 256k;
                     proxy_max_temp_file_size 0;
                     {transform}
                 }}
             }}
         }}\n"
    )
}

fn transform(sheet: &Sheet) -> String {
    // As strings, not as XPath expressions.
    let parameters: String = sheet
        .parameters
        .iter()
        .map(|(name, value)| format!(" xslt_string_param {name} \"{value}\";"))
        .collect();
    format!("xslt_stylesheet sheet.xsl;{parameters}")
}

fn binary() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Debian keeps it where only root's PATH leads.
    env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin")])
        .map(|folder| folder.join("nginx"))
        .find(|candidate| candidate.is_file())
}

/// The file of the XSLT module, in the folder that nginx was built to take modules from.
fn module(binary: &Path) -> Result<PathBuf, String> {
    let output = Command::new(binary).arg("-V").output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let folder = text.split_whitespace().find_map(|word| word.strip_prefix("--modules-path="));
    let module = Path::new(folder.unwrap_or("/usr/lib/nginx/modules")).join(MODULE);
    if module.is_file() {
        Ok(module)
    } else {
        let package = "Debian has it in `libnginx-mod-http-xslt-filter`";
        Err(format!("{}: not there; {package}", module.display()))
    }
}

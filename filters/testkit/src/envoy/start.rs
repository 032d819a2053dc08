//! From a configuration to a process that serves.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::thread::JoinHandle;

use super::admin::Admin;
use super::config::{Delivery, EnvoyConfig, Generation};
use super::files::Files;
use super::logs::{Logs, Source};
use super::paths::envoy_binary;
use super::spawn::{mortal_command, spawn};
use super::wait::{PATIENCE, poll};

/// Counts one for each listener on each worker that has begun to accept with it.
pub(super) const LISTENERS_CREATED: &str = "listener_manager.listener_create_success";

/// Moves into the control group, takes more descriptors if it may, and becomes what is asked for: all that the process takes
/// is counted there from its beginning.
const ENTER: &str = r#"echo $$ >"$0/cgroup.procs" && { ulimit -n 20000 || true; } 2>/dev/null && exec "$@""#;

/// Why Envoy did not start.
#[derive(Debug, Clone)]
pub struct StartError {
    /// What happened, in a few words.
    pub reason: String,
    /// The end of Envoy's log, where it says why.
    pub log: String,
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Envoy did not start: {}\n{}", self.reason, self.log)
    }
}

impl std::error::Error for StartError {}

/// An Envoy process. It is killed, and waited for, when dropped.
pub(super) struct Process {
    child: Child,
    readers: Vec<JoinHandle<()>>,
    workers: u64,
    pub(super) logs: Logs,
    pub(super) files: Files,
}

impl Process {
    /// Writes the configuration and starts Envoy with it; returns without waiting for it.
    pub(super) fn spawn(config: &EnvoyConfig) -> io::Result<Self> {
        let files = Files::create()?;
        let bootstrap = match &config.text {
            Some(text) => {
                fs::write(files.bootstrap_text(), text)?;
                files.bootstrap_text()
            }
            None => {
                files.write(&files.bootstrap(), &config.render_bootstrap(&files.xds()))?;
                files.bootstrap()
            }
        };
        if config.delivery == Delivery::Files {
            files.write(files.xds().clusters, &config.render_cds())?;
            files.write(files.xds().listeners, &config.render_lds(0))?;
        }
        let mut command = match &config.container {
            Some(folder) => {
                let mut shell = mortal_command("/bin/sh".as_ref());
                shell.args(["-c", ENTER]).arg(folder).arg(envoy_binary());
                shell
            }
            None => mortal_command(envoy_binary().as_os_str()),
        };
        command
            .arg("--config-path")
            .arg(bootstrap)
            .arg("--admin-address-path")
            .arg(files.admin_address())
            .args(["--concurrency", &config.concurrency.to_string()])
            .args(["--log-level", &config.log_level])
            // A misspelt field fails the test, in a file as in the bootstrap; Envoy's default ignores it there.
            .arg("--reject-unknown-dynamic-fields")
            // Access logs are written out at once, by a test's measure, not every ten seconds.
            .args(["--file-flush-interval-msec", "50"]);
        match &config.generation {
            // No shared memory: Envoys side by side need no base ids, and a killed one leaves nothing behind.
            Generation::Only => command.arg("--disable-hot-restart"),
            Generation::First => {
                command.args(["--use-dynamic-base-id", "--base-id-path"]).arg(files.base_id())
            }
            Generation::Later { base_id, epoch } => {
                command.args(["--base-id", base_id, "--restart-epoch", &epoch.to_string()])
            }
        };
        if let Some(levels) = &config.component_log_level {
            command.args(["--component-log-level", levels]);
        }
        command.args(&config.arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());

        let mut child = spawn(command)?;
        let logs = Logs::default();
        let readers = [
            child.stdout.take().map(|stream| logs.capture(Source::Stdout, stream)),
            child.stderr.take().map(|stream| logs.capture(Source::Stderr, stream)),
        ];
        let readers = readers.into_iter().flatten().collect();
        Ok(Self { child, readers, workers: u64::from(config.concurrency), logs, files })
    }

    /// Waits until Envoy is live and its listener accepts.
    pub(super) fn wait_until_serving(&mut self) -> Result<(Admin, SocketAddr), StartError> {
        let outcome = poll(PATIENCE, || match self.probe() {
            Ok(None) => None,
            Ok(Some(addresses)) => Some(Ok(addresses)),
            Err(reason) => Some(Err(reason)),
        });
        match outcome {
            Some(Ok(addresses)) => Ok(addresses),
            Some(Err(reason)) => Err(self.start_error(reason)),
            None => Err(self.start_error(format!("it was not ready within {PATIENCE:?}"))),
        }
    }

    fn probe(&mut self) -> Result<Option<(Admin, SocketAddr)>, String> {
        match self.child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => return Err(format!("it ended with {status}")),
            Err(error) => return Err(error.to_string()),
        }
        let Some(admin) = self.admin() else { return Ok(None) };
        if !admin.is_live() {
            return Ok(None);
        }
        if let Some(listener) = admin.listener() {
            // Counted once for each worker that accepts; to connect would show in what tests count.
            let accepting = admin.stats().get(LISTENERS_CREATED).copied().unwrap_or(0);
            return Ok((accepting >= self.workers).then_some((admin, listener)));
        }
        // Live without a listener: either it is about to come, or its configuration was refused.
        match admin.refusal() {
            Some(details) => Err(details),
            None => Ok(None),
        }
    }

    fn admin(&self) -> Option<Admin> {
        let addr = fs::read_to_string(self.files.admin_address()).ok()?;
        Some(Admin::new(addr.trim().parse().ok()?))
    }

    fn start_error(&mut self, reason: String) -> StartError {
        self.end();
        StartError { reason, log: self.logs.tail() }
    }

    /// What this process is, with the base id that it has chosen if it is the first of several.
    pub(super) fn generation(&self, config: &EnvoyConfig) -> Generation {
        match &config.generation {
            Generation::First => {
                let base_id = fs::read_to_string(self.files.base_id()).unwrap_or_default().trim().to_owned();
                Generation::Later { base_id, epoch: 0 }
            }
            known => known.clone(),
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it still runs.
    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until it has ended by itself, and for the last of its output; `false` when it does not end.
    pub(super) fn wait_for_end(&mut self) -> bool {
        let ended = poll(PATIENCE, || (!self.is_running()).then_some(())).is_some();
        if ended {
            self.join_readers();
        }
        ended
    }

    fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.join_readers();
    }

    fn join_readers(&mut self) {
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

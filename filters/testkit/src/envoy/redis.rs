//! A Redis that comes and goes.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::spawn::{mortal_command, spawn};
use super::wait::{PATIENCE, wait_until};

/// A Redis process with an empty store in memory, on a Unix socket in a directory of its own. It is killed, and its store
/// is gone, when this is dropped.
pub struct Redis {
    binary: PathBuf,
    process: Option<Child>,
    dir: TempDir,
}

impl Redis {
    /// Starts Redis; none where `redis-server` is not on the PATH.
    ///
    /// # Panics
    /// When it is there and does not start.
    #[track_caller]
    pub fn start() -> Option<Self> {
        let binary = binary()?;
        let dir =
            tempfile::Builder::new().prefix("portcullis-redis-").tempdir().expect("a directory for Redis");
        let mut redis = Self { binary, process: None, dir };
        redis.start_again();
        Some(redis)
    }

    /// The socket that it listens on.
    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("redis.sock")
    }

    /// Kills it: connections break off, and nobody listens on the socket.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Starts it again after [`Redis::kill`], with an empty store.
    ///
    /// # Panics
    /// When it does not start.
    #[track_caller]
    pub fn start_again(&mut self) {
        self.kill();
        // A killed Redis leaves its socket behind, to which nobody can connect.
        let _ = std::fs::remove_file(self.socket());
        let mut command = mortal_command(self.binary.as_os_str());
        command.args(["--port", "0", "--save", "", "--appendonly", "no", "--daemonize", "no"]);
        command.args(["--loglevel", "warning"]);
        command.arg("--dir").arg(self.dir.path()).arg("--unixsocket").arg(self.socket());
        self.process = Some(spawn(quiet(command)).expect("Redis can be run"));
        wait_until("Redis listens", PATIENCE, || {
            std::os::unix::net::UnixStream::connect(self.socket()).is_ok()
        });
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}

fn quiet(mut command: Command) -> Command {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn binary() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join("redis-server")).find(|file| Path::is_file(file))
}

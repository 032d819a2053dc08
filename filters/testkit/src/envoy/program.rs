//! A program of somebody else's that a test runs beside Envoy.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use super::spawn::{SETPRIV, mortal_command, spawn};

/// The user and group that programs run as if the tests run as root: Debian's `nobody` and `nogroup`.
const NOBODY: u32 = 65534;

/// A running program. It is killed, and waited for, when dropped.
pub struct Program(Child);

impl Program {
    /// Where the first of these programs is that is installed, each looked for where the system keeps its programs and
    /// then on the PATH. Users' paths lack `/usr/sbin`.
    pub fn find(names: &[&str]) -> Option<PathBuf> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> =
            ["/usr/bin", "/usr/sbin"].map(PathBuf::from).into_iter().chain(env::split_paths(&path)).collect();
        names
            .iter()
            .find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
    }

    /// Starts a program with what `arrange` adds to its command, without standard input. It runs as nobody if the tests
    /// run as root: see [`Program::give_to_nobody`].
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn start(program: &Path, arrange: impl FnOnce(&mut Command)) -> io::Result<Self> {
        let mut command = mortal_command(program.as_os_str());
        if is_root() && Path::new(SETPRIV).exists() {
            let nobody = NOBODY.to_string();
            command = Command::new(SETPRIV);
            command.args([
                "--reuid",
                &nobody,
                "--regid",
                &nobody,
                "--clear-groups",
                "--pdeathsig",
                "KILL",
                "--",
            ]);
            command.arg(program);
        }
        arrange(&mut command);
        command.stdin(Stdio::null());
        spawn(command).map(Self)
    }

    /// Lets the programs of a test read and write this file or directory, whoever the tests run as.
    ///
    /// # Errors
    /// When it is not there.
    pub fn give_to_nobody(path: &Path) -> io::Result<()> {
        if is_root() { std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)) } else { Ok(()) }
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Who owns what the kernel shows of this process is who runs it.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

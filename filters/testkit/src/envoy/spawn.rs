//! Starting processes that do not outlive the tests.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Debian's util-linux; where it is missing, a test run that is killed leaves its Envoys behind.
pub(super) const SETPRIV: &str = "/usr/bin/setpriv";

type Request = (Command, Sender<io::Result<Child>>);

/// A command that runs `program` such that the kernel kills it when the test process dies, however it dies:
/// no destructor runs for a fixture in a `static`, nor after an abort. The process keeps its id (`exec`).
pub(super) fn mortal_command(program: &OsStr) -> Command {
    if !Path::new(SETPRIV).exists() {
        return Command::new(program);
    }
    let mut command = Command::new(SETPRIV);
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// Spawns `command` from a thread that lives as long as the process does.
///
/// The kernel ties the parent-death signal to the *thread* that spawned, and a test's thread ends with its
/// test, while a fixture in a `static` goes on.
pub(super) fn spawn(command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<Sender<Request>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (requests, inbox) = channel::<Request>();
        thread::spawn(move || {
            for (mut command, reply) in inbox {
                // The asker waits for its answer, so the channel is open.
                let _ = reply.send(command.spawn());
            }
        });
        requests
    });
    let (reply, answer) = channel();
    spawner.send((command, reply)).expect("the spawner thread lives");
    answer.recv().expect("the spawner thread answers")
}

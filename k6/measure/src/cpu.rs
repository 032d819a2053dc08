//! CPU time of processes, by the scheduler's own account.

use std::fs;
use std::io;
use std::time::{Duration, Instant};

/// How long a process that has nothing to do may take to come to rest.
const PATIENCE: Duration = Duration::from_secs(10);

/// The CPU time of all threads of a process so far. The scheduler's account is in nanoseconds, unlike the ticks of
/// `/proc/PID/stat`; threads that have ended are not in it.
///
/// # Errors
/// When the process is gone, or the kernel keeps no such account.
pub fn cpu_time(pid: u32) -> io::Result<Duration> {
    let mut nanoseconds = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = fs::read_to_string(task?.path().join("schedstat"))?;
        let on_cpu = text.split_ascii_whitespace().next().and_then(|word| word.parse::<u64>().ok());
        nanoseconds += on_cpu.ok_or_else(|| io::Error::other("schedstat is not as expected"))?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}

/// The same as soon as all threads of the process sleep.
///
/// The account of a thread that is running lags behind by up to a tick of the kernel's. Read before and after a piece
/// of work, at rest both times, it is exact.
///
/// # Errors
/// As above, and when the process does not come to rest within ten seconds.
pub fn cpu_time_at_rest(pid: u32) -> io::Result<Duration> {
    let start = Instant::now();
    while !rests(pid)? {
        if start.elapsed() > PATIENCE {
            return Err(io::Error::other(format!("process {pid} does not come to rest")));
        }
        std::hint::spin_loop();
    }
    cpu_time(pid)
}

fn rests(pid: u32) -> io::Result<bool> {
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        match fs::read_to_string(task?.path().join("stat")) {
            // The state follows the name, which is in parentheses and may contain any of them.
            Ok(text) if text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S')) => {}
            Ok(_) => return Ok(false),
            // A thread that has ended since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn work_is_counted_and_sleep_is_not() {
        // A shell that counts to a number for each line that it reads.
        let script = "while read n; do i=0; while [ $i -lt $n ]; do i=$((i+1)); done; echo done; done";
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = shell.id();
        let mut input = shell.stdin.take().unwrap();
        let mut output = std::io::BufReader::new(shell.stdout.take().unwrap());
        let mut spent = |count: u32| {
            let before = cpu_time_at_rest(pid).unwrap();
            io::Write::write_all(&mut input, format!("{count}\n").as_bytes()).unwrap();
            let mut line = String::new();
            io::BufRead::read_line(&mut output, &mut line).unwrap();
            cpu_time_at_rest(pid).unwrap() - before
        };
        let (little, much) = (spent(1), spent(100_000));
        assert!(little < much, "{little:?} for little, {much:?} for much");
        drop(input);
        shell.wait().unwrap();
    }

    #[test]
    fn a_process_that_is_gone_is_an_error() {
        let mut process = Command::new("true").spawn().unwrap();
        process.wait().unwrap();
        assert!(cpu_time_at_rest(process.id()).is_err());
        assert!(cpu_time(process.id()).is_err());
    }
}

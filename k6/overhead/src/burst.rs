//! Bursts of requests, and the CPU time that they cost.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

/// Connections of a burst, each with one request under way at a time.
pub const CONNECTIONS: usize = 4;

/// Sends a request `requests` times over kept-alive connections; every reply must be a 200 of the size that the backend
/// was told to send.
pub fn send(to: SocketAddr, requests: usize, request: &[u8]) -> Result<(), String> {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..CONNECTIONS)
            .map(|_| scope.spawn(move || converse(to, requests / CONNECTIONS, request)))
            .collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(_) => Err("a sender panicked".to_owned()),
        })
    })
}

fn converse(to: SocketAddr, requests: usize, request: &[u8]) -> io::Result<()> {
    let mut stream = TcpStream::connect(to)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut buffer = vec![0; 16 << 10];
    for _ in 0..requests {
        stream.write_all(request)?;
        let mut filled = 0;
        loop {
            let read = stream.read(&mut buffer[filled..])?;
            if read == 0 {
                return Err(io::Error::other("the connection was closed"));
            }
            filled += read;
            if let Some(head) = buffer[..filled].windows(4).position(|window| window == b"\r\n\r\n") {
                if !buffer.starts_with(b"HTTP/1.1 200 ") {
                    return Err(io::Error::other(String::from_utf8_lossy(&buffer[..head]).into_owned()));
                }
                if filled >= head + 4 + 1024 {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// The CPU time of all threads of a process so far. The scheduler's own account is in nanoseconds, unlike the ticks of
/// `/proc/PID/stat`.
pub fn cpu_time(pid: u32) -> io::Result<Duration> {
    let mut nanoseconds = 0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        let on_cpu = text.split_ascii_whitespace().next().and_then(|word| word.parse::<u64>().ok());
        nanoseconds += on_cpu.ok_or_else(|| io::Error::other("schedstat is not as expected"))?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}

//! Has Envoy end its connections before the pod ends.
//!
//! Envoy itself exits at once on SIGTERM, in the middle of requests. While it is told to fail health checks it closes
//! connections with the next response (`connection: close`, GOAWAY), but goes on taking requests: for a while there are
//! still others that do not know yet that this pod is going.

use std::io::ErrorKind;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::http;

/// How long to wait for connections to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// So long at least, whether there are connections or not: some may be coming.
    pub(crate) least: Duration,
    /// So long at most; what is open then is cut.
    pub(crate) most: Duration,
}

/// How often Envoy is asked whether there are connections left.
const INTERVAL: Duration = Duration::from_millis(250);

/// The connections of the listeners for requests: `http` and `https` are their `stat_prefix`.
const CONNECTIONS: &str = "/stats?filter=%5Ehttp%5C.https%3F%5C.downstream_cx_active%24";

/// For how many answers in a row Envoy may refuse connections before it is taken for gone: five seconds.
const GONE: u32 = 20;

/// What became of a request to the administration.
#[derive(Debug)]
enum Failure {
    /// Nobody listens.
    Refused(String),
    /// It took the connection, or may have, and did not answer as expected: it is busy.
    Other(String),
}

/// Drains the Envoy whose administration is at `admin`.
///
/// An administration that does not answer is asked again: under load, which is when pods are replaced, one answer may
/// be late. One that has gone is waited for no longer than five seconds: then there is nothing to drain.
///
/// # Errors
///
/// Envoy has not been told to drain. The pod ends all the same.
pub(crate) fn drain(admin: &str, patience: Patience) -> Result<(), String> {
    let start = Instant::now();
    let mut told = false;
    let mut refused = 0_u32;
    loop {
        let answer = if told {
            remaining(admin)
        } else {
            command(admin, "POST", "/healthcheck/fail").map(|_| {
                told = true;
                None
            })
        };
        let waited = start.elapsed();
        let failure = match answer {
            Ok(Some(0)) if waited >= patience.least => return Ok(()),
            Ok(_) => {
                refused = 0;
                None
            }
            Err(Failure::Refused(message)) => {
                refused = refused.saturating_add(1);
                if refused >= GONE {
                    return if told { Ok(()) } else { Err(message) };
                }
                Some(message)
            }
            Err(Failure::Other(message)) => {
                refused = 0;
                Some(message)
            }
        };
        if waited >= patience.most {
            return match failure {
                Some(message) if !told => Err(message),
                _ => Ok(()),
            };
        }
        sleep(INTERVAL.min(patience.most.saturating_sub(waited)));
    }
}

/// How many connections there are, if the answer tells.
fn remaining(admin: &str) -> Result<Option<u64>, Failure> {
    let statistics = command(admin, "GET", CONNECTIONS)?;
    connections(&statistics).map(Some).map_err(Failure::Other)
}

fn command(admin: &str, method: &str, path: &str) -> Result<String, Failure> {
    let answer = http::ask(admin, method, path, admin, "").map_err(|error| {
        let message = format!("{method} {path}: {error}");
        if error.kind() == ErrorKind::ConnectionRefused {
            Failure::Refused(message)
        } else {
            Failure::Other(message)
        }
    })?;
    if answer.status != 200 {
        return Err(Failure::Other(format!("{method} {path}: status {}", answer.status)));
    }
    String::from_utf8(answer.body).map_err(|_| Failure::Other(format!("{method} {path}: not text")))
}

/// The sum of the statistics, of which each line has one: `name: value`.
fn connections(statistics: &str) -> Result<u64, String> {
    let mut sum = 0_u64;
    for line in statistics.lines() {
        let value = line.rsplit_once(": ").and_then(|(_, value)| value.trim().parse::<u64>().ok());
        sum = sum.saturating_add(value.ok_or_else(|| format!("not a statistic: {line}"))?);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::{Patience, connections, drain};
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;
    use std::time::{Duration, Instant};

    const BROKEN: &str = "no answer";
    const ACTIVE: &str = "http.http.downstream_cx_active: 2\nhttp.https.downstream_cx_active: 1\n";
    const IDLE: &str = "http.http.downstream_cx_active: 0\nhttp.https.downstream_cx_active: 0\n";

    /// An administration that answers with these bodies, one request after the other, and says what it was asked. To
    /// `BROKEN` it closes the connection instead.
    fn administration(bodies: &'static [&'static str]) -> (String, Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, asked) = channel();
        thread::spawn(move || {
            for body in bodies {
                let (mut stream, _) = listener.accept().unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                sender.send(lines.next().unwrap().unwrap()).unwrap();
                while !lines.next().unwrap().unwrap().is_empty() {}
                if body == &BROKEN {
                    continue;
                }
                write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
            }
        });
        (address, asked)
    }

    #[test]
    fn ends_when_the_last_connection_has_gone() {
        let (admin, asked) = administration(&["OK\n", ACTIVE, IDLE]);
        drain(&admin, Patience { least: Duration::ZERO, most: Duration::from_secs(600) }).unwrap();
        let asked: Vec<_> = asked.iter().collect();
        assert_eq!(asked.len(), 3, "{asked:?}");
        assert!(asked[0].starts_with("POST /healthcheck/fail "), "{asked:?}");
        assert!(asked[2].starts_with("GET /stats?filter="), "{asked:?}");
    }

    #[test]
    fn does_not_wait_longer_than_it_may() {
        let (admin, asked) = administration(&["OK\n"]);
        drain(&admin, Patience { least: Duration::ZERO, most: Duration::ZERO }).unwrap();
        assert_eq!(asked.iter().count(), 1);
    }

    #[test]
    fn asks_again_when_an_answer_does_not_come() {
        let (admin, asked) = administration(&[BROKEN, "OK\n", ACTIVE, BROKEN, "no statistic", ACTIVE, IDLE]);
        drain(&admin, Patience { least: Duration::ZERO, most: Duration::from_secs(600) }).unwrap();
        let asked: Vec<_> = asked.iter().collect();
        assert_eq!(asked.len(), 7, "{asked:?}");
        assert!(asked[1].starts_with("POST /healthcheck/fail "), "{asked:?}");
        assert!(asked[2].starts_with("GET /stats?filter="), "{asked:?}");
    }

    #[test]
    fn does_not_wait_for_an_envoy_that_ends_meanwhile() {
        let (admin, asked) = administration(&["OK\n", ACTIVE]);
        let start = Instant::now();
        drain(&admin, Patience { least: Duration::ZERO, most: Duration::from_secs(600) }).unwrap();
        assert_eq!(asked.iter().count(), 2);
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    }

    #[test]
    fn says_so_when_envoy_is_not_there_until_the_end() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let patience = Patience { least: Duration::ZERO, most: Duration::from_millis(300) };
        assert!(drain(&address, patience).unwrap_err().starts_with("POST /healthcheck/fail: "));
    }

    #[test]
    fn says_so_when_envoy_is_not_there() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let patience = Patience { least: Duration::ZERO, most: Duration::from_secs(600) };
        assert!(drain(&address, patience).unwrap_err().starts_with("POST /healthcheck/fail: "));
    }

    #[test]
    fn adds_up_statistics() {
        assert_eq!(connections("a.b: 3\nc: 4\n"), Ok(7));
        assert_eq!(connections(""), Ok(0));
        assert!(connections("no statistic").is_err());
    }
}

//! Notices a host that delivers no body while headers are held.
//!
//! Envoy delivers bodies to a filter that holds the request's headers only if the plugin's configuration says so; if it
//! does not, no callback tells, and the exchange would hang until some timeout. What tells is how much of the request
//! the host has received by then: bytes that this plugin was never given.

pub(crate) mod starvation;

use core::time::Duration;

use crate::headers::HeaderList;
use crate::host::{HeaderMap, HostError, Level, Platform};
use crate::time::MonotonicTime;

/// How often held exchanges are looked at.
pub(crate) const PERIOD: Duration = Duration::from_millis(250);
/// How long bytes may have been received and not delivered. A filter before this one may hold them for a while.
const GRACE: Duration = Duration::from_secs(1);
/// The same, once the host has shown that it delivers: then it is another filter that holds them.
const GRACE_WHEN_DELIVERED: Duration = Duration::from_secs(15);
/// How long an exchange waits of which the host has had no bytes either, while nothing is known of the host: a body may
/// also be empty, which nobody can see from here.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often an exchange is held all the same, to see whether the host still delivers nothing.
const PROBE_EVERY: Duration = Duration::from_secs(10);
/// How many exchanges are asked after at each tick, so that many slow clients cannot occupy the worker.
const LOOKS_PER_TICK: usize = 64;
/// How often the log says one thing, however many exchanges it is true of.
const SAY_EVERY: Duration = Duration::from_secs(60);

/// What is known of the host.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Delivery {
    /// Nothing yet.
    #[default]
    Unknown,
    /// It has delivered body while headers were held.
    Seen,
    /// It has received body that it did not deliver. From then on exchanges are refused at once, but for a probe now and
    /// then.
    Missing { next_probe: MonotonicTime },
}

/// What the host has delivered of a request behind its headers: body, or trailers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Supply {
    /// Nothing, and nobody waits for it.
    #[default]
    Nothing,
    /// Nothing; the request is held until it comes, and as far as is known its client has sent none. It has been looked
    /// at since then, if ever.
    Awaited(Option<MonotonicTime>),
    /// Nothing; the request is held until it comes, and since then at the latest the host has had bytes of it.
    Withheld(MonotonicTime),
    /// Something.
    Some,
}

/// Whether an exchange is to be held for its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// It is.
    Granted,
    /// The host does not deliver the body: it is to be refused.
    Withheld,
    /// No body has come for too long: it is to be refused.
    TimedOut,
}

/// Watches the exchanges of one worker.
#[derive(Debug, Default)]
pub(crate) struct BodyWatch {
    delivery: Delivery,
    tick: Tick,
    sight: Sight,
    /// Where the next round of looks begins.
    cursor: usize,
    timed_out: Complaint,
    undelivered: Complaint,
}

/// A line of the log that each of many exchanges could give rise to.
#[derive(Debug, Default)]
struct Complaint {
    last: Option<MonotonicTime>,
}

impl Complaint {
    /// Writes the line, unless it has been written a short time ago.
    fn say(&mut self, level: Level, line: &str, platform: &dyn Platform) {
        let now = now(platform);
        if self.last.is_none_or(|last| now.since(last) >= SAY_EVERY) {
            self.last = Some(now);
            platform.log(level, line);
        }
    }
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Tick {
    #[default]
    Off,
    On,
}

/// Whether the host says how much of a request it has received.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Sight {
    #[default]
    Clear,
    /// It does not, and the log says so.
    Blind,
}

impl BodyWatch {
    /// The chain's tick comes at this period.
    pub(crate) fn tick_is_on(&mut self) {
        self.tick = Tick::On;
    }

    /// An exchange is about to be held until its body comes.
    pub(crate) fn hold(&mut self, platform: &dyn Platform) -> Hold {
        if self.tick == Tick::Off {
            if let Err(error) = platform.tick_every(PERIOD) {
                platform.log(
                    Level::Error,
                    &format!("the host refused a periodic tick, which is needed: {error}"),
                );
                return Hold::Withheld;
            }
            self.tick = Tick::On;
        }
        let Delivery::Missing { next_probe } = &mut self.delivery else {
            return Hold::Granted;
        };
        let now = now(platform);
        if now < *next_probe {
            return Hold::Withheld;
        }
        *next_probe = now.after(PROBE_EVERY);
        Hold::Granted
    }

    /// The host has delivered body, or trailers, of a request whose headers are held.
    pub(crate) fn delivered(&mut self, platform: &dyn Platform) {
        if let Delivery::Missing { .. } = self.delivery {
            platform
                .log(Level::Warn, "request bodies are delivered after all; requests are held for them again");
        }
        self.delivery = Delivery::Seen;
    }

    /// The places of all of `count` slots, from where the last round left off.
    pub(crate) fn round(&mut self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let from = core::mem::take(&mut self.cursor).min(count);
        (from..count).chain(0..from)
    }

    /// The next round begins here.
    pub(crate) fn go_on_at(&mut self, place: usize) {
        self.cursor = place;
    }

    /// Looks at an exchange that waits for its body, and is in focus.
    pub(crate) fn look(&mut self, supply: &mut Supply, platform: &dyn Platform) -> Hold {
        match undelivered(platform) {
            Ok(0) if self.delivery == Delivery::Seen => Hold::Granted,
            Ok(0) => {
                let now = now(platform);
                let since = match *supply {
                    Supply::Awaited(Some(since)) => since,
                    _ => now,
                };
                *supply = Supply::Awaited(Some(since));
                if now.since(since) < PATIENCE { Hold::Granted } else { Hold::TimedOut }
            }
            Ok(_) => {
                let now = now(platform);
                let Supply::Withheld(since) = *supply else {
                    *supply = Supply::Withheld(now);
                    return Hold::Granted;
                };
                let grace = match self.delivery {
                    Delivery::Seen => GRACE_WHEN_DELIVERED,
                    Delivery::Unknown | Delivery::Missing { .. } => GRACE,
                };
                if now.since(since) < grace { Hold::Granted } else { Hold::Withheld }
            }
            Err(error) => {
                if core::mem::replace(&mut self.sight, Sight::Blind) == Sight::Clear {
                    platform.log(
                        Level::Error,
                        &format!(
                            "the host does not say how much of a request it has received ({error}); grant the capability \
                             proxy_get_property, or requests whose body is not delivered will hang"
                        ),
                    );
                }
                Hold::Granted
            }
        }
    }

    /// An exchange that had been held is refused.
    pub(crate) fn missed(&mut self, hold: Hold, policy: &str, platform: &dyn Platform) {
        if hold == Hold::TimedOut {
            let line = format!(
                "{policy}: no body came of a request, nor has one of any other; see that the plugin's configuration \
                 (PluginConfig) has `allow_on_headers_stop_iteration: true`"
            );
            self.timed_out.say(Level::Warn, &line, platform);
            return;
        }
        let next_probe = now(platform).after(PROBE_EVERY);
        match &mut self.delivery {
            Delivery::Unknown => {
                platform.log(
                    Level::Error,
                    &format!(
                        "{policy}: the host delivers no request body while the headers are held; requests that need it \
                         are refused. Set `allow_on_headers_stop_iteration: true` in the plugin's configuration \
                         (PluginConfig)"
                    ),
                );
                self.delivery = Delivery::Missing { next_probe };
            }
            Delivery::Seen => {
                let line = format!(
                    "{policy}: a request body was received and not delivered; the request is refused"
                );
                self.undelivered.say(Level::Error, &line, platform);
            }
            Delivery::Missing { .. } => {}
        }
    }
}

/// How many bytes of body the host has received of the request in focus, none of which it has delivered:
/// `request.total_size` counts the headers, names and values, and the body.
fn undelivered(platform: &dyn Platform) -> Result<u64, HostError> {
    let size = platform.property(&["request", "total_size"])?;
    let size = size.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes)).ok_or(HostError::Malformed)?;
    let headers = header_bytes(&platform.headers(HeaderMap::RequestHeaders)?);
    Ok(size.saturating_sub(headers))
}

fn header_bytes(headers: &HeaderList) -> u64 {
    headers.iter().fold(0u64, |sum, (name, value)| {
        let field = name.len().saturating_add(value.len());
        sum.saturating_add(u64::try_from(field).unwrap_or(u64::MAX))
    })
}

/// By the clock that never steps, or by the wall clock where the host has no such clock.
fn now(platform: &dyn Platform) -> MonotonicTime {
    platform.monotonic().unwrap_or_else(|_| MonotonicTime::from_nanos(platform.now().as_nanos()))
}

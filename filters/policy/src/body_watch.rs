//! Notices a host that delivers no body while headers are held.
//!
//! Envoy delivers bodies to a filter that holds the request's headers only if the plugin's configuration says so; if it
//! does not, no callback tells, and the exchange would hang until some timeout. What tells is what the host has received
//! by then and this plugin was never given: bytes of a request, or the end of a response.

pub(crate) mod starvation;

use core::time::Duration;

use crate::complaint::{Complaint, now};
use crate::headers::HeaderList;
use crate::host::{Direction, HeaderMap, HostError, Level, Platform};
use crate::time::MonotonicTime;

/// How often held exchanges are looked at.
pub(crate) const PERIOD: Duration = Duration::from_millis(250);
/// How long bytes may have been received and not delivered, while nothing is known of the host.
const GRACE: Duration = Duration::from_secs(1);
/// The same, once something is known. If the host delivers, it is another filter that holds the bytes, for a while; if
/// it seems not to, only probes are held, and it may have been such a filter that made it seem so.
const GRACE_FOR_FILTERS: Duration = Duration::from_secs(15);
/// How long an exchange waits of which the host has had no bytes either, while nothing is known of the host: a body may
/// also be empty, which nobody can see from here.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often an exchange is held all the same, to see whether the host still delivers nothing.
const PROBE_EVERY: Duration = Duration::from_secs(10);
/// How many exchanges are asked after at each tick, so that many slow clients cannot occupy the worker.
const LOOKS_PER_TICK: usize = 64;

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

/// What the host has delivered of a message behind its headers: body, or trailers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Supply {
    /// Nothing, and nobody waits for it.
    #[default]
    Nothing,
    /// Nothing; the message is held until it comes, and as far as is known none has been sent. It has been looked at
    /// since then, if ever.
    Awaited(Option<MonotonicTime>),
    /// Nothing; the message is held until it comes, and since then at the latest the host has had some of it.
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

    /// The host has delivered body, or trailers, of a message whose headers are held.
    pub(crate) fn delivered(&mut self, platform: &dyn Platform) {
        if let Delivery::Missing { .. } = self.delivery {
            platform.log(Level::Warn, "bodies are delivered after all; messages are held for them again");
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

    /// Looks at a message that waits for its body, and whose exchange is in focus.
    pub(crate) fn look(&mut self, at: Direction, supply: &mut Supply, platform: &dyn Platform) -> Hold {
        let received = match at {
            Direction::Request => received_request(platform),
            Direction::Response => received_response(platform),
        };
        match received {
            Ok(Received::Nothing) if self.delivery == Delivery::Seen => Hold::Granted,
            Ok(Received::Nothing) => {
                let now = now(platform);
                let since = match *supply {
                    Supply::Awaited(Some(since)) => since,
                    _ => now,
                };
                *supply = Supply::Awaited(Some(since));
                if now.since(since) < PATIENCE { Hold::Granted } else { Hold::TimedOut }
            }
            Ok(Received::Something) => {
                let now = now(platform);
                let Supply::Withheld(since) = *supply else {
                    *supply = Supply::Withheld(now);
                    return Hold::Granted;
                };
                let grace = match self.delivery {
                    Delivery::Unknown => GRACE,
                    Delivery::Seen | Delivery::Missing { .. } => GRACE_FOR_FILTERS,
                };
                if now.since(since) < grace { Hold::Granted } else { Hold::Withheld }
            }
            Err(error) => {
                if core::mem::replace(&mut self.sight, Sight::Blind) == Sight::Clear {
                    platform.log(
                        Level::Error,
                        &format!(
                            "the host does not say how much of a message it has received ({error}); grant the capability \
                             proxy_get_property, or messages whose body is not delivered will hang"
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
                "{policy}: no body came of a message, nor has one of any other; see that the plugin's configuration \
                 (PluginConfig) has `allow_on_headers_stop_iteration: true`"
            );
            self.timed_out.say(Level::Warn, &line, platform.as_host());
            return;
        }
        let next_probe = now(platform).after(PROBE_EVERY);
        match &mut self.delivery {
            Delivery::Unknown => {
                platform.log(
                    Level::Error,
                    &format!(
                        "{policy}: the host delivers no body while the headers are held; messages that need it are \
                         refused. Set `allow_on_headers_stop_iteration: true` in the plugin's configuration \
                         (PluginConfig)"
                    ),
                );
                self.delivery = Delivery::Missing { next_probe };
            }
            Delivery::Seen => {
                let line = format!("{policy}: a body was received and not delivered; the message is refused");
                self.undelivered.say(Level::Error, &line, platform.as_host());
            }
            Delivery::Missing { .. } => {}
        }
    }
}

/// Whether the host has received anything of a message behind its headers, none of which it has delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Received {
    Nothing,
    Something,
}

/// Of the request in focus: `request.total_size` counts the headers, names and values, and the body.
fn received_request(platform: &dyn Platform) -> Result<Received, HostError> {
    let size = platform.property(&["request", "total_size"])?;
    let size = size.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes)).ok_or(HostError::Malformed)?;
    let headers = header_bytes(&platform.headers(HeaderMap::RequestHeaders)?);
    Ok(if size > headers { Received::Something } else { Received::Nothing })
}

/// Of the response in focus: `response.backend_latency` is there as soon as the upstream has sent all of it. A host that
/// holds so much of it that it reads no more has it not; such a response waits as long as one whose upstream is slow.
fn received_response(platform: &dyn Platform) -> Result<Received, HostError> {
    match platform.property(&["response", "backend_latency"]) {
        Ok(latency) if !latency.is_empty() => Ok(Received::Something),
        Ok(_) | Err(HostError::NotFound) => Ok(Received::Nothing),
        Err(error) => Err(error),
    }
}

fn header_bytes(headers: &HeaderList) -> u64 {
    headers.iter().fold(0u64, |sum, (name, value)| {
        let field = name.len().saturating_add(value.len());
        sum.saturating_add(u64::try_from(field).unwrap_or(u64::MAX))
    })
}

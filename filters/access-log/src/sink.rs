//! Where lines go.

use portcullis_policy::host::{Host, Level};
use portcullis_policy::time::Timestamp;
use portcullis_policy::{CallOutReply, ConfigError, Direction, MostMemory, Shutdown, Worker};

use crate::attribute::Attribute;
use crate::config;
use crate::format::{Map, OtlpAttributes};
use crate::otlp::{Exporter, Record, Severity};
use crate::sight::Sight;

/// The most places to which lines go.
const MAX_SINKS: usize = 8;
/// Where client-id reports who called.
const CLIENT_ID: &str = "portcullis.client_id";

/// The places to which lines go.
#[derive(Debug)]
pub(crate) struct Sinks {
    sinks: Vec<Sink>,
    /// Attributes of OTLP records.
    attributes: OtlpAttributes,
}

#[derive(Debug)]
enum Sink {
    EnvoyLog,
    FilterState(Object),
    Otlp(Box<Exporter>),
}

/// An object of the filter state.
#[derive(Debug)]
struct Object {
    key: String,
    /// Whether somebody has been told that it cannot be set.
    told: Told,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    NotYet,
    Once,
}

impl Object {
    /// Sets the object. An access logger has no exchange to set it on: that is a mistake of the configuration, which
    /// cannot be seen before.
    fn set(&mut self, line: &[u8], host: &dyn Host) {
        if host.set_property(&[&self.key], line).is_err() && self.told == Told::NotYet {
            self.told = Told::Once;
            let problem = "the sink `filter-state` cannot set its object, and lines are lost: it works in an HTTP \
                           filter, not in an access logger (told once)";
            host.log(Level::Warn, problem);
        }
    }
}

impl Sinks {
    /// What the sinks may take of memory together.
    pub(crate) fn most_memory(&self) -> MostMemory {
        let of_sink = |sink: &Sink| match sink {
            Sink::EnvoyLog | Sink::FilterState(_) => 0,
            Sink::Otlp(exporter) => exporter.most_memory(),
        };
        let kept = self.sinks.iter().map(of_sink).fold(0, usize::saturating_add);
        MostMemory { kept, ..MostMemory::default() }
    }

    /// Compiles the list.
    ///
    /// # Errors
    /// Which entry is wrong, and why.
    pub(crate) fn compile(config: &config::Config) -> Result<Self, ConfigError> {
        if config.sinks.len() > MAX_SINKS {
            return Err(ConfigError::new("sinks", format!("must have {MAX_SINKS} entries at the most")));
        }
        let mut sinks = Vec::new();
        for (at, sink) in config.sinks.iter().enumerate() {
            let sink = Sink::compile(sink).map_err(|error| error.within(&format!("sinks[{at}]")))?;
            if sinks.iter().any(|other| sink.repeats(other)) {
                return Err(ConfigError::new(format!("sinks[{at}]"), "stands in the list already"));
            }
            sinks.push(sink);
        }
        let attributes = OtlpAttributes::compile(&config.otlp_attributes)
            .map_err(|error| error.within("otlp_attributes"))?;
        Ok(Self { sinks, attributes })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sinks.is_empty()
    }

    /// Whether a record's attribute names the body of a message.
    pub(crate) fn names_body(&self, direction: Direction) -> bool {
        let exports = self.sinks.iter().any(|sink| matches!(sink, Sink::Otlp(_)));
        exports && self.attributes.names_body(direction)
    }

    fn exporters(&mut self) -> impl Iterator<Item = &mut Exporter> {
        self.sinks.iter_mut().filter_map(|sink| match sink {
            Sink::Otlp(exporter) => Some(&mut **exporter),
            Sink::EnvoyLog | Sink::FilterState(_) => None,
        })
    }

    /// How often the exporters want to be called; none without exporters.
    pub(crate) fn tick_period(&self) -> Option<core::time::Duration> {
        let exporters = self.sinks.iter().filter_map(|sink| match sink {
            Sink::Otlp(exporter) => Some(exporter.tick_period()),
            Sink::EnvoyLog | Sink::FilterState(_) => None,
        });
        exporters.min()
    }

    pub(crate) fn start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        self.sinks.iter_mut().enumerate().try_for_each(|(at, sink)| match sink {
            Sink::Otlp(exporter) => {
                exporter.start(worker).map_err(|error| error.within(&format!("sinks[{at}].otlp")))
            }
            Sink::EnvoyLog | Sink::FilterState(_) => Ok(()),
        })
    }

    pub(crate) fn on_tick(&mut self, worker: &mut Worker<'_>) {
        self.exporters().for_each(|exporter| exporter.on_tick(worker));
    }

    pub(crate) fn on_reply(&mut self, reply: CallOutReply, worker: &mut Worker<'_>) {
        self.exporters().for_each(|exporter| exporter.on_reply(reply, worker));
    }

    pub(crate) fn on_shutdown(&mut self, worker: &mut Worker<'_>) -> Shutdown {
        // Each of them, for each has something to send.
        self.exporters().fold(Shutdown::Done, |all, exporter| match exporter.on_shutdown(worker) {
            Shutdown::Done => all,
            Shutdown::Pending => Shutdown::Pending,
        })
    }

    /// Gives a line to every sink. What a host does not take is lost; nobody waits for a log.
    pub(crate) fn write(&mut self, line: &[u8], sight: &mut Sight<'_, '_>) {
        let Self { sinks, attributes } = self;
        for sink in sinks {
            match sink {
                Sink::EnvoyLog => sight.host().log(Level::Info, &String::from_utf8_lossy(line)),
                Sink::FilterState(object) => object.set(line, sight.host()),
                Sink::Otlp(exporter) => export(exporter, line, attributes, sight),
            }
        }
    }
}

fn export(exporter: &mut Exporter, line: &[u8], attributes: &OtlpAttributes, sight: &mut Sight<'_, '_>) {
    let host = sight.host();
    let observed = host.now();
    let time = sight.attributes.number(Attribute::StartTime).map_or(observed, Timestamp::from_nanos);
    let severity = severity(sight);
    let values = attributes.values(sight);
    let traceparent = sight.headers(Map::Request).and_then(|headers| headers.first("traceparent"));
    let record = Record { time, observed, severity, body: line, traceparent };
    exporter.push(&record, values.iter().map(|(name, value)| (*name, value.as_attribute())), host);
}

/// A server's failure is an error; a client's, or an exchange without a response, a warning.
fn severity(sight: &mut Sight<'_, '_>) -> Severity {
    match sight.status() {
        None if sight.phase == config::Phase::Request => Severity::Info,
        None | Some(400..=499) => Severity::Warn,
        Some(500..) => Severity::Error,
        Some(_) => Severity::Info,
    }
}

impl Sink {
    fn compile(config: &config::Sink) -> Result<Self, ConfigError> {
        Ok(match config {
            config::Sink::EnvoyLog => Self::EnvoyLog,
            config::Sink::FilterState(config::FilterState { key }) => {
                let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
                // An access logger's operator ends the key at a colon.
                if !(1..=128).contains(&key.len()) || !key.bytes().all(is_plain) {
                    let problem = "must be 1 to 128 of the characters A-Z, a-z, 0-9, `_`, `.` and `-`";
                    return Err(ConfigError::new("filter-state.key", problem));
                }
                if key == CLIENT_ID || (key.starts_with("portcullis.") && key.ends_with(".outcome")) {
                    let problem = "must not be the name of an attribute in which a policy reports";
                    return Err(ConfigError::new("filter-state.key", problem));
                }
                Self::FilterState(Object { key: key.clone(), told: Told::NotYet })
            }
            config::Sink::Otlp(config) => {
                Self::Otlp(Box::new(Exporter::new((**config).clone()).map_err(|error| error.within("otlp"))?))
            }
        })
    }

    /// Whether two lines would go to the same place. Two collectors may well get the same.
    fn repeats(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::EnvoyLog, Self::EnvoyLog) => true,
            (Self::FilterState(object), Self::FilterState(other)) => object.key == other.key,
            _ => false,
        }
    }
}

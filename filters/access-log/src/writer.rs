//! From an exchange to a line.

use portcullis_policy::time::Timestamp;
use portcullis_policy::{ConfigError, Direction};

use crate::attribute::Attribute;
use crate::config::{Config, Phase};
use crate::format::{self, Format, Map};
use crate::line::Entry;
use crate::sight::{Outcomes, Sight};

/// How much of the line's buffer is kept from one exchange to the next: what ordinary lines need.
const KEPT_BUFFER: usize = 16 * 1024;

/// Writes lines, each in the format of its phase.
#[derive(Debug)]
pub(crate) struct Writer {
    formats: Vec<(Phase, Format)>,
    style: format::Style,
    /// Used again for each line.
    line: Vec<u8>,
}

impl Writer {
    /// Compiles the formats of all phases that have lines.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn compile(config: &Config) -> Result<Self, ConfigError> {
        if config.phases.is_empty() {
            return Err(ConfigError::new("phases", "must name at least one of `request`, `response`, `end`"));
        }
        let mut formats: Vec<(Phase, Format)> = Vec::new();
        for (at, phase) in config.phases.iter().enumerate() {
            if formats.iter().any(|(other, _)| other == phase) {
                return Err(ConfigError::new(format!("phases[{at}]"), "stands in the list already"));
            }
            let format = match config.phase_formats.of(*phase) {
                Some(format) => Format::compile(format)
                    .map_err(|error| error.within(&format!("phase_formats.{}", phase.as_str())))?,
                None => Format::compile(&config.format).map_err(|error| error.within("format"))?,
            };
            formats.push((*phase, format));
        }
        for phase in [Phase::Request, Phase::Response, Phase::End] {
            if config.phase_formats.of(phase).is_some() && !config.phases.contains(&phase) {
                let path = format!("phase_formats.{}", phase.as_str());
                return Err(ConfigError::new(path, "`phases` does not name this phase"));
            }
        }
        let style = format::Style { empty: config.empty_values, limit: config.field_limit()? };
        Ok(Self { formats, style, line: Vec::new() })
    }

    /// Whether there are lines at this point.
    pub(crate) fn has(&self, phase: Phase) -> bool {
        self.formats.iter().any(|(of, _)| *of == phase)
    }

    /// Whether a line can show the body of a message: one in a phase by which there is one.
    pub(crate) fn shows_body(&self, direction: Direction) -> bool {
        self.formats.iter().any(|(phase, format)| {
            (direction == Direction::Request || *phase != Phase::Request) && format.shows_body(direction)
        })
    }

    /// Whether a format names the body of a message.
    pub(crate) fn names_body(&self, direction: Direction) -> bool {
        self.formats.iter().any(|(_, format)| format.names_body(direction))
    }

    /// Writes the line of the sight's phase, and hands it on.
    pub(crate) fn write(
        &mut self,
        sight: &mut Sight<'_, '_>,
        hand_on: impl FnOnce(&[u8], &mut Sight<'_, '_>),
    ) {
        let Self { formats, style, line } = self;
        let several = formats.len() > 1;
        let Some((_, format)) = formats.iter().find(|(of, _)| *of == sight.phase) else {
            return;
        };
        match format {
            Format::Default => {
                let phase = (several || sight.phase != Phase::End).then_some(sight.phase);
                write_default(line, sight, phase, style.limit);
            }
            Format::Text(parts) => format::write_text(line, parts, sight, *style),
            Format::Json(node) => format::write_json(line, node, sight, *style),
        }
        hand_on(line, sight);
        line.clear();
        line.shrink_to(KEPT_BUFFER);
    }
}

/// Writes the fields of the default format. The request's headers are those that the chain has read, if it has.
fn write_default(line: &mut Vec<u8>, sight: &mut Sight<'_, '_>, phase: Option<Phase>, limit: usize) {
    let at_the_end = sight.phase == Phase::End;
    let exchange = sight.exchange();
    let attributes = &mut sight.attributes;
    let time = attributes.number(Attribute::StartTime).map(Timestamp::from_nanos);
    let protocol = attributes.text(Attribute::Protocol).map(<[u8]>::to_vec);
    let duration = attributes.number(Attribute::Duration);
    let mut entry = Entry {
        time: time.unwrap_or_else(|| attributes.host().now()),
        protocol: protocol.as_deref(),
        duration,
        phase,
        ..Entry::default()
    };
    let (mut details, mut upstream) = (None, None);
    if at_the_end {
        entry.bytes_out = attributes.number(Attribute::ResponseSize);
        entry.flags = attributes.number(Attribute::ResponseFlags);
        details = attributes.text(Attribute::ResponseCodeDetails).map(<[u8]>::to_vec);
        upstream = attributes.text(Attribute::UpstreamAddress).map(<[u8]>::to_vec);
        // There is no upstream time without an upstream.
        if upstream.is_some() {
            entry.upstream_duration = attributes.number(Attribute::BackendLatency);
        }
    }
    entry.status = sight.status();
    let client_id = sight.client_id().map(<[u8]>::to_vec);
    let reported = match sight.outcomes() {
        Outcomes::Reported(text) => Some(text.to_vec()),
        Outcomes::None | Outcomes::Known(_) => None,
    };
    let request_body = sight.body(Direction::Request).map(<[u8]>::to_vec);
    let response_body = sight.body(Direction::Response).map(<[u8]>::to_vec);
    let bytes_in = match sight.announced_length() {
        Some(length) => Some(length),
        None if at_the_end => sight.attributes.number(Attribute::RequestSize),
        None => None,
    };
    let redaction = sight.redaction;
    let headers = exchange.known_request_headers();
    let headers = if headers.is_some() { headers } else { sight.headers(Map::Request) };
    let header = |name| headers.and_then(|headers| headers.first(name));
    let forwarded = header(":path");
    let received = exchange.original_path().or(forwarded);
    let path = received.map(|received| redaction.path(received, forwarded));
    let entry = Entry {
        method: header(":method"),
        path: path.as_ref().map(|shown| shown.path.as_slice()),
        query: path.as_ref().and_then(|shown| shown.query.as_deref()),
        bytes_in,
        upstream: upstream.as_deref(),
        request_id: header("x-request-id"),
        details: details.as_deref(),
        client_id: client_id.as_deref(),
        outcomes: exchange.outcomes(),
        reported_outcome: reported.as_deref(),
        request_body: request_body.as_deref(),
        response_body: response_body.as_deref(),
        ..entry
    };
    entry.write(line, limit);
}

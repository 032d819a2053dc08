//! The trace that a request belongs to, as W3C Trace Context tells it.

/// The parts of a valid `traceparent`, as hexadecimal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceContext<'a> {
    /// 32 lower-case hexadecimal digits, not all zero.
    pub(crate) trace_id: &'a str,
    /// 16 lower-case hexadecimal digits, not all zero.
    pub(crate) span_id: &'a str,
    /// The trace flags.
    pub(crate) flags: u8,
}

impl<'a> TraceContext<'a> {
    /// Reads a `traceparent` header: W3C Trace Context, section 3.2. A version that is not known yet is read as far as
    /// version 00 goes, as section 4.3 has it.
    pub(crate) fn parse(header: &'a [u8]) -> Option<Self> {
        let text = core::str::from_utf8(header).ok()?;
        let (version, rest) = text.split_once('-')?;
        let (trace_id, rest) = rest.split_once('-')?;
        let (span_id, rest) = rest.split_once('-')?;
        let (flags, more) = match rest.split_once('-') {
            Some((flags, _)) => (flags, true),
            None => (rest, false),
        };
        let is_id = |id: &str, length| is_hex(id, length) && id.bytes().any(|digit| digit != b'0');
        let is_version = is_hex(version, 2) && version != "ff" && !(more && version == "00");
        if !is_version || !is_id(trace_id, 32) || !is_id(span_id, 16) || !is_hex(flags, 2) {
            return None;
        }
        Some(Self { trace_id, span_id, flags: u8::from_str_radix(flags, 16).ok()? })
    }
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn reads_this_version_and_those_to_come() {
        for (header, flags) in [
            (format!("00-{TRACE}-{SPAN}-01"), 1),
            (format!("00-{TRACE}-{SPAN}-00"), 0),
            (format!("00-{TRACE}-{SPAN}-ff"), 255),
            (format!("cc-{TRACE}-{SPAN}-03-what-comes-later"), 3),
            (format!("01-{TRACE}-{SPAN}-01"), 1),
        ] {
            let expected = TraceContext { trace_id: TRACE, span_id: SPAN, flags };
            assert_eq!(TraceContext::parse(header.as_bytes()), Some(expected), "{header}");
        }
    }

    #[test]
    fn refuses_what_is_not_valid() {
        for header in [
            String::new(),
            "00".to_owned(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-"),
            format!("00-{TRACE}-{SPAN}-1"),
            format!("00-{TRACE}-{SPAN}-01-"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("0-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-0g"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{}-{SPAN}-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{TRACE}1-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", TRACE.replace('4', "\"")),
            format!(" 00-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-01 "),
            format!("00-{TRACE}-{SPAN}-+1"),
        ] {
            assert_eq!(TraceContext::parse(header.as_bytes()), None, "{header}");
        }
        assert_eq!(TraceContext::parse(b"00-\xff"), None);
    }
}

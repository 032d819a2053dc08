//! A rejection as an HTTP response, in the caller's language.

use std::borrow::Cow;

use portcullis_xml::soap;

use crate::headers::{HeaderList, is_field};
use crate::json;

/// A response that a policy gives in the upstream's stead.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The problem's type, a URI reference (RFC 9457, section 3.1.1); `about:blank` when the status says it all.
    pub problem_type: Cow<'static, str>,
    /// A short summary of the kind of problem.
    pub title: Cow<'static, str>,
    /// What is wrong in this case, for a person at the caller's side.
    pub detail: Option<Cow<'static, str>>,
    /// Further members of the problem document, with string values.
    pub extensions: Vec<(&'static str, Cow<'static, str>)>,
    /// Further members of the problem document, with lists of strings as values.
    pub lists: Vec<(&'static str, Vec<Cow<'static, str>>)>,
    /// A body in place of the problem document. Who speaks another language (SOAP, gRPC) is answered in that.
    pub body: Option<CustomBody>,
    /// Further response headers.
    pub headers: Vec<(&'static str, Vec<u8>)>,
    /// The reason for the host's log, as words joined by `_` (Envoy's response code details).
    pub code_details: &'static str,
}

/// A body that is sent as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomBody {
    /// Its Content-Type.
    pub content_type: Cow<'static, str>,
    /// The body.
    pub bytes: Cow<'static, [u8]>,
}

impl Reply {
    /// A reply with a status and its title; the rest is empty.
    pub fn new(status: u16, title: &'static str, code_details: &'static str) -> Self {
        Self {
            status,
            problem_type: Cow::Borrowed("about:blank"),
            title: Cow::Borrowed(title),
            detail: None,
            extensions: Vec::new(),
            lists: Vec::new(),
            body: None,
            headers: Vec::new(),
            code_details,
        }
    }

    /// 500, for what must not happen.
    pub fn internal_error() -> Self {
        Self::new(500, "Internal Server Error", "portcullis_internal_error")
    }

    /// Adds a response header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Sets the detail.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Writes the body in the language of the request that has these headers. Headers that may not be
    /// [sent](crate::headers::is_field_value) are left out.
    pub fn render(&self, request: Option<&HeaderList>) -> RenderedReply {
        let language = request.map_or(Language::ProblemJson, Language::of);
        let mut body = Vec::new();
        let content_type = match language {
            Language::ProblemJson => match &self.body {
                Some(custom) => {
                    body.extend_from_slice(&custom.bytes);
                    &*custom.content_type
                }
                None => {
                    self.write_problem(&mut body);
                    "application/problem+json"
                }
            },
            Language::Soap11 => self.write_fault(soap::Version::V1_1, &mut body),
            Language::Soap12 => self.write_fault(soap::Version::V1_2, &mut body),
            Language::PlainText => {
                body.extend_from_slice(self.summary().as_bytes());
                "text/plain; charset=utf-8"
            }
        };
        let mut headers = vec![("content-type", content_type.as_bytes().to_vec())];
        headers.extend(self.headers.iter().cloned());
        headers.retain(|(name, value)| is_field(name, value));
        RenderedReply { status: self.status, headers, body, code_details: self.code_details }
    }

    fn summary(&self) -> &str {
        self.detail.as_deref().unwrap_or(&self.title)
    }

    fn write_problem(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"type\":");
        json::write_string(out, self.problem_type.as_bytes(), usize::MAX);
        out.extend_from_slice(b",\"title\":");
        json::write_string(out, self.title.as_bytes(), usize::MAX);
        out.extend_from_slice(format!(",\"status\":{}", self.status).as_bytes());
        if let Some(detail) = &self.detail {
            out.extend_from_slice(b",\"detail\":");
            json::write_string(out, detail.as_bytes(), usize::MAX);
        }
        for (name, value) in &self.extensions {
            out.push(b',');
            json::write_string(out, name.as_bytes(), usize::MAX);
            out.push(b':');
            json::write_string(out, value.as_bytes(), usize::MAX);
        }
        for (name, values) in &self.lists {
            out.push(b',');
            json::write_string(out, name.as_bytes(), usize::MAX);
            out.extend_from_slice(b":[");
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                json::write_string(out, value.as_bytes(), usize::MAX);
            }
            out.push(b']');
        }
        out.extend_from_slice(b"}\n");
    }

    /// Writes a fault, and gives its Content-Type.
    fn write_fault(&self, version: soap::Version, out: &mut Vec<u8>) -> &'static str {
        soap::Fault::new(soap::Code::of_status(self.status), self.summary()).write(version, out);
        version.content_type()
    }
}

/// A reply as the host sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedReply {
    /// The HTTP status.
    pub status: u16,
    /// The response headers, content type first; the host adds the length.
    pub headers: Vec<(&'static str, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
    /// The reason for the host's log.
    pub code_details: &'static str,
}

/// What a caller can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// RFC 9457.
    ProblemJson,
    /// A SOAP 1.1 fault.
    Soap11,
    /// A SOAP 1.2 fault.
    Soap12,
    /// For gRPC: Envoy puts the text into `grpc-message` and maps the status.
    PlainText,
}

impl Language {
    /// The language of a request: SOAP 1.2 by its media type (RFC 3902), SOAP 1.1 by `text/xml` together with
    /// the SOAPAction header that its HTTP binding demands (SOAP 1.1, section 6.1.1), gRPC by its media type.
    pub fn of(request: &HeaderList) -> Self {
        let content_type = request.first("content-type").unwrap_or_default();
        let essence = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let is = |name: &[u8]| essence.eq_ignore_ascii_case(name);
        if is(b"application/soap+xml") {
            Self::Soap12
        } else if is(b"text/xml") && request.contains("soapaction") {
            Self::Soap11
        } else if essence.get(..16).is_some_and(|head| head.eq_ignore_ascii_case(b"application/grpc")) {
            Self::PlainText
        } else {
            Self::ProblemJson
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply() -> Reply {
        let mut reply =
            Reply::new(401, "Unauthorized", "client_id_invalid").with_detail("no <such> \"client\"");
        reply.extensions.push(("reason", Cow::Borrowed("invalid")));
        reply.with_header("www-authenticate", "Basic realm=\"x\"")
    }

    fn body_for(headers: &[(&str, &str)]) -> (String, String) {
        let rendered = reply().render(Some(&headers.iter().copied().collect()));
        assert_eq!(rendered.status, 401);
        assert!(rendered.headers.iter().any(|(name, _)| *name == "www-authenticate"));
        let (_, content_type) = rendered.headers[0].clone();
        (String::from_utf8(content_type).unwrap(), String::from_utf8(rendered.body).unwrap())
    }

    #[test]
    fn speaks_problem_json_by_default() {
        let (content_type, body) = body_for(&[("content-type", "text/xml")]);
        assert_eq!(content_type, "application/problem+json");
        let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            problem,
            serde_json::json!({"type": "about:blank", "title": "Unauthorized", "status": 401,
                "detail": "no <such> \"client\"", "reason": "invalid"})
        );
    }

    #[test]
    fn lists_what_is_several_things() {
        let mut reply = reply();
        reply.lists.push(("violated-policies", vec![Cow::Borrowed("a\"b"), Cow::Borrowed("c")]));
        reply.lists.push(("none", Vec::new()));
        let problem: serde_json::Value = serde_json::from_slice(&reply.render(None).body).unwrap();
        assert_eq!(problem["violated-policies"], serde_json::json!(["a\"b", "c"]));
        assert_eq!(problem["none"], serde_json::json!([]));
    }

    #[test]
    fn puts_a_body_of_one_s_own_in_place_of_the_problem_document_only() {
        let mut reply = reply();
        let (content_type, bytes) = ("application/json", Cow::Borrowed(&b"{\"message\":\"no\"}"[..]));
        reply.body = Some(CustomBody { content_type: Cow::Borrowed(content_type), bytes: bytes.clone() });
        let rendered = reply.render(None);
        assert_eq!(rendered.headers[0], ("content-type", content_type.as_bytes().to_vec()));
        assert_eq!(rendered.body, *bytes);
        let soap = [("content-type", "text/xml"), ("soapaction", "a")].into_iter().collect();
        assert!(String::from_utf8(reply.render(Some(&soap)).body).unwrap().contains("soapenv:Fault"));
        let grpc = [("content-type", "application/grpc")].into_iter().collect();
        assert_eq!(reply.render(Some(&grpc)).body, b"no <such> \"client\"");
    }

    #[test]
    fn leaves_out_headers_that_would_end_their_line() {
        let mut reply = reply().with_header("x-a", "1\r\nset-cookie: a").with_header("x-b", "2");
        let (content_type, bytes) = ("text/html\r\n\r\n<a>", Cow::Borrowed(&b""[..]));
        reply.body = Some(CustomBody { content_type: Cow::Borrowed(content_type), bytes });
        let names: Vec<_> = reply.render(None).headers.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["www-authenticate", "x-b"]);
    }

    #[test]
    fn speaks_soap_1_1_to_a_caller_that_names_its_action() {
        let (content_type, body) =
            body_for(&[("content-type", "text/xml; charset=utf-8"), ("soapaction", "\"\"")]);
        assert_eq!(content_type, "text/xml; charset=utf-8");
        assert!(body.contains("<faultcode>soapenv:Client</faultcode>"), "{body}");
        assert!(body.contains("<faultstring>no &lt;such&gt; &quot;client&quot;</faultstring>"), "{body}");
    }

    #[test]
    fn speaks_soap_1_2_by_media_type() {
        let (content_type, body) = body_for(&[("content-type", "Application/SOAP+xml;action=\"a\"")]);
        assert_eq!(content_type, "application/soap+xml; charset=utf-8");
        assert!(body.contains("<env:Value>env:Sender</env:Value>"), "{body}");
    }

    #[test]
    fn speaks_plainly_to_grpc() {
        let (content_type, body) = body_for(&[("content-type", "application/grpc+proto")]);
        assert_eq!(
            (content_type.as_str(), body.as_str()),
            ("text/plain; charset=utf-8", "no <such> \"client\"")
        );
    }

    #[test]
    fn blames_the_server_from_500_on() {
        let soap: HeaderList = [("content-type", "text/xml"), ("soapaction", "a")].into_iter().collect();
        let body = Reply::internal_error().render(Some(&soap)).body;
        assert!(String::from_utf8(body).unwrap().contains("soapenv:Server"));
    }
}

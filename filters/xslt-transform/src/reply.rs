//! What clients are told, and what is written down.

use portcullis_policy::{Direction, Reply};

use crate::failure::Failure;

/// What a client is told whose request, or the response to it, cannot be transformed.
pub(crate) fn refusal(at: Direction, failure: Failure) -> Reply {
    if at == Direction::Response && failure == Failure::Busy {
        return Reply::new(503, "Service Unavailable", "xslt_transform_response_busy")
            .with_detail("There are too many messages to be transformed at the moment.");
    }
    if at == Direction::Response {
        let (code, detail) = match failure {
            Failure::ContentType => ("xslt_transform_response_content_type", "is of a media type that"),
            Failure::Encoded => ("xslt_transform_response_encoded", "has a content coding and"),
            Failure::Multipart => ("xslt_transform_response_multipart", "has several parts and"),
            Failure::Partial => ("xslt_transform_response_partial", "is a part of something larger and"),
            Failure::TooLarge => ("xslt_transform_response_too_large", "is too large and"),
            Failure::Malformed => ("xslt_transform_response_malformed", "is malformed and"),
            Failure::Stylesheet | Failure::Redirected | Failure::Busy => {
                ("xslt_transform_response_stylesheet", "is such that it")
            }
        };
        return Reply::new(502, "Bad Gateway", code)
            .with_detail(format!("The upstream's response {detail} cannot be transformed."));
    }
    match failure {
        Failure::ContentType => Reply::new(415, "Unsupported Media Type", "xslt_transform_content_type")
            .with_detail("Requests of this media type cannot be transformed."),
        // RFC 9110, section 15.5.16: the field says that it is the coding.
        Failure::Encoded => Reply::new(415, "Unsupported Media Type", "xslt_transform_encoded")
            .with_header("accept-encoding", "identity")
            .with_detail("Requests with a content coding cannot be transformed."),
        Failure::Multipart => Reply::new(415, "Unsupported Media Type", "xslt_transform_multipart")
            .with_detail("Requests of several parts cannot be transformed."),
        // RFC 9110, section 14.5.
        Failure::Partial => Reply::new(400, "Bad Request", "xslt_transform_partial")
            .with_detail("A part of a document cannot be transformed."),
        Failure::TooLarge => Reply::new(413, "Content Too Large", "xslt_transform_too_large")
            .with_detail("The request's body is too large to be transformed."),
        Failure::Malformed => Reply::new(400, "Bad Request", "xslt_transform_malformed")
            .with_detail("The request's body is malformed, or is not what it has to be."),
        Failure::Stylesheet => Reply::new(500, "Internal Server Error", "xslt_transform_stylesheet")
            .with_detail("The request cannot be transformed."),
        Failure::Redirected => Reply::new(500, "Internal Server Error", "xslt_transform_redirected")
            .with_detail("A request that was redirected cannot be transformed again."),
        Failure::Busy => Reply::new(503, "Service Unavailable", "xslt_transform_busy")
            .with_detail("There are too many messages to be transformed at the moment."),
    }
}

/// What a client is told if the host does not do what is needed.
pub(crate) fn host_failure(at: Direction) -> Reply {
    match at {
        Direction::Request => Reply::new(503, "Service Unavailable", "xslt_transform_host")
            .with_detail("The request cannot be transformed at the moment."),
        Direction::Response => Reply::new(502, "Bad Gateway", "xslt_transform_response_host")
            .with_detail("The upstream's response cannot be transformed at the moment."),
    }
}

/// What has become of a message, as a word for the log.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    Transformed,
    Exempt,
    Failed(Failure),
    Host,
}

/// The word.
pub(crate) const fn word(at: Direction, event: Event) -> &'static str {
    match (at, event) {
        (Direction::Request, Event::Transformed) => "request-transformed",
        (Direction::Request, Event::Exempt) => "request-exempt",
        (Direction::Request, Event::Host) => "request-host",
        (Direction::Request, Event::Failed(failure)) => match failure {
            Failure::ContentType => "request-content-type",
            Failure::Encoded => "request-encoded",
            Failure::Multipart => "request-multipart",
            Failure::Partial => "request-partial",
            Failure::TooLarge => "request-too-large",
            Failure::Malformed => "request-malformed",
            Failure::Stylesheet => "request-stylesheet",
            Failure::Redirected => "request-redirected",
            Failure::Busy => "request-busy",
        },
        (Direction::Response, Event::Transformed) => "response-transformed",
        (Direction::Response, Event::Exempt) => "response-exempt",
        (Direction::Response, Event::Host) => "response-host",
        (Direction::Response, Event::Failed(failure)) => match failure {
            Failure::ContentType => "response-content-type",
            Failure::Encoded => "response-encoded",
            Failure::Multipart => "response-multipart",
            Failure::Partial => "response-partial",
            Failure::TooLarge => "response-too-large",
            Failure::Malformed => "response-malformed",
            Failure::Stylesheet => "response-stylesheet",
            Failure::Redirected => "response-redirected",
            Failure::Busy => "response-busy",
        },
    }
}

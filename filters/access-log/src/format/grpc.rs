//! gRPC's statuses (<https://grpc.github.io/grpc/core/md_doc_statuscodes.html>), spelled as Envoy spells them.

use super::operator::GrpcStyle;

/// By code: camel case, snake case.
const NAMES: [(&str, &str); 17] = [
    ("OK", "OK"),
    ("Canceled", "CANCELLED"),
    ("Unknown", "UNKNOWN"),
    ("InvalidArgument", "INVALID_ARGUMENT"),
    ("DeadlineExceeded", "DEADLINE_EXCEEDED"),
    ("NotFound", "NOT_FOUND"),
    ("AlreadyExists", "ALREADY_EXISTS"),
    ("PermissionDenied", "PERMISSION_DENIED"),
    ("ResourceExhausted", "RESOURCE_EXHAUSTED"),
    ("FailedPrecondition", "FAILED_PRECONDITION"),
    ("Aborted", "ABORTED"),
    ("OutOfRange", "OUT_OF_RANGE"),
    ("Unimplemented", "UNIMPLEMENTED"),
    ("Internal", "INTERNAL"),
    ("Unavailable", "UNAVAILABLE"),
    ("DataLoss", "DATA_LOSS"),
    ("Unauthenticated", "UNAUTHENTICATED"),
];

/// The name of a code; none if it has none.
pub(crate) fn name(code: u64, style: GrpcStyle) -> Option<&'static str> {
    let (camel, snake) = NAMES.get(usize::try_from(code).ok()?)?;
    match style {
        GrpcStyle::Camel => Some(camel),
        GrpcStyle::Snake => Some(snake),
        GrpcStyle::Number => None,
    }
}

/// Whether a request of this content type is one of gRPC's.
pub(crate) fn is_content_type(value: &[u8]) -> bool {
    value.strip_prefix(b"application/grpc").is_some_and(|rest| matches!(rest.first(), None | Some(b'+')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_codes_and_knows_grpc() {
        assert_eq!(name(5, GrpcStyle::Camel), Some("NotFound"));
        assert_eq!(name(5, GrpcStyle::Snake), Some("NOT_FOUND"));
        assert_eq!(name(16, GrpcStyle::Camel), Some("Unauthenticated"));
        assert_eq!(name(17, GrpcStyle::Camel), None);
        for (content_type, expected) in [
            ("application/grpc", true),
            ("application/grpc+proto", true),
            ("application/grpc-web", false),
            ("application/json", false),
        ] {
            assert_eq!(is_content_type(content_type.as_bytes()), expected, "{content_type}");
        }
    }
}

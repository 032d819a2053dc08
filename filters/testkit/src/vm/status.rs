//! The statuses that a hostcall of ABI 0.2.1 may answer with.

/// The call did what was asked.
pub const OK: u32 = 0;
/// No such key, metric, queue, function or buffer.
pub const NOT_FOUND: u32 = 1;
/// An argument out of range, or a map that is not there in this phase.
pub const BAD_ARGUMENT: u32 = 2;
/// The host could not encode a value.
pub const SERIALIZATION_FAILURE: u32 = 3;
/// The host could not decode an argument.
pub const PARSE_FAILURE: u32 = 4;
/// An expression the host could not evaluate.
pub const BAD_EXPRESSION: u32 = 5;
/// A pointer outside the module's memory, or no memory for the answer.
pub const INVALID_MEMORY_ACCESS: u32 = 6;
/// The queue holds nothing.
pub const EMPTY: u32 = 7;
/// Another writer was faster.
pub const CAS_MISMATCH: u32 = 8;
/// The result is not of the type that was asked for.
pub const RESULT_MISMATCH: u32 = 9;
/// The host failed, or denies the call.
pub const INTERNAL_FAILURE: u32 = 10;
/// The connection to the peer is gone.
pub const BROKEN_CONNECTION: u32 = 11;
/// The host does not offer this call.
pub const UNIMPLEMENTED: u32 = 12;

/// Every status worth trying on a module: `OK`, all the errors the host defines, and values nobody defines.
///
/// Injecting [`OK`] makes the host claim success and do nothing: nothing is stored, no return slot is written.
pub const STATUSES: &[u32] = &[
    OK,
    NOT_FOUND,
    BAD_ARGUMENT,
    SERIALIZATION_FAILURE,
    PARSE_FAILURE,
    BAD_EXPRESSION,
    INVALID_MEMORY_ACCESS,
    EMPTY,
    CAS_MISMATCH,
    RESULT_MISMATCH,
    INTERNAL_FAILURE,
    BROKEN_CONNECTION,
    UNIMPLEMENTED,
    13,
    99,
    i32::MAX.cast_unsigned(),
    u32::MAX,
];

/// The name of a status, for messages.
#[must_use]
pub fn name(status: u32) -> &'static str {
    match status {
        OK => "Ok",
        NOT_FOUND => "NotFound",
        BAD_ARGUMENT => "BadArgument",
        SERIALIZATION_FAILURE => "SerializationFailure",
        PARSE_FAILURE => "ParseFailure",
        BAD_EXPRESSION => "BadExpression",
        INVALID_MEMORY_ACCESS => "InvalidMemoryAccess",
        EMPTY => "Empty",
        CAS_MISMATCH => "CasMismatch",
        RESULT_MISMATCH => "ResultMismatch",
        INTERNAL_FAILURE => "InternalFailure",
        BROKEN_CONNECTION => "BrokenConnection",
        UNIMPLEMENTED => "Unimplemented",
        _ => "undefined",
    }
}

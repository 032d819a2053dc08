//! How a VM fails.

use std::fmt;

use super::record::LogLine;

/// The cause of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrapKind {
    /// The module could not be instantiated, or exports a callback with a signature that is not the ABI's.
    Link,
    /// The module executed `unreachable`: a panic, in Rust.
    Unreachable,
    /// The callback used up its fuel.
    OutOfFuel,
    /// The callback used up its stack.
    StackOverflow,
    /// An access outside memory.
    MemoryOutOfBounds,
    /// The module called `proxy_*` while it initialized, which the host forbids.
    Forbidden,
    /// The module called `proc_exit` with this code.
    Exit(i32),
    /// Any other trap of the machine.
    Other,
    /// An earlier callback failed; the host calls a failed VM no more.
    AlreadyFailed,
}

/// A callback that did not return. The VM is lost, as it would be in Envoy.
#[derive(Clone, PartialEq, Eq)]
pub struct Trap {
    inner: Box<Inner>,
}

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: TrapKind,
    callback: String,
    message: String,
    log: Vec<LogLine>,
}

impl Trap {
    pub(super) fn new(kind: TrapKind, callback: &str, message: String, log: &[LogLine]) -> Self {
        let inner = Inner { kind, callback: callback.to_owned(), message, log: log.to_vec() };
        Self { inner: Box::new(inner) }
    }

    pub(super) fn from_error(callback: &str, error: &wasmtime::Error, log: &[LogLine]) -> Self {
        let kind = match error.downcast_ref::<Refused>() {
            Some(Refused::Forbidden(_)) => TrapKind::Forbidden,
            Some(Refused::Exit(code)) => TrapKind::Exit(*code),
            None => match error.downcast_ref::<wasmtime::Trap>() {
                Some(wasmtime::Trap::OutOfFuel) => TrapKind::OutOfFuel,
                Some(wasmtime::Trap::UnreachableCodeReached) => TrapKind::Unreachable,
                Some(wasmtime::Trap::StackOverflow) => TrapKind::StackOverflow,
                Some(wasmtime::Trap::MemoryOutOfBounds) => TrapKind::MemoryOutOfBounds,
                Some(_) => TrapKind::Other,
                None => TrapKind::Link,
            },
        };
        Self::new(kind, callback, format!("{error:#}"), log)
    }

    /// Why.
    #[must_use]
    pub fn kind(&self) -> TrapKind {
        self.inner.kind
    }

    /// The export that was running.
    #[must_use]
    pub fn callback(&self) -> &str {
        &self.inner.callback
    }

    /// The machine's own words.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// All that the VM had logged until then, oldest first; a panic's message is usually the last line.
    #[must_use]
    pub fn log(&self) -> &[LogLine] {
        &self.inner.log
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed ({:?}): {}", self.inner.callback, self.inner.kind, self.inner.message)?;
        let shown = 10;
        let skipped = self.inner.log.len().saturating_sub(shown);
        if skipped > 0 {
            write!(f, "\n  … {skipped} earlier log lines")?;
        }
        self.inner.log.iter().skip(skipped).try_for_each(|line| write!(f, "\n  {line}"))
    }
}

impl fmt::Debug for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Trap {}

/// Why the host itself stopped a module in the middle of a call.
#[derive(Clone, Debug)]
pub(super) enum Refused {
    Forbidden(&'static str),
    Exit(i32),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forbidden(name) => write!(f, "{name} was called while the module initialized"),
            Self::Exit(code) => write!(f, "proc_exit({code})"),
        }
    }
}

impl std::error::Error for Refused {}

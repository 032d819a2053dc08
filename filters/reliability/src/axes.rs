//! What the situations of the matrix are made of.

use serde::{Deserialize, Serialize};

/// An enumeration whose values have a short name, by which results and the page call them, and a sentence for the page.
macro_rules! axis {
    ($(#[doc = $doc:literal])+ $axis:ident { $($value:ident = $name:literal: $meaning:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $axis {
            $(#[doc = $meaning] #[serde(rename = $name)] $value,)+
        }

        impl $axis {
            /// All values in order.
            pub const ALL: &[Self] = &[$(Self::$value,)+];

            /// Its short name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)+ }
            }

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$value => $meaning,)+ }
            }
        }
    };
}

axis! {
    /// What stands in Envoy: one policy's module, or the gateway with all policies as one chain.
    Subject {
        ClientId = "client-id": "Asks an auth service about each client.",
        RateLimit = "rate-limit": "Asks a rate limit service about each request.",
        AccessLog = "access-log": "Writes a line to Envoy's log, and sends it to a collector.",
        ContentRouter = "content-router": "Routes by an element of the body.",
        XsltTransform = "xslt-transform": "Transforms request and response.",
        Gateway = "gateway": "All of them as one chain, in this order but for access-log, which comes last.",
    }
}

axis! {
    /// What the configuration says of requests that a service has not decided on.
    Mode {
        Fixed = "-": "There is nothing to configure.",
        Closed = "closed": "They are refused.",
        Open = "open": "They pass.",
        Local = "local": "They are counted by the gateway itself.",
    }
}

axis! {
    /// HTTP between client and Envoy.
    Protocol {
        One = "HTTP/1.1": "HTTP/1.1, a connection for each request.",
        Two = "HTTP/2": "HTTP/2 in clear text, a connection for each request.",
    }
}

axis! {
    /// What the request is like.
    Framing {
        Length = "content-length": "POST with a body whose length is announced.",
        Chunked = "chunked": "POST with a body without a length: chunked over HTTP/1.1.",
        Trailers = "trailers": "The same, ending in trailers.",
        NoBody = "no body": "GET.",
        Upgrade = "upgrade": "A WebSocket handshake: `Upgrade` over HTTP/1.1, extended CONNECT (RFC 8441) over HTTP/2.",
        Expect = "expect-continue": "POST with `expect: 100-continue`. Over HTTP/1.1 the client waits for the 100.",
        Head = "HEAD": "HEAD.",
    }
}

axis! {
    /// How the request comes.
    Pace {
        OneWrite = "one write": "All at once.",
        ByteByByte = "1-byte writes": "Each byte in a write of its own, headers and frames included.",
        Paused = "paused": "Half of the body, a pause until Envoy has treated that, and the rest.",
        AbortedMidBody = "aborted mid-body": "Half of the body; when nothing more comes of that, a reset.",
        AbortedMidCallOut = "aborted mid-call-out": "All of the request, and a reset while a service is being asked.",
    }
}

axis! {
    /// What the gateway depends on.
    Dependency {
        Auth = "auth service": "client-id's, over HTTP/1.1.",
        Limits = "rate limit service": "rate-limit's, by gRPC.",
        Collector = "collector": "access-log's, by OTLP over HTTP/1.1.",
        Upstream = "upstream": "The service behind the gateway, over HTTP/1.1.",
    }
}

axis! {
    /// How a dependency fails.
    Failure {
        Refused = "refused": "Nobody listens on its port.",
        Slow = "slow": "It takes the request and does not answer in time.",
        Reset = "reset": "It takes the request and resets the connection.",
        Error = "5xx": "It answers 500.",
        Garbage = "garbage": "It answers bytes that are no HTTP.",
        Huge = "huge reply": "It answers 40 MiB, more than Envoy keeps of a call-out; the upstream 5 MiB.",
    }
}

impl Framing {
    /// Whether the request has a body.
    pub fn has_body(self) -> bool {
        matches!(self, Self::Length | Self::Chunked | Self::Trailers | Self::Expect)
    }
}

impl Pace {
    /// Whether the client leaves before it has an answer.
    pub fn is_aborted(self) -> bool {
        matches!(self, Self::AbortedMidBody | Self::AbortedMidCallOut)
    }
}

/// One dependency that fails; the others are up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fault {
    /// Which one.
    pub dependency: Dependency,
    /// How.
    pub failure: Failure,
}

impl Subject {
    /// What it depends on.
    pub fn dependencies(self) -> &'static [Dependency] {
        use Dependency::{Auth, Collector, Limits, Upstream};
        match self {
            Self::ClientId => &[Auth, Upstream],
            Self::RateLimit => &[Limits, Upstream],
            Self::AccessLog => &[Collector, Upstream],
            Self::ContentRouter | Self::XsltTransform => &[Upstream],
            Self::Gateway => &[Auth, Limits, Collector, Upstream],
        }
    }

    /// How it can be configured.
    pub fn modes(self) -> &'static [Mode] {
        match self {
            Self::ClientId | Self::Gateway => &[Mode::Closed, Mode::Open],
            Self::RateLimit => &[Mode::Local, Mode::Closed, Mode::Open],
            Self::AccessLog | Self::ContentRouter | Self::XsltTransform => &[Mode::Fixed],
        }
    }

    /// The policies in it, in the order in which requests pass them.
    pub fn policies(self) -> &'static [Subject] {
        match self {
            Self::ClientId => &[Self::ClientId],
            Self::RateLimit => &[Self::RateLimit],
            Self::AccessLog => &[Self::AccessLog],
            Self::ContentRouter => &[Self::ContentRouter],
            Self::XsltTransform => &[Self::XsltTransform],
            Self::Gateway => {
                &[Self::ClientId, Self::RateLimit, Self::ContentRouter, Self::XsltTransform, Self::AccessLog]
            }
        }
    }

    /// Whether this policy is in it.
    pub fn has(self, policy: Subject) -> bool {
        self.policies().contains(&policy)
    }

    /// The faults that it can meet, and first that there is none.
    pub fn faults(self) -> Vec<Option<Fault>> {
        let of = |dependency: &Dependency| {
            let dependency = *dependency;
            Failure::ALL.iter().map(move |failure| Some(Fault { dependency, failure: *failure }))
        };
        [None].into_iter().chain(self.dependencies().iter().flat_map(of)).collect()
    }
}

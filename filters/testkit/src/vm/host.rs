//! The host's side of a running VM: the script, the contexts, and which context hostcalls act on.

use std::collections::{BTreeMap, BTreeSet};

use wasmtime::{StoreLimits, StoreLimitsBuilder};

use super::exchange::{Exchange, MapType, Side};
use super::header_map::HeaderMap;
use super::memory::Guest;
use super::record::{ContextId, LogLevel, LogLine, LogSource};
use super::script::Script;
use super::status;

/// The answer to an HTTP call-out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallReply {
    /// Response headers, `:status` among them.
    pub headers: HeaderMap,
    /// Response body.
    pub body: Vec<u8>,
    /// Response trailers.
    pub trailers: HeaderMap,
}

/// What a call-out brought, while the callback that tells of it runs.
#[derive(Debug, Default)]
pub(super) struct Inbound {
    pub(super) http: Option<CallReply>,
    pub(super) grpc_initial: Option<HeaderMap>,
    pub(super) grpc_trailing: Option<HeaderMap>,
    pub(super) grpc_message: Option<Vec<u8>>,
    pub(super) call_data: Vec<u8>,
    pub(super) status: (u32, Vec<u8>),
}

#[derive(Debug)]
pub(super) enum Context {
    Vm,
    Root,
    Exchange(Box<Exchange>),
}

/// When the module may read its plugin configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// `_initialize` runs: only logging and WASI are allowed.
    Initializing,
    /// The plugin's configuration is in reach.
    Configuring,
    /// Everything else.
    Running,
}

pub(super) struct Host {
    pub(super) script: Script,
    pub(super) guest: Option<Guest>,
    pub(super) limits: StoreLimits,
    pub(super) phase: Phase,
    pub(super) contexts: BTreeMap<u32, Context>,
    pub(super) finished: BTreeMap<u32, Exchange>,
    pub(super) awaiting_done: BTreeSet<u32>,
    pub(super) current: ContextId,
    pub(super) effective: ContextId,
    pub(super) inbound: Inbound,
    /// A local response was sent: the host stops iterating whatever the callback returns.
    pub(super) stop_iteration: bool,
    pub(super) next_http_token: u32,
    pub(super) next_grpc_token: u32,
    pub(super) open_grpc: BTreeSet<u32>,
    random: u64,
}

impl Host {
    pub(super) fn new(script: Script) -> Self {
        Self {
            limits: StoreLimitsBuilder::new().memory_size(script.memory_limit).build(),
            random: script.random_seed,
            script,
            guest: None,
            phase: Phase::Initializing,
            contexts: BTreeMap::from([(ContextId::VM.0, Context::Vm)]),
            finished: BTreeMap::new(),
            awaiting_done: BTreeSet::new(),
            current: ContextId::VM,
            effective: ContextId::VM,
            inbound: Inbound::default(),
            stop_iteration: false,
            next_http_token: 1,
            next_grpc_token: 1,
            open_grpc: BTreeSet::new(),
        }
    }

    /// The context that hostcalls act on: the effective one when set and alive, else the current one.
    pub(super) fn context_id(&self) -> ContextId {
        if self.effective != ContextId::VM && self.contexts.contains_key(&self.effective.0) {
            self.effective
        } else {
            self.current
        }
    }

    pub(super) fn exchange(&self) -> Option<&Exchange> {
        match self.contexts.get(&self.context_id().0)? {
            Context::Exchange(exchange) => Some(exchange),
            Context::Vm | Context::Root => None,
        }
    }

    pub(super) fn exchange_mut(&mut self) -> Option<&mut Exchange> {
        self.exchange_of(self.context_id())
    }

    pub(super) fn exchange_of(&mut self, id: ContextId) -> Option<&mut Exchange> {
        match self.contexts.get_mut(&id.0)? {
            Context::Exchange(exchange) => Some(exchange),
            Context::Vm | Context::Root => None,
        }
    }

    pub(super) fn readable_map(&self, map: MapType) -> Option<&HeaderMap> {
        match map {
            MapType::GrpcInitialMetadata => self.inbound.grpc_initial.as_ref(),
            MapType::GrpcTrailingMetadata => self.inbound.grpc_trailing.as_ref(),
            MapType::HttpCallHeaders => self.inbound.http.as_ref().map(|reply| &reply.headers),
            MapType::HttpCallTrailers => {
                self.inbound.http.as_ref().map(|reply| &reply.trailers).filter(|map| !map.is_empty())
            }
            _ => self.exchange()?.readable(map),
        }
    }

    /// Changes a map of the exchange; a change of request headers clears the route cache.
    pub(super) fn change_map(
        &mut self,
        map: MapType,
        change: impl FnOnce(&mut HeaderMap),
    ) -> Result<(), u32> {
        let exchange = self.exchange_mut().ok_or(status::BAD_ARGUMENT)?;
        change(exchange.writable(map).ok_or(status::BAD_ARGUMENT)?);
        if map == MapType::RequestHeaders {
            self.script.record.route_cache_clears += 1;
        }
        Ok(())
    }

    pub(super) fn body_mut(&mut self, side: Side) -> Option<&mut Vec<u8>> {
        self.exchange_mut()?.body_mut(side).reachable_mut()
    }

    pub(super) fn log(&mut self, level: LogLevel, source: LogSource, text: &[u8]) {
        let context = self.context_id();
        let text = String::from_utf8_lossy(text).into_owned();
        self.script.record.log.push(LogLine { level, source, context, text });
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014): small, seeded, and good enough to look random to a module.
    pub(super) fn random_bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length + 8);
        while bytes.len() < length {
            self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = self.random;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            bytes.extend((word ^ (word >> 31)).to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }
}

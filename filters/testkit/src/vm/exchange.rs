//! One HTTP exchange as the host keeps it, and when which part of it is within the module's reach.

use std::collections::{BTreeMap, BTreeSet};

use super::header_map::HeaderMap;

/// The header maps of the ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MapType {
    /// Request headers.
    RequestHeaders,
    /// Request trailers.
    RequestTrailers,
    /// Response headers.
    ResponseHeaders,
    /// Response trailers.
    ResponseTrailers,
    /// Initial metadata of a gRPC call-out's answer.
    GrpcInitialMetadata,
    /// Trailing metadata of a gRPC call-out's answer.
    GrpcTrailingMetadata,
    /// Headers of an HTTP call-out's answer.
    HttpCallHeaders,
    /// Trailers of an HTTP call-out's answer.
    HttpCallTrailers,
}

impl MapType {
    pub(super) fn from_wire(map: u32) -> Option<Self> {
        [
            Self::RequestHeaders,
            Self::RequestTrailers,
            Self::ResponseHeaders,
            Self::ResponseTrailers,
            Self::GrpcInitialMetadata,
            Self::GrpcTrailingMetadata,
            Self::HttpCallHeaders,
            Self::HttpCallTrailers,
        ]
        .into_iter()
        .nth(usize::try_from(map).ok()?)
    }
}

/// The request or the response of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// From the client.
    Request,
    /// From the upstream.
    Response,
}

/// A message body on its way through the filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// What the module sees in its body callback: the chunk, or all chunks since it paused.
    pub buffer: Vec<u8>,
    /// What went past the filter.
    pub passed: Vec<u8>,
    held: bool,
    in_reach: bool,
}

impl Body {
    pub(super) fn receive(&mut self, chunk: &[u8]) {
        if !self.held {
            self.buffer.clear();
        }
        self.buffer.extend_from_slice(chunk);
        self.in_reach = true;
    }

    pub(super) fn hold(&mut self) {
        self.held = true;
    }

    pub(super) fn drop_chunk(&mut self) {
        self.buffer.clear();
        self.held = false;
    }

    pub(super) fn pass(&mut self) {
        self.passed.append(&mut self.buffer);
        self.held = false;
        self.in_reach = false;
    }

    pub(super) fn pass_held(&mut self) {
        if self.held {
            self.pass();
        }
    }

    pub(super) fn reachable(&self) -> Option<&Vec<u8>> {
        self.in_reach.then_some(&self.buffer)
    }

    pub(super) fn reachable_mut(&mut self) -> Option<&mut Vec<u8>> {
        self.in_reach.then_some(&mut self.buffer)
    }
}

/// Properties by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    by_path: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Properties {
    /// Sets a property; the value is in Envoy's serialization (text as it is, integers as 8 bytes
    /// little-endian, …).
    pub fn set(&mut self, path: &[&str], value: impl Into<Vec<u8>>) {
        self.set_wire(path.join("\0").as_bytes(), value.into());
    }

    /// The value at this path.
    #[must_use]
    pub fn get(&self, path: &[&str]) -> Option<&[u8]> {
        self.get_wire(path.join("\0").as_bytes())
    }

    pub(super) fn set_wire(&mut self, path: &[u8], value: Vec<u8>) {
        self.by_path.insert(path.strip_suffix(b"\0").unwrap_or(path).to_vec(), value);
    }

    pub(super) fn get_wire(&self, path: &[u8]) -> Option<&[u8]> {
        self.by_path.get(path.strip_suffix(b"\0").unwrap_or(path)).map(Vec::as_slice)
    }
}

/// An exchange: its maps, bodies and properties.
///
/// A module reaches a map only from the callback that brings it until the callback that lets it go, as in
/// Envoy: request headers, for one, are out of reach once the module returned Continue. While logging, the
/// headers of both sides and the response trailers can be read, not changed. A test sees everything always.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    maps: BTreeMap<MapType, HeaderMap>,
    /// The request's body.
    pub request_body: Body,
    /// The response's body.
    pub response_body: Body,
    /// Properties of this exchange alone, those that the module set included.
    pub properties: Properties,
    in_reach: BTreeSet<MapType>,
    logging: bool,
}

impl Exchange {
    /// A map as it stands.
    #[must_use]
    pub fn map(&self, map: MapType) -> &HeaderMap {
        static EMPTY: HeaderMap = HeaderMap::new();
        self.maps.get(&map).unwrap_or(&EMPTY)
    }

    /// A map, for a test to change.
    pub fn map_mut(&mut self, map: MapType) -> &mut HeaderMap {
        self.maps.entry(map).or_default()
    }

    /// The same exchange with this map.
    #[must_use]
    pub fn with_map(mut self, map: MapType, headers: impl Into<HeaderMap>) -> Self {
        self.maps.insert(map, headers.into());
        self
    }

    /// The body of a side.
    #[must_use]
    pub fn body(&self, side: Side) -> &Body {
        match side {
            Side::Request => &self.request_body,
            Side::Response => &self.response_body,
        }
    }

    pub(super) fn body_mut(&mut self, side: Side) -> &mut Body {
        match side {
            Side::Request => &mut self.request_body,
            Side::Response => &mut self.response_body,
        }
    }

    pub(super) fn bring(&mut self, map: MapType) {
        self.in_reach.insert(map);
    }

    pub(super) fn release(&mut self, map: MapType) {
        self.in_reach.remove(&map);
    }

    /// Envoy forgets the request's parts whichever side is told to go on.
    pub(super) fn resume(&mut self, side: Side) {
        self.release(MapType::RequestHeaders);
        self.release(MapType::RequestTrailers);
        self.request_body.in_reach = false;
        self.body_mut(side).pass_held();
    }

    pub(super) fn begin_log(&mut self) {
        self.logging = true;
    }

    pub(super) fn end_log(&mut self) {
        self.logging = false;
    }

    pub(super) fn readable(&self, map: MapType) -> Option<&HeaderMap> {
        let logged =
            matches!(map, MapType::RequestHeaders | MapType::ResponseHeaders | MapType::ResponseTrailers);
        (self.in_reach.contains(&map) || self.logging && logged).then(|| self.map(map))
    }

    pub(super) fn writable(&mut self, map: MapType) -> Option<&mut HeaderMap> {
        self.in_reach.contains(&map).then(|| self.maps.entry(map).or_default())
    }
}

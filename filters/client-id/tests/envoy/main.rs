//! The policy's module in a stock Envoy, over HTTP/1.1 and HTTP/2.
#![cfg(test)]

mod aborts;
mod caches_in_front;
mod capabilities;
mod coalescing;
mod configuration;
mod credentials;
mod floods;
mod identity;
mod nginx_as_auth_service;
mod observability;
mod oddities;
mod outages;
mod pending_bodies;
mod provoked_outages;
mod registry;
mod rejections;
mod shared_cache;
mod shared_vm;
mod support;
mod upgrades;

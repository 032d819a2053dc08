//! Limits that gateways share through a rate limit service: the policy on a host in the test's own process; its module in
//! a stock Envoy, with Envoy's reference service and a Redis behind it, and with services that misbehave.
#![cfg(test)]

mod crafted;
mod outages;
mod scenarios;
mod sharing;
mod support;
mod wire;

//! A proxy that runs, of whatever make.

use std::net::SocketAddr;

use portcullis_testkit::envoy::{Envoy, EnvoyConfig};

use crate::nginx::{Nginx, NginxConfig};

/// What a proxy runs with.
pub enum Config {
    Envoy(Box<EnvoyConfig>),
    Nginx(NginxConfig),
}

/// A running proxy, stopped when dropped.
pub enum Gateway {
    Envoy(Box<Envoy>),
    Nginx(Nginx),
}

impl Gateway {
    pub fn start(config: &Config) -> Result<Self, String> {
        match config {
            Config::Envoy(config) => match Envoy::try_start(config) {
                Ok(envoy) => Ok(Self::Envoy(Box::new(envoy))),
                Err(error) => Err(error.to_string()),
            },
            Config::Nginx(config) => Nginx::start(config).map(Self::Nginx),
        }
    }

    pub fn addr(&self) -> SocketAddr {
        match self {
            Self::Envoy(envoy) => envoy.addr(),
            Self::Nginx(nginx) => nginx.addr(),
        }
    }

    /// The process that does all the work.
    pub fn pid(&self) -> u32 {
        match self {
            Self::Envoy(envoy) => envoy.pid(),
            Self::Nginx(nginx) => nginx.pid(),
        }
    }
}

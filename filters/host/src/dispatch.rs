//! From the host's callbacks to the engine of the plugin that they are for.
//!
//! A VM can hold several plugins: root contexts, each with its own configuration. Every function here is the body
//! of one exported callback; none panics, and what cannot be right (a callback for a context that was never
//! created) refuses the exchange rather than lets it pass.

use core::cell::RefCell;

use portcullis_policy::CallOutReply;
use portcullis_policy::host::{CallToken, Direction, Platform};
use portcullis_policy::{Chain, ConfigError, EndOfStream, Engine, ExchangeId, Next, Shutdown};

use crate::{WasmHost, abi};

/// What a module is: its name for the log, its version, and how a configuration becomes a chain.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// The module's name.
    pub name: &'static str,
    /// The module's version.
    pub version: &'static str,
    /// Builds the chain that the configuration document asks for.
    pub chain: fn(&[u8]) -> Result<Chain, ConfigError>,
}

/// `proxy_action_t`.
const CONTINUE: u32 = 0;
const PAUSE: u32 = 1;

struct Plugin {
    root_id: u32,
    host: WasmHost,
    engine: Option<Engine>,
}

thread_local! {
    static PLUGINS: RefCell<Vec<Plugin>> = const { RefCell::new(Vec::new()) };
}

/// Runs `run` on the plugins, or gives `otherwise` if a callback is running already, which no host should do.
fn with_plugins<T>(otherwise: T, run: impl FnOnce(&mut Vec<Plugin>) -> T) -> T {
    PLUGINS.with(|plugins| match plugins.try_borrow_mut() {
        Ok(mut plugins) => run(&mut plugins),
        Err(_) => otherwise,
    })
}

fn with_root<T>(root_id: u32, otherwise: T, run: impl FnOnce(&mut Plugin) -> T) -> T {
    with_plugins(None, |plugins| plugins.iter_mut().find(|plugin| plugin.root_id == root_id).map(run))
        .unwrap_or(otherwise)
}

fn with_exchange<T>(context_id: u32, otherwise: T, run: impl FnOnce(&mut Engine, &WasmHost) -> T) -> T {
    with_plugins(None, |plugins| {
        // Where there is one plugin, as nearly always, every context that is not the plugin's own can be for it alone;
        // its engine knows what to do with a stranger.
        let is_alone = plugins.len() == 1;
        plugins
            .iter_mut()
            .find_map(|Plugin { root_id, host, engine }| {
                let engine = engine.as_mut()?;
                let has = if is_alone { *root_id != context_id } else { engine.has(ExchangeId(context_id)) };
                has.then_some((engine, &*host))
            })
            .map(|(engine, host)| run(engine, host))
    })
    .unwrap_or(otherwise)
}

/// `proxy_on_context_create`: of a plugin if `parent_id` is 0, else of an exchange.
pub fn on_context_create(context_id: u32, parent_id: u32) {
    with_plugins((), |plugins| {
        if parent_id == 0 {
            plugins.retain(|plugin| plugin.root_id != context_id);
            plugins.push(Plugin { root_id: context_id, host: WasmHost::new(context_id), engine: None });
        } else if let Some(Plugin { host, engine: Some(engine), .. }) =
            plugins.iter_mut().find(|plugin| plugin.root_id == parent_id)
        {
            engine.open(host, ExchangeId(context_id));
        }
    });
}

/// `proxy_on_vm_start`: says which code this is.
pub fn on_vm_start(definition: Definition) -> u32 {
    let Definition { name, version, .. } = definition;
    let _ =
        abi::log(abi::LogLevel::Info, &format!("portcullis {name} {version} (revision {})", crate::REVISION));
    1
}

/// `proxy_on_configure`: takes the configuration whole, or refuses it with a reason in the log.
pub fn on_configure(definition: Definition, root_id: u32, size: usize) -> u32 {
    let accepted = with_root(root_id, false, |plugin| {
        let configured =
            read_configuration(size).and_then(|document| (definition.chain)(&document)).and_then(|chain| {
                let mut engine = Engine::new(chain);
                engine.start(&plugin.host)?;
                Ok(engine)
            });
        match configured {
            Ok(engine) => {
                plugin.engine = Some(engine);
                true
            }
            Err(error) => {
                let name = definition.name;
                let _ = abi::log(
                    abi::LogLevel::Error,
                    &format!("portcullis {name}: configuration refused: {error}"),
                );
                false
            }
        }
    });
    u32::from(accepted)
}

fn read_configuration(size: usize) -> Result<Vec<u8>, ConfigError> {
    if size == 0 {
        return Ok(Vec::new());
    }
    let document = abi::buffer(abi::Buffer::PluginConfiguration, 0, size).map_err(|error| {
        ConfigError::new("", format!("the host does not give the configuration: {error}"))
    })?;
    if document.len() == size {
        Ok(document)
    } else {
        Err(ConfigError::new("", "the host gave only a part of the configuration"))
    }
}

/// `proxy_on_tick`.
pub fn on_tick(root_id: u32) {
    with_root(root_id, (), |plugin| {
        if let Some(engine) = &mut plugin.engine {
            engine.on_tick(&plugin.host);
        }
    });
}

/// `proxy_on_http_call_response`. Call-outs are made in the root context's name; where the host did not honour
/// that, the context is the exchange's, and its plugin gets the reply.
pub fn on_http_call_response(context_id: u32, token: u32, headers: usize, body: usize) {
    let reply = CallOutReply { token: CallToken(token), headers, body };
    let deliver =
        |engine: &mut Engine, host: &WasmHost| engine.on_call_out_reply(host as &dyn Platform, reply);
    let delivered = with_root(context_id, false, |plugin| {
        if let Some(engine) = &mut plugin.engine {
            deliver(engine, &plugin.host);
        }
        true
    });
    if !delivered {
        with_exchange(context_id, (), deliver);
    }
}

fn on_message(context_id: u32, arrive: impl FnOnce(&mut Engine, &WasmHost, ExchangeId) -> Next) -> u32 {
    with_exchange(context_id, None, |engine, host| Some(arrive(engine, host, ExchangeId(context_id))))
        .map_or_else(
            || {
                let _ = abi::log(
                    abi::LogLevel::Error,
                    "portcullis: callback for an unknown exchange; it is refused",
                );
                let _ = abi::send_local_response(500, "portcullis_unknown_exchange", &[], b"");
                PAUSE
            },
            |next| match next {
                Next::Continue => CONTINUE,
                Next::Hold => PAUSE,
            },
        )
}

/// `proxy_on_request_headers` and `proxy_on_response_headers`.
pub fn on_headers(context_id: u32, direction: Direction, end: u32) -> u32 {
    on_message(context_id, |engine, host, id| {
        engine.on_headers(host, id, direction, EndOfStream::from(end != 0))
    })
}

/// `proxy_on_request_body` and `proxy_on_response_body`.
pub fn on_body(context_id: u32, direction: Direction, size: usize, end: u32) -> u32 {
    on_message(context_id, |engine, host, id| {
        engine.on_body(host, id, direction, size, EndOfStream::from(end != 0))
    })
}

/// `proxy_on_request_trailers` and `proxy_on_response_trailers`.
pub fn on_trailers(context_id: u32, direction: Direction) -> u32 {
    on_message(context_id, |engine, host, id| engine.on_trailers(host, id, direction))
}

/// `proxy_on_log`: of an exchange, or of the plugin where that is an access logger.
pub fn on_log(context_id: u32) {
    let was_exchange = with_exchange(context_id, false, |engine, host| {
        engine.on_log(host, ExchangeId(context_id));
        true
    });
    if !was_exchange {
        with_root(context_id, (), |plugin| {
            if let Some(engine) = &mut plugin.engine {
                engine.on_log_alone(&plugin.host, ExchangeId(context_id));
            }
        });
    }
}

/// `proxy_on_done`: whether the host may delete the context. Every exchange may go; a plugin that has something left to
/// do tells the host later.
pub fn on_done(context_id: u32) -> u32 {
    let answer = with_root(context_id, Shutdown::Done, |plugin| match &mut plugin.engine {
        Some(engine) => engine.on_shutdown(&plugin.host),
        None => Shutdown::Done,
    });
    u32::from(answer == Shutdown::Done)
}

/// `proxy_on_delete`, of an exchange or a plugin.
pub fn on_delete(context_id: u32) {
    let was_exchange = with_exchange(context_id, false, |engine, host| {
        engine.close(host, ExchangeId(context_id));
        true
    });
    if !was_exchange {
        with_plugins((), |plugins| plugins.retain(|plugin| plugin.root_id != context_id));
    }
}

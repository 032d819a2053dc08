//! A running Envoy.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use super::admin::Admin;
use super::config::{Delivery, EnvoyConfig, Generation};
use super::logs::{Logs, Position, Source};
use super::start::{LISTENERS_CREATED, Process, StartError};
use super::wait::{PATIENCE, poll, wait_for};

/// Envoy refused a pushed configuration and goes on with the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// What Envoy, and the modules in it, logged on it.
    pub details: String,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Envoy refused the configuration: {}", self.details)
    }
}

impl std::error::Error for Rejected {}

/// A stock Envoy that runs an [`EnvoyConfig`]. The process is killed when this is dropped, and by the kernel
/// when the test process ends without dropping it.
pub struct Envoy {
    process: Mutex<Process>,
    logs: Logs,
    admin: Admin,
    listener: SocketAddr,
    pushed: Mutex<Pushed>,
    generation: Generation,
}

/// What was pushed last.
struct Pushed {
    revision: u64,
    clusters: serde_json::Value,
    workers: u32,
    delivery: Delivery,
}

/// How the updates of one subscription have ended so far.
struct Updates {
    taken: u64,
    refused: u64,
}

impl Updates {
    fn of(subscription: &str, stats: &BTreeMap<String, u64>) -> Self {
        let count = |kind: &str| stats.get(&format!("{subscription}.{kind}")).copied().unwrap_or(0);
        // A failure is a file that cannot be read as configuration.
        Self { taken: count("update_success"), refused: count("update_rejected") + count("update_failure") }
    }
}

impl Envoy {
    /// Starts Envoy and waits until it serves.
    ///
    /// # Panics
    /// When it does not start; the message ends with Envoy's log. When it is not installed.
    #[track_caller]
    pub fn start(config: &EnvoyConfig) -> Self {
        match Self::try_start(config) {
            Ok(envoy) => envoy,
            Err(error) => panic!("{error}"),
        }
    }

    /// Starts Envoy and waits until it serves.
    ///
    /// # Errors
    /// When it does not start, such as for a configuration that it refuses.
    ///
    /// # Panics
    /// When it is not installed.
    pub fn try_start(config: &EnvoyConfig) -> Result<Self, StartError> {
        let mut process = Process::spawn(config)
            .map_err(|error| StartError { reason: error.to_string(), log: String::new() })?;
        let (admin, listener) = process.wait_until_serving()?;
        let pushed = Pushed {
            revision: 0,
            clusters: config.render_cds(),
            workers: config.concurrency,
            delivery: config.delivery,
        };
        let logs = process.logs.clone();
        let generation = process.generation(config);
        let (process, pushed) = (Mutex::new(process), Mutex::new(pushed));
        Ok(Self { process, logs, admin, listener, pushed, generation })
    }

    /// Starts an Envoy that takes over this one's listener by hot restart, and waits until it serves. This one drains its
    /// connections, and ends by itself after `--parent-shutdown-time-s` of the successor's command line.
    ///
    /// # Panics
    /// When this one was not started with [`EnvoyConfig::hot_restart`], or the successor does not start.
    #[track_caller]
    pub fn successor(&self, config: &EnvoyConfig) -> Self {
        let Generation::Later { base_id, epoch } = &self.generation else {
            panic!("only an Envoy with `hot_restart` has successors");
        };
        let mut config = config.clone().merge_listener(serde_json::json!({
            "address": {"socket_address": {
                "address": self.listener.ip().to_string(), "port_value": self.listener.port(),
            }},
        }));
        config.generation = Generation::Later { base_id: base_id.clone(), epoch: epoch + 1 };
        Self::start(&config)
    }

    /// Where its listener listens.
    pub fn addr(&self) -> SocketAddr {
        self.listener
    }

    /// Its admin interface.
    pub fn admin(&self) -> Admin {
        self.admin
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process().pid()
    }

    /// Whether the process still runs.
    pub fn is_running(&self) -> bool {
        self.process().is_running()
    }

    /// Replaces listener, filters, routes and clusters while Envoy runs, and waits until every worker serves
    /// new connections with them. What only a start can set (workers, log levels, arguments, bootstrap) stays
    /// as it was. Connections from before keep the old configuration until they close.
    ///
    /// # Errors
    /// When Envoy refuses the configuration; it goes on with the one before.
    ///
    /// # Panics
    /// When Envoy was not started with [`Delivery::Files`], or neither takes nor refuses in time.
    #[track_caller]
    pub fn push(&self, config: &EnvoyConfig) -> Result<(), Rejected> {
        let mut pushed = self.pushed.lock().expect("pushed");
        assert!(pushed.delivery == Delivery::Files, "only an Envoy with `Delivery::Files` takes a push");
        let clusters = config.render_cds();
        if clusters != pushed.clusters {
            self.deliver("cluster_manager.cds", |process| {
                process.files.write(process.files.xds().clusters, &clusters)
            })?;
            pushed.clusters = clusters;
        }
        pushed.revision += 1;
        let lds = config.render_lds(pushed.revision);
        let created = self.counter(LISTENERS_CREATED);
        self.deliver("listener_manager.lds", |process| {
            process.files.write(process.files.xds().listeners, &lds)
        })?;
        self.wait_for_counter(LISTENERS_CREATED, created + u64::from(pushed.workers), PATIENCE);
        Ok(())
    }

    /// Writes a file and waits until the subscription with this prefix has taken or refused it.
    #[track_caller]
    fn deliver(
        &self,
        subscription: &str,
        write: impl FnOnce(&Process) -> std::io::Result<()>,
    ) -> Result<(), Rejected> {
        let start = self.logs.end();
        let before = Updates::of(subscription, &self.stats());
        write(&self.process()).expect("the configuration file is written");
        wait_for("Envoy takes or refuses the configuration", PATIENCE, || {
            let now = Updates::of(subscription, &self.stats());
            if now.refused > before.refused {
                return Some(Err(Rejected { details: self.refusal_since(start) }));
            }
            (now.taken > before.taken).then_some(Ok(()))
        })
    }

    /// The log tells more than the configuration dump does: the dump is silent about what cannot be parsed, and
    /// about what a module had to say.
    fn refusal_since(&self, start: Position) -> String {
        const LOG_DELAY: Duration = Duration::from_secs(5);
        let verdict = |line: &str| line.contains("Filesystem config update");
        match self.logs.wait_for(Source::Stderr, start, LOG_DELAY, verdict) {
            Some(_) => self.logs.lines_since(Source::Stderr, start).join("\n"),
            // The log level hides it.
            None => self.admin.refusal().unwrap_or_default(),
        }
    }

    /// What Envoy has logged so far, Wasm modules' lines included.
    pub fn log_lines(&self) -> Vec<String> {
        self.logs.lines(Source::Stderr)
    }

    /// What Envoy has written to standard output so far: the access log, if it goes there.
    pub fn stdout_lines(&self) -> Vec<String> {
        self.logs.lines(Source::Stdout)
    }

    /// Waits for a line of the log, old or new, that satisfies `predicate`, and returns the first.
    ///
    /// # Panics
    /// When there is none within `timeout`; the message ends with the log.
    #[track_caller]
    pub fn wait_for_log(&self, timeout: Duration, predicate: impl Fn(&str) -> bool) -> String {
        self.wait_for_line(Source::Stderr, timeout, predicate)
    }

    /// Waits for a line on standard output, old or new, that satisfies `predicate`, and returns the first.
    ///
    /// # Panics
    /// When there is none within `timeout`; the message ends with the log.
    #[track_caller]
    pub fn wait_for_stdout(&self, timeout: Duration, predicate: impl Fn(&str) -> bool) -> String {
        self.wait_for_line(Source::Stdout, timeout, predicate)
    }

    #[track_caller]
    fn wait_for_line(&self, source: Source, timeout: Duration, predicate: impl Fn(&str) -> bool) -> String {
        match self.logs.wait_for(source, Position::default(), timeout, predicate) {
            Some(line) => line,
            None => panic!("waited {timeout:?} in vain for a line; the log ends:\n{}", self.logs.tail()),
        }
    }

    /// Every counter and gauge by name.
    ///
    /// # Panics
    /// When Envoy does not answer.
    #[track_caller]
    pub fn stats(&self) -> BTreeMap<String, u64> {
        self.admin.stats()
    }

    /// The value of a counter or gauge; `None` when Envoy has none of that name (yet).
    ///
    /// # Panics
    /// When Envoy does not answer.
    #[track_caller]
    pub fn stat(&self, name: &str) -> Option<u64> {
        self.stats().remove(name)
    }

    /// The value of a counter or gauge that must exist.
    ///
    /// # Panics
    /// When there is none of that name: a misspelt counter would always be zero. When Envoy does not answer.
    #[track_caller]
    pub fn counter(&self, name: &str) -> u64 {
        match self.stat(name) {
            Some(value) => value,
            None => panic!("Envoy has no counter `{name}`"),
        }
    }

    /// Waits until a counter or gauge has reached `at_least`.
    ///
    /// # Panics
    /// When it has not within `timeout`.
    #[track_caller]
    pub fn wait_for_counter(&self, name: &str, at_least: u64, timeout: Duration) {
        let mut last = None;
        let reached = poll(timeout, || {
            last = self.stat(name);
            last.filter(|value| *value >= at_least)
        });
        assert!(reached.is_some(), "waited {timeout:?} in vain for {name} >= {at_least}; it is {last:?}");
    }

    /// The number of connections that each worker has accepted, by worker.
    ///
    /// # Panics
    /// When Envoy does not answer.
    #[track_caller]
    pub fn connections_by_worker(&self) -> Vec<u64> {
        let stats = self.stats();
        (0..)
            .map_while(|n| stats.get(&format!("listener.ingress.worker_{n}.downstream_cx_total")).copied())
            .collect()
    }

    /// Ends Envoy in order, so that all access logs are written, and returns its log.
    ///
    /// # Panics
    /// When it does not end in time.
    #[track_caller]
    pub fn shut_down(self) -> Vec<String> {
        self.admin.post("/quitquitquit");
        assert!(self.process().wait_for_end(), "Envoy did not end");
        self.log_lines()
    }

    fn process(&self) -> std::sync::MutexGuard<'_, Process> {
        self.process.lock().expect("the Envoy process")
    }
}

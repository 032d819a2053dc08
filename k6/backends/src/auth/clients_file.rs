//! The registry as a file that may be edited while the service runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::registry::Registry;
use crate::serve::{StartError, complain};

/// A clients file and the last good registry read from it.
pub(crate) struct ClientsFile {
    path: PathBuf,
    latest: Mutex<Latest>,
}

struct Latest {
    /// How the file looked when it was last read, well or badly.
    stamp: Option<Stamp>,
    registry: Arc<Registry>,
}

/// What changes when a file is edited: modification time and length. None for a file that cannot be looked
/// at.
type Stamp = (SystemTime, u64);

impl ClientsFile {
    /// # Errors
    /// When the file cannot be read or is not a registry.
    pub(crate) fn open(path: PathBuf) -> Result<Self, StartError> {
        // The stamp is older than what is read under it: an edit in between is then noticed, not missed.
        let stamp = stamp(&path);
        match read(&path) {
            Ok(registry) => Ok(Self { path, latest: Mutex::new(Latest { stamp, registry }) }),
            Err(reason) => Err(StartError::Clients { path, reason }),
        }
    }

    /// The registry in force. The file is looked at on every call, so an edit holds from the very next
    /// request; one `stat` is cheap enough for a service that is not itself under test.
    pub(crate) fn current(&self) -> Arc<Registry> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = stamp(&self.path);
        if stamp != latest.stamp {
            latest.stamp = stamp;
            match read(&self.path) {
                Ok(registry) => latest.registry = registry,
                Err(reason) => {
                    let path = self.path.clone();
                    let error = StartError::Clients { path, reason };
                    complain(format_args!("{error}; the clients read before stay in force"));
                }
            }
        }
        Arc::clone(&latest.registry)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn read(path: &Path) -> Result<Arc<Registry>, String> {
    let document = fs::read(path).map_err(|error| error.to_string())?;
    Registry::parse(document.into()).map(Arc::new)
}

//! The files of one Envoy, in a directory of its own.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use super::render::XdsPaths;

/// A temporary directory that goes away with the Envoy that used it.
pub(super) struct Files {
    dir: TempDir,
    listeners: PathBuf,
    clusters: PathBuf,
}

impl Files {
    pub(super) fn create() -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix("portcullis-envoy-").tempdir()?;
        let (listeners, clusters) = (dir.path().join("lds.json"), dir.path().join("cds.json"));
        Ok(Self { dir, listeners, clusters })
    }

    pub(super) fn bootstrap(&self) -> PathBuf {
        self.dir.path().join("bootstrap.json")
    }

    /// Where a bootstrap lies that is not made from values.
    pub(super) fn bootstrap_text(&self) -> PathBuf {
        self.dir.path().join("bootstrap.yaml")
    }

    /// Where Envoy writes the address that its admin interface has taken.
    pub(super) fn admin_address(&self) -> PathBuf {
        self.dir.path().join("admin-address")
    }

    /// Where Envoy writes the identifier that its successors need.
    pub(super) fn base_id(&self) -> PathBuf {
        self.dir.path().join("base-id")
    }

    pub(super) fn xds(&self) -> XdsPaths<'_> {
        XdsPaths { listeners: &self.listeners, clusters: &self.clusters }
    }

    /// Puts `value` at `path` in one step: Envoy sees the old file or the new one, whole.
    pub(super) fn write(&self, path: &std::path::Path, value: &Value) -> io::Result<()> {
        let unfinished = path.with_extension("unfinished");
        fs::write(&unfinished, serde_json::to_vec_pretty(value)?)?;
        fs::rename(unfinished, path)
    }
}

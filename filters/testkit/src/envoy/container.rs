//! A limit of memory such as a container has, by the control groups of Linux.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where version 1 of control groups has the memory controller.
const CONTROLLER: &str = "/sys/fs/cgroup/memory";

/// A control group with a limit of memory. The kernel kills who needs more. It goes away when this is dropped, after the
/// processes in it.
#[derive(Debug)]
pub struct Container {
    folder: PathBuf,
}

impl Container {
    /// A container with this much memory, in bytes.
    ///
    /// # Errors
    /// Where the memory controller is not mounted (version 1), or may not be written to.
    pub fn with_memory(bytes: u64) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = Path::new(CONTROLLER).join(format!("portcullis-test-{}-{number}", std::process::id()));
        if !Path::new(CONTROLLER).join("memory.limit_in_bytes").exists() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "no memory controller of version 1"));
        }
        fs::create_dir(&folder)?;
        let container = Self { folder };
        fs::write(container.folder.join("memory.limit_in_bytes"), bytes.to_string())?;
        Ok(container)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// How much memory its processes take now, in bytes.
    ///
    /// # Panics
    /// When the kernel does not say.
    pub fn memory(&self) -> u64 {
        self.read("memory.usage_in_bytes")
    }

    /// The most that they have taken, in bytes.
    ///
    /// # Panics
    /// When the kernel does not say.
    pub fn peak(&self) -> u64 {
        self.read("memory.max_usage_in_bytes")
    }

    fn read(&self, file: &str) -> u64 {
        let text = fs::read_to_string(self.folder.join(file)).expect("a control group");
        text.trim().parse().expect("a number of bytes")
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // One that still has processes stays; its owner has dropped things in the wrong order.
        let _ = fs::remove_dir(&self.folder);
    }
}

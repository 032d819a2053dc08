//! Where the workspace keeps what the fixture runs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

const BINARY_VARIABLE: &str = "PORTCULLIS_ENVOY";

/// The root of the workspace that this crate was built in.
pub fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate lies two levels below the workspace root")
        .to_path_buf()
}

/// The built Wasm module `name`: `dist/<name>.wasm`.
///
/// # Panics
/// When the module has not been built.
pub fn module_path(name: &str) -> PathBuf {
    let path = workspace_root().join("dist").join(format!("{name}.wasm"));
    assert!(path.is_file(), "{} is missing: run `make build`", path.display());
    path
}

/// The Envoy binary: what the environment variable `PORTCULLIS_ENVOY` names, else the one that the
/// workspace's setup installs.
///
/// # Panics
/// When there is none.
pub fn envoy_binary() -> PathBuf {
    let binary = match env::var_os(BINARY_VARIABLE) {
        Some(path) => Some(PathBuf::from(path)),
        None => installed_binary(&workspace_root().join(".tools/venv/lib")),
    };
    match binary {
        Some(path) if path.is_file() => path,
        Some(path) => panic!("no Envoy at {}: run `make setup` or set {BINARY_VARIABLE}", path.display()),
        None => panic!("Envoy is not installed: run `make setup` or set {BINARY_VARIABLE}"),
    }
}

/// The binary itself, not the console script: the script is a wrapper with a process of its own.
fn installed_binary(lib: &Path) -> Option<PathBuf> {
    fs::read_dir(lib)
        .ok()?
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"))
        .map(|entry| entry.path().join("site-packages/envoy/_bin/envoy"))
        .find(|path| path.is_file())
}

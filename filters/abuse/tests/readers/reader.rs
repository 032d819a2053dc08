//! A program that tells what it sees of each request.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use portcullis_testkit::envoy::{PATIENCE, Program, wait_for, workspace_root};
use serde_json::Value;
use tempfile::TempDir;

/// A reader: a server and the program behind it.
pub(crate) struct Reader {
    /// What it is called in reports, and its cluster in Envoy.
    pub(crate) name: &'static str,
    /// Where it listens.
    pub(crate) addr: SocketAddr,
    /// Whether its program takes queries apart.
    pub(crate) reads_queries: bool,
    /// Whether its program parses JSON.
    pub(crate) reads_json: bool,
    /// They end, and their files are removed, with the reader; in this order.
    _programs: Vec<Program>,
    _folder: Folder,
}

/// What a program has seen of a request.
#[derive(Debug)]
pub(crate) struct Seen(Value);

impl Seen {
    /// Reads a program's answer.
    pub(crate) fn parse(answer: &[u8]) -> Option<Self> {
        serde_json::from_slice(answer).ok().filter(|answer: &Value| answer["seen"].is_array()).map(Self)
    }

    /// What the program finds when it asks for this header: by its name, as CGI calls it (RFC 3875, section 4.1.18), or
    /// as nginx and uwsgi do in variables.
    pub(crate) fn header(&self, name: &str) -> Vec<&str> {
        let variable = format!("HTTP_{}", name.replace('-', "_")).to_uppercase();
        self.pairs("seen", |key| key == variable || key.eq_ignore_ascii_case(name))
    }

    /// What the program finds when it asks for this query parameter.
    pub(crate) fn parameter(&self, name: &str) -> Vec<&str> {
        self.pairs("query", |key| key == name)
    }

    /// What the program does for a JSON document, for each way in which it can read one: `admin`, `user` or `other`.
    pub(crate) fn acts(&self) -> Vec<(&str, &str)> {
        self.all("json").collect()
    }

    fn pairs(&self, kind: &str, is_asked: impl Fn(&str) -> bool) -> Vec<&str> {
        self.all(kind).filter(|(key, _)| is_asked(key)).map(|(_, value)| value).collect()
    }

    fn all(&self, kind: &str) -> impl Iterator<Item = (&str, &str)> {
        self.0.get(kind).and_then(Value::as_array).into_iter().flatten().filter_map(|pair| {
            Some((pair.get(0)?.as_str()?, pair.get(1).and_then(Value::as_str).unwrap_or_default()))
        })
    }
}

/// A directory for the files of a reader, which is removed when dropped.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("portcullis-reader-").tempdir().expect("a directory");
        Program::give_to_nobody(folder.path()).expect("a directory of nobody's");
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.file(name);
        fs::write(&file, text).expect("a file of a reader");
        readable(&file);
        file
    }

    /// A copy of a program in filters/abuse/readers. Its own folder may be one that nobody can look into.
    pub(crate) fn copy(&self, name: &str) -> PathBuf {
        let file = self.file(name);
        fs::copy(source(name), &file).expect("a program of a reader");
        readable(&file);
        file
    }
}

fn readable(file: &Path) {
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("a file of a reader");
}

/// A program in filters/abuse/readers.
pub(crate) fn source(name: &str) -> PathBuf {
    workspace_root().join("filters/abuse/readers").join(name)
}

/// A reader to be started.
pub(crate) struct Plan {
    pub(crate) name: &'static str,
    pub(crate) reads_queries: bool,
    pub(crate) reads_json: bool,
}

impl Plan {
    /// Starts a reader: `serve` starts its programs, of which the first listens on the port that it is given.
    ///
    /// Most cannot choose a port, and one that is free now may be taken when they come to listen; then they end.
    #[track_caller]
    pub(crate) fn start(&self, serve: impl Fn(&Folder, SocketAddr) -> Vec<Program>) -> Reader {
        let started = (0..5).find_map(|_| {
            let (folder, addr) = (Folder::new(), free_port());
            let mut programs = serve(&folder, addr);
            let listens = wait_for("a reader listens or ends", PATIENCE, || {
                if programs.iter_mut().any(|program| program.ended().is_some()) {
                    return Some(false);
                }
                TcpStream::connect(addr).is_ok().then_some(true)
            });
            listens.then_some((programs, folder, addr))
        });
        let Some((programs, folder, addr)) = started else { panic!("{} does not start", self.name) };
        Reader {
            name: self.name,
            addr,
            reads_queries: self.reads_queries,
            reads_json: self.reads_json,
            _programs: programs,
            _folder: folder,
        }
    }
}

/// Starts a program that must be there.
#[track_caller]
pub(crate) fn run(program: &Path, arrange: impl FnOnce(&mut Command)) -> Program {
    match Program::start(program, arrange) {
        Ok(program) => program,
        Err(error) => panic!("{} cannot be run: {error}", program.display()),
    }
}

/// Waits until a program has made its socket.
pub(crate) fn wait_for_socket(mut program: Program, socket: &Path) -> Program {
    wait_for("a reader's socket", PATIENCE, || {
        let ended = program.ended();
        assert!(ended.is_none(), "{ended:?}: no {}", socket.display());
        socket.exists().then_some(())
    });
    program
}

fn free_port() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("a bound address")
}

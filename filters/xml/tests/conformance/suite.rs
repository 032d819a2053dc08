//! The suite's archive.

use std::cell::RefCell;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use zip::ZipArchive;

pub(crate) struct Suite(RefCell<ZipArchive<File>>);

impl Suite {
    /// The suite, if it is on this machine.
    pub(crate) fn find() -> Option<Self> {
        let folder = std::env::var_os("PORTCULLIS_CONFORMANCE").map_or_else(
            || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance")),
            PathBuf::from,
        );
        let path = folder.join("xmlconf/xmlts20130923.zip");
        match File::open(&path) {
            Ok(file) => Some(Self(RefCell::new(ZipArchive::new(file).unwrap()))),
            Err(error) => {
                println!("nothing to check: {}: {error}", path.display());
                None
            }
        }
    }

    /// The contents of a file, by its path below the suite's root.
    pub(crate) fn file(&self, path: &str) -> Vec<u8> {
        let mut archive = self.0.borrow_mut();
        let mut contents = Vec::new();
        archive.by_name(&format!("xmlconf/{path}")).unwrap().read_to_end(&mut contents).unwrap();
        contents
    }
}

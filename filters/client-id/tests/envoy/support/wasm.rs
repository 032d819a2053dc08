//! What a module asks of its host, and what it offers.

use std::path::Path;

/// The names of a module's imported and exported functions, which are what Envoy calls capabilities.
///
/// Reads the sections of the binary format (WebAssembly core specification, section 5.5) and nothing in them but
/// what it must.
pub(crate) fn capabilities(module: &Path) -> Vec<String> {
    let bytes = std::fs::read(module).expect("the module");
    let mut sections = Reader(bytes.get(8..).expect("a header of eight bytes"));
    let mut names = Vec::new();
    while let Some(kind) = sections.byte() {
        let mut section = Reader(sections.vector());
        match kind {
            2 => {
                for _ in 0..section.number() {
                    section.vector();
                    names.push(section.name());
                    assert_eq!(section.byte(), Some(0), "only functions are imported");
                    section.number();
                }
            }
            7 => {
                for _ in 0..section.number() {
                    let name = section.name();
                    if section.byte() == Some(0) {
                        names.push(name);
                    }
                    section.number();
                }
            }
            _ => {}
        }
    }
    names
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    /// LEB128.
    fn number(&mut self) -> usize {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.byte().expect("a whole number");
            value |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    fn vector(&mut self) -> &'a [u8] {
        let len = self.number();
        let (vector, rest) = self.0.split_at(len);
        self.0 = rest;
        vector
    }

    fn name(&mut self) -> String {
        String::from_utf8(self.vector().to_vec()).expect("a name")
    }
}

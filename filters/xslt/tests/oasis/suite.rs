//! The suite's files.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use portcullis_xml::{Attributes, Control, Limits, Sink, StartTag, Tokenizer};

/// Stylesheets by name.
pub(crate) type Stylesheets = BTreeMap<String, Vec<u8>>;

/// The folder that has the suite.
pub(crate) struct Suite {
    tests: PathBuf,
    /// The stylesheets of each folder: many cases use the same.
    stylesheets: RefCell<BTreeMap<String, Rc<Stylesheets>>>,
}

/// A case, as the catalog has it.
#[derive(Debug, Default, Clone)]
pub(crate) struct Case {
    pub(crate) id: String,
    folder: String,
    document: String,
    stylesheet: String,
    output: String,
}

/// The folder of what Lotus submitted.
const SUBMITTED: &str = "Xalan_Conformance_Tests";

impl Suite {
    /// The suite, if it is on this machine.
    pub(crate) fn find() -> Option<Self> {
        let folder = std::env::var_os("PORTCULLIS_CONFORMANCE").map_or_else(
            || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance")),
            PathBuf::from,
        );
        let tests = folder.join("xslt-oasis/TESTS");
        if tests.join("catalog.xml").is_file() {
            Some(Self { tests, stylesheets: RefCell::default() })
        } else {
            println!("nothing to check: {} has no catalog.xml", tests.display());
            None
        }
    }

    /// All cases that Lotus submitted.
    pub(crate) fn cases(&self) -> Vec<Case> {
        let catalog = std::fs::read(self.tests.join("catalog.xml")).unwrap();
        let limits = Limits { document_bytes: 64 << 20, ..Limits::default() };
        let mut tokenizer = Tokenizer::new(&limits);
        let mut cases = Catalog::default();
        tokenizer.feed(&catalog, &mut cases).and_then(|_| tokenizer.finish(&mut cases)).unwrap();
        cases.found
    }

    pub(crate) fn stylesheet(&self, case: &Case) -> Vec<u8> {
        self.input(case, &case.stylesheet)
    }

    pub(crate) fn document(&self, case: &Case) -> Vec<u8> {
        self.input(case, &case.document)
    }

    pub(crate) fn expected(&self, case: &Case) -> Vec<u8> {
        let path = self.tests.join(SUBMITTED).join("REF_OUT").join(&case.folder).join(&case.output);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The stylesheets that one of the case's may refer to: all in its folder and below, and those of the folder that
    /// the suite has for documents outside of it. Their names are relative to the case's folder.
    pub(crate) fn stylesheets(&self, case: &Case) -> Rc<Stylesheets> {
        let mut all = self.stylesheets.borrow_mut();
        let found = all.entry(case.folder.clone()).or_insert_with(|| {
            let submitted = self.tests.join(SUBMITTED);
            let mut found = Stylesheets::new();
            collect(&submitted.join(&case.folder), "", &mut found);
            collect(&submitted.join("impincl-test"), "../impincl-test/", &mut found);
            Rc::new(found)
        });
        Rc::clone(found)
    }

    fn input(&self, case: &Case, name: &str) -> Vec<u8> {
        let path = self.tests.join(SUBMITTED).join(&case.folder).join(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut Stylesheets) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        if path.is_dir() {
            collect(&path, &format!("{name}/"), found);
        } else if name.ends_with(".xsl") {
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

#[derive(Default)]
struct Catalog {
    found: Vec<Case>,
    state: State,
    case: Case,
    /// The names of the open elements.
    open: Vec<String>,
    text: String,
    role: String,
}

#[derive(Default, PartialEq, Eq)]
enum State {
    /// Among the cases of others.
    #[default]
    Elsewhere,
    Lotus,
}

impl Sink for Catalog {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        let value = |name| attribute(&tag.attributes(), name);
        match tag.name().local {
            "test-catalog" => {
                self.state = if value("submitter") == "Lotus" { State::Lotus } else { State::Elsewhere };
            }
            "test-case" => self.case = Case { id: value("id"), ..Case::default() },
            "input-file" | "output-file" => self.role = value("role"),
            _ => {}
        }
        self.open.push(tag.name().local.to_owned());
        self.text.clear();
        Control::Continue
    }

    fn text(&mut self, text: &str) -> Control {
        self.text.push_str(text);
        Control::Continue
    }

    fn end(&mut self) -> Control {
        let name = self.open.pop().unwrap();
        let text = self.text.trim().to_owned();
        match (&*name, &*self.role) {
            ("file-path", _) => self.case.folder = text,
            ("input-file", "principal-data") => self.case.document = text,
            ("input-file", "principal-stylesheet") => self.case.stylesheet = text,
            ("output-file", "principal") => self.case.output = text,
            ("test-case", _) if self.state == State::Lotus => self.found.push(self.case.clone()),
            _ => {}
        }
        Control::Continue
    }
}

fn attribute(attributes: &Attributes<'_>, name: &str) -> String {
    attributes.find("", name).map_or_else(String::new, |attribute| attribute.value.to_owned())
}

//! Names that some reader may take for one another.

/// The bytes of a name that are neither letters nor digits (RFC 9110, section 5.6.2).
const SEPARATORS: &str = "!#$%&'*+-.^_`|~";

/// A way to write a name.
pub(crate) struct Spelling {
    /// What it is called in reports.
    pub(crate) name: String,
    write: Box<dyn Fn(&str) -> String>,
}

impl Spelling {
    fn new(name: impl Into<String>, write: impl Fn(&str) -> String + 'static) -> Self {
        Self { name: name.into(), write: Box::new(write) }
    }

    /// The name, whose parts are separated by hyphens or underscores, in this spelling.
    pub(crate) fn of(&self, name: &str) -> String {
        (self.write)(name)
    }
}

/// Every spelling: each separator in all places, some in one place only, separators by turns, and letters of
/// another case.
pub(crate) fn all() -> Vec<Spelling> {
    let everywhere = SEPARATORS
        .chars()
        .map(|separator| Spelling::new(format!("{separator}"), move |name| replaced(name, |_| separator)));
    let at_the_end = ['.', '_', '~'].map(|separator| {
        Spelling::new(format!("-{separator}"), move |name| {
            let last = separators(name).saturating_sub(1);
            replaced(name, |at| if at == last { separator } else { '-' })
        })
    });
    let by_turns = Spelling::new("by turns", |name| replaced(name, |at| ['.', '_', '~', '-'][at % 4]));
    let upper = Spelling::new("upper case", |name| replaced(name, |_| '-').to_uppercase());
    let mixed = Spelling::new("mixed case", |name| {
        let mix = |(at, letter): (usize, char)| {
            if at % 2 == 0 { letter.to_ascii_uppercase() } else { letter }
        };
        replaced(name, |_| '.').chars().enumerate().map(mix).collect()
    });
    everywhere.chain(at_the_end).chain([by_turns, upper, mixed]).collect()
}

fn is_separator(character: char) -> bool {
    character == '-' || character == '_'
}

fn separators(name: &str) -> usize {
    name.chars().filter(|character| is_separator(*character)).count()
}

/// The name with other separators, each chosen by how many stand before it.
fn replaced(name: &str, separator: impl Fn(usize) -> char) -> String {
    let mut before = 0;
    let replace = |character| {
        if !is_separator(character) {
            return character;
        }
        before += 1;
        separator(before - 1)
    };
    name.chars().map(replace).collect()
}

//! What stylesheets of the suite are refused for, by design.

use portcullis_xslt::{CompileError, TransformErrorKind};

/// A construct that is refused.
struct Construct {
    /// What it is called here.
    name: &'static str,
    /// What the message says.
    message: &'static str,
    /// What stands in the tag that the message points at.
    source: &'static str,
}

const CONSTRUCTS: &[Construct] = &[
    Construct { name: "document()", message: "document() is not supported", source: "document(" },
    Construct { name: "id()", message: "the function 'id()' is not supported", source: "id(" },
    Construct {
        name: "the namespace axis",
        message: "the axis 'namespace' is not supported",
        source: "namespace::",
    },
    Construct {
        name: "the output method html",
        message: "method=\"html\" is not supported",
        source: "\"html\"",
    },
    Construct {
        name: "disable-output-escaping",
        message: "disable-output-escaping=\"yes\" is not supported",
        source: "disable-output-escaping=\"yes\"",
    },
    Construct { name: "an import by URL", message: "is not supported: nothing is fetched", source: "file:" },
    Construct {
        name: "an instruction of XSLT 2.0",
        message: "not part of XSLT 1.0",
        source: "xsl:result-document",
    },
];

/// The construct that a message of the compiler names, if that stands where the message says.
pub(crate) fn construct(error: &CompileError, source: &str) -> Option<&'static str> {
    let message = error.kind.to_string();
    let tag = tag_at(source, error.place.line, error.place.column)?;
    if let Some((_, rest)) = message.split_once("the encoding '") {
        let encoding = rest.split('\'').next()?;
        return tag.contains(&format!("encoding=\"{encoding}\"")).then_some("an encoding other than UTF-8");
    }
    let construct = CONSTRUCTS.iter().find(|construct| message.contains(construct.message))?;
    tag.contains(construct.source).then_some(construct.name)
}

/// The same for what is found out only when the output is written.
pub(crate) fn at_run_time(kind: &TransformErrorKind, source: &str) -> Option<&'static str> {
    let is_html = kind.to_string().contains("the output method would be html");
    (is_html && source.to_ascii_lowercase().contains("<html")).then_some("the output method html, by default")
}

/// The start tag at a place, from 1.
fn tag_at(source: &str, line: u32, column: u32) -> Option<String> {
    let source = source.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let lines = source.split_inclusive('\n').skip(usize::try_from(line).unwrap() - 1);
    let text: String = lines.collect::<String>().chars().skip(usize::try_from(column).unwrap() - 1).collect();
    let mut quote = None;
    let end = text.find(|c| {
        match quote {
            None if c == '"' || c == '\'' => quote = Some(c),
            Some(open) if c == open => quote = None,
            _ => {}
        }
        quote.is_none() && c == '>'
    })?;
    text.get(..end).filter(|tag| tag.starts_with('<')).map(str::to_owned)
}

#[test]
fn finds_tags_by_line_and_column() {
    let source = "<a>\r\n <b c='>'\rd=\"'>\">text</b></a>";
    assert_eq!(tag_at(source, 1, 1).as_deref(), Some("<a"));
    assert_eq!(tag_at(source, 2, 2).as_deref(), Some("<b c='>'\nd=\"'>\""));
    assert_eq!(tag_at(source, 2, 1), None);
    assert_eq!(tag_at(source, 9, 1), None);
}

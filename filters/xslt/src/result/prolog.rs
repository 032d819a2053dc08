//! What comes before the document element.

use portcullis_xml::tree::{Names, UriId};

use super::ResultName;
use super::format::{DocumentType, OutputFormat, Standalone, XmlDeclaration};

/// Appends the XML declaration, if there is to be one (XML 1.0, section 2.8).
pub(super) fn write_declaration(out: &mut Vec<u8>, format: &OutputFormat) {
    if format.declaration == XmlDeclaration::Omitted {
        return;
    }
    out.extend_from_slice(b"<?xml version=\"1.0\" encoding=\"UTF-8\"");
    out.extend_from_slice(match format.standalone {
        Standalone::Unspecified => b"",
        Standalone::Yes => b" standalone=\"yes\"",
        Standalone::No => b" standalone=\"no\"",
    });
    out.extend_from_slice(b"?>\n");
}

/// Appends the document type declaration of a document with that document element.
pub(super) fn write_document_type(
    out: &mut Vec<u8>,
    document_type: &DocumentType,
    names: &Names,
    element: ResultName,
) {
    out.extend_from_slice(b"<!DOCTYPE ");
    let prefix = names.prefix_text(element.prefix);
    if names.namespace(element.name) != UriId::NONE && !prefix.is_empty() {
        out.extend_from_slice(prefix.as_bytes());
        out.push(b':');
    }
    out.extend_from_slice(names.local(element.name).as_bytes());
    match &document_type.public {
        Some(public) => {
            out.extend_from_slice(b" PUBLIC \"");
            out.extend_from_slice(public.as_bytes());
            out.extend_from_slice(b"\" ");
        }
        None => out.extend_from_slice(b" SYSTEM "),
    }
    let quote = if document_type.system.contains('"') { b'\'' } else { b'"' };
    out.push(quote);
    out.extend_from_slice(document_type.system.as_bytes());
    out.push(quote);
    out.push(b'>');
}

//! `xsl:output` (section 16).

use portcullis_xml::soap::MediaType;

use super::Compiler;
use super::element::Element;
use crate::error::CompileError;
use crate::qname;
use crate::result::{DocumentType, Indent, Method, Standalone, XmlDeclaration};

impl<'m> Compiler<'m> {
    /// What is said later prevails, attribute by attribute; elements for CDATA sections add up.
    pub(super) fn declare_output(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&[
            "method",
            "version",
            "encoding",
            "omit-xml-declaration",
            "standalone",
            "doctype-public",
            "doctype-system",
            "cdata-section-elements",
            "indent",
            "media-type",
        ])?;
        element.require_empty()?;
        if let Some(method) = element.attribute("method") {
            self.output.method = match qname::trim(method) {
                "xml" => Method::Xml,
                "text" => Method::Text,
                "html" => {
                    return Err(
                        element.refused("method=\"html\"", "use 'xml', which is XHTML with the right names")
                    );
                }
                method if method.contains(':') && qname::split(method).is_some() => {
                    return Err(element.refused("an output method of an extension", "use 'xml' or 'text'"));
                }
                _ => return Err(element.value_error("method", "'xml' or 'text'")),
            };
        }
        if let Some(encoding) = element.attribute("encoding")
            && !qname::trim(encoding).eq_ignore_ascii_case("utf-8")
        {
            return Err(element.refused(&format!("the encoding '{encoding}'"), "the result is in UTF-8"));
        }
        if let Some(version) = element.attribute("version")
            && qname::trim(version) != "1.0"
        {
            return Err(element.refused("an XML version other than 1.0", "leave 'version' out"));
        }
        if let Some(omit) = element.yes_or_no("omit-xml-declaration")? {
            self.output.declaration = if omit { XmlDeclaration::Omitted } else { XmlDeclaration::Written };
        }
        if let Some(standalone) = element.yes_or_no("standalone")? {
            self.output.standalone = if standalone { Standalone::Yes } else { Standalone::No };
        }
        if let Some(indent) = element.yes_or_no("indent")? {
            self.output.indent = if indent { Indent::TwoSpaces } else { Indent::None };
        }
        for name in qname::words(element.attribute("cdata-section-elements").unwrap_or_default()) {
            let Some((prefix, local)) = qname::split(name) else {
                return Err(element.value_error("cdata-section-elements", "a list of qualified names"));
            };
            // Unlike elsewhere, the default namespace counts (section 16.1).
            let uri = match element.namespace_of(prefix) {
                Some(uri) => uri,
                None if prefix.is_empty() => "",
                None => {
                    let kind = crate::error::CompileErrorKind::UndeclaredPrefix(prefix.into());
                    return Err(element.error(kind));
                }
            };
            self.output.cdata_elements.0.push((uri.into(), local.into()));
        }
        if let Some(media_type) = element.attribute("media-type") {
            let media_type = qname::trim(media_type);
            match MediaType::parse(media_type.as_bytes()) {
                Ok(parsed) if parsed.parameter("charset").is_none() => {}
                _ => {
                    let expected = "a media type without a charset, which is that of the result: UTF-8";
                    return Err(element.value_error("media-type", expected));
                }
            }
            self.media_type = Some(media_type.into());
        }
        self.declare_document_type(element)
    }

    fn declare_document_type(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        let public = element.attribute("doctype-public");
        if let Some(system) = element.attribute("doctype-system") {
            if system.contains('"') && system.contains('\'') {
                return Err(element
                    .value_error("doctype-system", "a system identifier, with one kind of quotes at most"));
            }
            let known = self.output.document_type.take().and_then(|known| known.public);
            self.output.document_type = Some(DocumentType { system: system.into(), public: known });
        }
        if let Some(public) = public {
            if !public.chars().all(is_public_id_char) {
                return Err(element.value_error("doctype-public", "a public identifier"));
            }
            // Without a system identifier there is no declaration to put it in.
            if let Some(document_type) = &mut self.output.document_type {
                document_type.public = Some(public.into());
            }
        }
        Ok(())
    }
}

/// XML 1.0, production 13.
fn is_public_id_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || " \r\n-'()+,./:=?;!*#@$_%".contains(c)
}

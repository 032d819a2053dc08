//! Stylesheets in short.

use std::collections::BTreeMap;

use portcullis_xml::Limits;
use portcullis_xslt::{
    CompileError, CompileOptions, Parameters, Stylesheet, TransformError, TransformErrorKind, TransformLimits,
};

/// `xsl:stylesheet` with the prefix `xsl`, version 1.0, and this content.
pub(crate) fn stylesheet(content: &str) -> String {
    format!(
        "<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\">\
         {content}<xsl:output omit-xml-declaration=\"yes\"/></xsl:stylesheet>"
    )
}

/// What the stylesheet with this content makes of an input.
pub(crate) fn transform(content: &str, input: &str) -> String {
    result(content, input).unwrap_or_else(|error| panic!("{error}"))
}

/// What the template for the root with this content makes of an input.
pub(crate) fn at_root(content: &str, input: &str) -> String {
    transform(&format!("<xsl:template match=\"/\">{content}</xsl:template>"), input)
}

pub(crate) fn result(content: &str, input: &str) -> Result<String, TransformError> {
    within(content, input, &TransformLimits::default())
}

pub(crate) fn within(content: &str, input: &str, limits: &TransformLimits) -> Result<String, TransformError> {
    run(&stylesheet(content), input, &Parameters::new(), limits)
}

pub(crate) fn run(
    source: &str,
    input: &str,
    parameters: &Parameters,
    limits: &TransformLimits,
) -> Result<String, TransformError> {
    let stylesheet = compiled(source);
    let input = stylesheet.parse(input.as_bytes(), &Limits::default()).unwrap();
    let output = stylesheet.transform(input, parameters, limits, &mut Vec::new())?;
    Ok(String::from_utf8(output.bytes).unwrap())
}

/// What went wrong when the template for the root was instantiated.
pub(crate) fn failure(content: &str, input: &str) -> TransformErrorKind {
    result(&format!("<xsl:template match=\"/\">{content}</xsl:template>"), input).unwrap_err().kind
}

/// Why a stylesheet with this content does not compile.
pub(crate) fn refusal(content: &str) -> CompileError {
    Stylesheet::compile(stylesheet(content).as_bytes(), &CompileOptions::default()).unwrap_err()
}

/// Options with these documents.
pub(crate) fn with_documents(documents: &[(&str, &str)]) -> CompileOptions {
    let documents: BTreeMap<_, _> =
        documents.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
    CompileOptions { documents, ..CompileOptions::default() }
}

/// A stylesheet that compiles.
fn compiled(source: &str) -> Stylesheet {
    let compiled = Stylesheet::compile(source.as_bytes(), &CompileOptions::default());
    compiled.unwrap_or_else(|error| panic!("{error}"))
}

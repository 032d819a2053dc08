//! A stylesheet, applied by the engine alone with the limits of the policy.

use std::collections::BTreeMap;
use std::path::Path;

use portcullis_xslt::{CompileError, CompileOptions, Messages, Parameter, Parameters, Stylesheet};
use portcullis_xslt_transform::config::Limits;
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::options::{Input, StylesheetOptions};

/// Applies the stylesheet, and writes the result.
pub(super) fn run(options: &StylesheetOptions) -> Result<(), Failure> {
    let limits = limits(options)?;
    let source = super::read(&Input::File(options.stylesheet.clone()))?;
    let mut documents = BTreeMap::new();
    for (name, path) in &options.includes {
        documents.insert(name.clone(), super::read(&Input::File(path.clone()))?);
    }
    let stylesheet = Stylesheet::compile(&source, &CompileOptions { documents, ..CompileOptions::default() })
        .map_err(|error| Failure::Usage(located(&error, options)))?;
    let parameters = parameters(options, &stylesheet)?;

    let message = super::read(&options.input)?;
    let input = stylesheet
        .parse(&message, &limits.of_documents())
        .map_err(|error| Failure::Message(format!("{}:{error}", options.input)))?;
    let output = stylesheet.transform(input, &parameters, &limits.of_transformations(), &mut Said).map_err(
        |error| Failure::Message(named(&error.to_string(), error.place.document.as_deref(), options)),
    )?;
    super::print(&output.bytes)
}

/// What the stylesheet says by `xsl:message`.
struct Said;

impl Messages for Said {
    fn message(&mut self, text: &str) {
        eprintln!("xsl:message: {text}");
    }
}

fn located(error: &CompileError, options: &StylesheetOptions) -> String {
    named(&error.to_string(), error.place.document.as_deref(), options)
}

/// An error with the file that its line and column are of; it begins with these, or with the name of a document before
/// them.
fn named(error: &str, document: Option<&str>, options: &StylesheetOptions) -> String {
    let file = |path: &Path, rest: &str| format!("{}:{rest}", path.display());
    let Some(name) = document else { return file(&options.stylesheet, error) };
    let included = options.includes.iter().find(|(known, _)| known == name);
    match included.and_then(|(_, path)| Some((path, error.strip_prefix(name)?.strip_prefix(':')?))) {
        Some((path, rest)) => file(path, rest),
        None => error.to_owned(),
    }
}

/// The policy's limits, checked as the policy checks them.
fn limits(options: &StylesheetOptions) -> Result<Limits, Failure> {
    let given: Map<String, Value> =
        options.limits.iter().map(|(name, number)| (name.clone(), json!(number))).collect();
    let named: Map<String, Value> =
        options.includes.iter().map(|(name, _)| (name.clone(), json!(""))).collect();
    // The names of what is included are checked with them.
    let document = json!({
        "limits": given, "stylesheets": named, "response": {"stylesheet": {"inline": ""}},
    });
    let config: portcullis_xslt_transform::Config =
        serde_json::from_value(document).map_err(|error| Failure::Usage(format!("--limit: {error}")))?;
    config.check().map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(config.limits)
}

fn parameters(options: &StylesheetOptions, stylesheet: &Stylesheet) -> Result<Parameters, Failure> {
    let mut parameters = Parameters::new();
    for (name, value) in &options.parameters {
        let (namespace, local) =
            name.strip_prefix('{').and_then(|rest| rest.split_once('}')).unwrap_or(("", name));
        if !stylesheet.has_parameter(namespace, local) {
            let problem = "the stylesheet declares no such parameter at its top level, by xsl:param";
            return Err(Failure::Usage(format!("--param {name}: {problem}")));
        }
        parameters.set(namespace, local, Parameter::String(value.clone()));
    }
    Ok(parameters)
}

//! The generated parts of the documentation.
//!
//! A page holds generated tables between `<!-- generated: NAME -->` and `<!-- end -->`; everything else is written
//! by people and stays.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::schema;

/// Files that are generated whole or in part, with the content that they should have.
pub fn generated(root: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let mut files = Vec::new();
    for document in schema::DOCUMENTS {
        let text = schema::text(document).ok_or("a schema that cannot be written")?;
        files.push((PathBuf::from(format!("docs/schemas/{document}.schema.json")), text));
    }
    for (page, document) in [
        ("docs/client-id.md", "client-id"),
        ("docs/client-registry.md", "client-registry"),
        ("docs/access-log.md", "access-log"),
        ("docs/rate-limit.md", "rate-limit"),
        ("docs/content-router.md", "content-router"),
        ("docs/xslt-transform.md", "xslt-transform"),
    ] {
        let path = root.join(page);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        files.push((
            PathBuf::from(page),
            with_tables(&text, document).map_err(|error| format!("{page}: {error}"))?,
        ));
    }
    Ok(files)
}

fn with_tables(page: &str, document: &str) -> Result<String, String> {
    let begin = format!("<!-- generated: {document} -->\n");
    let end = "<!-- end -->";
    let (before, rest) = page.split_once(&begin).ok_or_else(|| format!("has no {begin}"))?;
    let (_, after) = rest.split_once(end).ok_or_else(|| format!("has no {end}"))?;
    Ok(format!("{before}{begin}{}{end}{after}", tables(document)?))
}

/// A table for the document and one for each type that it uses, in the order of first use.
fn tables(document: &str) -> Result<String, String> {
    let schema = schema::of(document).ok_or("no such schema")?;
    let root = schema.as_value().clone();
    let definitions = root.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut out = String::new();
    let mut queue = Vec::new();
    object_table(&mut out, &root, &mut queue);
    let mut at = 0;
    while let Some(name) = queue.get(at).cloned() {
        at += 1;
        let definition = definitions.get(&name).ok_or_else(|| format!("no definition of {name}"))?;
        let _ = writeln!(out, "\n### {}\n", heading(&name));
        if let Some(text) = description(definition) {
            let _ = writeln!(out, "{text}\n");
        }
        match definition.get("oneOf").and_then(Value::as_array) {
            Some(variants) => variant_table(&mut out, variants, &mut queue),
            None => object_table(&mut out, definition, &mut queue),
        }
    }
    Ok(out)
}

fn object_table(out: &mut String, object: &Value, queue: &mut Vec<String>) {
    let empty = Map::new();
    let properties = object.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = object
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    out.push_str("| field | type | default | meaning |\n|---|---|---|---|\n");
    for (name, property) in properties {
        let default = match property.get("default") {
            _ if required.contains(&name.as_str()) => "required".to_owned(),
            Some(Value::Null) => "none".to_owned(),
            Some(Value::Object(members)) if !members.is_empty() => "see there".to_owned(),
            Some(value) => format!("`{value}`"),
            None => "none".to_owned(),
        };
        let kind = type_of(property, queue);
        let _ = writeln!(
            out,
            "| `{name}` | {kind} | {default} | {} |",
            description(property).unwrap_or_default()
        );
    }
}

fn variant_table(out: &mut String, variants: &[Value], queue: &mut Vec<String>) {
    out.push_str("| value | meaning |\n|---|---|\n");
    for variant in variants {
        let text = description(variant).unwrap_or_default();
        if let Some(constant) = variant.get("const").and_then(Value::as_str) {
            let _ = writeln!(out, "| `\"{constant}\"` | {text} |");
            continue;
        }
        for (name, content) in variant.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let content = match content.get("properties").and_then(Value::as_object) {
                Some(fields) => {
                    let fields = fields.iter().map(|(field, property)| {
                        let default = property.get("default").map(|value| format!(" (default `{value}`)"));
                        // A type with a table of its own is named; the others speak for themselves.
                        let kind = type_of(property, queue);
                        let kind = if kind.contains("](#") { format!(" ({kind})") } else { String::new() };
                        format!(
                            "`{field}`{kind}{}: {}",
                            default.unwrap_or_default(),
                            description(property).unwrap_or_default()
                        )
                    });
                    fields.collect::<Vec<_>>().join(" ")
                }
                None if content.get("$ref").is_none() => {
                    let kind = type_of(content, queue);
                    let _ = writeln!(out, "| `{{\"{name}\": {kind}}}` | {text} |");
                    continue;
                }
                None => format!("See {}.", type_of(content, queue)),
            };
            let _ = writeln!(out, "| `{{\"{name}\": {{…}}}}` | {text} {content} |");
        }
    }
}

fn type_of(property: &Value, queue: &mut Vec<String>) -> String {
    if let Some(reference) = property.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or_default().to_owned();
        let link = format!("[{}](#{})", heading(&name), heading(&name).replace(' ', "-"));
        if !queue.contains(&name) {
            queue.push(name);
        }
        return link;
    }
    if let Some(items) = property.get("items") {
        let count = bounds(property, "minItems", "maxItems").map(|bounds| format!(", {bounds} of them"));
        return format!("list of {}{}", type_of(items, queue), count.unwrap_or_default());
    }
    if let Some(values) = property.get("additionalProperties").filter(|values| values.is_object()) {
        return format!("map of {}", type_of(values, queue));
    }
    // An optional type that is not a simple one: itself, or null.
    if let Some(choices) = property.get("anyOf").and_then(Value::as_array)
        && let Some(choice) = choices.iter().find(|choice| choice.get("$ref").is_some())
    {
        return type_of(choice, queue);
    }
    let name = match property.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| *name != "null")
            .collect::<Vec<_>>()
            .join(" or "),
        _ => "any".to_owned(),
    };
    match bounds(property, "minimum", "maximum") {
        Some(bounds) if property.get("maximum").is_some() => format!("{name}, {bounds}"),
        _ => name,
    }
}

/// `1 to 8`, `at least 1` or `at most 8`, by what the schema says under these names.
fn bounds(property: &Value, least: &str, most: &str) -> Option<String> {
    match (property.get(least), property.get(most)) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    }
}

/// `RequestRule` as `request rule`.
fn heading(name: &str) -> String {
    let mut words = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(character.to_lowercase());
    }
    words
}

fn description(value: &Value) -> Option<String> {
    Some(value.get("description")?.as_str()?.replace('\n', " ").replace('|', "\\|"))
}

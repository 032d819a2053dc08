//! `portcullis transform`, as it is called.
#![cfg(test)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SHEET: &str = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' xmlns:p='urn:p' exclude-result-prefixes='p'>\
    <xsl:output omit-xml-declaration='yes'/>\
    <xsl:param name='partner' select='\"nobody\"'/><xsl:param name='p:tier'/>\
    <xsl:template match='/a'><b partner='{$partner}' tier='{$p:tier}'><xsl:value-of select='.'/></b></xsl:template>\
    </xsl:stylesheet>";

/// A folder of its own for each test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn transform(arguments: &[&str], input: &str) -> Output {
    let mut process = Command::new(env!("CARGO_BIN_EXE_portcullis"))
        .arg("transform")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have ended before it has read anything.
    let _ = process.stdin.take().unwrap().write_all(input.as_bytes());
    process.wait_with_output().unwrap()
}

#[track_caller]
fn assert_result(output: &Output, expected: &str) {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!(output.status.code(), Some(0));
}

#[track_caller]
fn assert_failure(output: &Output, status: i32, message: &str) {
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains(message), "{errors}");
    assert_eq!(output.status.code(), Some(status), "{errors}");
}

#[test]
fn a_stylesheet_is_applied_to_a_file_and_to_standard_input() {
    let folder = Folder::new("applied");
    let (sheet, input) = (folder.file("sheet.xsl", SHEET), folder.file("in.xml", "<a>1</a>"));
    let expected = "<b partner=\"nobody\" tier=\"\">1</b>";
    assert_result(&transform(&["--stylesheet", &sheet, &input], ""), expected);
    assert_result(&transform(&["--stylesheet", &sheet], "<a>1</a>"), expected);
    assert_result(&transform(&["--stylesheet", &sheet, "-"], "<a>1</a>"), expected);
}

#[test]
fn parameters_are_given_as_text() {
    let folder = Folder::new("parameters");
    let sheet = folder.file("sheet.xsl", SHEET);
    let arguments = ["--stylesheet", &sheet, "--param", "partner=1 < 2", "--param", "{urn:p}tier=gold"];
    assert_result(&transform(&arguments, "<a/>"), "<b partner=\"1 &lt; 2\" tier=\"gold\"/>");
    let unknown = ["--stylesheet", &sheet, "--param", "prtner=1"];
    assert_failure(&transform(&unknown, "<a/>"), 2, "--param prtner: ");
}

#[test]
fn includes_are_found_by_name_and_errors_in_them_by_file() {
    let folder = Folder::new("includes");
    let head = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>";
    let sheet = folder.file(
        "sheet.xsl",
        &format!("{head}<xsl:output method='text'/><xsl:include href='lib/a.xsl'/></xsl:stylesheet>"),
    );
    let good = folder
        .file("good.xsl", &format!("{head}<xsl:template match='/'>included</xsl:template></xsl:stylesheet>"));
    let bad = folder.file("bad.xsl", &format!("{head}\n  <xsl:template match='a['/></xsl:stylesheet>"));
    let include = |file: &str| format!("lib/a.xsl={file}");
    let with = |file| transform(&["--stylesheet", &sheet, "--include", &include(file)], "<a/>");
    assert_result(&with(&good), "included");
    assert_failure(&with(&bad), 2, &format!("{bad}:2:3: <xsl:template>: match: "));
    assert_failure(&transform(&["--stylesheet", &sheet], "<a/>"), 2, &format!("{sheet}:1:"));
    let escaping = ["--stylesheet", &sheet, "--include", &format!("../a.xsl={good}")];
    assert_failure(&transform(&escaping, "<a/>"), 2, "stylesheets");
}

#[test]
fn malformed_documents_are_told_with_line_and_column() {
    let folder = Folder::new("malformed");
    let (sheet, input) = (folder.file("sheet.xsl", SHEET), folder.file("in.xml", "<a>\n<b></a>"));
    assert_failure(&transform(&["--stylesheet", &sheet, &input], ""), 1, &format!("{input}:2:"));
    assert_failure(&transform(&["--stylesheet", &sheet], "<a>"), 1, "standard input:1:");
}

#[test]
fn messages_go_to_standard_error_and_one_that_terminates_fails() {
    let folder = Folder::new("messages");
    let sheet = folder.file(
        "sheet.xsl",
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\n\
         <xsl:template match='/'><xsl:message>seen</xsl:message><b/></xsl:template>\n\
         <xsl:template match='/x'/>\n</xsl:stylesheet>",
    );
    let output = transform(&["--stylesheet", &sheet], "<a/>");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "xsl:message: seen\n");
    assert_eq!(output.status.code(), Some(0));
    let sheet = folder.file(
        "sheet.xsl",
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\n\
         <xsl:template match='/'>\n<xsl:message terminate='yes'>enough</xsl:message></xsl:template>\n</xsl:stylesheet>",
    );
    let output = transform(&["--stylesheet", &sheet], "<a/>");
    assert_failure(&output, 1, &format!("{sheet}:3:1: <xsl:message>: "));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("xsl:message: enough\n"));
}

#[test]
fn limits_are_those_of_the_policy() {
    let folder = Folder::new("limits");
    let sheet = folder.file("sheet.xsl", SHEET);
    let with = |limit: &str, input: &str| transform(&["--stylesheet", &sheet, "--limit", limit], input);
    let long = format!("<a>{}</a>", "x".repeat(2000));
    assert_eq!(with("max_bytes=2007", &long).status.code(), Some(0));
    assert_failure(&with("max_bytes=2006", &long), 1, "2006");
    assert_failure(&with("max_output_bytes=1024", &long), 1, "more than 1024 bytes of output");
    let too_large = format!("<a>{}</a>", "x".repeat(1 << 20));
    assert_failure(&transform(&["--stylesheet", &sheet], &too_large), 1, "1048576");
    assert_failure(&with("max_bytes=1", &long), 2, "limits.max_bytes: must be from 1024 to ");
    assert_failure(&with("bytes=2000", &long), 2, "unknown field `bytes`");
}

#[test]
fn a_stylesheet_that_is_wrong_or_missing_is_another_status() {
    let folder = Folder::new("wrong");
    let sheet = folder.file("sheet.xsl", "<xsl:stylesheet version='1.0'/>");
    assert_failure(&transform(&["--stylesheet", &sheet], "<a/>"), 2, &format!("{sheet}:1:"));
    assert_failure(&transform(&["--stylesheet", "/nowhere.xsl"], "<a/>"), 2, "/nowhere.xsl: ");
    assert_failure(&transform(&[], "<a/>"), 2, "--stylesheet");
    let sheet = folder.file("good.xsl", SHEET);
    assert_failure(&transform(&["--stylesheet", &sheet, "/nowhere.xml"], ""), 2, "/nowhere.xml: ");
}

/// Two parameters; requests of one media type.
fn config(folder: &Folder) -> String {
    let document = serde_json::json!({
        "request": {
            "stylesheet": {"inline": SHEET},
            "parameters": {"partner": {"header": "x-partner"}, "{urn:p}tier": {"query": "tier"}},
            "when": {"media-type": {"exact": "text/xml"}},
        },
        "response": {
            "stylesheet": {"inline": SHEET},
            "parameters": {"partner": {"request-header": "x-partner"}},
            "when": {"status": ["2xx"]},
        },
    });
    folder.file("config.json", &document.to_string())
}

#[test]
fn a_request_goes_through_the_policy_as_it_is_configured() {
    let folder = Folder::new("request");
    let config = config(&folder);
    let arguments = [
        "--config",
        &config,
        "--header",
        "X-Partner: acme",
        "--header",
        ":path: /?tier=gold",
        "--request",
        "-",
    ];
    let output = transform(&arguments, "<a>1</a>");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "<b partner=\"acme\" tier=\"gold\">1</b>");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors, "outcome: xslt-transform:passed:request-transformed\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_response_goes_through_the_policy_as_it_is_configured() {
    let folder = Folder::new("response");
    let config = config(&folder);
    let to = ["--config", &config, "--request-header", "x-partner: acme", "--response", "-"];
    let output = transform(&to, "<a>1</a>");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "<b partner=\"acme\" tier=\"\">1</b>");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_the_condition_excludes_passes_as_it_is() {
    let folder = Folder::new("condition");
    let config = config(&folder);
    for arguments in [
        ["--config", &config, "--header", "content-type: application/xml", "--request", "-"],
        ["--config", &config, "--header", ":status: 404", "--response", "-"],
    ] {
        let output = transform(&arguments, "<a>1</a>");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "<a>1</a>");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn what_the_policy_refuses_is_told_with_status_and_place() {
    let folder = Folder::new("refused");
    let config = config(&folder);
    let input = folder.file("in.xml", "<a>\n<b></a>");
    for (option, status) in [("--request", "refused with 400"), ("--response", "refused with 502")] {
        let output = transform(&["--config", &config, option, &input], "");
        assert_failure(&output, 1, status);
        assert_failure(&output, 1, &format!("{input}:2:"));
    }
}

#[test]
fn a_configuration_that_the_module_refuses_is_refused() {
    let folder = Folder::new("refused-config");
    let config = folder.file("config.json", r#"{"request": {"stylesheet": {"inline": "<a/>"}, "x": 1}}"#);
    assert_failure(&transform(&["--config", &config, "--request", "-"], "<a/>"), 2, "request.x");
}

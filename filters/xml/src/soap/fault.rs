//! Writing faults.

use core::fmt;

use super::version::Version;
use crate::error::NamespaceRule;
use crate::escape::write_text;
use crate::namespaces::check_declaration;

/// What stands for the namespace of a detail's child element.
const DETAIL_PREFIX: &str = "d";

/// What kind of fault it is (SOAP 1.1, section 4.4.1; SOAP 1.2 part 1, section 5.4.6). The names are those of SOAP 1.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The envelope is of another version. The fault lists those that are understood.
    VersionMismatch,
    /// A header block that must be understood is not.
    MustUnderstand,
    /// The message uses an encoding that is not known. SOAP 1.1 has no such code: there it is `Client`.
    DataEncodingUnknown,
    /// The message must change before it can succeed; `Client` in SOAP 1.1.
    Sender,
    /// It is not the message's fault, and it may succeed later; `Server` in SOAP 1.1.
    Receiver,
}

impl Code {
    /// The code's name in a version, without a prefix.
    pub const fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::VersionMismatch, _) => "VersionMismatch",
            (Self::MustUnderstand, _) => "MustUnderstand",
            (Self::DataEncodingUnknown, Version::V1_2) => "DataEncodingUnknown",
            (Self::Sender | Self::DataEncodingUnknown, Version::V1_1) => "Client",
            (Self::Sender, Version::V1_2) => "Sender",
            (Self::Receiver, Version::V1_1) => "Server",
            (Self::Receiver, Version::V1_2) => "Receiver",
        }
    }

    /// The code that goes with an HTTP status: up to 499 the sender is to blame.
    pub const fn of_status(status: u16) -> Self {
        if status < 500 { Self::Sender } else { Self::Receiver }
    }

    /// The HTTP status that the version's HTTP binding gives to a fault with this code (SOAP 1.1, section 6.2; SOAP 1.2
    /// part 2, table 20).
    pub const fn http_status(self, version: Version) -> u16 {
        match (self, version) {
            (Self::Sender, Version::V1_2) => 400,
            _ => 500,
        }
    }
}

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault<'a> {
    /// What kind of fault it is.
    pub code: Code,
    /// What is wrong, for a person.
    pub reason: &'a str,
    /// The reason's language, as a tag of BCP 47. SOAP 1.1 has no place for it.
    pub language: &'a str,
    /// Who found the fault, a URI: `Node`, or `faultactor` in SOAP 1.1.
    pub node: Option<&'a str>,
    /// The role in which it acted, a URI. SOAP 1.1 has no place for it.
    pub role: Option<&'a str>,
    /// What is wrong, for a program: only for faults that have to do with the Body (SOAP 1.1, section 4.4).
    pub detail: &'a [DetailEntry<'a>],
}

/// A child element of a fault's detail, with text as its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DetailEntry<'a> {
    namespace: &'a str,
    local: &'a str,
    text: &'a str,
}

/// A name that an element of a detail cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidName {
    /// The local name is not a letter or `_`, followed by letters, digits, `_`, `-` and `.`, all of them ASCII.
    Local,
    /// The namespace cannot be declared for the element.
    Namespace(NamespaceRule),
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str(
                "not a letter or `_`, followed by letters, digits, `_`, `-` and `.`, all of them ASCII",
            ),
            Self::Namespace(rule) => rule.fmt(f),
        }
    }
}

impl std::error::Error for InvalidName {}

impl<'a> DetailEntry<'a> {
    /// An element in a namespace, empty for none, with text as its content.
    ///
    /// # Errors
    /// If the local name is none that is taken, or the namespace one that cannot be declared: that of `xml` or `xmlns`
    /// (Namespaces in XML 1.0, section 3).
    pub fn new(namespace: &'a str, local: &'a str, text: &'a str) -> Result<Self, InvalidName> {
        let starts = local.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let goes_on = local.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        if !(starts && goes_on) {
            return Err(InvalidName::Local);
        }
        if !namespace.is_empty() {
            check_declaration(DETAIL_PREFIX, namespace).map_err(InvalidName::Namespace)?;
        }
        Ok(Self { namespace, local, text })
    }
}

impl<'a> Fault<'a> {
    /// A fault with a code and an English reason, and nothing else.
    pub const fn new(code: Code, reason: &'a str) -> Self {
        Self { code, reason, language: "en", node: None, role: None, detail: &[] }
    }

    /// Appends a message with this fault, in UTF-8 and without an XML declaration. Its Content-Type is
    /// [`Version::content_type`].
    pub fn write(&self, version: Version, out: &mut Vec<u8>) {
        let prefix = match version {
            Version::V1_1 => "soapenv",
            Version::V1_2 => "env",
        };
        put(out, &["<", prefix, ":Envelope xmlns:", prefix, "=\"", version.namespace(), "\">"]);
        if self.code == Code::VersionMismatch {
            write_upgrade(prefix, out);
        }
        put(out, &["<", prefix, ":Body><", prefix, ":Fault>"]);
        match version {
            Version::V1_1 => self.write_1_1(out),
            Version::V1_2 => self.write_1_2(out),
        }
        put(out, &["</", prefix, ":Fault></", prefix, ":Body></", prefix, ":Envelope>\n"]);
    }

    /// SOAP 1.1, section 4.4: the children are in no namespace.
    fn write_1_1(&self, out: &mut Vec<u8>) {
        put(out, &["<faultcode>soapenv:", self.code.name(Version::V1_1), "</faultcode><faultstring>"]);
        write_text(out, self.reason);
        put(out, &["</faultstring>"]);
        if let Some(node) = self.node {
            put(out, &["<faultactor>"]);
            write_text(out, node);
            put(out, &["</faultactor>"]);
        }
        self.write_detail("detail", out);
    }

    /// SOAP 1.2 part 1, section 5.4.
    fn write_1_2(&self, out: &mut Vec<u8>) {
        put(out, &["<env:Code><env:Value>env:", self.code.name(Version::V1_2), "</env:Value></env:Code>"]);
        put(out, &["<env:Reason><env:Text xml:lang=\""]);
        write_text(out, self.language);
        put(out, &["\">"]);
        write_text(out, self.reason);
        put(out, &["</env:Text></env:Reason>"]);
        for (name, uri) in [("env:Node", self.node), ("env:Role", self.role)] {
            if let Some(uri) = uri {
                put(out, &["<", name, ">"]);
                write_text(out, uri);
                put(out, &["</", name, ">"]);
            }
        }
        self.write_detail("env:Detail", out);
    }

    fn write_detail(&self, name: &str, out: &mut Vec<u8>) {
        if self.detail.is_empty() {
            return;
        }
        put(out, &["<", name, ">"]);
        for DetailEntry { namespace, local, text } in self.detail {
            // No default namespace is declared around it, so that a name without one needs no declaration.
            let (prefix, colon) = if namespace.is_empty() { ("", "") } else { (DETAIL_PREFIX, ":") };
            put(out, &["<", prefix, colon, local]);
            if !namespace.is_empty() {
                put(out, &[" xmlns:", prefix, "=\""]);
                write_text(out, namespace);
                put(out, &["\""]);
            }
            put(out, &[">"]);
            write_text(out, text);
            put(out, &["</", prefix, colon, local, ">"]);
        }
        put(out, &["</", name, ">"]);
    }
}

/// The envelopes that are understood, preferred ones first (SOAP 1.2 part 1, section 5.4.7 and appendix A.1: in faults
/// of either version).
fn write_upgrade(prefix: &str, out: &mut Vec<u8>) {
    let upgrade = Version::V1_2.namespace();
    put(out, &["<", prefix, ":Header><u:Upgrade xmlns:u=\"", upgrade, "\">"]);
    for version in Version::ALL.into_iter().rev() {
        let namespace = version.namespace();
        put(out, &["<u:SupportedEnvelope qname=\"e:Envelope\" xmlns:e=\"", namespace, "\"/>"]);
    }
    put(out, &["</u:Upgrade></", prefix, ":Header>"]);
}

fn put(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::namespaces::{XML, XMLNS};
    use crate::tree::Document;

    fn written(fault: &Fault<'_>, version: Version) -> String {
        let mut out = Vec::new();
        fault.write(version, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn writes_code_and_reason() {
        let fault = Fault::new(Code::Sender, "no <such> \"client\"\u{0}");
        assert_eq!(
            written(&fault, Version::V1_1),
            "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Body>\
             <soapenv:Fault><faultcode>soapenv:Client</faultcode>\
             <faultstring>no &lt;such&gt; &quot;client&quot;\u{fffd}</faultstring>\
             </soapenv:Fault></soapenv:Body></soapenv:Envelope>\n"
        );
        assert_eq!(
            written(&fault, Version::V1_2),
            "<env:Envelope xmlns:env=\"http://www.w3.org/2003/05/soap-envelope\"><env:Body><env:Fault>\
             <env:Code><env:Value>env:Sender</env:Value></env:Code>\
             <env:Reason><env:Text xml:lang=\"en\">no &lt;such&gt; &quot;client&quot;\u{fffd}</env:Text></env:Reason>\
             </env:Fault></env:Body></env:Envelope>\n"
        );
    }

    #[test]
    fn writes_everything_else_in_the_order_of_the_schema() {
        let detail = [
            DetailEntry::new("urn:a&b", "limit", "1 < 2").unwrap(),
            DetailEntry::new("", "plain", "").unwrap(),
        ];
        let fault = Fault {
            language: "en-GB",
            node: Some("urn:node?a&b"),
            role: Some("urn:role"),
            detail: &detail,
            ..Fault::new(Code::Receiver, "later")
        };
        let entries = "<d:limit xmlns:d=\"urn:a&amp;b\">1 &lt; 2</d:limit><plain></plain>";
        assert!(written(&fault, Version::V1_1).contains(&format!(
            "<faultcode>soapenv:Server</faultcode><faultstring>later</faultstring>\
             <faultactor>urn:node?a&amp;b</faultactor><detail>{entries}</detail></soapenv:Fault>"
        )));
        assert!(written(&fault, Version::V1_2).contains(&format!(
            "<env:Text xml:lang=\"en-GB\">later</env:Text></env:Reason><env:Node>urn:node?a&amp;b</env:Node>\
             <env:Role>urn:role</env:Role><env:Detail>{entries}</env:Detail></env:Fault>"
        )));
    }

    #[test]
    fn names_each_code_in_either_version() {
        for (code, soap_1_1, soap_1_2) in [
            (Code::VersionMismatch, ("VersionMismatch", 500), ("VersionMismatch", 500)),
            (Code::MustUnderstand, ("MustUnderstand", 500), ("MustUnderstand", 500)),
            (Code::DataEncodingUnknown, ("Client", 500), ("DataEncodingUnknown", 500)),
            (Code::Sender, ("Client", 500), ("Sender", 400)),
            (Code::Receiver, ("Server", 500), ("Receiver", 500)),
        ] {
            for (version, expected) in [(Version::V1_1, soap_1_1), (Version::V1_2, soap_1_2)] {
                assert_eq!((code.name(version), code.http_status(version)), expected, "{code:?} {version}");
            }
        }
        assert_eq!([Code::of_status(499), Code::of_status(500)], [Code::Sender, Code::Receiver]);
    }

    #[test]
    fn lists_the_versions_that_are_understood_when_it_is_about_versions() {
        let upgrade = ":Header><u:Upgrade xmlns:u=\"http://www.w3.org/2003/05/soap-envelope\">\
             <u:SupportedEnvelope qname=\"e:Envelope\" xmlns:e=\"http://www.w3.org/2003/05/soap-envelope\"/>\
             <u:SupportedEnvelope qname=\"e:Envelope\" xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"/>\
             </u:Upgrade></";
        for version in Version::ALL {
            let fault = written(&Fault::new(Code::VersionMismatch, "no"), version);
            assert!(fault.contains(upgrade), "{fault}");
            assert!(!written(&Fault::new(Code::Sender, "no"), version).contains("Upgrade"));
        }
    }

    #[test]
    fn refuses_names_that_would_break_the_document() {
        for name in ["", "1a", "-a", "a b", "a:b", "a>", "a/", "\u{e9}"] {
            assert_eq!(DetailEntry::new("", name, "x"), Err(InvalidName::Local), "{name:?}");
        }
        assert!(DetailEntry::new("", "_a-1.b", "x").is_ok());
    }

    #[test]
    fn refuses_namespaces_that_no_prefix_may_be_bound_to() {
        for (namespace, rule) in [(XML, NamespaceRule::XmlNamespace), (XMLNS, NamespaceRule::XmlnsNamespace)]
        {
            let refused = DetailEntry::new(namespace, "a", "x");
            assert_eq!(refused, Err(InvalidName::Namespace(rule)), "{namespace}");
        }
        // What is taken is read again, whatever its name.
        for namespace in ["", "urn:\"<&>'\u{0}", " ", "http://www.w3.org/XML/1998/namespace/"] {
            let detail = [DetailEntry::new(namespace, "a", "x").unwrap()];
            for version in Version::ALL {
                let fault = Fault { detail: &detail, ..Fault::new(Code::Sender, "no") };
                let fault = written(&fault, version);
                assert!(Document::parse(fault.as_bytes(), &Limits::default()).is_ok(), "{fault}");
            }
        }
    }
}

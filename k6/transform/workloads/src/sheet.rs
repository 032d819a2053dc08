//! The stylesheets.

use portcullis_xml::Limits;
use portcullis_xslt::{CompileOptions, NoMessages, Parameter, Parameters, Stylesheet, TransformLimits};

use crate::message::Names;

/// A stylesheet, and what it is applied to.
#[derive(Debug, Clone, Copy)]
pub struct Sheet {
    /// Its name in options and tables.
    pub name: &'static str,
    /// What it does, for people.
    pub title: &'static str,
    /// The stylesheet.
    pub text: &'static str,
    /// How the elements of the messages are called that it is for.
    pub names: Names,
    /// Its parameters with their values, all of which are strings.
    pub parameters: &'static [(&'static str, &'static str)],
}

/// All of them.
pub const SHEETS: [Sheet; 4] = [
    Sheet {
        name: "identity",
        title: "identity",
        text: include_str!("../sheets/identity.xsl"),
        names: Names::Forwards,
        parameters: &[],
    },
    Sheet {
        name: "wso2-there",
        title: "WSO2, request",
        text: include_str!("../sheets/buy-stocks-there.xsl"),
        names: Names::Forwards,
        parameters: &[],
    },
    Sheet {
        name: "wso2-back",
        title: "WSO2, reply",
        text: include_str!("../sheets/buy-stocks-back.xsl"),
        names: Names::Backwards,
        parameters: &[],
    },
    Sheet {
        name: "statement",
        title: "statement: sort, choose, call-template, parameters",
        text: include_str!("../sheets/statement.xsl"),
        names: Names::Forwards,
        parameters: &[("client", "acme"), ("currency", "EUR")],
    },
];

impl Sheet {
    /// What the suite's engine makes of a document by this stylesheet.
    ///
    /// # Errors
    /// If it cannot.
    pub fn apply(&self, document: &[u8]) -> Result<String, Box<dyn std::error::Error>> {
        let stylesheet = Stylesheet::compile(self.text.as_bytes(), &CompileOptions::default())?;
        let mut parameters = Parameters::new();
        for (name, value) in self.parameters {
            parameters.set("", name, Parameter::String((*value).to_owned()));
        }
        let source = stylesheet.parse(document, &Limits::default())?;
        let limits = TransformLimits::default();
        let output = stylesheet.transform(source, &parameters, &limits, &mut NoMessages)?;
        Ok(String::from_utf8(output.bytes)?)
    }
}

/// The stylesheet of a name.
#[must_use]
pub fn sheet(name: &str) -> Option<&'static Sheet> {
    SHEETS.iter().find(|sheet| sheet.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{MESSAGES, message};

    fn transformed(name: &str, input: &[u8]) -> String {
        sheet(name).unwrap().apply(input).unwrap()
    }

    #[test]
    fn identity_gives_back_what_came() {
        for size in MESSAGES {
            let input = message(size, Names::Forwards);
            assert_eq!(transformed("identity", input.as_bytes()), input);
        }
    }

    #[test]
    fn the_pair_goes_there_and_back() {
        for size in MESSAGES {
            let (forwards, backwards) = (message(size, Names::Forwards), message(size, Names::Backwards));
            assert_eq!(transformed("wso2-there", forwards.as_bytes()), backwards);
            assert_eq!(transformed("wso2-back", backwards.as_bytes()), forwards);
        }
    }

    #[test]
    fn the_statement_has_all_orders_and_all_kinds_of_entries() {
        let [.., largest] = MESSAGES;
        let statement = transformed("statement", message(largest, Names::Forwards).as_bytes());
        assert!(statement.starts_with("<statement client=\"acme\" orders=\"989\" volume=\""));
        assert_eq!(statement.matches("<total currency=\"EUR\">").count(), 989);
        for kind in ["large", "usual", "small"] {
            assert!(statement.contains(&format!("class=\"{kind}\"")), "no {kind} entry");
        }
        assert_eq!(statement.matches("<fee ").count(), statement.matches("class=\"large\"").count());
    }
}

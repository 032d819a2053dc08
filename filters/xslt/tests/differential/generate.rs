//! Stylesheets, and documents to go with them.

use crate::document;
use crate::expression::{any, below, boolean, nodes, number, pattern, string};
use crate::random::Random;

/// A stylesheet and a document.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) stylesheet: String,
    pub(crate) document: String,
}

/// The pair of a seed.
pub(crate) fn pair(seed: u64) -> Pair {
    let mut random = Random::new(seed);
    let document = document::generate(&mut random);
    let stylesheet = Generator { random, variables: Vec::new(), names: 0, loops: 0 }.stylesheet();
    Pair { stylesheet, document }
}

/// Templates that are called by name. Each calls only later ones.
const NAMED: usize = 3;

const MODES: &[&str] = &["", "", " mode=\"m\""];

struct Generator {
    random: Random,
    /// The variables in scope.
    variables: Vec<Variable>,
    names: usize,
    /// How many `xsl:for-each` there are around: they go anywhere in the document, so that templates that are applied
    /// within them might apply each other for ever.
    loops: usize,
}

#[derive(Clone)]
struct Variable {
    name: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fragment,
    Value,
}

impl Generator {
    fn stylesheet(mut self) -> String {
        let mut out = "<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\" \
                       xmlns:p=\"urn:p\" xmlns:r=\"urn:r\" exclude-result-prefixes=\"p\">\n"
            .to_owned();
        match self.random.below(6) {
            0 => out.push_str("<xsl:strip-space elements=\"*\"/>\n"),
            1 => out.push_str("<xsl:strip-space elements=\"*\"/><xsl:preserve-space elements=\"a p:*\"/>\n"),
            2 => out.push_str("<xsl:strip-space elements=\"b c\"/>\n"),
            _ => {}
        }
        if self.random.one_in(10) {
            out.push_str("<xsl:output method=\"text\"/>\n");
        } else if self.random.one_in(10) {
            out.push_str("<xsl:output cdata-section-elements=\"out a\" omit-xml-declaration=\"yes\"/>\n");
        }
        out.push_str("<xsl:key name=\"by-x\" match=\"*\" use=\"@x\"/>\n");
        out.push_str("<xsl:attribute-set name=\"set\"><xsl:attribute name=\"s1\">1</xsl:attribute>");
        out.push_str("<xsl:attribute name=\"s2\"><xsl:value-of select=\"name()\"/></xsl:attribute>");
        out.push_str("</xsl:attribute-set>\n");
        self.declare(&mut out, "g1");
        out.push_str("<xsl:template match=\"/\"><out>");
        let body = self.body(3, 0);
        out.push_str(&body);
        out.push_str("<xsl:apply-templates/></out></xsl:template>\n");
        for index in 0..NAMED {
            out.push_str(&format!("<xsl:template name=\"t{index}\"><xsl:param name=\"n\" select=\"'d'\"/>"));
            let body = self.scoped(|generator| {
                generator.variables.push(Variable { name: "n".to_owned(), kind: Kind::Fragment });
                generator.body(2, index + 1)
            });
            out.push_str(&body);
            out.push_str("</xsl:template>\n");
        }
        for _ in 0..2 + self.random.below(6) {
            let template = self.template();
            out.push_str(&template);
        }
        out.push_str("</xsl:stylesheet>");
        out
    }

    fn template(&mut self) -> String {
        let (mut pattern, mode) = (pattern(&mut self.random), self.random.of(MODES));
        if pattern == "/" && mode.is_empty() {
            pattern = "a";
        }
        let priority = match self.random.below(6) {
            0 => " priority=\"1\"",
            1 => " priority=\"-2\"",
            2 => " priority=\"0.25\"",
            _ => "",
        };
        let body = self.scoped(|generator| generator.body(3, 0));
        format!("<xsl:template match=\"{pattern}\"{mode}{priority}>{body}</xsl:template>\n")
    }

    /// What declares variables that are in scope for the rest of what it is in, and no longer.
    fn scoped(&mut self, body: impl FnOnce(&mut Self) -> String) -> String {
        let before = self.variables.len();
        let body = body(self);
        self.variables.truncate(before);
        body
    }

    fn body(&mut self, depth: usize, callable: usize) -> String {
        let before = self.variables.len();
        let mut out = String::new();
        for _ in 0..1 + self.random.below(3) {
            let instruction = self.instruction(depth, callable);
            out.push_str(&instruction);
        }
        self.variables.truncate(before);
        out
    }

    fn declare(&mut self, out: &mut String, name: &str) {
        out.push_str(&format!("<xsl:variable name=\"{name}\" select=\"{}\"/>\n", any(&mut self.random, 1)));
        self.variables.push(Variable { name: name.to_owned(), kind: Kind::Value });
    }

    fn instruction(&mut self, depth: usize, callable: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let next = depth - 1;
        match self.random.below(22) {
            0 | 1 => {
                let attributes = self.literal_attributes();
                let name = self.random.of(&["a", "out", "r:b"]);
                format!("<{name}{attributes}>{}</{name}>", self.content(next, callable))
            }
            2..=4 if self.loops == 0 => {
                // Not the default, which libxslt takes to have the text of attributes.
                let mut select =
                    if self.random.one_in(3) { "node()".to_owned() } else { below(&mut self.random) };
                let mode = self.random.of(MODES);
                let sort = if self.random.one_in(4) { self.sort() } else { String::new() };
                if !sort.is_empty() {
                    select = format!("({select})[self::*]");
                }
                format!("<xsl:apply-templates select=\"{select}\"{mode}>{sort}</xsl:apply-templates>")
            }
            5 if self.loops == 0 && callable < NAMED => {
                let target = callable + self.random.below(NAMED - callable);
                let parameter = string(&mut self.random, 1);
                format!(
                    "<xsl:call-template name=\"t{target}\"><xsl:with-param name=\"n\" select=\"{parameter}\"/>\
                     </xsl:call-template>"
                )
            }
            6 | 7 => {
                let mut select = nodes(&mut self.random, 1);
                let sort = if self.random.one_in(3) { self.sort() } else { String::new() };
                if !sort.is_empty() {
                    select = format!("({select})[self::*]");
                }
                self.loops += 1;
                let body = self.body(next, callable);
                self.loops -= 1;
                format!("<xsl:for-each select=\"{select}\">{sort}{body}</xsl:for-each>")
            }
            8 => format!(
                "<xsl:if test=\"{}\">{}</xsl:if>",
                boolean(&mut self.random, 2),
                self.body(next, callable)
            ),
            9 => format!(
                "<xsl:choose><xsl:when test=\"{}\">{}</xsl:when><xsl:when test=\"{}\">{}</xsl:when><xsl:otherwise>{}\
                 </xsl:otherwise></xsl:choose>",
                boolean(&mut self.random, 2),
                self.body(next, callable),
                boolean(&mut self.random, 1),
                self.body(next, callable),
                self.body(next, callable)
            ),
            10 => {
                let set = if self.random.one_in(3) { " use-attribute-sets=\"set\"" } else { "" };
                format!("<xsl:copy{set}>{}</xsl:copy>", self.content(next, callable))
            }
            11 => format!(
                "<xsl:element name=\"{}\">{}</xsl:element>",
                self.random.of(&["e", "e{position()}", "r:e", "p:{local-name(/*)}"]),
                self.content(next, callable)
            ),
            12 => format!(
                "<xsl:element name=\"n\" namespace=\"{}\">{}</xsl:element>",
                self.random.of(&["", "urn:n", "urn:{count(*)}"]),
                self.content(next, callable)
            ),
            13 => {
                self.names += 1;
                let name = format!("v{}", self.names);
                let (declaration, kind) = if self.random.one_in(2) {
                    let body = self.body(next, callable);
                    (format!("<xsl:variable name=\"{name}\">{body}</xsl:variable>"), Kind::Fragment)
                } else {
                    let select = any(&mut self.random, 2);
                    (format!("<xsl:variable name=\"{name}\" select=\"{select}\"/>"), Kind::Value)
                };
                self.variables.push(Variable { name, kind });
                declaration + &self.instruction(next, callable)
            }
            14 => format!("<xsl:comment>{}</xsl:comment>", self.text()),
            15 => {
                let text = self.text();
                format!("<xsl:processing-instruction name=\"pi\">{text}</xsl:processing-instruction>")
            }
            _ => self.leaf(),
        }
    }

    /// What an element has in it: attributes come first.
    fn content(&mut self, depth: usize, callable: usize) -> String {
        let mut out = String::new();
        if self.random.one_in(6) {
            out.push_str("<xsl:copy-of select=\"@*\"/>");
        }
        for _ in 0..self.random.below(6) / 3 {
            let attribute = self.attribute();
            out.push_str(&attribute);
        }
        out + &self.body(depth, callable)
    }

    /// Text without hyphens and question marks, for what cannot have some of them.
    fn text(&mut self) -> String {
        let select = any(&mut self.random, 1);
        format!("<xsl:value-of select=\"translate({select}, '-?', '+!')\"/>some text")
    }

    fn leaf(&mut self) -> String {
        match self.random.below(13) {
            0 => self
                .random
                .of(&["text ", "<xsl:text> </xsl:text>", "<xsl:text>&lt;&amp;&#10;</xsl:text>"])
                .to_owned(),
            1 | 2 => {
                let select = nodes(&mut self.random, 1);
                // Attributes would come too late.
                let test = if select.contains('@') { "[not(self::text())]/*" } else { "" };
                format!("<xsl:copy-of select=\"({select}){test}\"/>")
            }
            3 => self.number(),
            4 | 5 if !self.variables.is_empty() => {
                let index = self.random.below(self.variables.len());
                let variable = self.variables[index].clone();
                match (variable.kind, self.random.below(4)) {
                    (_, 0) => format!("<xsl:copy-of select=\"${}\"/>", variable.name),
                    (_, 1) => format!("<xsl:value-of select=\"string-length(${})\"/>", variable.name),
                    (Kind::Fragment, 2) => format!("<xsl:if test=\"${} = 'd'\">d</xsl:if>", variable.name),
                    _ => format!("<xsl:value-of select=\"${}\"/>", variable.name),
                }
            }
            6 => "<xsl:copy/>".to_owned(),
            _ => format!("<xsl:value-of select=\"{}\"/>", any(&mut self.random, 2)),
        }
    }

    fn attribute(&mut self) -> String {
        let name = self.random.of(&["x", "z", "r:z", "at-{position()}"]);
        // With a prefix, libxslt gives that a new meaning even if the element's name has it.
        let namespace =
            if !name.contains(':') && self.random.one_in(4) { " namespace=\"urn:n\"" } else { "" };
        format!("<xsl:attribute name=\"{name}\"{namespace}>{}</xsl:attribute>", {
            let select = string(&mut self.random, 1);
            format!("<xsl:value-of select=\"{select}\"/>")
        })
    }

    fn literal_attributes(&mut self) -> String {
        let mut attributes = String::new();
        if self.random.one_in(3) {
            attributes.push_str(&format!(" x=\"{{{}}}\"", string(&mut self.random, 1)));
        }
        if self.random.one_in(4) {
            attributes.push_str(&format!(" r:y=\"a{{{}}}b}}}}\"", number(&mut self.random, 1)));
        }
        if self.random.one_in(6) {
            attributes.push_str(" xsl:use-attribute-sets=\"set\"");
        }
        attributes
    }

    fn number(&mut self) -> String {
        let level = self.random.of(&["", " level=\"any\"", " level=\"multiple\""]);
        let count = self.random.of(&["", " count=\"*\"", " count=\"a|b\"", " count=\"p:*\""]);
        let from = if !level.contains("any") && self.random.one_in(4) { " from=\"doc\"" } else { "" };
        let format = self.random.of(&["", " format=\"1.a\"", " format=\"(I) \"", " format=\"01\""]);
        if self.random.one_in(3) {
            let format = self.random.of(&[
                " format=\"A\"",
                " format=\"i\"",
                " grouping-separator=\",\" grouping-size=\"3\"",
            ]);
            return format!(
                "<xsl:number value=\"{}\"{format}/>",
                self.random.of(&["position()", "1 + count(//*)", "1234567"])
            );
        }
        // The root has a number too, but libxslt gives it none; nor is it strict about the node that matches
        // `from`.
        format!("<xsl:if test=\"../..\"><xsl:number{level}{count}{from}{format}/></xsl:if>")
    }

    /// No key is empty or NaN: with such ones libxslt loses the order of the nodes.
    fn sort(&mut self) -> String {
        let order = self.random.of(&["", " order=\"descending\""]);
        match self.random.below(4) {
            0 => {
                let key = nodes(&mut self.random, 1);
                format!("<xsl:sort select=\"count({key})\" data-type=\"number\"{order}/>")
            }
            1 => format!(
                "<xsl:sort select=\"concat('a', name())\"{order}/><xsl:sort select=\"count(*)\" data-type=\"number\"/>"
            ),
            2 => format!("<xsl:sort select=\"count(preceding::*)\" data-type=\"number\"{order}/>"),
            _ => format!("<xsl:sort select=\"concat('a', local-name())\"{order}/>"),
        }
    }
}

//! How a result is written: the attributes of `xsl:output` (XSLT 1.0, section 16).

/// What `xsl:output` says, as far as it is supported. The encoding is UTF-8, the version of XML is 1.0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputFormat {
    /// `method`.
    pub(crate) method: Method,
    /// `omit-xml-declaration`.
    pub(crate) declaration: XmlDeclaration,
    /// `standalone`. It is part of the XML declaration.
    pub(crate) standalone: Standalone,
    /// `indent`.
    pub(crate) indent: Indent,
    /// `cdata-section-elements`.
    pub(crate) cdata_elements: CdataElements,
    /// `doctype-system` and `doctype-public`.
    pub(crate) document_type: Option<DocumentType>,
}

impl Default for OutputFormat {
    /// What holds if there is no `xsl:output`.
    fn default() -> Self {
        Self {
            method: Method::Unspecified,
            declaration: XmlDeclaration::Written,
            standalone: Standalone::Unspecified,
            indent: Indent::None,
            cdata_elements: CdataElements::default(),
            document_type: None,
        }
    }
}

/// The output method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// None is named: XML, unless the first element is `html` in no namespace, which is an error here.
    Unspecified,
    /// XML.
    Xml,
    /// The string-value of the result tree.
    Text,
}

/// Whether there is an XML declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum XmlDeclaration {
    /// There is one, with version, encoding, and `standalone` if it is specified.
    Written,
    /// There is none.
    Omitted,
}

/// What the XML declaration says of external markup declarations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standalone {
    /// Nothing.
    Unspecified,
    /// `standalone="yes"`
    Yes,
    /// `standalone="no"`
    No,
}

/// Whether white space is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indent {
    /// None is.
    None,
    /// Line feeds, and two spaces for each level. Where an element has text among its children, nothing is added within
    /// it, nor within an element with `xml:space="preserve"`: the added white space is never part of mixed content.
    TwoSpaces,
}

/// The elements whose text is written as CDATA sections, by expanded name: namespace (empty for none) and local part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CdataElements(pub(crate) Vec<(Box<str>, Box<str>)>);

/// What the document type declaration says, which is written before the document element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentType {
    /// The system identifier. It may not contain both kinds of quotes.
    pub(crate) system: Box<str>,
    /// The public identifier, if there is one.
    pub(crate) public: Option<Box<str>>,
}

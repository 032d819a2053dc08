//! What is done to the messages of one direction, compiled.

use std::collections::BTreeMap;

use portcullis_policy::{ConfigError, Direction, HeaderMap};
use portcullis_xslt::{CompileOptions, OutputKind, Stylesheet};

use crate::condition::{Condition, Facts};
use crate::config::{OnError, Placement, SourceElement, StylesheetReference, Transformation};
use crate::parameters::NamedParameter;
use crate::vary::Vary;

/// What is done to the messages of one direction.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) direction: Direction,
    pub(crate) stylesheet: Stylesheet,
    pub(crate) when: Option<Condition>,
    pub(crate) source: SourceElement,
    pub(crate) result: Placement,
    pub(crate) parameters: Vec<NamedParameter>,
    pub(crate) content_type: Option<String>,
    pub(crate) on_error: OnError,
    /// What responses say besides. Of requests, nothing.
    pub(crate) vary: Vary,
}

impl Side {
    /// # Errors
    /// What is wrong with the transformation, its stylesheet above all.
    pub(crate) fn compile(
        direction: Direction,
        transformation: &Transformation,
        stylesheets: &BTreeMap<String, String>,
    ) -> Result<Self, ConfigError> {
        let stylesheet = stylesheet(&transformation.stylesheet, stylesheets)
            .map_err(|error| error.within("stylesheet"))?;
        let is_in_envelope =
            transformation.source == SourceElement::Operation && transformation.result == Placement::InPlace;
        if is_in_envelope && stylesheet.output_kind() != OutputKind::Xml {
            let problem = "must write XML without a document type: its result goes into an envelope";
            return Err(ConfigError::new("stylesheet", problem));
        }
        let when = transformation.when.as_ref().map(Condition::compile).transpose();
        let parameters = transformation
            .parameters
            .iter()
            .map(|(name, value)| NamedParameter::compile(name, value, &stylesheet));
        Ok(Self {
            direction,
            when: when.map_err(|error| error.within("when"))?,
            source: transformation.source,
            result: transformation.result,
            parameters: parameters.collect::<Result<_, _>>().map_err(|error| error.within("parameters"))?,
            content_type: transformation.content_type.clone(),
            on_error: transformation.on_error,
            vary: match direction {
                Direction::Request => Vary::default(),
                Direction::Response => Vary::of(transformation),
            },
            stylesheet,
        })
    }

    /// Whether what is known of an exchange rules its messages out already.
    pub(crate) fn rules_out(&self, facts: Facts<'_>) -> bool {
        self.when.as_ref().is_some_and(|when| when.truth(facts) == Some(false))
    }

    /// The headers of its messages.
    pub(crate) fn headers(&self) -> HeaderMap {
        match self.direction {
            Direction::Request => HeaderMap::RequestHeaders,
            Direction::Response => HeaderMap::ResponseHeaders,
        }
    }

    /// The trailers of its messages.
    pub(crate) fn trailers(&self) -> HeaderMap {
        match self.direction {
            Direction::Request => HeaderMap::RequestTrailers,
            Direction::Response => HeaderMap::ResponseTrailers,
        }
    }

    /// The word for logs and metrics.
    pub(crate) fn as_str(&self) -> &'static str {
        match self.direction {
            Direction::Request => "request",
            Direction::Response => "response",
        }
    }
}

fn stylesheet(
    reference: &StylesheetReference,
    stylesheets: &BTreeMap<String, String>,
) -> Result<Stylesheet, ConfigError> {
    let documents = stylesheets.iter().map(|(name, text)| (name.clone(), text.clone().into_bytes()));
    let options = CompileOptions { documents: documents.collect(), ..CompileOptions::default() };
    let (field, compiled) = match reference {
        StylesheetReference::Inline(text) => ("inline", Stylesheet::compile(text.as_bytes(), &options)),
        StylesheetReference::Named(name) => {
            if !stylesheets.contains_key(name) {
                return Err(ConfigError::new("named", "must be a name in `stylesheets`"));
            }
            // Included, it has its name, by which what it includes is found and its errors are told. Names have no
            // characters that mean anything here.
            let including = format!(
                "<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\">\
                 <xsl:include href=\"{name}\"/></xsl:stylesheet>"
            );
            ("named", Stylesheet::compile(including.as_bytes(), &options))
        }
    };
    compiled.map_err(|error| ConfigError::new(field, error.to_string()))
}

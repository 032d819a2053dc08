//! Documents from 100 bytes to 5 MB.

use crate::document;
use crate::generate::Pair;
use crate::oracle::{Answer, Oracle};
use crate::random::Random;
use crate::{same, transform};

const SIZES: [usize; 6] = [100, 1_000, 10_000, 100_000, 1_000_000, 5_000_000];

/// What takes no more than linear time, so that 5 MB are done in a second or so.
const STYLESHEETS: [&str; 4] = [
    // A copy with changes.
    "<xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates select='@*|node()'/></xsl:copy></xsl:template>
     <xsl:template match='b'><p:renamed><xsl:apply-templates select='@*|node()'/></p:renamed></xsl:template>
     <xsl:template match='@x'><xsl:attribute name='y-of-{local-name(..)}'><xsl:value-of select='.'/></xsl:attribute>
     </xsl:template>
     <xsl:template match='d[@y]/c' priority='2'><xsl:copy-of select='.'/></xsl:template>
     <xsl:template match='comment()[. = \"note\"]'/>",
    // A report: sorted, with a key that has few nodes for each value (libxslt copies all of them each time), numbers
    // and parameters.
    "<xsl:strip-space elements='*'/><xsl:key name='of-parent' match='*[@x]' use='generate-id(..)'/>
     <xsl:template match='/'><report elements='{count(//*)}' sum='{format-number(sum(//@x[. &lt; 5]), \"#,##0.0\")}'>
     <xsl:for-each select='//a'><xsl:sort select='count(key(\"of-parent\", generate-id()))' data-type='number'
     order='descending'/><xsl:sort select='@x' data-type='number'/>
     <xsl:call-template name='entry'><xsl:with-param name='children' select='key(\"of-parent\", generate-id())'/>
     </xsl:call-template></xsl:for-each></report></xsl:template>
     <xsl:template name='entry'><xsl:param name='children'/>
     <xsl:variable name='size'><xsl:choose><xsl:when test='count($children) &gt; 2'>large</xsl:when>
     <xsl:when test='$children'>small</xsl:when><xsl:otherwise>none</xsl:otherwise></xsl:choose></xsl:variable>
     <entry size='{$size}' n='{count($children)}'><xsl:number value='position()' format=' (a)'/>
     <xsl:for-each select='$children[position() &lt; 4]'><m><xsl:value-of select='string-length(.)'/></m>
     </xsl:for-each></entry></xsl:template>",
    // Text, with functions on all of it.
    "<xsl:output method='text'/>
     <xsl:template match='*'><xsl:value-of select='local-name()'/>:<xsl:apply-templates select='@*|node()'/>
     <xsl:text>&#10;</xsl:text></xsl:template>
     <xsl:template match='text()'><xsl:value-of select='translate(normalize-space(), \"aeiou\", \"AEI\")'/>
     <xsl:if test='contains(., \"o\")'>!<xsl:value-of select='substring-after(., \"o\")'/></xsl:if></xsl:template>
     <xsl:template match='@*'>@<xsl:value-of select='substring(., 2, 3)'/></xsl:template>",
    // Temporary trees for each element, handed on, and modes.
    "<xsl:template match='/*'><xsl:copy><xsl:apply-templates select='*' mode='record'/></xsl:copy></xsl:template>
     <xsl:template match='*' mode='record'><xsl:variable name='name'>n-<xsl:value-of select='local-name()'/>
     </xsl:variable><xsl:variable name='tree'><t><xsl:copy-of select='@*'/><xsl:value-of select='text()'/></t>
     </xsl:variable><xsl:element name='{normalize-space($name)}'>
     <xsl:apply-templates select='*[1]' mode='record'/><xsl:call-template name='twice'>
     <xsl:with-param name='what'><xsl:copy-of select='$tree'/></xsl:with-param></xsl:call-template>
     </xsl:element></xsl:template>
     <xsl:template name='twice'><xsl:param name='what'/><xsl:copy-of select='$what'/>
     <xsl:value-of select='string($what)'/></xsl:template>",
];

#[test]
fn transforms_documents_of_all_sizes_like_libxslt() {
    let Some(oracle) = Oracle::find() else { return };

    let mut pairs = Vec::new();
    for (seed, size) in (0..).zip(SIZES) {
        let document = document::of_size(&mut Random::new(seed), size);
        assert_eq!(document.len(), size);
        // The largest one takes a while: half of them will do.
        let step = if size > 1_000_000 { 2 } else { 1 };
        pairs.extend(STYLESHEETS.iter().step_by(step).map(|content| {
            let stylesheet = format!(
                "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' \
                 xmlns:p='urn:p'><xsl:output omit-xml-declaration='yes'/>{content}</xsl:stylesheet>"
            );
            Pair { stylesheet, document: document.clone() }
        }));
    }
    let answers = oracle.ask("differential-sizes", &pairs);
    assert_eq!(answers.len(), pairs.len());
    for (number, (pair, answer)) in pairs.iter().zip(&answers).enumerate() {
        let what = format!("pair {number}, {} bytes", pair.document.len());
        let output = transform(pair).unwrap_or_else(|error| panic!("{what}: {error}"));
        let Answer::Output(expected) = answer else { panic!("{what}: {answer:?}") };
        assert!(same(&output, expected), "{what}: {}", difference(&output, expected));
        assert!(output.len() > pair.document.len() / 100, "{what}: {}", output.len());
    }
    println!("{} agree, of documents of {SIZES:?} bytes", pairs.len());
}

/// Where two outputs differ first.
fn difference(output: &[u8], expected: &[u8]) -> String {
    let at = output.iter().zip(expected).take_while(|(a, b)| a == b).count();
    let around = |text: &[u8]| {
        let end = text.len().min(at + 200);
        String::from_utf8_lossy(&text[at.saturating_sub(300)..end]).into_owned()
    };
    format!("--- engine\n{}\n--- libxslt\n{}", around(output), around(expected))
}

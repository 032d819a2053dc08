//! Cases in which the output is not the expected one, and why that is right, or all right.

/// The reason for a case, if it is an exception.
pub(crate) fn reason(id: &str) -> Option<&'static str> {
    EXCEPTIONS.iter().find(|(_, ids)| ids.contains(&id)).map(|(reason, _)| *reason)
}

/// All cases that are exceptions.
pub(crate) fn ids() -> impl Iterator<Item = &'static str> {
    EXCEPTIONS.iter().flat_map(|(_, ids)| ids.iter().copied())
}

const EXCEPTIONS: &[(&str, &[&str])] = &[
    (
        "The stylesheet has an error that a processor may recover from, or may not; found when the stylesheet is \
         loaded, it is refused. Names of elements and attributes that are no names, or have prefixes that are not \
         bound (XSLT 1.0, sections 7.1.2 and 7.1.3).",
        &[
            "attribset_attribset15",
            "lre_lre12",
            "namespace_namespace40",
            "namespace_namespace42",
            "namespace_namespace43",
            "namespace_namespace48",
            "namespace_namespace60",
            "namespace_namespace73",
            "namespace_namespace79",
            "namespace_namespace106",
        ],
    ),
    (
        "An attribute of a literal result element is in XSLT's namespace, and has none of the names that have a \
         meaning: it is taken for a mistake, and refused (section 7.1.1 does not say).",
        &["lre_lre07"],
    ),
    (
        "A variable shadows another one of the same template: an error (section 11.5).",
        &["variable_variable20", "variable_variable56"],
    ),
    ("A variable in a match pattern: an error (section 5.3).", &["idkey_idkey43", "match_match14"]),
    (
        "Attribute sets are used only when elements are copied, not the root (section 7.5).",
        &["attribset_attribset27", "attribset_attribset29"],
    ),
    (
        "Ancestors are counted only if they are descendants of one that matches 'from' (section 7.7).",
        &["numbering_numbering63"],
    ),
    (
        "A value that is not a number is written as string() does (erratum E24), not as 0.",
        &["numbering_numbering79"],
    ),
    (
        "The order of texts is left to the processor (section 10): here, white space and punctuation count.",
        &["sort_sort08", "sort_sort27"],
    ),
    (
        "The function document() is not available, and the answer to function-available() says so.",
        &["extend_extend03"],
    ),
    (
        "The expected output names the processor that it was made with (section 12.4).",
        &["processorinfo_processorinfo03"],
    ),
    (
        "The expected output was made from another version of the stylesheet: names and numbers differ that are \
         copied from there.",
        &["namespace_namespace86", "ver_ver05", "ver_ver06"],
    ),
];

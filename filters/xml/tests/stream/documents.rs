//! Documents and expressions at random, over so few names and values that they often meet.

use proptest::prelude::*;

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "a", "a", "b", "b", "p:a", "q:b"])
}

fn attribute_name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["x", "y", "p:x", "q:y"])
}

fn value() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["1", "2", "x", "", " x  1 ", "1.0", "12"])
}

fn attributes() -> impl Strategy<Value = String> {
    prop::collection::btree_map(attribute_name(), value(), 0..3).prop_map(|attributes| {
        // `p` and `q` stand for the same namespace.
        let both = attributes.contains_key("p:x") && attributes.contains_key("q:x");
        attributes.iter().filter(|_| !both).map(|(name, value)| format!(" {name}='{value}'")).collect()
    })
}

fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => value().prop_map(str::to_owned),
        1 => value().prop_map(|text| format!("<![CDATA[{text}]]>")),
        1 => value().prop_map(|text| format!("<!--{text}-->")),
        1 => value().prop_map(|text| format!("<?t {text}?>")),
        1 => value().prop_map(|text| format!("<?u {text}?>")),
        1 => (name(), attributes()).prop_map(|(name, attributes)| format!("<{name}{attributes}/>")),
    ]
}

fn element(content: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (name(), attributes(), prop::collection::vec(content, 0..4))
        .prop_map(|(name, attributes, content)| format!("<{name}{attributes}>{}</{name}>", content.concat()))
}

/// The content of a document element.
fn content() -> impl Strategy<Value = String> {
    // By levels: paths of three or four steps are to find siblings on each of them.
    let inner = prop_oneof![1 => leaf(), 2 => element(leaf())];
    let middle = prop_oneof![1 => leaf(), 3 => element(inner)];
    let outer = prop_oneof![1 => leaf(), 4 => element(middle)];
    prop::collection::vec(outer, 0..5).prop_map(|parts| parts.concat())
}

/// A document.
pub(crate) fn document() -> impl Strategy<Value = String> {
    let around = || prop::sample::select(vec!["", "", "<!--x-->", "<?t 1?>", "\n"]);
    (around(), name(), attributes(), content(), around()).prop_map(
        |(before, name, attributes, content, after)| {
            format!("{before}<{name} xmlns:p='urn:p' xmlns:q='urn:p'{attributes}>{content}</{name}>{after}")
        },
    )
}

/// An envelope that keeps to the rules of its version.
pub(crate) fn envelope() -> impl Strategy<Value = String> {
    let block = || element(leaf());
    let header = prop::option::of(prop::collection::vec(block(), 0..3));
    let header = header.prop_map(|blocks| match blocks {
        Some(blocks) => format!("<e:Header>{}</e:Header>", blocks.concat()),
        None => String::new(),
    });
    let body = (attributes(), prop::collection::vec(element(content()), 0..3));
    let body =
        body.prop_map(|(attributes, blocks)| format!("<e:Body{attributes}>{}</e:Body>", blocks.concat()));
    let behind = prop::sample::select(vec!["", "", "<p:a x='1'>1</p:a>", "<e:Other x='1'/><!--1-->"]);
    (any::<bool>(), header, body, behind).prop_map(|(is_1_1, header, body, behind)| {
        let (namespace, behind) =
            if is_1_1 { (crate::support::V1_1, behind) } else { (crate::support::V1_2, "") };
        format!(
            "<e:Envelope xmlns:e='{namespace}' xmlns:p='urn:p' xmlns:q='urn:p'>{header} {body}{behind}</e:Envelope>"
        )
    })
}

/// A condition on attributes, and on the position if it may count.
fn predicate() -> impl Strategy<Value = String> {
    let comparison = || prop::sample::select(vec!["=", "!=", "<", "<=", ">", ">="]);
    let operand = || prop::sample::select(vec!["'1'", "'x'", "''", "1", "-1", "1.5", "2", "'2'"]);
    let attribute = || prop::sample::select(vec!["@x", "@y", "@p:x", "@p:*", "@*"]);
    let simple = prop_oneof![
        3 => attribute().prop_map(str::to_owned),
        3 => (attribute(), comparison(), operand()).prop_map(|(a, c, o)| format!("{a} {c} {o}")),
        1 => (attribute(), comparison(), operand()).prop_map(|(a, c, o)| format!("{o} {c} {a}")),
        1 => attribute().prop_map(|a| format!("starts-with({a}, '1')")),
        1 => attribute().prop_map(|a| format!("contains(normalize-space({a}), 'x 1')")),
        1 => (attribute(), comparison(), operand()).prop_map(|(a, c, o)| format!("string({a}) {c} {o}")),
        4 => (comparison(), operand()).prop_map(|(c, o)| format!("position() {c} {o}")),
    ];
    let condition = simple.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|condition| format!("not({condition})")),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("({})", all.join(" and "))),
            prop::collection::vec(inner, 2..4).prop_map(|any| format!("({})", any.join(" or "))),
        ]
    });
    prop_oneof![
        2 => prop::sample::select(vec!["1", "2", "3", "0", "1.5"]).prop_map(str::to_owned),
        3 => condition,
    ]
}

fn step(test: impl Strategy<Value = &'static str>) -> impl Strategy<Value = String> {
    let predicates = prop_oneof![
        3 => Just(Vec::new()),
        2 => prop::sample::select(vec!["1", "2", "position() < 3"]).prop_map(|one| vec![one.to_owned()]),
        2 => prop::collection::vec(predicate(), 1..3),
    ];
    (test, predicates).prop_map(|(test, predicates)| {
        let predicates: String = predicates.iter().map(|predicate| format!("[{predicate}]")).collect();
        format!("/{test}{predicates}")
    })
}

fn element_test() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "a", "b", "p:a", "p:b", "p:*", "*", "*", "*"])
}

fn last_step() -> impl Strategy<Value = String> {
    let other = prop::sample::select(vec![
        "text()",
        "node()",
        "comment()",
        "processing-instruction()",
        "processing-instruction('t')",
    ]);
    prop_oneof![
        3 => Just(String::new()),
        2 => prop::sample::select(vec!["/@x", "/@y", "/@p:x", "/@p:*", "/@*"]).prop_map(str::to_owned),
        2 => step(other),
    ]
}

fn path(first: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let steps = prop::collection::vec(step(element_test()), 0..3);
    (first, steps, last_step()).prop_map(|(first, steps, last)| format!("{first}{}{last}", steps.concat()))
}

/// An expression of which the stream accepts every one.
fn expression_on(path: impl Strategy<Value = String> + Clone + 'static) -> impl Strategy<Value = String> {
    let comparison = || prop::sample::select(vec!["=", "!=", "<", "<=", ">", ">="]);
    let operand = || prop::sample::select(vec!["'1'", "'x'", "''", "1", "-1", "12", "'2'", "'x1'"]);
    let wrap = prop::sample::select(vec!["string", "normalize-space"]);
    let text = (wrap, path.clone()).prop_map(|(function, path)| format!("{function}({path})"));
    let condition = prop_oneof![
        path.clone().prop_map(|path| format!("boolean({path})")),
        (path.clone(), comparison(), operand()).prop_map(|(p, c, o)| format!("{p} {c} {o}")),
        (path.clone(), comparison(), operand()).prop_map(|(p, c, o)| format!("{o} {c} {p}")),
        (text.clone(), comparison(), operand()).prop_map(|(t, c, o)| format!("{t} {c} {o}")),
        path.clone().prop_map(|path| format!("starts-with({path}, '1')")),
        text.clone().prop_map(|text| format!("contains({text}, 'x')")),
        text.clone().prop_map(|text| format!("boolean({text})")),
    ];
    let condition = condition.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|condition| format!("not({condition})")),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("({})", all.join(" and "))),
            prop::collection::vec(inner, 2..4).prop_map(|any| format!("({})", any.join(" or "))),
        ]
    });
    prop_oneof![3 => path, 1 => text, 3 => condition]
}

/// An expression for a [`document`].
pub(crate) fn expression() -> impl Strategy<Value = String> {
    let first = prop_oneof![5 => step(element_test()), 1 => Just(String::new())];
    // Of the document itself nothing but children is wanted.
    let path = path(first).prop_map(|path| match path.as_str() {
        "" => "/*".to_owned(),
        attribute if attribute.starts_with("/@") => format!("/*{attribute}"),
        path => path.to_owned(),
    });
    expression_on(path.boxed())
}

/// An expression for an [`envelope`].
pub(crate) fn envelope_expression() -> impl Strategy<Value = String> {
    let root = prop::sample::select(vec!["/s:Envelope", "/t:Envelope", "/*", "/a"]);
    let part = prop::sample::select(vec![
        "/s:Header",
        "/t:Header",
        "/s:Body",
        "/t:Body",
        "/s:*",
        "/*",
        "/a",
        "/p:a",
        "/p:*",
        "/s:Other",
        "/node()[2]",
    ]);
    let path = prop_oneof![
        8 => path((root.clone(), part).prop_map(|(root, part)| format!("{root}{part}"))),
        1 => (root, last_step()).prop_map(|(root, last)| format!("{root}{last}")),
    ];
    // `node()` has nothing below it.
    let path = path.prop_map(|path| match path.split_once("/node()[2]") {
        Some((start, _)) => format!("{start}/node()[2]"),
        None => path,
    });
    expression_on(path.boxed())
}

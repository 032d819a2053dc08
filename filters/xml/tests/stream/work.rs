//! What documents cost, in comparisons of tokens with steps.

use portcullis_xml::xpath::stream::{Matcher, StreamSet};

use crate::support::{MAX_TEXT, feed, set};

fn work(set: &StreamSet, document: &str) -> u64 {
    let mut matcher = Matcher::new(set);
    feed(document, &[], &mut matcher);
    matcher.work()
}

/// A document of so many elements in a row, and what has no end in it.
fn wide(elements: usize) -> String {
    format!("<a>{}</a>", "<b i='1'>x<c/></b>".repeat(elements))
}

fn deep(elements: usize) -> String {
    format!("{}{}", "<a>".repeat(elements), "</a>".repeat(elements))
}

#[test]
fn grows_linearly_with_wide_documents() {
    let set =
        set(["/a/b[@i = '2']/c", "/a/b[1000000]", "/a/b/d", "/a/*/text() = 'y'", "/a/b = 'y'"], MAX_TEXT);
    let [small, large] = [100, 1000].map(|elements| work(&set, &wide(elements)));
    assert!(large <= small * 10, "{small} for 100 elements, {large} for 1000");
    assert!(small >= 100, "{small} for 100 elements is not all that has been done");
}

#[test]
fn costs_nothing_below_what_paths_reach() {
    let set = set(["/a/a/@b", "/a/a/text() = 'x'", "/*/*/c"], MAX_TEXT);
    assert_eq!(work(&set, &deep(4)), work(&set, &deep(200)));
}

#[test]
fn does_not_grow_with_paths_that_are_not_live() {
    let wanted = "/a/b/e".to_owned();
    let elsewhere = (0..1000).map(|number| format!("/a/d{number}/e[@f = '{number}'][{number}]/text()"));
    let alone = set([wanted.clone()], MAX_TEXT);
    let among_others = set([wanted].into_iter().chain(elsewhere), MAX_TEXT);
    let document = wide(1000);
    assert_eq!(work(&alone, &document), work(&among_others, &document));
}

#[test]
fn ends_with_what_is_decided() {
    let set = set(["/a/b/c", "/a/d"], MAX_TEXT);
    let found = "<a><b><c/></b>";
    let more = "<b><c/></b>".repeat(1000);
    let [without, with] = [String::new(), more].map(|more| work(&set, &format!("{found}{more}<d/></a>")));
    // At each further `b` there is one look at the element around it, and one at the step, which nobody needs any more.
    assert_eq!(with - without, 2 * 1000);
}

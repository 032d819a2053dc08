//! Section 2, location paths; section 3.3, node-sets.

use crate::support::{check, eval_from, parse};

const TREE: &str = "<a><b n='1'><c>x</c></b><b n='2'><c>y</c><c>z</c></b><d><b n='3'/></d></a>";

#[test]
fn abbreviations_are_written_out() {
    check(
        TREE,
        &[
            ("/", "/"),
            ("/.", "/"),
            ("/..", "nothing"),
            (".", "/"),
            ("..", "nothing"),
            ("/a/b/@n", "@n @n"),
            ("//b/@n", "@n @n @n"),
            ("//@n", "@n @n @n"),
            ("/a//c", "c c c"),
            ("/a/.//c/../..", "a"),
            ("//c/..", "b b"),
            ("//.", "/ a b c 'x' b c 'y' c 'z' d b"),
            (".//b", "b b b"),
            ("././a/./d/.", "d"),
            ("//b//text()", "'x' 'y' 'z'"),
            ("/descendant::b/descendant::c", "c c c"),
            ("//a//b//c", "c c c"),
            ("//c//..", "b c b c c"),
            ("//c/.//text()", "'x' 'y' 'z'"),
        ],
    );
}

#[test]
fn an_absolute_path_starts_at_the_root_wherever_the_context_is() {
    let document = parse(TREE);
    assert_eq!(eval_from(&document, "//@n | //text()", "/a/d"), ["d"; 6].join("; "));
    assert_eq!(eval_from(&document, "//b", "@n"), "@n; @n; @n");
    assert_eq!(eval_from(&document, "//b[c]", "string(c)"), "'x'; 'y'");
}

#[test]
fn unions_are_in_document_order_without_duplicates() {
    check(
        TREE,
        &[
            ("//d | //b", "b b d b"),
            ("//c | //c | //b", "b c b c c b"),
            ("//nothing | /a", "a"),
            ("(//d | //b)/@n", "@n @n @n"),
            ("count(//c | //c)", "3"),
            ("string(//d/b/@n | //b/@n)", "'1'"),
            ("boolean(//x | //y)", "false"),
            ("boolean(//x | //c)", "true"),
        ],
    );
}

#[test]
fn expressions_can_start_paths() {
    check(
        TREE,
        &[
            ("(//b)[2]/c[2]", "c"),
            ("(//b)[2]//text()", "'y' 'z'"),
            ("(/)/a", "a"),
            ("((//c))", "c c c"),
            ("(//b)/..", "a d"),
        ],
    );
}

#[test]
fn nested_elements_of_one_name_are_found_once_and_in_order() {
    check(
        "<x n='1'><x n='2'><y/><x n='3'><y/></x></x><y/></x>",
        &[
            ("//x//x", "x x"),
            ("//x//y", "y y y"),
            ("//x/y", "y y y"),
            ("//x/x/@n", "@n @n"),
            ("count(//x/descendant-or-self::x)", "3"),
            ("string(//x/y/../@n)", "'1'"),
            ("count(//x/y/..)", "3"),
            ("//y/ancestor::x/@n", "@n @n @n"),
        ],
    );
}

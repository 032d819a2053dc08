//! Section 3.7, the lexical structure.

use crate::support::check;

#[test]
fn names_and_stars_are_operators_only_behind_an_operand() {
    check(
        "<div><or>6</or><and>2</and><mod>4</mod><text>t</text><a-b>9</a-b></div>",
        &[
            ("/div/or", "or"),
            ("div/or div div/and", "3"),
            ("/div/mod mod 3", "1"),
            ("/* = /*", "true"),
            ("/*/or * /*/and", "12"),
            ("/div/or*/div/and", "12"),
            ("2*3", "6"),
            ("/div/* and /div/and", "true"),
            ("or or div", "true"),
            ("/div/text", "text"),
            ("/div/text/text()", "'t'"),
            ("/div/a-b - 1", "8"),
            ("/div/a-b -1", "8"),
            ("/div/a-b-1", "nothing"),
            ("child::div/child::or", "or"),
            ("child :: div / child::or", "or"),
            ("self::node()/div", "div"),
            ("count( /div/* [ 2 ] )", "1"),
            ("div [or]/and [ 1 ]", "and"),
            ("count(//*)", "6"),
            ("count(//*[self::or or self::and])", "2"),
        ],
    );
}

#[test]
fn literals_and_numbers() {
    check(
        "<r/>",
        &[
            ("\"it's\"", "'it's'"),
            ("'say \"x\"'", "'say \"x\"'"),
            ("''", "''"),
            ("'ä€𝄞'", "'ä€𝄞'"),
            ("1.", "1"),
            (".5", "0.5"),
            ("00.50", "0.5"),
        ],
    );
}

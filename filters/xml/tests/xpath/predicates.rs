//! Section 2.4, predicates.

use crate::support::check;

const LIST: &str = "<r><g><i>1</i><i>2</i><i>3</i></g><g><i>4</i><i k='v'>5</i></g></r>";

fn strings(document: &str, table: &[(&str, &str)]) {
    // What the predicates leave, by the strings of the nodes.
    let table: Vec<_> = table.iter().map(|(path, expected)| (format!("{path}/text()"), *expected)).collect();
    check(document, &table.iter().map(|(path, expected)| (path.as_str(), *expected)).collect::<Vec<_>>());
}

#[test]
fn positions_count_along_the_axis_and_for_each_context_node() {
    strings(
        LIST,
        &[
            ("//i[1]", "'1' '4'"),
            ("/descendant::i[1]", "'1'"),
            ("(//i)[1]", "'1'"),
            ("//i[2]", "'2' '5'"),
            ("//i[last()]", "'3' '5'"),
            ("(//i)[last()]", "'5'"),
            ("//i[last() - 1]", "'2' '4'"),
            ("//i[position() = 2]", "'2' '5'"),
            ("//i[2 = position()]", "'2' '5'"),
            ("//i[position() = last()]", "'3' '5'"),
            ("//i[position() != last()]", "'1' '2' '4'"),
            ("//i[position() > 1]", "'2' '3' '5'"),
            ("//i[position() mod 2 = 1]", "'1' '3' '4'"),
            ("//i[0]", "nothing"),
            ("//i[-1]", "nothing"),
            ("//i[1.5]", "nothing"),
            ("//i[1 div 0]", "nothing"),
            ("//i[0 div 0]", "nothing"),
            ("//i[4294967297]", "nothing"),
            ("//i[1 + 1]", "'2' '5'"),
            ("//i[count(../i)]", "'3' '5'"),
            ("//i[number(.)]", "'1' '2' '3'"),
        ],
    );
}

#[test]
fn positions_on_reverse_axes_count_backwards() {
    strings(
        LIST,
        &[
            ("//i[3]/preceding-sibling::i[1]", "'2'"),
            ("//i[3]/preceding-sibling::i[2]", "'1'"),
            ("//i[. = 5]/preceding::i[1]", "'4'"),
            ("//i[. = 5]/preceding::i[2]", "'3'"),
            ("//i[. = 5]/preceding::i[last()]", "'1'"),
            ("//i[. = 5]/preceding::i[position() < 3]", "'3' '4'"),
            ("//i[. = 5]/ancestor-or-self::*[1]", "'5'"),
            // In parentheses, document order counts.
            ("(//i[3]/preceding-sibling::i)[1]", "'1'"),
            ("(//i[. = 5]/preceding::i)[1]", "'1'"),
        ],
    );
    check(LIST, &[("//i[. = 5]/ancestor::*[1]", "g"), ("//i[. = 5]/ancestor::*[2]", "r")]);
}

#[test]
fn each_predicate_counts_what_those_before_it_have_left() {
    strings(
        LIST,
        &[
            ("//i[. > 1][1]", "'2' '4'"),
            ("//i[1][. > 1]", "'4'"),
            ("//i[position() > 1][1]", "'2' '5'"),
            ("//i[position() > 1][last()]", "'3' '5'"),
            ("//i[@k][1]", "'5'"),
            ("//i[1][1]", "'1' '4'"),
            ("//i[1][2]", "nothing"),
            ("//i[2][1]", "'2' '5'"),
            ("//i[last()][1]", "'3' '5'"),
            ("(//i)[position() > 1][. > 2][2]", "'4'"),
            ("//i[true()][2]", "'2' '5'"),
            ("//i[2][false()]", "nothing"),
        ],
    );
}

#[test]
fn a_predicate_that_is_no_number_is_true_or_false() {
    strings(
        LIST,
        &[
            ("//i[@k]", "'5'"),
            ("//i[@k = 'v']", "'5'"),
            ("//i['']", "nothing"),
            ("//i['0']", "'1' '2' '3' '4' '5'"),
            ("//i[string(@k)]", "'5'"),
            ("//i[not(@k)][../i[@k]]", "'4'"),
            ("//i[../../g[2]]", "'1' '2' '3' '4' '5'"),
            ("//g[i = 4]/i", "'4' '5'"),
            ("//i[. = ../i[last()]]", "'3' '5'"),
            ("//g[i[. = 2]]/i[1]", "'1'"),
            ("//i[preceding::i[. = 3]]", "'4' '5'"),
        ],
    );
}

#[test]
fn a_nested_predicate_has_a_position_of_its_own() {
    strings(
        LIST,
        &[
            ("//g[i[position() = 3]]/i[1]", "'1'"),
            ("//i[../i[2] = .]", "'2' '5'"),
            ("//i[position() = count(../i[position() < 3])]", "'2' '5'"),
            ("//i[count(../i[last()]) = position()]", "'1' '4'"),
        ],
    );
}

#[test]
fn positions_are_counted_where_a_path_was_shortened() {
    let nested = "<a><a><b>1</b><a><b>2</b></a></a><b>3</b></a>";
    strings(
        nested,
        &[("//b[1]", "'1' '2' '3'"), ("//a//b[1]", "'1' '2' '3'"), ("//a[b][1]//b", "'1' '2' '3'")],
    );
    check(
        nested,
        &[
            ("count(//a[1])", "3"),
            ("count(/descendant::a[1])", "1"),
            ("count(//a[position() = 1])", "3"),
            ("count(//self::a[1])", "3"),
            ("count(//a[b])", "3"),
            ("count(//descendant::b[1])", "2"),
            ("count(/descendant::b[1])", "1"),
        ],
    );
}

//! Section 3.4, comparisons; section 3.5, arithmetic.

use crate::support::check;

const VALUES: &str = "<r><a>1</a><a>2</a><b>2</b><b>3</b><s>x</s><e/><n> 2 </n></r>";

#[test]
fn node_sets_are_equal_if_any_two_nodes_are() {
    check(
        VALUES,
        &[
            ("//a = //b", "true"),
            ("//a != //b", "true"),
            ("//a = //s", "false"),
            ("//a != //s", "true"),
            ("//a = //nothing", "false"),
            ("//a != //nothing", "false"),
            ("//nothing = //nothing", "false"),
            ("//s != //s", "false"),
            ("//a != //a", "true"),
            ("//s = //s", "true"),
            ("//a = //n", "false"),
            ("number(//a[2]) = //n", "true"),
            ("//a = 2", "true"),
            ("//n = 2", "true"),
            ("//n = '2'", "false"),
            ("//a != 2", "true"),
            ("//a = '2'", "true"),
            ("2 = //a", "true"),
            ("'x' = //a", "false"),
            ("//s = 0 div 0", "false"),
            ("//s != 0 div 0", "true"),
            ("//nothing != 1", "false"),
            ("//nothing = ''", "false"),
            ("//e = ''", "true"),
        ],
    );
}

#[test]
fn node_sets_are_ordered_by_their_numbers() {
    check(
        VALUES,
        &[
            ("//a < //b", "true"),
            ("//b < //a", "false"),
            ("//b <= //a", "true"),
            ("//a >= //b", "true"),
            ("//a > //b", "false"),
            ("//s < //b", "false"),
            ("(//a | //s) < //b", "true"),
            ("//a < 2", "true"),
            ("//a < 1", "false"),
            ("2 < //b", "true"),
            ("3 < //b", "false"),
            ("//b > '2'", "true"),
            ("'2' > //a", "true"),
            ("//s > 0", "false"),
            ("//s <= 'x'", "false"),
            ("//nothing < 1", "false"),
            ("//nothing >= //nothing", "false"),
        ],
    );
}

#[test]
fn a_boolean_makes_a_node_set_one() {
    check(
        VALUES,
        &[
            ("//a = true()", "true"),
            ("//nothing = true()", "false"),
            ("//nothing = false()", "true"),
            ("false() = //nothing", "true"),
            ("//nothing != true()", "true"),
            ("//nothing < true()", "true"),
            ("true() > //nothing", "true"),
            ("//a <= true()", "true"),
            ("//e = true()", "true"),
        ],
    );
}

#[test]
fn values_that_are_no_nodes_are_compared_by_the_stronger_type() {
    check(
        VALUES,
        &[
            ("true() = 'false'", "true"),
            ("true() = ''", "false"),
            ("true() = 5", "true"),
            ("false() = 0", "true"),
            ("false() != 'x'", "true"),
            ("1 = '1.0'", "true"),
            ("'1' = '1.0'", "false"),
            ("'1' < '1.5'", "true"),
            ("'a' < 'b'", "false"),
            ("'a' != 'b'", "true"),
            ("true() > false()", "true"),
            ("0 = -0", "true"),
            ("0 div 0 = 0 div 0", "false"),
            ("0 div 0 != 0 div 0", "true"),
            ("1 div 0 = 2 div 0", "true"),
            ("1 div 0 > -1 div 0", "true"),
            ("1 < 2 < 2", "true"),
            ("3 > 2 > 1", "false"),
            ("1 = 1 = 1", "true"),
            ("'' = false()", "true"),
        ],
    );
}

#[test]
fn logic_stops_at_what_decides() {
    check(
        VALUES,
        &[
            ("true() or false()", "true"),
            ("false() or false() or 1", "true"),
            ("true() and 'x' and //a", "true"),
            ("true() and ''", "false"),
            ("1 or 0 and 0", "true"),
            ("(1 or 0) and 0", "false"),
            ("//nothing or //e", "true"),
            ("0 div 0 or false()", "false"),
        ],
    );
}

#[test]
fn arithmetic_is_that_of_ieee_754() {
    check(
        VALUES,
        &[
            ("1 + 2 * 3", "7"),
            ("(1 + 2) * 3", "9"),
            ("7 - 2 - 1", "4"),
            ("8 div 4 div 2", "1"),
            ("5 mod 2", "1"),
            ("5 mod -2", "1"),
            ("-5 mod 2", "-1"),
            ("-5 mod -2", "-1"),
            ("1.5 mod 0.5", "0"),
            ("5 mod 1.75", "1.5"),
            ("1 mod 0", "NaN"),
            ("1 div 0", "Infinity"),
            ("-1 div 0", "-Infinity"),
            ("1 div -0", "-Infinity"),
            ("0 div 0", "NaN"),
            ("-(0)", "0"),
            ("1 div -(0)", "-Infinity"),
            ("--1", "1"),
            ("---1", "-1"),
            ("- - '3'", "3"),
            ("-//a", "-1"),
            ("--//a", "1"),
            ("-//a | //b", "-1"),
            ("//a + //b", "3"),
            ("'2' * '3'", "6"),
            ("true() + true()", "2"),
            ("'x' + 1", "NaN"),
            ("//a * 2 + //b - 1 div 2", "3.5"),
            ("2 - 1", "1"),
            ("2-1", "1"),
            ("0.1 + 0.2", "0.30000000000000004"),
            ("1 - 0.9", "0.09999999999999998"),
        ],
    );
}

//! Section 4, the core function library.

use crate::support::{check, eval_from, parse};

const EMPTY: &str = "<r/>";

#[test]
fn node_set_functions() {
    check(
        "<r xmlns='urn:p' xmlns:z='urn:q'><z:a z:k='1' l='2'>t</z:a><?pi d?><!--c--><b xmlns=''/></r>",
        &[
            ("count(//node())", "6"),
            ("count(//@*)", "2"),
            ("count(/..)", "0"),
            ("local-name(/p:r)", "'r'"),
            ("local-name(//q:a)", "'a'"),
            ("name(//q:a)", "'z:a'"),
            ("namespace-uri(//q:a)", "'urn:q'"),
            ("name(//@q:k)", "'z:k'"),
            ("namespace-uri(//@q:k)", "'urn:q'"),
            ("name(//@l)", "'l'"),
            ("namespace-uri(//@l)", "''"),
            ("name(//processing-instruction())", "'pi'"),
            ("local-name(//processing-instruction())", "'pi'"),
            ("namespace-uri(//processing-instruction())", "''"),
            ("name(//comment())", "''"),
            ("name(//text())", "''"),
            ("name(/)", "''"),
            ("name()", "''"),
            ("name(/..)", "''"),
            ("name(//b)", "'b'"),
            ("namespace-uri(//b)", "''"),
            ("name(//b | //q:a)", "'z:a'"),
            ("last()", "1"),
            ("position()", "1"),
        ],
    );
    let document = parse("<r><a>1</a><b>2</b></r>");
    assert_eq!(eval_from(&document, "/r/*", "name()"), "'a'; 'b'");
    assert_eq!(eval_from(&document, "/r/*", "local-name() = 'a'"), "true; false");
    assert_eq!(eval_from(&document, "/r/*", "string()"), "'1'; '2'");
    assert_eq!(eval_from(&document, "/r/*", "number()"), "1; 2");
    assert_eq!(eval_from(&document, "/r/*", "string-length()"), "1; 1");
    assert_eq!(eval_from(&document, "/r", "normalize-space()"), "'12'");
}

#[test]
fn conversions_to_strings() {
    check(
        "<r a='v'>x<b>y</b><!--c--><?p d?>z</r>",
        &[
            ("string(/)", "'xyz'"),
            ("string(/r)", "'xyz'"),
            ("string(//b)", "'y'"),
            ("string(//@a)", "'v'"),
            ("string(//comment())", "'c'"),
            ("string(//processing-instruction())", "'d'"),
            ("string(//nothing)", "''"),
            ("string(//text()[2])", "'z'"),
            ("string(true())", "'true'"),
            ("string(false())", "'false'"),
            ("string(1 = 1)", "'true'"),
            ("string(0 div 0)", "'NaN'"),
            ("string(1 div 0)", "'Infinity'"),
            ("string(-1 div 0)", "'-Infinity'"),
            ("string(-0)", "'0'"),
            ("string(1.0)", "'1'"),
            ("string(-1.50)", "'-1.5'"),
            ("string(.5)", "'0.5'"),
            ("string(1000000000000000000000)", "'1000000000000000000000'"),
            ("string(0.0000001)", "'0.0000001'"),
            ("string(123456789012345)", "'123456789012345'"),
            ("string('s')", "'s'"),
        ],
    );
}

#[test]
fn string_functions() {
    check(
        EMPTY,
        &[
            ("concat('a', 'b')", "'ab'"),
            ("concat('a', 1, true(), /nothing, 'z')", "'a1truez'"),
            ("starts-with('abc', 'ab')", "true"),
            ("starts-with('abc', 'b')", "false"),
            ("starts-with('abc', '')", "true"),
            ("starts-with('', 'a')", "false"),
            ("contains('abc', 'bc')", "true"),
            ("contains('abc', 'd')", "false"),
            ("contains('abc', '')", "true"),
            ("contains('', '')", "true"),
            ("substring-before('1999/04/01', '/')", "'1999'"),
            ("substring-before('abc', 'd')", "''"),
            ("substring-before('abc', '')", "''"),
            ("substring-after('1999/04/01', '/')", "'04/01'"),
            ("substring-after('1999/04/01', '19')", "'99/04/01'"),
            ("substring-after('abc', 'd')", "''"),
            ("substring-after('abc', '')", "'abc'"),
            ("substring('12345', 2, 3)", "'234'"),
            ("substring('12345', 2)", "'2345'"),
            ("substring('12345', 1.5, 2.6)", "'234'"),
            ("substring('12345', 0, 3)", "'12'"),
            ("substring('12345', 0 div 0, 3)", "''"),
            ("substring('12345', 1, 0 div 0)", "''"),
            ("substring('12345', -42, 1 div 0)", "'12345'"),
            ("substring('12345', -1 div 0, 1 div 0)", "''"),
            ("substring('12345', -1 div 0)", "'12345'"),
            ("substring('12345', 0 div 0)", "''"),
            ("string-length('')", "0"),
            ("string-length('äß𝄞')", "3"),
            ("string-length(12.5)", "4"),
            ("normalize-space('  a \t\n b  ')", "'a b'"),
            ("normalize-space('')", "''"),
            ("translate('bar', 'abc', 'ABC')", "'BAr'"),
            ("translate('--aaa--', 'abc-', 'ABC')", "'AAA'"),
            ("translate('äöü', 'öä', 'oa')", "'aoü'"),
            ("concat(substring-before(concat('a', '-b'), '-'), 'c')", "'ac'"),
        ],
    );
}

#[test]
fn boolean_functions() {
    check(
        "<r><e/></r>",
        &[
            ("boolean(0)", "false"),
            ("boolean(-0)", "false"),
            ("boolean(0 div 0)", "false"),
            ("boolean(1 div 0)", "true"),
            ("boolean(0.1)", "true"),
            ("boolean('')", "false"),
            ("boolean('false')", "true"),
            ("boolean(//e)", "true"),
            ("boolean(//x)", "false"),
            ("not(//x)", "true"),
            ("not(1)", "false"),
            ("not(not(''))", "false"),
            ("true()", "true"),
            ("false()", "false"),
        ],
    );
}

#[test]
fn lang_looks_at_the_innermost_declaration() {
    let document =
        parse("<r xml:lang='en'><a/><b xml:lang='de-AT' x='1'>t<c/></b><d xml:lang=''><e/></d></r>");
    let here = "//*";
    assert_eq!(eval_from(&document, here, "lang('en')"), "true; true; false; false; false; false");
    assert_eq!(eval_from(&document, here, "lang('DE')"), "false; false; true; true; false; false");
    assert_eq!(eval_from(&document, "//@x | //text()", "lang('de')"), "true; true");
    assert_eq!(eval_from(&document, "//b", "lang('de-AT')"), "true");
    assert_eq!(eval_from(&document, "//b", "lang('d')"), "false");
    assert_eq!(eval_from(&document, "/", "lang('en')"), "false");
    check(EMPTY, &[("lang('en')", "false")]);
    check("<r lang='en'><x/></r>", &[("boolean(//x[lang('en')])", "false")]);
}

#[test]
fn number_functions() {
    check(
        "<r><n>1</n><n>2.5</n><n>-1</n><t>x</t><e/></r>",
        &[
            ("number('12.50')", "12.5"),
            ("number(' -1 ')", "-1"),
            ("number('1e3')", "NaN"),
            ("number('+1')", "NaN"),
            ("number('')", "NaN"),
            ("number(true())", "1"),
            ("number(false())", "0"),
            ("number(//n[2])", "2.5"),
            ("number(//n)", "1"),
            ("number(//nothing)", "NaN"),
            ("number()", "NaN"),
            ("sum(//n)", "2.5"),
            ("sum(//nothing)", "0"),
            ("sum(//n | //t)", "NaN"),
            ("floor(2.6)", "2"),
            ("floor(-2.5)", "-3"),
            ("ceiling(2.2)", "3"),
            ("ceiling(-2.5)", "-2"),
            ("1 div ceiling(-0.5)", "-Infinity"),
            ("round(2.5)", "3"),
            ("round(-2.5)", "-2"),
            ("round(0.49999999999999994)", "0"),
            ("1 div round(-0.2)", "-Infinity"),
            ("round(0 div 0)", "NaN"),
            ("round(-1 div 0)", "-Infinity"),
            ("floor('x')", "NaN"),
            ("floor(//n[2])", "2"),
        ],
    );
}

//! Documents that are refused, and where.

use portcullis_xml::{Error, ErrorKind, Found, NamespaceRule, Position};

use crate::events::error;

/// Line, column and offset, which are the same but for the offset being from zero while there is one line of ASCII.
fn at(document: &str) -> (ErrorKind, u64) {
    let Error { kind, position: Position { line, column, offset } } = error(document);
    assert_eq!((line, column), (1, offset.saturating_add(1)), "{document}");
    (kind, offset)
}

#[test]
fn refuses_what_is_not_well_formed_at_the_first_character_that_cannot_stand_there() {
    use Found::{Char, End};
    for (document, found, offset) in [
        ("", End, 0),
        (" ", End, 1),
        ("<", End, 1),
        ("<a", End, 2),
        ("<a ", End, 3),
        ("<a b", End, 4),
        ("<a b=", End, 5),
        ("<a b='", End, 6),
        ("<a b='c'", End, 8),
        ("<a/", End, 3),
        ("<a></", End, 5),
        ("<a></a", End, 6),
        ("<!", End, 2),
        ("<!--", End, 4),
        ("<!-- -", End, 6),
        ("<!-- --", End, 7),
        ("<a><![CDATA[]]", End, 14),
        ("<?p", End, 3),
        ("<?p ?", End, 5),
        ("<a>&", End, 4),
        ("<a>&#x", End, 6),
        ("x<a/>", Char('x'), 0),
        ("<a/>x", Char('x'), 4),
        ("<a/><b/>", Char('b'), 5),
        ("<a/></a>", Char('/'), 5),
        ("</a>", Char('/'), 1),
        ("<a/>&#32;", Char('&'), 4),
        ("<![CDATA[x]]><a/>", Char('['), 2),
        ("< a/>", Char(' '), 1),
        ("<1/>", Char('1'), 1),
        ("<a$/>", Char('$'), 2),
        ("<a/ >", Char(' '), 3),
        ("<a b/>", Char('/'), 4),
        ("<a b c='d'/>", Char('c'), 5),
        ("<a b=c/>", Char('c'), 5),
        ("<a b='c'd='e'/>", Char('d'), 8),
        ("<a b='<'/>", Char('<'), 6),
        ("<a $='b'/>", Char('$'), 3),
        ("<a></a b>", Char('b'), 7),
        ("<a></ a>", Char(' '), 5),
        ("<a>]]></a>", Char('>'), 5),
        ("<a>]]]]></a>", Char('>'), 7),
        ("<a><!- --></a>", Char(' '), 6),
        ("<a><!x></a>", Char('x'), 5),
        ("<a><!--a--b--></a>", Char('b'), 10),
        ("<a><!--a---></a>", Char('-'), 10),
        ("<a><![cdata[]]></a>", Char('c'), 6),
        ("<!doctype a><a/>", Char('d'), 2),
        ("<?1 ?><a/>", Char('1'), 2),
        ("<? p?><a/>", Char(' '), 2),
        ("<?p$?><a/>", Char('$'), 3),
        ("<?p?q?><a/>", Char('q'), 4),
        ("<a>& </a>", Char(' '), 4),
        ("<a>&;</a>", Char(';'), 4),
        ("<a>&lt </a>", Char(' '), 6),
        ("<a>&#;</a>", Char(';'), 5),
        ("<a>&#X41;</a>", Char('X'), 5),
        ("<a>&#xG;</a>", Char('G'), 6),
        ("<a>&#1a;</a>", Char('a'), 6),
        ("<a>&#x;</a>", Char(';'), 6),
    ] {
        let (kind, place) = at(document);
        assert!(matches!(kind, ErrorKind::Unexpected { .. }), "{document}: {kind:?}");
        let ErrorKind::Unexpected { found: actual, .. } = kind else { continue };
        assert_eq!((actual, place), (found, offset), "{document}");
    }
}

#[test]
fn checks_the_xml_declaration_strictly() {
    for (document, found, offset) in [
        ("<?xml?><a/>", '?', 5),
        ("<?xml ?><a/>", '?', 6),
        ("<?xml encoding='UTF-8'?><a/>", 'e', 6),
        ("<?xml version?><a/>", '?', 13),
        ("<?xml version=1.0?><a/>", '1', 14),
        ("<?xml version='1.0?><a/>", '?', 18),
        ("<?xml version='1.0\"?><a/>", '?', 19),
        ("<?xml version='2.0'?><a/>", '2', 15),
        ("<?xml version='1.'?><a/>", '\'', 17),
        ("<?xml version='1.0a'?><a/>", 'a', 18),
        ("<?xml version='1,0'?><a/>", ',', 16),
        ("<?xml version='1.0'encoding='UTF-8'?><a/>", 'e', 19),
        ("<?xml version='1.0' encoding=''?><a/>", '\'', 30),
        ("<?xml version='1.0' encoding='8859'?><a/>", '8', 30),
        ("<?xml version='1.0' encoding='UTF 8'?><a/>", ' ', 33),
        ("<?xml version='1.0' standalone='maybe'?><a/>", 'm', 32),
        ("<?xml version='1.0' standalone='YES'?><a/>", 'Y', 32),
        ("<?xml version='1.0' standalone='yes' encoding='UTF-8'?><a/>", 'e', 37),
        ("<?xml version='1.0' version='1.0'?><a/>", 'v', 20),
        ("<?xml version='1.0' a='b'?><a/>", 'a', 20),
        ("<?xml version='1.0' ??><a/>", '?', 20),
    ] {
        let (kind, place) = at(document);
        let ErrorKind::Unexpected { found: actual, .. } = kind else { panic!("{document}: {kind:?}") };
        assert_eq!((actual, place), (Found::Char(found), offset), "{document}");
    }
}

#[test]
fn tells_what_else_is_wrong_and_with_what() {
    let name = |name: &str| name.into();
    for (document, kind, offset) in [
        ("<!DOCTYPE a><a/>", ErrorKind::DocumentType, 0),
        ("<!DOCTYPE", ErrorKind::DocumentType, 0),
        (" <!DOCTYPE a SYSTEM 'file:///etc/passwd'>", ErrorKind::DocumentType, 1),
        ("<a><!DOCTYPE b></a>", ErrorKind::DocumentType, 3),
        ("<a/><!DOCTYPE b>", ErrorKind::DocumentType, 4),
        ("<a>\u{1}</a>", ErrorKind::IllegalCharacter('\u{1}'), 3),
        ("<a b='\u{1f}'/>", ErrorKind::IllegalCharacter('\u{1f}'), 6),
        ("<a><!--\u{b}--></a>", ErrorKind::IllegalCharacter('\u{b}'), 7),
        ("<a><![CDATA[\u{fffe}]]></a>", ErrorKind::IllegalCharacter('\u{fffe}'), 12),
        ("<?p \u{ffff}?><a/>", ErrorKind::IllegalCharacter('\u{ffff}'), 4),
        ("<a\0/>", ErrorKind::IllegalCharacter('\0'), 2),
        ("<a>&#0;</a>", ErrorKind::IllegalReference, 3),
        ("<a>x&#xD800;</a>", ErrorKind::IllegalReference, 4),
        ("<a>&#xFFFE;</a>", ErrorKind::IllegalReference, 3),
        ("<a>&#x110000;</a>", ErrorKind::IllegalReference, 3),
        ("<a b='&#4294967361;'/>", ErrorKind::IllegalReference, 6),
        ("<a>&nbsp;</a>", ErrorKind::UndefinedEntity(name("nbsp")), 3),
        ("<a b='&LT;'/>", ErrorKind::UndefinedEntity(name("LT")), 6),
        ("<a></b>", ErrorKind::EndTagMismatch(name("a")), 5),
        ("<a><b></a>", ErrorKind::EndTagMismatch(name("b")), 8),
        ("<a></ab>", ErrorKind::EndTagMismatch(name("a")), 5),
        ("<ab></a>", ErrorKind::EndTagMismatch(name("ab")), 6),
        ("<a>", ErrorKind::UnclosedElement(name("a")), 3),
        ("<a><b></b>x", ErrorKind::UnclosedElement(name("a")), 11),
        ("<a b='' b=''/>", ErrorKind::DuplicateAttribute(name("b")), 8),
        ("<a xmlns='u' xmlns='u'/>", ErrorKind::DuplicateAttribute(name("xmlns")), 13),
        ("<a xmlns:p='u' xmlns:p='v'/>", ErrorKind::DuplicateAttribute(name("xmlns:p")), 15),
        ("<a p:x='' xmlns:p='u' xmlns:q='u' q:x=''/>", ErrorKind::DuplicateAttribute(name("q:x")), 34),
        ("<p:a/>", ErrorKind::UnboundPrefix(name("p")), 1),
        ("<a b='' p:c=''/>", ErrorKind::UnboundPrefix(name("p")), 8),
        ("<a><b xmlns:p='u'/><p:c/></a>", ErrorKind::UnboundPrefix(name("p")), 20),
        ("<a:b:c/>", ErrorKind::Namespace(NamespaceRule::Colon), 4),
        ("<:a/>", ErrorKind::Namespace(NamespaceRule::Colon), 1),
        ("<a:/>", ErrorKind::Namespace(NamespaceRule::Colon), 3),
        ("<a:1/>", ErrorKind::Namespace(NamespaceRule::Colon), 3),
        ("<a :b=''/>", ErrorKind::Namespace(NamespaceRule::Colon), 3),
        ("<?a:b?><a/>", ErrorKind::Namespace(NamespaceRule::Colon), 3),
        ("<a>&a:b;</a>", ErrorKind::Namespace(NamespaceRule::Colon), 5),
        ("<a xmlns:='u'/>", ErrorKind::Namespace(NamespaceRule::Colon), 9),
        ("<xmlns:a/>", ErrorKind::Namespace(NamespaceRule::XmlnsPrefix), 1),
        ("<a b='' xmlns:xmlns='u'/>", ErrorKind::Namespace(NamespaceRule::XmlnsPrefix), 8),
        ("<a xmlns:xml='u'/>", ErrorKind::Namespace(NamespaceRule::XmlPrefix), 3),
        ("<a xmlns:p=''/>", ErrorKind::Namespace(NamespaceRule::UndeclaredPrefix), 3),
        (
            "<a xmlns='http://www.w3.org/XML/1998/namespace'/>",
            ErrorKind::Namespace(NamespaceRule::XmlNamespace),
            3,
        ),
        (
            "<a xmlns:p='http://www.w3.org/2000/xmlns&#x2f;'/>",
            ErrorKind::Namespace(NamespaceRule::XmlnsNamespace),
            3,
        ),
        (" <?xml version='1.0'?><a/>", ErrorKind::ReservedTarget, 3),
        ("<a><?xml version='1.0'?></a>", ErrorKind::ReservedTarget, 5),
        ("<?xml version='1.0'?><?xml version='1.0'?><a/>", ErrorKind::ReservedTarget, 23),
        ("<?XML version='1.0'?><a/>", ErrorKind::ReservedTarget, 2),
        ("<?xMl?><a/>", ErrorKind::ReservedTarget, 2),
    ] {
        let document_error = error(document);
        assert_eq!((document_error.kind, document_error.position.offset), (kind, offset), "{document}");
    }
}

#[test]
fn counts_lines_and_columns_as_a_person_does() {
    let document = "<?xml version='1.0'?>\r\n<a>\r  <b>\u{e4}\u{20ac}\u{1f600}</c>\n</a>";
    let error = error(document);
    assert_eq!(error.position, Position { line: 3, column: 11, offset: 43 });
    assert_eq!(error.to_string(), "3:11: an end tag of another element, expected </b>");
}

#[test]
fn says_what_was_found_and_what_was_expected() {
    for (document, expected) in [
        ("<a b=c/>", "1:6: found 'c', expected an attribute's value in quotes"),
        ("<a><!--", "1:8: found the end of the document, expected '-->'"),
        ("<a>", "1:4: the document ends too early, expected </a>"),
        ("<!DOCTYPE a>", "1:1: a document type declaration, which is not accepted"),
        ("<a>\u{7}</a>", "1:4: U+0007 is not a character of XML"),
        ("<a>&nbsp;</a>", "1:4: the entity 'nbsp' is not defined: expected amp, lt, gt, apos or quot"),
        ("<p:a/>", "1:2: no namespace is bound to the prefix 'p'"),
    ] {
        assert_eq!(error(document).to_string(), expected);
    }
}

#[test]
fn shows_no_more_than_the_beginning_of_a_name() {
    let long = "\u{e4}".repeat(1000);
    let error = error(format!("<{long}></a>"));
    assert_eq!(error.kind, ErrorKind::EndTagMismatch("\u{e4}".repeat(64).into()));
}

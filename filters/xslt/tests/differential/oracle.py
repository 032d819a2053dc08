"""Applies stylesheets with libxslt.

Reads a file with a case on each line: a stylesheet and a document, both in hexadecimal digits. Prints a line for each:
"output" with what it yields, or "error" with the reason, in hexadecimal digits too.
"""

import sys

from lxml import etree


def transform(stylesheet: bytes, document: bytes) -> bytes:
    # Nothing is fetched: no case refers to anything.
    parser = etree.XMLParser(no_network=True)
    access = etree.XSLTAccessControl.DENY_ALL
    compiled = etree.XSLT(etree.fromstring(stylesheet, parser), access_control=access)
    return bytes(compiled(etree.fromstring(document, parser)))


def main() -> None:
    print("libxslt", *etree.LIBXSLT_VERSION, file=sys.stderr)
    with open(sys.argv[1], encoding="ascii") as cases:
        for case in cases:
            stylesheet, document = (bytes.fromhex(part) for part in case.split())
            try:
                print("output", transform(stylesheet, document).hex())
            except etree.Error as error:
                print("error", str(error).encode().hex())


main()

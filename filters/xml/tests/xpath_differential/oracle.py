"""Evaluates XPath expressions with libxml2, through lxml.

Reads a list of {"document": text, "cases": [{"context": number, "expression": text}]} from standard input, as JSON.
Writes one line for each expression: {"nodes": [number]}, {"boolean": value}, {"number": text}, {"string": text} or
{"error": text}. Nodes are numbered in document order, attributes behind their element, the root being 0.
"""

import json
import sys

from lxml import etree

NAMESPACES = {"p": "urn:p", "q": "urn:q"}


class Numbering:
    """The numbers of a document's nodes."""

    def __init__(self, tree):
        # What has a number is kept: a proxy that is collected and made anew would not be the same object.
        self.nodes = [None]
        self.numbers = {}
        top = tree.getroot()
        for node in [*reversed(list(top.itersiblings(preceding=True))), top, *top.itersiblings()]:
            self.add(node)

    def add(self, node):
        self.number(node, node)
        if isinstance(node.tag, str):
            for name in node.attrib:
                self.number(node, (node, name))
            if node.text:
                self.number(node, (node, "text()"))
            for child in node:
                self.add(child)
        if node.tail:
            self.number(node, (node, "tail()"))

    def number(self, node, key):
        self.numbers[key] = len(self.nodes)
        self.nodes.append(node)

    def of(self, result):
        if not isinstance(result, str):
            return self.numbers[result]
        if result.is_attribute:
            return self.numbers[(result.getparent(), result.attrname)]
        return self.numbers[(result.getparent(), "tail()" if result.is_tail else "text()")]


def evaluate(numbering, case):
    try:
        result = numbering.nodes[case["context"]].xpath(case["expression"], namespaces=NAMESPACES)
    except (etree.XPathError, etree.XPathSyntaxError) as error:
        return {"error": str(error)}
    if isinstance(result, bool):
        return {"boolean": result}
    if isinstance(result, float):
        return {"number": repr(result)}
    if isinstance(result, str):
        return {"string": str(result)}
    return {"nodes": [numbering.of(node) for node in result]}


def main():
    for item in json.load(sys.stdin):
        numbering = Numbering(etree.ElementTree(etree.fromstring(item["document"].encode())))
        for case in item["cases"]:
            print(json.dumps(evaluate(numbering, case)))


main()

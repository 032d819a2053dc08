// Whether two XML documents say the same: the same elements with the same names and namespaces, the same attributes,
// the same texts. Prefixes, the place of namespace declarations and white space between elements do not matter. For
// documents without DTD, such as those that the load scripts send and get back.

// Slash, name, attributes, slash.
const TAG = /^<(\/?)([^\s/>"'=]+)((?:\s+[^\s=/>"']+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>$/;
const ATTRIBUTE = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** What begins and ends a piece that is no element. Of these only CDATA sections have content that matters. */
const OTHERS = [
  { begin: '<!--', end: '-->' },
  { begin: '<![CDATA[', end: ']]>', isText: true },
  { begin: '<?', end: '?>' },
];

/** A text that is equal for documents that say the same. Null for a text that is no document. */
export function canonical(xml) {
  const out = [];
  const open = [{ name: '', namespaces: { '': '', xml: 'http://www.w3.org/XML/1998/namespace' } }];
  let text = '';
  let roots = 0;

  for (const piece of pieces(xml)) {
    if (piece.text !== undefined) {
      text += piece.text;
      continue;
    }
    if (text.trim() !== '') {
      if (open.length === 1) {
        return null;
      }
      out.push(JSON.stringify(text));
    }
    text = '';
    const tag = TAG.exec(piece.tag);
    if (tag === null) {
      return null;
    }
    const [, closes, name, attributes, empty] = tag;
    if (closes) {
      if (open.length === 1 || open.pop().name !== name) {
        return null;
      }
      out.push('/');
      continue;
    }
    roots += open.length === 1 ? 1 : 0;
    const element = elementOf(name, attributes, open[open.length - 1].namespaces);
    out.push(element.canonical);
    if (empty) {
      out.push('/');
    } else {
      open.push({ name, namespaces: element.namespaces });
    }
  }
  return open.length === 1 && roots === 1 && text.trim() === '' ? out.join('\n') : null;
}

/** The tags and texts of a document. A piece that does not end is taken for a tag, which it will not be. */
function* pieces(xml) {
  let at = 0;
  while (at < xml.length) {
    const other = '!?'.includes(xml[at + 1]) && OTHERS.find(({ begin }) => xml.startsWith(begin, at));
    let end;
    if (other) {
      end = after(xml, other.end, at + other.begin.length);
      if (other.isText) {
        yield { text: xml.slice(at + other.begin.length, end - other.end.length) };
      }
    } else if (xml[at] === '<') {
      end = tagEnd(xml, at);
      yield { tag: xml.slice(at, end) };
    } else {
      const next = xml.indexOf('<', at);
      end = next < 0 ? xml.length : next;
      yield { text: unescape(xml.slice(at, end)) };
    }
    at = end;
  }
}

function after(xml, what, from) {
  const found = xml.indexOf(what, from);
  return found < 0 ? xml.length : found + what.length;
}

/** Where a tag ends: there may be a `>` in an attribute's value. */
function tagEnd(xml, start) {
  let end = after(xml, '>', start);
  while (end < xml.length && !TAG.test(xml.slice(start, end)) && /["']/.test(xml.slice(start, end))) {
    end = after(xml, '>', end);
  }
  return end;
}

function elementOf(name, written, inherited) {
  const namespaces = { ...inherited };
  const attributes = [];
  for (const [, attribute, double, single] of written.matchAll(ATTRIBUTE)) {
    const value = unescape(double === undefined ? single : double);
    const [prefix, local] = split(attribute);
    if (attribute === 'xmlns') {
      namespaces[''] = value;
    } else if (prefix === 'xmlns') {
      namespaces[local] = value;
    } else {
      attributes.push([prefix, local, value]);
    }
  }
  const [prefix, local] = split(name);
  // An attribute without a prefix is in no namespace, whatever the default namespace is.
  const expanded = attributes.map(
    ([prefix, local, value]) => `${prefix && `{${namespaces[prefix]}}`}${local}=${JSON.stringify(value)}`,
  );
  return { namespaces, canonical: [`{${namespaces[prefix]}}${local}`, ...expanded.sort()].join(' ') };
}

function split(name) {
  const colon = name.indexOf(':');
  return colon < 0 ? ['', name] : [name.slice(0, colon), name.slice(colon + 1)];
}

function unescape(text) {
  if (!text.includes('&')) {
    return text;
  }
  return text.replace(/&(#x[0-9a-fA-F]+|#\d+|\w+);/g, (whole, what) => {
    if (what[0] !== '#') {
      return ENTITIES[what] || whole;
    }
    return String.fromCodePoint(what[1] === 'x' ? parseInt(what.slice(2), 16) : Number(what.slice(1)));
  });
}

// The messages of the WSO2 experiments: a SOAP 1.1 envelope with a routing header and a list of orders.
//
// They were published in four sizes by their names, each with so many orders that the message without indentation has
// about that size; the runs that were published sent them indented. Both epochs are made here, byte for byte the same
// in each run.

export const ROUTING = 'xadmin;server1;community#1.0##';
export const EPOCHS = ['compact', 'indented'];

/** By the published name of the size, in bytes. */
export const MESSAGES = {
  500: { orders: 2, compact: 502, indented: 739 },
  1024: { orders: 7, compact: 1005, indented: 1712 },
  10240: { orders: 96, compact: 10019, indented: 19092 },
  102400: { orders: 989, compact: 100908, indented: 193923 },
};

/** What comes before a tag, by its depth in the tree. */
const BREAKS = {
  compact: ['', '', '', '', ''],
  indented: [0, 1, 2, 3, 4].map((depth) => `\n${'    '.repeat(depth)}`),
};

const SYMBOLS = ['IBM', 'SUN', 'BEA'];
const BUYERS = 'abcdefghijklmnopqrstuvwxyz';

const made = {};

/** The message of a size, in an epoch. */
export function message(epoch, size) {
  const name = `${epoch}-${size}`;
  if (made[name] === undefined) {
    made[name] = messageWith(ROUTING, epoch, size);
  }
  return made[name];
}

/** The message with another text in its routing header. */
export function messageWith(routing, epoch, size) {
  return envelope(BREAKS[epoch], routing, orders(BREAKS[epoch], MESSAGES[size]));
}

/** Orders that make the compact message as long as it is to be: the buyers' names make up the difference. */
function orders(breaks, { orders: count, compact }) {
  const room = compact - envelope(BREAKS.compact, ROUTING, '').length;
  const upTo = (n) => Math.floor((room * n) / count);
  const withoutBuyer = order(BREAKS.compact, 0, '').length;
  const all = Array.from({ length: count }, (_, n) => {
    const letters = upTo(n + 1) - upTo(n) - withoutBuyer;
    return order(breaks, n, BUYERS.substr(n % 16, letters));
  });
  return all.join('');
}

/** The order of a buyer. All that is made of its number has the same length for each. */
function order(breaks, n, buyer) {
  const outer = breaks[3];
  const inner = breaks[4];
  const price = 100 + ((n * 37) % 900);
  const volume = 1000 + ((n * 13) % 9000);
  return (
    `${outer}<order>${inner}<symbol>${SYMBOLS[n % SYMBOLS.length]}</symbol>${inner}<buyerID>${buyer}` +
    `</buyerID>${inner}<price>${price}.25</price>${inner}<volume>${volume}</volume>${outer}</order>`
  );
}

function envelope([root, section, block], routing, content) {
  return (
    `<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/">` +
    `${section}<soapenv:Header>` +
    `${block}<routing xmlns="http://someuri">${routing}</routing>` +
    `${section}</soapenv:Header>` +
    `${section}<soapenv:Body>` +
    `${block}<m:buyStocks xmlns:m="http://services.samples/xsd">${content}${block}</m:buyStocks>` +
    `${section}</soapenv:Body>` +
    `${root}</soapenv:Envelope>${root}`
  );
}

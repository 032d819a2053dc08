// What the load scripts' library works out by itself. `k6 run k6/tests/library.js` fails if any of it is wrong.

import { check, group } from 'k6';
import { canonical } from '../lib/canonical.js';
import { filler } from '../lib/filler.js';
import { knee } from '../lib/knee.js';
import { EPOCHS, message, MESSAGES, messageWith } from '../lib/orders.js';
import { checks as rateLimitChecks } from '../lib/rate-limit.js';
import { readableSize, toBytes, toSeconds } from '../lib/settings.js';

export const options = { vus: 1, iterations: 1, thresholds: { checks: ['rate==1'] } };

export default function () {
  group('messages', messages);
  group('canonical XML', canonicalXml);
  group('knee', knees);
  group('rate limit headers', rateLimitHeaders);
  group('settings', settings);
  group('filler', fillers);
}

function expect(what, condition) {
  if (!check(null, { [what]: () => condition })) {
    console.error(`not so: ${what}`);
  }
}

function messages() {
  for (const [size, published] of Object.entries(MESSAGES)) {
    for (const epoch of EPOCHS) {
      const text = message(epoch, size);
      expect(`${epoch} ${size} has the published length`, text.length === published[epoch]);
      expect(`${epoch} ${size} has its orders`, text.split('<order>').length - 1 === published.orders);
      expect(
        `${epoch} ${size} is the same again`,
        messageWith('xadmin;server1;community#1.0##', epoch, size) === text,
      );
    }
    expect(
      `${size} says the same in both epochs`,
      same(message('compact', size), message('indented', size)),
    );
  }
  expect(
    'another routing text is in its place',
    messageWith('x', 'compact', 500).includes('someuri">x</routing>'),
  );
}

function same(one, other) {
  return canonical(one) !== null && canonical(one) === canonical(other);
}

function canonicalXml() {
  for (const [one, other] of [
    ['<a/>', '<a></a>'],
    ['<a> <b/> </a>', '<a><b/></a>'],
    ['<p:a xmlns:p="u"/>', '<a xmlns="u"/>'],
    ['<p:a xmlns:p="u"><p:b/></p:a>', '<a xmlns="u"><q:b xmlns:q="u"/></a>'],
    ['<?xml version="1.0"?><!-- c --><a/>', '<a/>'],
    ['<a x="1" y="2"/>', "<a y='2' x='1' />"],
    ['<a>1&lt;2&#65;</a>', '<a><![CDATA[1<2]]>A</a>'],
    ['<a xmlns="u" b="1"/>', '<p:a xmlns:p="u" b="1"/>'],
    ['<a b=">"/>', '<a b="&gt;"/>'],
  ]) {
    expect(`${one} says the same as ${other}`, same(one, other));
  }
  for (const [one, other] of [
    ['<a/>', '<b/>'],
    ['<a xmlns="u"/>', '<a/>'],
    ['<a xmlns="u"><b/></a>', '<a xmlns="u"><b xmlns=""/></a>'],
    ['<a>1</a>', '<a>1 </a>'],
    ['<a><b/><c/></a>', '<a><b><c/></b></a>'],
    ['<a><b/><c/></a>', '<a><c/><b/></a>'],
    ['<a x="1"/>', '<a x="2"/>'],
    ['<a xmlns:p="u" p:x="1"/>', '<a x="1"/>'],
    ['<a>bc</a>', '<a>b<i/>c</a>'],
  ]) {
    expect(`${one} does not say the same as ${other}`, canonical(one) !== canonical(other));
  }
  for (const text of [
    '',
    'a',
    '<a>',
    '</a>',
    '<a></b>',
    '<a/><b/>',
    'x<a/>',
    '<a/>x',
    '<a/',
    '<a><b></a></b>',
  ]) {
    expect(`${text} is no document`, canonical(text) === null);
  }
}

function step(vus, requests_per_second, error_rate = 0) {
  return {
    name: `vus-${vus}`,
    vus,
    requests_per_second,
    error_rate,
    requests: 100,
    latency_ms: { mean: 1, p99: 2 },
  };
}

function knees() {
  expect('most throughput', knee([step(1, 10), step(2, 20), step(4, 15)]).vus === 2);
  expect('the fewest users of equal steps', knee([step(1, 10), step(2, 19.9), step(4, 20)]).vus === 2);
  expect('not a step with errors', knee([step(1, 10), step(2, 20), step(4, 90, 0.5)]).vus === 2);
  expect('reached before the end', knee([step(1, 10), step(2, 9)]).reached === true);
  expect('not reached at the end', knee([step(1, 10), step(2, 20)]).reached === false);
  expect('none among errors alone', knee([step(1, 10, 1)]) === null);
  expect('none without requests', knee([{ ...step(1, 0), requests: 0, latency_ms: null }]) === null);
}

/** The names of the checks that a reply fails. */
function objections(status, limit, remaining, reset, retryAfter) {
  const response = {
    status,
    headers: {
      'X-Ratelimit-Limit': limit,
      'X-Ratelimit-Remaining': remaining,
      'X-Ratelimit-Reset': reset,
      'Retry-After': retryAfter,
    },
  };
  return Object.keys(rateLimitChecks)
    .filter((name) => !rateLimitChecks[name](response))
    .join();
}

function rateLimitHeaders() {
  expect('a first reply', objections(200, '80000', '79999', '6000') === '');
  expect('less remains', objections(200, '80000', '79000', '5990') === '');
  expect(
    'more remains than before',
    objections(200, '80000', '79500', '5980') === 'remaining goes down within a window',
  );
  expect(
    'as much as before',
    objections(200, '80000', '79500', '5980') === 'remaining goes down within a window',
  );
  expect('another limit', objections(200, '70000', '100', '5970') === 'limit is the configured one');
  expect(
    'a reset beyond the period',
    objections(200, '80000', '99', '6001') === 'reset is within the period',
  );
  expect(
    'no number',
    objections(200, '80000', undefined, '5970').includes('rate limit headers are numbers'),
  );
  expect('a refusal', objections(429, '80000', '0', '5960', '6') === '');
  expect(
    'a refusal with a rest',
    objections(429, '80000', '5', '5950', '6').includes('nothing remains to those refused'),
  );
  expect(
    'a refusal without a time',
    objections(429, '80000', '0', '5940') === 'those refused are told when to come again',
  );
}

function settings() {
  expect(
    'seconds',
    toSeconds('X', '90s') === 90 && toSeconds('X', '1m30s') === 90 && toSeconds('X', '250ms') === 0.25,
  );
  expect(
    'bytes',
    toBytes('X', '500') === 500 && toBytes('X', '10K') === 10240 && toBytes('X', '1MB') === 1048576,
  );
  expect('readable sizes', readableSize(10240) === '10KB' && readableSize(500) === '500B');
  for (const wrong of ['', '1', 's', '-1s', '1s2']) {
    expect(
      `${wrong} is no duration`,
      refuses(() => toSeconds('X', wrong)),
    );
  }
  for (const wrong of ['', 'K', '-1', '1.5K', '1G']) {
    expect(
      `${wrong} is no size`,
      refuses(() => toBytes('X', wrong)),
    );
  }
}

function refuses(read) {
  try {
    read();
    return false;
  } catch (error) {
    return error.message.startsWith('X must be');
  }
}

function fillers() {
  for (const bytes of [0, 1, 64, 65, 1024, 1048576]) {
    expect(`${bytes} bytes of filler`, filler(bytes).length === bytes);
  }
  expect('filler repeats after 64 bytes', filler(66).endsWith('-_AB'));
}

/** The messages, for a judge that reads XML by itself. */
export function handleSummary(data) {
  const all = {};
  for (const size of Object.keys(MESSAGES)) {
    for (const epoch of EPOCHS) {
      all[`${epoch}-${size}`] = message(epoch, size);
    }
  }
  const failed = data.metrics.checks.values.fails;
  const outputs = { stdout: `${data.metrics.checks.values.passes} hold, ${failed} do not\n` };
  if (__ENV.MESSAGES) {
    outputs[__ENV.MESSAGES] = JSON.stringify(all);
  }
  return outputs;
}

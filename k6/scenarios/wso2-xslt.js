// XSLT on the request and back on the reply: WSO2 Micro Integrator 1.2.0. The reply must say the same as the message
// that was sent: equal as canonical XML, but for white space between elements.
//
// 100 and 200 users, four sizes, five delays, both epochs of the message: 80 phases, two hours. VUS, SIZE, DELAY and
// EPOCH choose from them.

import { canonical } from '../lib/canonical.js';
import { credentials, exchange, send } from '../lib/gateway.js';
import { message } from '../lib/orders.js';
import { plan } from '../lib/plan.js';
import { policies, probe } from '../lib/policies.js';
import { DEFAULTS, HEADERS, matrix } from '../lib/wso2.js';

const run = plan('wso2-xslt', matrix(), { defaults: DEFAULTS });
const as = credentials('none');
const expected = policies('xslt');

export const options = run.options;
export const handleSummary = run.handleSummary;

/** For each message the reply that says the same. Only these replies are parsed: later ones must be equal to them. */
export function setup() {
  probe(expected, as);
  const replies = {};
  for (const { epoch, size } of run.phases) {
    const body = message(epoch, size);
    if (replies[body.length] === undefined) {
      const reply = send({ method: 'POST', path: '/', body, headers: HEADERS, as }).body;
      replies[body.length] = reply && canonical(reply) === canonical(body) ? reply : null;
    }
  }
  return replies;
}

export default function (replies) {
  const { epoch, size, delay } = run.enter();
  const body = message(epoch, size);
  exchange(
    { method: 'POST', path: `/?delay_ms=${delay}`, body, headers: HEADERS, as },
    {
      body: (reply) => reply !== null && reply === replies[body.length],
      also: {
        'header Content-Type is that of XML': (r) => /^text\/xml(;|$)/.test(r.headers['Content-Type']),
      },
    },
  );
}

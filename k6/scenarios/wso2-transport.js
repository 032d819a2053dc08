// Routing by an HTTP header, every request matching: WSO2 Micro Integrator 1.2.0. The echo must come back unchanged.
//
// 100 and 200 users, four sizes, five delays, both epochs of the message: 80 phases, two hours. VUS, SIZE, DELAY and
// EPOCH choose from them.

import { credentials, exchange } from '../lib/gateway.js';
import { message } from '../lib/orders.js';
import { plan } from '../lib/plan.js';
import { policies, probe } from '../lib/policies.js';
import { DEFAULTS, HEADERS, matrix } from '../lib/wso2.js';

const run = plan('wso2-transport', matrix(), { defaults: DEFAULTS });
const as = credentials('none');
const expected = policies('transport-routing');

export const options = run.options;
export const handleSummary = run.handleSummary;

export function setup() {
  probe(expected, as);
}

export default function () {
  const { epoch, size, delay } = run.enter();
  const body = message(epoch, size);
  exchange(
    { method: 'POST', path: `/?delay_ms=${delay}`, body, headers: HEADERS, as },
    { body, headers: { 'Content-Type': 'text/xml' } },
  );
}

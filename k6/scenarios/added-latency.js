// How much later replies of 10 to 300 KB come through the gateway than from the upstream itself: the API proxy of the
// Mule ESB performance report. Each iteration asks both, the gateway and the upstream at DIRECT, by turns first.

import { Trend } from 'k6/metrics';
import { filler } from '../lib/filler.js';
import { credentials, send, verify } from '../lib/gateway.js';
import { plan } from '../lib/plan.js';
import { policies, probe } from '../lib/policies.js';
import { number, readableSize, sizes, text } from '../lib/settings.js';

const vus = number('VUS', 1);
const direct = text('DIRECT', 'http://127.0.0.1:8081');
const delay = number('DELAY', 0);

const directLatency = new Trend('direct_latency', true);
const addedLatency = new Trend('added_latency', true);
const run = plan(
  'added-latency',
  sizes('SIZE', '10K,50K,100K,200K,300K', '10K,300K').map((size) => ({
    name: `reply-${readableSize(size)}`,
    vus,
    size,
    delay,
  })),
  {
    trends: { direct_ms: 'direct_latency', added_ms: 'added_latency' },
    conclude: (phases) => ({ added_p50_ms: Object.fromEntries(phases.map(addedBy)) }),
  },
);
const as = credentials('headers');
const expected = policies('none');

export const options = run.options;
export const handleSummary = run.handleSummary;

export function setup() {
  probe(expected, as);
}

export default function () {
  const { size } = run.enter();
  const path = `/?size=${size}&delay_ms=${delay}`;
  const reply = { body: filler(size), headers: { 'Content-Type': 'text/plain' } };
  const throughGateway = () => verify(send({ path, as }), reply).timings.duration;
  const fromUpstream = () => {
    // Not of the phase: its latencies are the gateway's.
    const response = send({ path, to: direct, tags: { phase: 'direct' } });
    return response.status === 200 && response.body === reply.body ? response.timings.duration : NaN;
  };

  const gatewayFirst = __ITER % 2 === 0;
  const early = gatewayFirst ? throughGateway() : fromUpstream();
  const late = gatewayFirst ? fromUpstream() : throughGateway();
  const [gateway, upstream] = gatewayFirst ? [early, late] : [late, early];
  if (Number.isNaN(upstream)) {
    throw new Error(`the upstream at ${direct} does not reply as it should`);
  }
  directLatency.add(upstream);
  addedLatency.add(gateway - upstream);
}

function addedBy({ name, added_ms }) {
  return [name, added_ms && added_ms.p50];
}

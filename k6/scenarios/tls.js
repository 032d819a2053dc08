// TLS with and without connection reuse, a reply of 10 KB: the Runtime Fabric load balancer of the Mule 4.3 performance
// report. One run is one certificate and one way: point TARGET at a listener with the certificate, name its key in KEY
// (rsa-2048, rsa-4096, p-256), and set REUSE.

import { Trend } from 'k6/metrics';
import { filler } from '../lib/filler.js';
import { credentials, exchange } from '../lib/gateway.js';
import { plan } from '../lib/plan.js';
import { policies, probe } from '../lib/policies.js';
import { choice, number, sizes } from '../lib/settings.js';

const [size] = sizes('SIZE', '10K');
const vus = number('VUS', 100, 2);
const key = choice('KEY', ['rsa-2048', 'rsa-4096', 'p-256'], 'rsa-2048');
const reuse = choice('REUSE', ['yes', 'no'], 'yes');
const version = choice('TLS_VERSION', ['tls1.2', 'tls1.3'], 'tls1.3');

const handshake = new Trend('tls_handshake', true);
const run = plan(
  'tls',
  [{ name: `${key}-${reuse === 'yes' ? 'reused' : 'fresh'}`, vus, size, key, reuse }],
  {
    trends: { handshake_ms: 'tls_handshake' },
    options: { noConnectionReuse: reuse === 'no', tlsVersion: version },
  },
);
const as = credentials('headers');
const expected = policies('none');

export const options = run.options;
export const handleSummary = run.handleSummary;

export function setup() {
  probe(expected, as);
}

// A connection that is reused has its handshake with the virtual user's first request, and no other.
let connected = false;

export default function () {
  run.enter();
  const response = exchange(
    { path: `/?size=${size}`, as },
    {
      body: filler(size),
      headers: { 'Content-Type': 'text/plain' },
      also: {
        'TLS has the right version': (r) => r.tls_version === version,
        'a handshake only where one is due': (r) =>
          r.timings.tls_handshaking > 0 === (reuse === 'no' || !connected),
      },
    },
  );
  connected = true;
  if (response.timings.tls_handshaking > 0) {
    handshake.add(response.timings.tls_handshaking);
  }
}

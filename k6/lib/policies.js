// Whether the gateway runs the policies that an experiment is about. A gateway that does nothing would pass most checks
// of a reply, and quickly; so before the load begins, each policy is shown a request whose reply tells.

import exec from 'k6/execution';
import crypto from 'k6/crypto';
import { message, messageWith, ROUTING } from './orders.js';
import { carry, credentials, send } from './gateway.js';
import { choices } from './settings.js';

const WRONG_ROUTING = 'nobody;nowhere';
const SOAP = { 'Content-Type': 'text/xml', SOAPAction: 'urn:buyStocks' };

/** By its name, what a policy must do; a probe says what is wrong, or nothing. */
const PROBES = {
  'client-id': (as) => {
    const where = as.where === 'none' ? 'headers' : as.where;
    return [
      statusOf({ path: '/', as: carry('none') }, 401, 'a request without credentials'),
      statusOf({ path: '/', as: carry(where, 'nobody', 'wrong') }, 401, 'a request with wrong credentials'),
      statusOf({ path: '/', as }, 200, 'a request with the right credentials'),
    ];
  },
  'rate-limit': (as) => {
    const { headers } = send({ path: '/', as });
    return ['Limit', 'Remaining', 'Reset'].map(
      (name) => headers[`X-Ratelimit-${name}`] === undefined && `a reply has no X-RateLimit-${name}`,
    );
  },
  'soap-routing': (as) => {
    const body = messageWith(WRONG_ROUTING, 'compact', 500);
    return [
      faultOf(
        { body, headers: { ...SOAP, routing: ROUTING }, as },
        'a message with another routing header',
      ),
    ];
  },
  'transport-routing': (as) => {
    const body = message('compact', 500);
    return [
      faultOf(
        { body, headers: { ...SOAP, routing: WRONG_ROUTING }, as },
        'a request with another routing header',
      ),
    ];
  },
  xslt: (as) => {
    const body = message('compact', 500);
    const reply = send({
      method: 'POST',
      path: '/?describe=true',
      body,
      headers: { ...SOAP, routing: ROUTING },
      as,
    });
    const unchanged = reply.body && reply.body.includes(crypto.sha256(body, 'hex'));
    return [
      reply.status !== 200 && `a description of the request has status ${reply.status}`,
      unchanged && 'the upstream got the message as it was sent',
    ];
  },
};

/** The policies that the run is about: those of POLICIES, or else of `defaults`, a list with commas. */
export function policies(defaults) {
  return choices('POLICIES', Object.keys(PROBES), defaults);
}

/** For a script's `setup`: ends the run if a policy is not there. */
export function probe(names, as = credentials('none')) {
  const problems = names.flatMap((name) =>
    PROBES[name](as)
      .filter(Boolean)
      .map((problem) => `${name}: ${problem}`),
  );
  if (problems.length > 0) {
    exec.test.abort(`the gateway does not do what it is to be measured doing: ${problems.join('; ')}`);
  }
}

function statusOf(request, expected, what) {
  const { status, error } = send(request);
  return status !== expected && `${what} gets ${status} ${error}, not ${expected}`;
}

function faultOf(request, what) {
  const { status, body } = send({ method: 'POST', path: '/', ...request });
  const isFault = status === 500 && body.includes('Fault') && body.includes('Invalid routing header');
  return !isFault && `${what} gets ${status}, not a SOAP fault`;
}

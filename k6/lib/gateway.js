// Requests to the gateway. Every reply is looked at: its status, its body byte for byte, its headers.

import encoding from 'k6/encoding';
import http from 'k6/http';
import { check } from 'k6';
import { Counter, Rate } from 'k6/metrics';
import { choice, secret, seconds, text } from './settings.js';

/** Where the gateway is; a path that comes before all others may be part of it. */
export const TARGET = text('TARGET', 'http://127.0.0.1:10000').replace(/\/+$/, '');

const TIMEOUT = `${seconds('TIMEOUT', '30s')}s`;

/** Replies that were looked at. */
const verified = new Counter('verified_replies');
/** Those of them with another status than expected, or none at all. */
const failed = new Rate('failed_replies');
/** Those with the right status, but with another body or other headers. */
const corrupt = new Rate('corrupt_replies');
/** The sum of the squares of latencies, for their standard deviation. */
const squares = new Counter('latency_squares');

/** The client's credentials; `where` they are if CREDENTIALS does not say: see `carry`. */
export function credentials(where) {
  const id = text('CLIENT_ID', 'acme');
  const password = secret('CLIENT_SECRET', 'acme-secret-1');
  return carry(choice('CREDENTIALS', ['basic', 'headers', 'query', 'none'], where), id, password);
}

/** Headers and query parameters that carry credentials: by HTTP Basic, in headers, in the query, or not at all. */
export function carry(where, id, password) {
  switch (where) {
    case 'basic':
      return { where, headers: { Authorization: `Basic ${encoding.b64encode(`${id}:${password}`)}` } };
    case 'headers':
      return { where, headers: { client_id: id, client_secret: password } };
    case 'query':
      return {
        where,
        query: `client_id=${encodeURIComponent(id)}&client_secret=${encodeURIComponent(password)}`,
      };
    default:
      return { where: 'none' };
  }
}

/** Sends a request and verifies the reply: see `send` and `verify`. */
export function exchange(request, expected) {
  return verify(send(request), expected);
}

// How many requests this virtual user has sent.
let sent = 0;

/**
 * Sends { method, path, body, headers, as: credentials, to: an address other than TARGET, tags }. What may be left
 * out: all but the path; the method is GET.
 */
export function send({ method = 'GET', path, body = null, headers, as = {}, to = TARGET, tags }) {
  const separator = path.includes('?') ? '&' : '?';
  const url = as.query ? `${to}${path}${separator}${as.query}` : `${to}${path}`;
  sent += 1;
  return http.request(method, url, body, {
    headers: { 'X-Echo-Tag': `${__VU}-${sent}`, ...as.headers, ...headers },
    // One name for all URLs, since credentials may be part of them.
    tags: { name: 'gateway', ...tags },
    timeout: TIMEOUT,
    redirects: 0,
  });
}

/**
 * Verifies a reply. Expected are { status, 200 if left out; body, a text or a function that judges one; headers, whose
 * values are texts, or undefined for a header that must not be there }. The echo backend returns each request's tag,
 * so that a reply that belongs to another request is noticed, too; `tagged: false` where the gateway itself replies.
 * `also` has more checks as k6 has them: functions of the reply, by what must hold.
 */
export function verify(response, { status = 200, body, headers = {}, tagged = true, also = {} }) {
  const statusIsRight = check(response, { 'status is right': (r) => r.status === status });
  let contentIsRight = false;
  if (statusIsRight) {
    const verdicts = { 'body is right': isRight(body, response.body) };
    if (tagged) {
      const [tag] = response.request.headers['X-Echo-Tag'];
      verdicts['reply is to this request'] = response.headers['X-Echo-Tag'] === tag;
    }
    for (const name of Object.keys(headers)) {
      verdicts[`header ${name} is right`] = response.headers[name] === headers[name];
    }
    for (const name of Object.keys(also)) {
      verdicts[name] = also[name](response);
    }
    contentIsRight = check(response, verdicts);
    if (!contentIsRight) {
      complain(response, verdicts);
    }
  } else {
    complain(response, { [`status is ${status}`]: false });
  }
  verified.add(1);
  failed.add(!statusIsRight);
  corrupt.add(statusIsRight && !contentIsRight);
  squares.add(response.timings.duration ** 2);
  return response;
}

function isRight(expected, body) {
  return typeof expected === 'function' ? expected(body) : body === expected;
}

let complained = false;

/** Shows the first wrong reply of the first virtual user: others are likely to be the same. */
function complain({ status, error, headers, body }, verdicts) {
  if (complained || __VU > 1) {
    return;
  }
  complained = true;
  const wrong = Object.keys(verdicts).filter((name) => !verdicts[name]);
  const start = body === null ? 'none' : JSON.stringify(String(body).slice(0, 200));
  console.error(
    `a wrong reply: not so: ${wrong.join(', ')}; status ${status} ${error}; ` +
      `headers ${JSON.stringify(headers)}; body ${start}`,
  );
}

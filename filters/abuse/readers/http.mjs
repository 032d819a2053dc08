// What a program sees of a request behind Node's http, as JSON; see the README beside this file.
import http from 'node:http';
import querystring from 'node:querystring';

const pairs = (fields) =>
  Object.entries(fields).flatMap(([name, values]) => [values].flat().map((value) => [name, value]));

const actsAs = (task) => (task === 'admin' || task === 'user' ? task : 'other');

function jsonViews(body) {
  try {
    return [['object', actsAs(JSON.parse(body)?.task)]];
  } catch {
    return [];
  }
}

http
  .createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url, 'http://gateway.test');
      const seen = [request.headers, request.headersDistinct, request.trailers, request.trailersDistinct].flatMap(pairs);
      const query = [...url.searchParams, ...pairs(querystring.parse(url.search.slice(1)))];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ seen, query, json: jsonViews(Buffer.concat(chunks).toString()) }));
    });
  })
  .listen(Number(process.argv[2]), '127.0.0.1');

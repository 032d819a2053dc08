"""What a WSGI program sees of a request behind wsgiref, as JSON; see the README beside this file."""

import json
import sys
from urllib.parse import parse_qs, parse_qsl
from wsgiref.simple_server import WSGIRequestHandler, make_server


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def json_views(body):
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return []
    task = document.get("task") if isinstance(document, dict) else None
    return [["dict", task if task in ("admin", "user") else "other"]]


def show(environ, start_response):
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    query = environ["QUERY_STRING"]
    pairs = [[name, value] for name, values in parse_qs(query, keep_blank_values=True).items() for value in values]
    pairs += map(list, parse_qsl(query, keep_blank_values=True))
    seen = [[name, value] for name, value in environ.items() if isinstance(value, str)]
    answer = json.dumps({"seen": seen, "query": pairs, "json": json_views(body)}).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(answer)))])
    return [answer]


make_server("127.0.0.1", int(sys.argv[1]), show, handler_class=Quiet).serve_forever()

import http.server
import threading
import unittest

from ..exchange import Request, canonical, filler, get
from ..processes import Failure


class Replies(unittest.TestCase):
    """Against a server that gives the same reply to all."""

    def server(self, status, body):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_port

    def test_a_right_reply_has_no_problem(self):
        self.assertIsNone(get(1000).problem(self.server(200, filler(1000))))

    def test_one_wrong_byte_is_a_problem(self):
        body = bytearray(filler(1000))
        body[500] ^= 1
        self.assertIn("wrong body", get(1000).problem(self.server(200, bytes(body))))

    def test_another_status_is_a_problem(self):
        self.assertIn("gets 503, not 200", get(10).problem(self.server(503, filler(10))))

    def test_a_document_in_other_bytes_is_the_same(self):
        port = self.server(200, b'<b:a xmlns:b="urn:x"><b:c/></b:a>')
        request = Request("/", same_as=b'<a xmlns="urn:x">\n  <c></c>\n</a>')
        self.assertIsNone(request.problem(port))
        self.assertEqual(request.settled(port).reply, b'<b:a xmlns:b="urn:x"><b:c/></b:a>')

    def test_another_document_is_not(self):
        request = Request("/", same_as=b"<a><c/></a>")
        with self.assertRaises(Failure):
            request.settled(self.server(200, b"<a><d/></a>"))


class Requests(unittest.TestCase):
    def test_the_delay_can_be_taken_away(self):
        self.assertEqual(get(1024, 70).at_once(), get(1024))

    def test_filler_is_that_of_the_echo_backend(self):
        self.assertEqual(
            filler(70), b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_ABCDEF"
        )

    def test_what_is_no_xml_is_not_the_same_as_anything(self):
        self.assertIsNone(canonical(b"<a>"))


if __name__ == "__main__":
    unittest.main()

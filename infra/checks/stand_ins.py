"""Local servers that stand in for Google's in the tests of the rollout."""

import email.utils
import http.server
import json
import threading
import urllib.parse


class Server:
    """An HTTP server on a free port; `answer(method, path, query, headers, body)` gives status, headers and body."""

    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def respond(self):
                length = int(self.headers.get("Content-Length") or 0)
                url = urllib.parse.urlsplit(self.path)
                reply = answer(self.command, url.path, dict(urllib.parse.parse_qsl(url.query)), self.headers, self.rfile.read(length))
                if reply is None:  # breaks the connection off
                    self.close_connection = True
                    return
                status, headers, body = reply
                self.send_response_only(status)
                for name, value in {"Date": email.utils.formatdate(usegmt=True), **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_DELETE = respond

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class CloudStorage(Server):
    """One bucket that honours generation preconditions as Cloud Storage does, with a clock that the test moves."""

    def __init__(self):
        self.lock = threading.Lock()
        self.objects = {}
        self.generation = 1_000
        self.skew = 0.0
        self.now = __import__("time").time
        # Called under the lock before a request is carried out; what it returns is answered instead.
        self.before = lambda method, precondition: None
        # Called after it was carried out; "lose" breaks the connection off without an answer.
        self.after = lambda method, precondition: None
        super().__init__(self.answer)

    def answer(self, method, path, query, headers, body):
        if headers["Authorization"] != "Bearer good":
            return 401, {}, b""
        with self.lock:
            date = {"Date": email.utils.formatdate(self.now() + self.skew, usegmt=True)}
            precondition = query.get("ifGenerationMatch")
            instead = self.before(method, precondition)
            if instead is not None:
                return instead, date, b""
            name = query["name"] if path.startswith("/upload/") else urllib.parse.unquote(path.rsplit("/o/", 1)[1])
            reply = self.carry_out(method, name, precondition, body)
            return None if self.after(method, precondition) == "lose" else (reply[0], {**date, **reply[1]}, reply[2])

    def carry_out(self, method, name, precondition, body):
        generation, content = self.objects.get(name, (0, b""))
        if precondition is not None and int(precondition) != generation:
            return 412, {}, b""
        if method == "POST":
            self.generation += 1
            self.objects[name] = (self.generation, body)
            return 200, {}, json.dumps({"name": name, "generation": str(self.generation)}).encode()
        if generation == 0:
            return 404, {}, b""
        if method == "DELETE":
            del self.objects[name]
            return 204, {}, b""
        return 200, {"x-goog-generation": str(generation)}, content

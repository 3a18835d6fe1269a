"""A server of raw sockets that answers as a test tells it, one thread a connection."""

import json
import socket
import ssl
import threading
import time

TOKENS = [f" word{i}" for i in range(24)]


class Request:
    """What a client asked for, read from `conn`; None in `method` where nothing came."""

    def __init__(self, conn):
        data = b""
        while b"\r\n\r\n" not in data:
            more = conn.recv(65536)
            if not more:
                break
            data += more
            if data[0] == 0x16:  # a TLS handshake: say so as HTTP servers do
                conn.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
                break
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.target = (lines[0].split(" ") + [None, None])[:2]
        if not (self.method or "").isalpha():
            self.method = None
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.headers[name.lower()] = value[1:] if value.startswith(" ") else value
        wanted = int(self.headers.get("content-length", 0))
        while len(body) < wanted:
            more = conn.recv(65536)
            if not more:
                break
            body += more
        self.body = json.loads(body) if body else {}

    @property
    def path(self):
        return (self.target or "").partition("?")[0]

    @property
    def streamed(self):
        return bool(self.body.get("stream"))


class Stub:
    """Serves `handler(conn, request)` until stopped; with `tls` (certificate, key) over TLS.

    A handler that takes the connection alone (`raw`) is called before anything is read.
    """

    def __init__(self, handler, tls=None, raw=False):
        self.handler, self.raw = handler, raw
        self.requests = []
        self.context = None
        if tls:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*tls)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(conn,), daemon=True).start()

    def serve(self, conn):
        try:
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.context:
                conn = self.context.wrap_socket(conn, server_side=True)
            if self.raw:
                self.handler(conn)
            else:
                request = Request(conn)
                if request.method:
                    self.requests.append(request)
                    self.handler(conn, request)
        except (OSError, ValueError):
            pass
        finally:
            conn.close()

    def stop(self):
        self.listener.close()


def closed_port():
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def send(conn, status, body, content_type="application/json", headers=(), length=None):
    """One whole answer."""
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
    if isinstance(body, str):
        body = body.encode()
    lines = [f"HTTP/1.1 {status} Status", f"Content-Type: {content_type}",
             f"Content-Length: {len(body) if length is None else length}",
             "Connection: close"]  # fmt: skip
    lines += [f"{name}: {value}" for name, value in headers]
    conn.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def error(conn, status, message, kind="invalid_request_error", code=None, headers=()):
    """An error in OpenAI's shape."""
    send(conn, status, {"error": {"message": message, "type": kind, "code": code, "param": None}},
         headers=headers)  # fmt: skip


def page(conn, status, title="Welcome"):
    """A web page for people."""
    html = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>Hello</body></html>"
    send(conn, status, html, "text/html; charset=utf-8")


def chat_answer(model="stub-model", **changes):
    answer = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
        "choices": [{"index": 0, "finish_reason": "stop",
                     "message": {"role": "assistant", "content": "one, two, three"}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 24, "total_tokens": 33},
    }  # fmt: skip
    answer.update(changes)
    return answer


def chat_chunk(delta, finish=None):
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "stub-model",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}  # fmt: skip


def event(data):
    text = data if isinstance(data, str) else json.dumps(data)
    return f"data: {text}\n\n".encode()


def chat_events(tokens=None):
    """The events of a stream, its end included."""
    yield event(chat_chunk({"role": "assistant", "content": ""}))
    for token in TOKENS if tokens is None else tokens:
        yield event(chat_chunk({"content": token}))
    yield event(chat_chunk({}, "stop"))
    yield event("[DONE]")


def begin_stream(conn, content_type="text/event-stream", headers=()):
    lines = ["HTTP/1.1 200 OK", f"Content-Type: {content_type}", "Transfer-Encoding: chunked",
             "Connection: close"]  # fmt: skip
    lines += [f"{name}: {value}" for name, value in headers]
    conn.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")


def chunk(conn, data):
    conn.sendall(b"%x\r\n%s\r\n" % (len(data), data))


def end_stream(conn):
    conn.sendall(b"0\r\n\r\n")


def stream(conn, events=None, gap_s=0.004, content_type="text/event-stream", headers=()):
    """A whole stream, event by event."""
    begin_stream(conn, content_type, headers)
    for data in chat_events() if events is None else events:
        chunk(conn, data)
        time.sleep(gap_s)
    end_stream(conn)


def healthy(conn, request, headers=()):
    """What a sound endpoint does with a chat request at /v1."""
    if request.method == "GET" and request.path == "/v1/models":
        models = ["gpt-4o", "gpt-4o-mini", "claude-sonnet-4", "stub-model", "stub-model-large"]
        return send(conn, 200, {"object": "list", "data": [{"id": name} for name in models]})
    if request.path != "/v1/chat/completions":
        return error(conn, 404, f"no route {request.method} {request.path}")
    if request.streamed:
        return stream(conn, headers=headers)
    return send(conn, 200, chat_answer(), headers=headers)

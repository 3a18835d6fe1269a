"""An upstream that notes to the microsecond when each of its connections ends."""

import select
import socket
import threading
import time

EVENT = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"bench",'
    b'"choices":[{"index":0,"delta":{"content":" token"},"finish_reason":null}]}\n\n'
)
CHUNK = b"%x\r\n%s\r\n" % (len(EVENT), EVENT)
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
ANSWER = (
    b'{"id":"c","object":"chat.completion","created":1,"model":"bench","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}'
)
FLOW_GAP_S = 0.005
FIRST_TOKENS = 3


def answer_head(status, more=""):
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{more}"
        f"Content-Length: {len(ANSWER)}\r\n\r\n"
    ).encode()


class Exchange:
    """One request as the upstream saw it; the events are set when it has happened."""

    def __init__(self):
        self.began = threading.Event()  # what the case sends has been sent
        self.ended = threading.Event()
        self.ended_ns = None

    def end(self):
        self.ended_ns = time.monotonic_ns()
        self.ended.set()


class WatchedUpstream:
    """Serves until stop(). The request field x-leave-case says what to do, x-leave-id who it is:

    silent         sends nothing
    half-body      sends the head and half of a body that is not streamed
    stream-silent  sends the head and three tokens, then nothing
    stream-flow    sends a token every 5 ms
    overloaded     answers 429 with retry-after
    anything else  answers at once
    """

    def __init__(self):
        self.exchanges = {}
        self.seen = []  # the ids in the order in which requests came
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def stop(self):
        self.listener.close()

    def exchange(self, leave_id):
        with self.lock:
            return self.exchanges.setdefault(leave_id, Exchange())

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            rest = b""
            while True:
                fields, rest = read_request(connection, rest)
                if fields is None:
                    return
                leave_id, case = fields.get("x-leave-id", ""), fields.get("x-leave-case", "")
                exchange = self.exchange(leave_id)
                self.seen.append(leave_id)
                if self.answer(connection, case, exchange):
                    exchange.began.set()
                    continue
                return

    @staticmethod
    def answer(connection, case, exchange):
        """Acts the case out; True when the connection serves on."""
        if case == "overloaded":
            connection.sendall(
                answer_head("429 Too Many Requests", "retry-after: 2\r\n") + ANSWER
            )
            return True
        if case in ("silent", "half-body", "stream-silent", "stream-flow"):
            connection.sendall(opening(case))
            exchange.began.set()
            watch_until_end(connection, CHUNK if case == "stream-flow" else b"")
            exchange.end()
            return False
        connection.sendall(answer_head("200 OK") + ANSWER)
        return True


def opening(case):
    """What the upstream sends before it falls silent or goes on with tokens."""
    if case == "half-body":
        return answer_head("200 OK") + ANSWER[: len(ANSWER) // 2]
    if case.startswith("stream"):
        return STREAM_HEAD + CHUNK * FIRST_TOKENS
    return b""


def watch_until_end(connection, repeated):
    """Returns when the peer has ended the connection; sends `repeated` every 5 ms meanwhile."""
    while True:
        wait = FLOW_GAP_S if repeated else None
        readable, _, _ = select.select([connection], [], [], wait)
        try:
            if readable and not connection.recv(65536):
                return
            if not readable:
                connection.sendall(repeated)
        except OSError:
            return


def read_request(connection, rest):
    """The next request's fields in lower case and the bytes after it; (None, b"") at the end."""
    try:
        while b"\r\n\r\n" not in rest:
            piece = connection.recv(65536)
            if not piece:
                return None, b""
            rest += piece
        head, rest = rest.split(b"\r\n\r\n", 1)
        fields = {}
        for line in head.decode("latin-1").split("\r\n")[1:]:
            name, value = line.split(":", 1)
            fields[name.lower()] = value.strip()
        length = int(fields.get("content-length", 0))
        while len(rest) < length:
            piece = connection.recv(65536)
            if not piece:
                return None, b""
            rest += piece
        return fields, rest[length:]
    except OSError:
        return None, b""

"""Single requests over plain sockets and http.client, for checks between the loads."""

import http.client
import json
import socket
import time


def chat_body(model, stream=False, content="hi"):
    """A small chat-completions body."""
    body = {"model": model, "stream": stream, "messages": [{"role": "user", "content": content}]}
    return json.dumps(body, separators=(",", ":")).encode()


def chat_request(key, body, fields=()):
    """The bytes of a chat-completions request."""
    head = [
        "POST /v1/chat/completions HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {key}",
        "Content-Type: application/json",
        *[f"{name}: {value}" for name, value in fields],
        f"Content-Length: {len(body)}",
    ]
    return ("\r\n".join(head) + "\r\n\r\n").encode() + body


def request(port, method, path, body=None, fields=None, seconds=10):
    """One request; gives (status, fields as a dict in lower case, body)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request(method, path, body, fields or {})
        response = connection.getresponse()
        received = {name.lower(): value for name, value in response.getheaders()}
        return response.status, received, response.read()
    finally:
        connection.close()


def wait_answer(port, program, key, model, seconds=20):
    """Asks until a chat completion is answered with 200; whether it was.

    Asks every 0.2 ms over fresh sockets, to see a start within its first milliseconds; gives up
    when `program` has ended (None: it is not ours to watch).
    """
    message = chat_request(key, chat_body(model), [("Connection", "close")])
    end = time.monotonic() + seconds
    while time.monotonic() < end and (program is None or program.running()):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=seconds) as client:
                client.sendall(message)
                if client.recv(65536).startswith(b"HTTP/1.1 200"):
                    return True
        except OSError:
            pass
        time.sleep(0.0002)
    return False


def wait_ready(port, program, seconds=20):
    """Asks /readyz until it answers 200; False when it does not, or when `program` has ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and program.running():
        try:
            if request(port, "GET", "/readyz")[0] == 200:
                return True
        except OSError:
            pass
        time.sleep(0.01)
    return False

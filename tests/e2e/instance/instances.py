"""An instance on the model of a GPU, alone or behind a gateway, and what its clients see."""

import http.client
import json
import os
import pathlib
import socket
import threading
import time

from stand import processes, subjects

BINARY = os.environ.get("HEADWAY_BINARY", subjects.Headway.program)
MODEL = "llama-3.1-8b"
# Chat marks around a message, and one word for each token: four ASCII bytes are one.
WORD = "abc "
GATEWAY = f"""
[gateway]
listen = "127.0.0.1:$port"
threads = 1
admin_token = "env:HEADWAY_ADMIN_TOKEN"

[store]
path = "$store"

[[channels]]
name = "instance"
dialect = "openai"
base_url = "http://127.0.0.1:$upstream_port/v1"
serves = ["chat", "completions"]
models = ["{MODEL}"]

[[keys]]
name = "bench"
secret = "env:HEADWAY_BENCH_KEY"
"""


class Instance:
    """`headway engine` on the model of a GPU; `options` are {section: {key: value}}."""

    numbers = iter(range(1, 1_000_000))

    def __init__(self, folder, options=None, host="127.0.0.1"):
        self.host = host
        self.folder = pathlib.Path(folder) / f"instance-{next(self.numbers)}"
        self.folder.mkdir()
        self.port = processes.free_port()
        written = {"server": {"port": self.port}, "model": {"backend": "gpu-model"}}
        for section, values in (options or {}).items():
            written.setdefault(section, {}).update(values)
        self.model = written["model"].get("model_id", MODEL)
        self.config = self.folder / "engine.toml"
        self.config.write_text("".join(
            f"[{section}]\n" + "".join(f"{key} = {json.dumps(value)}\n"
                                       for key, value in values.items())
            for section, values in written.items()
        ))  # fmt: skip
        argv = [BINARY, "engine", "--config", self.config]
        self.program = processes.Program(argv, log=self.folder / "log")

    def __enter__(self):
        self.wait_ready()
        return self

    def __exit__(self, *_):
        self.program.stop()

    def wait_ready(self, seconds=10):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.program.running():
            try:
                if self.get("/health")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.01)
        self.program.stop()
        raise RuntimeError(f"the instance does not start: {self.program.last_log()}")

    def get(self, path):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def log(self):
        return self.program.last_log(100_000)

    def load(self):
        return json.loads(self.get("/load")[1])

    def metric(self, name, **labels):
        """The sum of a metric's samples that have these labels."""
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        lines = [line for line in self.get("/metrics")[1].splitlines()
                 if line.split("{")[0] == name and all(one in line for one in wanted)]  # fmt: skip
        if not lines:
            raise RuntimeError(f"no metric {name} with {labels}")
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines)

    def wait(self, what, holds, seconds=10):
        """Waits until `holds(load)`; raises when that does not come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            load = self.load()
            if holds(load):
                return load
            time.sleep(0.005)
        raise RuntimeError(f"never seen: {what}; at the end {load}")

    def wait_idle(self, seconds=10):
        return self.wait("an idle instance without a used block", is_idle, seconds)

    def ask(self, prompt_tokens=16, output_tokens=16, **fields):
        return Call(self.port, body_of(self.model, prompt_tokens, output_tokens, fields))


def is_idle(load):
    return load["running"] == 0 and load["waiting"] == 0 and load["kv_blocks_used"] == 0


class Gateway(subjects.Headway):
    program = BINARY
    settings = GATEWAY

    def ask(self, prompt_tokens=16, output_tokens=16, **fields):
        return Call(self.port, body_of(MODEL, prompt_tokens, output_tokens, fields))


def body_of(model, prompt_tokens, output_tokens, fields):
    body = {"model": model, "prompt": WORD * prompt_tokens, "max_tokens": output_tokens,
            "ignore_eos": True, "seed": 1, "stream": True, **fields}  # fmt: skip
    return {key: value for key, value in body.items() if value is not None}


class Call:
    """One completion under way: read by a thread of its own, each token stamped where it came."""

    def __init__(self, port, body):
        self.status = None
        self.fields = {}
        self.events = []  # of a stream: (seconds, JSON)
        self.body = None  # not streamed
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        data = json.dumps(body).encode()
        head = (f"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                f"Authorization: Bearer {subjects.KEY}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(data)}\r\n\r\n")  # fmt: skip
        self.began = time.monotonic()
        self.socket.sendall(head.encode() + data)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        try:
            with self.socket.makefile("rb") as stream:
                self._read_head(stream)
                if self.fields.get("content-type", "").startswith("text/event-stream"):
                    self._read_events(stream)
                else:
                    text = stream.read()
                    self.body = json.loads(text) if text else None
        except (OSError, ValueError) as problem:
            self.body = {"broken": str(problem)}
        self.ended = time.monotonic()

    def _read_head(self, stream):
        line = stream.readline()
        if not line:
            raise OSError("the connection ended before an answer")
        self.status = int(line.split()[1])
        for line in iter(stream.readline, b"\r\n"):
            name, _, value = line.decode().partition(":")
            self.fields[name.lower()] = value.strip()

    def _read_events(self, stream):
        for line in stream:  # the lines of chunk sizes begin otherwise
            if line.startswith(b"data: {"):
                self.events.append((time.monotonic(), json.loads(line[6:])))

    def done(self, seconds=60):
        """Waits for the end; gives itself."""
        self.thread.join(seconds)
        if self.thread.is_alive():
            raise RuntimeError("an answer does not end")
        self.socket.close()
        return self

    def leave(self):
        """Closes the connection, which its reader sees as an end."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.socket.close()

    def wait_token(self, seconds=20):
        end = time.monotonic() + seconds
        while not self.tokens() and self.thread.is_alive() and time.monotonic() < end:
            time.sleep(0.002)
        if not self.tokens():
            raise RuntimeError(f"no token came: {self.error()}")
        return self

    def tokens(self):
        """When each token came."""
        return [at for at, event in list(self.events)
                if event.get("choices") and event["choices"][0]["text"]]  # fmt: skip

    def ttft(self):
        return self.tokens()[0] - self.began

    def gaps(self):
        at = self.tokens()
        return [after - before for before, after in zip(at, at[1:])]

    def timings(self):
        """What the instance says of its durations."""
        if self.body is not None:
            return self.body["timings"]
        return next(event["timings"] for _, event in self.events if "timings" in event)

    def error(self):
        """The error's message, of the body or of an event in the stream; '' without one."""
        answers = [self.body or {}, *(event for _, event in list(self.events))]
        return next((one["error"]["message"] for one in answers if "error" in one), "")


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]

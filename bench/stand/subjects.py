"""What is compared: the gateway, nginx and haproxy, and how each is configured and started."""

import json
import os
import pathlib
import shutil
import string
import time

from . import ask, processes

BENCH = pathlib.Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
KEY = "sk-bench-0123456789abcdef0123456789abcdef"
ADMIN_TOKEN = "bench-admin-0123456789abcdef0123456789ab"
UPSTREAM_KEY = "sk-upstream-secret"
MODEL = "bench"


class Subject:
    """One program between the load and the upstream. `folder` is its own, for files and its log."""

    name = ""
    program = ""

    def __init__(self, folder, upstream_port):
        self.folder = pathlib.Path(folder) / self.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.upstream_port = upstream_port
        self.port = processes.free_port()
        self.running = None

    def installed(self):
        return shutil.which(self.program) is not None

    def argv(self):
        raise NotImplementedError

    def environment(self):
        return {}

    def start(self, cpu=None):
        self.running = processes.Program(
            self.argv(), cpu, self.environment(), self.folder, self.folder / "log"
        )
        return self.running

    def wait_answer(self):
        """Waits for its first answered chat request; raises without one."""
        if not ask.wait_answer(self.port, self.running, KEY, MODEL):
            log = self.running.last_log() if self.running else "no upstream"
            raise RuntimeError(f"{self.name} does not answer: {log}")

    def settle(self, seconds_max=5):
        """Waits until what it does later for the requests so far (writing its log) is done; False
        when it is not in time. That is part of their cost."""
        return processes.wait_until_quiet(self.running.pid, seconds_max)

    def stop(self):
        if self.running:
            self.running.stop()
            self.running = None

    def fill(self, template, **values):
        """Writes a file of bench/conf with its $names replaced; gives its path."""
        text = (BENCH / "conf" / template).read_text()
        values = {"port": self.port, "upstream_port": self.upstream_port, **values}
        path = self.folder / template
        path.write_text(string.Template(text).substitute(values))
        return path


class Direct(Subject):
    """No program between: the load goes straight to the upstream."""

    name = "direct"

    def __init__(self, folder, upstream_port):
        super().__init__(folder, upstream_port)
        self.port = upstream_port

    def installed(self):
        return True

    def start(self, cpu=None):
        return None


class Nginx(Subject):
    name = "nginx"
    program = "nginx"

    def argv(self):
        return ["nginx", "-p", self.folder, "-e", "error.log", "-c", self.fill("nginx.conf")]


class Haproxy(Subject):
    name = "haproxy"
    program = "haproxy"

    def argv(self):
        return ["haproxy", "-db", "-f", self.fill("haproxy.cfg")]


class Headway(Subject):
    """The gateway with everything on: a declared key, inspection, timeline, journal, metrics."""

    name = "headway"
    program = str(ROOT / "build" / "release" / "headway")
    settings = None  # its file's text, with $names; None: bench/conf/headway.toml
    store = None  # the store's path; None: in its folder

    def argv(self):
        template = self.settings or (BENCH / "conf" / "headway.toml").read_text()
        text = string.Template(template).substitute(
            port=self.port,
            upstream_port=self.upstream_port,
            store=self.store or self.folder / "headway.db",
        )
        config = self.folder / "headway.toml"
        config.write_text(text)
        return [self.program, "serve", "--config", config]

    def environment(self):
        return {
            "HEADWAY_BENCH_KEY": KEY,
            "HEADWAY_ADMIN_TOKEN": ADMIN_TOKEN,
            "HEADWAY_BENCH_UPSTREAM_KEY": UPSTREAM_KEY,
        }

    def start_and_wait(self, cpu=None):
        """Starts it and waits for its first answer of /readyz with 200; raises without one."""
        self.start(cpu)
        if not ask.wait_ready(self.port, self.running):
            raise RuntimeError(f"headway does not get ready: {self.running.last_log()}")

    def api(self, path):
        """What the admin API says at `path`: (status, JSON or None)."""
        status, _, body = ask.request(
            self.port, "GET", path, fields={"Authorization": f"Bearer {ADMIN_TOKEN}"}
        )
        return status, json.loads(body) if body.startswith((b"{", b"[")) else None

    def call(self, call_id, seconds=5):
        """The record of one call, once it is readable; None when it does not appear in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status, record = self.api(f"/api/calls/{call_id}")
            if status == 200 and record.get("finish_time"):
                return record
            time.sleep(0.02)
        return None

    def calls(self):
        """All calls in the store, newest first, page by page."""
        found, before = [], ""
        while True:
            status, page = self.api(f"/api/calls?limit=500{before}")
            if status != 200:
                raise RuntimeError(f"/api/calls: {status} {page}")
            found += page["calls"]
            if not page["calls"] or not page.get("next"):
                return found
            before = f"&before={page['next']}"

    def metric(self, name):
        """The sum of a metric's samples, whatever their labels; None when there is none."""
        _, _, body = ask.request(self.port, "GET", "/metrics")
        values = [
            float(line.rsplit(" ", 1)[1])
            for line in body.decode().splitlines()
            if line.split("{")[0].split(" ")[0] == name
        ]
        return sum(values) if values else None

    def settle(self, seconds_max=5):
        end = time.monotonic() + seconds_max
        while self.metric("headway_store_pending_calls") and time.monotonic() < end:
            time.sleep(0.01)
        return super().settle(max(0.1, end - time.monotonic()))

    def forget(self):
        """Removes its store, for a start from nothing."""
        for path in self.folder.iterdir():
            if path.name != "log":
                shutil.rmtree(path) if path.is_dir() else path.unlink()


class Envoy(Subject):
    name = "envoy"
    program = os.environ.get("PEER_ENVOY", "envoy")

    def argv(self):
        return [self.program, "-c", self.fill("envoy.yaml"), "--concurrency", "1", "-l", "error"]


class VllmRouter(Subject):
    name = "vllm-router"
    program = os.environ.get("PEER_VLLM_ROUTER", "vllm-router")

    def argv(self):
        return [
            *(self.program, "--host", "127.0.0.1", "--port", self.port),
            *("--worker-urls", f"http://127.0.0.1:{self.upstream_port}"),
            *("--policy", "round_robin", "--prometheus-port", processes.free_port()),
        ]


class Smg(Subject):
    name = "smg"
    program = os.environ.get("PEER_SMG", "smg")

    def argv(self):
        return [
            *(self.program, "launch", "--host", "127.0.0.1", "--port", self.port),
            *("--worker-urls", f"http://127.0.0.1:{self.upstream_port}", "--backend", "openai"),
            *("--policy", "round_robin", "--prometheus-port", processes.free_port()),
            *("--api-key", KEY),
        ]


ALL = (Direct, Nginx, Haproxy, Headway, Envoy, VllmRouter, Smg)

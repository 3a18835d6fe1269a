"""The benchmark's own programs: the upstream, the relay and the load generator."""

import json
import subprocess

from . import processes, subjects


class MissingTool(Exception):
    """A program of bench/ is not built."""


def tool(name):
    """The path of a program that bench/CMakeLists.txt builds."""
    for preset in ("release", "dev"):
        path = subjects.ROOT / "build" / preset / "bench" / name
        if path.exists():
            return path
    build = f"cmake --preset release && cmake --build --preset release --target {name}"
    raise MissingTool(f"{name} is not built: {build}")


class Served:
    """A program of ours that prints its port: the upstream or the relay."""

    def __init__(self, name, cpu, *flags):
        self.program = processes.Program([tool(name), *flags], cpu, pipe=True)
        words = self.program.read_line().split()
        if len(words) != 2 or words[0] != "port":
            raise MissingTool(f"{name} did not start")
        self.port = int(words[1])

    def stop(self):
        """Ends it; gives what it said last."""
        self.program.process.terminate()
        said = self.program.read_line()
        self.program.stop()
        return said


def upstream(*flags):
    return Served("bench_upstream", processes.load_cpu(), *flags)


def relay(to_port):
    """A bare TCP relay on the CPU of the program under measurement."""
    return Served("bench_relay", processes.subject_cpu(), "--to", to_port)


def command(port, flags, cpu=None):
    """The load generator's command line for `flags`, a dict of its flags without dashes."""
    given = {"port": port, "key": subjects.KEY, "model": subjects.MODEL, **flags}
    words = [word for name, value in given.items() for word in (f"--{name}", str(value))]
    pinned = ["taskset", "-c", str(processes.load_cpu() if cpu is None else cpu)]
    return pinned + [str(tool("bench_loadgen"))] + words


def start(port, flags):
    """Starts a load that goes on beside other things; finish() collects it."""
    return subprocess.Popen(
        command(port, flags), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(running):
    """Waits for a load; gives its findings, with what it complained about under `complaint`."""
    output, complaint = running.communicate()
    if running.returncode != 0:
        raise RuntimeError(f"load generator: {complaint.strip() or running.returncode}")
    return {**json.loads(output), "complaint": complaint.strip()}


def run(port, flags):
    """One load from beginning to end; gives its findings."""
    return finish(start(port, flags))


def failed(findings):
    """How many requests of a load went wrong, in whatever way."""
    return sum(count for kind, count in findings["errors"].items() if kind != "first_status")

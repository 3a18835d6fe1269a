"""Programs under measurement: starting, stopping, and what the kernel says they used."""

import glob
import os
import select
import signal
import socket
import subprocess
import time

ROUND_ROBIN_PRIORITY = 10


def free_port():
    """A TCP port of 127.0.0.1 that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def load_cpu():
    """The CPU for the upstream and the load generator."""
    return sorted(os.sched_getaffinity(0))[0]


def subject_cpu():
    """The CPU for the program under measurement: another one where there is another one."""
    return sorted(os.sched_getaffinity(0))[:2][-1]


def raise_priority():
    """Puts this process and all it starts under SCHED_RR, so that neighbours do not count.

    Gives whether the system permitted it.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(ROUND_ROBIN_PRIORITY))
    except (OSError, AttributeError):
        return False
    return True


def process_tree(pid):
    """The process and its descendants."""
    found = [pid]
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        for child in read_words(path):
            found += process_tree(int(child))
    return found


def read_words(path):
    """The words of a file under /proc; none when the process has ended meanwhile."""
    try:
        with open(path) as file:
            return file.read().split()
    except OSError:
        return []


def cpu_ns(pid):
    """Time on a CPU of all threads of the process tree, from the scheduler's own accounting."""
    total = 0
    for process in process_tree(pid):
        for path in glob.glob(f"/proc/{process}/task/*/schedstat"):
            words = read_words(path)
            total += int(words[0]) if words else 0
    return total


def thread_cpu_ns(pid):
    """The same by thread: {(tid, name): ns}."""
    threads = {}
    for process in process_tree(pid):
        for path in glob.glob(f"/proc/{process}/task/*"):
            words = read_words(path + "/schedstat")
            name = " ".join(read_words(path + "/comm"))
            threads[(int(path.rsplit("/", 1)[1]), name)] = int(words[0]) if words else 0
    return threads


def pss_kib(pid):
    """Proportional set size of the process tree in KiB."""
    total = 0
    for process in process_tree(pid):
        words = read_words(f"/proc/{process}/smaps_rollup")
        if "Pss:" in words:
            total += int(words[words.index("Pss:") + 1])
    return total


def wait_until_quiet(pid, seconds_max=5.0, share=0.02):
    """Waits until the process tree uses under `share` of a CPU; False when it does not in time."""
    end = time.monotonic() + seconds_max
    before, since = cpu_ns(pid), time.monotonic()
    while time.monotonic() < end:
        time.sleep(0.05)
        now, at = cpu_ns(pid), time.monotonic()
        if now - before < share * (at - since) * 1e9:
            return True
        before, since = now, at
    return False


class Program:
    """One started program; stop() ends it and its descendants."""

    def __init__(self, argv, cpu=None, env=None, cwd=None, log=None, pipe=False):
        pinned = ["taskset", "-c", str(cpu)] if cpu is not None else []
        self.log_path = log
        sink = open(log, "ab") if log else subprocess.DEVNULL
        self.process = subprocess.Popen(
            pinned + [str(word) for word in argv],
            env={**os.environ, **(env or {})},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if pipe else sink,
            stderr=sink,
        )
        if log:
            sink.close()
        self.pid = self.process.pid

    def running(self):
        return self.process.poll() is None

    def read_line(self, seconds=10):
        """The next line of its standard output (started with pipe=True); '' when none comes."""
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline().decode().strip() if ready else ""

    def stop(self, seconds=10):
        """SIGTERM, then SIGKILL to what is left; gives the exit status."""
        tree = process_tree(self.pid)
        if self.running():
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        for pid in tree[1:]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.process.stdout:
            self.process.stdout.close()
        return self.process.returncode

    def kill(self):
        """SIGKILL at once, as a crash."""
        self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()

    def last_log(self, characters=2000):
        """The end of its log, for a message about what went wrong."""
        if not self.log_path:
            return ""
        with open(self.log_path, errors="replace") as file:
            return file.read()[-characters:]

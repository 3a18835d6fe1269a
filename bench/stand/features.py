"""What each feature costs the gateway: where its samples fall while a load runs.

The gateway has no switches that only a benchmark would use. Instead perf samples its call stacks,
user and kernel, and each sample belongs to the innermost frame of a module of ours: a page fault
while a call is copied into the journal is the journal's. Each thread's shares are applied to its
CPU time, from the scheduler's own accounting, under an equal load that nobody samples.
"""

import collections
import re
import shutil
import subprocess

from . import load, measures, processes

SAMPLES_PER_S = 1999
STACK_BYTES = 8192
HOTTEST = 25  # frames to print
FEATURE_OF_MODULE = {
    "access": "auth",
    "json": "inspection",
    "wire": "inspection",
    "timeline": "timeline",
    "store": "journal",
    "journal": "journal",
    "route": "routing",
    "http": "http",
    "gateway": "exchange",
    "net": "network",
    "app": "network",
}
METRICS = re.compile(r"hw::(Registry|Counter|Gauge|Metric|Histogram|Family|\w*Metric)")
MODULE = re.compile(r"(?:non-virtual thunk to )?hw::(\w+)::")
ORDER = ("auth", "inspection", "timeline", "journal", "metrics", "routing", "exchange", "http",
         "network", "other")  # fmt: skip


def feature_of(stack):
    """The feature that a call stack works for; `stack` has the innermost frame first."""
    for symbol in stack:
        if METRICS.match(symbol):
            return "metrics"
        module = MODULE.match(symbol)
        if module and module[1] in FEATURE_OF_MODULE:
            return FEATURE_OF_MODULE[module[1]]
        if symbol.startswith("sqlite3"):
            return "journal"
        if "boost::asio" in symbol:
            return "network"
    return "other"


def samples_of(script):
    """The samples in perf script's output: (tid, in the kernel, [symbols, innermost first])."""
    for block in script.split("\n\n"):
        tid = re.match(r"\s*(\d+)", block)
        frames = re.findall(r"^\s+([0-9a-f]+) (.+)$", block, re.M)
        if tid and frames:
            in_kernel = frames[0][0].startswith("ffff")
            yield int(tid[1]), in_kernel, [symbol for _, symbol in frames]


def sample(pid, seconds, file):
    """Starts sampling a process for so long."""
    return subprocess.Popen(
        [
            *("perf", "record", "-q", "-o", file, "-F", str(SAMPLES_PER_S)),
            *("--call-graph", f"dwarf,{STACK_BYTES}", "-p", str(pid)),
            *("--", "sleep", str(seconds)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def profile(gateway, scenario, seconds):
    """Samples the gateway under one load; gives [(tid, in the kernel, stack)]."""
    file = gateway.folder / "perf.data"
    running = load.start(gateway.port, {**scenario.flags, "seconds": seconds + 1})
    recorder = sample(gateway.running.pid, seconds, file)
    load.finish(running)
    recorder.wait()
    gateway.settle()
    script = subprocess.run(
        ["perf", "script", "-i", file, "--no-inline", "-F", "tid,ip,sym"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return list(samples_of(script))


def thread_costs(gateway, scenario, value, seconds):
    """{tid: us per request or token} of the gateway's threads under an unsampled load."""
    before = processes.thread_cpu_ns(gateway.running.pid)
    findings = load.run(gateway.port, {**scenario.flags, "seconds": seconds})
    gateway.settle()
    after = processes.thread_cpu_ns(gateway.running.pid)
    return {
        tid: value({**findings, "cpu_ns": after[tid, name] - before.get((tid, name), 0)})
        for tid, name in after
    }


def costs(gateway, scenario, value, seconds):
    """(us per unit, {feature: [user us, kernel us]}, the hottest user frames)."""
    of_thread = thread_costs(gateway, scenario, value, seconds)
    samples = profile(gateway, scenario, seconds)
    of_tid = collections.Counter(tid for tid, _, _ in samples)
    table = collections.defaultdict(lambda: [0.0, 0.0])
    leaves = collections.Counter()
    for tid, in_kernel, stack in samples:
        share = of_thread.get(tid, 0) / of_tid[tid]
        table[feature_of(stack)][in_kernel] += share
        if not in_kernel:
            leaves[stack[0]] += share
    return sum(of_thread.values()), table, leaves.most_common(HOTTEST)


def report(gateway, quick):
    """Gives (text for people, figures) for a request at 32 connections and a trickled token."""
    if not shutil.which("perf"):
        raise load.MissingTool("--features needs perf: apt-get install linux-perf")
    lines, figures = [], {}
    units = (("request", measures.per_request), ("tokens", measures.per_token))
    for name, value in units:
        scenario = measures.SCENARIOS[name]
        per_unit, table, hot = costs(gateway, scenario, value, 2 if quick else 8)
        unit = name.rstrip("s")
        lines.append(f"CPU per {unit}: {per_unit:.2f} us{'user':>12}{'kernel':>10}{'share':>8}")
        for feature in ORDER:
            user, kernel = table[feature]
            part = (user + kernel) / per_unit
            lines.append(f"  {feature:22}{user:12.2f}{kernel:10.2f}{part:8.1%}")
        lines.append("  where user time goes:")
        lines += [f"  {us:8.3f}  {symbol[:100]}" for symbol, us in hot]
        figures[unit] = {
            "cpu_us": round(per_unit, 2),
            **{feature: round(sum(table[feature]), 3) for feature in ORDER},
        }
    return "\n".join(lines), figures

"""What each feature costs the gateway: where its samples fall while a load runs.

The gateway has no switches that only a benchmark would use. Instead perf samples its call stacks,
user and kernel, and each sample belongs to the innermost frame of a module of ours: a page fault
while a call is copied into the journal is the journal's. Shares are applied to the CPU time of an
equal load that nobody samples.
"""

import collections
import re
import shutil
import subprocess

from . import load, measures, rounds

SAMPLES_PER_S = 1999
STACK_BYTES = 8192
FEATURE_OF_MODULE = {
    "access": "auth",
    "json": "inspection",
    "wire": "inspection",
    "timeline": "timeline",
    "store": "journal",
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


def stacks_of(script):
    """The samples in the output of perf script: (in the kernel, [symbols, innermost first])."""
    for block in script.split("\n\n"):
        frames = re.findall(r"^\s+([0-9a-f]+) (.+)$", block, re.M)
        if frames:
            yield frames[0][0].startswith("ffff"), [symbol for _, symbol in frames]


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
    """Samples the gateway under one load; gives [(in the kernel, stack)]."""
    file = gateway.folder / "perf.data"
    running = load.start(gateway.port, {**scenario.flags, "seconds": seconds + 1})
    recorder = sample(gateway.running.pid, seconds, file)
    load.finish(running)
    recorder.wait()
    script = subprocess.run(
        ["perf", "script", "-i", file, "--no-inline", "-F", "tid,ip,sym"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return list(stacks_of(script))


def costs(gateway, scenario, value, seconds):
    """{feature: (user us, kernel us)} per request or token, and the hottest own frames."""
    per_unit = value(rounds.measure_once(gateway, scenario, seconds))
    samples = profile(gateway, scenario, seconds)
    counted = collections.Counter((feature_of(stack), kernel) for kernel, stack in samples)
    share = per_unit / max(1, len(samples))
    table = {
        feature: (counted[feature, False] * share, counted[feature, True] * share)
        for feature in ORDER
        if counted[feature, False] or counted[feature, True]
    }
    return per_unit, table, hottest(samples, share)


def hottest(samples, share, count=25):
    """[(us, symbol)] of the innermost user frames: where user time is spent."""
    leaves = collections.Counter(stack[0] for kernel, stack in samples if not kernel)
    return [(number * share, symbol) for symbol, number in leaves.most_common(count)]


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
        for feature, (user, kernel) in table.items():
            part = (user + kernel) / per_unit
            lines.append(f"  {feature:22}{user:12.2f}{kernel:10.2f}{part:8.1%}")
        lines.append("  where user time goes:")
        lines += [f"  {us:8.3f}  {symbol[:100]}" for us, symbol in hot]
        figures[unit] = {
            "cpu_us": round(per_unit, 2),
            **{feature: round(sum(cost), 3) for feature, cost in table.items()},
        }
    return "\n".join(lines), figures

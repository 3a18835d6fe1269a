"""What bench/compare measures: the loads, the figures taken from each, and their goals."""

from dataclasses import dataclass
from typing import Callable

PACED = {"stream": 1, "connections": 32, "ttft-us": 20000, "gap-us": 20000}


@dataclass(frozen=True)
class Scenario:
    """One load. `direct`: also sent straight to the upstream, to be subtracted."""

    name: str
    flags: dict
    seconds: float
    seconds_quick: float
    direct: bool = False


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("latency", {"connections": 1}, 3, 0.5, direct=True),
        Scenario("request", {"connections": 32}, 2.5, 0.5),
        Scenario("throughput", {"connections": 64}, 2.5, 0.5),
        Scenario("tokens", {**PACED, "tokens": 50, "ramp-ms": 500}, 5, 1.3),
        Scenario("ttft", {**PACED, "tokens": 8, "ramp-ms": 180}, 4, 1.2, direct=True),
        Scenario("body1m", {"connections": 1, "body-bytes": 1_000_000}, 2, 0.4),
    )
}


@dataclass(frozen=True)
class Measure:
    """One figure of a scenario. `value` reads it from a load's findings."""

    key: str  # of the ratio to nginx in the JSON line
    title: str
    unit: str
    scenario: str
    value: Callable
    goal: float
    at_least: bool = False  # the goal is a floor, not a ceiling

    def missed_by(self, ratio):
        """How far from the goal, as a factor: 1 is just reached, above 1 is missed."""
        return self.goal / max(ratio, 1e-9) if self.at_least else ratio / self.goal


def per_request(findings):
    return findings["cpu_ns"] / 1e3 / max(1, findings["requests"])


def per_token(findings):
    return findings["cpu_ns"] / 1e3 / max(1, findings["tokens"])


MEASURES = (
    Measure("request_cpu_ratio_nginx", "CPU per request, 32 connections", "us", "request",
            per_request, 0.85),
    Measure("token_cpu_ratio_nginx", "CPU per token, 32 streams", "us", "tokens", per_token, 1.0),
    Measure("added_p50_ratio_nginx", "added latency p50, 1 connection", "us", "latency",
            lambda findings: findings["latency_us"]["p50"], 1.1),
    Measure("added_p99_ratio_nginx", "added latency p99, 1 connection", "us", "latency",
            lambda findings: findings["latency_us"]["p99"], 1.2),
    Measure("ttft_added_p50_ratio_nginx", "added TTFT p50, 32 streams", "us", "ttft",
            lambda findings: findings["carried_us"]["p50"], 1.3),
    Measure("ttft_added_p99_ratio_nginx", "added TTFT p99, 32 streams", "us", "ttft",
            lambda findings: findings["carried_us"]["p99"], 1.3),
    Measure("rps_ratio_nginx", "requests/s, 64 connections", "1/s", "throughput",
            lambda findings: findings["requests_per_s"], 0.9, at_least=True),
    Measure("body1m_cpu_ratio_nginx", "CPU per 1 MB body", "us", "body1m", per_request, 2.0),
)  # fmt: skip


@dataclass(frozen=True)
class Amount:
    """A figure of the gateway alone, with a goal in its own unit."""

    key: str
    title: str
    unit: str
    goal: float

    def missed_by(self, amount):
        return amount / self.goal


AMOUNTS = (
    Amount("pss_idle_mib", "memory, idle", "MiB", 8),
    Amount("pss_64_mib", "memory, 64 connections under load", "MiB", 16),
    Amount("pss_per_stream_kib", "memory, each further open stream", "KiB", 8),
    Amount("start_ms", "process start to first answer", "ms", 15),
)

"""What translation costs: the same conversation asked in the upstream's dialect and in another."""

import statistics
from dataclasses import dataclass
from typing import Callable

from . import load, measures, report, rounds

PASSED = {"dialect": "chat"}  # the upstream's own
TRANSLATED = {"dialect": "messages"}
BODY_50K = measures.Scenario(
    "body50k", {"connections": 4, "body-bytes": 50_000, "turns": 50}, 2, 0.5
)


@dataclass(frozen=True)
class Figure:
    """One comparison of translated with passed through. `join` makes one number of the two."""

    key: str
    title: str
    unit: str
    scenario: measures.Scenario
    value: Callable
    join: Callable
    goal: float
    goal_unit: str

    def missed_by(self, joined):
        return joined / self.goal


def ratio(translated, passed):
    return translated / passed


def difference(translated, passed):
    return translated - passed


FIGURES = (
    Figure("translated_token_cpu_ratio", "CPU per token, 32 streams", "us",
           measures.SCENARIOS["tokens"], measures.per_token, ratio, 1.5, "x"),
    Figure("translated_body50k_cpu_ratio", "CPU per 50 KB request", "us", BODY_50K,
           measures.per_request, ratio, 3.0, "x"),
    Figure("translated_ttft_added_us", "both ways p50, 32 streams", "us",
           measures.SCENARIOS["ttft"], lambda findings: findings["carried_us"]["p50"],
           difference, 50.0, " us"),
)  # fmt: skip


def run(gateway, count, quick, tell):
    """Alternating rounds on one gateway; gives {scenario name: [(passed, translated)]}."""
    found = {figure.scenario.name: [] for figure in FIGURES}
    for number in range(count):
        for scenario in [figure.scenario for figure in FIGURES]:
            both = {}
            for flags in (PASSED, TRANSLATED) if number % 2 == 0 else (TRANSLATED, PASSED):
                findings = rounds.measure_once(
                    gateway, scenario, scenario.seconds_quick if quick else scenario.seconds, flags
                )
                if load.failed(findings) or not findings["requests"]:
                    raise RuntimeError(
                        f"{flags['dialect']}, {scenario.name}: {findings['errors']} "
                        + findings["complaint"][:600]
                    )
                both[flags["dialect"]] = findings
            found[scenario.name].append((both[PASSED["dialect"]], both[TRANSLATED["dialect"]]))
        tell(f"round {number + 1} of {count} done")
    return found


class Report:
    """The figures of all rounds: a table for people, an object for programs."""

    def __init__(self, found):
        self.joined, self.absolute = {}, {}
        for figure in FIGURES:
            pairs = [
                (figure.value(passed), figure.value(translated))
                for passed, translated in found[figure.scenario.name]
            ]
            self.absolute[figure.key] = [statistics.median(side) for side in zip(*pairs)]
            self.joined[figure.key] = statistics.median(
                figure.join(translated, passed) for passed, translated in pairs
            )

    def worst(self):
        """The largest factor by which a goal is missed."""
        return max(figure.missed_by(self.joined[figure.key]) for figure in FIGURES)

    def figures(self):
        return {
            **{key: round(value, 3) for key, value in self.joined.items()},
            "absolute": {
                key: {"passed": round(passed, 2), "translated": round(translated, 2)}
                for key, (passed, translated) in self.absolute.items()
            },
            "missed": [f.key for f in FIGURES if f.missed_by(self.joined[f.key]) > 1],
        }

    def table(self):
        lines = [f"{'':32}{'':>4}{'passed through':>16}{'translated':>12}"]
        for figure in FIGURES:
            passed, translated = self.absolute[figure.key]
            joined = self.joined[figure.key]
            verdict = report.verdict(figure.missed_by(joined))
            lines.append(
                f"{figure.title:32}{figure.unit:>4}{passed:16.1f}{translated:12.1f}"
                f"{joined:8.2f}{figure.goal_unit:3}  goal <= {figure.goal:g}  {verdict}"
            )
        return "\n".join(lines)

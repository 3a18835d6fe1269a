"""Alternating rounds: every subject under every load, the order reversed each time."""

import statistics
import time

from . import load, measures, processes


def measure_once(subject, scenario, seconds, flags=None):
    """One load on one subject; its findings with the CPU time that the subject used for it. `flags`
    of the load generator beside the scenario's."""
    pid = subject.running.pid if subject.running else None
    before = processes.cpu_ns(pid) if pid else 0
    findings = load.run(subject.port, {**scenario.flags, **(flags or {}), "seconds": seconds})
    if pid:
        findings["quiet"] = subject.settle()
        findings["cpu_ns"] = processes.cpu_ns(pid) - before
    return findings


def run(subjects, scenarios, rounds, quick, tell, seconds_max=float("inf")):
    """Gives {scenario name: [{subject name: findings} for each round]}.

    Begins no round that would end after `seconds_max`, but for the first.
    """
    found = {scenario.name: [] for scenario in scenarios}
    begun = time.monotonic()
    for number in range(rounds):
        if number and (time.monotonic() - begun) * (number + 1) / number > seconds_max:
            tell(f"no time for round {number + 1} of {rounds}")
            break
        for scenario in scenarios:
            order = [s for s in subjects if scenario.direct or s.name != "direct"]
            one_round = {}
            for subject in order if number % 2 == 0 else reversed(order):
                seconds = scenario.seconds_quick if quick else scenario.seconds
                one_round[subject.name] = measure_once(subject, scenario, seconds)
                complain(subject, scenario, one_round[subject.name], tell)
            found[scenario.name].append(one_round)
        tell(f"round {number + 1} of {rounds} done")
    return found


def complain(subject, scenario, findings, tell):
    wrong = load.failed(findings)
    if wrong:
        tell(f"{subject.name}, {scenario.name}: {wrong} requests failed {findings['errors']}")
        tell(findings["complaint"][:600])
    if not findings.get("quiet", True):
        tell(f"{subject.name}, {scenario.name}: still busy 5 s after the load; its CPU is too low")


def value(measure, one_round, name):
    """A measure's absolute value for a subject in a round, the direct way subtracted."""
    figure = measure.value(one_round[name])
    if "direct" in one_round:
        figure -= measure.value(one_round["direct"])
    return figure


def ratios(measure, found, name, reference="nginx"):
    """The measure's ratio to the reference, formed within each round."""
    of_rounds = []
    for one_round in found[measure.scenario]:
        if name in one_round and reference in one_round:
            base = value(measure, one_round, reference)
            if base > 0:
                of_rounds.append(value(measure, one_round, name) / base)
    return of_rounds


def middle(values):
    """Median with the quartiles: (median, lower, upper)."""
    ordered = sorted(values)
    if len(ordered) < 4:
        return statistics.median(ordered), ordered[0], ordered[-1]
    lower, _, upper = statistics.quantiles(ordered, n=4)
    return statistics.median(ordered), lower, upper


def absolute(measure, found, name):
    """The median over the rounds of the absolute value; None when it was not measured."""
    values = [value(measure, r, name) for r in found[measure.scenario] if name in r]
    return statistics.median(values) if values else None


def scenarios_of(keys):
    """The scenarios that the measures named by `keys` need, in their order."""
    needed = {m.scenario for m in measures.MEASURES if m.key in keys}
    return [s for s in measures.SCENARIOS.values() if s.name in needed]

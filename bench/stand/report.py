"""The result of bench/compare: a table for people, a JSON object for programs."""

from . import load, measures, rounds


class Report:
    def __init__(self, found, amounts, wanted, names):
        self.found = found
        self.amounts = amounts
        self.names = [name for name in names if name != "direct"]
        self.measures = [
            m for m in measures.MEASURES if m.key in wanted and found.get(m.scenario)
        ]

    def ratios_of(self, name):
        """{measure: (median, lower, upper)} of the ratios to nginx."""
        found = {}
        for measure in self.measures:
            of_rounds = rounds.ratios(measure, self.found, name)
            if of_rounds:
                found[measure] = rounds.middle(of_rounds)
        return found

    def worst(self):
        """The largest factor by which the gateway misses a goal; 0 when nothing was measured."""
        factors = [m.missed_by(ratio[0]) for m, ratio in self.ratios_of("headway").items()]
        factors += [a.missed_by(self.amounts[a.key]) for a in self.measured_amounts()]
        return max(factors, default=0)

    def measured_amounts(self):
        return [amount for amount in measures.AMOUNTS if amount.key in self.amounts]

    def failed(self):
        """Requests that went wrong, by subject."""
        counts = {}
        for of_rounds in self.found.values():
            for one_round in of_rounds:
                for name, findings in one_round.items():
                    counts[name] = counts.get(name, 0) + load.failed(findings)
        return {name: count for name, count in counts.items() if count}

    def figures(self):
        """The JSON object: the gateway's ratios and amounts, then the details."""
        ours = self.ratios_of("headway")
        figures = {m.key: round(ratio[0], 3) for m, ratio in ours.items()}
        figures |= {key: round(amount, 2) for key, amount in self.amounts.items()}
        figures["quartiles"] = {
            m.key: [round(ratio[1], 3), round(ratio[2], 3)] for m, ratio in ours.items()
        }
        figures["absolute"] = {
            m.key.removesuffix("_ratio_nginx"): self.absolutes(m) for m in self.measures
        }
        figures["peers"] = {
            name: {m.key: round(ratio[0], 3) for m, ratio in self.ratios_of(name).items()}
            for name in self.names
            if name not in ("nginx", "headway")
        }
        figures["missed"] = [
            m.key for m, ratio in ours.items() if m.missed_by(ratio[0]) > 1
        ] + [a.key for a in self.measured_amounts() if a.missed_by(self.amounts[a.key]) > 1]
        figures["failed_requests"] = self.failed()
        return figures

    def absolutes(self, measure):
        values = {name: rounds.absolute(measure, self.found, name) for name in self.names}
        return {name: round(value, 2) for name, value in values.items() if value is not None}

    def table(self):
        lines = self.ratio_lines() if self.measures else []
        for amount in self.measured_amounts():
            value = self.amounts[amount.key]
            mark = verdict(amount.missed_by(value))
            lines.append(
                f"{amount.title:36} {value:8.1f} {amount.unit:4} goal <= {amount.goal:g}  {mark}"
            )
        return "\n".join(lines)

    def ratio_lines(self):
        lines = [f"{'':36} {'unit':>4}" + "".join(f"{name:>20}" for name in self.names)]
        of_names = {name: self.ratios_of(name) for name in self.names}
        for measure in self.measures:
            line = f"{measure.title:36} {measure.unit:>4}"
            for name in self.names:
                value = rounds.absolute(measure, self.found, name)
                ratio = of_names[name].get(measure)
                cell = "-" if value is None else f"{value:,.1f}"
                cell += f" ({ratio[0]:.2f}x)" if ratio and name != "nginx" else ""
                line += f"{cell:>20}"
            ours = of_names.get("headway", {}).get(measure)
            if ours:
                sign = ">=" if measure.at_least else "<="
                line += f"  goal {sign} {measure.goal:g}  {verdict(measure.missed_by(ours[0]))}"
            lines.append(line)
        return lines


def verdict(missed_by):
    if missed_by <= 1:
        return "reached"
    return "missed" if missed_by <= 2 else "MISSED BY MORE THAN TWICE"

"""Ours and the yardstick in alternation, so that whatever else the machine does meets both."""

import statistics


class Measure:
    """One line of the table: two figures, their ratio and what the ratio should be."""

    def __init__(self, name, unit, ours, yardstick, ratios, target, note=""):
        self.name, self.unit, self.note = name, unit, note
        self.ours, self.yardstick = ours, yardstick
        self.ratios, self.target = ratios, target

    @property
    def ratio(self):
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def is_met(self):
        """Whether the target holds; None where there is none."""
        if self.target is None or self.ratio is None:
            return None
        sign, bound = self.target
        return self.ratio >= bound if sign == ">=" else self.ratio <= bound

    def row(self):
        show = lambda value: "" if value is None else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
        spread = f"{min(self.ratios):.2f}–{max(self.ratios):.2f}" if len(self.ratios) > 1 else ""
        target = "" if self.target is None else f"{'≥' if self.target[0] == '>=' else '≤'} {self.target[1]:g}"
        verdict = {True: "met", False: "missed", None: ""}[self.is_met]
        return [self.name, self.unit, show(self.ours), show(self.yardstick), show(self.ratio), target, spread, verdict]

    def json(self):
        return {
            "name": self.name, "unit": self.unit, "ours": self.ours, "yardstick": self.yardstick, "ratio": self.ratio,
            "ratios": self.ratios, "target": self.target, "met": self.is_met, "note": self.note}


def paired(name, unit, ours, yardstick, pairs, target=None, note=""):
    """Runs both in turn; the ratio is the median of the pairs' ratios, each figure the median of its own."""
    left, right = [], []
    for turn in range(pairs):
        # Who goes first changes, so that neither always finds the warmer machine.
        order = [(left, ours), (right, yardstick)] if turn % 2 == 0 else [(right, yardstick), (left, ours)]
        for figures, run in order:
            figures.append(run())
    ratios = [a / b for a, b in zip(left, right)]
    return Measure(name, unit, statistics.median(left), statistics.median(right), ratios, target, note)


def against(name, unit, figures, bound, sign="<=", note=""):
    """Figures of our own against a fixed bound; the ratio is to the bound."""
    return Measure(name, unit, statistics.median(figures), bound, [f / bound for f in figures], (sign, 1), note)

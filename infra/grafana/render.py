#!/usr/bin/env python3
"""Draws the dashboard's panels from a running Prometheus into one picture, without Grafana.

    render.py PROMETHEUS START END PICTURE.svg     times as Unix seconds
"""

import html
import json
import math
import re
import sys
import urllib.parse
import urllib.request

import dashboard

COLOURS = ["#3b6fd4", "#e0752d", "#3d9a50", "#c4406a", "#8757c9", "#2a9d9d", "#a0812f", "#6d7582"]
WIDTH, HEIGHT, GAP = 400, 190, 14


def ask(server, query, start, end, step):
    text = urllib.parse.urlencode({"query": query, "start": start, "end": end, "step": step})
    with urllib.request.urlopen(f"{server}/api/v1/query_range?{text}", timeout=30) as answer:
        return json.load(answer)["data"]["result"]


def legend(template, labels):
    return re.sub(r"\{\{(\w+)\}\}", lambda match: labels.get(match.group(1), ""), template)


def shown(number, unit):
    if unit == "s" and 0 < number < 1:
        return f"{number * 1000:.3g} ms"
    return f"{number:.3g}" + (" s" if unit == "s" else "/s" if unit in ("ops", "reqps") else "")


def draw(panel, series, start, end, x, y):
    title, unit, _ = panel
    left, top, width, height = x + 52, y + 26, WIDTH - 62, HEIGHT - 72
    values = [value for _, points in series for _, value in points]
    most = max(values, default=0) or 1
    scale = 10 ** math.floor(math.log10(most))
    ceiling = next(factor * scale for factor in (1, 2, 5, 10) if factor * scale >= most)
    yield f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="#fff" stroke="#d5d9e0"/>'
    yield f'<text x="{x + 10}" y="{y + 17}" font-weight="600" fill="#22262e">{html.escape(title)}</text>'
    for part in range(3):
        level = top + height * part / 2
        yield f'<line x1="{left}" y1="{level}" x2="{left + width}" y2="{level}" stroke="#e8ebf0"/>'
        yield f'<text x="{left - 5}" y="{level + 4}" text-anchor="end" fill="#6d7582">{shown(ceiling * (2 - part) / 2, unit)}</text>'
    if not series:
        yield f'<text x="{left + width / 2}" y="{top + height / 2}" text-anchor="middle" fill="#9aa1ad">nothing to show</text>'
    across, down = left, top + height + 16
    for place, (name, points) in enumerate(series[:8]):
        colour = COLOURS[place % len(COLOURS)]
        path = " ".join(
            f"{left + width * (time - start) / (end - start):.1f},{top + height * (1 - value / ceiling):.1f}" for time, value in points)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.4"/>'
        needed = 18 + 6.2 * len(name)
        if across + needed > left + width and across > left:
            across, down = left, down + 13
        yield f'<rect x="{across}" y="{down - 8}" width="8" height="8" fill="{colour}"/>'
        yield f'<text x="{across + 12}" y="{down}" fill="#454b57">{html.escape(name)}</text>'
        across += needed


def main(server, start, end, target):
    start, end = float(start), float(end)
    step = max(1, round((end - start) / 150))
    parts, y = [], GAP
    for row, panels in dashboard.ROWS:
        parts.append(f'<text x="{GAP}" y="{y + 12}" font-size="14" font-weight="700" fill="#22262e">{html.escape(row)}</text>')
        y += 22
        for column, panel in enumerate(panels):
            series = []
            for template, query, *_ in panel[2]:
                for found in ask(server, query.replace(dashboard.RANGE, f"{max(10, 4 * step)}s"), start, end, step):
                    points = [(time, float(value)) for time, value in found["values"] if value != "NaN"]
                    if points:
                        series.append((legend(template, found["metric"]), points))
            parts += draw(panel, series, start, end, GAP + column * (WIDTH + GAP), y)
        y += HEIGHT + GAP
    width = 4 * (WIDTH + GAP) + GAP
    with open(target, "w") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" viewBox="0 0 {width} {y}" '
            f'font-family="DejaVu Sans, sans-serif" font-size="10"><rect width="{width}" height="{y}" fill="#f4f6f9"/>'
            + "\n".join(parts) + "</svg>\n")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])

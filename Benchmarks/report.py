"""The table, the JSON file and the pictures."""

import json
import os
import platform
import time

HEAD = ["measure", "unit", "ours", "yardstick", "ratio", "target", "spread", ""]


def table(measures):
    """Markdown, columns padded so that it reads in a terminal too."""
    rows = [HEAD] + [measure.row() for measure in measures]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|"] + lines[1:])


def write(measures, folder, kind):
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/figures.json", "w") as file:
        json.dump({
            "kind": kind, "date": time.strftime("%Y-%m-%d"), "processors": os.cpu_count(), "system": platform.release(),
            "measures": [measure.json() for measure in measures]}, file, indent=1, ensure_ascii=False)
        file.write("\n")
    with open(f"{folder}/figures.md", "w") as file:
        file.write(table(measures) + "\n")


WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 720, 300, 70, 50, 40


def picture(path, title, across, up, points, marks):
    """A line through `points` (x, y), as SVG; `marks` are (x, label) under the axis."""
    most_x, most_y = max(x for x, _ in points) or 1, max(y for _, y in points) or 1
    at = lambda x, y: (LEFT + x / most_x * (WIDTH - LEFT - 20), HEIGHT - BOTTOM - y / most_y * (HEIGHT - BOTTOM - TOP))
    path_text = " ".join(f"{'M' if i == 0 else 'L'}{at(x, y)[0]:.1f} {at(x, y)[1]:.1f}" for i, (x, y) in enumerate(points))
    label = lambda x, y, text, anchor="middle", size=12: (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{text}</text>')
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" fill="#333">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', label(LEFT, 22, title, "start", 15),
        label(WIDTH / 2, HEIGHT - 8, across), label(LEFT, TOP - 4, up, "start")]
    for share in (0, 0.5, 1):
        y = at(0, share * most_y)[1]
        parts += [f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>',
                  label(LEFT - 8, y + 4, f"{share * most_y:,.0f}", "end")]
    for x, text in marks:
        parts.append(label(at(x, 0)[0], HEIGHT - BOTTOM + 18, text))
    parts += [f'<path d="{path_text}" fill="none" stroke="#06c" stroke-width="2"/>', "</svg>"]
    with open(path, "w") as file:
        file.write("\n".join(parts) + "\n")


def latency(path, found, title):
    """How many of the times `found`, in ms, lie in each half millisecond, up to the 99.5th percentile."""
    last = sorted(found)[int(len(found) * 0.995)]
    width = 0.5
    counts = [0] * (int(last / width) + 1)
    for value in found:
        if value <= last:
            counts[int(value / width)] += 1
    marks = [(ms / width, f"{ms:.0f}") for ms in (last * share / 5 for share in range(6))]
    picture(path, title, "ms", "pushes in each half millisecond", list(enumerate(counts)), marks)


def throughput(path, progress, title):
    """Deliveries a second over time, in steps of half a second."""
    points, (then, before) = [(0, 0)], progress[0]
    for now, sent in progress[1:]:
        if now - then >= 0.5:
            points.append((now - progress[0][0], (sent - before) / (now - then)))
            then, before = now, sent
    marks = [(x, f"{x:.0f}") for x in [points[-1][0] * share / 4 for share in range(5)]]
    picture(path, title, "seconds", "deliveries a second", points, marks)

#!/usr/bin/env python3
"""Draws the pictures with which docs/reproduction.md begins, from docs/results/study-h200 with
matplotlib: charts of the reports there, some of their curves.

Usage: study_pictures.py
       writes docs/images/study-*.svg. Each holds its figures as text, which a test compares.
"""

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "lab"))

import charts  # noqa: E402
import points  # noqa: E402

STEPS = "naive|const|adaptive|Naive, GTX 960M|Constant, GTX 960M|Adaptive, GTX 960M|cpu"
# Of each picture: its name, the preset, the beginning of the chart's title, and the curves.
PICTURES = (
    ("images", "kth", "Time over the side of the image, filter 5x5, grey8", STEPS),
    ("roofline", "roofline", "Roofline of the GPU", "naive|const|adaptive|direct|tilefft|fft|roof.*"),
    ("crossover", "fft-map", "GPU: the fastest spatial implementation over the fastest by transforms, "
     "4096x4096, grey8", ".*"),
)


def chart_of(preset, title, curves):
    data = (SOURCE / f"docs/results/study-h200/{preset}.json").read_bytes()
    made = charts.Maker(points.read(data)).make()
    chart = next(c for c in made if c.title.startswith(title) and c.kind == "lines")
    chart.series = [s for s in chart.series if re.fullmatch(curves, s.name)]
    colours = dict.fromkeys(s.colour for s in chart.series if s.colour >= 0)
    new = {old: i for i, old in enumerate(colours)}  # those of other curves are free
    for series in chart.series:
        series.colour = new.get(series.colour, -1)
        series.mark = max(series.colour, 0)
    return chart


def figures(chart):
    """All points of a chart, one a line."""
    return "".join(f"{s.name}: {x:g} {y:.6g}\n" for s in chart.series for x, y, _ in s.dots)


def draw(chart, salt):
    import io

    import draw
    import matplotlib

    figure = draw.draw_lines(chart)
    lines = figure.axes[0].lines
    rows = -(-len(lines) // 2)
    figure.set_size_inches(420 / 72, (320 + 18 * rows) / 72)
    share = 320 / (320 + 18 * rows)
    left, low, width, height = figure.axes[0].get_position().bounds
    figure.axes[0].set_position((left, low * share, width, height * share))
    names = [series.name for series in chart.series]
    figure.legend(lines, names, loc="upper left", ncols=2, frameon=False, fontsize=11)
    file = io.StringIO()
    matplotlib.rcParams["svg.hashsalt"] = salt
    figure.savefig(file, format="svg", metadata={"Date": None}, facecolor="white")
    told = f'<desc id="figures">{figures(chart)}</desc>'.replace("&", "&amp;")
    return re.sub(r"(<svg[^>]*>)", lambda m: m[1] + told, file.getvalue(), count=1)


def main():
    for name, *which in PICTURES:
        image = draw(chart_of(*which), name)
        (SOURCE / f"docs/images/study-{name}.svg").write_text(image, encoding="utf-8")


if __name__ == "__main__":
    main()

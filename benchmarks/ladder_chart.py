#!/usr/bin/env python3
"""Draws docs/images/ladder.svg from docs/results with matplotlib: the published steps on a GPU and
gconv's own kernels, over the size of a square filter. Every figure comes from the results.

Usage: ladder_chart.py [--data] >docs/images/ladder.svg
       --data prints the times of the chart instead, one a line: PANEL NAME SIDE MICROSECONDS
Environment: DATA, a folder in the place of docs/results/study-h200, of which it reads squares.json,
rank1.json and ours.json.
"""

import io
import json
import os
import re
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "docs/results/study-h200"
SIDES = (3, 5, 9, 17, 31, 43)

# The curves of each panel, from slow to fast: name, colour, width. Colours that people with colour
# blindness can tell apart (Okabe and Ito).
FASTEST = "direct,tensor,tilefft"  # of gconv's kernels for any weights the fastest counts
CURVES = (
    {
        "naive": ("#56b4e9", 1.8),
        "const": ("#999999", 1.8),
        "tiled": ("#009e73", 1.8),
        "adaptive": ("#0072b2", 1.8),
        "adaptive:unrolled": ("#cc79a7", 1.8),
        FASTEST: ("#d55e00", 3.5),
    },
    {
        "adaptive": ("#0072b2", 1.8),
        "twopass:lecture": ("#56b4e9", 1.8),
        "twopass:transposed": ("#999999", 1.8),
        "twopass": ("#009e73", 1.8),
        "twopass:tiled": ("#cc79a7", 1.8),
        "separable": ("#d55e00", 3.5),
    },
)


def measured():
    """Microseconds by panel, curve and side."""
    times = {}
    for name, panel in (("squares", 0), ("rank1", 1), ("ours", 0)):
        text = (Path(os.environ.get("DATA") or DATA) / f"{name}.json").read_text(encoding="utf-8")
        for row in json.loads(text)["results"]:
            curve = FASTEST if name == "ours" and row["name"] in FASTEST.split(",") else row["name"]
            key = panel, curve, row.get("filter_width")
            measured = row.get("kernel_seconds") and bool(row.get("rank1")) == bool(panel)
            if curve in CURVES[panel] and key[2] in SIDES and measured:
                times[key] = min(1e6 * row["kernel_seconds"], times.get(key, float("inf")))
    return times


def draw(times, data):
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

    matplotlib.rcdefaults()
    matplotlib.rcParams.update({"font.size": 12, "svg.fonttype": "none", "svg.hashsalt": "gconv"})
    figure = Figure(figsize=(940 / 72, 470 / 72))
    panels = figure.subplots(1, 2)
    figure.subplots_adjust(0.065, 0.12, 0.99, 0.8, 0.14)
    title = "A filter on an image of 4096 x 4096 with 8 bits, NVIDIA H200"
    figure.text(0.02, 0.93, title, fontsize=17, fontweight="bold")
    unit = "microseconds on the GPU, from samples to samples, logarithmic: the lower the better"
    figure.text(0.02, 0.88, unit)
    for i, (ax, name) in enumerate(zip(panels, ("Any weights", "A column times a row (rank 1)"))):
        for curve, (colour, width) in CURVES[i].items():
            dots = sorted((k[2], time) for k, time in times.items() if k[:2] == (i, curve))
            label = "fastest of direct, tensor, tilefft" if curve == FASTEST else curve
            ax.plot(*zip(*dots), "o-", color=colour, linewidth=width, markersize=4, label=label)
        ax.set(xscale="log", yscale="log", xlim=(2.7, 48), ylim=(20, 30000))
        ax.set_xlabel("side of the square filter in pixels")
        ax.set_title(name, fontsize=14, fontweight="bold")
        for axis, ticks in (
            (ax.xaxis, (3, 5, 9, 17, 31, 43)),
            (ax.yaxis, (30, 100, 300, 1000, 3000, 10000)),
        ):
            axis.set_major_locator(FixedLocator(ticks))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(ScalarFormatter())
        ax.grid(True, axis="y", color="#e5e5e5")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="upper left", frameon=False, handlelength=1.6)
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    # What a screen reader says, and the figures for those who look into the file.
    told = (
        "<title>Time of the published steps and of gconv over the size of the filter</title>\n"
        f'<desc id="figures">{data}</desc>\n'
    )
    svg = re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", "", file.getvalue(), flags=re.S)
    svg = re.sub(r"font: (\w+ )?([\d.]+)px [^;\"]*", r"font: \1\2px sans-serif", svg)
    svg = re.sub(r'(width|height)="([\d.]+)pt"', r'\1="\2"', svg, count=2)
    start = svg.index(">", svg.index("<svg")) + 1
    return svg[svg.index("<svg") : start] + "\n" + told + svg[start:].lstrip()


def main():
    times = measured()
    lines = (
        f"{panel + 1} {name} {side} {time:.1f}"
        for (panel, name, side), time in sorted(times.items())
    )
    data = "\n".join(lines)
    if sys.argv[1:] not in ([], ["--data"]):
        sys.exit(__doc__)
    print(data if sys.argv[1:] else draw(times, data), end="\n" if sys.argv[1:] else "")


main()

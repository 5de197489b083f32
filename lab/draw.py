"""Makes an SVG image of a chart with matplotlib. Its colours follow the theme of the page."""

import io
import math
import re
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle
from matplotlib.ticker import LogLocator

STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
LIGHT = dict(re.findall(r"--(\w+):(#\w+)", STYLE.partition("@media")[0]))  # colours by name
INK, QUIET, LINE, PAPER = (LIGHT[name] for name in ("ink", "quiet", "line", "paper"))
MARKS = "os^DvpXP"  # by colour
LETTERS = 3 * "abcdefghijklmnopqrstuvwxyz"  # of classes

# From low to high. The colours of ratios go from blue by near-white to orange: below 1, 1, above 1.
RATIOS = LinearSegmentedColormap.from_list(
    "ratios", "#08457e #3f7fb8 #93bfdd #f2f0ea #f0b27a #cf6f1e #7f3b08".split()
)
VALUES = matplotlib.colormaps["cividis"]  # readers with colour blindness see it like others

WIDTH = 420  # units of an image, in which text is 13 high: legible on a telephone
matplotlib.rcdefaults()  # none of the user's settings
matplotlib.rcParams.update(
    {
        **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), QUIET),
        **dict.fromkeys(("axes.labelcolor", "text.color"), INK),
        **dict.fromkeys(("xtick.labelcolor", "ytick.labelcolor"), INK),
        **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
        **{"grid.color": LINE, "grid.linewidth": 0.8, "axes.linewidth": 1, "axes.axisbelow": True},
        **{"font.size": 13, "svg.fonttype": "none", "lines.markersize": 5},
    }
)


def colour_name(index):
    return "ink" if index < 0 else f"s{index % 8}"


def paint(index):
    return LIGHT[colour_name(index)]


def mark_path(index):
    """A mark about (15, 6), in the words of SVG."""
    mark = MarkerStyle(MARKS[index])
    corners = mark.get_path().to_polygons(mark.get_transform().scale(9, -9).translate(15, 6))[0]
    return "M" + " ".join(f"{x:.1f} {y:.1f}" for x, y in corners[:-1]) + "z"


def dashes_of(series):
    """None: whole lines. Colours begin again with dashes."""
    if series.role == "published":
        return (4, 3)
    return (None, (2, 2), (8, 2, 2, 2))[min(max(series.colour, 0) // 8, 2)]


def begin(height, left=80, right=10):
    """A figure with room for labels. Layouts of matplotlib take longer than all the rest."""
    figure = Figure(figsize=(WIDTH / 72, height / 72))
    place = left / WIDTH, 50 / height, (WIDTH - left - right) / WIDTH, (height - 62) / height
    return figure, figure.add_axes(place)


def finish(figure, salt, title):
    """The image as an element of a page. Colours become properties; of identifiers only those stay
    that something names, and the salt makes them differ from those of other images."""
    file = io.StringIO()
    for area in (figure, *figure.axes):
        area.patch.set_visible(False)
    matplotlib.rcParams["svg.hashsalt"] = salt
    figure.savefig(file, format="svg", metadata={"Date": None})
    svg = file.getvalue().partition("<svg")[2].replace("xlink:href", "href")
    svg = re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", "", svg, flags=re.S)
    used = set(re.findall(r'#([^"#)]+)["\)]', svg))
    svg = re.sub(r' id="([^"]*)"', lambda match: match[0] if match[1] in used else "", svg)
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    for name, light in LIGHT.items():
        svg = svg.replace(light, f"var(--{name})")
    head = re.search(r'viewBox="[^"]*"', svg)[0]
    return f'<svg role="img" {head}><title>{title}</title>' + svg[svg.index(">") + 1 :].strip()


# ---- Axes ----


def set_texts(axis, texts):
    """Ticks at numbers, with these texts."""
    axis.set_ticks(list(texts), labels=texts.values())
    axis.set_ticks([], minor=True)


def set_ticks(axis, ticks, place):
    """Ticks with numbers, but where one would touch the number before it. `place`: where a tick
    stands, on a scale of its own."""
    texts, free = {}, -math.inf
    scale = (WIDTH - 110) / max(place(ticks[-1]) - place(ticks[0]), 1e-9)
    for tick in ticks:
        text = f"{tick:.10g}"
        half = 4.5 * len(text) + 2
        texts[tick] = text if place(tick) * scale - half >= free else ""
        free = place(tick) * scale + half if texts[tick] else free
    set_texts(axis, texts)


def set_log(ax, name, values):
    """Ticks at 1, 2 and 5 times powers of ten; at powers of ten alone if these are many."""
    low, high = min(values) / 1.25, max(values) * 1.25
    ax.set(**{f"{name}scale": "log", f"{name}lim": (low, high)})
    axis = getattr(ax, name + "axis")
    axis.set_major_locator(LogLocator(subs=(1,) if high > 1000 * low else (1, 2, 5), numticks=99))
    axis.set_major_formatter("{x:.10g}")
    axis.set_ticks([], minor=True)


def draw_lines(chart):
    figure, ax = begin(320)
    for series in chart.series:
        x, y, bars = zip(*series.dots)
        dashes, colour = dashes_of(series), paint(series.colour)
        marker = "" if series.role == "limit" else MARKS[series.mark]
        style = "" if series.role == "marks" else (0, dashes) if dashes else "-"
        hollow = {"markerfacecolor": PAPER, "markersize": 6} if series.role == "published" else {}
        ax.plot(x, y, color=colour, linestyle=style, linewidth=1.6, marker=marker, **hollow)
        for at, bar in zip(x, bars):
            if bar:
                ax.vlines(at, *bar, colors=colour, linewidth=1)
    xs, ys, bars = zip(*chart.dots)
    ys += sum(filter(None, bars), ())
    x_log = "x" in chart.log
    if x_log:
        set_log(ax, "x", xs)
    own = [s for s in chart.series if x_log or s.role != "published"]
    ticks = sorted({dot[0] for s in own for dot in s.dots})
    if chart.own_ticks and len(ticks) <= 24:
        set_ticks(ax.xaxis, ticks, math.log if x_log else float)
    if "y" in chart.log:
        set_log(ax, "y", ys)
    else:
        ax.set_ylim(0, 1.05 * max(ys))
    ax.grid(True)
    ax.set(xlabel=chart.x_label, ylabel=chart.label)
    return figure


def draw_rows(chart):
    """The name above its bar: long names fit there."""
    figure, ax = begin(62 + 38 * len(chart.rows), left=12)
    longest = max(max(value, *(whisker or (0,))) for _, _, value, whisker in chart.rows)
    for i, (name, colour, value, whisker) in enumerate(chart.rows):
        ax.barh(i, value, 0.4, color=paint(colour), alpha=0.6)
        ax.text(0, i - 0.27, name, va="bottom")
        if whisker:
            ax.hlines(i, *whisker, colors=INK, linewidth=1)
        end = whisker[1] if whisker else value
        digits = 3 if value < 10 else 1 if value < 1000 else 0
        ax.text(end + 0.01 * longest, i, f"{value:.{digits}f}", va="center")
    ax.set(ylim=(len(chart.rows) - 0.6, -0.9), xlim=(0, 1.18 * longest), xlabel=chart.label)
    ax.set_yticks([])
    ax.locator_params(axis="x", nbins=5)
    ax.grid(True, axis="x")
    return figure


# ---- Cells ----


def begin_cells(chart):
    """Each column and row has the same size, whatever lies between their numbers."""
    figure, ax = begin(370, right=10 if chart.kind == "classes" else 88)
    for axis, numbers in ((ax.xaxis, chart.widths), (ax.yaxis, chart.heights)):
        every = 1 + (len(numbers) - 1) // 12
        set_texts(axis, {i: str(numbers[i]) for i in range(0, len(numbers), every)})
    ax.set(xlabel="width of the filter (weights)", ylabel="height of the filter (weights)")
    ax.spines[:].set_visible(False)
    return figure, ax


def places(chart):
    """Column and row of each cell, and its value."""
    for (x, y), value in chart.cells.items():
        yield chart.widths.index(x), chart.heights.index(y), value


def fill(chart):
    """Values of all cells. One that was not measured has that of the nearest one, by shares of all
    columns and rows."""
    x, y, values = zip(*places(chart))
    height, width = len(chart.heights), len(chart.widths)
    rows, columns = np.indices((height, width))[..., None]
    nearest = (((columns - x) / width) ** 2 + ((rows - y) / height) ** 2).argmin(-1)
    return np.array(values, float)[nearest]


def scale_of(chart):
    """What turns values into shades, the colours of shades, and ticks; None: those of
    matplotlib."""
    known = [value for value in chart.cells.values() if value is not None]
    low, high = min(known), max(known)
    if chart.kind == "rates":
        return Normalize(0, chart.value_max), VALUES, None
    if chart.kind == "factors":
        ticks = range(int(low), int(high) + 1, 1 + int(high - low) // 16)
        return Normalize(low, max(high, low + 1)), VALUES, ticks
    end = max(1 / low, high, 1.25)
    step = math.ceil(math.log2(end) / 4)
    powers = [2.0 ** (step * i) for i in range(-4, 5)]
    ticks = powers if end > 2.8 else (0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2)
    return LogNorm(1 / end, end), RATIOS, [tick for tick in ticks if 1 / end <= tick <= end]


def draw_surface(chart):
    figure, ax = begin_cells(chart)
    norm, colours, ticks = scale_of(chart)
    style = {"aspect": "auto", "interpolation": "none", "origin": "lower"}
    image = ax.imshow(fill(chart), colours, norm, **style)
    bar = figure.colorbar(image, cax=ax.inset_axes([1.04, 0, 0.05, 1]))
    bar.solids.set_rasterized(True)
    bar.outline.set_visible(False)
    bar.set_label(chart.label if len(chart.label) <= 34 else "times as fast")
    if ticks:
        set_texts(bar.ax.yaxis, {tick: f"{tick:.3g}" for tick in ticks})
    columns = len(chart.widths)
    known = [(x, y, value) for x, y, value in places(chart) if value is not None]
    if columns <= (24 if chart.kind == "factors" else 12):
        style = {"fontsize": 11 if columns <= 12 else 9, "ha": "center", "va": "center"}
        for x, y, value in known:
            red, green, blue, _ = colours(norm(value))
            light = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.18
            text = f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"
            ax.text(x, y, text, color="#111111" if light else "#fffffe", **style)
    elif chart.has_gaps:
        x, y, _ = zip(*known)
        ax.scatter(x, y, s=6, c=PAPER, edgecolors=INK, linewidths=0.6)
    return figure


# Corners about a point, and a gap behind them.
SQUARE = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (np.nan, np.nan)])


def draw_classes(chart):
    """Cells of each class in its colour, with its letter."""
    figure, ax = begin_cells(chart)
    for letter, (name, colour) in zip(LETTERS, chart.colours.items()):
        cells = np.array([(x, y) for x, y, value in places(chart) if value == name])
        for x, y in cells:
            ax.text(x, y, letter, ha="center", va="center", fontsize=10)
        squares = (cells[:, None] + SQUARE).reshape(-1, 2)  # one path of all
        ax.fill(*squares.T, color=paint(colour), alpha=0.4, linewidth=0)
    ax.set(xlim=(-0.5, len(chart.widths) - 0.5), ylim=(-0.5, len(chart.heights) - 0.5))
    return figure


DRAWERS = {"lines": draw_lines, "rows": draw_rows, "classes": draw_classes}


def draw(chart, salt, title):
    """The chart as an element <svg>. `title` is what a screen reader says, escaped."""
    return finish(DRAWERS.get(chart.kind, draw_surface)(chart), salt, title)

"""Makes an SVG image of a chart with matplotlib. Its colours follow the theme of the page."""

import io
import math
import re

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from charts import Cells, Rows

# Colours of series: light, dark. In each theme any two differ for readers with protanopia,
# deuteranopia and tritanopia too (by 10 in OKLab, after the simulation of Machado et al. 2009), and
# each has a contrast of 3 to 1 and more to the page.
THEME = {
    "s0": ("#0072b2", "#5ab4f0"),
    "s1": ("#b98404", "#f4f043"),
    "s2": ("#760601", "#f63915"),
    "s3": ("#239d8c", "#1ffddf"),
    "s4": ("#e939fc", "#da388e"),
    "s5": ("#022d84", "#6670f3"),
    "s6": ("#666707", "#e5b06b"),
    "s7": ("#1606de", "#e181a7"),
    "ink": ("#1a1a19", "#f0efec"),
    "quiet": ("#5c5b57", "#b3b1ab"),
    "line": ("#dedcd7", "#3b3a38"),
    "paper": ("#fffffd", "#161615"),
}
INK, QUIET, LINE, PAPER = (THEME[name][0] for name in ("ink", "quiet", "line", "paper"))
MARKS = "os^DvpXP"  # by colour

# From low to high. The colours of ratios go from blue by near-white to orange: below 1, 1, above 1.
RATIOS = LinearSegmentedColormap.from_list(
    "ratios", ["#08457e", "#3f7fb8", "#93bfdd", "#f2f0ea", "#f0b27a", "#cf6f1e", "#7f3b08"]
)
# Those of cividis (Nuñez et al. 2018), which readers with colour blindness see like others.
VALUES = LinearSegmentedColormap.from_list(
    "values",
    ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369"]
    + ["#e1cc55", "#fee838"],
)

WIDTH = 420  # units of an image, in which text is 13 high: legible on a telephone
STYLE = {
    "font.size": 13,
    "svg.fonttype": "none",
    "svg.hashsalt": "gconv",
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.linewidth": 1,
    "grid.color": LINE,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.markersize": 5,
}
matplotlib.rcdefaults()  # none of the user's settings
matplotlib.rcParams.update(STYLE)


def colour_name(index):
    return "ink" if index < 0 else f"s{index % 8}"


def dashes_of(series):
    """None: whole lines. Colours begin again with dashes."""
    if series.role == "published":
        return (4, 3)
    return (2, 2) if series.colour >= 8 else None


def begin(height, left=80, right=10):
    """A figure with room for labels. Layouts of matplotlib take longer than all the rest."""
    figure = Figure(figsize=(WIDTH / 72, height / 72))
    ax = figure.add_axes(
        [left / WIDTH, 50 / height, (WIDTH - left - right) / WIDTH, (height - 62) / height]
    )
    return figure, ax


def finish(figure, prefix, title):
    """The image as an element of a page. Identifiers get a prefix, colours become properties."""
    file = io.StringIO()
    for area in (figure, *figure.axes):
        area.patch.set_visible(False)
    figure.savefig(file, format="svg", metadata={"Date": None})
    svg = file.getvalue()
    svg = re.sub(
        r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", "", svg[svg.index("<svg") :], flags=re.S
    )
    used = set(re.findall(r'#([^"#)]+)["\)]', svg))
    svg = re.sub(r' id="([^"]*)"', lambda m: f' id="{prefix}{m[1]}"' if m[1] in used else "", svg)
    svg = re.sub(r'(xlink:href="#|url\(#)', rf"\1{prefix}", svg).replace("xlink:href", "href")
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    for name, (light, _) in THEME.items():
        svg = svg.replace(light, f"var(--{name})")
    head = re.search(r'viewBox="[^"]*"', svg)[0]
    return f'<svg role="img" {head}><title>{title}</title>' + svg[svg.index(">") + 1 :].strip()


# ---- Axes ----


def set_log(ax, axis, values):
    """Ticks at 1, 2 and 5 times powers of ten; at powers of ten alone if these are many."""
    low, high = min(values) / 1.25, max(values) * 1.25
    few = math.log10(high / low) > 3
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [m * 10.0**p for p in powers for m in ((1,) if few else (1, 2, 5))]
    getattr(ax, f"set_{axis}scale")("log")
    getattr(ax, f"set_{axis}lim")(low, high)
    set_ticks(getattr(ax, axis + "axis"), [t for t in ticks if low <= t <= high])


def set_ticks(axis, ticks, room=0, place=float):
    """Ticks with numbers, but where one would touch the number before it. `room`: of the axis, in
    units of the image; `place`: where a tick stands, on a scale of its own."""
    shown, free = set(), -math.inf
    scale = room / max(place(ticks[-1]) - place(ticks[0]), 1e-9) if ticks else 0
    for tick in ticks:
        half = 4.5 * len(f"{tick:.10g}") + 2 if room else 0
        if place(tick) * scale - half >= free:
            shown.add(tick)
            free = place(tick) * scale + half
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.10g}" if v in shown else ""))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def draw_lines(chart):
    figure, ax = begin(320)
    for series in chart.series:
        x, y = [dot[0] for dot in series.dots], [dot[1] for dot in series.dots]
        colour, dashes = THEME[colour_name(series.colour)][0], dashes_of(series)
        style = {
            "color": colour,
            "linestyle": (0, dashes) if dashes else "-",
            "linewidth": 1.4 if series.role in ("limit", "published") else 1.8,
            "marker": "" if series.role == "limit" else MARKS[series.mark],
        }
        if series.role == "marks":
            style["linestyle"] = ""
        if series.role == "published":
            style.update(markerfacecolor=PAPER, markersize=6)
        ax.plot(x, y, **style)
        bars = [(dot[0], *dot[2]) for dot in series.dots if dot[2]]
        if bars:
            ax.vlines(*zip(*bars), colors=colour, linewidth=1)
    dots = [dot for series in chart.series for dot in series.dots]
    xs, ys = [dot[0] for dot in dots], [dot[1] for dot in dots]
    ys += [end for dot in dots if dot[2] for end in dot[2]]
    if chart.x_log:
        set_log(ax, "x", xs)
    if chart.own_ticks:
        own = [s for s in chart.series if chart.x_log or s.role != "published"]
        ticks = sorted({dot[0] for s in own for dot in s.dots})
        set_ticks(ax.xaxis, ticks, WIDTH - 110, math.log if chart.x_log else float)
    if chart.y_log:
        set_log(ax, "y", ys)
    else:
        ax.set_ylim(0, 1.05 * max(ys))
    ax.grid(True)
    ax.set(xlabel=chart.x_label, ylabel=chart.y_label)
    return figure


def draw_rows(chart):
    """The name above its bar: long names fit there."""
    figure, ax = begin(62 + 38 * len(chart.rows), left=12)
    longest = max(max(value, *(whisker or (0,))) for _, _, value, whisker in chart.rows)
    for i, (name, colour, value, whisker) in enumerate(chart.rows):
        ax.barh(i, value, 0.4, color=THEME[colour_name(colour)][0], alpha=0.6)
        ax.text(0, i - 0.27, name, va="bottom")
        if whisker:
            ax.hlines(i, *whisker, colors=INK, linewidth=1)
        end = whisker[1] if whisker else value
        digits = 3 if value < 10 else 1 if value < 1000 else 0
        ax.text(end + 0.01 * longest, i, f"{value:.{digits}f}", va="center")
    ax.set_ylim(len(chart.rows) - 0.6, -0.9)
    ax.set_xlim(0, 1.18 * longest)
    ax.yaxis.set_major_locator(NullLocator())
    ax.locator_params(axis="x", nbins=5)
    ax.grid(True, axis="x")
    ax.set_xlabel(chart.x_label)
    return figure


# ---- Cells ----


def begin_cells(chart):
    """Each column and row has the same size, whatever lies between their numbers."""
    figure, ax = begin(370, right=10 if chart.kind == "classes" else 88)
    for axis, numbers in ((ax.xaxis, chart.columns), (ax.yaxis, chart.rows)):
        every = 1 + (len(numbers) - 1) // 12
        axis.set_major_locator(FixedLocator(range(0, len(numbers), every)))
        axis.set_major_formatter(FuncFormatter(lambda v, _, all=numbers: str(all[int(v)])))
    ax.set(xlabel="width of the filter (weights)", ylabel="height of the filter (weights)")
    ax.spines[:].set_visible(False)
    return figure, ax


def places(chart):
    """Column and row of each cell, and its value."""
    for (x, y), value in chart.cells.items():
        yield chart.columns.index(x), chart.rows.index(y), value


def fill(chart, shade):
    """Shades of all cells. One that was not measured has that of the nearest one, by shares of all
    columns and rows."""
    height, width = len(chart.rows), len(chart.columns)
    measured = list(places(chart))
    at = {(x, y): value for x, y, value in measured}
    image = np.full((height, width), np.nan)
    for y in range(height):
        for x in range(width):
            if (x, y) not in at:
                near = min(
                    measured, key=lambda c: ((c[0] - x) / width) ** 2 + ((c[1] - y) / height) ** 2
                )
                at[x, y] = near[2]
            if at[x, y] is not None:
                image[y, x] = shade(at[x, y])
    return image


def scale_of(chart, image):
    """First and last shade, colours, and ticks of a scale."""
    low, high = np.nanmin(image), np.nanmax(image)
    if chart.kind == "ratios":
        end = max(abs(low), abs(high), math.log2(1.25))
        step = math.ceil(end / 4)
        powers = range(-int(end / step) * step, int(end) + 1, step)
        ticks = [(i, f"1/{2**-i}" if i < 0 else f"{2**i}") for i in powers]
        if end <= 1.5:
            near = (0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2)
            ticks = [(math.log2(t), f"{t:g}") for t in near if abs(math.log2(t)) <= end]
        return -end, end, RATIOS, ticks
    if chart.kind == "rates":
        return 0, chart.value_max or high, VALUES, None
    step = 1 + int(high - low) // 16
    ticks = [(t, f"{t}") for t in range(int(low), int(high) + 1, step)]
    return low, max(high, low + 1), VALUES, ticks


def draw_scale(ax, low, high, colours, ticks, label):
    bar = ax.inset_axes([1.04, 0, 0.05, 1])
    bar.imshow(
        np.linspace(low, high, 64)[:, None],
        cmap=colours,
        origin="lower",
        aspect="auto",
        extent=(0, 1, low, high),
        interpolation="none",
    )
    bar.xaxis.set_major_locator(NullLocator())
    bar.yaxis.tick_right()
    bar.yaxis.set_label_position("right")
    bar.set_ylabel(label if len(label) <= 34 else "times as fast")
    bar.spines[:].set_visible(False)
    if ticks:
        bar.yaxis.set_major_locator(FixedLocator([tick for tick, _ in ticks]))
        texts = dict(ticks)
        bar.yaxis.set_major_formatter(FuncFormatter(lambda v, _: texts.get(v, "")))


def draw_surface(chart):
    shade = math.log2 if chart.kind == "ratios" else float
    figure, ax = begin_cells(chart)
    image = fill(chart, shade)
    low, high, colours, ticks = scale_of(chart, image)
    ax.imshow(
        image,
        cmap=colours,
        vmin=low,
        vmax=high,
        origin="lower",
        aspect="auto",
        interpolation="none",
    )
    draw_scale(ax, low, high, colours, ticks, chart.value_label)
    room = 24 if chart.kind == "factors" else 12
    known = [(x, y, value) for x, y, value in places(chart) if value is not None]
    if len(chart.columns) <= room:
        for x, y, value in known:
            red, green, blue, _ = colours((shade(value) - low) / (high - low))
            light = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.18
            text = f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"
            size = 11 if len(chart.columns) <= 12 else 9
            ink = "#111111" if light else "#fffffe"
            ax.text(x, y, text, ha="center", va="center", fontsize=size, color=ink)
    elif chart.has_gaps:
        x, y, _ = zip(*known)
        ax.scatter(x, y, s=6, c=PAPER, edgecolors=INK, linewidths=0.6)
    return figure


def draw_classes(chart):
    """Cells of each class in its colour, with its letter."""
    figure, ax = begin_cells(chart)
    for letter, (name, colour) in zip("abcdefghijklmnopqrstuvwxyz" * 3, chart.colours.items()):
        boxes = []
        for x, y, value in places(chart):
            if value == name:
                boxes.append(
                    Path.unit_rectangle().transformed(
                        matplotlib.transforms.Affine2D().translate(x - 0.5, y - 0.5)
                    )
                )
                ax.text(x, y, letter, ha="center", va="center", fontsize=10)
        path = Path.make_compound_path(*boxes)
        fill_colour = THEME[colour_name(colour)][0]
        ax.add_patch(PathPatch(path, facecolor=fill_colour, alpha=0.4, linewidth=0))
    ax.set_xlim(-0.5, len(chart.columns) - 0.5)
    ax.set_ylim(-0.5, len(chart.rows) - 0.5)
    return figure


def draw(chart, prefix, title):
    """The chart as an element <svg>. `title` is what a screen reader says, escaped."""
    if isinstance(chart, Rows):
        figure = draw_rows(chart)
    elif not isinstance(chart, Cells):
        figure = draw_lines(chart)
    else:
        figure = draw_classes(chart) if chart.kind == "classes" else draw_surface(chart)
    return finish(figure, prefix, title)

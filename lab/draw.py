"""Makes an SVG image of a chart with matplotlib. Its colours follow the theme of the page."""

import io
import math
import re

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

# Colours of series: light, dark. In each theme any two differ for readers with protanopia,
# deuteranopia and tritanopia too (by 10 in OKLab, after the simulation of Machado et al. 2009), and
# each has a contrast of 3 to 1 and more to the page.
NAMES = "s0 s1 s2 s3 s4 s5 s6 s7 ink quiet line paper".split()
LIGHT = """#0072b2 #b98404 #760601 #239d8c #e939fc #022d84 #666707 #1606de
    #1a1a19 #5c5b57 #dedcd7 #fffffd""".split()
DARK = """#5ab4f0 #f4f043 #f63915 #1ffddf #da388e #6670f3 #e5b06b #e181a7
    #f0efec #b3b1ab #3b3a38 #161615""".split()
THEME = dict(zip(NAMES, zip(LIGHT, DARK)))
INK, QUIET, LINE, PAPER = (THEME[name][0] for name in ("ink", "quiet", "line", "paper"))
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
    return THEME[colour_name(index)][0]


def mark_path(index):
    """A mark about (15, 6), in the words of SVG."""
    mark = MarkerStyle(MARKS[index])
    corners = mark.get_path().to_polygons(mark.get_transform().scale(9, -9).translate(15, 6))[0]
    return "M" + " ".join(f"{x:.1f} {y:.1f}" for x, y in corners[:-1]) + "z"


def dashes_of(series):
    """None: whole lines. Colours begin again with dashes."""
    if series.role == "published":
        return (4, 3)
    return (2, 2) if series.colour >= 8 else None


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
    for name, (light, _) in THEME.items():
        svg = svg.replace(light, f"var(--{name})")
    head = re.search(r'viewBox="[^"]*"', svg)[0]
    return f'<svg role="img" {head}><title>{title}</title>' + svg[svg.index(">") + 1 :].strip()


# ---- Axes ----


def set_texts(axis, texts):
    """Ticks at numbers, with these texts."""
    axis.set_major_locator(FixedLocator(list(texts)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: texts.get(value, "")))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def set_ticks(axis, ticks, room, place):
    """Ticks with numbers, but where one would touch the number before it. `room`: of the axis, in
    units of the image; `place`: where a tick stands, on a scale of its own."""
    texts, free = {}, -math.inf
    scale = room / max(place(ticks[-1]) - place(ticks[0]), 1e-9)
    for tick in ticks:
        text = f"{tick:.10g}"
        half = 4.5 * len(text) + 2
        texts[tick] = text if place(tick) * scale - half >= free else ""
        free = place(tick) * scale + half if texts[tick] else free
    set_texts(axis, texts)


def set_log(ax, axis, values):
    """Ticks at 1, 2 and 5 times powers of ten; at powers of ten alone if these are many."""
    low, high = min(values) / 1.25, max(values) * 1.25
    steps = (1,) if math.log10(high / low) > 3 else (1, 2, 5)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [m * 10.0**p for p in powers for m in steps if low <= m * 10.0**p <= high]
    ax.set(**{f"{axis}scale": "log", f"{axis}lim": (low, high)})
    set_texts(getattr(ax, axis + "axis"), {tick: f"{tick:.10g}" for tick in ticks})


def draw_lines(chart):
    figure, ax = begin(320)
    for series in chart.series:
        x, y, bars = zip(*series.dots)
        dashes, is_limit = dashes_of(series), series.role == "limit"
        hollow = {"markerfacecolor": PAPER, "markersize": 6} if series.role == "published" else {}
        ax.plot(
            *(x, y),
            color=paint(series.colour),
            linestyle="" if series.role == "marks" else (0, dashes) if dashes else "-",
            linewidth=1.4 if is_limit or hollow else 1.8,
            marker="" if is_limit else MARKS[series.mark],
            **hollow,
        )
        whiskers = [(at, *bar) for at, bar in zip(x, bars) if bar]
        if whiskers:
            ax.vlines(*zip(*whiskers), colors=paint(series.colour), linewidth=1)
    xs, ys, bars = zip(*chart.dots)
    ys += sum(filter(None, bars), ())
    x_log = "x" in chart.log
    if x_log:
        set_log(ax, "x", xs)
    if chart.own_ticks:
        own = [s for s in chart.series if x_log or s.role != "published"]
        ticks = sorted({dot[0] for s in own for dot in s.dots})
        set_ticks(ax.xaxis, ticks, WIDTH - 110, math.log if x_log else float)
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
    ax.yaxis.set_major_locator(NullLocator())
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


def fill(chart, shade):
    """Shades of all cells. One that was not measured has that of the nearest one, by shares of all
    columns and rows."""
    x, y, values = zip(*places(chart))
    shades = np.array([np.nan if value is None else shade(value) for value in values])
    height, width = len(chart.heights), len(chart.widths)
    rows, columns = np.indices((height, width))[..., None]
    return shades[(((columns - x) / width) ** 2 + ((rows - y) / height) ** 2).argmin(-1)]


def scale_of(chart, image):
    """First and last shade, colours, and ticks of a scale; None: those of matplotlib."""
    low, high = np.nanmin(image), np.nanmax(image)
    if chart.kind == "rates":
        return 0, chart.value_max or high, VALUES, None
    if chart.kind == "factors":
        step = 1 + int(high - low) // 16
        ticks = {tick: f"{tick}" for tick in range(int(low), int(high) + 1, step)}
        return low, max(high, low + 1), VALUES, ticks
    end = max(abs(low), abs(high), math.log2(1.25))
    if end <= 1.5:
        near = (0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2)
        return -end, end, RATIOS, {math.log2(t): f"{t:g}" for t in near if abs(math.log2(t)) <= end}
    step = math.ceil(end / 4)
    powers = range(-int(end / step) * step, int(end) + 1, step)
    return -end, end, RATIOS, {i: f"1/{2**-i}" if i < 0 else f"{2**i}" for i in powers}


def draw_image(ax, image, colours, **more):
    ax.imshow(image, colours, origin="lower", aspect="auto", interpolation="none", **more)


def draw_scale(ax, low, high, colours, ticks, label):
    bar = ax.inset_axes([1.04, 0, 0.05, 1])
    draw_image(bar, np.linspace(low, high, 64)[:, None], colours, extent=(0, 1, low, high))
    bar.xaxis.set_major_locator(NullLocator())
    bar.yaxis.tick_right()
    bar.yaxis.set_label_position("right")
    bar.set_ylabel(label if len(label) <= 34 else "times as fast")
    bar.spines[:].set_visible(False)
    if ticks:
        set_texts(bar.yaxis, ticks)


def draw_surface(chart):
    shade = math.log2 if chart.kind == "ratios" else float
    figure, ax = begin_cells(chart)
    image = fill(chart, shade)
    low, high, colours, ticks = scale_of(chart, image)
    draw_image(ax, image, colours, vmin=low, vmax=high)
    draw_scale(ax, low, high, colours, ticks, chart.label)
    columns = len(chart.widths)
    known = [(x, y, value) for x, y, value in places(chart) if value is not None]
    if columns <= (24 if chart.kind == "factors" else 12):
        for x, y, value in known:
            red, green, blue, _ = colours((shade(value) - low) / (high - low))
            light = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.18
            text = f"{value:.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"
            style = {"fontsize": 11 if columns <= 12 else 9, "ha": "center", "va": "center"}
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

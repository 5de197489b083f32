"""Which charts fit the points of a study, as data: draw.py makes images of them."""

import csv
import itertools
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).parent
NOTES = {
    name: " ".join(words)
    for paragraph in (HERE / "notes.txt").read_text(encoding="utf-8").split("\n\n")[1:]
    for name, *words in [paragraph.replace(":", "", 1).split()]
}
SQUARES = "side of the square filter (weights)"


def sides_of(sizes):
    """All widths and all heights."""
    return [sorted({size[i] for size in sizes}) for i in (0, 1)]


@dataclass
class Series:
    name: str
    role: str  # "measured": marks, joined; "marks"; "published": hollow marks; "limit": a line
    colour: int  # from 0 on; -1: that of text
    mark: int
    dots: list = field(default_factory=list)  # of x, y, and the quartiles of y or None


@dataclass
class Chart:
    """Of a kind: "lines", values over a number; "rows", a bar for each name; or cells, values over
    width and height of filters: "rates", "ratios", whose colours part at 1, "factors", whole
    numbers, and "classes", names."""

    kind: str
    title: str
    label: str  # of values
    note: str = ""
    x_label: str = ""  # of lines, like the next three
    log: str = ""  # "x", "y", "xy": axes that are logarithmic
    own_ticks: bool = True  # at every x of what was measured
    series: list = field(default_factory=list)
    rows: list = field(default_factory=list)  # name, colour, value, quartiles or None
    cells: dict = field(default_factory=dict)  # of (width, height); None: no right result
    value_max: float = 0  # end of the colours of rates
    colours: dict = field(default_factory=dict)  # of the names of classes, in their order

    def __post_init__(self):
        self.widths, self.heights = sides_of(self.cells)
        self.has_gaps = len(self.cells) < len(self.widths) * len(self.heights)

    def add(self, name, role, colour, dots):
        """Adds dots to the series of this name. A series without dots is none."""
        dots = [(*dot, None)[:3] for dot in dots]
        found = next((s for s in self.series if s.name == name), None)
        if dots and found is None:
            alike = sum((s.colour, s.role) == (colour, role) for s in self.series)
            mark = (max(colour, 0) + 3 * (max(colour, 0) // 8) + alike) % 8
            self.series.append(Series(name, role, colour, mark, dots))
        elif dots:
            found.dots += dots

    @property
    def dots(self):
        return [dot for series in self.series for dot in series.dots]

    def complete(self):
        """Adds to the note what marks and cells mean. False if the chart shows nothing."""
        for name, is_met in (
            ("whiskers", any(dot[2] for dot in self.dots)),
            ("hollow", any(series.role == "published" for series in self.series)),
            ("gaps" if self.kind == "classes" else "nearest", self.has_gaps),
            ("no_result", None in self.cells.values()),
        ):
            self.note += f" {NOTES[name]}" if is_met else ""
        return bool(self.series or self.rows or set(self.cells.values()) - {None})


# ---- Published figures ----


def read_table(name):
    with open(HERE / name, newline="", encoding="utf-8") as file:
        return [SimpleNamespace(**row) for row in csv.DictReader(file)]


def read_published():
    """Figures that sources print: in a table, in the text, or beside a figure. None is read off a
    curve. `preset` repeats the experiment; `device` is empty if the source does not name it; `step`
    is what the source calls it. Of `implementations`, which do the same, the first that was
    measured counts; likewise of `over` in a speed-up. `image` is the side of the square image. It
    and the filter are 0 for any."""
    rows = read_table("published.csv")
    for row in rows:
        row.implementations, row.over = row.implementations.split(","), row.over.split(",")
        row.image, row.value = int(row.image), float(row.value)
        row.size = int(row.filter_width), int(row.filter_height)
    return rows


PUBLISHED = read_published()
# What the sources compare, by figures of one implementation each or by a speed-up that they give.
PAIRS = read_table("pairs.csv")


# ---- Charts of a study ----


def grouped(points, key):
    groups = {}
    for point in points:
        groups.setdefault(getattr(point, key), []).append(point)
    return groups


class Scene:
    """Points on one kind of image and filters: what may stand in a chart over sides of filters."""

    def __init__(self, name, points, every):
        self.name, self.rank1 = name, points[0].rank1
        self.every = every  # those without a right result, too
        sizes = {p.size for p in points}
        oblong = [size for size in sizes if size[0] != size[1]]
        self.squares = sorted(width for width, height in sizes if width == height)
        self.is_grid = bool(oblong)
        # Of maps: those of rectangles alone, if every pair of them was measured and most cells of a
        # map of all sides would be empty. Other squares would be a diagonal in it.
        self.sides, rectangles = sides_of(sizes), sides_of(oblong)
        pairs = set(itertools.product(*rectangles))
        sparse = 4 * (len(pairs) + len(self.squares)) <= math.prod(map(len, self.sides))
        if pairs and pairs <= sizes and sparse:
            self.sides = rectangles
        self.at = {(p.name, *p.size): p for p in reversed(points)}

    def has(self, point):
        return point.filter_width in self.sides[0] and point.filter_height in self.sides[1]


class Maker:
    """Makes the charts of a study."""

    def __init__(self, study):
        self.study, self.preset = study, study.preset
        self.points = [point for point in study.points if point.counts]
        self.names = list(dict.fromkeys(point.name for point in self.points))
        # Of this machine: what is compared with each other.
        self.own = [name for name in self.names if "@" not in name]
        self.published = [row for row in PUBLISHED if row.preset == self.preset]
        colours = map(self.own_name, [*self.names, *map(self.name_of, self.published)])
        self.colours = {name: i for i, name in enumerate(dict.fromkeys(colours))}
        self.rate_note, self.time_note = (
            f" {NOTES[name]}" if study.has_gpu else "" for name in ("gpu_rates", "gpu_times")
        )
        every = grouped(study.points, "scene")
        of_filters = grouped([p for p in self.points if p.filter_width > 0], "scene")
        self.scenes = [Scene(name, some, every[name]) for name, some in of_filters.items()]

    def name_of(self, row):
        """The implementation that stands for a published step, else the step's own name."""
        measured = [name for name in row.implementations if name in self.names]
        return (measured or row.implementations)[0] or row.step

    @staticmethod
    def own_name(name):
        """That of the implementation, whatever machine it ran on."""
        return name.partition("@")[0]

    def colour(self, name):
        return self.colours.get(self.own_name(name), len(self.colours))

    def make(self):
        parts = [self.cases()]
        for scene in self.scenes:
            parts += self.sides(scene), self.crossover(scene), self.maps(scene)
        parts.insert(0 if self.preset == "roofline" else len(parts), self.rooflines())
        if self.preset == "fft-locality":
            parts = [self.locality()]
        return [chart for part in parts for chart in part if chart.complete()]

    def publish(self, chart, rows, dots_of):
        """Adds published figures to a chart, in the colours of what was measured."""
        for row in rows:
            name = f"{row.step}, {row.device or 'published'}"
            chart.add(name, "published", self.colour(self.name_of(row)), dots_of(row))

    # ---- Over the sides of filters ----

    def sides(self, scene):
        one_image = len({p.width for p in self.points}) == 1
        if len(scene.squares) < (2 if one_image else 3):
            return
        names = self.names
        if scene.is_grid:  # those with a block and a factor, "tiled:16x16x2", have maps
            names = [name for name in names if not re.fullmatch(r".+:[x\d]+(@.*)?", name)] or names
        title = f"Rate over the side of square filters, {scene.name}"
        chart = Chart("lines", title, "GFLOP/s", NOTES["sides"] + self.rate_note, SQUARES)
        for name in names:
            points = [scene.at.get((name, side, side)) for side in scene.squares]
            dots = [(p.filter_width, p.gflops, p.whisker(p.gflops)) for p in points if p]
            chart.add(name, "measured", self.colour(name), dots)
        if not scene.rank1:
            # A rate of any filter is a line over all sides.
            ends = scene.squares[0], scene.squares[-1]
            rows = [r for r in self.published if r.quantity == "GFLOP/s" and len({*r.size}) == 1]
            self.publish(
                chart, rows, lambda r: [(x, r.value) for x in (r.size[:1] if any(r.size) else ends)]
            )
        values = [dot[1] for dot in chart.dots]
        chart.log = "y" if values and max(values) > 20 * min(values) else ""
        yield chart

    # ---- Over the sides of images ----

    def cases(self):
        """Charts over images, else rows, of the first filter, the last, and two between them."""
        cases = list(grouped(self.points, "case").values())
        last = len(cases) - 1
        drawn = range(last + 1) if last < 4 else [i * last // 3 for i in range(4)]
        in_scenes = {s.rank1 for s in self.scenes if len(s.squares) > 1 or s.is_grid}
        for i, points in enumerate(cases):
            sides = sorted({p.width for p in points if p.width == p.height})
            if i in drawn and len(sides) > 1:
                yield self.images(points, sides)
                if len(self.names) > 1 and "reference" in self.names:
                    yield self.images(points, sides, speed_up=True)
            elif points[0].filter_width == 0 or points[0].rank1 not in in_scenes:
                yield from self.rows(points)

    def images(self, points, sides, speed_up=False):
        unit, text = 1e3, "milliseconds for an image"
        if self.preset == "kth":
            unit, text = 100, "seconds for 100 images"
        what, note = ("Speed-up", "") if speed_up else ("Time", self.time_note)
        title = f"{what} over the side of the image, filter {points[0].case}"
        label = "times as fast as the serial CPU" if speed_up else text
        chart = Chart("lines", title, label, note, "side of the square image (pixels)", "xy")
        at = {(p.name, p.width): p for p in reversed(points) if p.width == p.height}
        for name in self.names:
            dots = []
            for side in sides:
                p, serial = at.get((name, side)), at.get(("reference", side))
                if p and not speed_up:
                    dots.append((side, p.time * unit, p.whisker(p.time * unit, False)))
                elif p and serial and name != "reference" and not p.is_beside:
                    dots.append((side, serial.time / p.counted_seconds))
            chart.add(name, "measured", self.colour(name), dots)
        if chart.series:
            self.publish(chart, *self.published_times(points[0].size, unit, speed_up))
        if speed_up:
            chart.note = NOTES["speed_up"] + self.rate_note
        return chart

    def published_times(self, size, unit, speed_up):
        seconds = {"seconds for 100 images": 1e-2 * unit, "milliseconds": 1e-3 * unit}
        rows = [row for row in self.published if row.quantity in seconds and row.size == size]
        serial = {row.image: row.value for row in rows if row.implementations == ["reference"]}
        if speed_up:
            rows = [r for r in rows if r.implementations != ["reference"] and r.image in serial]
            return rows, lambda row: [(row.image, serial[row.image] / row.value)]
        return rows, lambda row: [(row.image, row.value * seconds[row.quantity])]

    def rows(self, points):
        for image, some in grouped(points, "image").items():
            title, label = f"Rate, {image}, {points[0].case}", "million samples a second"
            chart = Chart("rows", title, label, NOTES["rows"] + self.time_note)
            for p in some:
                name = f"auto: {p.implementation}" if p.name == "auto" else p.name
                rate = 1e-6 * p.pixels_per_second
                chart.rows.append((name, self.colour(p.name), rate, p.whisker(rate)))
            if len(some) > 1:
                yield chart

    # ---- Maps over width and height of filters ----

    def cells(self, scene, name, value):
        """Values by width and height of filters, of equal sizes the first; None: no right
        result."""
        points = [p for p in reversed(scene.every) if p.name == name and scene.has(p)]
        lacking = {p.size: None for p in points if not p.counts}
        return lacking | {p.size: value(p) for p in points if p.counts}

    def maps(self, scene):
        if not scene.is_grid:
            return
        yield from (self.rate_map(scene, name) for name in self.names)
        yield from (self.factor_map(scene, name) for name in self.names)
        yield from (self.ratio_map(scene, *step) for step in self.steps())
        if len(self.own) > 1:
            yield self.fastest_map(scene)

    def rate_map(self, scene, name):
        cells = self.cells(scene, name, lambda p: p.gflops)
        chart = Chart("rates", f"GFLOP/s of {name}, {scene.name}", "GFLOP/s", cells=cells)
        chart.value_max = 2 ** math.ceil(math.log2(max(filter(None, cells.values()), default=1)))
        chart.note = (NOTES["scales"] if len(self.names) > 1 else "") + self.rate_note
        return chart

    def factor_map(self, scene, name):
        cells = self.cells(scene, name, lambda p: p.factor)
        cells = {size: factor for size, factor in cells.items() if factor != 0}
        # The others have that of --tile or of the name.
        if len({*cells.values()} - {None}) < 2 and not name.startswith("adaptive"):
            cells = {}
        return Chart("factors", f"Tiling factor of {name}, {scene.name}", "factor", cells=cells)

    def steps(self):
        """What is compared with what: what the sources compare; of two implementations both."""
        pairs = [(row.implementation, row.over) for row in PAIRS if row.preset == self.preset]
        pairs = [pair for pair in pairs if {*pair} <= {*self.names}]
        return pairs or ([self.own[::-1]] if len(self.own) == 2 else [])

    def ratio_map(self, scene, name, over):
        mine, theirs = (self.cells(scene, each, lambda p: p) for each in (name, over))
        pairs = {size: (mine[size], theirs[size]) for size in mine.keys() & theirs}
        cells = {
            size: p and other and other.counted_seconds / p.counted_seconds
            for size, (p, other) in pairs.items()
            if not (p and other) or p.on_gpu == other.on_gpu  # a CPU is no step before a GPU
        }
        ratios = [ratio for ratio in cells.values() if ratio]
        title = f"Speed-up of {name} over {over}, {scene.name}"
        chart = Chart("ratios", title, f"{name}: times as fast as {over}", cells=cells)
        facts = {"count": len(ratios), "mean": sum(ratios) / max(len(ratios), 1)}
        chart.note = NOTES["ratios"].format(name=name, over=over, **facts) + self.rate_note
        return chart

    def fastest_map(self, scene):
        points = [p for p in scene.every if p.counts and scene.has(p) and not p.is_beside]
        points.sort(key=lambda p: p.time, reverse=True)
        cells = {p.size: p.name for p in points}
        title = f"The fastest implementation, {scene.name}"
        chart = Chart("classes", title, "the fastest", self.time_note, cells=cells)
        chart.colours = {n: self.colour(n) for n in self.names if n in cells.values()}
        return chart

    # ---- Spatial implementations over those by transforms ----

    def of_device(self, on_gpu):
        """The names of this machine; if it has no GPU, for a GPU those of --with."""
        on = dict.fromkeys(p.name for p in self.points if p.on_gpu)
        return self.own if not on_gpu or on.keys() & {*self.own} else [*on]

    def ratio(self, scene, on_gpu, width, height):
        """How many times as fast the fastest spatial implementation is; None: not measured. On the
        CPU the methods take part: `cpu` chooses between both, so it belongs to neither."""
        points = [scene.at.get((name, width, height)) for name in self.of_device(on_gpu)]
        points = [p for p in points if p and (p.on_gpu if on_gpu else p.name.startswith("cpu:"))]
        spatial = [p.time for p in points if not p.transforms]
        fourier = [p.time for p in points if p.transforms]
        return min(fourier) / min(spatial) if spatial and fourier else None

    def crossover(self, scene):
        label, sizes = "spatial: times as fast", itertools.product(*scene.sides)
        squares, grid = [(side, side) for side in scene.squares], [*sizes] if scene.is_grid else []
        for on_gpu, device in (True, "GPU"), (False, "CPU"):
            title = f"{device}: the fastest spatial implementation over the fastest by transforms, "
            note = f"{NOTES['crossover']} {NOTES['crossover_' + device.lower()]}"
            note += self.time_note if on_gpu else ""
            ratios = {size: self.ratio(scene, on_gpu, *size) for size in [*squares, *grid]}
            ratios = {size: ratio for size, ratio in ratios.items() if ratio}
            dots = [(size[0], ratios[size]) for size in squares if size in ratios]
            if dots and len(squares) > 1:
                chart = Chart("lines", title + scene.name, label, note, SQUARES, "y")
                names = self.of_device(on_gpu)
                source = "" if names is self.own else names[0][names[0].index("@"):]
                chart.add("measured" + source, "measured", 0, dots)
                if on_gpu and not scene.rank1:
                    dots = [(r.size[0], r.value) for r in PUBLISHED if r.preset == "fft-map"]
                    chart.add("published, GTX 680, 4096x4096", "published", 1, dots)
                ends = [(scene.squares[0], 1), (scene.squares[-1], 1)]
                chart.add("equally fast", "limit", -1, ends)
                yield chart
            name = f"{title}by width and height, {scene.name}"
            cells = {size: ratios[size] for size in grid if size in ratios}
            yield Chart("ratios", name, label, note, cells=cells)

    # ---- Models ----

    def rooflines(self):
        """Williams et al. 2009. One for each device: marks of both would hide each other."""
        yield self.roofline(True, *self.study.gpu_roofs)
        if self.study.cpu_roofs[1] or self.preset == "roofline":
            yield self.roofline(False, *self.study.cpu_roofs)

    def roofline(self, on_gpu, bandwidth, peak):
        device, how = ("GPU", "as rated") if on_gpu else ("CPU", "measured")
        title = f"Roofline of the {device}: rate over arithmetic intensity"
        label = "operations of the filter for a byte of memory"
        note = f"{NOTES['roofline']} {NOTES['roofline_' + device.lower()]}"
        chart = Chart("lines", title, "GFLOP/s", note, label, "xy", own_ticks=False)
        points = [p for p in self.points if p.intensity > 0 and p.on_gpu == on_gpu]
        points = [p for p in points if on_gpu or not p.is_beside]  # it has other roofs
        for name in self.names:
            dots = [(p.intensity, p.gflops) for p in points if p.name == name]
            chart.add(name, "marks", self.colour(name), dots)
        if points and bandwidth and peak:
            ridge = peak / bandwidth
            low = min(ridge / 4, *(p.intensity for p in points))
            high = max(2 * ridge, *(p.intensity for p in points))
            corners = [(low, low * bandwidth), (ridge, peak), (high, peak)]
            name = f"roof, {how}: {bandwidth:.0f} GB/s, {peak:.0f} GFLOP/s"
            chart.add(name, "limit", -1, corners)
        return chart

    def locality(self):
        """Transforms of lines and the bound of De Smet 2011."""
        title = "Transforms from memory to memory, and the bound of the memory"
        label = "binary logarithm of the points of a transform"
        chart = Chart("lines", title, "GFLOP/s", NOTES["locality"], label, "y")
        for colour, name in enumerate(self.names):
            points = [(math.log2(p.filter_width), p) for p in self.points if p.name == name]
            rates = [(x, p.gflops, p.whisker(p.gflops)) for x, p in points if p.flops > 0]
            memory = any(x == 0 for x, _ in points)  # one name of a device measures it
            bounds = [(x, 1e-9 * p.theory_flops) for x, p in points if memory and p.theory_flops]
            halves = [(x, y / 2) for x, y in bounds]
            chart.add(name, "measured", colour, rates)
            chart.add(f"{name}: bound of its memory", "limit", colour, bounds)
            chart.add(f"{name}: half of it: read and written", "limit", colour + 8, halves)
        printed = [row for row in self.published if row.quantity == "GFLOP/s allowed"]
        for i, (device, rows) in enumerate(grouped(printed, "device").items(), len(self.names)):
            dots = [(math.log2(row.size[0]), row.value) for row in rows]
            chart.add(f"bound printed for {device}", "published", i, dots)
        yield chart

"""Which charts fit the points of a study, as data: draw.py makes images of them."""

import csv
import itertools
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

GPU_RATES = (
    "On a GPU only the convolution counts: no transfers, and no passes that extend the image for "
    "the border or convert samples. "
)
GPU_TIMES = "On a GPU the kernels count, without transfers. "
WHISKERS = "Bars reach from quartile to quartile of the runs, where these are known. "
HOLLOW = "Hollow marks are published figures. "
NEAREST = "Cells with a dot or a number were measured. Others have the colour of the nearest one. "
NO_RESULT = "Empty cells have no right result: the table of all results says why."
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
        if any(dot[2] for dot in self.dots):
            self.note += WHISKERS
        if any(series.role == "published" for series in self.series):
            self.note += HOLLOW
        if self.has_gaps:
            self.note += NEAREST if self.kind != "classes" else "Empty cells were not measured. "
        if None in self.cells.values():
            self.note += NO_RESULT
        return bool(self.series or self.rows or set(self.cells.values()) - {None})


# ---- Published figures ----


def read_table(name):
    with open(Path(__file__).with_name(name), newline="", encoding="utf-8") as file:
        return [SimpleNamespace(**row) for row in csv.DictReader(file)]


def read_published():
    """Figures that sources print: in a table, in the text, or beside a figure. None is read off a
    curve. `preset` repeats the experiment; `device` is empty if the source does not name it; `step`
    is what the source calls it. Of `implementations`, which do the same, the first that was
    measured counts; likewise of `over` in a speed-up. `image` is the side of the square image. It
    and the filter are 0 for any."""
    rows = read_table("published.csv")
    for row in rows:
        row.implementations, row.over = (
            [name for name in names.split(",") if name] for names in (row.implementations, row.over)
        )
        row.image, row.value = int(row.image), float(row.value)
        row.size = int(row.filter_width), int(row.filter_height)
    return rows


PUBLISHED = read_published()
# What the sources compare by figures of one implementation each.
PAIRS = read_table("pairs.csv")


# ---- Charts of a study ----


def grouped(points, key):
    groups = {}
    for point in points:
        groups.setdefault(getattr(point, key), []).append(point)
    return groups


def by_size(points, value):
    """Values by width and height of filters; of equal sizes the first."""
    return {p.size: value(p) for p in reversed(points)}


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
        self.published = [row for row in PUBLISHED if row.preset == self.preset]
        colours = dict.fromkeys([*self.names, *map(self.name_of, self.published)])
        self.colours = {name: i for i, name in enumerate(colours)}
        self.rate_note = GPU_RATES if study.has_gpu else ""
        self.time_note = GPU_TIMES if study.has_gpu else ""
        every = grouped(study.points, "scene")
        of_filters = grouped([p for p in self.points if p.filter_width > 0], "scene")
        self.scenes = [Scene(name, some, every[name]) for name, some in of_filters.items()]

    def name_of(self, row):
        """The implementation that stands for a published step, else the step's own name."""
        measured = [name for name in row.implementations if name in self.names]
        return (measured or row.implementations or [row.step])[0]

    def colour(self, name):
        return self.colours.get(name, len(self.colours))

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
            names = [name for name in names if not re.fullmatch(r".+:[x\d]+", name)] or names
        title = f"Rate over the side of square filters, {scene.name}"
        chart = Chart("lines", title, "GFLOP/s", x_label=SQUARES)
        chart.own_ticks = len(scene.squares) <= 24
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
        chart.note = "2 w h operations for a sample, however an implementation saves some of them. "
        chart.note += self.rate_note
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
                elif p and serial and name != "reference":
                    dots.append((side, serial.time / p.counted_seconds))
            chart.add(name, "measured", self.colour(name), dots)
        if chart.series:
            self.publish(chart, *self.published_times(points[0].size, unit, speed_up))
        if speed_up:
            chart.note = (
                f"{self.rate_note}Measured ones are over reference, published ones over the serial "
                "program of the source. "
            )
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
            title = f"Rate, {image}, {points[0].case}"
            note = f"More is better. {self.time_note}"
            note += "Thin lines reach from quartile to quartile of the runs."
            chart = Chart("rows", title, "million samples a second", note)
            for p in some:
                name = f"auto: {p.implementation}" if p.name == "auto" else p.name
                rate = 1e-6 * p.pixels_per_second
                chart.rows.append((name, self.colour(p.name), rate, p.whisker(rate)))
            if len(some) > 1:
                yield chart

    # ---- Maps over width and height of filters ----

    def maps(self, scene):
        if not scene.is_grid:
            return
        here = {name: [] for name in self.names}
        lacking = {name: {} for name in self.names}
        for p in filter(scene.has, scene.every):
            if p.counts:
                here[p.name].append(p)
            elif p.name in here:
                lacking[p.name][p.size] = None
        here = {name: points for name, points in here.items() if points}
        yield from self.rate_maps(scene, here, lacking)
        yield from self.factor_maps(scene, here, lacking)
        # Elsewhere names do not stand in the order of steps.
        if self.preset.startswith("adaptive-") or len(self.names) == 2:
            for name, over in self.steps():
                yield self.ratio_map(scene, here.get(name, []), name, over, lacking)
        if len(self.names) > 1:
            yield self.fastest_map(scene, here)

    def rate_maps(self, scene, here, lacking):
        for name, points in here.items():
            cells = lacking[name] | by_size(points, lambda p: p.gflops)
            chart = Chart("rates", f"GFLOP/s of {name}, {scene.name}", "GFLOP/s", cells=cells)
            chart.value_max = 2 ** math.ceil(math.log2(max(p.gflops for p in points)))
            if len(self.names) > 1:
                chart.note = "Scales end at powers of two, so maps of like rates share one. "
            chart.note += self.rate_note if any(p.on_gpu for p in points) else ""
            yield chart

    def factor_maps(self, scene, here, lacking):
        for name, points in here.items():
            cells = by_size([p for p in points if p.factor], lambda p: p.factor)
            factors = set(cells.values())
            if len(factors) == 1 and not name.startswith("adaptive"):
                continue  # that of --tile or of the name
            title, label = f"Tiling factor of {name}, {scene.name}", "tiling factor"
            chart = Chart("factors", title, label, cells=lacking[name] | cells)
            if len(factors) == 1:
                chart.note = f"The factor is {max(factors)} for every filter here. "
            if factors == {16}:
                chart.note += "It is the largest: no limit of this device asks for a smaller one. "
            yield chart

    def steps(self):
        """What is compared with what: what the sources compare by figures of one implementation
        each, else a variant with what it varies, else a step with the one before; then the steps
        for which the papers give a speed-up over naive."""
        names = self.names
        for i, name in enumerate(names):
            rows = [row for row in PAIRS if row.preset == self.preset and row.over in names]
            pairs = [row.over for row in rows if row.implementation == name]
            base = name.split(":")[0]
            if not pairs and i > 0:
                pairs = [base if base in names[:i] else names[i - 1]]
            for over in pairs:
                yield name, over
        naive = next((name for name in ("naive", "naive:const") if name in names), None)
        for name in ("adaptive", "adaptive:unrolled"):
            if naive and name in names[names.index(naive) + 2 :]:
                yield name, naive

    def ratio_map(self, scene, points, name, over, lacking):
        cells = {}
        for p in points:
            other = scene.at.get((over, *p.size))
            if other and other.on_gpu == p.on_gpu:  # a CPU is no step before a GPU
                cells[p.size] = other.counted_seconds / p.counted_seconds
        title = f"Speed-up of {name} over {over}, {scene.name}"
        everywhere = lacking[name] | lacking[over] | cells
        chart = Chart("ratios", title, f"{name}: times as fast as {over}", cells=everywhere)
        mean = sum(cells.values()) / max(len(cells), 1)
        chart.note = (
            f"The mean over these {len(cells)} filters is {mean:.2f}. "
            f"Orange: {name} is faster; blue: {over} is. {self.rate_note}"
        )
        return chart

    def fastest_map(self, scene, here):
        points = sorted((p for points in here.values() for p in points), key=lambda p: p.time)
        names = by_size(points, lambda p: p.name)
        title = f"The fastest implementation, {scene.name}"
        chart = Chart("classes", title, "the fastest", self.time_note, cells=names)
        chart.colours = {n: self.colour(n) for n in self.names if n in names.values()}
        return chart

    # ---- Spatial implementations over those by transforms ----

    def ratio(self, scene, on_gpu, width, height):
        """How many times as fast the fastest spatial implementation is; None: not measured. On the
        CPU the methods take part: `cpu` chooses between both, so it belongs to neither."""
        points = [scene.at.get((name, width, height)) for name in self.names]
        points = [p for p in points if p and (p.on_gpu if on_gpu else p.name.startswith("cpu:"))]
        spatial = [p.time for p in points if not p.transforms]
        fourier = [p.time for p in points if p.transforms]
        return min(fourier) / min(spatial) if spatial and fourier else None

    def crossover(self, scene):
        label = "spatial: times as fast"
        for on_gpu in (True, False):
            device = "GPU" if on_gpu else "CPU"
            title = f"{device}: the fastest spatial implementation over the fastest by transforms, "
            kinds = "cpu:tiles; cpu chooses between both and does not take part"
            if on_gpu:
                kinds = "fft, of the whole image, and tilefft, of tiles"
            note = (
                f"Above 1 the spatial implementation is faster. By transforms: {kinds}. The "
                f"fastest of each kind counts. {self.time_note if on_gpu else ''}"
            )
            squares = [(side, self.ratio(scene, on_gpu, side, side)) for side in scene.squares]
            squares = [dot for dot in squares if dot[1]]
            if squares and len(scene.squares) > 1:
                chart = Chart("lines", title + scene.name, label, note, SQUARES, "y")
                chart.own_ticks = len(scene.squares) <= 24
                chart.add("measured", "measured", 0, squares)
                if on_gpu and not scene.rank1:
                    dots = [(r.size[0], r.value) for r in PUBLISHED if r.preset == "fft-map"]
                    chart.add("published, GTX 680, 4096x4096", "published", 1, dots)
                ends = [(scene.squares[0], 1), (scene.squares[-1], 1)]
                chart.add("equally fast", "limit", -1, ends)
                yield chart
            if scene.is_grid:
                sizes = itertools.product(*scene.sides)
                cells = {size: self.ratio(scene, on_gpu, *size) for size in sizes}
                cells = {size: value for size, value in cells.items() if value}
                name = f"{title}by width and height, {scene.name}"
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
        chart = Chart("lines", title, "GFLOP/s", "", label, "xy", own_ticks=False)
        points = [p for p in self.points if p.intensity > 0 and p.on_gpu == on_gpu]
        for name in self.names:
            dots = [(p.intensity, p.gflops) for p in points if p.name == name]
            chart.add(name, "marks", self.colour(name), dots)
        if points and bandwidth and peak:
            ridge = peak / bandwidth
            low = min([p.intensity for p in points] + [ridge / 4])
            high = max([p.intensity for p in points] + [2 * ridge])
            corners = [(low, low * bandwidth), (ridge, peak), (high, peak)]
            name = f"roof, {how}: {bandwidth:.0f} GB/s, {peak:.0f} GFLOP/s"
            chart.add(name, "limit", -1, corners)
        bytes_note = (
            "Bytes of the steps from naive to twopass are those of their published models, which "
            "load again what caches may serve: such marks may lie above the slanted roof. Other "
            "kernels read and write each value once; fft counts the passes of its transforms."
        )
        if not on_gpu:
            bytes_note = "Each sample is read and written once."
        chart.note = (
            f"Each mark is a filter on an image; it counts 2 operations a weight. {bytes_note} "
            "Methods that save operations may exceed the flat roof."
        )
        return chart

    def locality(self):
        """Transforms of lines and the bound of De Smet 2011."""
        title = "Transforms from memory to memory, and the bound of the memory"
        label = "binary logarithm of the points of a transform"
        chart = Chart("lines", title, "GFLOP/s", "", label, "y")

        def power(size):
            return int(math.log2(size[0]))

        for name in self.names:
            points = [p for p in self.points if p.name == name]
            colour = self.colour(name)
            rates = [(power(p.size), p.gflops, p.whisker(p.gflops)) for p in points if p.flops > 0]
            bounds = [(power(p.size), 1e-9 * p.theory_flops) for p in points if p.theory_flops > 0]
            halves = [(x, y / 2) for x, y in bounds]
            chart.add(name, "measured", colour, rates)
            chart.add(f"{name}: bound of its memory", "limit", colour, bounds)
            chart.add(f"{name}: half of it: read and written", "limit", colour + 8, halves)
        printed = [row for row in self.published if row.quantity == "GFLOP/s allowed"]
        for i, (device, rows) in enumerate(grouped(printed, "device").items(), len(self.names)):
            dots = [(power(row.size), row.value) for row in rows]
            chart.add(f"bound printed for {device}", "published", i, dots)
        chart.note = (
            "De Smet 2011, table 1: 5 log2 N operations for a complex number, times the numbers of "
            "8 bytes that the bandwidth carries in a second. The bandwidth is that of the row "
            "'memory', which reads and writes every number. fft is cuFFT. The bound counts each "
            "number once, so a transform that reads and writes it reaches half of it at most. "
        )
        yield chart

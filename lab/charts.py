"""Which charts fit the points of a study, as data: draw.py makes images of them."""

import csv
import math
from dataclasses import dataclass, field
from pathlib import Path

from points import Point


@dataclass
class Series:
    name: str
    role: str  # "measured": marks, joined; "marks"; "published": hollow marks; "limit": a line
    colour: int  # from 0 on; -1: that of text
    dots: list = field(default_factory=list)  # of x, y, and the quartiles of y or None
    mark: int = 0


@dataclass
class Lines:
    """Values over a number."""

    title: str
    x_label: str
    y_label: str
    x_log: bool = False
    y_log: bool = False
    own_ticks: bool = True  # at every x of what was measured
    note: str = ""
    series: list = field(default_factory=list)

    def add(self, name, role, colour, dots=()):
        """Adds dots to the series of this name. A series without dots is none."""
        found = next((s for s in self.series if s.name == name), None)
        if dots and found is None:
            found = Series(name, role, colour)
            alike = sum(s.colour == colour and s.role == role for s in self.series)
            found.mark = (max(colour, 0) + 3 * (max(colour, 0) // 8) + alike) % 8
            self.series.append(found)
        if dots:
            found.dots.extend((*dot, None) if len(dot) == 2 else dot for dot in dots)

    @property
    def has_whiskers(self):
        return any(dot[2] for series in self.series for dot in series.dots)


@dataclass
class Rows:
    """A bar for each name: (name, colour, value, quartiles or None)."""

    title: str
    x_label: str
    rows: list
    note: str = ""


@dataclass
class Cells:
    """Values over width and height of filters."""

    title: str
    kind: str  # "rates"; "ratios": colours part at 1; "factors": whole numbers; "classes": names
    value_label: str
    cells: dict  # (width, height) to a value, to None where there is no right result, or to a name
    value_max: float = 0  # end of the colours of rates
    colours: dict = field(default_factory=dict)  # of the names of classes, in their order
    note: str = ""

    def __post_init__(self):
        self.columns = sorted({x for x, _ in self.cells})
        self.rows = sorted({y for _, y in self.cells})
        self.has_gaps = len(self.cells) < len(self.columns) * len(self.rows)


@dataclass(frozen=True)
class Scene:
    """What may stand in one chart over the sides of filters."""

    width: int
    height: int
    samples: str
    rank1: bool

    def __str__(self):
        samples = self.samples and f", {self.samples}"
        rank = ", filters of rank 1" if self.rank1 else ""
        return f"{self.width}x{self.height}{samples}{rank}"


@dataclass(frozen=True)
class Case:
    """What may stand in one chart over the sides of images."""

    filter: str
    filter_width: int
    filter_height: int
    samples: str
    rank1: bool

    def __str__(self):
        return self.filter + (self.samples and f", {self.samples}")


def scene_of(point):
    return Scene(point.width, point.height, point.samples, point.rank1)


def case_of(p):
    return Case(p.filter, p.filter_width, p.filter_height, p.samples, p.rank1)


# ---- Published figures ----


@dataclass
class Published:
    """A figure that a source prints: in a table, in the text, or beside a figure. None is read off
    a curve. The columns are those of published.csv."""

    preset: str  # that repeats the experiment
    source: str
    place: str
    device: str  # "": the source does not name it
    step: str  # what the source calls it
    implementations: list  # that do the same: the first that was measured counts
    over: list  # of a speed-up, likewise
    quantity: str
    image: int  # side of the square image; 0: any
    filter_width: int  # 0: any
    filter_height: int
    value: float


def read_table(name):
    with open(Path(__file__).with_name(name), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_published(row):
    for key in ("implementations", "over"):
        row[key] = row[key].split(",") if row[key] else []
    for key in ("image", "filter_width", "filter_height"):
        row[key] = int(row[key])
    return Published(**{**row, "value": float(row["value"])})


PUBLISHED = [read_published(row) for row in read_table("published.csv")]
# What the sources compare by figures of one implementation each.
PAIRS = read_table("pairs.csv")

GPU_RATES = (
    "On a GPU only the convolution counts: no transfers, and no passes that extend the image for "
    "the border or convert samples. "
)
GPU_TIMES = "On a GPU the kernels count, without transfers. "
WHISKERS = "Bars reach from quartile to quartile of the runs, where these are known. "
HOLLOW = "Hollow marks are published figures."
WEIGHTS = "side of the square filter (weights)"


class Maker:
    """Makes the charts of a study."""

    def __init__(self, study):
        self.study, self.preset = study, study.preset
        self.all = study.points
        self.points = [point for point in self.all if point.counts]
        self.names = list(dict.fromkeys(point.name for point in self.points))
        self.published = [row for row in PUBLISHED if row.preset == self.preset]
        others = dict.fromkeys(self.name_of(row) for row in self.published)
        ordered = self.names + [name for name in others if name not in self.names]
        self.colours = {name: i for i, name in enumerate(ordered)}
        self.at = {}
        for p in self.points:
            key = (scene_of(p), p.name, p.filter_width, p.filter_height)
            self.at.setdefault(key, p)
        self.rate_note = GPU_RATES if study.has_gpu else ""
        self.time_note = GPU_TIMES if study.has_gpu else ""
        self.charts = []

    def name_of(self, row):
        """The implementation that stands for a published step, else the step's own name."""
        measured = [name for name in row.implementations if name in self.names]
        return (measured or row.implementations or [row.step])[0]

    def colour(self, name):
        return self.colours.get(name, len(self.colours))

    def find(self, scene, name, width, height):
        return self.at.get((scene, name, width, height))

    def scenes(self):
        return list(dict.fromkeys(scene_of(p) for p in self.points if p.filter_width > 0))

    def add(self, chart):
        """Adds a chart that shows something, and says which cells are empty."""
        if isinstance(chart, Cells):
            if not any(value is not None for value in chart.cells.values()):
                return
            if chart.has_gaps:
                chart.note += (
                    "Empty cells were not measured. "
                    if chart.kind == "classes"
                    else "Cells with a dot or a number were measured. Others have the colour of "
                    "the nearest one. "
                )
            if None in chart.cells.values():
                chart.note += (
                    "Empty cells have no right result: the table of all results says why."
                )
        elif isinstance(chart, Lines) and not chart.series:
            return
        self.charts.append(chart)

    def make(self):
        if self.preset == "fft-locality":
            self.locality()
            return self.charts
        if self.preset == "roofline":
            self.rooflines()
        self.cases()
        for scene in self.scenes():
            self.sides(scene)
            self.crossover(scene)
            self.maps(scene)
        if self.preset != "roofline":
            self.rooflines()
        return self.charts

    # ---- Over the sides of filters ----

    def sides_of(self, scene):
        """Squares, widths and heights of filters, and whether some are not square."""
        sizes = {(p.filter_width, p.filter_height) for p in self.points if scene_of(p) == scene}
        sizes.discard((0, 0))
        squares = sorted(w for w, h in sizes if w == h)
        widths, heights = sorted({w for w, _ in sizes}), sorted({h for _, h in sizes})
        return squares, widths, heights, any(w != h for w, h in sizes)

    def map_sides(self, scene):
        """The widths and heights of a map: those of rectangles alone, if every pair of them was
        measured and most cells of a map of all sides would be empty. Other squares would be a
        diagonal in it."""
        squares, widths, heights, _ = self.sides_of(scene)
        sizes = {(p.filter_width, p.filter_height) for p in self.points if scene_of(p) == scene}
        columns = sorted({w for w, h in sizes if w != h})
        rows = sorted({h for w, h in sizes if w != h})
        pairs = len(columns) * len(rows)
        sparse = 4 * (pairs + len(squares)) <= len(widths) * len(heights)
        whole = pairs > 0 and all((w, h) in sizes for w in columns for h in rows)
        return (columns, rows) if sparse and whole else (widths, heights)

    @staticmethod
    def tiling_in(name):
        """ "16x16x2" of "tiled:nopad:16x16x2"; "" of a name that says no block and no factor."""
        last = name.rpartition(":")[2] if ":" in name else ""
        return last if set(last) <= set("x0123456789") else ""

    def has_tilings(self, name):
        """Whether a name says a block or a factor, or is what such a name begins with."""
        return bool(self.tiling_in(name)) or any(
            self.tiling_in(other) and other.rpartition(":")[0] == name for other in self.names
        )

    def sides(self, scene):
        squares = self.sides_of(scene)[0]
        one_image = len({p.width for p in self.points}) == 1
        if len(squares) < (2 if one_image else 3):
            return
        plain = [name for name in self.names if not self.tiling_in(name)]
        if plain:
            self.draw_sides(scene, squares, plain, "Rate")
        if len(plain) < len(self.names):
            tiled = [name for name in self.names if self.has_tilings(name)]
            self.draw_sides(scene, squares, tiled, "Rate with blocks and factors")

    def draw_sides(self, scene, squares, names, what):
        chart = Lines(f"{what} over the side of square filters, {scene}", WEIGHTS, "GFLOP/s")
        chart.own_ticks = len(squares) <= 24
        for name in names:
            points = [self.find(scene, name, side, side) for side in squares]
            dots = [(p.filter_width, p.gflops, p.whisker(p.gflops)) for p in points if p]
            chart.add(name, "measured", self.colour(name), dots)
        measured = len(chart.series)
        if not scene.rank1 and what == "Rate":
            self.add_published_rates(chart, squares)
        values = [dot[1] for series in chart.series for dot in series.dots]
        chart.y_log = bool(values) and max(values) > 20 * min(values)
        chart.note = (
            "2 w h operations for a sample, however an implementation saves some of them. "
            + self.rate_note
            + (WHISKERS if chart.has_whiskers else "")
            + (HOLLOW if len(chart.series) > measured else "")
        )
        self.add(chart)

    def add_published_rates(self, chart, squares):
        """Published rates of square filters. One for any filter is a line over all sides."""
        for row in self.published:
            if row.quantity == "GFLOP/s" and row.filter_width == row.filter_height:
                sides = [row.filter_width] if row.filter_width else [squares[0], squares[-1]]
                name = f"{row.step}, {row.device}"
                dots = [(side, row.value) for side in sides]
                chart.add(name, "published", self.colour(self.name_of(row)), dots)

    # ---- Over the sides of images ----

    def cases(self):
        """Charts over images, else rows, of the first filter, the last, and two between them."""
        cases = list(dict.fromkeys(case_of(p) for p in self.points))
        last = len(cases) - 1
        drawn = range(last + 1) if last < 4 else [i * last // 3 for i in range(4)]
        in_scenes = set()
        for scene in self.scenes():
            squares, _, _, grid = self.sides_of(scene)
            if len(squares) > 1 or grid:
                in_scenes.add(scene.rank1)
        for i, case in enumerate(cases):
            points = [p for p in self.points if case_of(p) == case]
            sides = sorted({p.width for p in points if p.width == p.height})
            if i in drawn and len(sides) > 1:
                self.images(case, points, sides, False)
                if len(self.names) > 1 and "reference" in self.names:
                    self.images(case, points, sides, True)
            elif case.filter_width == 0 or case.rank1 not in in_scenes:
                self.rows(case, points)

    def images(self, case, points, sides, speed_up):
        hundred = self.preset == "kth"
        unit = 100 if hundred else 1e3
        unit_text = "seconds for 100 images" if hundred else "milliseconds for an image"
        chart = Lines(
            f"{'Speed-up' if speed_up else 'Time'} over the side of the image, filter {case}",
            "side of the square image (pixels)",
            "times as fast as the serial CPU" if speed_up else unit_text,
            x_log=True,
            y_log=True,
        )
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
        if not chart.series:
            return
        measured = len(chart.series)
        self.add_published_times(chart, case, unit, speed_up)
        over = "Measured ones are over reference, published ones over the serial program of the "
        chart.note = (
            (self.rate_note + over + "source. " if speed_up else self.time_note)
            + (WHISKERS if chart.has_whiskers else "")
            + (HOLLOW if len(chart.series) > measured else "")
        )
        self.add(chart)

    def add_published_times(self, chart, case, unit, speed_up):
        seconds = {"seconds for 100 images": 1e-2, "milliseconds": 1e-3}
        rows = [
            row
            for row in self.published
            if row.quantity in seconds
            and (row.filter_width, row.filter_height) == (case.filter_width, case.filter_height)
        ]
        serial = {row.image: row.value for row in rows if row.implementations == ["reference"]}
        for row in rows:
            value = row.value * seconds[row.quantity] * unit
            if speed_up:
                if row.implementations == ["reference"] or row.image not in serial:
                    continue
                value = serial[row.image] / row.value
            name = f"{row.step}, {row.device or 'published'}"
            chart.add(name, "published", self.colour(self.name_of(row)), [(row.image, value)])

    def rows(self, case, points):
        for size in dict.fromkeys((p.width, p.height) for p in points):
            rows = []
            for p in points:
                if (p.width, p.height) == size:
                    chosen = f": {p.implementation}" if p.name == "auto" else ""
                    rate = 1e-6 * p.pixels_per_second
                    rows.append((p.name + chosen, self.colour(p.name), rate, p.whisker(rate)))
            if len(rows) > 1:
                title = f"Rate, {size[0]}x{size[1]}, {case}"
                note = "More is better. " + self.time_note
                note += "Thin lines reach from quartile to quartile of the runs."
                self.add(Rows(title, "million samples a second", rows, note))

    # ---- Maps over width and height of filters ----

    def maps(self, scene):
        if not self.sides_of(scene)[3]:
            return
        widths, heights = self.map_sides(scene)

        def inside(p):
            return scene_of(p) == scene and p.filter_width in widths and p.filter_height in heights

        here = {name: [] for name in self.names}
        lacking = {name: {} for name in self.names}
        for p in self.all:
            if inside(p) and p.name in here and p.filter_width > 0:
                if p.counts:
                    here[p.name].append(p)
                else:
                    lacking[p.name][p.filter_width, p.filter_height] = None
        here = {name: points for name, points in here.items() if points}
        self.rate_maps(scene, here, lacking)
        self.factor_maps(scene, here, lacking)
        # Elsewhere names do not stand in the order of steps.
        if self.preset.startswith("adaptive-") or len(self.names) == 2:
            for name, over in self.steps():
                self.ratio_map(scene, here.get(name, []), name, over, lacking)
        if len(self.names) > 1:
            self.fastest_map(scene, here)

    def rate_maps(self, scene, here, lacking):
        """Maps of rates have one scale, up to the greatest rate of most. The fastest
        implementations have a scale of their own if it would make others look alike, and so have
        slow ones."""
        greatest = {name: max(p.gflops for p in points) for name, points in here.items()}
        rates = sorted(greatest.values())
        last = len(rates) - 1
        while last > len(rates) // 2 and rates[last] > 1.6 * rates[last - 1]:
            last -= 1
        most = rates[last] if rates else 0
        for name, points in here.items():
            own = greatest[name]
            common = most / 4 < own <= most
            cells = {(p.filter_width, p.filter_height): p.gflops for p in reversed(points)}
            chart = Cells(
                f"GFLOP/s of {name}, {scene}", "rates", "GFLOP/s", {**lacking[name], **cells}
            )
            chart.value_max = most if common else own
            if len(self.names) > 1:
                chart.note = (
                    "Maps of rates have one scale, unless they say another. "
                    if common
                    else f"These rates are {'high' if own > most else 'low'} and have a scale of "
                    "their own. "
                )
            chart.note += self.rate_note if any(p.on_gpu for p in points) else ""
            self.add(chart)

    def factor_maps(self, scene, here, lacking):
        for name, points in here.items():
            cells = {(p.filter_width, p.filter_height): p.factor for p in points if p.factor}
            factors = set(cells.values())
            if not factors or (len(factors) == 1 and not name.startswith("adaptive")):
                continue  # that of --tile or of the name
            chart = Cells(
                f"Tiling factor of {name}, {scene}",
                "factors",
                "tiling factor",
                {**lacking[name], **cells},
            )
            if len(factors) == 1:
                only = factors.pop()
                chart.note = f"The factor is {only} for every filter here" + (
                    ", the largest that gconv has: no limit of this device asks for a smaller one. "
                    if only == 16
                    else ". "
                )
            self.add(chart)

    def steps(self):
        """What is compared with what: what the sources compare by figures of one implementation
        each, else a variant with what it varies, else a step with the one before; then the steps
        for which the papers give a speed-up over naive."""
        for i, name in enumerate(self.names):
            of = [
                row["over"]
                for row in PAIRS
                if row["preset"] == self.preset and row["implementation"] == name
            ]
            pairs = [over for over in of if over in self.names]
            base = name.split(":")[0]
            if not pairs and i > 0:
                pairs = [base if base in self.names[:i] else self.names[i - 1]]
            for over in pairs:
                yield name, over
        naive = next((name for name in ("naive", "naive:const") if name in self.names), None)
        for name in ("adaptive", "adaptive:unrolled"):
            if naive and name in self.names[self.names.index(naive) + 2 :]:
                yield name, naive

    def ratio_map(self, scene, points, name, over, lacking):
        cells = {}
        for p in points:
            other = self.find(scene, over, p.filter_width, p.filter_height)
            if other and other.on_gpu == p.on_gpu:  # a CPU is no step before a GPU
                ratio = other.counted_seconds / p.counted_seconds
                cells[p.filter_width, p.filter_height] = ratio
        if not cells:
            return
        chart = Cells(
            f"Speed-up of {name} over {over}, {scene}",
            "ratios",
            f"{name}: times as fast as {over}",
            {**lacking[name], **lacking[over], **cells},
        )
        chart.note = (
            f"The mean over these {len(cells)} filters is {sum(cells.values()) / len(cells):.2f}. "
            f"Orange: {name} is faster; blue: {over} is. " + self.rate_note
        )
        self.add(chart)

    def fastest_map(self, scene, here):
        cells = {}
        for points in here.values():
            for p in points:
                key = p.filter_width, p.filter_height
                if key not in cells or p.time < cells[key].time:
                    cells[key] = p
        names = {key: p.name for key, p in cells.items()}
        chart = Cells(f"The fastest implementation, {scene}", "classes", "the fastest", names)
        chart.colours = {n: self.colour(n) for n in self.names if n in names.values()}
        chart.note = self.time_note
        self.add(chart)

    # ---- Spatial implementations over those by transforms ----

    def least_times(self, scene, on_gpu, width, height):
        """The least time of spatial implementations and of those by transforms; None: not measured.
        On the CPU the methods take part: `cpu` chooses between both, so it belongs to neither."""
        least = [None, None]
        for name in self.names:
            p = self.find(scene, name, width, height)
            if p and (p.on_gpu if on_gpu else name.startswith("cpu:")):
                kind = int(p.transforms)
                least[kind] = min(p.time, least[kind] or math.inf)
        return least

    def ratio(self, scene, on_gpu, width, height):
        spatial, fourier = self.least_times(scene, on_gpu, width, height)
        return fourier / spatial if spatial and fourier else None

    def transforms_note(self, on_gpu, reading):
        kinds = (
            "fft, of the whole image, and tilefft, of tiles"
            if on_gpu
            else "cpu:tiles; cpu chooses between both and does not take part"
        )
        time = self.time_note if on_gpu else ""
        return f"{reading} By transforms: {kinds}. The fastest of each kind counts. {time}"

    def crossover(self, scene):
        squares, _, _, grid = self.sides_of(scene)
        widths, heights = self.map_sides(scene)
        reading = "Above 1 the spatial implementation is faster."
        for on_gpu in (True, False):
            title = (
                f"{'GPU' if on_gpu else 'CPU'}: the fastest spatial implementation over the "
                f"fastest by transforms, %s{scene}"
            )
            dots = [(side, self.ratio(scene, on_gpu, side, side)) for side in squares]
            dots = [dot for dot in dots if dot[1]]
            if dots and len(squares) > 1:
                chart = Lines(title % "", WEIGHTS, "spatial: times as fast", y_log=True)
                chart.own_ticks = len(squares) <= 24
                chart.note = self.transforms_note(on_gpu, reading)
                chart.add("measured", "measured", 0, dots)
                if on_gpu and not scene.rank1:
                    printed = [row for row in PUBLISHED if row.preset == "fft-map"]
                    dots = [(row.filter_width, row.value) for row in printed]
                    chart.add("published, GTX 680, 4096x4096", "published", 1, dots)
                chart.add("equally fast", "limit", -1, [(squares[0], 1), (squares[-1], 1)])
                self.add(chart)
            if grid:
                cells = {(w, h): self.ratio(scene, on_gpu, w, h) for w in widths for h in heights}
                cells = {key: value for key, value in cells.items() if value}
                chart = Cells(
                    title % "by width and height, ", "ratios", "spatial: times as fast", cells
                )
                chart.note = self.transforms_note(on_gpu, reading)
                self.add(chart)

    # ---- Models ----

    def rooflines(self):
        """Williams et al. 2009. One for each device: marks of both would hide each other."""
        self.roofline(True, self.study.gpu_roofs)
        if self.study.cpu_roofs[1] or self.preset == "roofline":
            self.roofline(False, self.study.cpu_roofs)

    def roofline(self, on_gpu, roofs):
        device, how = ("GPU", "as rated") if on_gpu else ("CPU", "measured")
        chart = Lines(
            f"Roofline of the {device}: rate over arithmetic intensity",
            "operations of the filter for a byte of memory",
            "GFLOP/s",
            x_log=True,
            y_log=True,
            own_ticks=False,
        )
        points = [p for p in self.points if p.intensity > 0 and p.on_gpu == on_gpu]
        for name in self.names:
            dots = [(p.intensity, p.gflops) for p in points if p.name == name]
            chart.add(name, "marks", self.colour(name), dots)
        bandwidth, peak = roofs
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
            if on_gpu
            else "Each sample is read and written once."
        )
        chart.note = (
            f"Each mark is a filter on an image; it counts 2 operations a weight. {bytes_note} "
            "Methods that save operations may exceed the flat roof."
        )
        self.add(chart)

    def locality(self):
        """Transforms of lines and the bound of De Smet 2011."""
        chart = Lines(
            "Transforms from memory to memory, and the bound of the memory",
            "binary logarithm of the points of a transform",
            "GFLOP/s",
            y_log=True,
        )
        for name in self.names:
            points = [p for p in self.points if p.name == name]
            colour = self.colour(name)

            def power(p: Point):
                return int(math.log2(p.filter_width))

            rates = [(power(p), p.gflops, p.whisker(p.gflops)) for p in points if p.flops > 0]
            chart.add(name, "measured", colour, rates)
            bounds = [(power(p), 1e-9 * p.theory_flops) for p in points if p.theory_flops > 0]
            chart.add(f"{name}: bound of its memory", "limit", colour, bounds)
            halves = [(x, y / 2) for x, y in bounds]
            chart.add(f"{name}: half of it: read and written", "limit", colour + 8, halves)
        printed = [row for row in self.published if row.quantity == "GFLOP/s allowed"]
        for i, device in enumerate(dict.fromkeys(row.device for row in printed)):
            rows = [row for row in printed if row.device == device]
            dots = [(int(math.log2(row.filter_width)), row.value) for row in rows]
            chart.add(f"bound printed for {device}", "published", len(self.names) + i, dots)
        chart.note = (
            "De Smet 2011, table 1: 5 log2 N operations for a complex number, times the numbers of "
            "8 bytes that the bandwidth carries in a second. The bandwidth is that of the row "
            "'memory', which reads and writes every number. fft is cuFFT. The bound counts each "
            "number once, so a transform that reads and writes it reaches half of it at most. "
            + (WHISKERS if chart.has_whiskers else "")
        )
        self.add(chart)

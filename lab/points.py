"""What `gconv bench --json` and `compare --json` print: points, and where they were measured."""

import gzip
import json
import shlex

# What a point has, by the names of the JSON: numbers and texts. 0 and "": not known, or there is
# none such.
NUMBERS = """width height filter_width filter_height rank1 runs seconds shortest_seconds
    lower_quartile_seconds upper_quartile_seconds spread_seconds kernel_seconds border_seconds
    convert_seconds transfer_seconds pixels_per_second flops intensity factor theory_flops"""
TEXTS = "filter samples name implementation verdict reason"
FIELDS = {**dict.fromkeys(NUMBERS.split(), 0), **dict.fromkeys(TEXTS.split(), "")}
RIGHT = ("exact", "rounded once", "within bound")


class Point:
    """An implementation on a filter and an image.

    `width` is 0 if the implementation cannot run here, `filter_width` 0 of a chain of filters.
    `rank1`: the filter was made of a column and a row. `implementation`: what ran, the name or what
    auto chose. `seconds` is the median of whole runs, `kernel_seconds` the time on a GPU, from its
    memory to its memory."""

    def __init__(self, row):
        """Raises ValueError if a value has a wrong type."""
        for key, none in FIELDS.items():
            value = none if row.get(key) is None else row[key]
            if not isinstance(value, str if none == "" else (int, float)):
                raise ValueError(f"a measurement has a wrong value of '{key}'")
            setattr(self, key, value)
        self.is_beside = "@" in self.name  # of another machine: bench --with
        # No other than right and timed ones are in a chart.
        self.counts = self.verdict in RIGHT and self.runs > 0 and self.seconds > 0
        self.on_gpu = self.kernel_seconds > 0
        # By the time implementations are compared. Ratios are of the convolution alone, if known.
        self.time = self.kernel_seconds or self.seconds
        alone = self.kernel_seconds - self.border_seconds - self.convert_seconds
        self.counted_seconds = alone if alone > 0 else self.time
        self.gflops = 1e-9 * self.flops
        self.transforms = self.name.startswith(("fft", "tilefft")) or self.name == "cpu:tiles"
        # What may stand in one chart over the sides of filters, and over the sides of images.
        samples = self.samples and f", {self.samples}"
        self.size = self.filter_width, self.filter_height
        self.image = f"{self.width}x{self.height}"
        self.scene = self.image + samples + (", filters of rank 1" if self.rank1 else "")
        self.case = self.filter + samples

    def whisker(self, value, is_rate=True):
        """The quartiles of the runs beside a value made of their median; None: not known. Those of
        kernels are not known."""
        low, high = self.lower_quartile_seconds, self.upper_quartile_seconds
        if self.on_gpu or not 0 < low < high:
            return None
        if is_rate:
            return value * self.seconds / high, value * self.seconds / low
        return value * low / self.seconds, value * high / self.seconds


def read_points(document):
    """Of bench a list `results`; of compare `implementations`, with what they share before."""
    common = {key: document[key] for key in ("width", "height") if key in document}
    filters = document.get("filters", [])
    if "channels" in document:
        many = "s" if document["channels"] > 1 else ""
        common["samples"] = f"{document['channels']} channel{many} of {document['depth']} bits"
        common["filter"] = f"chain of {len(filters)} filters"
    if len(filters) == 1:
        width, height = filters[0]["width"], filters[0]["height"]
        common.update(filter=f"{width}x{height}", filter_width=width, filter_height=height)
    rows = document.get("results", document.get("implementations"))
    if rows is None:
        raise ValueError("no 'results': not what bench or compare print with --json")
    # One that cannot run is of no image.
    alone = [row.get("verdict") == "not usable" and "width" not in row for row in rows]
    return [Point(row if lone else common | row) for row, lone in zip(rows, alone)]


def list_facts(document, gpu, cpu, roofs):
    about = document.get("about", {})
    arguments, commit = about.get("arguments"), about.get("commit", "")
    yield "command", arguments and shlex.join(["gconv", *arguments])
    yield "date", about.get("date")
    yield "program", f"gconv {about.get('version', '')}" + (commit and f", commit {commit}")
    yield "build", about.get("build")
    yield "CUDA module", about.get("cuda_module")
    if gpu:
        bandwidth = 1e-9 * gpu.get("memory_bandwidth", 0)
        yield "GPU", (
            f"{gpu['name']}, compute capability {gpu['compute_major']}.{gpu['compute_minor']}, "
            f"{gpu['processors']} multiprocessors at {gpu['clock_khz'] / 1e3:.0f} MHz, "
            f"{gpu['memory_bytes'] / 2**30:.1f} GiB at {bandwidth:.0f} GB/s"
        )
        module = about.get("kernel_module", "")
        numbers = (gpu[f"{one}_version"] for one in ("driver", "runtime"))
        driver, runtime = (f"{number // 1000}.{number % 1000 // 10}" for number in numbers)
        yield "driver", f"{module and module + ', '}CUDA {driver}, runtime {runtime}"
    if cpu:
        memory = cpu["memory_bytes"] / 2**30
        yield "processor", f"{cpu['name']}, {cpu['processors']} processors, {memory:.1f} GiB"
    yield "instructions", about.get("instructions")
    yield "CPU roofs", roofs[1] and (
        f"{roofs[0]:.1f} GB/s, read and written beyond the caches, and {roofs[1]:.0f} GFLOP/s by "
        "multiply-adds in registers, both measured by this run"
    )
    yield "system", about.get("system")


class Study:
    """A document of JSON: title, facts, points, roofs."""

    def __init__(self, document):
        about = document.get("about", {})
        self.preset = document.get("preset", "")
        what = self.preset or document.get("input", "").split("/")[-1]
        self.title = f"gconv {document.get('command', 'bench')}" + (what and f": {what}")
        self.subject = about.get("subject", "")
        beside = document.get("with", {})
        self.points = read_points(document) + [Point(row) for row in beside.get("results", [])]
        self.has_gpu = any(point.on_gpu for point in self.points)
        devices = {device["kind"]: device for device in reversed(about.get("devices", []))}
        own_gpu = any(point.on_gpu and not point.is_beside for point in self.points)
        gpu = devices.get("cuda", {}) if own_gpu else {}
        # Bytes and float32 operations a second, in thousand millions; 0: not known.
        rated = gpu or beside
        self.gpu_roofs = [1e-9 * rated.get(key, 0) for key in ("memory_bandwidth", "peak_flops")]
        self.cpu_roofs = [1e-9 * document.get(k, 0) for k in ("cpu_bandwidth", "cpu_peak_flops")]
        facts = list_facts(document, gpu, devices.get("cpu"), self.cpu_roofs)
        self.facts = {name: fact for name, fact in facts if fact}
        if beside:
            self.facts["beside it"] = f"results of {beside.get('source', '')}, named with '@'"


def plain(data):
    """The JSON of bytes that gzip may have compressed."""
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def read(data):
    return Study(json.loads(plain(data)))

"""What `gconv bench --json` and `compare --json` print: points, and where they were measured."""

import gzip
import json
import shlex
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Point:
    """An implementation on a filter and an image. 0 and "": not known, or there is none such."""

    width: int = 0  # of the image; 0: the implementation cannot run here
    height: int = 0
    filter: str = ""
    filter_width: int = 0  # 0: a chain of filters
    filter_height: int = 0
    rank1: bool = False  # the filter was made of a column and a row
    samples: str = ""
    name: str = ""
    implementation: str = ""  # what ran: the name, or what auto chose
    verdict: str = ""
    reason: str = ""
    runs: int = 0
    seconds: float = 0  # the median of whole runs
    shortest_seconds: float = 0
    lower_quartile_seconds: float = 0
    upper_quartile_seconds: float = 0
    spread_seconds: float = 0
    kernel_seconds: float = 0  # on a GPU, from its memory to its memory
    border_seconds: float = 0
    convert_seconds: float = 0
    transfer_seconds: float = 0
    pixels_per_second: float = 0
    flops: float = 0
    intensity: float = 0
    factor: int = 0
    theory_flops: float = 0

    @property
    def counts(self):
        """Whether it was timed and is right: no other one is in a chart."""
        right = self.verdict in ("exact", "rounded once", "within bound")
        return right and self.runs > 0 and self.seconds > 0

    @property
    def on_gpu(self):
        return self.kernel_seconds > 0

    @property
    def time(self):
        """By which implementations are compared: on a GPU that of its kernels."""
        return self.kernel_seconds or self.seconds

    @property
    def counted_seconds(self):
        """What ratios are of: on a GPU the convolution alone, where it is known."""
        alone = self.kernel_seconds - self.border_seconds - self.convert_seconds
        return alone if alone > 0 else self.time

    @property
    def gflops(self):
        return 1e-9 * self.flops

    @property
    def transforms(self):
        return self.name.startswith(("fft", "tilefft")) or self.name == "cpu:tiles"

    def whisker(self, value, is_rate=True):
        """The quartiles of the runs beside a value made of their median; None: not known. Those of
        kernels are not known."""
        low, high = self.lower_quartile_seconds, self.upper_quartile_seconds
        if self.on_gpu or not 0 < low < high:
            return None
        if is_rate:
            return value * self.seconds / high, value * self.seconds / low
        return value * low / self.seconds, value * high / self.seconds


KEYS = {field.name: field.type for field in fields(Point)}


def make_point(row, common):
    """A point of an object of the JSON. Raises ValueError where a value cannot be."""
    row = {**common, **row} if row.get("verdict") != "not usable" or "width" in row else row
    values = {}
    for key, kind in KEYS.items():
        value = row.get(key)
        if value is None:
            continue
        if isinstance(value, str) != (kind is str):
            raise ValueError(f"a measurement has a wrong value of '{key}'")
        values[key] = kind(value)
    return Point(**values)


def clock_text(document, prefix):
    """ "2600 to 3700 MHz, 45 to 61 degrees C"; "" where nothing is known."""
    parts = []
    for key, unit in (("megahertz", "MHz"), ("celsius", "degrees C")):
        low, high = (document.get(f"{prefix}{key}_{end}", 0) for end in ("low", "high"))
        if round(low) < round(high):
            parts.append(f"{low:.0f} to {high:.0f} {unit}")
        elif high > 0:
            parts.append(f"{high:.0f} {unit}")
    return ", ".join(parts)


def version_text(number):
    return f"{number // 1000}.{number % 1000 // 10}"


class Study:
    """A document of JSON: title, facts, points, roofs."""

    def __init__(self, document):
        about = document.get("about", {})
        self.command = document.get("command", "bench")
        self.preset = document.get("preset", "")
        what = self.preset or document.get("input", "").split("/")[-1]
        self.title = f"gconv {self.command}" + (f": {what}" if what else "")
        self.subject = about.get("subject", "")
        self.points = self.read_points(document)
        self.has_gpu = any(point.on_gpu for point in self.points)
        devices = about.get("devices", [])
        self.cpu = next((d for d in devices if d["kind"] == "cpu"), {})
        self.gpu = next((d for d in devices if d["kind"] == "cuda" and self.has_gpu), {})
        self.instructions = about.get("instructions", "")
        # Bytes and float32 operations a second, in thousand millions; 0: not known.
        self.gpu_roofs = [1e-9 * self.gpu.get(k, 0) for k in ("memory_bandwidth", "peak_flops")]
        self.cpu_roofs = [1e-9 * document.get(k, 0) for k in ("cpu_bandwidth", "cpu_peak_flops")]
        self.facts = [(k, v) for k, v in self.list_facts(document, about) if v]

    @staticmethod
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
        return [make_point(row, common) for row in rows]

    def list_facts(self, document, about):
        commit = about.get("commit", "")
        yield "command", (
            shlex.join(["gconv", *about["arguments"]]) if "arguments" in about else ""
        )
        yield "date", about.get("date", "")
        yield "program", f"gconv {about.get('version', '')}" + (commit and f", commit {commit}")
        yield "build", about.get("build", "")
        if self.gpu:
            d = self.gpu
            yield "GPU", (
                f"{d['name']}, compute capability {d['compute_major']}.{d['compute_minor']}, "
                f"{d['processors']} multiprocessors at {d['clock_khz'] / 1e3:.0f} MHz, "
                f"{d['memory_bytes'] / 2**30:.1f} GiB at {self.gpu_roofs[0]:.0f} GB/s"
            )
            yield "GPU clock", clock_text(document, "gpu_")
            module = about.get("kernel_module", "")
            versions = [version_text(d[f"{one}_version"]) for one in ("driver", "runtime")]
            yield "driver", (module and module + ", ") + "CUDA {}, runtime {}".format(*versions)
        if self.cpu:
            d = self.cpu
            memory = d["memory_bytes"] / 2**30
            yield "processor", f"{d['name']}, {d['processors']} processors, {memory:.1f} GiB"
        yield "clock", clock_text(document, "")
        yield "instructions", self.instructions
        if self.cpu_roofs[1]:
            yield "CPU roofs", (
                f"{self.cpu_roofs[0]:.1f} GB/s, read and written beyond the caches, and "
                f"{self.cpu_roofs[1]:.0f} GFLOP/s by multiply-adds in registers, both measured by "
                "this run"
            )
        yield "system", about.get("system", "")


def plain(data):
    """The JSON of bytes that gzip may have compressed."""
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def read(data):
    return Study(json.loads(plain(data)))

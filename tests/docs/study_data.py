"""The kept data of the study, and what is computed of them."""

import csv
import json
import re
import sys
from pathlib import Path
from statistics import mean

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "benchmarks"))

import study_pictures  # noqa: E402, F401
from study_pictures import charts  # noqa: E402, F401

RESULTS = SOURCE / "docs/results"
PIXELS = 4096 * 4096


def alone(row):
    """Seconds of the convolution."""
    return row["kernel_seconds"] - row.get("border_seconds", 0) - row.get("convert_seconds", 0)


class Data:
    """Rows of one experiment by width of the image, filter and name."""

    def __init__(self, rows):
        self.rows = {(row["width"], row["filter"], row["name"]): row for row in rows}

    def at(self, filter_name, name, width=4096):
        return self.rows[width, filter_name, name]

    def alone(self, *place):
        return alone(self.at(*place))

    def ratio(self, filter_name, name, over, width=4096):
        """How many times as fast as `over` the convolution by `name` is."""
        return self.alone(filter_name, over, width) / self.alone(filter_name, name, width)

    def ratios(self, name, over):
        """By filter, of full rank."""
        return {
            f: self.ratio(f, name, over)
            for width, f, n in self.rows
            if n == name and width == 4096 and "rank" not in f and (width, f, over) in self.rows
        }

    def rates(self, name):
        """GFLOP/s by width and height of filters of full rank."""
        rates = {}
        for width, f, n in self.rows:
            if n == name and width == 4096 and "rank" not in f:
                w, h = map(int, f.split("x"))
                rates[w, h] = 2e-9 * w * h * PIXELS / self.alone(f, n)
        return rates

    def by_width(self, name, *widths):
        """Mean rates over the heights."""
        rates = self.rates(name)
        return [mean(rate for (w, _), rate in rates.items() if w == width) for width in widths]


def read_json(name, machine="h200"):
    document = json.loads((RESULTS / f"study-{machine}" / f"{name}.json").read_text())
    return Data(row for row in document["results"] if row.get("runs"))


def read_parts(name):
    """The tables of a file, each below a comment."""
    parts = re.split(r"^# (?! ).*\n", (RESULTS / f"{name}-h200.txt").read_text(), flags=re.M)
    made = []
    for part in parts[1:]:
        rows = [row for row in csv.DictReader(part.splitlines()) if row.get("kernel_seconds")]
        for row in rows:
            for key in row:
                if key.endswith("seconds") or key in ("width", "flops"):
                    row[key] = float(row[key] or 0)
        made.append(Data(rows))
    return made


def percent_longer(ratio):
    return 100 * (1 / ratio - 1)


def of_source(place, step, image):
    """What a source prints."""
    return next(r.value for r in charts.PUBLISHED
                if (r.place, r.step, r.image) == (place, step, image))


def first(sides, is_met):
    return next(side for side in sides if is_met(side))


STEPS_READ, STEPS_BUILT, BLOCKS_BUILT = read_parts("ladder-built-in")[-3:]
KTH, LECTURE, SQUARES, OWN, RANK1, SECTION_8 = (
    read_json(name) for name in ("kth", "lecture", "squares", "own", "rank1", "section8"))
IN_2011, IN_2014 = read_json("adaptive-2011"), read_json("adaptive-2014")
MAP, LINES = (read_json(name) for name in ("fft-map", "fft-locality"))
SIX = ["3x3", "5x5", "9x9", "17x17", "31x31", "43x43"]
STEPS = ["naive", "const", "tiled", "adaptive", "adaptive:nc", "adaptive:unrolled"]

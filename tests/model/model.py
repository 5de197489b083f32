#!/usr/bin/env python3
"""Judges what gconv promises by a model in fractions (contract.md, rules 1 to 7, 13, 20 and 99).

The model knows nothing of gconv's code: texts become fractions, sums are whole numbers over a
common denominator, and a result is rounded once. Random jobs go to the program model_answer, which
gives the output of each implementation that promises it exact or rounded once. All of its bits must
be those of the model. Each job is computed with each set of instructions of this processor.

Usage: model.py ANSWER [--seed N] [--count N] [--case N] [--instructions SET] [--plant ties|weights]

--case tries one job alone, --instructions one set. --plant puts a defect into the model, which must be found: ties are
rounded away from zero, or weights of texts to float32. Exit status: 0 all equal, 1 something
differs, 2 the command line is wrong.
"""
import argparse
import collections
import functools
import itertools
import math
import operator
import os
import random
import struct
import subprocess
import sys
from fractions import Fraction

BORDERS = ["mirror", "mirror101", "replicate", "wrap", "constant"]
JOBS_AT_ONCE = 500
PLANT = None

Filter = collections.namedtuple("Filter", "weights anchor divisor offset")
Job = collections.namedtuple(
    "Job", "edges width height channels depth out border value filters_alpha correlate scale offset "
    "absolute threshold rule invert threads texts samples")


# ---- Filters -------------------------------------------------------------------------------------

def to_float32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def fraction(text):
    """A number as it is written (rule 20)."""
    over, _, under = text.partition("/")
    parts = [Fraction(float.fromhex(p)) if "0x" in p else Fraction(p) for p in (over, under or "1")]
    return parts[0] / parts[1]


def double(text):
    """The same number in double: a fraction is divided there."""
    over, _, under = text.partition("/")
    parts = [float.fromhex(p) if "0x" in p else float(p) for p in (over, under or "1")]
    return parts[0] / parts[1]


def common_denominator(numbers):
    return math.lcm(*(n.denominator for n in numbers))


def has_small_terms(vectors, divisor):
    """Whether rule 20 takes the numbers as written."""
    denominators = [common_denominator(v) for v in vectors]
    denominators[0] *= divisor.denominator
    sums = [sum(abs(n) * d for n in v) for v, d in zip(vectors, denominators)]
    return (all(d <= 2**53 for d in denominators) and 255 * math.prod(sums) < 2**53
            and all(abs(n.numerator) <= 2**53 for v in vectors for n in v))


def read_filter(text):
    """The filter of a text of header lines and rows, or of two vectors."""
    lines = [line.split() for line in text.split(";")]
    headers = {line[0]: line[1:] for line in lines if line[0].isalpha()}
    vectors = [headers[name] for name in ("column", "row") if name in headers]
    rows = [line for line in lines if not line[0].isalpha()]
    groups = vectors or [list(itertools.chain(*rows))]
    divisor = headers.get("divisor", ["1"])[0]
    numbers = [[fraction(t) for t in group] for group in groups]
    written, doubles = Fraction(1) if divisor == "sum" else fraction(divisor), None
    if PLANT == "weights" or not has_small_terms(numbers, written):
        kept = double if vectors else lambda t: to_float32(double(t))
        doubles = [[kept(t) for t in group] for group in groups]
        numbers = [[Fraction(n) for n in group] for group in doubles]
        written = Fraction(1) if divisor == "sum" else Fraction(double(divisor))
    if divisor == "sum" and doubles:
        # In double, one after the other (rule 21): sum() would round once from Python 3.12 on.
        written = Fraction(math.prod(functools.reduce(operator.add, group) for group in doubles))
    elif divisor == "sum":
        written = math.prod(sum(group) for group in numbers)
    if vectors:
        weights = [[c * r for r in numbers[1]] for c in numbers[0]]
    else:
        weights = [numbers[0][i:i + len(rows[0])] for i in range(0, len(numbers[0]), len(rows[0]))]
    anchor = [int(n) for n in headers.get("anchor", [len(weights[0]) // 2, len(weights) // 2])]
    offset = headers.get("offset")
    return Filter(weights, anchor, written, fraction(offset[0]) if offset else None)


def read_generated(line):
    """The filter of a generator, as model_answer shows it."""
    width, height, x, y, *numbers = line.split()[1:]
    divisor, *numbers = [Fraction(float.fromhex(n)) for n in numbers]
    weights = [numbers[i:i + int(width)] for i in range(0, len(numbers), int(width))]
    return Filter(weights, [int(x), int(y)], divisor, None)


# ---- The definition ------------------------------------------------------------------------------

def place(i, size, border):
    """The index that a border puts at index i; None: the constant."""
    if 0 <= i < size:
        return i
    if border == "replicate":
        return min(max(i, 0), size - 1)
    if border == "wrap":
        return i % size
    if border == "constant":
        return None
    period = 2 * size if border == "mirror" else max(2 * size - 2, 1)
    i %= period
    return i if i < size else (2 * size - 1 if border == "mirror" else 2 * size - 2) - i


def convolve(rows, unit, job, f, outside):
    """A step on rows of whole numbers over `unit`. Returns rows and their unit. `outside` is the
    value of a constant border."""
    common = common_denominator([w for row in f.weights for w in row])
    weights = [[int(w * common) for w in row] for row in f.weights]
    (ax, ay), width, height = f.anchor, job.width, job.height
    left, top = ax - len(weights[0]) + 1, ay - len(weights) + 1
    if job.correlate:
        left, top = -ax, -ay
    else:
        weights = [row[::-1] for row in weights[::-1]]
    if job.border == "constant":
        rows = [[v * outside.denominator for v in row] for row in rows]
        unit *= outside.denominator
        outside = int(outside * unit)
    columns = [place(x + left, width, job.border) for x in range(width + len(weights[0]) - 1)]
    blank = [outside] * len(columns)
    wide = [[outside if x is None else row[x] for x in columns] for row in rows]
    result = []
    for y in range(height):
        sums = [0] * width
        for j, taps in enumerate(weights):
            at = place(y + j + top, height, job.border)
            row = blank if at is None else wide[at]
            for i, weight in enumerate(taps):
                if weight:
                    sums = [s + weight * v for s, v in zip(sums, row[i:i + width])]
        result.append(sums)
    unit *= common
    divisor = f.divisor if f.divisor > 0 else -f.divisor
    sign = 1 if f.divisor > 0 else -1
    return ([[sign * s * divisor.denominator for s in row] for row in result],
            unit * divisor.numerator)


def nearest(over, under):
    whole, rest = divmod(over, under)
    up = 2 * rest >= under if PLANT == "ties" else 2 * rest > under or (2 * rest == under
                                                                         and whole % 2 == 1)
    return whole + up


def conversion(job, filters):
    """What the conversion of `filter` makes of whole numbers over a unit."""
    offset = job.offset
    if offset is None:
        offset = filters[-1].offset or Fraction(0)
    levels = Fraction(257 if job.depth == 16 else 1)  # of 8 bits, in samples of the input
    out = Fraction(257 if job.out == 16 else 1) / levels
    factor, addend = job.scale * out, offset * levels * out
    white = 2**job.out - 1 if job.out > 1 else 255
    common = math.lcm(factor.denominator, addend.denominator)
    a, b = int(factor * common), int(addend * common)

    def convert(value, unit):
        over, under = a * (abs(value) if job.absolute else value) + b * unit, unit * common
        if job.out == 1:
            return 255 if over >= 128 * under else 0
        return min(max(nearest(over, under), 0), white)

    return convert


def to_grey(job, pixel):
    """A grey sample for edges: alpha on white, then the luma (rule 7)."""
    m = 2**job.depth - 1
    if job.channels % 2 == 0:
        *pixel, a = pixel
        pixel = [c if a == m else (a * c + (m - a) * m + (m - 1) // 2) // m for c in pixel]
    if len(pixel) == 1:
        return pixel[0]
    return (19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 32768) >> 16


def planes_of(job):
    """Rows of samples for each channel that enters the chain."""
    size, n = job.width * job.channels, job.channels
    rows = [job.samples[y * size:(y + 1) * size] for y in range(job.height)]
    if job.edges:
        return [[[to_grey(job, row[i:i + n]) for i in range(0, size, n)] for row in rows]]
    return [[row[c::n] for row in rows] for c in range(n)]


def run(job, filters):
    """The output: rows of pixels, each a list of samples."""
    results = []
    levels = 257 if job.depth == 16 else 1
    has_alpha = not job.edges and job.channels % 2 == 0
    for c, plane in enumerate(planes_of(job)):
        is_alpha = has_alpha and c == job.channels - 1
        if is_alpha and not job.filters_alpha:
            kept = job._replace(scale=Fraction(1), offset=Fraction(0), absolute=False)
            convert = conversion(kept._replace(out=max(job.out, 8)), filters)
            results.append([[convert(v, 1) for v in row] for row in plane])
            continue
        outside = Fraction(2**job.depth - 1) if is_alpha else job.value * levels
        unit = 1
        for f in filters:
            plane, unit = convolve(plane, unit, job, f, outside)
        shown = job._replace(out=max(job.out, 8)) if is_alpha else job
        if job.edges:
            limit, sign = job.threshold * levels, -1 if job.rule == 2 else 1
            whites = [[(abs(v) if job.rule == 0 else sign * v) > limit * unit for v in row]
                      for row in plane]
            white = 2**job.out - 1
            results.append([[white * (w != job.invert) for w in row] for row in whites])
        else:
            convert = conversion(shown, filters)
            results.append([[convert(v, unit) for v in row] for row in plane])
    return [list(zip(*rows)) for rows in zip(*results)]


def stored(job, rows):
    """The output as gconv stores it in memory, as hexadecimal digits."""
    if job.out == 16:
        return "".join(struct.pack("<H", s).hex() for row in rows for p in row for s in p)
    if job.out == 8 or not job.edges and job.channels > 1:
        return bytes(s for row in rows for p in row for s in p).hex()
    text = ""
    for row in rows:
        bits = "".join("1" if p[0] else "0" for p in row)
        bits += "0" * (-len(bits) % 8)
        text += int(bits, 2).to_bytes(len(bits) // 8, "big").hex()
    return text


# ---- Random jobs ---------------------------------------------------------------------------------

def random_number(r, kind):
    if kind == "decimals":
        return f"{r.randrange(-20 if r.random() < 0.3 else 0, 100) / 10 ** r.choice([1, 2, 2, 3]):g}"
    if kind == "fractions":
        return f"{r.randrange(-3, 10)}/{r.choice([3, 7, 9, 12, 16])}"
    if kind == "long":
        return f"{r.uniform(-0.2, 1):.{r.choice([5, 7, 9])}f}"
    if kind == "binary":
        return (r.randrange(-9, 40) / 64).hex()
    return str(r.randrange(-3 if r.random() < 0.5 else 0, 10))


def random_filter(r):
    """The text of a filter; "=NAME" for a generator."""
    if r.random() < 0.2:
        sigma, side = r.choice(["0.5", "0.8", "1.4", "2", "2.7"]), r.choice([3, 5, 7])
        return "=" + r.choice([f"gaussian:{sigma},{side}", f"box:{side}", f"box:{side}x3",
                               f"log:{sigma},{side}", f"gaussian:{sigma}"])
    kind = r.choice(["decimals", "decimals", "fractions", "whole", "whole", "long", "binary"])
    width, height = r.choice([(3, 3), (3, 3), (5, 5), (1, 3), (3, 1), (2, 2), (7, 3), (1, 1)])
    lines, vectors = [], r.random() < 0.2
    if vectors:
        height = r.choice([height, 9, 21])
        lines = [name + " " + " ".join(random_number(r, kind) for _ in range(size))
                 for name, size in (("column", height), ("row", width))]
    else:
        lines = [" ".join(random_number(r, kind) for _ in range(width)) for _ in range(height)]
    divisor = r.choice([None, None, "9", "20", "1/3", "0.7", "-2", "sum", "1.125"])
    if divisor == "sum" and "-" in "".join(lines):
        divisor = "16"
    if divisor == "sum":
        lines = [line + (" 1" if i == 0 or vectors else " 0") for i, line in enumerate(lines)]
    if divisor is not None:
        lines.insert(0, "divisor " + divisor)
    if r.random() < 0.2:
        lines.insert(0, f"anchor {r.randrange(width)} {r.randrange(height)}")
    return ";".join(lines)


def random_job(seed, number):
    """Numbers in quotes are fractions as they are written, others the doubles next to these."""
    r = random.Random(f"{seed}/{number}")
    width = r.choice([r.randrange(1, 9), r.randrange(1, 40), r.randrange(60, 140)])
    height = max(1, min(r.randrange(1, 10), 300 // width))
    channels, depth = r.choice([1, 1, 2, 3, 4]), r.choice([8, 8, 16])
    count, most = width * height * channels, 2**depth - 1
    level = r.randrange(most + 1)
    samples = r.choice([
        lambda: [r.randrange(most + 1) for _ in range(count)],
        lambda: [min(most, level + r.randrange(3)) for _ in range(count)],
        lambda: [level] * count,
        lambda: [r.choice([0, most]) for _ in range(count)]])()
    texts = [random_filter(r) for _ in range(r.choice([1, 1, 1, 2, 3]))]
    edges = r.random() < 0.25
    if not edges and texts[-1][0] != "=" and r.random() < 0.2:
        texts[-1] = f"offset {r.choice(['12', '0.5', '-3.25', '128', '0.1', '1/3'])};" + texts[-1]
    scale = r.choice(["1"] * 6 + ["0.5", "2", "-1", "1.1", "0.37", "3", "0.1", "2/3", 0.1, 1.1])
    offset = r.choice([None, None, None, "0", "0.5", "12.5", "-3.25", "128", "0.1", "1/3", 0.1])
    return Job(edges, width, height, channels, depth, r.choice([1, 8, 8, 16]), r.choice(BORDERS),
               Fraction(r.choice(["0", "255", "17", "0.5", "12.3", "1/3", 12.3])), r.random() < 0.3,
               r.random() < 0.3, Fraction(scale), None if offset is None else Fraction(offset),
               r.random() < 0.2, Fraction(r.choice(["5", "0", "0.5", "12.3", "1/3", 12.3])),
               r.randrange(3),
               r.random() < 0.3, r.randrange(1, 4), texts, samples)


def beside(r, number):
    """The double next to a number or another one beside it, or a fraction of small terms."""
    double, simple = float(number), number.limit_denominator(1000)
    doubles = [double, math.nextafter(double, math.inf), math.nextafter(double, -math.inf)]
    return r.choice([Fraction(d) for d in doubles] + [simple] * (abs(simple.numerator) < 2**51))


def hard_job(seed, number):
    """A job whose scale or weights may be far from 1, and whose offset or threshold leaves a sample
    near a tie, however large the numbers are that it cancels."""
    job, r = random_job(seed, number), random.Random(f"hard {seed}/{number}")
    scale = r.choice([1, 3, -1, Fraction(1, 3), Fraction(7, 10)]) * Fraction(2)**r.randrange(-30, 90)
    if r.random() < 0.5:
        unit, side = 2.0**r.randrange(-60, 25), r.choice([1, 3, 5])
        rows = [[(r.choice([-1, 1, 1]) * r.uniform(0.5, 16) * unit).hex() for _ in range(side)]
                for _ in range(side)]
        divisor = r.choice([1, 3, -7, 0.1, 1e10, 2.0**40, 3 * unit])
        job = job._replace(texts=[f"divisor {divisor!r};" + ";".join(map(" ".join, rows))])
    if any(text[0] == "=" for text in job.texts):
        return job
    filters, levels = [read_filter(text) for text in job.texts], 257 if job.depth == 16 else 1
    plane, unit = planes_of(job)[0], 1
    for f in filters:
        plane, unit = convolve(plane, unit, job, f, job.value * levels)
    value = Fraction(r.choice(r.choice(plane)), unit) / levels
    if job.edges:
        return job._replace(threshold=beside(r, abs(value) * r.choice([1, 1, 1, -1])))
    scale = beside(r, scale)
    tie = {1: Fraction(128), 8: Fraction(2 * r.randrange(255) + 1, 2),
           16: Fraction(2 * r.randrange(65535) + 1, 514)}[job.out]
    value = abs(value) if job.absolute else value
    return job._replace(scale=scale, offset=beside(r, tie - scale * value))


def with_denominator(number):
    """The nearest double and a denominator, as the job of the library has them."""
    is_double = Fraction(float(number)) == number
    return [float(number).hex(), float(0 if is_double else number.denominator).hex()]


def line_of(job):
    numbers = [int(job.edges), job.width, job.height, job.channels, job.depth, job.out,
               BORDERS.index(job.border), int(job.filters_alpha), int(job.correlate),
               int(job.offset is not None), int(job.absolute), job.rule, int(job.invert),
               job.threads, *with_denominator(job.value), *with_denominator(job.scale),
               *with_denominator(job.offset or Fraction(0)), *with_denominator(job.threshold)]
    packed = struct.pack(f"<{len(job.samples)}{'BH'[job.depth // 16]}", *job.samples)
    return "\t".join([" ".join(map(str, numbers)), *job.texts, packed.hex()]) + "\n"


# ---- Judging -------------------------------------------------------------------------------------

def answers(program, instructions, jobs):
    """Lists of the lines for each job, and the sets of instructions."""
    environment = dict(os.environ)
    if instructions:
        environment["GCONV_INSTRUCTIONS"] = instructions
    output = subprocess.run([program], input="".join(map(line_of, jobs)), env=environment, text=True,
                            stdout=subprocess.PIPE, check=True).stdout
    first, _, rest = output.partition("\n")
    return [part.splitlines() for part in rest.split("end\n")[:-1]], first.split()[1:]


def judge(case, job, lines, instructions, model, tally):
    """Compares the results with the model's digits. Returns whether all are equal."""
    good = True
    for line in lines:
        word, name, *rest = line.split(" ", 3)
        if word == "failed":
            print(f"case {case}: {line}")
            good = False
        if word in ("bounded", "result"):
            tally[name, rest[0] if rest else word] += 1
        if word != "result" or rest[1] == model:
            continue
        good = False
        size = 4 if job.out == 16 else 2
        at = next(i for i in range(0, len(model), size) if model[i:i + size] != rest[1][i:i + size])
        print(f"case {case}: {name} ({instructions}) promises '{rest[0]}': at byte {at // 2} "
              f"{rest[1][at:at + size]} in the place of {model[at:at + size]}: "
              f"{job._replace(samples='...')}")
    return good


def try_jobs(program, sets, first, jobs, tally):
    """Returns how many jobs have a result that differs."""
    wrong, models = 0, {}
    for instructions in sets:
        every, _ = answers(program, instructions, jobs)
        assert len(every) == len(jobs), "an answer for each job"
        for i, (job, lines) in enumerate(zip(jobs, every)):
            if i not in models:
                generated = iter([line for line in lines if line.startswith("filter")])
                filters = [read_generated(next(generated)) if text[0] == "=" else read_filter(text)
                           for text in job.texts]
                models[i] = stored(job, run(job, filters))
            wrong += not judge(first + i, job, lines, instructions, models[i], tally)
    return wrong


def main():
    global PLANT
    parser = argparse.ArgumentParser()
    parser.add_argument("answer")
    parser.add_argument("--seed", type=int, default=39)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--case", type=int)
    parser.add_argument("--instructions")
    parser.add_argument("--plant", choices=["ties", "weights"])
    options = parser.parse_args()
    PLANT = options.plant
    sets = [options.instructions] if options.instructions else answers(options.answer, None, [])[1]
    tally, wrong = collections.Counter(), 0
    cases = range(options.count) if options.case is None else [options.case]
    for first in range(0, len(cases), JOBS_AT_ONCE):
        jobs = [(hard_job if case % 4 == 3 else random_job)(options.seed, case)
                for case in cases[first:first + JOBS_AT_ONCE]]
        wrong += try_jobs(options.answer, sets, cases[first], jobs, tally)
    for name in dict.fromkeys(name for name, _ in tally):
        print(f"{name}: {tally[name, 'exact']} exact, {tally[name, 'once']} rounded once, "
              f"{tally[name, 'bounded']} bounded")
    few = options.case is None and any(
        tally[name, "once"] < share * options.count * len(sets)
        for name, share in (("reference", 0.4), ("cpu", 0.1)))
    print(f"{len(cases)} jobs with {', '.join(sets)}: {wrong} wrong"
          + (", and too few are promised" if few else ""))
    return 1 if wrong or few else 0


if __name__ == "__main__":
    sys.exit(main())

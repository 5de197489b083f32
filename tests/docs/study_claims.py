"""Further claims of docs/reproduction.md: tables and sentences that study.py does not name."""

import csv
import re
from statistics import mean, median

from study_data import *  # noqa: F403

CPU_KTH, CPU_LECTURE, CPU_2011, CPU_2014 = (
    read_json(name, "cpu") for name in ("kth", "lecture", "adaptive-2011", "adaptive-2014"))
BANDWIDTH = 4.8e12  # nominal, of an H200


def range_of(values):
    values = list(values)
    return [min(values), max(values)]


def rate(data, filter_name, name, width=4096):
    """GFLOP/s of the convolution."""
    w, h = map(int, filter_name.split(" ")[0].split("x"))
    return 2e-9 * w * h * PIXELS / data.alone(filter_name, name, width)


def us(data, filter_name, name, key="kernel_seconds", width=4096):
    return 1e6 * data.at(filter_name, name, width)[key]


def claims_of_kth():
    sides, steps = (256, 512, 1024, 2048, 4096), ("naive", "shared", "const", "tiled", "adaptive", "adaptive:kth")
    yield "Gaussian by two passes takes # s at 4096, against # s in one pass with constant memory, and # s at 256", [
        of_source("table 3", "Separable", 4096), of_source("table 3", "Constant", 4096),
        of_source("table 3", "Separable", 256)]
    both = ("3x3", "5x5")
    for words, data, name, factor in (
        ("`reference` on the host of the H200", KTH, "reference", 100),
        ("`reference` on the two-core CPU", CPU_KTH, "reference", 100),
        ("`cpu` on the two-core CPU", CPU_KTH, "cpu", 100),
    ):
        yield f"| {words} | # | # |", [factor * data.at(f, name)["seconds"] for f in both]
    yield "`adaptive` with transfers, H200 | # | # |", [
        KTH.at(f, "reference")["seconds"] / KTH.at(f, "adaptive")["seconds"] for f in both]
    yield "the paper's adaptive step is # times as fast as naive. By convolution time `adaptive` is # times as fast on the H200, and `adaptive:kth` # times.", [
        of_source("table 3", "Naive", 4096) / of_source("table 3", "Adaptive", 4096),
        *(KTH.ratio("5x5", name, "naive") for name in ("adaptive", "adaptive:kth"))]
    yield "On the H200 `adaptive` is # times as fast as `naive`, and `adaptive:kth` # times.", [
        KTH.ratio("3x3", name, "naive") for name in ("adaptive", "adaptive:kth")]
    yield "are close together, too: # to # ms an image", range_of(
        1e3 * KTH.at("3x3", name)["seconds"] for name in steps)
    slowest = {f: max(side for side in sides
                      if max(steps, key=lambda n: KTH.at(f, n, side)["kernel_seconds"]) == steps[-1])
               for f in both}
    yield "`adaptive:kth` is the slowest step up to #.", [min(slowest.values())]
    large = [[1 / KTH.ratio(f, name, "naive", side) for f in both for side in sides[3:]]
             for name in ("shared", "const")]
    yield "`shared` takes # to # times the convolution time of `naive`, and `const` # to # times", [
        *range_of(large[0]), *range_of(large[1])]
    yield "by `kernel ms`: # and # us at 3x3 and 256, and `naive` #.", [
        us(KTH, "3x3", name, width=256) for name in ("shared", "const", "naive")]
    # Equations 9 to 11 and 13, FLOP for a byte.
    intensity = {
        "naive, 9": lambda n: 0.25,
        "shared, 10": lambda n: 2 * n / (4 * 4 + 4 * n),
        "shared and constant, 11": lambda n: 2 * n / (4 * 4),
    }
    for words, equation in intensity.items():
        name = {"n": "naive", "s": "shared"}[words[0]] if "," in words[:7] else "const"
        rates = [1e-9 * factor * equation(n) for factor in (80e9, BANDWIDTH) for n in (9, 25)]
        yield f"| {words} | # | # | # | # | # | # |", [*rates, *(rate(KTH, f, name) for f in both)]
    tiles = [2e-9 * BANDWIDTH * n * 21 / (4 * (2 * 4 + (21 - 2) * 2)) for n in (9, 25)]
    yield "| tiles, 13, T = 21 | # | # | # | # | `adaptive` #, `adaptive:kth` # | #, # |", [
        None, None, *tiles, *(rate(KTH, f, n) for f in both for n in ("adaptive", "adaptive:kth"))]
    yield "its equation 13 gives #", [tiles[1] * 80e9 / BANDWIDTH]


def claims_of_lecture():
    f, sides = "17x17 rank 1", (400, 2000)
    before = None
    for step, name, words in (
        ("Naive version (CPU)", "reference", "| naive, CPU | # | # | `reference` | # | # |"),
        ("Naive version (GPU)", "naive:lecture", "| naive, GPU | # (3.3) | # (3.3) | `naive:lecture` | # | # |"),
        ("Shared memory", "const:lecture", "| shared memory | # (1.003) | # (1.05) | `const:lecture` | # (#) | # (#) |"),
        ("Separable convolution", "twopass:lecture", "| separable | # (8.9) | # (9.2) | `twopass:lecture` | # (#) | # (#) |"),
        ("Optimized separable convolution", "twopass:lecture1d", "| optimised separable | # (1.8) | # (1.9) | `twopass:lecture1d` | # (#) | # (#) |"),
        (None, "twopass", "| | | | `twopass` | # (#) | # (#) |"),
    ):
        key = "seconds" if name == "reference" else "kernel_seconds"
        numbers = [of_source("Runtime and speedups", step, side) for side in sides] if step else []
        for side in sides:
            numbers.append(1e3 * LECTURE.at(f, name, side)[key])
            if words.count("(#)"):
                numbers.append(LECTURE.ratio(f, name, before, side))
        before = name
        yield words, numbers
    for name in ("reference", "cpu"):
        yield f"| `{name}`, ms | # | # |", [
            1e3 * CPU_LECTURE.at(f, name, side)["seconds"] for side in sides]
    times = [data.at(f, "reference", side)["seconds"] for data in (LECTURE, CPU_LECTURE) for side in sides]
    yield "it takes # to # times as long as the lecture's program", range_of(
        1e3 * t / of_source("Runtime and speedups", "Naive version (CPU)", side)
        for t, side in zip(times, 2 * sides))
    gains = [LECTURE.ratio(f, "twopass:lecture1d", "twopass:lecture", side) for side in sides[::-1]]
    yield "`twopass:lecture1d` has # times the speed of `twopass:lecture` at 2000x2000 and # times at 400x400", gains
    yield "by less: # times as fast at 2000x2000", gains[:1]
    alone = [us_alone(LECTURE, f, name, 2000) for name in ("naive:const", "const")]
    yield "`naive:const` and `const` take # and # us at 2000x2000", alone


def us_alone(data, filter_name, name, width=4096):
    return 1e6 * data.alone(filter_name, name, width)


def claims_of_2011():
    def thinned(name, over, *filters):
        ratios = IN_2011.ratios(name, over)
        return ratios, [ratios[f] for f in filters], sum(ratio > 1 for ratio in ratios.values())

    ratios, at, faster = thinned("tiled:nopad", "tiled:nopad:16x16x2", "17x41", "17x9")
    yield "factor 4 over factor 2: # (the median), faster at # of # sizes; # at 17x41, # at 17x9", [
        median(ratios.values()), faster, len(ratios), *at]
    ratios, _, faster = thinned("tiled:16x16x2", "tiled:nopad:16x16x2")
    yield "padding is faster at # of # sizes, # times on average", [
        faster, len(ratios), mean(ratios.values())]
    yield "and where it loses # to # %", range_of(
        100 * (1 - r) for f, r in ratios.items() if f.startswith("17x"))
    ratios, at, faster = thinned("tiled:32x32x4", "tiled:32x32x2", "43x43")
    yield "# at 7x7, # at 43x43, faster at all sizes", [ratios["7x7"], *at]
    rates = IN_2011.rates("adaptive")
    yield "best # GFLOP/s, at #x#. On average over # sizes", [
        max(rates.values()), *max(rates, key=rates.get), len(rates)]
    yield "| #, the largest that gconv has, at all", [
        max(r["factor"] for (_, _, n), r in IN_2011.rows.items() if n == "adaptive")]
    longer = {f: percent_longer(OWN.ratio(f, "naive:const", "naive")) for f in SIX}
    yield "`naive:const` takes # % less than `naive` at 3x3, # % less at 17x17 and # % less at 31x31. At 43x43 it takes # % more", [
        *(-longer[f] for f in ("3x3", "17x17", "31x31")), longer["43x43"]]
    ratios = IN_2014.ratios("adaptive", "tiled")
    yield "Over all 441 sizes of 2014, blocks of 32x32 for both, the mean is #", [mean(ratios.values())]
    yield "# % over six squares, # % over all 441 sizes", [
        100 * (mean(SQUARES.ratio(f, "adaptive", "tiled") for f in SIX) - 1), 100 * (mean(ratios.values()) - 1)]
    yield "and up to # times as slow as `adaptive`", [max(IN_2011.ratios("adaptive", "tiled").values())]
    own = [percent_longer(OWN.ratio(f, "tiled", "adaptive")) for f in SIX]
    yield "`tiled` is # and # % slower than `adaptive` at 3x3 and 5x5, and up to # % faster from 9x9 on", [
        *own[:2], max(100 * (OWN.ratio(f, "tiled", "adaptive") - 1) for f in SIX[2:])]
    yield "`adaptive` is # to # times as fast as `naive`, # on average over the six squares", [
        *range_of(SQUARES.ratio(f, "adaptive", "naive") for f in SIX),
        mean(SQUARES.ratio(f, "adaptive", "naive") for f in SIX)]
    yield "it reaches # GFLOP/s at 43x43, half of what", [rate(SQUARES, "43x43", "naive")]
    nopad = [1 / SQUARES.ratio(f, "tiled:nopad", "tiled") for f in ("9x9", "31x31", "17x17")]
    yield "blocks of 16x16 take # times as long at 9x9 as `tiled` with blocks of 32x32, which needs no padding, and # times at 31x31. At 17x17 they take # times", nopad
    padded = IN_2011.ratios("tiled", "tiled:nopad")
    yield "It loses for tall ones, at # of 361 sizes", [sum(r < 1 for r in padded.values())]
    yield "they are alike up to a height of 17, and `tiled` takes # times as long at 17x27 and # times at 17x33", [
        1 / padded["17x27"], 1 / padded["17x33"]]
    rates = {f: 1e-9 * row["flops"] for (_, f, _), row in CPU_2011.rows.items()}
    yield "`cpu` reaches # to # GFLOP/s over all # sizes: the least at #x7, the most at #x39", [
        *range_of(rates.values()), len(rates),
        *(int(pick(rates, key=rates.get).split("x")[0]) for pick in (min, max))]


def claims_of_2014():
    yield "| H200 | # | # | # | # | # |", [
        *(rate(SQUARES, "3x3", name) for name in ("naive", "adaptive", "adaptive:unrolled")),
        *(SQUARES.ratio("3x3", name, "naive") for name in ("adaptive", "adaptive:unrolled"))]
    yield "faster than `naive` at 17x17 (# us for #)", [
        1e6 * OWN.alone("17x17", name) for name in ("const", "naive")]
    rates = IN_2014.rates("adaptive:unrolled")
    yield "They reach # to # GFLOP/s, where 43x33, with # weights and a factor of 8, has #", [
        *(100 * round(r / 100) for r in range_of(r for (w, h), r in rates.items() if w * h >= 1443)),
        43 * 33, 100 * round(rates[43, 33] / 100)]
    yield "does not run on a GTX 680, both take the same time: #.", [SQUARES.ratio("43x43", "adaptive", "tiled")]
    slower = [f for f, r in IN_2014.ratios("adaptive", "tiled").items() if r < 1]
    widths, heights = zip(*(map(int, f.split("x")) for f in slower))
    yield "All of these are at most # columns wide and # to # rows high", [max(widths), *range_of(heights)]
    yield "`adaptive:nc` takes # to # % longer than `adaptive` at the six squares", range_of(
        percent_longer(SQUARES.ratio(f, "adaptive:nc", "adaptive")) for f in SIX)
    yield "| map of `const` | # GFLOP/s at 3x3, # at 43x43 |", [rate(SQUARES, f, "const") for f in ("3x3", "43x43")]
    ratios = IN_2014.ratios("tiled", "tiled:32x32x2")
    yield "factor 4 over factor 2: # on average, faster at all # sizes, # at 41x43", [
        mean(ratios.values()), sum(r > 1 for r in ratios.values()), ratios["41x43"]]
    by_width = dict(zip(range(3, 44, 2), IN_2014.by_width("tiled:nopad:16x16x2", *range(3, 44, 2))))
    yield "on average at a width of 17, # to # at all others", range_of(v for w, v in by_width.items() if w != 17)
    rates = IN_2014.rates("tiled:nopad")
    best = [max((rates[w, h], w) for w in range(3, 44, 2))[1] for h in range(3, 44, 2)]
    last = [min((rates[w, h], w) for w in range(3, 44, 2))[1] for h in range(3, 44, 2)]
    yield "Factor 4: width 17 is the fastest up to a height of #", [3 + 2 * best.index(first(best, lambda w: w != 17)) - 2]
    yield "from # rows on it is the slowest", [3 + 2 * last.index(17)]
    factors = {f: row["factor"] for (_, f, n), row in IN_2014.rows.items() if n == "adaptive" and "rank" not in f}
    others = [(*map(int, f.split("x")), factor) for f, factor in factors.items() if factor != 16]
    yield "It takes # to # at the other 78, which are # to # rows high and at most # columns wide", [
        *range_of(factor for _, _, factor in others), *range_of(h for _, h, _ in others), max(w for w, _, _ in others)]
    yield "The rate of `adaptive` over that of `tiled` is # on average, over that of `naive` #.", [
        mean(IN_2014.ratios("adaptive", name).values()) for name in ("tiled", "naive")]
    yield "| GTX 680, printed | # | # | # | 2.00 | 3.77 |", [
        of_source("section 9", step, 4096) for step in ("naive", "adaptive tiling")] + [
        of_source("sections 5 and 9", "adaptive, unrolled", 4096)]
    for f in SIX[1:]:
        two = f + " rank 1"
        yield f"| {two} | # | # | # | # | # |", [
            1e6 * RANK1.alone(two, "twopass:tiled"),
            4e-9 * int(f.split("x")[0]) * PIXELS / RANK1.alone(two, "twopass:tiled"),
            *(1e6 * RANK1.alone(two, name) for name in ("twopass", "twopass:kth", "adaptive"))]
    yield "at 5x5 `twopass:tiled` takes # us, `adaptive` # and `adaptive:unrolled` #", [
        *(1e6 * RANK1.alone("5x5 rank 1", name) for name in ("twopass:tiled", "adaptive")),
        1e6 * SQUARES.alone("5x5", "adaptive:unrolled")]
    tiles = ("x1", "x4", "x8", "x16")
    yield "| x1 | x4 | x8 | x16 | table 1 | |---|---|---|---|---|---|" + "".join(
        f" | {f} | # | # | # | # | # |" for f in SIX), [
        1e6 * IN_2014.alone(f + " rank 1", name) for f in SIX
        for name in (*(f"twopass:tiled:{tile}" for tile in tiles), "twopass:tiled")]
    eight = [IN_2014.ratio(f, "twopass:tiled:x8", "twopass:tiled")
             for _, f, name in IN_2014.rows if name == "twopass:tiled:x8"]
    yield "over the # squares, factor 8 for all of them takes up to # % less time, and up to # % more", [
        len(eight), 100 * (1 - 1 / max(eight)), percent_longer(min(eight))]
    passes = dict(re.findall(r"^(\d+x\d+) rank 1 +(\S+ +\S+)$", (RESULTS / "passes-h200.txt").read_text(), re.M))
    yield "| rank 1 | rows | columns | GFLOP/s: rows | columns | |---|---|---|---|---|" + "".join(
        f" | {f} | # | # | # | # |" for f in SIX), [
        number for f in SIX for times in [[float(t) for t in passes[f].split()]]
        for number in (*times, *(2e-3 * int(f.split("x")[0]) * PIXELS / t for t in times))]
    yield "`const` reaches # there (preset `adaptive-2014`)", [rate(SQUARES, "3x3", "const")]
    intensity = 2 * 9 * 32 * 32 / (4 * 34 * 34)
    yield "gives # FLOP/byte at 3x3: 766.36", [intensity]
    yield "TB/s of an H200 the same intensity allows # GFLOP/s", [1e-9 * BANDWIDTH * intensity]
    rates = {f: 1e-9 * row["flops"] for (_, f, _), row in CPU_2014.rows.items() if "rank" not in f}
    yield "`cpu`: # GFLOP/s at 3x3, # at 17x17 and # at 43x43; the most is #, at #x43", [
        *(rates[f] for f in ("3x3", "17x17", "43x43")), max(rates.values()),
        int(max(rates, key=rates.get).split("x")[0])]


def tuned():
    """Rows of tuning-h200.txt: by size the block, the factor, microseconds, the gain, how many kernels
    were tried, and the time by the kernel of the nearest size over that by the fastest one, or None."""
    found = {}
    for line in (RESULTS / "tuning-h200.txt").read_text().splitlines():
        if line.startswith("adaptive:unrolled"):
            _, size, _, _, rows, warps, _, factor, time, gain, tried, nearest = line.split()
            found[size] = ((32 * int(warps) // int(rows), int(rows)), int(factor), float(time), float(gain),
                           int(tried), None if nearest == "-" else float(nearest))
    return found


def claims_of_tuning():
    """The search of tunings: sizes, blocks and factors that it found."""
    found = tuned()
    grid = {size: found[size] for size in (f"{w}x{h}" for w in range(3, 44, 4) for h in range(3, 44, 4))}
    of_all = sum(entry[4] == 110 for entry in found.values())
    nearest = {size: entry[5] for size, entry in found.items() if entry[5] is not None}
    yield "All # sizes were searched", [len(found)]
    yield "At # of them all 110 kernels were tried", [of_all]
    yield "At the other # the # kernels were tried", [len(found) - of_all, min(entry[4] for entry in found.values())]
    yield "at the # sizes that were searched by all 110 kernels afterwards, one of the 19", [
        sum(found[size][4] == 110 for size in nearest)]

    def both(value):
        """Of the grid and of all sizes that were searched."""
        return [value([entry[:2] for entry in table.values()]) for table in (grid, found)]

    def shares(is_met):
        return both(lambda entries: 100 * sum(is_met(*entry) for entry in entries) / len(entries))

    yield "| H200: every second side, # sizes | all # sizes |", [len(grid), len(found)]
    yield "| factor 2 | 21.3 | 24.0 | | # | # |", shares(lambda b, f: f == 2)
    yield "| factor 4 | 33.6 | 44.2 | 24.9 | # | # |", shares(lambda b, f: f == 4)
    yield "| factors above 4 | 34.2 | 31.8 | | # | # |", shares(lambda b, f: f > 4)
    yield "| range of factors | 1 to 10 | 2 to 10 | 1 to 8 | # to # | # to # |", sum(
        both(lambda entries: range_of(f for _, f in entries)), [])
    yield "| factor on average | 4.16 | | | # | # |", both(lambda entries: mean(f for _, f in entries))
    yield "| blocks 16 wide | 77.6; 83.2 | 76.2 | 92.1 | # | # |", shares(lambda b, f: b[0] == 16)
    for height, words in ((64, "| 49.7 | | 36.5"), (32, "| | |"), (16, "| | |")):
        yield f"| blocks of 16x{height} {words} | # | # |", shares(lambda b, f, height=height: b == (16, height))

    def rate_of(size):
        w, h = map(int, size.split("x"))
        return 2e-3 * w * h * PIXELS / found[size][2]

    best = max(found, key=rate_of)
    yield "15x43 has #, by #x# and #, where", [rate_of("15x43"), *found["15x43"][0], found["15x43"][1]]
    yield "By the times of the search #x# is the best, with # GFLOP/s", [*map(int, best.split("x")), rate_of(best)]
    factors = [entry[1] for entry in grid.values()]
    yield "# is the least that wins anywhere, and 8 wins at # % of the 121 sizes", [
        min(entry[1] for entry in found.values()), 100 * factors.count(8) / len(grid)]
    yield "10 wins at # %, 9 nowhere", [100 * factors.count(10) / len(grid)]
    yield "lower ones**, with # threads on average", [mean(w * h for (w, h), *_ in grid.values())]
    gains = {size: entry[3] for size, entry in found.items()}
    most = max(gains, key=gains.get)
    yield "the search gains # % on average at the # sizes, nothing at # of them, and # times the speed at #x#", [
        100 * (mean(gains.values()) - 1), len(gains), sum(gain == 1 for gain in gains.values()), gains[most],
        *map(int, most.split("x"))]
    most = max(nearest, key=nearest.get)
    yield "the # sizes between that were searched after them would take # % longer on average, and # % at most, at #x#", [
        len(nearest), 100 * (mean(nearest.values()) - 1), 100 * (nearest[most] - 1), *map(int, most.split("x"))]
    bandwidth = 16e-6 * LINES.rows[1, "memory", "fft"]["pixels_per_second"]
    yield "where the row `memory` would copy them in # us", [8 * PIXELS / bandwidth]
    yield "a factor of 16 is # times as fast as one of 4 at 3x3, # times at 17x17 and # times at 43x43", [
        SQUARES.ratio(f, "adaptive", "tiled") for f in ("3x3", "17x17", "43x43")]


SPATIAL = ("direct", "separable", "tensor", "adaptive:unrolled")


def fastest_from(name, width, rank="", data=MAP):
    """The least side of a square at which a transform is the fastest; None if there is none."""
    def seconds(side, other):
        return data.rows.get((width, f"{side}x{side}{rank}", other), {}).get("kernel_seconds", float("inf"))

    return next((side for side in range(3, 64, 2)
                 if seconds(side, name) < min(seconds(side, other) for other in SPATIAL)), None)


def tiles_from(machine, width):
    """The least side at which `cpu:tiles` is faster than every tap, and the greatest at which it is
    not."""
    data = read_json("fft-map", machine)
    faster = {side: data.at(f"{side}x{side}", "cpu:tiles", width)["seconds"]
              < data.at(f"{side}x{side}", "cpu:taps", width)["seconds"] for side in range(3, 64, 2)}
    return first(faster, faster.get), max(side for side, is_faster in faster.items() if not is_faster)


def claims_of_transforms():
    peers = {}
    for line in (RESULTS / "peers-h200.txt").read_text().splitlines():
        found = re.match(r"float +(.*?) +(\d+x\d+) +([\d.]+) ", line)
        if found:
            peers[found[1], found[2]] = float(found[3])
    over = {f: peers["cuFFT r2c + multiply + c2r", f] / us_direct
            for (name, f), us_direct in peers.items() if name == "gconv direct"}
    yield "`direct` over cuFFT ([peers-h200.txt](results/peers-h200.txt)) | # | # | between #x25 and #x31 |", [
        over["3x3"], over["5x5"], max(int(f.split("x")[0]) for f in over if over[f] > 1),
        min(int(f.split("x")[0]) for f in over if over[f] < 1)]
    yield "holds: `direct` is # times as fast as cuFFT at 3x3", [over["3x3"]]
    yield "cuFFT takes # us for both and the product", [peers["cuFFT r2c + multiply + c2r", "17x17"]]
    yield "takes # us at 17x17 in the same run", [peers["gconv tilefft", "17x17"]]
    yield "at #x61 for an image of 4096x4096, #x63 for 256x256; above 63x63 for 1024x1024", [
        fastest_from("fft", 4096), fastest_from("fft", 256)]
    yield "`tilefft` | | | at #x25 for 4096x4096, #x19 for 1024x1024 and #x33 for 256x256", [
        fastest_from("tilefft", width) for width in (4096, 1024, 256)]
    yield "none up to 63x63, but `tilefft` at #x63 for 256x256", [fastest_from("tilefft", 256, " rank 1")]
    yield "every tap, full rank | | | at #x13 for 4096x4096, #x21 for 1024x1024, varying between #x17 and #x43", [
        tiles_from("h200", 4096)[0], tiles_from("h200", 1024)[0],
        tiles_from("h200", 256)[0], tiles_from("h200", 256)[1] + 2]
    yield "the same | | | at #x11 for 4096x4096 and 1024x1024, #x13 for 256x256", [
        tiles_from("cpu", width)[0] for width in (4096, 256)]
    yield "at 61x61 the two are alike (# and # us)", [us(MAP, "61x61", name) for name in ("tensor", "fft")]
    yield "at 63x63 `separable` takes # us, `tilefft` # us and `fft` # us", [
        us(MAP, "63x63 rank 1", name) for name in ("separable", "tilefft", "fft")]
    exact = range_of(us(MAP, f"{side}x{side} rank 1", "fft") for side in range(3, 62, 2))
    yield "in # to # us, and `tilefft` refuses them", [10 * round(t / 10) for t in exact]
    oblong = {f for width, f, _ in MAP.rows if width == 4096 and "rank" not in f and len(set(f.split("x"))) == 2}
    yield "A transform takes # to # us for all of them", range_of(us(MAP, f, "tilefft") for f in oblong)
    yield "by `tensor` at any width: at 63x3 it takes # us, `tilefft` #.", [
        us(MAP, "63x3", "tensor"), us(MAP, "63x3", "tilefft")]
    host = MAP.at
    yield "where it takes transforms of tiles (# ms) and every tap would take #", [
        1e3 * host("11x11", "cpu")["seconds"], 1e3 * host("11x11", "cpu:taps")["seconds"]]
    cells = re.findall(r"^ *(\d+x\d+) +([\d.]+) +[\d.]+ +([\d.]+) ", (RESULTS / "cpu-epyc.txt").read_text().split("--whole")[0], re.M)
    yield "FFTW in tiles takes # to # ms, gconv # ms at 3x3 and # ms at 43x43", [
        *range_of(float(fftw) for _, _, fftw in cells), float(cells[0][1]), float(cells[-1][1])]


def claims_of_locality():
    def row(name, points):
        return LINES.rows[points, f"{points} points" if points > 1 else "memory", name]

    copy, two = row("fft", 1), row("fft", 2)
    yield "On the H200 it moves # 10^9 numbers a second, # TB/s", [
        1e-9 * copy["pixels_per_second"], 16e-12 * copy["pixels_per_second"]]
    yield "From 64 to 8192 points cuFFT reaches # to # % of that", range_of(
        200 * row("fft", 2**log)["flops"] / row("fft", 2**log)["theory_flops"] for log in range(6, 14))
    yield "take # times as long as a copy", [two["kernel_seconds"] / copy["kernel_seconds"]]
    shares = {log: 200 * row("cpu", 2**log)["flops"] / row("cpu", 2**log)["theory_flops"] for log in range(1, 15)}
    yield "at # GB/s, reaches # to # % of half the bound up to 256 points (its row `memory` varies from run to run), # % at 1024 points and # % at", [
        16e-9 * row("cpu", 1)["pixels_per_second"], *range_of(shares[log] for log in range(1, 9)), shares[10], shares[14]]
    for log, words in ((1, "| 1 | # GFLOP/s | # |"), (4, "| 4 | # | # |"), (8, "| 8 | # | # |")):
        yield words, [5 * log * 17.7, 5 * log * 600]


def claims_of_contiguous():
    """The rung of De Smet, beside cuFFT."""
    def rate_of(log, name):
        return 1e-9 * LINES.rows[2**log, f"{2 ** log} points", name]["flops"]

    own, logs = ("contiguous", "contiguous:ahead", "contiguous:ranges"), range(1, 15)
    half = {log: 0.5e-9 * LINES.rows[2**log, f"{2 ** log} points", "fft"]["theory_flops"] for log in logs}
    for log in (1, 2, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14):
        yield f"| {log} | # | # | # % | # | # | # |", [
            2 * half[log], rate_of(log, "fft"), 100 * rate_of(log, "fft") / half[log],
            *(rate_of(log, name) for name in own)]
    shares = {log: 100 * rate_of(log, own[0]) / half[log] for log in logs}
    yield "Up to 256 points # to # % of half the bound, but # % at 64", [
        *range_of(shares[log] for log in range(1, 9) if log != 6), shares[6]]
    over = {log: rate_of(log, own[0]) / rate_of(log, "fft") for log in logs}
    yield "It is # times as fast as cuFFT at 2 points and # times at 4 and 32, and takes # to # % longer", [
        over[1], over[5], *range_of(100 * (1 / over[log] - 1) for log in (3, 4, 6, 7, 8))]
    yield "crosses the memory twice, and reaches # to # %", range_of(shares[log] for log in range(9, 15))
    for words, name, sign in (("**Prefetching gains** # to # %", own[1], 1), ("a transform takes # to # % longer.", own[2], -1)):
        yield words, range_of(100 * ((rate_of(log, name) / rate_of(log, own[0])) ** sign - 1) for log in logs)


def claims_of_padding():
    counters = {name: list(map(float, numbers.split())) for name, numbers in re.findall(
        r"^(\w+__\S+) +(.*)", (RESULTS / "padding-h200.txt").read_text(), re.M)}
    conflicts = counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"]
    constants, shared = (counters[f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"]
                         for reason in ("imc_miss", "mio_throttle"))
    yield "of # million bank conflicts at 15x15 # million are left", [1e-6 * conflicts[1], 1e-6 * conflicts[0]]
    yield "a warp waits # cycles for the cache of constants, and # without padding, where warps wait # cycles", [
        constants[0], constants[1], shared[1]]
    yield "At 9x9 a warp waits # cycles for constants", [constants[2]]
    yield "# fit in place of #, which", counters["launch__occupancy_limit_shared_mem"][:2]
    more = {name: numbers.split() for name, numbers in re.findall(
        r"^(\w+__\S+) +(.*)", (RESULTS / "padding-h100.txt").read_text(), re.M)}

    def first_of(name):
        return float(more[name + ".sum"][0])

    requests = first_of("gcc__cache_requests_type_constant")
    yield "loads (`ULDC`): # % of its # million requests. All but # of the # million that it sends on", [
        100 * first_of("smsp__imc_requests_lookup_miss") / first_of("smsp__imc_requests"),
        1e-6 * first_of("smsp__imc_requests"), first_of("gcc__cache_requests_type_constant_lookup_miss"), 1e-6 * requests]
    yield "it answers about one in # cycles", [first_of("gcc__cycles_elapsed") / requests]
    def waits_from(width):
        """Bytes of the first filter whose weights take a quarter more time each than those of the one before."""
        times = {h: IN_2011.alone(f"{width}x{h}", "tiled") / h for h in range(7, 44, 2)}
        return 4 * width * first(range(9, 44, 2), lambda h: times[h] > 1.25 * times[h - 2])

    yield "from # to # bytes of weights on, at filters 7 to 15 wide", range_of(waits_from(w) for w in range(7, 16, 2))
    by_kernel = zip(more["idc__requests.sum"], more["idc__requests_lookup_miss.sum"])
    yield "whose cache misses at # %", [max(100 * float(miss) / float(all_of) for all_of, miss in by_kernel if float(all_of) > 1e7)]


def claims_of_vkfft():
    times = {}
    for row in csv.DictReader(line for line in (RESULTS / "vkfft-h100.txt").read_text().splitlines() if line[0] != "#"):
        times[int(row["width"]), int(row["height"]), row["library"]] = float(row["us"])

    def gain(log):
        return times[2**log, 0, "cuFFT"] / times[2**log, 0, "VkFFT"]

    own = [times[2**log, 0, "VkFFT"] for log in range(1, 14)]
    yield "VkFFT is # times as fast as cuFFT at 2 points, # to # times from 4 to 8192, and # times at 2^14. It takes # to # us up to 8192 points, and # at", [
        gain(1), *range_of(gain(log) for log in range(2, 14)), gain(14), *range_of(own), times[2**14, 0, "VkFFT"]]
    yield "At 4096x4096 both take # us. At 4116x4116, to which `fft` pads for 17x17, cuFFT takes # us and VkFFT #, and at 4608x4608, the paper's multiple of 512, # and #.", [
        mean(times[4096, 4096, name] for name in ("cuFFT", "VkFFT")),
        *(times[side, side, name] for side in (4116, 4608) for name in ("cuFFT", "VkFFT"))]


def claims_of_h100():
    """The second card, beside the H200."""
    squares, steps, planes, lines = (read_json(name, "h100") for name in (
        "squares", "adaptive-2014", "fft-map", "fft-locality"))
    ours, ours_h200 = read_json("ours", "h100"), read_json("ours")

    def both(one, other, f, name):
        times = [1e6 * data.alone(f, name) for data in (one, other)]
        return [*times, times[0] / times[1]]

    copies = [1e6 * data.rows[1, "memory", "fft"]["kernel_seconds"] for data in (lines, LINES)]
    yield "| a copy of 2^25 complex numbers | # | # | # |", [*copies, copies[0] / copies[1]]
    yield "| `fft`, 17x17 | # | # | # |", both(ours, ours_h200, "17x17", "fft")
    for name, f in (("adaptive:unrolled", "3x3"), ("adaptive", "3x3"), ("tiled", "3x3"), ("naive", "3x3"),
                    ("adaptive", "9x9"), ("adaptive", "43x43")):
        yield f"| `{name}`, {f} | # | # | # |", both(squares, SQUARES, f, name)
    yield "| `twopass:tiled`, 43x43 rank 1 | # | # | # |", both(steps, IN_2014, "43x43 rank 1", "twopass:tiled")
    yield "| `direct` from and to 8 bits, 3x3 | # | # | # |", both(ours, ours_h200, "3x3", "direct")
    sizes = steps.ratios("adaptive", "naive")

    def longer(name):
        return mean(steps.alone(f, name) / IN_2014.alone(f, name) for f in sizes)

    yield "`adaptive` takes # times as long on average over the # sizes, and `naive` # times", [
        longer("adaptive"), len(sizes), longer("naive")]
    yield "`adaptive` is # times as fast as `naive` at 3x3, where the H200 has #, and # times at 43x43 (#)", [
        data.ratio(f, "adaptive", "naive") for f in ("3x3", "43x43") for data in (squares, SQUARES)]
    yield "`adaptive:unrolled` is # times as fast at 3x3 (#)", [
        data.ratio("3x3", "adaptive:unrolled", "naive") for data in (squares, SQUARES)]
    yield "crosses at #x21 for 4096 and at #x23 for 1024, where the H200 has #x19 and #x21", [
        first(range(3, 64, 2), lambda side: data.ratio(f"{side}x{side}", "adaptive:unrolled", "fft", width) < 1)
        for data in (planes, MAP) for width in (4096, 1024)]
    assert all(fastest_from("fft", width, data=planes) is None for width in (256, 1024, 4096))
    yield "is the fastest from #x27 on for 4096x4096, and as on the H200 from #x19 and #x33 on", [
        fastest_from("tilefft", width, data=planes) for width in (4096, 1024, 256)]
    over, over_h200 = (data.ratios("adaptive:unrolled", "adaptive") for data in (steps, IN_2014))
    yield "at all # sizes, # to # times and # times on average", [len(over), *range_of(over.values()), mean(over.values())]
    yield "the H200 has # on average at the same sizes", [mean(over_h200[f] for f in over)]
    shipped = [float(ratio) for ratio in re.findall(r" ([\d.]+)$", (RESULTS / "shipped-h100.txt").read_text(), re.M)]
    yield "they are # times as fast on average at # filters, `direct` and `separable` among them, from # to # times", [
        mean(shipped), len(shipped), *range_of(shipped)]

    def shares(name, logs):
        rows = [lines.rows[2**log, f"{2 ** log} points", name] for log in logs]
        return [200 * row["flops"] / row["theory_flops"] for row in rows]

    yield "From 64 to 8192 points cuFFT reaches # to # % of half the bound, and `contiguous` # to # % up to", [
        *range_of(shares("fft", range(6, 14))), *range_of(shares("contiguous", range(1, 9)))]
    yield "at 2^14 points cuFFT reaches # %, where", shares("fft", [14])


def claims():
    for part in (claims_of_kth, claims_of_lecture, claims_of_2011, claims_of_2014, claims_of_tuning,
                 claims_of_transforms, claims_of_locality, claims_of_padding, claims_of_h100,
                 claims_of_vkfft):
        yield from part()

#!/usr/bin/env python3
"""Figures of docs/reproduction.md against the data in docs/results that they come from.

A claim is words of the page in which # stands for a number, and the numbers by the data. A number
of the page may differ by one of its last digit, since kept data are rounded."""

import re
import sys
from statistics import mean

import study_claims
from study_claims import range_of
from study_data import *  # noqa: F403


def over_tiled():
    """Of `adaptive` over `tiled`, all sizes: mean, least, sizes below 1, and those that are 2 %
    slower at most."""
    ratios = IN_2014.ratios("adaptive", "tiled").values()
    slower = [ratio for ratio in ratios if ratio < 1]
    return mean(ratios), min(ratios), len(slower), sum(1 / r <= 1.02 for r in slower)


def unrolled_over_fft(side, width=4096):
    name = f"{side}x{side}"
    return MAP.ratio(name, "adaptive:unrolled", "fft", width)


def best_over_fft(side):
    names = ("direct", "separable", "tensor", "adaptive:unrolled")
    rows = [MAP.rows[4096, f"{side}x{side}", n] for n in names if (4096, f"{side}x{side}", n) in MAP.rows]
    fft = MAP.at(f"{side}x{side}", "fft")["kernel_seconds"]
    return fft / min(row["kernel_seconds"] for row in rows)


def crossing(width):
    return first(range(3, 64, 2), lambda side: unrolled_over_fft(side, width) < 1)


def padding(name="tiled", over="tiled:nopad"):
    return IN_2011.ratios(name, over)


def claims():
    """Words of the page, and numbers of the data."""
    tiled, nc = over_tiled(), IN_2014.ratios("adaptive:nc", "adaptive")
    unrolled = IN_2014.ratios("adaptive:unrolled", "adaptive")
    yield "# times as fast on average over all sizes, # at worst, slower at #.", tiled[:3]
    yield "the mean is #, from # at 3x33 to # at 5x5.", [
        *tiled[:2], max(IN_2014.ratios("adaptive", "tiled").values())]
    yield "`adaptive` is slower than `tiled` at #.", tiled[2:3]
    yield "slower by # % at 3x33, and by 2 % or less at # of them", [percent_longer(tiled[1]), tiled[3]]
    yield "holds: # times as fast as `adaptive` on average over all # sizes, # to #", [
        mean(unrolled.values()), len(unrolled), min(unrolled.values()), max(unrolled.values())]
    yield "`adaptive:unrolled` is # times as fast as `adaptive` on average, from # at 3x43 to # at 43x33", [
        mean(unrolled.values()), unrolled["3x43"], unrolled["43x33"]]
    yield "At # sizes, all with a side of # to #, `adaptive` is faster, by # % at 3x43", [
        sum(r < 1 for r in unrolled.values()),
        *range_of(min(map(int, f.split("x"))) for f, r in unrolled.items() if r < 1),
        percent_longer(unrolled["3x43"])]
    yield "Over all sizes it takes # % longer on average, and is faster at none but #x33", [
        percent_longer(mean(nc.values())), *(int(f.split("x")[0]) for f, r in nc.items() if r > 1)]
    loads = IN_2014.ratios("adaptive:unrolled:nc", "adaptive:unrolled")
    yield "and # % less on average over all sizes; `adaptive:nc` # % more than `adaptive` on average", [
        100 - 100 / mean(loads.values()), percent_longer(mean(nc.values()))]
    naive = IN_2014.ratios("adaptive", "naive")
    yield "Over all 441 sizes it is # to # times as fast, # on average", [
        min(naive.values()), max(naive.values()), mean(naive.values())]
    yield "does not reach 9.14 (# at most, at 3x17)", [
        IN_2014.ratio("3x17", "adaptive:unrolled", "naive")]
    const = [f for f, r in IN_2014.ratios("const", "naive").items() if r > 1]
    yield "it is faster at # of 441 sizes, all of them 3 to 7 columns wide and taller than wide, by up to # times at 3x43", [
        len(const), IN_2014.ratio("3x43", "const", "naive")]
    rates = IN_2014.rates("adaptive:unrolled")
    yield "| 3x3 | 251.3 GFLOP/s | # |", [1e-9 * SQUARES.at("3x3", "adaptive:unrolled")["flops"]]
    yield "K20: about 1003 | #", [rates[17, 43]]
    yield "17x43 | 43x33: #", [rates[43, 33]]
    for name, words, widths in (
        ("naive:const", "on average over heights # GFLOP/s at a width of 7, # at 25, # at 43", (7, 25, 43)),
        ("const", "on average over heights # GFLOP/s at a width of 31, # at 33, # at 35", (31, 33, 35)),
        ("const", "another edge at 17: #, #, # at 15, 17, 19", (15, 17, 19)),
        ("tiled", "# GFLOP/s at a width of 17, # at 19, # at 21, # at 31, # at 33", (17, 19, 21, 31, 33)),
    ):
        yield words, IN_2011.by_width(name, *widths)
    for name, words, widths in (
        ("const:16x16", "on average over heights # GFLOP/s at a width of 15, # at 17, # at 19; # at 31, # at 33, # at 35", (15, 17, 19, 31, 33, 35)),
        ("const:16x16", "no peaks at 5 and 9: #, #, #, # at 3 to 9", (3, 5, 7, 9)),
        ("tiled:16x16x2", "no drop, # at a width of 17, # at 19, # at 31, # at 33", (17, 19, 31, 33)),
        ("tiled:nopad:16x16x2", "holds, # GFLOP/s on average at a width of 17", (17,)),
    ):
        yield words, IN_2014.by_width(name, *widths)
    rates = IN_2011.rates("naive:const")
    yield "# GFLOP/s at 7x7, # at 17x17, # at 43x43", [rates[s, s] for s in (7, 17, 43)]
    rates = IN_2011.rates("tiled:nopad")
    yield "# at 17x17, # at 9x9; from 23 rows on it is the slowest, # at 17x43", [
        rates[17, 17], rates[9, 9], rates[17, 43]]
    padded = padding()
    yield "Factor 4: # on average, # to #; faster at # of 361 sizes", [
        mean(padded.values()), min(padded.values()), max(padded.values()), sum(r > 1 for r in padded.values())]
    yield "at # of 361 sizes, # of them at most 17 rows high", [
        sum(r > 1 for r in padded.values()),
        sum(r > 1 and int(f.split("x")[1]) <= 17 for f, r in padded.items())]
    yield "# at 7x7, # at 9x9, # at 17x17, # at 41x41: time without", [
        padded[f] for f in ("7x7", "9x9", "17x17", "41x41")]
    yield "# times on average at a height of 7, # times at 33x15", [
        mean(r for f, r in padded.items() if f.endswith("x7")), padded["33x15"]]
    yield "`tiled` takes # times as long as `tiled:nopad` at 15x15, # times at 43x39", [
        1 / padded["15x15"], 1 / padded["43x39"]]
    yield "with blocks of 16x16 for `tiled`, the mean is #", [
        mean(IN_2011.ratios("adaptive", "tiled").values())]
    for data, name, over, words in (
        (IN_2011, "const:32x32", "naive:const", "# times the rate of `naive:const` (2b) on average, # at 7x7, # at 43x43; faster at # of 361 sizes"),
        (IN_2011, "tiled:32x32x4", "tiled:32x32x2", "factor 4 over factor 2: # on average, # at 7x7"),
    ):
        ratios = data.ratios(name, over)
        faster = sum(ratio > 1 for ratio in ratios.values())
        yield words, [mean(ratios.values()), ratios["7x7"], ratios["43x43"], faster][: words.count("#")]
    ratios = {n: IN_2011.ratios(n, "tiled:32x32x4") for n in ("adaptive", "adaptive:16x16", "adaptive:32x32")}
    yield "# times the rate of 7b (blocks of 16x16 for 8a: #; of 32x32 for 8b: #), and # times that of `naive:const`", [
        *(mean(r.values()) for r in ratios.values()), mean(IN_2011.ratios("adaptive", "naive:const").values())]
    # The squares of 2014.
    for f in SIX:
        times = [1e6 * SQUARES.alone(f, name) for name in STEPS]
        yield f"| {f} | # | # | # | # | # | **#** | # | # |", [
            *times, times[0] / times[3], times[0] / times[5]]
    slower = [percent_longer(SQUARES.ratio(f, "const", "naive")) for f in SIX]
    yield "`const` takes # to # % longer than `naive` at all six sizes", [min(slower), max(slower)]
    ratios = [SQUARES.ratio(f, "tiled", "const") for f in SIX]
    yield "holds: # to # times as fast as `const`, with blocks of 32x32", [min(ratios), max(ratios)]
    ratios = [percent_longer(OWN.ratio(f, "const", "shared")) for f in SIX]
    yield "`const` takes # % less to # % more time than `shared`", [-min(ratios), max(ratios)]
    ratios = [SQUARES.ratio(f, "adaptive", "tiled") for f in SIX]
    yield "`adaptive` is #, #, #, #, # and # times as fast as `tiled`", ratios
    yield "at 3x3, 5x5, 9x9, 17x17, 31x31 and 43x43: # on average", [mean(ratios)]
    rates = [2e-9 * int(f.split("x")[0])**2 * PIXELS / SQUARES.alone(f, "adaptive") for f in SIX[3:]]
    yield "on `adaptive` stays at # to # GFLOP/s", [100 * (r // 100) for r in (min(rates), max(rates))]
    # KTH and the lecture.
    for f, place in (("3x3", "table 2"), ("5x5", "table 3")):
        for side in (256, 1024, 4096):
            names = ("naive", "shared", "const", "adaptive", "adaptive:kth")
            yield f"| {f}, {side} | # | # | # | # | # | # | # | # | # |", [
                *(of_source(place, step, side) for step in ("Naive", "Shared", "Constant", "Adaptive")),
                *(100 * KTH.at(f, name, side)["kernel_seconds"] for name in names)]
    both = [KTH.at(f, "reference")["seconds"] / KTH.alone(f, "adaptive") for f in ("3x3", "5x5")]
    yield "convolution time of `adaptive`, H200 | # | # |", both
    # Equation 1 of 2011: processors, the share of the instructions that load, bytes, clock.
    yield "# GB/s by equation 1, of 102 that it has, and # with the filter", [
        240 * share * 4 * 1.30 for share in (2 / 8, 1 / 8)]
    yield "reads # pixels one by one, and # if it reads its part of the image once: # times fewer", [
        16 * 16 * 23 * 23, 38 * 38, 16 * 16 * 23 * 23 / 38**2]
    yield from claims_of_built_in()
    yield from study_claims.claims()
    # The pictures at the beginning.
    printed = [row for row in charts.PUBLISHED if row.place == "table 3" and row.image == 4096]
    naive, adaptive = (next(r.value for r in printed if r.step == s) for s in ("Naive", "Adaptive"))
    kernels = [KTH.at("5x5", name)["kernel_seconds"] for name in ("naive", "adaptive")]
    yield "# times as fast as naive in the paper, # times on the H200", [
        naive / adaptive, kernels[0] / kernels[1]]
    over_one = {x: y for x, y, _ in study_pictures.chart_of(*study_pictures.PICTURES[2][1:]).series[0].dots}
    yield "At 3x3 sums are # times as fast as transforms of tiles. From #x", [
        over_one[3], first(sorted(over_one), lambda side: over_one[side] < 1)]
    yield "By that measure the H200 has # and #", [best_over_fft(3), best_over_fft(5)]
    # Transforms.
    yield "images of 4096 | # | # | at #x", [
        unrolled_over_fft(3), unrolled_over_fft(5), crossing(4096)]
    yield "at 19x19; at #x21 for 1024", [crossing(1024)]
    yield "and # times as fast as `fft`; the paper's own kernel # times", [
        best_over_fft(3), unrolled_over_fft(3)]
    yield "whole images, border and conversion in the times | # (`direct`) | # (`direct`)", [
        best_over_fft(3), best_over_fft(5)]
    yield from study_claims.claims_of_contiguous()


def claims_of_built_in():
    """Of the run with blocks that are compiled in."""
    def us(data, f, name, width=4096):
        return 1e6 * data.alone(f, name, width)

    def rate(f, name):
        side = int(f.split("x")[0])
        return 2e-9 * side * side * PIXELS / SECTION_8.alone(f, name)

    yield "`adaptive` #, #, #, #, # and # us at the six squares, where a size that is read takes #, #, #, #, # and #", [
        *(us(STEPS_BUILT, f, "adaptive") for f in SIX), *(us(STEPS_READ, f, "adaptive") for f in SIX)]
    gains = {name: [us(STEPS_READ, f, name) / us(STEPS_BUILT, f, name) for f in SIX]
             for name in ("const", "tiled", "adaptive")}
    yield "`adaptive` is # times as fast at 3x3 and # times at 5x5, `tiled` # and # times, `const` # to # times", [
        *gains["adaptive"][:2], *gains["tiled"][:2], min(gains["const"]), max(gains["const"])]
    over = [[us(data, f, "adaptive") / us(data, f, "adaptive:unrolled") for f in SIX]
            for data in (STEPS_READ, STEPS_BUILT)]
    yield "`adaptive:unrolled` is # times as fast as `adaptive` at 3x3, where it was # times, and # at 31x31", [
        over[1][0], over[0][0], over[1][4]]
    yield "`tiled` takes # us at 3x3 and # at 43x43 with blocks of 32x32", [
        us(BLOCKS_BUILT, "3x3", "tiled"), us(BLOCKS_BUILT, "43x43", "tiled")]
    nc, unrolled = ([us(SQUARES, f, name) for f in SIX]
                    for name in ("adaptive:unrolled:nc", "adaptive:unrolled"))
    yield "takes # us at 3x3 and # at 5x5, where `adaptive:unrolled` takes # and #, and at most # % more", [
        *nc[:2], *unrolled[:2], max(100 * (a / b - 1) for a, b in zip(nc[2:], unrolled[2:]))]
    yield "`adaptive:unrolled:nc` takes # % more time than `adaptive:unrolled` at 3x3, # % at 5x5", [
        100 * (a / b - 1) for a, b in zip(nc[:2], unrolled[:2])]
    yield "x1`: # GFLOP/s on the H200, # us; with the factor 5 of its table, which is another kernel, # in", [
        rate("5x5", "adaptive:unrolled:x1"), us(SECTION_8, "5x5", "adaptive:unrolled:x1"),
        rate("5x5", "adaptive:unrolled")]
    yield "const:hwu`: # GFLOP/s, # us (the same run): # times slower", [
        rate("5x5", "const:hwu"), us(SECTION_8, "5x5", "const:hwu"),
        SECTION_8.ratio("5x5", "adaptive:unrolled:x1", "const:hwu")]
    yield "adaptive:unrolled`: # GFLOP/s, # ms (the same run)", [
        rate("32x32", "adaptive:unrolled"), 1e-3 * us(SECTION_8, "32x32", "adaptive:unrolled")]
    yield "as in the paper, takes # us at 4096. `twopass:kth`, the two passes without tiles of section 3.4, takes # us, `twopass`, which does not transpose, # and `const` #.", [
        us(KTH, "5x5 rank 1", name) for name in ("twopass:transposed", "twopass:kth", "twopass", "const")]
    yield "`const:kth`: # us at 3x3 and # at 5x5, where `const` takes # and #", [
        us(KTH, f, name) for name in ("const:kth", "const") for f in ("3x3", "5x5")]


def check_pictures():
    """The pictures hold the figures of the data."""
    for name, *which in study_pictures.PICTURES:
        image = (SOURCE / f"docs/images/study-{name}.svg").read_text(encoding="utf-8")
        told = re.search('<desc id="figures">(.*?)</desc>', image, re.S)[1].replace("&amp;", "&")
        if told != study_pictures.figures(study_pictures.chart_of(*which)):
            yield f"docs/images/study-{name}.svg is not what benchmarks/study_pictures.py draws"


NUMBER = r"(\d+(?:\.\d+)?)"


def check(page, words, wanted):
    """What is wrong with a claim, or None. None in the numbers: it is not of our data."""
    pattern = r"\s+".join(re.escape(word).replace(r"\#", NUMBER) for word in words.split())
    found = re.search(pattern, page)
    if found is None:
        return "the page does not say: " + words
    for text, value in zip(found.groups(), wanted):
        digit = 10.0 ** -len(text.partition(".")[2])
        if value is not None and abs(float(text) - value) > 1.01 * digit:
            return f"{text} is {value:.6g} by the data: " + " ".join(found[0].split())
    return None


def main():
    page = (SOURCE / "docs/reproduction.md").read_text(encoding="utf-8")
    made = list(claims())
    wrong = [error for error in (check(page, *claim) for claim in made) if error]
    wrong += check_pictures()
    print("\n".join(wrong) or f"{len(made)} claims agree with the data")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

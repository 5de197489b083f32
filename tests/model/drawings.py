#!/usr/bin/env python3
"""Judges drawings of random small images against rules 101 and 105 to 108 of docs/contract.md, which are
written here once more in whole numbers and slowly: `gconv sketch`, thresholds that `gconv edges`
finds, thinning, and marks that are dropped.

    drawings.py GCONV [--seed N] [--count N]

Prints the seed, and of each failure what was drawn of which image. Exits with 1 if there is one."""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile

MOST = 65535


def nearest(numerator, denominator):
    """The whole number nearest to a quotient, ties to even."""
    whole, rest = divmod(numerator, denominator)
    return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1))


def mirrored(i, n):
    i %= 2 * n
    return i if i < n else 2 * n - 1 - i


def convolve(rows, filter_):
    """A symmetric filter of odd sides, mirrored borders, in whole numbers."""
    height, width, half = len(rows), len(rows[0]), len(filter_) // 2
    around = range(-half, half + 1)
    taps = [(j, i, filter_[j + half][i + half]) for j in around for i in around]
    taps = [tap for tap in taps if tap[2] != 0]
    across = {x: mirrored(x, width) for x in range(-half, width + half)}
    down = {y: mirrored(y, height) for y in range(-half, height + half)}
    return [[sum(weight * rows[down[y + j]][across[x + i]] for j, i, weight in taps)
             for x in range(width)] for y in range(height)]


# ---- Responses -----------------------------------------------------------------------------------


def whole_gaussian(sigma, half):
    """One side, from the centre on."""
    real = [math.exp(-k * k / (2 * sigma * sigma)) for k in range(half + 1)]
    outer = [math.floor(255 * part / (2 * sum(real) - real[0]) + 0.5) for part in real[1:]]
    return [255 - 2 * sum(outer), *outer]


def blurred(rows, sigma):
    half = math.ceil(3 * sigma)
    weights, side = whole_gaussian(sigma, half), range(-half, half + 1)
    values = convolve(rows, [[weights[abs(j)] * weights[abs(i)] for i in side] for j in side])
    return [[max(0, min(MOST, nearest(257 * v, 255 * 255))) for v in row] for row in values]


GAUSS5 = [[a * b for b in (2, 4, 5, 4, 2)] for a in (2, 4, 5, 4, 2)]
LAPLACE3 = [[0, 1, 0], [1, -4, 1], [0, 1, 0]]


def edge_responses(rows, rule):
    values = convolve(convolve(rows, GAUSS5), LAPLACE3)
    if rule == "abs":
        values = [[abs(v) for v in row] for row in values]
    elif rule == "negative":
        values = [[-v for v in row] for row in values]
    return [[max(0, min(MOST, nearest(257 * v, 4 * 289))) for v in row] for row in values]


SOBEL = [[[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]]


def magnitudes(rows, norm):
    """In samples of 16 bits that are an eighth of a magnitude."""
    across, down = (convolve(convolve(rows, GAUSS5), weights) for weights in SOBEL)
    pairs = [list(zip(*both)) for both in zip(across, down)]
    if norm == "l1":
        return [[nearest(257 * (abs(a) + abs(b)), 8 * 289) for a, b in row] for row in pairs]
    return [[round(257 * math.sqrt(a * a + b * b) / (8 * 289)) for a, b in row] for row in pairs]


def cut(responses, most):
    """The least response that at most so many pixels exceed."""
    flat = sorted(k for row in responses for k in row)
    for k in [0] + flat:
        if sum(other > k for other in flat) <= most:
            return k
    return MOST


# ---- Marks ---------------------------------------------------------------------------------------


def marks(levels):
    """The sets of pixels with levels that touch."""
    left = {(y, x) for y, row in enumerate(levels) for x, level in enumerate(row) if level}
    while left:
        found, todo = set(), [left.pop()]
        while todo:
            y, x = todo.pop()
            found.add((y, x))
            near = {(y + j, x + i) for j in (-1, 0, 1) for i in (-1, 0, 1)} & left
            left -= near
            todo += near
        yield found


def drop(levels, least):
    for mark in list(marks(levels)):
        if len(mark) < least:
            for y, x in mark:
                levels[y][x] = 0


# The pixels P2 to P9 of Guo and Hall: above, and on clockwise.
AROUND = [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)]


def is_taken(marked, y, x, odd):
    p2, p3, p4, p5, p6, p7, p8, p9 = [(y + j, x + i) in marked for j, i in AROUND]
    pieces = (not p2 and (p3 or p4)) + (not p4 and (p5 or p6)) + \
        (not p6 and (p7 or p8)) + (not p8 and (p9 or p2))
    pairs = min((p9 or p2) + (p3 or p4) + (p5 or p6) + (p7 or p8),
                (p2 or p3) + (p4 or p5) + (p6 or p7) + (p8 or p9))
    side = (p2 or p3 or not p5) and p4 if odd else (p6 or p7 or not p9) and p8
    return pieces == 1 and 2 <= pairs <= 3 and not side


def thin(levels):
    marked = {(y, x) for y, row in enumerate(levels) for x, level in enumerate(row) if level}
    idle, odd = 0, True
    while idle < 2:
        taken = {(y, x) for y, x in marked if is_taken(marked, y, x, odd)}
        marked -= taken
        for y, x in taken:
            levels[y][x] = 0
        idle, odd = 0 if taken else idle + 1, not odd


# ---- Drawings ------------------------------------------------------------------------------------


def means(rows, side):
    """Of square cells."""
    def mean(values):
        return (sum(values) + len(values) // 2) // len(values)
    return [[mean([v for row in rows[y:y + side] for v in row[x:x + side]])
             for x in range(0, len(rows[0]), side)] for y in range(0, len(rows), side)]


def at(cells, y, x):
    return cells[max(0, min(len(cells) - 1, y))][max(0, min(len(cells[0]) - 1, x))]


def smoothed(cells, times):
    for _ in range(times):
        cells = [[(sum(at(cells, y + j, x + i) for j in (-1, 0, 1) for i in (-1, 0, 1)) + 4) // 9
                  for x in range(len(cells[0]))] for y in range(len(cells))]
    return cells


def interpolated(cells, side, width, height):
    def place(i):
        cell, rest = divmod(2 * i + 1 + side, 2 * side)
        return cell, 256 * rest // (2 * side)

    def mix(a, b, weight):
        return (a * (256 - weight) + b * weight + 128) // 256
    rows = []
    for y in range(height):
        j, down = place(y)
        line = [mix(at(cells, j - 1, i), at(cells, j, i), down) for i in range(len(cells[0]))]
        rows.append([mix(at([line], 0, i - 1), at([line], 0, i), across)
                     for i, across in map(place, range(width))])
    return rows


def darkness(n, g):
    units = 2 ** 27 - (n + 12336) * g
    return units // 8192 if units > 0 else -(-units // 8192)


def tone(numerator, denominator):
    part = max(0, min(255, 255 * numerator // denominator))
    return part * part * (765 - 2 * part) // 65025


def sketch(rows, sigma):
    width, height, side = len(rows[0]), len(rows), math.floor(5 * sigma + 0.5)
    kept = blurred(rows, sigma)
    cells = smoothed(means([[2 ** 27 // (n + 12336) for n in row] for row in kept], side), 2)
    ground = interpolated(cells, side, width, height)
    dark = [[darkness(*pair) for pair in zip(*both)] for both in zip(kept, ground)]
    cells = smoothed(means([[abs(d) for d in row] for row in dark], 4 * side), 3)
    usual = interpolated(cells, 4 * side, width, height)
    lines = [[tone(d, 500 + 4 * u) for d, u in zip(*both)] for both in zip(dark, usual)]
    white = 2 * max(cut(kept, 0.03 * width * height), 28270) // 5
    black = min(cut(kept, 0.98 * width * height), white // 4)
    return [[255 - ((255 - line) * (255 - tone(white - n, white - black)) + 127) // 255
             for line, n in zip(*both)] for both in zip(lines, kept)]


def thinned(rows, least):
    levels = [[255 * (v >= 128) for v in row] for row in rows]
    thin(levels)
    drop(levels, least)
    return levels


def edges(rows, rule, share):
    pixels = len(rows) * len(rows[0])
    responses = edge_responses(rows, rule)
    low = max(cut(responses, 0.1 * pixels), 65) if share is None \
        else cut(responses, share / 100 * pixels)
    return [[255 * (k > low) for k in row] for row in responses]


LEAST_MAGNITUDE = 6 * 4 / 1.19


def gradient_edges(rows, norm, share):
    found = magnitudes(rows, norm)
    low = cut(found, (10 if share is None else share) / 100 * len(rows) * len(rows[0]))
    if share is None:
        low = max(low, math.floor(LEAST_MAGNITUDE * 257 / 8))
    return [[255 * (k > low) for k in row] for row in found]


def canny_high(rows, norm):
    return max((cut(magnitudes(rows, norm), 0.1 * len(rows) * len(rows[0])) + 0.5) / (257 / 8),
               LEAST_MAGNITUDE)


# ---- Images and judgement ------------------------------------------------------------------------


def random_image(chance):
    """Noise, smooth or not, with a shape on it."""
    width, height = chance.randint(1, 40), chance.randint(1, 30)
    base, slope, noise = chance.randint(0, 255), chance.uniform(-6, 6), chance.choice((0, 2, 20, 255))
    rows = [[base + int(slope * x) + chance.randint(-noise, noise) for x in range(width)]
            for _ in range(height)]
    for _ in range(chance.randint(0, 3)):
        level, top, left = chance.randint(0, 255), chance.randrange(height), chance.randrange(width)
        for y in range(top, min(height, top + chance.randint(1, 12))):
            for x in range(left, min(width, left + chance.randint(1, 12))):
                rows[y][x] = level
    return [[max(0, min(255, v)) for v in row] for row in rows]


def write_pgm(path, rows):
    with open(path, "wb") as file:
        file.write(b"P5 %d %d 255\n" % (len(rows[0]), len(rows)))
        file.write(bytes(v for row in rows for v in row))


def read_pgm(path):
    with open(path, "rb") as file:
        kind, width, height, most, samples = parse_header(file.read())
    assert kind == b"P5" and most == 255
    return [list(samples[y * width:(y + 1) * width]) for y in range(height)]


def parse_header(data):
    lines = data.split(b"\n", 3)
    if len(lines[0].split()) == 4:  # all in one line
        kind, width, height, most = lines[0].split()
        return kind, int(width), int(height), int(most), data[len(lines[0]) + 1:]
    width, height = lines[1].split()
    return lines[0], int(width), int(height), int(lines[2]), lines[3]


def run(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit("%s: %s" % (" ".join(arguments), done.stderr))
    return done.stdout


def draw(gconv, directory, rows, arguments):
    path, output = os.path.join(directory, "in.pgm"), os.path.join(directory, "out.pgm")
    write_pgm(path, rows)
    told = json.loads(run([gconv, *arguments, "--json", path, output]))
    return read_pgm(output), told


def choose(chance):
    """A drawing: arguments, and what makes the levels that are expected."""
    if chance.random() < 0.2:
        least = chance.randint(1, 6)
        return ["thin", "--min-length", str(least)], lambda rows: thinned(rows, least)
    if chance.random() < 0.5:
        sigma = chance.choice((0.3, 0.5, 0.7, 1, 1.7))
        arguments = ["sketch"] if sigma == 0.7 else ["sketch", "--sigma", str(sigma)]
        return arguments, lambda rows: [[255 - v for v in row] for row in sketch(rows, sigma)]
    rule, norm = chance.choice(("abs", "positive", "negative")), chance.choice(("l1", "l2"))
    share = chance.choice((None, 0, 3, 10, 37.5, 100))
    threshold = "auto" if share is None else "%g%%" % share
    if chance.random() < 0.3:
        return ["edges", "--norm", norm, "--method", "gradient", "--threshold", threshold], \
            lambda rows: gradient_edges(rows, norm, share)
    return ["edges", "--rule", rule, "--threshold", threshold], lambda rows: edges(rows, rule, share)


def judge(gconv, directory, chance):
    """What is wrong with one drawing; None if nothing is."""
    rows = random_image(chance)
    arguments, expected = choose(chance)
    drawn, told = draw(gconv, directory, rows, arguments)
    if drawn != expected(rows):
        return "%s of %s: other pixels" % (" ".join(arguments), rows)
    if told["promise"] != "exact":
        return "%s: %s" % (" ".join(arguments), told["promise"])
    pixels = len(rows) * len(rows[0])
    if arguments[0] == "edges":
        share = sum(v == 255 for row in drawn for v in row) / pixels
        given = [*arguments[:-1], repr(told["threshold"])]
        if abs(told["edge_share"] - share) > 1e-9:
            return "%s of %s: %g are edges" % (" ".join(arguments), rows, share)
        if draw(gconv, directory, rows, given)[0] != drawn:
            return "%s of %s: not those of the threshold told" % (" ".join(arguments), rows)
    wanted = chance.random() < 0.2
    return judge_canny(gconv, directory, rows, chance.choice(("l1", "l2"))) if wanted else None


def judge_canny(gconv, directory, rows, norm):
    arguments = ["edges", "--method", "canny", "--norm", norm, "--high"]
    drawn, told = draw(gconv, directory, rows, [*arguments, "auto"])
    low, high = told["low"], told["threshold"]
    if abs(high / canny_high(rows, norm) - 1) > 1e-8 or abs(low / high - 0.4) > 1e-8:
        return "%s of %s: %r and %r were found" % (" ".join(arguments), rows, low, high)
    if draw(gconv, directory, rows, [*arguments, repr(high), "--low", repr(low)])[0] != drawn:
        return "%s of %s: not those of the thresholds told" % (" ".join(arguments), rows)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gconv")
    parser.add_argument("--seed", type=int, default=40)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    print("seed", options.seed)
    failures = 0
    with tempfile.TemporaryDirectory() as directory:
        for case in range(options.count):
            wrong = judge(options.gconv, directory, random.Random(options.seed * 100003 + case))
            if wrong is not None:
                failures += 1
                print("case %d: %s" % (case, wrong))
    print("%d drawings, %d wrong" % (options.count, failures))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())

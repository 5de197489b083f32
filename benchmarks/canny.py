#!/usr/bin/env python3
"""Canny like OpenCV beside OpenCV, in memory: times of one run, and whether all bytes are equal.

Usage: canny.py GCONV [IMAGE] [--threads N] [--seconds S]

Without IMAGE the picture is samples/still-life.png, enlarged and repeated to 4096x4096 pixels, with
noise of three levels. gconv is timed by `gconv compare`, which also judges it by its reference.
Needs python3-opencv.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

import cv2
import numpy as np

SIDE = 4096


def make_picture():
    here = os.path.dirname(os.path.abspath(__file__))
    sample = cv2.imread(os.path.join(here, "../samples/still-life.png"), cv2.IMREAD_GRAYSCALE)
    large = cv2.resize(sample, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    tiles = [-(-SIDE // side) for side in large.shape]
    picture = np.tile(large, tiles)[:SIDE, :SIDE].astype(np.int64)
    picture += np.random.default_rng(1).integers(-3, 4, picture.shape)
    return np.clip(picture, 0, 255).astype(np.uint8)


def time_opencv(picture, low, high, squared, seconds):
    times = []
    while sum(times) < seconds:
        start = time.perf_counter()
        edges = cv2.Canny(picture, low, high, L2gradient=squared)
        times.append(time.perf_counter() - start)
    return min(times), edges


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gconv")
    parser.add_argument("image", nargs="?")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2)
    given = parser.parse_args()
    cv2.setNumThreads(given.threads)
    picture = cv2.imread(given.image, cv2.IMREAD_GRAYSCALE) if given.image else make_picture()
    print(f"OpenCV {cv2.__version__}, {picture.shape[1]}x{picture.shape[0]}, "
          f"{given.threads} threads; the shortest times in ms")
    with tempfile.TemporaryDirectory() as folder:
        name, out = os.path.join(folder, "in.pgm"), os.path.join(folder, "out.pgm")
        cv2.imwrite(name, picture)
        for norm in ("l1", "l2"):
            for low, high in ((100, 200), (50, 100)):
                peer, edges = time_opencv(picture, low, high, norm == "l2", given.seconds)
                options = ["--like", "opencv", "--norm", norm, "--low", str(low), "--high", str(high)]
                report = json.loads(subprocess.check_output(
                    [given.gconv, "compare", *options, "-j", str(given.threads), "--impl", "cpu",
                     "--time", str(given.seconds), "--json", name]))
                own = report["implementations"][0]["shortest_seconds"]
                subprocess.check_call([given.gconv, "edges", *options, name, out])
                equal = (cv2.imread(out, cv2.IMREAD_GRAYSCALE) == edges).all()
                print(f"{norm} {low:3}/{high}: gconv {own * 1e3:6.1f}, OpenCV {peer * 1e3:6.1f}, "
                      f"ratio {own / peer:.2f}, {'the same bytes' if equal else 'bytes DIFFER'}")


main()

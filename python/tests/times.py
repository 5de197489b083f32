"""Processor time of a call beside scipy and OpenCV, on one processor, as the table of docs/python.md.

    LD_LIBRARY_PATH=build PYTHONPATH=python python3 python/tests/times.py [SIDE...]

Medians in microseconds of up to 31 rounds, which end after 10 s; in each round every one has its
turn. The first column is gconv_plan_run_memory, called by ctypes, with the plan of the function.
"""
import os
import statistics
import sys
import time

import cv2
import numpy
import scipy
from scipy import ndimage

import gconv
from gconv._library import library

ROUNDS, SECONDS = 31, 10
RANDOM = numpy.random.default_rng(5)


def microseconds(call, times=1):
    begin = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - begin) / times * 1e6


def of_library(image, filters):
    """A call of the library alone."""
    plan = gconv.Plan(image.shape, image.dtype, filters, correlate=True)
    out = numpy.empty_like(image)
    row, source, place, error = image.strides[0], image.ctypes.data, out.ctypes.data, plan._error_here
    keep = plan, image, out
    return lambda kept=keep: library.gconv_plan_run_memory(plan._plan, source, row, place, row, None,
                                                           error)


def gaussian(image, side):
    sigma = (side - 1) / 8
    made = gconv._blur(image.shape, image.dtype.name, sigma, 0, 4.0, None, None)
    return f"Gaussian {side}x{side}", [
        of_library(image, made["filters"]), lambda: gconv.gaussian_filter(image, sigma),
        lambda: ndimage.gaussian_filter(image, sigma),
        lambda: cv2.GaussianBlur(image, (side, side), sigma)]


def matrix(image, side):
    weights = RANDOM.random((side, side)) / side ** 2
    return f"{side}x{side}, not separable", [
        of_library(image, [gconv.Filter.weights(weights)]), lambda: gconv.correlate(image, weights),
        lambda: ndimage.correlate(image, weights), lambda: cv2.filter2D(image, -1, weights)]


def fails(call):
    try:
        call()  # makes the plan
        return False
    except MemoryError:  # of scipy, with 255x255 weights
        return True


def nothing():
    """In the place of a call that fails."""


def print_times(image, name, calls):
    calls = [nothing if fails(call) else call for call in calls]
    first = [microseconds(call) for call in calls]
    often = [max(1, int(20000 / (1 + each))) for each in first]
    rounds, begin = [first] if sum(first) > SECONDS * 1e6 else [], time.monotonic()
    while len(rounds) < ROUNDS and (not rounds or time.monotonic() < begin + SECONDS):
        rounds.append([microseconds(call, times) for call, times in zip(calls, often)])
    print(f"| {name}, {image.dtype} | {len(image)} | " + " | ".join(
        "-" if call is nothing else f"{statistics.median(column):.1f}"
        for call, column in zip(calls, zip(*rounds))) + " |", flush=True)


def main():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    cv2.setNumThreads(1)
    print(f"Python {sys.version.split()[0]}, numpy {numpy.__version__}, SciPy {scipy.__version__}, "
          f"OpenCV {cv2.__version__}, gconv {gconv.__version__}")
    print("| filter | side | the library | gconv | scipy | OpenCV |\n|---|---|---|---|---|---|")
    for side in [int(text) for text in sys.argv[1:]] or [8, 64, 512]:
        for image in (RANDOM.integers(0, 256, (side, side), dtype=numpy.uint8),
                      RANDOM.random((side, side), dtype=numpy.float32) * 255):
            for case, sides in (gaussian, (3, 9, 33, 255)), (matrix, (3, 5, 15, 63, 255)):
                for width in sides:
                    if width < side:
                        print_times(image, *case(image, width))


main()

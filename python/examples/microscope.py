"""Cells on a microscope's uneven light: background, contrast and edges of a 16-bit TIFF.

    python3 microscope.py [IMAGE.tif] FOLDER

Writes background.png, flat.png and edges.png to FOLDER. Without an image it draws one, cells.tif.
"""
import os
import sys

import numpy

import gconv


def draw_cells(side=512, count=60):
    """Bright cells on light that falls off to the corners, with noise, as a camera of 16 bits."""
    random = numpy.random.default_rng(3)
    down, across = numpy.mgrid[:side, :side].astype(numpy.float32)
    light = 9000 - 0.02 * ((down - side / 3) ** 2 + (across - side / 2) ** 2)
    cells = numpy.zeros((side, side), numpy.float32)
    for y, x, radius in zip(random.uniform(0, side, count), random.uniform(0, side, count),
                            random.uniform(6, 16, count)):
        cells[(down - y) ** 2 + (across - x) ** 2 < radius ** 2] = 5000
    picture = light + gconv.gaussian_filter(cells, 1.5) + random.normal(0, 250, cells.shape)
    return picture.clip(0, 65535).astype(numpy.uint16)


def main(folder, path=None):
    if path is None:
        path = os.path.join(folder, "cells.tif")
        gconv.imwrite(path, draw_cells())
    image = gconv.imread(path, grey=True)

    # What is wider than any cell is light. A plan would serve a series of images of this shape.
    wide = gconv.Plan(image.shape, image.dtype, [gconv.Filter("gaussian:60")], output="float32")
    background = wide(image)

    flat = image - background
    low, high = numpy.percentile(flat, [1, 99])
    flat = ((flat - low) * (255 / (high - low))).clip(0, 255).astype(numpy.uint8)
    edges = gconv.canny(gconv.gaussian_filter(flat, 2), 60, 140)

    gconv.imwrite(os.path.join(folder, "background.png"), background.astype("uint16"))
    gconv.imwrite(os.path.join(folder, "flat.png"), flat)
    gconv.imwrite(os.path.join(folder, "edges.png"), edges)
    print(f"{path}: {image.shape}, {image.dtype}; {numpy.count_nonzero(edges)} pixels of edges")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        os.makedirs(sys.argv[-1], exist_ok=True)
        main(sys.argv[-1], *sys.argv[1:-1])
    except (OSError, gconv.GconvError) as failure:
        sys.exit(f"microscope.py: {failure}")

"""A loop over frames: everything is set up once, and a frame takes no memory.

    python3 camera.py FOLDER            a disc that moves, 100 frames
    python3 camera.py --camera FOLDER   the first camera, by OpenCV

Writes the last frame and its edges, frame.png and edges.png, to FOLDER, and prints frames/s.
"""
import itertools
import os
import sys
import time

import numpy

import gconv


def disc(count=100, height=480, width=640):
    """Frames with a disc that moves to the right."""
    down, across = numpy.ogrid[:height, :width]
    ramp = numpy.linspace(20, 90, width, dtype=numpy.uint8)
    for index in range(count):
        frame = numpy.broadcast_to(ramp, (height, width)).copy()
        frame[(down - height // 2) ** 2 + (across - 5 * index - 60) ** 2 < 50 ** 2] = 220
        yield frame


def camera(count=100):
    """Grey frames of the first camera."""
    import cv2
    device = cv2.VideoCapture(0)
    for _ in range(count):
        found, frame = device.read()
        if not found:
            sys.exit("there is no camera")
        yield cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)


def main(folder, frames):
    first = next(frames)
    blur = gconv.Plan(first.shape, first.dtype, [gconv.Filter("gaussian:1.5")], runs=100)
    smooth, count, seconds = numpy.empty_like(first), 0, 0.0
    for frame in itertools.chain([first], frames):
        begin = time.perf_counter()
        blur(frame, smooth)
        edges = gconv.canny(smooth, 40, 80)
        seconds += time.perf_counter() - begin
        count += 1
    gconv.imwrite(os.path.join(folder, "frame.png"), frame)
    gconv.imwrite(os.path.join(folder, "edges.png"), edges)
    print(f"{count} frames, {count / seconds:.0f} frames/s")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[-1] == "--camera":
        sys.exit(__doc__)
    os.makedirs(sys.argv[-1], exist_ok=True)
    main(sys.argv[-1], camera() if "--camera" in sys.argv else disc())

#!/usr/bin/env python3
"""A peer of gpu_files.sh: edges of JPEG files by torchvision's GPU decoder and torch.

Decodes batches to luma on the GPU, convolves (5x5 Gaussian, Laplacian, threshold 5), packs bits
there, and writes PNG at level 1 by 16 threads. The chain is the one of `gconv edges`. Prints the
median images a second of several rounds in one process; what starts once is not in it.
"""
import argparse
import concurrent.futures
import pathlib
import statistics
import struct
import time
import zlib

import torch
import torchvision

BATCH = 32
THREADS = 16
GAUSS_LINE = (2, 4, 5, 4, 2)
LAPLACE = ((0, 1, 0), (1, -4, 1), (0, 1, 0))
THRESHOLD = 5


def weights(rows):
    return torch.tensor(rows, dtype=torch.float32, device="cuda")[None, None]


class Edges:
    """The chain: one image of uint8 luma to rows of packed bits."""

    def __init__(self):
        line = torch.tensor(GAUSS_LINE, dtype=torch.float32)
        self.gauss = weights(torch.outer(line, line).tolist())
        self.laplace = weights(LAPLACE)
        self.threshold = THRESHOLD * sum(GAUSS_LINE) ** 2
        self.bits = 2 ** torch.arange(7, -1, -1, dtype=torch.uint8, device="cuda")

    def __call__(self, luma):
        pad = torch.nn.functional.pad
        conv2d = torch.nn.functional.conv2d
        smooth = conv2d(pad(luma[None].float(), (2,) * 4, mode="replicate"), self.gauss)
        response = conv2d(pad(smooth, (1,) * 4, mode="replicate"), self.laplace)[0, 0]
        marks = (response.abs() > self.threshold).to(torch.uint8)
        marks = pad(marks, (0, -marks.shape[1] % 8))
        return (marks.view(marks.shape[0], -1, 8) * self.bits).sum(2, dtype=torch.uint8)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, packed, width):
    """packed: rows of bits, on the host, with a filter byte of 0 before each row."""
    deflate = zlib.compressobj(1, zlib.DEFLATED, 15, 8, zlib.Z_RLE)
    data = deflate.compress(packed.numpy()) + deflate.flush()
    header = struct.pack(">IIBBBBB", width, packed.shape[0], 1, 0, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", data), chunk(b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def run(files, output, edges, threads, decode_alone):
    """Takes all files once; the next batch is decoded while the threads write."""
    gray = torchvision.io.ImageReadMode.GRAY
    written = []
    for first in range(0, len(files), BATCH):
        names = files[first : first + BATCH]
        encoded = list(threads.map(lambda name: torchvision.io.read_file(str(name)), names))
        images = torchvision.io.decode_jpeg(encoded, mode=gray, device="cuda")
        if decode_alone:
            continue
        for name, image in zip(names, images):
            packed = torch.nn.functional.pad(edges(image), (1, 0)).cpu()
            path = output / (name.stem + ".png")
            written.append(threads.submit(write_png, path, packed, image.shape[2]))
    torch.cuda.synchronize()
    for each in written:
        each.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("input", type=pathlib.Path)
    options = parser.parse_args()
    files = sorted(options.input.glob("*.jpg"))
    options.output.mkdir(parents=True, exist_ok=True)
    torch.set_grad_enabled(False)
    torch.backends.cudnn.allow_tf32 = False
    edges = Edges()
    with concurrent.futures.ThreadPoolExecutor(THREADS) as threads:
        for decode_alone in (False, True):
            run(files[: 2 * BATCH], options.output, edges, threads, decode_alone)  # warms up
            times = []
            for _ in range(options.rounds):
                begun = time.perf_counter()
                run(files, options.output, edges, threads, decode_alone)
                times.append(time.perf_counter() - begun)
            rate = len(files) / statistics.median(times)
            what = "decode alone" if decode_alone else "edges"
            print(f"  {options.input}: torch {torch.__version__}, {what}: {rate:.1f} images/s")


if __name__ == "__main__":
    main()

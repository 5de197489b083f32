#!/usr/bin/env python3
"""Simulates gconv-mpi on many ranks, from measured figures. Prints a table in Markdown.

    benchmarks/batches/ranks.py [--images N] [--message US] [--latency US] [--start S] US...

US are the times of an image, in microseconds of a processor: exponentially distributed, which is worse
than real images. Each rank has one thread and one processor; storage is as fast as needed. On rank 0
messages come before images. A rank has as many images ahead as src/mpi/root.c lends it."""

import argparse
import heapq
import random


def simulate(images, ranks, image, message, latency):
    """Seconds for all images, and the part of them in which rank 0 handles messages."""
    draw = random.Random(1)
    ahead = min(64, int(2e-3 / image))
    idle_from = [0.0] * ranks  # when a rank has done all that it was given
    arrivals = []  # of results at rank 0: time, rank
    left = images
    server = 0.0  # when rank 0 has handled all messages
    busy = 0.0
    own = draw.expovariate(1 / image)  # of rank 0: what its image still takes

    def hand_out(rank, time):
        begins = max(idle_from[rank], time + latency)
        idle_from[rank] = begins + draw.expovariate(1 / image)
        heapq.heappush(arrivals, (idle_from[rank] + latency, rank))

    for _ in range(1 + ahead):
        for rank in range(1, ranks):
            if left > 0:
                left -= 1
                server += message / 2
                busy += message / 2
                hand_out(rank, server)
    while arrivals or left > 0:
        gap = (arrivals[0][0] if arrivals else float("inf")) - server
        while gap > 0 and left > 0:  # rank 0 computes where no message has come
            step = min(gap, own)
            server += step
            gap -= step
            own -= step
            if own <= 0:
                left -= 1
                own = draw.expovariate(1 / image)
        if not arrivals:
            break
        time, rank = heapq.heappop(arrivals)
        server = max(server, time) + message
        busy += message
        if left > 0:
            left -= 1
            hand_out(rank, server)
    return server, busy / server


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=1000000)
    parser.add_argument("--message", type=float, default=10, help="us of rank 0 for an image of others")
    parser.add_argument("--latency", type=float, default=100, help="us from rank to rank, sleeps included")
    parser.add_argument("--start", type=float, default=1, help="s")
    parser.add_argument("times", type=float, nargs="+")
    a = parser.parse_args()
    counts = [1, 2, 4, 8, 16, 32, 64]
    print(f"{a.images} images, simulated: {a.message:g} us of rank 0 for an image of others, "
          f"{a.latency:g} us from rank to rank, {a.start:g} s to start")
    print()
    print("| us an image | " + " | ".join(f"{n} ranks" for n in counts) + " | rank 0 busy with messages at 64 |")
    print("|---" * (len(counts) + 2) + "|")
    for us in a.times:
        alone = a.images * us * 1e-6 + a.start
        cells, busy = [], 0
        for n in counts:
            seconds, busy = simulate(a.images, n, us * 1e-6, a.message * 1e-6, a.latency * 1e-6)
            cells.append(f"{alone / (seconds + a.start):.1f}")
        print(f"| {us:.0f} | " + " | ".join(cells) + f" | {100 * busy:.0f} % |")


if __name__ == "__main__":
    main()

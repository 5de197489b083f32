"""Reports: charts, published figures and pages of JSON that is made here or committed."""

import base64
import json
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "lab"))

try:
    import matplotlib  # noqa: F401
except ImportError:
    print("skipped: no matplotlib (Debian: python3-matplotlib)")
    sys.exit(77)

import charts
import draw
import page
import points

ABOUT = {
    "subject": "Noise.",
    "date": "2026-11-26 12:00 UTC",
    "arguments": ["bench", "a b"],
    "version": "0.1.0",
    "commit": "1a2b3c4",
    "build": "Release",
    "instructions": "avx2",
    "system": "Linux",
    "kernel_module": "580.1",
    "devices": [
        {"kind": "cpu", "name": "CPU X", "processors": 2, "memory_bytes": 2**34},
        {
            "kind": "cuda",
            "name": "GPU Y",
            "processors": 10,
            "memory_bytes": 2**34,
            "compute_major": 9,
            "compute_minor": 0,
            "clock_khz": 1000000,
            "memory_bandwidth": 1e12,
            "peak_flops": 2.56e12,
            "driver_version": 13000,
            "runtime_version": 12080,
        },
    ],
}


def row(name, side, width=64, seconds=1e-3, gpu=False, **more):
    size = side if isinstance(side, tuple) else (side, side)
    made = {
        "width": width,
        "height": width,
        "filter": f"{size[0]}x{size[1]}",
        "filter_width": size[0],
        "filter_height": size[1],
        "samples": "grey8",
        "name": name,
        "implementation": name,
        "verdict": "exact",
        "runs": 3,
        "seconds": seconds,
        "shortest_seconds": seconds / 2,
        "lower_quartile_seconds": 0.9 * seconds,
        "upper_quartile_seconds": 1.2 * seconds,
        "pixels_per_second": width * width / seconds,
        "flops": 2 * size[0] * size[1] * width * width / seconds,
    }
    if gpu:
        made["kernel_seconds"] = seconds / 4
    return {**made, **more}


def study_of(rows, preset="", **more):
    document = {"command": "bench", "preset": preset, "results": rows, "about": ABOUT, **more}
    data = json.dumps(document).encode()
    return points.read(data), data


def charts_of(rows, preset="", **more):
    return charts.Maker(study_of(rows, preset, **more)[0]).make()


def titled(made, text):
    return [chart for chart in made if text in chart.title]


def page_of(rows, preset="", **more):
    study, data = study_of(rows, preset, **more)
    return page.page(study, charts.Maker(study).make(), data)


class Charts(unittest.TestCase):
    def test_kinds(self):
        """Which points get which charts."""
        grid = [(w, h) for w in (3, 5) for h in (3, 5)]
        for rows, titles in (
            ([row("cpu", 3), row("reference", 3)], ["Rate, 64x64, 3x3, grey8"]),
            (
                [row("cpu", side) for side in (3, 5)],
                ["Rate over the side of square filters, 64x64, grey8"],
            ),
            (
                [row("cpu", 3, width) for width in (32, 64)],
                ["Time over the side of the image, filter 3x3, grey8"],
            ),
            (
                [row(n, 3, width) for width in (32, 64) for n in ("reference", "cpu")],
                [
                    f"{what} over the side of the image, filter 3x3, grey8"
                    for what in ("Time", "Speed-up")
                ],
            ),
            (
                [row("cpu", size) for size in grid],
                [
                    "Rate over the side of square filters, 64x64, grey8",
                    "GFLOP/s of cpu, 64x64, grey8",
                ],
            ),
            (
                [row(n, size) for size in grid for n in ("cpu:taps", "cpu:tiles")],
                [
                    "Rate over the side of square filters, 64x64, grey8",
                    "CPU: the fastest spatial implementation over the fastest by transforms, 64x64, "
                    "grey8",
                    "CPU: the fastest spatial implementation over the fastest by transforms, by width "
                    "and height, 64x64, grey8",
                    "GFLOP/s of cpu:taps, 64x64, grey8",
                    "GFLOP/s of cpu:tiles, 64x64, grey8",
                    "Speed-up of cpu:tiles over cpu:taps, 64x64, grey8",
                    "The fastest implementation, 64x64, grey8",
                ],
            ),
            (
                [row("direct", 3, gpu=True, intensity=9)],
                ["Roofline of the GPU: rate over arithmetic intensity"],
            ),
        ):
            self.assertEqual([chart.title for chart in charts_of(rows)], titles)

    def test_wrong_results_are_in_no_chart(self):
        bad = row("bad", 3, verdict="WRONG", runs=0, reason="by 7")
        made = charts_of([row("cpu", 3), row("reference", 3), bad])
        self.assertEqual([name for chart in made for name, *_ in chart.rows], ["cpu", "reference"])
        text = page_of([row("cpu", 3), bad])
        self.assertIn("<strong>1 is WRONG</strong>", text)
        self.assertIn('<span class="bad">WRONG</span>: by 7', text)

    def test_a_cell_without_a_right_result_is_empty(self):
        rows = [row("cpu", size) for size in ((3, 3), (3, 5), (5, 3))]
        rows.append(row("cpu", 5, verdict="not usable", runs=0, reason="no"))
        (chart,) = titled(charts_of(rows), "GFLOP/s of cpu")
        self.assertIsNone(chart.cells[5, 5])
        self.assertIn("Empty cells have no right result", chart.note)

    def test_cells_that_were_not_measured_have_the_nearest_colour(self):
        rows = [row("cpu", size) for size in ((3, 3), (9, 3), (3, 9))]
        (chart,) = titled(charts_of(rows), "GFLOP/s of cpu")
        self.assertIn("Others have the colour of the nearest one", chart.note)
        self.assertEqual(draw.fill(chart)[1, 1], chart.cells[9, 3])

    def test_ratios_on_a_gpu_are_of_the_convolution_alone(self):
        rows = []
        for size in ((3, 3), (3, 5)):
            rows.append(row("naive", size, gpu=True, kernel_seconds=5e-3, border_seconds=1e-3))
            rows.append(row("tiled", size, gpu=True, kernel_seconds=3e-3, border_seconds=1e-3))
        (chart,) = titled(charts_of(rows), "Speed-up of tiled over naive")
        self.assertEqual(set(chart.cells.values()), {2})

    def test_whiskers(self):
        (chart,) = charts_of([row("cpu", 3), row("reference", 3)])
        _, _, rate, (low, high) = chart.rows[0]
        self.assertAlmostEqual(low, rate / 1.2)
        self.assertAlmostEqual(high, rate / 0.9)
        (chart,) = charts_of([row(n, 3, gpu=True) for n in ("direct", "tensor")])
        self.assertIsNone(chart.rows[0][3])

    def test_a_published_figure_stands_beside_the_measured_one(self):
        made = charts_of([row("naive", 3, width, gpu=True) for width in (256, 512)], "kth")
        (chart,) = titled(made, "Time over the side of the image, filter 3x3")
        lines = {series.name: series for series in chart.series}
        self.assertAlmostEqual(lines["Naive, GTX 960M"].dots[0][1], 0.03028)
        self.assertEqual(lines["Naive, GTX 960M"].colour, lines["naive"].colour)
        self.assertEqual(lines["Naive, GTX 960M"].role, "published")
        self.assertEqual(lines["naive"].dots[0], (256, 100 * 1e-3 / 4, None))
        text = page_of([row("reference", 3, 256, 0.2)], "kth")
        self.assertIn("<td>KTH 2018, table 2</td><td>Core i7-6700HQ, one core</td>", text)
        self.assertIn(
            '<td class="n">0.57747</td><td class="n">20</td><td class="n">34.6</td>', text
        )
        self.assertNotIn("Published figures", page_of([row("reference", 3, 256)]))

    def test_results_of_another_machine(self):
        """They are drawn with the roofs of their GPU, and compared with nothing of this machine."""
        names = "naive@h200", "fft@h200"
        beside = [row(name, side, gpu=True, intensity=1) for name in names for side in (3, 5)]
        rows = [row(name, side) for name in ("reference", "cpu") for side in (3, 5)]
        rated = {"memory_bandwidth": 4.8e12, "peak_flops": 6e13}
        more = {"with": {"source": "h200", "results": beside, **rated}}
        made = charts_of(rows, **more)
        (chart,) = titled(made, "Rate over the side of square filters")
        self.assertEqual(
            [series.name for series in chart.series], ["reference", "cpu", "naive@h200", "fft@h200"]
        )
        (chart,) = titled(made, "GPU: the fastest spatial")
        self.assertEqual(chart.series[0].name, "measured@h200")
        (chart,) = titled(made, "Roofline of the GPU")
        self.assertEqual(chart.series[-1].name, "roof, as rated: 4800 GB/s, 60000 GFLOP/s")
        self.assertEqual(titled(charts_of(rows + [row("fft", side, gpu=True) for side in (3, 5)], **more),
                                "GPU: the fastest spatial"), [])
        names = [f"cpu:{i}" for i in range(20)]
        beside = [row(f"{name}@h200", side) for name in names for side in (3, 5)]
        many = charts_of([row(name, side) for name in names for side in (3, 5)],
                         **{"with": {"source": "h200", "results": beside}})
        (chart,) = titled(many, "Rate over the side of square filters")
        looks = {s.name: (draw.paint(s.colour), draw.dashes_of(s), s.mark) for s in chart.series}
        self.assertEqual(len(set(looks.values())), 40)
        self.assertEqual(looks["cpu:3"][:2], looks["cpu:3@h200"][:2])
        text = page_of(rows, **more)
        self.assertIn("4 are right", text)
        self.assertIn("results of h200", text)
        self.assertNotIn("GPU Y", text)

    def test_ranks(self):
        """A figure of two passes is compared with filters of rank 1 alone."""
        figure = next(r for r in charts.PUBLISHED if r.step == "Separable")
        for rank1, there in ((False, False), (True, True)):
            one = row("twopass", figure.size, figure.image, gpu=True, rank1=rank1)
            study = study_of([one], "kth")[0]
            self.assertEqual(page.measured_value(study, figure)[0] > 0, there)


    def test_speed_ups_over_all_filters(self):
        """A mean and a largest one are of the filters that both were measured with."""
        rows = [row("naive", side, 4096, gpu=True) for side in (3, 5, 7)]
        for side, times in ((3, 2), (5, 4), (9, 100)):
            rows.append(row("adaptive:unrolled", side, 4096, 1e-3 / times, gpu=True))
        study = study_of(rows, "adaptive-2014")[0]
        for figure in charts.PUBLISHED:
            if figure.preset == study.preset and figure.quantity == "largest speed-up":
                self.assertAlmostEqual(page.measured_value(study, figure)[0], 4)
                figure.quantity = "mean speed-up"
                self.assertAlmostEqual(page.measured_value(study, figure)[0], 3)
                figure.quantity = "largest speed-up"


class Published(unittest.TestCase):
    def test_every_row_names_its_source_and_place(self):
        self.assertEqual(len(charts.PUBLISHED), 167)
        for figure in charts.PUBLISHED:
            self.assertTrue(figure.source and figure.place and figure.step and figure.value > 0)
            self.assertIn(
                figure.quantity,
                (
                    "seconds for 100 images",
                    "milliseconds",
                    "GFLOP/s",
                    "GFLOP/s allowed",
                    "FLOP/byte",
                    "speed-up",
                    "mean speed-up",
                    "largest speed-up",
                    "tiling factor",
                ),
            )


class Page(unittest.TestCase):
    def setUp(self):
        self.rows = [row(n, s) for s in (3, 5) for n in ("cpu", "reference")]

    def check(self, text):
        """Well-formed, without scripts, without anything outside."""
        xml.dom.minidom.parseString(text)
        outside = r"(src|href|action)=\"(?!#|data:)|url\((?!#)|@import|<script|<link|<iframe"
        self.assertIsNone(re.search(outside, text))
        names = re.findall(r' id="([^"]*)"', text)
        self.assertEqual(len(names), len(set(names)))
        for name in re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', text):
            self.assertIn("".join(name), names)

    def test_facts_at_the_head_and_under_each_chart(self):
        text = page_of(self.rows)
        self.check(text)
        for fact in (
            "CPU X, 2 processors, 16.0 GiB",
            "Release",
            "gconv 0.1.0, commit 1a2b3c4",
            "gconv bench &#x27;a b&#x27;",
        ):
            self.assertEqual(text.count(f">{fact}<"), 1)
            self.assertIn(fact, re.search(r"<figcaption>.*</figcaption>", text)[0])
        self.assertNotIn("GPU Y", text)  # took no part
        self.assertIn("580.1, CUDA 13.0, runtime 12.8", page_of([row("direct", 3, gpu=True)]))

    def test_themes(self):
        text = page_of(self.rows)
        self.assertIn("prefers-color-scheme:dark", text)
        images = "".join(re.findall(r"<svg role.*?</svg>", text, flags=re.S))
        self.assertIn("var(--s0)", images)
        for light in draw.LIGHT.values():
            self.assertNotIn(light, images)

    def test_names_are_data(self):
        document = {
            "command": "compare",
            "input": "x/a<b>&'c\n.png",
            "width": 8,
            "height": 8,
            "channels": 1,
            "depth": 8,
            "filters": [{"name": "own", "width": 3, "height": 3}],
            "about": ABOUT,
            "implementations": [
                {
                    "name": name,
                    "implementation": "cpu",
                    "verdict": "exact",
                    "runs": 2,
                    "seconds": 1e-3,
                    "pixels_per_second": 64e3,
                }
                for name in ("auto", "cpu")
            ]
            + [{"name": f"fft:{i}", "verdict": "not usable", "reason": "no GPU"} for i in (1, 2)],
        }
        data = json.dumps(document).encode()
        study = points.read(data)
        text = page.page(study, charts.Maker(study).make(), data)
        self.check(text)
        self.assertIn("<h1>gconv compare: a&lt;b&gt;&amp;&#x27;c\\x0a.png</h1>", text)
        self.assertIn("Rate, 8x8, 3x3, 1 channel of 8 bits", text)
        self.assertIn("auto: cpu", text)
        self.assertIn("<code>fft:1</code>, <code>fft:2</code>: each no GPU", text)

    def test_the_fastest_comes_first(self):
        text = page_of([row("cpu", 3, seconds=2e-3), row("reference", 3, seconds=1e-3)])
        table = text[text.index("All results") :]
        self.assertLess(table.index("<td>reference</td>"), table.index("<td>cpu</td>"))

    def test_all_kinds_of_charts_of_the_studies(self):
        """The committed results can be drawn again."""
        for name in ("adaptive-2014", "fft-locality", "kth", "quick"):
            with self.subTest(name):
                data = (SOURCE / f"docs/results/study-cpu/{name}.json").read_bytes()
                study = points.read(data)
                made = charts.Maker(study).make()
                # One of each kind, because there are many.
                kinds = {(type(c), getattr(c, "kind", "")): c for c in made}.values()
                text = page.page(study, list(kinds), data)
                self.check(text)
                self.assertEqual(text.count('<svg role="img"'), len(kinds))


class Program(unittest.TestCase):
    def run_program(self, *arguments, data=b""):
        command = [sys.executable, str(SOURCE / "lab/report.py"), *arguments]
        return subprocess.run(command, input=data, capture_output=True, check=False)

    def test_files_and_pipes(self):
        data = study_of([row("cpu", 3)])[1]
        with tempfile.TemporaryDirectory() as directory:
            results, output = Path(directory, "r.json"), Path(directory, "p.html")
            results.write_bytes(data)
            self.assertEqual(self.run_program(str(results), "-o", str(output)).returncode, 0)
            done = self.run_program("-", "-o", "-", data=data)
            self.assertEqual(done.stdout, output.read_bytes())
            # The data in a page draw it again.
            packed = re.search(rb"data:application/gzip;base64,([^\"]*)", done.stdout)[1]
            again = Path(directory, "r.json.gz")
            again.write_bytes(base64.b64decode(packed))
            self.assertEqual(self.run_program(str(again), "-o", "-").stdout, done.stdout)

    def test_what_is_no_result(self):
        for data, message in (
            (b"no", b"report.py: Expecting value"),
            (b'{"command": "info"}', b"report.py: no 'results'"),
            (
                b'{"results": [{"name": 7}]}',
                b"report.py: a measurement has a wrong value of 'name'",
            ),
        ):
            done = self.run_program("-", "-o", "-", data=data)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stdout, b"")
            self.assertTrue(done.stderr.startswith(message), done.stderr)


if __name__ == "__main__":
    unittest.main()

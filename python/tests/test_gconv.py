"""The Python module beside numpy, scipy and the program of the same build."""
import ctypes
import doctest
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

try:
    import numpy
except ImportError:
    sys.exit(77)  # CTest: skipped

import gconv
import gconv.cv
from gconv import _library, _plans, _program

try:
    import cv2
except ImportError:
    cv2 = None
try:
    from scipy import ndimage
except ImportError:
    ndimage = None

MODES = ["reflect", "mirror", "nearest", "wrap", "constant", "grid-mirror", "grid-wrap",
         "grid-constant"]
RANDOM = numpy.random.default_rng(1)
BYTES = RANDOM.integers(0, 256, (50, 61), dtype=numpy.uint8)
FLOATS = BYTES.astype(numpy.float32)
WORDS = BYTES.astype(numpy.uint16) * 257


def run_program(image, *arguments):
    """What the program makes of an image."""
    with tempfile.TemporaryDirectory() as folder:
        path_in, path_out = os.path.join(folder, "in.png"), os.path.join(folder, "out.png")
        gconv.imwrite(path_in, image)
        subprocess.run([_program._find(), *arguments, path_in, path_out], check=True,
                       stderr=subprocess.DEVNULL)
        return gconv.imread(path_out)


class BesideHeader(unittest.TestCase):
    def test_structures_are_those_of_the_header(self):
        """Offsets and sizes of all members, as the C compiler lays them out."""
        here = os.path.dirname(os.path.abspath(__file__))
        named = {"error": _library.ErrorText, "filter": _library.FilterData,
                 "shape": _library.Shape, "detector": _library.Detector, "job": _library.Job,
                 "reader_options": _library.ReaderOptions,
                 "writer_options": _library.WriterOptions}
        members = [(name, field) for name, kind in named.items() for field, *_ in kind._fields_]
        lines = [f"printf(\"%zu %zu\\n\", offsetof(gconv_{name}, {field}), "
                 f"sizeof ((gconv_{name} *)0)->{field});" for name, field in members]
        whole = [name for name in named if name != "filter"]  # whose last members are the library's
        lines += [f"printf(\"%zu\\n\", sizeof(gconv_{name}));" for name in whole]
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
            with open(source, "w") as file:
                file.write("#include <gconv.h>\n#include <stddef.h>\n#include <stdio.h>\n"
                           "int main(void) {" + "\n".join(lines) + "}\n")
            subprocess.run([os.environ.get("CC", "cc"), f"-I{here}/../../include", "-o", program,
                            source], check=True)
            answer = subprocess.check_output(program, text=True).splitlines()
        ours = [f"{getattr(named[name], field).offset} {getattr(named[name], field).size}"
                for name, field in members] + [str(ctypes.sizeof(named[name])) for name in whole]
        self.assertEqual(list(zip(members + whole, ours)), list(zip(members + whole, answer)))

    def test_the_name_of_the_library_is_that_of_the_build(self):
        version = _library.library.gconv_version().decode()
        self.assertEqual(_library.NAME, "libgconv.so." + version.rsplit(".", 1)[0])


@unittest.skipIf(ndimage is None, "there is no scipy here")
class BesideScipy(unittest.TestCase):
    def same(self, name, image, *arguments, within=1e-4, **named):
        ours = getattr(gconv, name)(image, *arguments, **named)
        theirs = getattr(ndimage, name)(image.astype(numpy.float64), *arguments, **named)
        self.assertEqual(ours.dtype, image.dtype)
        self.assertLessEqual(abs(ours - theirs).max(), within, (name, arguments, named))

    def test_weights_in_every_mode(self):
        for rows, columns in [(3, 3), (4, 5), (5, 2), (1, 7)]:
            weights = RANDOM.integers(-3, 4, (rows, columns)).astype(float)
            for mode in MODES:
                for name in ["convolve", "correlate"]:
                    self.same(name, FLOATS, weights, mode=mode, cval=9)

    def test_origins(self):
        weights = RANDOM.integers(-3, 4, (4, 5))
        for origin in [1, -1, (1, -2), (-2, 2)]:
            for name in ["convolve", "correlate"]:
                self.same(name, FLOATS, weights, origin=origin)
            self.same("uniform_filter", FLOATS, (4, 5), origin=origin)

    def test_gaussians(self):
        for mode in MODES:
            self.same("gaussian_filter", FLOATS, 2, mode=mode, cval=9)
        self.same("gaussian_filter", FLOATS, (1, 3.5))
        self.same("gaussian_filter", FLOATS, (0, 2), truncate=3)
        self.same("gaussian_filter", FLOATS, 9)

    def test_integers_are_the_result_in_float64_rounded(self):
        """Bytes are rounded once, 16 bits within the bound of a result that is not."""
        for image, within in [(BYTES, 0.5001), (WORDS, 0.51)]:
            self.same("gaussian_filter", image, 2, within=within)
            self.same("gaussian_filter", image, 2, mode="constant", cval=100, within=within)
            self.same("uniform_filter", image, 5, within=within)

    def test_means_and_differences(self):
        for size in [2, 3, 6, (3, 8)]:
            self.same("uniform_filter", FLOATS, size)
        self.same("laplace", FLOATS)
        for name in ["sobel", "prewitt"]:
            for axis in [0, 1, -1, -2]:
                self.same(name, FLOATS, axis)
            for mode in MODES:
                self.same(name, FLOATS, mode=mode, cval=9)
        for mode in MODES:
            self.same("laplace", FLOATS, mode=mode, cval=9)

    def test_channels(self):
        colours = RANDOM.random((20, 21, 3)).astype(numpy.float32)
        self.same("gaussian_filter", colours, (2, 2, 0))
        self.same("uniform_filter", colours, (3, 5, 1))
        self.same("convolve", colours, numpy.ones((3, 3, 1)))
        for name, given, of_planes in [("gaussian_filter", (2, 2, 0), 2),
                                       ("uniform_filter", (3, 5, 1), (3, 5)),
                                       ("convolve", numpy.ones((3, 3, 1)), numpy.ones((3, 3)))]:
            function = getattr(gconv, name)
            for axes in (0, 1), [-3, -2]:
                numpy.testing.assert_array_equal(function(colours, given),
                                                 function(colours, of_planes, axes=axes))
        for name, named in [("laplace", {}), ("sobel", {}), ("sobel", {"axis": 0}), ("prewitt", {})]:
            function = getattr(gconv, name)
            planes = [function(colours[..., channel], **named) for channel in range(3)]
            numpy.testing.assert_array_equal(function(colours, axes=(0, 1), **named),
                                             numpy.dstack(planes))


    def test_what_is_no_number_or_huge_stays_below_the_weights(self):
        """Also where running sums or transforms are the fastest, and in every corner."""
        image, weights = numpy.tile(FLOATS, (6, 7)), RANDOM.random((15, 15))
        for place, odd in [((150, 200), numpy.nan), ((0, 0), numpy.inf), ((299, 426), -numpy.inf),
                           ((299, 7), numpy.nan), ((0, 200), -3.4e38)]:
            image[place], kept = odd, image[place]
            for name, argument, named in [
                    ("gaussian_filter", 1, {}), ("gaussian_filter", 5, {}),
                    ("gaussian_filter", 8, {"mode": "wrap"}), ("gaussian_filter", 20, {}),
                    ("convolve", weights, {}), ("correlate", weights, {"origin": (3, -7)}),
                    ("convolve", weights * (RANDOM.random((15, 15)) < 0.3), {})]:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    ours = getattr(gconv, name)(image, argument, **named)
                    warnings.simplefilter("ignore")
                    theirs = getattr(ndimage, name)(image.astype(numpy.float64), argument, **named)
                if numpy.isfinite(odd):
                    self.assertLess(abs(ours - theirs)[abs(theirs) < 1e6].max(), 0.1)
                else:
                    numpy.testing.assert_allclose(ours, theirs, 1e-3, 1e-2)
            image[place] = kept
        image[150, 200] = numpy.nan
        self.assertEqual(numpy.isnan(gconv.uniform_filter(image, 51)).sum(), 51 * 51)

    def test_fill_values_and_hot_pixels_stay_below_the_weights(self):
        """Where weights reach none, results are those of float64 to within 0.1 levels."""
        weights, clean = RANDOM.random((15, 15)) / 113, numpy.tile(FLOATS, (12, 12))
        for value in [1e20, 1e9, -1e9, 1e7]:
            for place in [(4, 4), (599, 731), (300, 350), (slice(100, 250), slice(90, 600))]:
                image = clean.copy()
                image[place] = value
                wide = image.astype(numpy.float64)
                for ours, theirs, side in [
                        (gconv.convolve(image, weights), ndimage.convolve(wide, weights), 15),
                        (gconv.gaussian_filter(memoryview(image), 20),
                         ndimage.gaussian_filter(wide, 20), 161)]:
                    far = ndimage.maximum_filter(abs(wide), side) <= 255
                    self.assertLess(abs(ours - theirs)[far].max(), 0.1, (value, place, side))
        for image in [clean, clean * 257, clean + (clean > 250) * 6e4]:  # are not computed twice
            plan = gconv.Plan(image.shape, "float32", [gconv.Filter.weights(weights)])
            plan(image.astype(numpy.float32))
            self.assertIsNone(plan._local)

    def test_every_array_keeps_what_is_no_number_in_its_channel(self):
        colours = numpy.dstack([numpy.tile(FLOATS, (6, 7))] * 3)
        colours[100, 100, 1] = numpy.nan
        out = numpy.empty((300, 500, 3), numpy.float32)[:, :427]  # with gaps
        for image in [colours, memoryview(colours)]:
            for found in [gconv.gaussian_filter(image, (5, 5, 0)),
                          gconv.gaussian_filter(image, (5, 5, 0), output=out)]:
                self.assertEqual(numpy.isnan(found).sum((0, 1)).tolist(), [0, 41 * 41, 0])


@unittest.skipIf(cv2 is None, "there is no OpenCV here")
class BesideOpenCV(unittest.TestCase):
    def same(self, name, image, *arguments, within=1e-3, **named):
        ours = getattr(gconv.cv, name)(image, *arguments, **named)
        theirs = getattr(cv2, name)(image, *arguments, **named)
        self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape))
        worst = abs(ours.astype(numpy.float64) - theirs.astype(numpy.float64)).max()
        self.assertLessEqual(worst, within, (name, image.dtype, arguments, named))

    def test_filters(self):
        kernel = RANDOM.integers(-3, 4, (3, 5)).astype(numpy.float32)
        colours = RANDOM.integers(0, 256, (20, 21, 3), dtype=numpy.uint8)
        for border in [0, 1, 2, 4]:
            self.same("filter2D", FLOATS, -1, kernel, borderType=border)
            self.same("GaussianBlur", FLOATS, (5, 7), 1.5, sigmaY=2, borderType=border)
        self.same("filter2D", FLOATS, -1, kernel, anchor=(0, 2), delta=7)
        for image in [BYTES, colours]:
            self.same("filter2D", image, -1, kernel / 8, delta=3, within=1)
            self.same("filter2D", image, 5, kernel)
            self.same("GaussianBlur", image, (0, 0), 2.2, within=1)
        self.same("filter2D", WORDS, 5, kernel, within=0.5)
        self.same("filter2D", WORDS, -1, kernel / 8, delta=300, within=1)
        self.same("sepFilter2D", FLOATS, -1, kernel[0], kernel[:, 1], delta=2)
        for side in [3, 5, 7, 9]:
            self.same("GaussianBlur", FLOATS, (side, side), 0)
            for sigma in [0, 1.3]:
                ours, theirs = (cv.getGaussianKernel(side, sigma) for cv in (gconv.cv, cv2))
                self.assertEqual(ours.shape, theirs.shape)
                self.assertEqual(gconv.cv.getGaussianKernel(side, sigma, gconv.cv.CV_32F).dtype, "f4")
                numpy.testing.assert_allclose(ours, theirs, 1e-12)

    def test_derivatives(self):
        for ksize in [1, 3, 5, 7]:
            for dx, dy in [(1, 0), (0, 1), (1, 1), (2, 0)]:
                self.same("Sobel", FLOATS, -1, dx, dy, ksize=ksize, scale=0.5, within=0.02)
                self.same("Sobel", BYTES, gconv.cv.CV_32F, dx, dy, ksize=ksize, within=0.02)
        for ksize in [1, 3]:
            self.same("Laplacian", FLOATS, 5, ksize=ksize, scale=2, delta=1)

    def test_canny_is_byte_for_byte(self):
        image = cv2.GaussianBlur(RANDOM.integers(0, 256, (90, 71), dtype=numpy.uint8), (5, 5), 2)
        image = cv2.normalize(image, None, 0, 255, cv2.NORM_MINMAX)
        for aperture, low, high in [(3, 50, 100), (5, 900, 400), (7, 8000, 16000)]:
            for exact in [False, True]:
                self.same("Canny", image, low, high, apertureSize=aperture, L2gradient=exact,
                          within=0)
                self.assertTrue(gconv.cv.Canny(image, low, high, None, aperture, exact).any())

    def test_what_gconv_does_not_give_is_refused(self):
        for name, arguments in [("filter2D", (BYTES, gconv.cv.CV_16S, [[1]])),
                                ("Sobel", (BYTES, 5, 0, 0)),
                                ("Laplacian", (BYTES, 5, None, 5)),
                                ("GaussianBlur", (BYTES, (4, 4), 1)),
                                ("Canny", (BYTES, 1, 2, None, 4)),
                                ("Canny", (numpy.dstack([BYTES] * 3), 1, 2))]:
            with self.assertRaises(ValueError):
                getattr(gconv.cv, name)(*arguments)


class BesideTheProgram(unittest.TestCase):
    def test_filters_and_edges_are_the_same_bits(self):
        plan = gconv.Plan(BYTES.shape, BYTES.dtype, [gconv.Filter("gauss5")])
        numpy.testing.assert_array_equal(plan(BYTES), run_program(BYTES, "filter", "-k", "gauss5"))
        self.assertEqual(plan.promise, "exact")
        numpy.testing.assert_array_equal(gconv.edges(BYTES), run_program(BYTES, "edges"))
        numpy.testing.assert_array_equal(gconv.canny(BYTES),
                                         run_program(BYTES, "edges", "--method", "canny"))

    def test_a_gaussian_of_bytes_is_the_generator_s(self):
        image = RANDOM.integers(0, 256, (300, 400), dtype=numpy.uint8)
        for sigma, named, kernel in [(1, {}, "gaussian:1,9"), (1.5, {"truncate": 3}, "gaussian:1.5,11"),
                                     (numpy.float32(0.1), {"radius": 1},
                                      "gaussian:0.10000000149011612,3"), (8, {}, "gaussian:8,65")]:
            numpy.testing.assert_array_equal(gconv.gaussian_filter(image, sigma, **named),
                                             run_program(image, "filter", "-k", kernel))

    def test_the_program_is_called_as_a_module(self):
        said = subprocess.run([sys.executable, "-B", "-m", "gconv", "--version"],
                              stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertEqual(said.split()[:2], ["gconv", gconv.__version__])

    def test_a_file_with_the_name_of_a_filter_changes_no_result(self):
        def found():
            _plans._kept.clear()
            return [gconv.edges(BYTES), gconv.canny(BYTES), gconv.gaussian_filter(BYTES, 1)]

        expected, here = found(), os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            for name in ["gauss5", "laplace3", "gaussian:1.0,9"]:
                with open(os.path.join(folder, name), "w") as file:
                    file.write("1 2 3\n")
            os.chdir(folder)
            try:
                changed = found()
            finally:
                os.chdir(here)
        numpy.testing.assert_array_equal(changed, expected)

    def test_edges_of_colours(self):
        """The program takes the Y that a JPEG stores; `grey=True` reads this, too."""
        sample = os.path.join(os.path.dirname(__file__), "../../samples/harbour.jpg")
        colours = gconv.imread(sample)
        numpy.testing.assert_array_equal(gconv.edges(colours), run_program(colours, "edges"))
        with tempfile.TemporaryDirectory() as folder:
            drawn = os.path.join(folder, "out.png")
            subprocess.run([_program._find(), "edges", sample, drawn], check=True,
                           stderr=subprocess.DEVNULL)
            numpy.testing.assert_array_equal(gconv.edges(gconv.imread(sample, grey=True)),
                                             gconv.imread(drawn))


    def test_drawings_and_thin_lines(self):
        for image in [BYTES, FLOATS, numpy.dstack([BYTES] * 3)]:
            numpy.testing.assert_array_equal(gconv.sketch(image), gconv.sketch(memoryview(image)))
        numpy.testing.assert_array_equal(
            gconv.sketch(BYTES, lines="thin", min_length=3),
            run_program(BYTES, "sketch", "--lines=thin", "--min-length=3"))
        numpy.testing.assert_array_equal(gconv.sketch(BYTES), run_program(BYTES, "sketch"))
        lines = gconv.edges(BYTES)
        thin = gconv.thin(lines)
        numpy.testing.assert_array_equal(thin, run_program(lines, "thin"))
        self.assertLess(numpy.count_nonzero(thin), numpy.count_nonzero(lines))
        with self.assertRaisesRegex(gconv.GconvError, "ink"):
            gconv.sketch(BYTES, ink="no colour")
        with self.assertRaisesRegex(gconv.GconvError, "^gconv: image: a sample is infinite"):
            gconv.sketch(FLOATS + numpy.inf)

    def test_options_that_the_program_alone_has(self):
        for ours, options in [
                (gconv.edges(BYTES, "auto"), ["--threshold=auto"]),
                (gconv.edges(BYTES, "10%", thin=True), ["--threshold=10%", "--thin"]),
                (gconv.edges(BYTES, method="gradient"), ["--method=gradient"]),
                (gconv.canny(BYTES, high="auto"), ["--method=canny", "--high=auto"]),
                (gconv.canny(BYTES, 20, 90, sigma=1),
                 ["--method=canny", "--low=20", "--high=90", "--sigma=1"])]:
            numpy.testing.assert_array_equal(ours, run_program(BYTES, "edges", *options))

    def test_a_white_of_1(self):
        """True is white, and numbers that 255 makes black are told of if white is not given."""
        lines, ones = gconv.edges(BYTES), FLOATS / 255
        numpy.testing.assert_array_equal(gconv.thin(lines > 0), gconv.thin(lines))
        for call in [lambda: gconv.edges(ones), lambda: gconv.sketch(ones), lambda: gconv.thin(ones),
                     lambda: gconv.canny(lines // 255), lambda: gconv.thin(lines // 255),
                     lambda: gconv.edges(ones * 9 - 8), lambda: gconv.sketch(ones * 1.001)]:
            with self.assertWarnsRegex(UserWarning, "give white=1") as told:
                call()
            self.assertEqual(told.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            numpy.testing.assert_array_equal(gconv.sketch(ones, white=1), gconv.sketch(FLOATS))
            self.assertTrue(gconv.edges(ones, white=1).any())
            for black in [FLOATS * 0, BYTES * 0]:
                self.assertFalse(gconv.edges(black).any())

    def test_one_file_and_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            name, out = os.path.join(folder, "a.png"), os.path.join(folder, "out")
            gconv.imwrite(name, BYTES)
            for one in [name, pathlib.Path(name), [name]]:
                gconv.run(one, out, progress=False)
                self.assertEqual(os.listdir(out), ["a.png"])
                os.remove(os.path.join(out, "a.png"))
            with self.assertRaisesRegex(ValueError, "no files"):
                gconv.run([], out)

    def test_a_batch_with_a_journal(self):
        with tempfile.TemporaryDirectory() as folder:
            names = [os.path.join(folder, f"-{index} x.png") for index in range(3)]
            for index, name in enumerate(names):
                gconv.imwrite(name, BYTES + numpy.uint8(index))
            out, journal = os.path.join(folder, "out"), os.path.join(folder, "journal")
            for _ in range(2):
                gconv.run(names, out, "filter", journal=journal, progress=False, kernel="gauss5")
            gconv.verify(journal)
            last = os.path.join(out, "-2 x.png")
            plan = gconv.Plan(BYTES.shape, "uint8", [gconv.Filter("gauss5")])
            numpy.testing.assert_array_equal(gconv.imread(last), plan(BYTES + numpy.uint8(2)))
            gconv.imwrite(last, BYTES)
            with self.assertRaisesRegex(gconv.GconvError, "-2 x.png"):
                gconv.verify(journal)
            for progress in [False, True]:
                with self.assertRaisesRegex(gconv.GconvError, "nothing.png"):
                    gconv.run([os.path.join(folder, "nothing.png")], out, progress=progress)
            gconv.run(names[0], out, "filter", progress=False, kernel=["gauss5", "laplace3"])
            chain = gconv.Plan(BYTES.shape, "uint8", [gconv.Filter("gauss5"),
                                                      gconv.Filter("laplace3")])
            numpy.testing.assert_array_equal(
                gconv.imread(os.path.join(out, "-0 x.png")), chain(BYTES))


class Filters(unittest.TestCase):
    def test_weights_are_shown(self):
        filter = gconv.Filter.vectors([1, 2], [3, 4, 5], 8)
        self.assertEqual(filter.rows(), [[3, 4, 5], [6, 8, 10]])
        self.assertEqual(filter.show().splitlines()[0], "2x3, anchor (1, 1), divisor 8")
        self.assertEqual(repr(filter), "<gconv.Filter of 2 x 3 weights>")
        plan = gconv.Plan((4, 5), "uint8", [filter], implementation="reference")
        self.assertEqual(repr(plan), "<gconv.Plan for uint8 of shape (4, 5) by reference>")

    def test_the_response_at_0_is_the_gain(self):
        for name in ["gaussian:2", "laplace3", "box3"]:
            filter = gconv.Filter(name)
            response = filter.response(64)
            self.assertAlmostEqual(response[32, 32], abs(filter.gain), 5)
        self.assertLess(gconv.Filter("gaussian:2").response(64)[0, 0], 1e-3)
        with self.assertRaisesRegex(ValueError, "less than a side"):
            gconv.Filter("gaussian:2").response(3)


class Files(unittest.TestCase):
    def test_what_is_written_is_read(self):
        colours = RANDOM.integers(0, 256, (9, 8, 3), dtype=numpy.uint8)
        with tempfile.TemporaryDirectory() as folder:
            for name, image in [("a.png", BYTES), ("b.png", WORDS), ("c.png", colours),
                                ("d.pfm", FLOATS), ("e.png", BYTES[::2])]:
                path = os.path.join(folder, name)
                gconv.imwrite(path, image)
                numpy.testing.assert_array_equal(gconv.imread(path), image)

    def test_what_is_lost_is_a_warning(self):
        colours = RANDOM.integers(0, 256, (9, 8, 4), dtype=numpy.uint8)
        with tempfile.TemporaryDirectory() as folder:
            for name, image, text in [("a.pgm", colours[..., :3], "no colours"),
                                      ("a.y4m", colours[..., :3], "no colours"),
                                      ("a.bmp", colours, "bmp has no alpha: dropped"),
                                      ("a.jpg", colours, "jpeg has no alpha: dropped")]:
                with self.assertWarnsRegex(UserWarning, name + ": .*" + text) as told:
                    gconv.imwrite(os.path.join(folder, name), image)
                self.assertEqual(told.filename, __file__)
            path = os.path.join(folder, "a.npy")
            numpy.save(path, RANDOM.random((9, 8)))
            with self.assertWarnsRegex(UserWarning, "a.npy: numbers of 64 bits") as told:
                gconv.imread(path)
            self.assertEqual((told.filename, len(told.warnings)), (__file__, 1))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                gconv.imwrite(path, FLOATS / 255)
                gconv.imread(path)

    def test_quality_is_that_of_formats_with_loss(self):
        with tempfile.TemporaryDirectory() as folder:
            for extension in ["jpg", "webp", "avif", "heic", "jxl"]:
                path, sizes = os.path.join(folder, "a." + extension), []
                try:
                    for quality in [10, 95]:
                        gconv.imwrite(path, BYTES, quality=quality)
                        sizes.append(os.path.getsize(path))
                except gconv.GconvError as failure:  # this build or machine lacks the library
                    self.assertRegex(str(failure), "lib(webp|heif|jxl)|encoder")
                    continue
                self.assertLess(sizes[0], sizes[1], extension)

    def test_a_file_of_several_images(self):
        with tempfile.TemporaryDirectory() as folder:
            one, film = os.path.join(folder, "one.pgm"), os.path.join(folder, "film.pgm")
            with open(film, "wb") as file:
                for image in [BYTES, 255 - BYTES]:
                    gconv.imwrite(one, image)
                    with open(one, "rb") as frame:
                        file.write(frame.read())
            with self.assertRaisesRegex(ValueError, "film.pgm holds several images; page=1"):
                gconv.imread(film)
            numpy.testing.assert_array_equal(gconv.imread(film, page=1), BYTES)
            numpy.testing.assert_array_equal(gconv.imread(film, page=2), 255 - BYTES)
            numpy.testing.assert_array_equal(gconv.imread(one, page=1), 255 - BYTES)
            with self.assertRaisesRegex(gconv.GconvError, "2"):
                gconv.imread(film, page=3)
            with self.assertRaisesRegex(ValueError, "from 1"):
                gconv.imread(film, page=0)

    def test_failures_name_the_file(self):
        with self.assertRaisesRegex(FileNotFoundError, "/nowhere/a.png"):
            gconv.imread("/nowhere/a.png")
        with self.assertRaisesRegex(FileNotFoundError, "/nowhere/a.png"):
            gconv.imwrite("/nowhere/a.png", BYTES)
        with self.assertRaisesRegex(gconv.GconvError, "too long"):
            gconv.imwrite("a" * 300 + ".png", BYTES)
        with self.assertRaisesRegex(gconv.GconvError, "test_gconv.py"):
            gconv.imread(__file__)
        with self.assertRaisesRegex(ValueError, "extension"):
            gconv.imwrite("a.nothing", BYTES)
        with self.assertRaisesRegex(gconv.GconvError, "a.png: .*astype.'u1'"):
            gconv.imwrite("a.png", FLOATS)


class Examples(unittest.TestCase):
    """The scripts of python/examples draw what they say."""

    def draw(self, name, *arguments):
        here = os.path.dirname(os.path.abspath(__file__))
        script, folder = os.path.join(here, "../examples", name), tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        said = subprocess.run([sys.executable, "-B", script, *arguments, folder.name],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if "libtiff" in said.stderr:
            self.skipTest("this build has no TIFF")
        self.assertEqual(said.returncode, 0, said.stderr)
        return folder.name, said.stdout

    def test_a_microscope(self):
        folder, said = self.draw("microscope.py")
        self.assertIn("(512, 512), uint16", said)
        image, flat, edges = (gconv.imread(os.path.join(folder, name))
                              for name in ["cells.tif", "flat.png", "edges.png"])
        cells = flat > 150
        self.assertTrue(0.03 < cells.mean() < 0.3)
        outline = gconv.gaussian_filter(cells.astype(numpy.float32), 2)
        near = (outline > 0.1) & (outline < 0.9)
        self.assertGreater(near[edges > 0].mean(), 0.95)  # edges are where cells end
        centre = image[100:300, 150:350][~cells[100:300, 150:350]].mean()
        self.assertGreater(centre, 1.2 * image[450:, 450:][~cells[450:, 450:]].mean())
        dark = flat[100:300, 150:350][~cells[100:300, 150:350]].mean()
        self.assertLess(abs(dark - flat[450:, 450:][~cells[450:, 450:]].mean()), 25)

    def test_a_camera(self):
        folder, said = self.draw("camera.py")
        self.assertRegex(said, "^100 frames, [0-9]+ frames/s")
        down, across = numpy.nonzero(gconv.imread(os.path.join(folder, "edges.png")))
        radius = numpy.hypot(down - 240, across - 5 * 99 - 60)
        self.assertLess(abs(radius - 50).max(), 3)
        self.assertGreater(radius.size, 200)

    def test_a_batch(self):
        samples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples")
        folder, said = self.draw("batch.py", *(os.path.join(samples, name)
                                               for name in ["craters.png", "harbour.jpg"]))
        self.assertEqual(said.splitlines(), ["craters.png (400, 400, 3)",
                                             "harbour.png (480, 640, 3)"])
        drawing = gconv.imread(os.path.join(folder, "drawings", "craters.png"))
        self.assertTrue((drawing == 255).all(2).any())
        self.assertTrue((drawing == [0x20, 0x30, 0x60]).all(2).any())

    def test_what_is_missing_is_told_without_a_traceback(self):
        here, folder = os.path.dirname(os.path.abspath(__file__)), tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name in ["batch", "microscope"]:
            for words in [["nowhere/a.tif", folder.name], [__file__, __file__]]:
                said = subprocess.run(
                    [sys.executable, "-B", f"{here}/../examples/{name}.py", *words],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.assertEqual(said.returncode, 1)
                self.assertIn(f"{name}.py: ", said.stderr)
                self.assertNotIn("Traceback", said.stderr)


class Arrays(unittest.TestCase):
    def test_read_only_inputs_strided_rows_and_outputs(self):
        image = BYTES[:, :40]
        image.flags.writeable = False
        out = numpy.zeros_like(BYTES)[:, :40]
        self.assertIs(gconv.gaussian_filter(image, 1, output=out), out)
        numpy.testing.assert_array_equal(out, gconv.gaussian_filter(image.copy(), 1))
        self.assertEqual(gconv.sobel(BYTES, output=numpy.float32).min() < 0, True)

    def test_views_with_gaps_are_copied(self):
        colours = RANDOM.integers(0, 256, (40, 50, 3), dtype=numpy.uint8)
        for view in [colours[..., 1], BYTES.T, BYTES[::-1], BYTES[:, ::-1], BYTES[::2, ::2]]:
            expected = gconv.gaussian_filter(view.copy(), 1)
            numpy.testing.assert_array_equal(gconv.gaussian_filter(view, 1), expected)
            plan = gconv.Plan(view.shape, view.dtype, [gconv.Filter("gaussian:1,9")])
            numpy.testing.assert_array_equal(plan(memoryview(view)), expected)
            numpy.testing.assert_array_equal(gconv.sketch(view), gconv.sketch(view.copy()))

    def test_two_parts_of_one_array_may_be_input_and_output(self):
        both = numpy.zeros((50, 122), numpy.uint8)
        both[:, :61] = BYTES
        gconv.gaussian_filter(both[:, :61], 1, output=both[:, 61:])
        numpy.testing.assert_array_equal(both[:, 61:], gconv.gaussian_filter(BYTES, 1))

    def test_other_kinds_of_arrays(self):
        class Interface:
            __array_interface__ = BYTES.__array_interface__

        class Dlpack:
            def __dlpack__(self, **named):
                return BYTES.__dlpack__(**named)

            def __dlpack_device__(self):
                return BYTES.__dlpack_device__()

        expected = gconv.gaussian_filter(BYTES, 1)
        class Bytes:  # as Pillow has them
            __array_interface__ = {"shape": BYTES.shape, "typestr": "|u1", "version": 3,
                                   "data": BYTES.tobytes()}

        for image in [Interface(), memoryview(BYTES), Dlpack(), Bytes()]:
            numpy.testing.assert_array_equal(gconv.gaussian_filter(image, 1), expected)
            out = memoryview(bytearray(BYTES.size)).cast("B", BYTES.shape)
            self.assertIs(gconv.gaussian_filter(image, 1, output=out), out)
            numpy.testing.assert_array_equal(out, expected)

    def test_without_numpy(self):
        """In a Python of its own, which finds none."""
        script = """
import sys
sys.modules["numpy"] = None
import gconv
view = memoryview(sys.stdin.buffer.read()).cast("B", (50, 61))
blurred = gconv.gaussian_filter(view, 2)
weighted = gconv.correlate(view, [[1, 2, 1], [0, 0, 0]], output="float32")
gconv.imwrite(sys.argv[1], blurred)
assert gconv.imread(sys.argv[1]) == blurred and weighted.format == "f"
for wrong in [b"abc", [[1, 2]], "text", 7]:
    try:
        gconv.sobel(wrong)
    except (TypeError, ValueError):
        continue
    raise AssertionError(wrong)
try:
    import gconv.cv
except ImportError as failure:
    assert "gconv.cv needs numpy" in str(failure)
floats = memoryview(bytearray(60 * 200 * 4)).cast("f", (60, 200))
floats[30, 40] = float("nan")
assert sum(value != value for value in gconv.gaussian_filter(floats, 5).cast("B").cast("f")) == 41 ** 2
sys.stdout.buffer.write(blurred.tobytes() + weighted.tobytes())
"""
        with tempfile.TemporaryDirectory() as folder:
            answer = subprocess.run([sys.executable, "-c", script, os.path.join(folder, "a.png")],
                                    input=BYTES.tobytes(), stdout=subprocess.PIPE, check=True)
        expected = (gconv.gaussian_filter(BYTES, 2).tobytes() +
                    gconv.correlate(BYTES, [[1, 2, 1], [0, 0, 0]], output="float32").tobytes())
        self.assertEqual(answer.stdout, expected)

    def test_a_variable_names_the_library(self):
        named = _library.library._name
        for value, status in [(os.path.realpath(named) if "/" in named else named, 0),
                              ("/nowhere/libgconv.so", 1)]:
            answer = subprocess.run([sys.executable, "-c", "import gconv"], stderr=subprocess.PIPE,
                                    env={**os.environ, "GCONV_LIBRARY": value})
            self.assertEqual(answer.returncode, status)
            self.assertEqual(b"GCONV_LIBRARY=/nowhere" in answer.stderr, status == 1)

    def test_refusals_say_what_to_do(self):
        blur, small = gconv.gaussian_filter, BYTES[:4, :4].copy()
        for error, text, call in [
                (TypeError, "astype", lambda: blur(BYTES.astype(float), 1)),
                (TypeError, "astype", lambda: blur(BYTES, 1, output=numpy.float64)),
                (TypeError, "'u1'. [*] 255", lambda: blur(BYTES > 9, 1)),
                (TypeError, "'u1'. [*] 255", lambda: blur(memoryview(BYTES > 9), 1)),
                (TypeError, "'float32'", lambda: blur(memoryview(BYTES.astype(int)), 1)),
                (TypeError, "Filter.weights", lambda: gconv.Filter(FLOATS)),
                (TypeError, "byte order", lambda: blur(WORDS.astype(">u2"), 1)),
                (ValueError, "each plane", lambda: blur(numpy.zeros((2, 2, 2, 2), "u1"), 1)),
                (ValueError, "3 axes", lambda: blur(numpy.zeros((9, 9, 3), "u1"), 1)),
                (ValueError, r"axes \(1, 2\) has", lambda: blur(BYTES, 1, axes=(1, 2))),
                (ValueError, "axes 0 has", lambda: gconv.convolve(BYTES, ((1,),), axes=0)),
                (TypeError, "imread", lambda: blur("harbour.jpg", 1)),
                (ValueError, "ascontiguousarray",
                 lambda: blur(BYTES, 1, output=numpy.zeros((50, 122), "u1")[:, ::2])),
                (TypeError, "gives float32;", lambda: blur(FLOATS, 1, output="uint8")),
                (TypeError, "list of such texts",
                 lambda: gconv.run("a.png", "out", "filter", kernel=gconv.Filter("gauss5"))),
                (ValueError, "infinite, not a", lambda: gconv.edges(FLOATS + numpy.inf)),
                (ValueError, "beyond 2.32", lambda: gconv.edges(FLOATS + numpy.float32(1e10))),
                (ValueError, "beyond 2.32", lambda: gconv.edges(FLOATS - numpy.float32(1e10))),
                (ValueError, "not a number", lambda: gconv.edges(FLOATS * numpy.float32("nan"))),
                (ValueError, "within 1 and 100", lambda: gconv.imwrite("a.jpg", BYTES, quality=200)),
                (ValueError, "overlaps", lambda: blur(small, 1, output=small)),
                (ValueError, "none of", lambda: blur(BYTES, 1, mode="mirrored")),
                (ValueError, "both axes", lambda: blur(BYTES, 1, mode=["wrap", "reflect"])),
                (ValueError, r"axes=\(0, 1\)", lambda: gconv.sobel(numpy.zeros((9, 9, 3), "u1"))),
                (ValueError, "no finite", lambda: blur(BYTES, -1)),
                (ValueError, "no pixels", lambda: blur(BYTES[:0], 1)),
                (ValueError, "sobel", lambda: blur(BYTES, 1, order=1)),
                (ValueError, "anchor", lambda: gconv.convolve(BYTES, [[1]], origin=1)),
                (ValueError, "dimensions", lambda: gconv.convolve(BYTES, [1, 2])),
                (gconv.GconvError, "^nothing-is-called-this: no such file",
                 lambda: gconv.Filter("nothing-is-called-this"))]:
            with self.assertRaisesRegex(error, text):
                call()

    def test_threads_share_a_plan(self):
        plan = gconv.Plan(BYTES.shape, BYTES.dtype, [gconv.Filter("gaussian:2")])
        expected, results = plan(BYTES), [None] * 4

        def work(index):
            for _ in range(20):
                results[index] = plan(BYTES)

        threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results:
            numpy.testing.assert_array_equal(result, expected)


class KeptPlans(unittest.TestCase):
    """Functions keep plans for later calls."""

    def made(self, *calls):
        """How many plans the calls make."""
        count = [0]

        class Counting(gconv.Plan):
            def __init__(self, *arguments, **named):
                count[0] += 1
                super().__init__(*arguments, **named)

        _plans._kept.clear()
        _plans.Plan, plan = Counting, _plans.Plan
        try:
            for call in calls:
                call()
        finally:
            _plans.Plan = plan
            _plans._kept.clear()
        return count[0]

    def test_the_same_call_makes_one_plan(self):
        weights = numpy.ones((3, 3))
        gaps = BYTES[:, :40]
        for call in [lambda: gconv.gaussian_filter(BYTES, 1), lambda: gconv.edges(BYTES),
                     lambda: gconv.gaussian_filter(BYTES, [1, 2]), lambda: gconv.sobel(gaps),
                     lambda: gconv.convolve(BYTES, weights), lambda: gconv.laplace(BYTES),
                     lambda: gconv.convolve(BYTES, weights.tolist()),
                     lambda: gconv.cv.GaussianBlur(BYTES, (5, 5), 0),
                     lambda: gconv.gaussian_filter(memoryview(BYTES), 1)]:
            self.assertEqual(self.made(call, call, call), 1)

    def test_what_differs_makes_a_plan_of_its_own(self):
        calls = [lambda: gconv.gaussian_filter(BYTES, 1), lambda: gconv.gaussian_filter(BYTES, 2),
                 lambda: gconv.gaussian_filter(WORDS, 1), lambda: gconv.uniform_filter(BYTES, 3),
                 lambda: gconv.gaussian_filter(BYTES[:, :9].copy(), 1),
                 lambda: gconv.gaussian_filter(BYTES, 1, mode="wrap"),
                 lambda: gconv.gaussian_filter(BYTES, 1, mode="constant", cval=1),
                 lambda: gconv.gaussian_filter(BYTES, 1, output="float32"),
                 lambda: gconv.correlate(BYTES, [[1, 2]]), lambda: gconv.convolve(BYTES, [[1, 2]]),
                 lambda: gconv.correlate(BYTES, [[1], [2]])]
        self.assertEqual(self.made(*calls, *calls), len(calls))

    def test_weights_that_change_in_their_array(self):
        for weights in [numpy.ones((3, 3)), numpy.ones((3, 3), object)]:
            first = gconv.correlate(FLOATS, weights)
            weights *= 2
            numpy.testing.assert_array_equal(gconv.correlate(FLOATS, weights), first * 2)

    def test_the_oldest_plans_are_freed(self):
        for width in range(2, 60):
            gconv.sobel(BYTES[:, :width].copy())
        self.assertLessEqual(len(_plans._kept), _plans._KEPT_MOST)
        self.assertEqual(next(reversed(_plans._kept))[2], (50, 59))

    def test_a_failure_keeps_nothing_wrong(self):
        for _ in range(3):
            with self.assertRaisesRegex(ValueError, "overlaps"):
                gconv.sobel(BYTES, output=BYTES)
            numpy.testing.assert_array_equal(gconv.sobel(BYTES.copy()), gconv.sobel(BYTES))

    def test_threads_call_one_function(self):
        images = [RANDOM.integers(0, 256, (64, 64), dtype=numpy.uint8) for _ in range(4)]
        expected, wrong = [gconv.gaussian_filter(image, 2) for image in images], []

        def work(index):
            for step in range(300):
                if not numpy.array_equal(gconv.gaussian_filter(images[index], 2), expected[index]):
                    wrong.append(step)
                gconv.sobel(images[index][:, :2 + (step + index) % 50].copy())

        threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_child_of_a_fork_computes(self):
        """Also while another thread holds the lock of the kept plans."""
        expected, held, forked = gconv.gaussian_filter(BYTES, 2), threading.Event(), threading.Event()

        def hold():
            with _plans._lock:
                held.set()
                forked.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(not numpy.array_equal(gconv.gaussian_filter(BYTES, 2), expected))
        forked.set()
        thread.join()
        self.assertEqual(os.waitpid(child, 0)[1], 0)


def load_tests(_loader, tests, _pattern):
    """Adds the examples of the docstrings."""
    tests.addTests(doctest.DocTestSuite(gconv, extraglobs={"numpy": numpy}))
    return tests


if __name__ == "__main__":
    unittest.main()

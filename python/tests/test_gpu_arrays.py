"""Arrays on a GPU: those of CuPy, torch and JAX on a device, and pretended ones on the double.

    PYTHONPATH=python GCONV_LIBRARY=build/libgconv.so python3 python/tests/test_gpu_arrays.py
    ... python3 python/tests/test_gpu_arrays.py --times    beside cupyx, torch and a copy

Exits with 77 where there is no GPU. tests/double/CMakeLists.txt runs it on the double, for which
GC_DOUBLE names the library.
"""
import ctypes
import os
import sys
import unittest

try:
    import numpy
except ImportError:
    sys.exit(77)

import gconv
from gconv import _arrays, _plans


def found(name):
    try:
        return __import__(name)
    except ImportError:
        return None


DOUBLE = os.environ.get("GC_DOUBLE")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else JAX takes all memory
RUNTIME = ctypes.CDLL(DOUBLE) if DOUBLE else None
cupy, torch, jax = (None if DOUBLE else found(name) for name in ("cupy", "torch", "jax"))
RANDOM = numpy.random.default_rng(5)


class Pretended:
    """An array in memory of the double's GPU. `gap` bytes lie between its rows."""

    def __init__(self, values, gap=0, readonly=False, **more):
        self.values = numpy.asarray(values)
        row = self.values[0].nbytes
        self.bytes = (row + gap) * len(self.values)
        self.place = ctypes.c_void_p()
        assert RUNTIME.cudaMalloc(ctypes.byref(self.place), ctypes.c_size_t(self.bytes)) == 0
        host = numpy.full((len(self.values), row + gap), 0x5A, numpy.uint8)
        host[:, :row] = self.values.reshape(len(self.values), -1).view(numpy.uint8)
        self.copy(self.place, host.ctypes.data, 1)
        strides = (row + gap,) + self.values.strides[1:] if gap else None
        self.__cuda_array_interface__ = {
            "shape": self.values.shape, "typestr": self.values.dtype.str, "version": 3,
            "data": (self.place.value, readonly), "strides": strides, "stream": None, **more}

    def copy(self, to, source, kind):
        assert RUNTIME.cudaDeviceSynchronize() == 0
        assert RUNTIME.cudaMemcpy(ctypes.c_void_p(getattr(to, "value", to)),
                                  ctypes.c_void_p(getattr(source, "value", source)),
                                  ctypes.c_size_t(self.bytes), kind) == 0

    def get(self):
        rows = len(self.values)
        host = numpy.empty((rows, self.bytes // rows), numpy.uint8)
        self.copy(host.ctypes.data, self.place, 2)
        row = self.values[0].nbytes
        assert (host[:, row:] == 0x5A).all()  # nothing is written between rows
        return numpy.ascontiguousarray(host[:, :row]).view(self.values.dtype).reshape(
            self.values.shape)


class Dlpack:
    """Only the DLPack of an array."""

    def __init__(self, array):
        self.array, self.__dlpack_device__ = array, array.__dlpack_device__
        self.streams = []

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream)


class OnGpu:
    """What holds for every kind of array."""

    image = RANDOM.integers(0, 256, (50, 61), dtype=numpy.uint8)

    def same(self, image, function, *arguments, within=0.0, **named):
        expected = function(image, *arguments, **named)
        made = self.put(numpy.zeros_like(expected))
        given = self.put(image)
        self.assertIs(function(given, *arguments, **{**named, "output": made}), made)
        for result in [made] + ([function(given, *arguments, **named)] if self.makes else []):
            self.assertIs(type(result), type(made))
            worst = abs(self.get(result).astype(float) - expected).max()
            self.assertLessEqual(worst, within, (function, image.dtype, image.shape))

    def test_results_are_those_of_the_cpu(self):
        weights = RANDOM.integers(-3, 4, (3, 5))
        for image in [self.image, self.image.astype(numpy.uint16) * 257,
                      self.image.astype(numpy.float32)]:
            if image.dtype == numpy.uint16 and not self.has_words:
                continue
            self.same(image, gconv.correlate, weights)
            self.same(image, gconv.sobel, 0, mode="nearest")
            if self.makes:  # the double has no kernels for two vectors
                self.same(image, gconv.gaussian_filter, 1.5, mode="wrap",
                          within=1e-3 if image.dtype == numpy.float32 else 1)
        colours = RANDOM.integers(0, 256, (40, 31, 3), dtype=numpy.uint8)
        self.same(colours, gconv.convolve, numpy.ones((3, 3, 1)))
        if self.makes:
            self.same(colours, gconv.uniform_filter, (3, 3, 1), within=1)

    def test_a_plan_runs_on_many(self):
        job = {key: value for key, value in _plans._ON_GPU.items() if key == "implementation"}
        plan = gconv.Plan(self.image.shape, "uint8", [gconv.Filter("gauss5")], device="cuda:0",
                          **job)
        out = self.put(numpy.zeros_like(self.image))
        for step in range(4):
            image = self.image + numpy.uint8(step)
            self.assertIs(plan(self.put(image), out), out)
            numpy.testing.assert_array_equal(self.get(out), plan(image))

    def test_rows_with_gaps(self):
        wide, out = (self.put_wide(image) for image in (self.image, numpy.zeros_like(self.image)))
        weights = [[1, 2, 1]]
        gconv.correlate(wide, weights, output=out)
        numpy.testing.assert_array_equal(self.get(out), gconv.correlate(self.image, weights))

    def test_what_is_refused(self):
        given, host = self.put(self.image), numpy.zeros_like(self.image)
        for text, call in [
                ("overlaps", lambda: gconv.sobel(given, output=given)),
                ("different devices", lambda: gconv.sobel(given, output=host)),
                ("different devices", lambda: gconv.sobel(host, output=given)),
                ("astype", lambda: gconv.sobel(self.put(host.astype(float)))),
                ("copy it to the CPU", lambda: gconv.imwrite("a.png", given))]:
            with self.assertRaisesRegex((TypeError, ValueError), text):
                call()


@unittest.skipIf(DOUBLE is None, "only on the double")
class TestPretended(OnGpu, unittest.TestCase):
    makes, has_words = False, True
    get = staticmethod(lambda array: array.get())

    def put(self, image):
        return Pretended(image)

    def put_wide(self, image):
        return Pretended(image, gap=19)

    def test_masks_read_only_outputs_and_two_streams(self):
        given = Pretended(self.image)
        for text, out in [
                ("read-only", Pretended(self.image, readonly=True)),
                ("mask", Pretended(self.image, mask=given)),
                ("give `out`", None)]:
            with self.assertRaisesRegex(ValueError, text):
                gconv.sobel(given, output=out)
        stream = ctypes.c_void_p()
        self.assertEqual(RUNTIME.cudaStreamCreateWithFlags(ctypes.byref(stream), 1), 0)
        mine = Pretended(self.image, stream=stream.value)
        with self.assertRaisesRegex(ValueError, "two streams"):
            gconv.sobel(mine, output=Pretended(self.image, stream=1))
        out = Pretended(numpy.zeros_like(self.image), stream=stream.value)
        gconv.sobel(mine, output=out)
        numpy.testing.assert_array_equal(out.get(), gconv.sobel(self.image))

    def test_dlpack_hands_the_stream_over(self):
        tensor, out = Pretended(self.image), Pretended(numpy.zeros_like(self.image))
        shape = (ctypes.c_int64 * 2)(*self.image.shape)
        managed = _arrays._Tensor(tensor.place.value, 2, 0, 2, 1, 8, 1, shape, None, 0)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                         ctypes.c_void_p]
        seen = []

        class Producer:
            def __dlpack_device__(self):
                return 2, 0

            def __dlpack__(self, stream=None):
                seen.append(stream)
                return make(ctypes.addressof(managed), b"dltensor", None)

        gconv.sobel(Producer(), output=out)
        numpy.testing.assert_array_equal(out.get(), gconv.sobel(self.image))
        self.assertEqual(seen, [1])


class Named:
    """Attributes."""

    def __init__(self, **named):
        self.__dict__.update(named)


class Device:
    id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_failure):
        return None


class Like(Pretended):
    """What gconv asks an array of CuPy for, on the double."""

    def __init__(self, values, gap=0):
        super().__init__(values, gap)
        face = self.__dict__.pop("__cuda_array_interface__")
        self.data, self.shape, self.dtype = Named(ptr=face["data"][0]), face["shape"], values.dtype
        self.strides, self.device = face["strides"], Device()
        self.flags = Named(c_contiguous=not gap)


Like.__module__ = "cupy"


@unittest.skipIf(DOUBLE is None, "only on the double")
class TestLikeCupy(OnGpu, unittest.TestCase):
    makes, has_words = False, True
    put = staticmethod(Like)
    get = staticmethod(lambda array: array.get())

    def put_wide(self, image):
        return Like(image, gap=19)

    def setUp(self):
        cuda = Named(get_current_stream=lambda _device: Named(ptr=0))
        sys.modules["cupy"] = Named(cuda=cuda, empty=lambda *made: Like(numpy.zeros(*made)))

    def tearDown(self):
        del sys.modules["cupy"]

    def test_results_are_like_the_input(self):
        result = gconv.sobel(Like(self.image))
        self.assertIs(type(result), Like)
        numpy.testing.assert_array_equal(result.get(), gconv.sobel(self.image))


@unittest.skipIf(cupy is None, "there is no CuPy here")
class TestCupy(OnGpu, unittest.TestCase):
    makes, has_words = True, True
    put = staticmethod(lambda image: cupy.asarray(image))
    get = staticmethod(lambda array: cupy.asnumpy(array))

    def put_wide(self, image):
        wide = cupy.zeros((image.shape[0], image.shape[1] + 19), image.dtype)
        wide[:, :image.shape[1]] = cupy.asarray(image)
        return wide[:, :image.shape[1]]

    def test_work_is_in_the_current_stream(self):
        image = cupy.zeros((512, 512), numpy.float32)
        gconv.gaussian_filter(image, 2)
        stream = cupy.cuda.Stream(non_blocking=True)
        for _ in range(10):
            with stream:
                image = cupy.zeros((512, 512), numpy.float32)
                for _ in range(200):
                    image += 1
                result = gconv.gaussian_filter(image, 2)
                largest = result.max()
            self.assertAlmostEqual(float(largest), 200, 2)


@unittest.skipIf(torch is None, "there is no torch here")
class TestTorch(OnGpu, unittest.TestCase):
    makes = True
    has_words = hasattr(torch, "uint16")
    get = staticmethod(lambda tensor: tensor.cpu().numpy())
    put = staticmethod(lambda image: torch.from_numpy(image.copy()).cuda())

    def put_wide(self, image):
        wide = torch.zeros((image.shape[0], image.shape[1] + 19), dtype=torch.uint8).cuda()
        wide[:, :image.shape[1]] = self.put(image)
        return wide[:, :image.shape[1]]

    def test_work_is_in_the_current_stream_and_does_not_wait(self):
        image = torch.zeros((512, 512)).cuda()
        plan = gconv.Plan((512, 512), "float32", [gconv.Filter("gaussian:2")], device="cuda:0")
        out = plan(image)
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)  # some 0.1 s
            image.fill_(7)
            plan(image, out)
            self.assertFalse(stream.query())
        stream.synchronize()
        self.assertAlmostEqual(float(out.max()), 7, 4)

    def test_dlpack_and_gradients(self):
        image, out = self.put(self.image), self.put(numpy.zeros_like(self.image))
        given = Dlpack(image)
        gconv.sobel(given, output=out)
        numpy.testing.assert_array_equal(self.get(out), gconv.sobel(self.image))
        self.assertEqual(len(given.streams), 1)
        with self.assertRaisesRegex(ValueError, "detach"):
            gconv.sobel(torch.zeros((9, 9), requires_grad=True, device="cuda"))

    def test_tensors_on_the_cpu_give_tensors(self):
        tensor = torch.from_numpy(self.image.copy())
        result = gconv.sobel(tensor)
        self.assertIs(type(result), torch.Tensor)
        numpy.testing.assert_array_equal(result.numpy(), gconv.sobel(self.image))

    @unittest.skipIf(jax is None, "there is no JAX here")
    def test_jax_goes_in_and_torch_comes_out(self):
        image = jax.numpy.asarray(self.image) + numpy.uint8(0)
        self.assertIn(list(image.devices())[0].platform, ("gpu", "cuda"))
        out = self.put(numpy.zeros_like(self.image))
        gconv.sobel(image, output=out)
        numpy.testing.assert_array_equal(self.get(out), gconv.sobel(self.image))
        with self.assertRaisesRegex(ValueError, "give `out`"):
            gconv.sobel(image)
        with self.assertRaisesRegex(ValueError, "read-only"):
            gconv.sobel(self.put(self.image), output=image)


def has_gpu():
    try:
        gconv.Plan((64, 64), "uint8", [gconv.Filter("gauss5")], device="cuda:0",
                   implementation="naive")
        return True
    except gconv.GconvError as failure:
        print(failure, file=sys.stderr)
        return False


# ---- Times ---------------------------------------------------------------------------------------

def microseconds(work, start, stop, elapsed):
    """The median of 15 times of one call, 20 calls in a row, and that of the calls on the host."""
    import time
    for _ in range(5):
        work()
    device, host = [], []
    for _ in range(15):
        start()
        begin = time.perf_counter()
        for _ in range(20):
            work()
        host.append((time.perf_counter() - begin) / 20 * 1e6)
        stop()
        device.append(elapsed() / 20 * 1e3)
    return sorted(device)[7], sorted(host)[7]


def print_times():
    from cupyx.scipy import ndimage
    of_cupy = cupy.cuda.Event(), cupy.cuda.Event(), cupy.cuda.get_elapsed_time

    def report(name, work, events=of_cupy):
        begin, end, elapsed = events

        def stop():
            end.record()
            end.synchronize()

        gpu, host = microseconds(work, begin.record, stop, lambda: elapsed(begin, end))
        print(f"  {name:34} {gpu:9.1f} us, the call on the host {host:7.1f} us")

    for side in (64, 512, 4096):
        image = cupy.asarray(RANDOM.random((side, side), dtype=numpy.float32) * 255)
        out, weights = cupy.empty_like(image), RANDOM.random((7, 7)).astype(numpy.float32)
        device_weights = cupy.asarray(weights)
        print(f"{side}x{side} float32, CuPy {cupy.__version__}")
        report("copy", lambda: cupy.copyto(out, image))
        for sigma in (1, 4):
            report(f"gconv gaussian_filter {sigma}",
                   lambda: gconv.gaussian_filter(image, sigma, output=out))
            report(f"gconv gaussian_filter {sigma}, new array",
                   lambda: gconv.gaussian_filter(image, sigma))
            report(f"cupyx gaussian_filter {sigma}",
                   lambda: ndimage.gaussian_filter(image, sigma, output=out))
        report("gconv correlate 7x7", lambda: gconv.correlate(image, weights, output=out))
        plan = gconv.Plan(image.shape, "float32", [gconv.Filter.weights(weights)], correlate=True,
                          device="cuda:0", **_plans._ON_GPU)
        row = image.strides[0]
        report("the library alone, the same",
               lambda: _plans._run_device(plan._plan, image.data.ptr, row, out.data.ptr, row, 0,
                                          plan._error_here))
        report("cupyx correlate 7x7", lambda: ndimage.correlate(image, device_weights, output=out))
        if torch is None:
            continue
        tensor = torch.as_tensor(image, device="cuda")[None, None]
        kernel = torch.as_tensor(device_weights, device="cuda")[None, None]
        conv = torch.nn.functional.conv2d
        events = [torch.cuda.Event(enable_timing=True) for _ in "be"]
        of_torch = (*events, torch.cuda.Event.elapsed_time)
        torch.backends.cudnn.benchmark = True
        report("torch conv2d 7x7, zeros outside", lambda: conv(tensor, kernel, padding=3), of_torch)
        flat = tensor[0, 0]
        result = torch.empty_like(flat)
        report("gconv correlate 7x7 on torch",
               lambda: gconv.correlate(flat, weights, output=result, mode="constant"), of_torch)


if __name__ == "__main__":
    if not has_gpu():
        sys.exit(77)
    if DOUBLE:
        _plans._ON_GPU["implementation"] = "naive"  # whose kernels the double has
    if "--times" in sys.argv:
        print_times()
    else:
        unittest.main()

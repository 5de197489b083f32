"""gconv: convolution and edge detection of images.

Functions have the names and arguments of scipy.ndimage. Images are arrays of shape
(height, width) or (height, width, channels), with 1 to 4 channels and samples of uint8, uint16
or float32. gconv computes a chain without rounding between steps, and rounds and clamps once, at
the end. docs/python.md says how that differs from scipy.

>>> import numpy, gconv
>>> gconv.uniform_filter(numpy.full((4, 5), 7, numpy.uint8))[0].tolist()
[7, 7, 7, 7, 7]
"""
import ctypes
import math
import os
import threading
from typing import Any, Optional, Sequence, Tuple, Union

import numpy

from ._library import (Detector, FilterData, GconvError, Job, ReaderOptions, Shape,
                       WriterOptions, call, library)

__all__ = ["Filter", "GconvError", "Plan", "canny", "convolve", "correlate", "edges",
           "gaussian_filter", "imread", "imwrite", "laplace", "prewitt", "sobel",
           "uniform_filter"]
__version__ = library.gconv_version().decode()

Array = numpy.ndarray[Any, Any]
Pair = Union[float, Sequence[float]]

_DEPTHS = {"uint8": 8, "uint16": 16, "float32": 32}
_DTYPES = {depth: numpy.dtype(name) for name, depth in _DEPTHS.items()}
_MODES = {"reflect": 0, "grid-mirror": 0, "mirror": 1, "nearest": 2, "wrap": 3, "grid-wrap": 3,
          "constant": 4, "grid-constant": 4}
_ALPHA_FILTER, _OUTPUT_EDGES, _METHOD_CANNY = 1, 1, 3


class Filter:
    """Weights in rows and columns, with an anchor and a divisor.

    `Filter("gauss5")` takes what --kernel of the program takes: the path of a filter file, a
    built-in name, a generator such as "gaussian:2", or weights as ImageMagick writes them. Raises
    GconvError if nothing fits.

    >>> Filter("gaussian:1,5").shape
    (5, 5)
    """

    def __init__(self, specification: str) -> None:
        self._data = ctypes.POINTER(FilterData)()
        call("filter_load", os.fsencode(specification), ctypes.byref(self._data),
             about=specification)

    @classmethod
    def _make(cls, function: str, *arguments: Any) -> "Filter":
        made = cls.__new__(cls)
        made._data = ctypes.POINTER(FilterData)()
        call(function, *arguments, ctypes.byref(made._data))
        return made

    @classmethod
    def parse(cls, text: str) -> "Filter":
        """Makes a filter of the text of a filter file (gconv-filter(5)).

        >>> Filter.parse("1 2 1").gain
        4.0
        """
        content = text.encode()
        return cls._make("filter_parse", content, len(content), None)

    @classmethod
    def weights(cls, weights: Any, divisor: float = 1.0,
                origin: Union[int, Sequence[int]] = 0) -> "Filter":
        """Makes a filter of an array of 2 dimensions. The library keeps weights as float32.
        `origin` moves the anchor from the middle, as in scipy."""
        values = numpy.asarray(weights, numpy.float64)
        if values.ndim != 2:
            raise ValueError(f"weights have {values.ndim} dimensions; gconv takes 2: rows, columns")
        made = cls._make("filter_create", values.shape[1], values.shape[0])
        numpy.ctypeslib.as_array(made._data.contents.weights, values.shape)[...] = values
        return made._place(divisor, origin)

    @classmethod
    def vectors(cls, column: Any, row: Any, divisor: float = 1.0,
                origin: Union[int, Sequence[int]] = 0) -> "Filter":
        """Makes a filter whose weights are the products of a column and a row of float64."""
        down, across = numpy.asarray(column, numpy.float64), numpy.asarray(row, numpy.float64)
        made = cls._make("filter_create_vectors", across.size, down.size)
        data = made._data.contents
        numpy.ctypeslib.as_array(data.column, down.shape)[...] = down
        numpy.ctypeslib.as_array(data.row, across.shape)[...] = across
        return made._place(divisor, origin)

    def _place(self, divisor: float, origin: Union[int, Sequence[int]]) -> "Filter":
        data = self._data.contents
        down, across = (int(value) for value in _pair(origin, "origin"))
        data.divisor = divisor
        data.anchor_y, data.anchor_x = data.height // 2 + down, data.width // 2 + across
        if not (0 <= data.anchor_y < data.height and 0 <= data.anchor_x < data.width):
            raise ValueError(f"origin {origin} puts the anchor outside weights of shape "
                             f"{self.shape}")
        return self

    def __del__(self) -> None:
        if getattr(self, "_data", None):
            library.gconv_filter_free(self._data)

    @property
    def shape(self) -> Tuple[int, int]:
        """Rows and columns."""
        return self._data.contents.height, self._data.contents.width

    @property
    def gain(self) -> float:
        """The sum of the weights over the divisor: what a constant image is multiplied by."""
        return float(library.gconv_filter_gain(self._data))


class Plan:
    """A chain of filters for images of one shape, set up once and run on many.

    `shape` and `dtype` are those of the input. `output` is the dtype of the result: that of the
    input, or float32. `offset` is added to each sample of the result, in its units. Several threads
    may run one plan: they take turns.

    >>> plan = Plan((4, 5), "uint8", [Filter("gauss5")])
    >>> int(plan(numpy.full((4, 5), 9, numpy.uint8))[0, 0])
    9
    """

    def __init__(self, shape: Sequence[int], dtype: Any, filters: Sequence[Filter], *,
                 output: Any = None, mode: str = "reflect", cval: float = 0.0,
                 correlate: bool = False, device: str = "auto", threads: int = 0,
                 edges: bool = False, threshold: float = 5.0,
                 offset: float = 0.0, detector: Optional[Detector] = None) -> None:
        self._plan = ctypes.c_void_p()
        self._lock = threading.Lock()
        self._shape, self._dtype = tuple(shape), numpy.dtype(dtype)
        job = Job()
        library.gconv_job_init(ctypes.byref(job), ctypes.sizeof(job))
        job.input = _shape_of(self._shape, self._dtype)
        if not isinstance(mode, str) or mode not in _MODES:
            raise ValueError(f"mode {mode!r} is none of {', '.join(_MODES)}; both axes have one")
        job.border = _MODES[mode]
        job.border_value, job.border_denominator = _levels(cval, self._dtype)
        result = numpy.dtype(numpy.uint8 if edges else self._dtype if output is None else output)
        if not edges and result not in (self._dtype, numpy.dtype(numpy.float32)):
            raise TypeError(f"output {result} of input {self._dtype}: gconv gives the dtype of "
                            "the input, or float32; convert with .astype afterwards")
        job.output_depth = _DEPTHS[result.name]
        job.alpha = _ALPHA_FILTER
        if offset != 0:
            job.offset, job.offset_denominator = _levels(offset, self._dtype)
            job.has_offset = True
        job.correlate, job.device, job.threads = correlate, device.encode(), threads
        if edges:
            job.output, job.threshold = _OUTPUT_EDGES, threshold
        if detector is not None:
            job.detector = ctypes.pointer(detector)
        handles = [ctypes.cast(each._data, ctypes.c_void_p).value for each in filters]
        job.filters = (ctypes.c_void_p * len(handles))(*handles)
        job.filter_count = len(handles)
        call("plan_create", ctypes.byref(job), ctypes.byref(self._plan))
        self._result_dtype = result
        self._result_shape = self._shape[:2] if edges else self._shape

    def __call__(self, image: Any, out: Optional[Array] = None) -> Array:
        """Computes one image into `out`, or into a new array, and returns it."""
        source = _image(image)
        if source.shape != self._shape or source.dtype != self._dtype:
            raise ValueError(f"the plan is for {self._dtype} of shape {self._shape}, and the "
                             f"image is {source.dtype} of shape {source.shape}")
        if out is None:
            out = numpy.empty(self._result_shape, self._result_dtype)
        elif out.shape != self._result_shape or out.dtype != self._result_dtype:
            raise ValueError(f"out has to be {self._result_dtype} of shape {self._result_shape}")
        elif not out.flags.writeable:
            raise ValueError("out is read-only")
        elif numpy.shares_memory(source, out):
            raise ValueError("out overlaps the image; give an array of its own")
        with self._lock:
            call("plan_run_memory", self._plan, source.ctypes.data, _stride(source),
                 out.ctypes.data, _stride(out), None)
        return out

    def __del__(self) -> None:
        if getattr(self, "_plan", None):
            library.gconv_plan_free(self._plan)

    @property
    def promise(self) -> str:
        """"exact", "rounded once" or "bounded" (docs/contract.md, rule 99)."""
        return str(library.gconv_promise_name(library.gconv_plan_promise(self._plan)).decode())


def _pair(value: Any, name: str) -> Tuple[float, float]:
    values = (value, value) if numpy.ndim(value) == 0 else tuple(value)
    if len(values) == 3 and values[2] in (0, 1) and name in ("sigma", "size"):
        if values[2] == (0 if name == "sigma" else 1):
            values = values[:2]
    if len(values) != 2:
        raise ValueError(f"{name} has to be one number, or one for rows and one for columns")
    return values[0], values[1]


def _levels(value: float, dtype: Any) -> Tuple[float, float]:
    """A sample in 8-bit levels, and the denominator of the fraction that it stands for, or 0."""
    if dtype != numpy.uint16:
        return float(value), 0.0
    return value / 257.0, 257.0 if float(value).is_integer() else 0.0


def _shape_of(shape: Tuple[int, ...], dtype: Any) -> Shape:
    if dtype.name not in _DEPTHS:
        raise TypeError(f"gconv computes uint8, uint16 and float32, not {dtype}; convert with "
                        ".astype(numpy.float32)")
    if not dtype.isnative:
        raise TypeError("samples have the byte order of another machine; convert with "
                        ".astype(dtype.newbyteorder('='))")
    if len(shape) not in (2, 3) or (len(shape) == 3 and not 1 <= shape[2] <= 4):
        raise ValueError(f"an image has the shape (height, width) or (height, width, 1 to 4), "
                         f"not {shape}; for more dimensions call gconv on each plane")
    if min(shape) < 1:
        raise ValueError(f"shape {shape} has no pixels")
    return Shape(shape[1], shape[0], shape[2] if len(shape) == 3 else 1, _DEPTHS[dtype.name])


def _stride(image: Array) -> int:
    """Bytes from row to row. Samples of a row have to lie side by side."""
    row_bytes = image[0].size * image.itemsize
    stride = row_bytes if image.shape[0] == 1 else image.strides[0]
    if not image[0].flags.c_contiguous or stride < row_bytes or stride % image.itemsize:
        raise ValueError(f"strides {image.strides}: samples of a row have to lie side by side, "
                         "and rows from top to bottom; use numpy.ascontiguousarray")
    return int(stride)


def _image(image: Any) -> Array:
    """The array of anything with __array_interface__, a buffer, or DLPack on the CPU."""
    if not isinstance(image, numpy.ndarray):
        plain = hasattr(image, "__array_interface__") or not hasattr(image, "__dlpack__")
        image = numpy.asarray(image) if plain else numpy.from_dlpack(image)
    array: Array = image
    _shape_of(array.shape, array.dtype)
    return array


def _flat(image: Any, per_axis: Any, name: str, flat: float) -> Array:
    """The image. scipy filters the third axis, too, which gconv refuses."""
    array = _image(image)
    if array.ndim == 3 and not (numpy.ndim(per_axis) == 1 and len(per_axis) == 3
                                and per_axis[2] == flat):
        raise ValueError(f"scipy filters all 3 axes, and gconv the image alone: give {name} for "
                         f"each axis with {flat} for the channels, as in {name}=(n, n, {flat})")
    return array


def _run(image: Array, filters: Sequence[Filter], output: Any, mode: str, cval: float,
         correlate: bool) -> Array:
    out = output if isinstance(output, numpy.ndarray) else None
    dtype = out.dtype if out is not None else output
    return Plan(image.shape, image.dtype, filters, output=dtype, mode=mode, cval=cval,
                correlate=correlate)(image, out)


def _weighted(image: Any, weights: Any, output: Any, mode: str, cval: float, origin: Any,
              correlate: bool) -> Array:
    array, values = _image(image), numpy.asarray(weights)
    if array.ndim == 3 and values.ndim == 3 and values.shape[2] == 1:
        values = values[:, :, 0]
    elif array.ndim == 3:
        raise ValueError("an image with channels takes weights of shape (rows, columns, 1)")
    return _run(array, [Filter.weights(values, origin=origin)], output, mode, cval, correlate)


def convolve(input: Any, weights: Any, output: Any = None, mode: str = "reflect",
             cval: float = 0.0, origin: Union[int, Sequence[int]] = 0) -> Array:
    """Convolves an image with weights of 2 dimensions, as scipy.ndimage.convolve.

    `output` is an array for the result, or its dtype: that of `input` (the default) or float32.
    `cval` is in units of the samples. The result is rounded and clamped once.
    """
    return _weighted(input, weights, output, mode, cval, origin, False)


def correlate(input: Any, weights: Any, output: Any = None, mode: str = "reflect",
              cval: float = 0.0, origin: Union[int, Sequence[int]] = 0) -> Array:
    """Correlates an image with weights: `convolve` without the turn of the weights."""
    return _weighted(input, weights, output, mode, cval, origin, True)


def _gaussian(sigma: float, truncate: float, radius: Optional[int]) -> Array:
    if not (sigma >= 0 and math.isfinite(sigma)):
        raise ValueError(f"sigma {sigma} is no finite number from 0 on")
    reach = int(truncate * sigma + 0.5) if radius is None else int(radius)
    if sigma == 0 or reach == 0:
        return numpy.ones(1)
    weights = numpy.exp(-0.5 / (sigma * sigma) * numpy.arange(-reach, reach + 1) ** 2.0)
    return numpy.asarray(weights / weights.sum())


def gaussian_filter(input: Any, sigma: Pair, order: int = 0, output: Any = None,
                    mode: str = "reflect", cval: float = 0.0, truncate: float = 4.0, *,
                    radius: Optional[int] = None) -> Array:
    """Blurs an image by a Gaussian, as scipy.ndimage.gaussian_filter.

    `sigma` is in pixels: one number, or one for rows and one for columns, and 0 for channels.
    The weights reach int(truncate * sigma + 0.5) pixels, or `radius`. `order` has to be 0.
    """
    if order != 0:
        raise ValueError("gconv has no derivatives of a Gaussian: order has to be 0; use sobel")
    array = _flat(input, sigma, "sigma", 0)
    down, across = _pair(sigma, "sigma")
    made = Filter.vectors(_gaussian(down, truncate, radius), _gaussian(across, truncate, radius))
    return _run(array, [made], output, mode, cval, False)


def uniform_filter(input: Any, size: Union[int, Sequence[int]] = 3, output: Any = None,
                   mode: str = "reflect", cval: float = 0.0,
                   origin: Union[int, Sequence[int]] = 0) -> Array:
    """The mean of `size` pixels in each direction, as scipy.ndimage.uniform_filter."""
    array = _flat(input, size, "size", 1)
    rows, columns = (int(value) for value in _pair(size, "size"))
    made = Filter.vectors(numpy.ones(rows), numpy.ones(columns), rows * columns, origin)
    return _run(array, [made], output, mode, cval, True)


def laplace(input: Any, output: Any = None, mode: str = "reflect", cval: float = 0.0) -> Array:
    """The sum of second differences of a grey image, as scipy.ndimage.laplace. Samples below 0
    become 0 unless `output` is float32."""
    return correlate(input, [[0, 1, 0], [1, -4, 1], [0, 1, 0]], output, mode, cval)


def _derivative(input: Any, side: float, axis: int, output: Any, mode: str,
                cval: float) -> Array:
    """A difference along the axis, then a sum along the other. Each meets the border, as in
    scipy."""
    array = _image(input)
    if axis not in (-2, -1, 0, 1) or array.ndim != 2:
        raise ValueError(f"gconv takes a grey image and axis 0 or 1, not axis {axis} of "
                         f"{array.ndim} dimensions")
    steps = [numpy.array([[-1, 0, 1]]), numpy.array([[1], [side], [1]])]
    filters = [Filter.weights(step if axis in (-1, 1) else step.T) for step in steps]
    return _run(array, filters, output, mode, cval, True)


def sobel(input: Any, axis: int = -1, output: Any = None, mode: str = "reflect",
          cval: float = 0.0) -> Array:
    """Sobel's difference along an axis of a grey image, as scipy.ndimage.sobel. Samples below 0
    become 0 unless `output` is float32."""
    return _derivative(input, 2, axis, output, mode, cval)


def prewitt(input: Any, axis: int = -1, output: Any = None, mode: str = "reflect",
            cval: float = 0.0) -> Array:
    """Prewitt's difference along an axis of a grey image, as scipy.ndimage.prewitt."""
    return _derivative(input, 1, axis, output, mode, cval)


def _detect(image: Any, method: int, threshold: float, low: float, high: float, *,
            out: Optional[Array] = None, derivative: int = 0, norm: int = 0, like: int = 0,
            mode: str = "reflect") -> Array:
    array, detector, count = _image(image), Detector(), ctypes.c_int()
    library.gconv_detector_init(ctypes.byref(detector), ctypes.sizeof(detector))
    detector.method, detector.low, detector.high = method, low, high
    detector.derivative, detector.norm, detector.like = derivative, norm, like
    names = library.gconv_method_filters(ctypes.byref(detector), ctypes.byref(count))
    filters = [Filter._make("filter_load_builtin", names[index]) for index in range(count.value)]
    return Plan(array.shape, array.dtype, filters, edges=True, threshold=threshold, mode=mode,
                detector=detector)(array, out)


def edges(image: Any, threshold: float = 5.0) -> Array:
    """The edges that `gconv edges` finds: uint8 of shape (height, width), 255 on an edge, else 0.

    `threshold` is in levels of 8 bits. Colours are RGB. Alpha is put on white.
    """
    return _detect(image, 0, threshold, 50.0, 100.0)


def canny(image: Any, low: float = 50.0, high: float = 100.0) -> Array:
    """Lines by Canny's method (`gconv edges --method canny`) of uint8 or uint16, as `edges` gives
    them. `low` and `high` are magnitudes in levels of 8 bits."""
    return _detect(image, _METHOD_CANNY, 5.0, low, high)


def imread(path: Union[str, "os.PathLike[str]"], *, grey: bool = False) -> Array:
    """Reads an image file: (height, width) for grey, else (height, width, channels), turned as
    its EXIF says. Raises FileNotFoundError, or GconvError for what is no sound image."""
    options, reader = ReaderOptions(), ctypes.c_void_p()
    library.gconv_reader_options_init(ctypes.byref(options), ctypes.sizeof(options))
    options.grey = grey
    name = os.fspath(path)
    call("reader_open", os.fsencode(name), ctypes.byref(options), ctypes.byref(reader), about=name)
    try:
        shape = library.gconv_reader_shape(reader).contents
        sides = (shape.height, shape.width, shape.channels)
        image: Array = numpy.empty(sides[:2] if shape.channels == 1 else sides,
                                   _DTYPES[shape.depth])
        call("reader_read", reader, shape.height, image.ctypes.data, _stride(image), about=name)
        call("reader_finish", reader, about=name)
        return image
    finally:
        library.gconv_reader_free(reader)


def imwrite(path: Union[str, "os.PathLike[str]"], image: Any, *, quality: Optional[int] = None,
            compression: int = -1) -> None:
    """Writes an image file in the format of the path's extension. The file appears whole or not
    at all. With `quality`, 1 to 100, WebP, AVIF, HEIC and JPEG XL are written with loss, as JPEG
    always is; its default is 90."""
    array, name = _image(image), os.fspath(path)
    options, writer = WriterOptions(), ctypes.c_void_p()
    library.gconv_writer_options_init(ctypes.byref(options), ctypes.sizeof(options))
    options.format = library.gconv_format_from_path(os.fsencode(name))
    if options.format == 0:
        raise ValueError(f"{name}: the extension is of no format that gconv writes")
    options.shape = _shape_of(array.shape, array.dtype)
    options.compression, options.lossy = compression, quality is not None
    if quality is not None:
        options.quality = quality
    stride = _stride(array)
    call("writer_open", os.fsencode(name), ctypes.byref(options), ctypes.byref(writer), about=name)
    try:
        call("writer_write", writer, array.shape[0], array.ctypes.data, stride, about=name)
        call("writer_finish", writer, about=name)
    finally:
        library.gconv_writer_free(writer)

"""gconv: convolution and edge detection of images.

Functions have the names and arguments of scipy.ndimage. Images are arrays of shape
(height, width) or (height, width, channels), with 1 to 4 channels and samples of uint8, uint16
or float32, on the CPU or on a GPU. gconv computes a chain without rounding between steps, and rounds and clamps once, at
the end. docs/python.md says how that differs from scipy.

>>> import numpy, gconv
>>> gconv.uniform_filter(numpy.full((4, 5), 7, numpy.uint8))[0].tolist()
[7, 7, 7, 7, 7]
"""
import ctypes
import math
import os
import warnings
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ._arrays import KINDS, Array, describe, new, numpy, shape_of, source_of
from ._library import (Detector, GconvError, ReaderOptions, WriterOptions, call, library,
                       take_warnings)
from ._plans import Filter, Plan, frozen, pair
from ._plans import run as _run
from ._program import draw, run, verify, warn_of_white

__all__ = ["Filter", "GconvError", "Plan", "canny", "convolve", "correlate", "edges",
           "gaussian_filter", "imread", "imwrite", "laplace", "prewitt", "run", "sketch", "sobel",
           "thin", "uniform_filter", "verify"]
__version__ = library.gconv_version().decode()
for _public in (Filter, GconvError, Plan, run, verify):
    _public.__module__ = __name__

Pair = Union[float, Sequence[float]]
Axes = Optional[Sequence[int]]
_METHOD_CANNY = 3
_LARGEST_MATRIX = 65  # a side: up to here bytes are blurred faster by a matrix than by vectors


def _is_of_planes(shape: Tuple[int, ...], axes: Any) -> bool:
    """Whether the caller says that rows and columns are filtered, and not channels."""
    if axes is not None and [axis % len(shape) for axis in (
            axes if hasattr(axes, "__len__") else [axes])] != [0, 1]:
        raise ValueError(f"gconv filters rows and columns: axes {axes} has to be (0, 1)")
    return axes is not None


def _flat(shape: Tuple[int, ...], per_axis: Any, name: str, flat: int,
          axes: Any) -> Tuple[float, float]:
    """A number for rows and one for columns. scipy filters channels, too, which gconv refuses."""
    if _is_of_planes(shape, axes):
        return pair(per_axis, name)
    if len(shape) == 3 and not (hasattr(per_axis, "__len__") and len(per_axis) == 3
                                and per_axis[2] == flat):
        raise ValueError(f"scipy filters all 3 axes, and gconv the image alone: give axes=(0, 1), "
                         f"or {name} for each axis with {flat} for the channels, as in "
                         f"{name}=(n, n, {flat})")
    return pair(per_axis, name, flat)


def _weighted(shape: Tuple[int, ...], _kind: str, weights: Any, origin: Any, axes: Any,
              correlate: bool) -> Dict[str, Any]:
    if not _is_of_planes(shape, axes) and len(shape) == 3:
        if getattr(weights, "shape", ())[2:] != (1,):
            raise ValueError("an image with channels takes axes=(0, 1), or weights of shape "
                             "(rows, columns, 1)")
        weights = weights[:, :, 0]
    return {"filters": [Filter.weights(weights, origin=origin)], "correlate": correlate}


def convolve(input: Any, weights: Any, output: Any = None, mode: str = "reflect",
             cval: float = 0.0, origin: Union[int, Sequence[int]] = 0, *,
             axes: Axes = None) -> Array:
    """Convolves an image with weights of 2 dimensions, as scipy.ndimage.convolve.

    `output` is an array for the result, or its dtype: that of `input` (the default) or float32.
    `cval` is in units of the samples. An image with channels takes axes=(0, 1), or weights of shape
    (rows, columns, 1). The result is rounded and clamped once.
    """
    return _run(_weighted, (weights, origin, axes, False), input, output, mode, cval,
                (frozen(weights), origin, axes, False))


def correlate(input: Any, weights: Any, output: Any = None, mode: str = "reflect",
              cval: float = 0.0, origin: Union[int, Sequence[int]] = 0, *,
              axes: Axes = None) -> Array:
    """Correlates an image with weights: `convolve` without the turn of the weights."""
    return _run(_weighted, (weights, origin, axes, True), input, output, mode, cval,
                (frozen(weights), origin, axes, True))


def _gaussian(sigma: float, truncate: float, radius: Optional[int]) -> List[float]:
    if not (sigma >= 0 and math.isfinite(sigma)):
        raise ValueError(f"sigma {sigma} is no finite number from 0 on")
    reach = int(truncate * sigma + 0.5) if radius is None else int(radius)
    if sigma == 0 or reach == 0:
        return [1.0]
    weights = [math.exp(-0.5 / (sigma * sigma) * x * x) for x in range(-reach, reach + 1)]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _blur(shape: Tuple[int, ...], kind: str, sigma: Pair, order: int, truncate: float,
          radius: Optional[int], axes: Any) -> Dict[str, Any]:
    if order != 0:
        raise ValueError("gconv has no derivatives of a Gaussian: order has to be 0; use sobel")
    down, across = _flat(shape, sigma, "sigma", 0, axes)
    column, row = _gaussian(down, truncate, radius), _gaussian(across, truncate, radius)
    if kind == "uint8" and down == across and 1 < len(row) <= _LARGEST_MATRIX:
        return {"filters": [Filter._make("filter_load_builtin",
                                         f"gaussian:{float(down)!r},{len(row)}".encode())]}
    return {"filters": [Filter.vectors(column, row)]}


def gaussian_filter(input: Any, sigma: Pair, order: int = 0, output: Any = None,
                    mode: str = "reflect", cval: float = 0.0, truncate: float = 4.0, *,
                    radius: Optional[int] = None, axes: Axes = None) -> Array:
    """Blurs an image by a Gaussian, as scipy.ndimage.gaussian_filter.

    `sigma` is in pixels: one number, or one for rows and one for columns. An image with channels
    takes axes=(0, 1), or a third sigma of 0.
    The weights reach int(truncate * sigma + 0.5) pixels, or `radius`. `order` has to be 0.
    """
    return _run(_blur, (sigma, order, truncate, radius, axes), input, output, mode, cval)


def _mean(shape: Tuple[int, ...], _kind: str, size: Any, origin: Any,
          axes: Any) -> Dict[str, Any]:
    rows, columns = (int(value) for value in _flat(shape, size, "size", 1, axes))
    return {"filters": [Filter.vectors([1.0] * rows, [1.0] * columns, rows * columns, origin)],
            "correlate": True}


def uniform_filter(input: Any, size: Union[int, Sequence[int]] = 3, output: Any = None,
                   mode: str = "reflect", cval: float = 0.0,
                   origin: Union[int, Sequence[int]] = 0, *, axes: Axes = None) -> Array:
    """The mean of `size` pixels in each direction, as scipy.ndimage.uniform_filter. An image with
    channels takes axes=(0, 1), or a third size of 1."""
    return _run(_mean, (size, origin, axes), input, output, mode, cval)


def laplace(input: Any, output: Any = None, mode: str = "reflect", cval: float = 0.0, *,
            axes: Axes = None) -> Array:
    """The sum of second differences of an image, as scipy.ndimage.laplace. Samples below 0 become 0
    unless `output` is float32. An image with channels takes axes=(0, 1)."""
    return correlate(input, ((0, 1, 0), (1, -4, 1), (0, 1, 0)), output, mode, cval, axes=axes)


def _differences(shape: Tuple[int, ...], _kind: str, side: float, axis: int,
                 axes: Any) -> Dict[str, Any]:
    """A difference along the axis, then a sum along the other; each meets the border."""
    if axis not in (-2, -1, 0, 1) or not (_is_of_planes(shape, axes) or len(shape) == 2):
        raise ValueError(f"axis {axis} of {len(shape)} dimensions: gconv takes axis 0 or 1, and "
                         "axes=(0, 1) for an image with channels")
    along, beside = [-1, 0, 1], [1, side, 1]
    if axis in (-1, 1):
        steps: List[Any] = [[along], [[value] for value in beside]]
    else:
        steps = [[[value] for value in along], [beside]]
    return {"filters": [Filter.weights(step) for step in steps], "correlate": True}


def sobel(input: Any, axis: int = -1, output: Any = None, mode: str = "reflect",
          cval: float = 0.0, *, axes: Axes = None) -> Array:
    """Sobel's difference along an axis of an image, as scipy.ndimage.sobel. Samples below 0 become
    0 unless `output` is float32. With axes=(0, 1), which an image with channels takes, `axis` is
    one of these: 0 or -2 goes down, 1 or -1 across."""
    return _run(_differences, (2, axis, axes), input, output, mode, cval)


def prewitt(input: Any, axis: int = -1, output: Any = None, mode: str = "reflect",
            cval: float = 0.0, *, axes: Axes = None) -> Array:
    """Prewitt's difference along an axis of an image, as `sobel`."""
    return _run(_differences, (1, axis, axes), input, output, mode, cval)


def _detector(_shape: Tuple[int, ...], _kind: str, method: int, threshold: float, low: float,
              high: float, derivative: int, norm: int, like: int) -> Dict[str, Any]:
    detector, count = Detector(), ctypes.c_int()
    library.gconv_detector_init(ctypes.byref(detector), ctypes.sizeof(detector))
    detector.method, detector.low, detector.high = method, low, high
    detector.derivative, detector.norm, detector.like = derivative, norm, like
    names = library.gconv_method_filters(ctypes.byref(detector), ctypes.byref(count))
    filters = [Filter._make("filter_load_builtin", names[index]) for index in range(count.value)]
    return {"filters": filters, "edges": True, "threshold": threshold, "detector": detector}


def detect(image: Any, method: int, threshold: float, low: float, high: float, *,
           out: Any = None, derivative: int = 0, norm: int = 0, like: int = 0,
           mode: str = "reflect") -> Array:
    """What finds edges. The numbers are those of gconv_detector."""
    return _run(_detector, (method, threshold, low, high, derivative, norm, like), image, out, mode)


def _seen(image: Any, lines: Array) -> Array:
    """The lines of finite samples; a warning if there are none, as white is another number."""
    if numpy is not None and type(image) is numpy.ndarray and image.dtype.kind == "f" and not (
            image.max() <= 2.0 ** 32 and image.min() >= -2.0 ** 32):
        raise ValueError("a sample is infinite, not a number, or beyond 2^32")
    if numpy is not None and type(lines) is numpy.ndarray and lines.max() == 0:
        warn_of_white(image, 4)
    return lines


def edges(image: Any, threshold: Union[float, str, None] = None, **options: Any) -> Array:
    """The edges that `gconv edges` finds: uint8 of shape (height, width), 255 on an edge, else 0.

    `threshold` is in levels of 8 bits, 5 if it is not given. Colours are RGB. Alpha is put on
    white. A threshold of "auto" or "10%" and `options` of the program, as thin=True, white=1 or
    method="gradient", start the program, which computes by files that are deleted.
    """
    if options or isinstance(threshold, str):
        return draw(image, "edges", threshold=threshold, **options)
    return _seen(image, detect(image, 0, 5.0 if threshold is None else threshold, 50.0, 100.0))


def canny(image: Any, low: Union[float, str, None] = None, high: Union[float, str, None] = None,
          **options: Any) -> Array:
    """Lines by Canny's method (`gconv edges --method canny`) of uint8 or uint16, as `edges` gives
    them. `low` and `high` are magnitudes in levels of 8 bits, 50 and 100 if they are not given.
    high="auto", which finds `low`, too, and `options` start the program, as those of `edges` do."""
    if options or isinstance(low, str) or isinstance(high, str):
        return draw(image, "edges", method="canny", low=low, high=high, **options)
    return _seen(image, detect(image, _METHOD_CANNY, 5.0, 50.0 if low is None else low,
                               100.0 if high is None else high))


def sketch(image: Any, **options: Any) -> Array:
    """A drawing of the image, as `gconv sketch` makes it: ink on paper.

    `options` are those of the program: sigma=2, ink="#204080", paper="transparent", lines="thin";
    min_length=20 with these lines. The program computes it, by files that are deleted.
    """
    return draw(image, "sketch", **options)


def thin(image: Any) -> Array:
    """The white lines of a grey image, of uint8, uint16 or bool, thinned to one pixel by `gconv
    thin`."""
    return draw(image, "thin")


def imread(path: Union[str, "os.PathLike[str]"], *, grey: bool = False,
           page: Optional[int] = None) -> Array:
    """Reads an image file: (height, width) for grey, else (height, width, channels), turned as
    its EXIF says. `page` is the image of a file of several, pages or frames, from 1; without it
    such a file is refused. What is lost, as bits of float64, is a warning. Raises
    FileNotFoundError, or GconvError for what is no sound image."""
    options, reader, more = ReaderOptions(), ctypes.c_void_p(), ctypes.c_bool()
    library.gconv_reader_options_init(ctypes.byref(options), ctypes.sizeof(options))
    if page is not None and not 1 <= page < 1 << 32:
        raise ValueError(f"page {page}: pages are counted from 1")
    options.grey, options.page = grey, page or 0
    name, said = os.fspath(path), take_warnings(options)
    call("reader_open", os.fsencode(name), ctypes.byref(options), ctypes.byref(reader), about=name)
    try:
        shape = library.gconv_reader_shape(reader).contents
        sides = (shape.height, shape.width, shape.channels)
        image: Array = new(sides[:2] if shape.channels == 1 else sides, KINDS[shape.depth])
        place = describe(image)
        call("reader_read", reader, shape.height, place.address, place.stride, about=name)
        call("reader_finish", reader, about=name)
        if page is None:
            call("reader_next", reader, ctypes.byref(more), about=name)
        if more:
            raise ValueError(f"{name} holds several images; page=1 reads the first")
        for line in said:
            warnings.warn(f"{name}: {line}", stacklevel=2)
        return image
    finally:
        library.gconv_reader_free(reader)


def imwrite(path: Union[str, "os.PathLike[str]"], image: Any, *, quality: Optional[int] = None,
            compression: int = -1) -> None:
    """Writes an image file in the format of the path's extension. The file appears whole or not
    at all. With `quality`, 1 to 100, WebP, AVIF, HEIC and JPEG XL are written with loss, as JPEG
    always is; its default is 90. A warning tells of colours or alpha that the format lacks."""
    place, name = source_of(image), os.fspath(path)
    if place.device >= 0:
        raise ValueError("the image is on a GPU; copy it to the CPU first")
    options, writer = WriterOptions(), ctypes.c_void_p()
    library.gconv_writer_options_init(ctypes.byref(options), ctypes.sizeof(options))
    options.format = library.gconv_format_from_path(os.fsencode(name))
    if options.format == 0:
        raise ValueError(f"{name}: the extension is of no format that gconv writes")
    options.shape = shape_of(place.shape, place.kind)
    options.compression, options.lossy = compression, quality is not None
    if quality is not None and not 1 <= quality <= 100:
        raise ValueError(f"quality {quality} is not within 1 and 100")
    options.quality = quality or options.quality
    said = take_warnings(options)
    if options.shape.channels > 2 and name.lower().endswith((".pgm", ".y4m")):
        said.append("the format has no colours: made grey")
    try:
        call("writer_open", os.fsencode(name), ctypes.byref(options), ctypes.byref(writer),
             about=name, creates=True)
    except GconvError as failure:
        if "depth 32" in str(failure):
            failure.args = (f"{failure}; multiply by 255 if 1 is white, then convert with "
                            ".clip(0, 255).round().astype('u1')",)
        raise
    try:
        call("writer_write", writer, place.shape[0], place.address, place.stride, about=name,
             creates=True)
        call("writer_finish", writer, about=name, creates=True)
    finally:
        library.gconv_writer_free(writer)
    for line in said:
        warnings.warn(f"{name}: {line}", stacklevel=2)

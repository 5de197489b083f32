"""Functions with the names, arguments and borders of OpenCV.

The bits are those of gconv: bytes are rounded once, to the nearest, where OpenCV may be off by one.
Canny gives the bytes of cv2.Canny for grey images. docs/python.md says what differs.
"""
from typing import Any, Dict, Sequence, Tuple

try:
    import numpy
except ImportError:
    raise ImportError("gconv.cv needs numpy, without which gconv works: pip install numpy") from None

from . import Filter, detect
from ._arrays import Array
from ._plans import frozen, run

__all__ = ["BORDER_CONSTANT", "BORDER_DEFAULT", "BORDER_REFLECT", "BORDER_REFLECT_101",
           "BORDER_REPLICATE", "BORDER_WRAP", "CV_16S", "CV_16U", "CV_32F", "CV_64F", "CV_8U",
           "Canny", "GaussianBlur", "Laplacian", "Sobel", "filter2D", "getGaussianKernel",
           "sepFilter2D"]

BORDER_CONSTANT, BORDER_REPLICATE, BORDER_REFLECT, BORDER_WRAP, BORDER_REFLECT_101 = range(5)
BORDER_DEFAULT = BORDER_REFLECT_101
_MODES = ["constant", "nearest", "reflect", "wrap", "mirror"]
CV_8U, CV_16U, CV_16S, CV_32F, CV_64F = 0, 2, 3, 5, 6  # CV_16S and CV_64F are refused by name
_DEPTHS = {CV_8U: "uint8", CV_16U: "uint16", CV_32F: "float32"}
_NARROW = {1: [1.0], 3: [0.25, 0.5, 0.25], 5: [0.0625, 0.25, 0.375, 0.25, 0.0625],
           7: [0.03125, 0.109375, 0.21875, 0.28125, 0.21875, 0.109375, 0.03125],
           9: [side / 256 for side in (4, 13, 30, 51, 60, 51, 30, 13, 4)]}
_OPERATORS = {3: 0, 5: 3, 7: 4}  # of gconv_detector, by the side


def _run(make: Any, arguments: Tuple[Any, ...], src: Any, ddepth: int, border: int,
         dst: Any, key: Any = None) -> Array:
    if ddepth != -1 and ddepth not in _DEPTHS:
        raise ValueError(f"ddepth {ddepth}: gconv gives -1 (that of src), CV_8U, CV_16U, CV_32F")
    if border not in range(len(_MODES)):
        raise ValueError(f"borderType {border} is none of gconv.cv.BORDER_...")
    output = dst if dst is not None else None if ddepth == -1 else _DEPTHS[ddepth]
    return run(make, arguments, src, output, _MODES[border], 0.0, key)


def _chain(made: Filter, delta: float) -> Dict[str, Any]:
    return {"filters": [made], "correlate": True, "offset": delta}


def _origin(anchor: Sequence[int], shape: Sequence[int]) -> Tuple[int, int]:
    """How far an anchor (x, y) is from the middle, rows first; -1 is the middle."""
    across, down = (0 if place == -1 else place - side // 2
                    for place, side in zip(anchor, (shape[1], shape[0])))
    return down, across


def getGaussianKernel(ksize: int, sigma: float, ktype: int = CV_64F) -> Array:
    """The weights of one direction, in a column, which sum to 1; from the side if `sigma` is 0."""
    if ksize < 1 or ksize % 2 == 0 or ktype not in (CV_32F, CV_64F):
        raise ValueError(f"ksize {ksize} has to be odd, and ktype CV_32F or CV_64F")
    named = sigma <= 0 and ksize in _NARROW
    sigma = sigma if sigma > 0 else 0.3 * ((ksize - 1) * 0.5 - 1) + 0.8
    offsets = numpy.arange(ksize) - (ksize - 1) / 2
    weights = _NARROW[ksize] if named else numpy.exp(-0.5 / (sigma * sigma) * offsets ** 2)
    return numpy.asarray(weights / numpy.sum(weights), "f4" if ktype == CV_32F else "f8")[:, None]


def _blur(_shape: Tuple[int, ...], kind: str, ksize: Sequence[int], sigmaX: float,
          sigmaY: float) -> Dict[str, Any]:
    sigmaY = sigmaY if sigmaY > 0 else sigmaX
    reach = 3 if kind == "uint8" else 4
    row, column = (getGaussianKernel(side or int(round(sigma * reach * 2 + 1)) | 1, sigma)[:, 0]
                   for side, sigma in zip(ksize, (sigmaX, sigmaY)))
    return _chain(Filter.vectors(column, row), 0)


def GaussianBlur(src: Any, ksize: Sequence[int], sigmaX: float, dst: Any = None,
                 sigmaY: float = 0, borderType: int = BORDER_DEFAULT) -> Array:
    """Blurs an image. `ksize` is (width, height), (0, 0) to follow from the sigmas, as in cv2."""
    return _run(_blur, (ksize, sigmaX, sigmaY), src, -1, borderType, dst)


def _matrix(_shape: Tuple[int, ...], _kind: str, kernel: Any, scale: float, anchor: Sequence[int],
            delta: float) -> Dict[str, Any]:
    values = numpy.atleast_2d(numpy.asarray(kernel, numpy.float64)) * scale
    return _chain(Filter.weights(values, origin=_origin(anchor, values.shape)), delta)


def filter2D(src: Any, ddepth: int, kernel: Any, dst: Any = None,
             anchor: Sequence[int] = (-1, -1), delta: float = 0,
             borderType: int = BORDER_DEFAULT) -> Array:
    """Correlates an image with a kernel of 2 dimensions."""
    return _run(_matrix, (kernel, 1, anchor, delta), src, ddepth, borderType, dst,
                (frozen(kernel), 1, anchor, delta))


def _product(_shape: Tuple[int, ...], _kind: str, across: Any, down: Any, anchor: Sequence[int],
             delta: float) -> Dict[str, Any]:
    row, column = numpy.ravel(across), numpy.ravel(down)
    return _chain(Filter.vectors(column, row, origin=_origin(anchor, (column.size, row.size))),
                  delta)


def sepFilter2D(src: Any, ddepth: int, kernelX: Any, kernelY: Any, dst: Any = None,
                anchor: Sequence[int] = (-1, -1), delta: float = 0,
                borderType: int = BORDER_DEFAULT) -> Array:
    """Correlates an image with the products of a column `kernelY` and a row `kernelX`."""
    return _run(_product, (kernelX, kernelY, anchor, delta), src, ddepth, borderType, dst,
                (frozen(kernelX), frozen(kernelY), anchor, delta))


def _difference(order: int, ksize: int) -> Array:
    """Sobel's weights of one direction: sums of neighbours, and `order` differences."""
    side = 3 if ksize == 1 and order > 0 else ksize
    weights: Array = numpy.ones(1)
    for step in range(side - 1):
        weights = numpy.convolve(weights, [1, 1] if step < side - 1 - order else [-1, 1])
    return numpy.asarray(weights)


def _derivative(_shape: Tuple[int, ...], _kind: str, dx: int, dy: int, ksize: int, scale: float,
                delta: float) -> Dict[str, Any]:
    if ksize not in (1, 3, 5, 7) or not 0 < dx + dy or min(dx, dy) < 0 or max(dx, dy) > 2:
        raise ValueError("gconv takes ksize 1, 3, 5 or 7, and orders 0 to 2 that are not both 0")
    return _chain(Filter.vectors(_difference(dy, ksize) * scale, _difference(dx, ksize)), delta)


def Sobel(src: Any, ddepth: int, dx: int, dy: int, dst: Any = None, ksize: int = 3,
          scale: float = 1, delta: float = 0, borderType: int = BORDER_DEFAULT) -> Array:
    """The derivative of order `dx` across and `dy` down, with a `ksize` of 1, 3, 5 or 7."""
    return _run(_derivative, (dx, dy, ksize, scale, delta), src, ddepth, borderType, dst)


def Laplacian(src: Any, ddepth: int, dst: Any = None, ksize: int = 1, scale: float = 1,
              delta: float = 0, borderType: int = BORDER_DEFAULT) -> Array:
    """The sum of the second derivatives, with a `ksize` of 1 or 3."""
    if ksize not in (1, 3):
        raise ValueError("gconv takes ksize 1 or 3")
    kernel = ((0, 1, 0), (1, -4, 1), (0, 1, 0)) if ksize == 1 else ((2, 0, 2), (0, -8, 0), (2, 0, 2))
    return _run(_matrix, (kernel, scale, (-1, -1), delta), src, ddepth, borderType, dst)


def Canny(image: Any, threshold1: float, threshold2: float, edges: Any = None,
          apertureSize: int = 3, L2gradient: bool = False) -> Array:
    """Lines of a grey uint8 image: the bytes of cv2.Canny."""
    if len(image.shape) != 2:
        raise ValueError("Canny takes a grey image, of shape (height, width)")
    if apertureSize not in _OPERATORS:
        raise ValueError("apertureSize has to be 3, 5 or 7")
    return detect(image, 3, 5.0, min(threshold1, threshold2), max(threshold1, threshold2),
                  out=edges, derivative=_OPERATORS[apertureSize], norm=int(L2gradient), like=1,
                  mode="nearest")

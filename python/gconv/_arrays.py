"""Images of others: where their samples lie, on the CPU or on a GPU, and arrays for results.

An image is a numpy array, a tensor of torch, an array of CuPy, or anything that has
__array_interface__, __cuda_array_interface__, DLPack or a buffer. numpy need not be installed.
"""
import ctypes
import functools
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Tuple

from ._library import Shape

try:
    import numpy as numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

if TYPE_CHECKING:
    Array = numpy.ndarray[Any, Any]
else:
    Array = Any

DEPTHS = {"uint8": 8, "uint16": 16, "float32": 32}
KINDS = {depth: kind for kind, depth in DEPTHS.items()}
_ORDER = "<" if sys.byteorder == "little" else ">"
_TYPES = {"|u1": "uint8", _ORDER + "u2": "uint16", _ORDER + "f4": "float32"}
_LETTERS = {"uint8": "B", "uint16": "H", "float32": "f"}  # of buffers
_CPU, _CUDA, _PINNED, _MANAGED = 1, 2, 3, 13  # devices of DLPack
_CODES = {(1, 8): "uint8", (1, 16): "uint16", (2, 32): "float32"}  # types of DLPack
_type: Any = type  # mypy takes type[Any] for what has no hash
_SIGNS = ("__array_interface__", "__cuda_array_interface__", "__dlpack__", "strides")  # of arrays
_ORDER_HINT = ("samples have the byte order of another machine; convert with "
               ".astype(dtype.newbyteorder('='))")


class StrideError(ValueError):
    """Samples lie where gconv does not take them."""


class Image(NamedTuple):
    """Where the samples of an image lie."""

    address: int
    shape: Tuple[int, ...]
    kind: str  # "uint8", "uint16" or "float32"
    stride: int  # bytes from row to row
    writable: bool
    device: int  # the number of a GPU; -1: memory of the CPU
    maker: str  # the module of the object's type: "numpy", "torch", ...
    owner: Any  # keeps the samples where they are

    @property
    def row_bytes(self) -> int:
        return _row_bytes(self.shape, self.kind)


@functools.lru_cache(maxsize=64)
def _row_bytes(shape: Tuple[int, ...], kind: str) -> int:
    return shape[1] * (shape[2] if len(shape) == 3 else 1) * DEPTHS[kind] // 8


def _refusal(name: Any) -> TypeError:
    """What to raise for samples that gconv does not compute."""
    convert = ".astype('u1') * 255" if "bool" in str(name) or name == "?" else ".astype('float32')"
    return TypeError(f"gconv computes uint8, uint16 and float32, not {name}; convert with {convert}")


def kind_of(dtype: Any) -> str:
    """The name of a dtype: a text, or a type of numpy, torch or CuPy."""
    name = dtype if isinstance(dtype, str) else str(dtype).replace("torch.", "")
    if name not in DEPTHS and numpy is not None and not str(dtype).startswith("torch."):
        known = numpy.dtype(dtype)
        if not known.isnative:
            raise TypeError(_ORDER_HINT)
        name = known.name
    if name not in DEPTHS:
        raise _refusal(name)
    return name


def is_array(thing: Any) -> bool:
    """Whether `thing` is an object with samples and not a dtype."""
    return _of_type(_type(thing))[1] or (not isinstance(thing, type)
                                        and any(hasattr(thing, name) for name in _SIGNS))


def maker_of(thing: Any) -> str:
    """The top module of the type: "numpy", "torch", "cupy", "jaxlib", "builtins"."""
    return _of_type(_type(thing))[0]


@functools.lru_cache(maxsize=64)
def _of_type(kind: type) -> Tuple[str, bool]:
    """The top module of a type, and whether all its objects are arrays."""
    return kind.__module__.partition(".")[0], issubclass(kind, bytearray) or any(
        hasattr(kind, name) for name in _SIGNS)


def _check(shape: Tuple[int, ...]) -> None:
    if len(shape) not in (2, 3) or (len(shape) == 3 and not 1 <= shape[2] <= 4):
        raise ValueError("an image has the shape (height, width) or (height, width, 1 to 4), "
                         f"not {shape}; for more dimensions call gconv on each plane")
    if min(shape) < 1:
        raise ValueError(f"shape {shape} has no pixels")


def shape_of(shape: Tuple[int, ...], kind: str) -> Shape:
    """The gconv_shape of an image."""
    _check(shape)
    return Shape(shape[1], shape[0], shape[2] if len(shape) == 3 else 1, DEPTHS[kind])


@functools.lru_cache(maxsize=64)
def _stride(shape: Tuple[int, ...], kind: str, strides: Optional[Tuple[int, ...]]) -> int:
    """Bytes from row to row. Samples of a row have to lie side by side."""
    _check(shape)
    size = DEPTHS[kind] // 8
    row, whole = _row_bytes(shape, kind), size
    stride = row
    if strides is not None:
        for side, step in zip(shape[:0:-1], strides[:0:-1]):
            if side > 1 and step != whole:
                stride = -1
            whole *= side
        if shape[0] > 1 and stride >= 0:
            stride = strides[0]
        if stride < row or stride % size:
            raise StrideError(f"strides {strides}: samples of a row have to lie side by side, "
                              "and rows from top to bottom; use numpy.ascontiguousarray")
    return stride


def _image(address: int, shape: Any, kind: str, strides: Any, writable: bool, device: int,
           owner: Any) -> Image:
    """`strides` are those of all axes in bytes; None: without gaps."""
    shape = tuple(shape)
    return Image(address, shape, kind, _stride(shape, kind, strides and tuple(strides)), writable,
                 device, maker_of(owner), owner)


class _Buffer(ctypes.Structure):
    """Py_buffer"""

    _fields_ = [("address", ctypes.c_void_p), ("owner", ctypes.py_object),
                ("length", ctypes.c_ssize_t), ("item", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("dimensions", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p),
                ("internal", ctypes.c_void_p)]


def _address(view: memoryview) -> int:
    """Where a buffer begins, also one that may only be read."""
    buffer = _Buffer()
    whole_and_readable = 0x11C  # PyBUF_FULL_RO
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(view), ctypes.byref(buffer),
                                        whole_and_readable)
    address = buffer.address or 0
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))
    return int(address)


def _from_buffer(thing: Any) -> Image:
    view = memoryview(thing)
    kinds = {letter: kind for kind, letter in _LETTERS.items()}
    letter = view.format.lstrip("@=" + _ORDER)
    if letter not in kinds:
        raise _refusal(view.format)
    if view.ndim == 1:
        raise ValueError("a buffer has to say its shape: memoryview(data).cast('B', (height, "
                         "width)) or (height, width, channels)")
    return _image(_address(view), view.shape, kinds[letter], view.strides, not view.readonly, -1,
                  thing)


def _from_interface(face: Any, thing: Any, device: int) -> Image:
    """What __array_interface__ says, or __cuda_array_interface__ up to version 3."""
    if face.get("mask") is not None:
        raise ValueError("the array has a mask, and gconv knows none; fill it first")
    if face["typestr"] not in _TYPES:
        if face["typestr"][1:] in ("u2", "f4"):
            raise TypeError(_ORDER_HINT)
        raise _refusal(getattr(thing, "dtype", face["typestr"]))
    data, keep = face.get("data"), thing
    if isinstance(data, tuple):
        address, readonly = data
    else:  # a buffer, as Pillow has it
        view = memoryview(thing if data is None else data)
        keep = (thing, view)
        address, readonly = _address(view) + face.get("offset", 0), view.readonly
    fixed = readonly or maker_of(thing).startswith("jax")  # which never changes an array
    found = _image(address, map(int, face["shape"]), _TYPES[face["typestr"]], face.get("strides"),
                   not fixed, device, thing)
    return found._replace(owner=keep)


def _from_torch(tensor: Any) -> Image:
    if tensor.requires_grad:
        raise ValueError("gconv has no gradients; give the tensor's .detach()")
    if tensor.device.type not in ("cpu", "cuda"):
        raise ValueError(f"gconv has no part for tensors on {tensor.device}")
    kind = kind_of(tensor.dtype)
    strides = tuple(step * tensor.element_size() for step in tensor.stride())
    device = tensor.device.index if tensor.device.type == "cuda" else -1
    return _image(tensor.data_ptr(), tensor.shape, kind, strides, True, device, tensor)


def _from_cupy(array: Any) -> Image:
    kind = _TYPES.get(array.dtype.str) or kind_of(array.dtype)
    strides = None if array.flags.c_contiguous else array.strides
    return _image(array.data.ptr, array.shape, kind, strides, True, array.device.id, array)


class _Tensor(ctypes.Structure):
    """DLTensor, with which a DLManagedTensor begins."""

    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("index", ctypes.c_int32),
                ("dimensions", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


def _from_dlpack(thing: Any, stream: int) -> Image:
    """The capsule keeps the samples, and whoever made it frees it. On a GPU the samples are there
    for later work in `stream`."""
    kind, device = (int(number) for number in thing.__dlpack_device__())
    if kind not in (_CPU, _CUDA, _PINNED, _MANAGED):
        raise ValueError(f"gconv has no part for arrays on device {kind} of DLPack")
    on_gpu = kind in (_CUDA, _MANAGED)
    capsule = thing.__dlpack__(stream=stream or 1) if on_gpu else thing.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _Tensor.from_address(get(capsule, b"dltensor"))
    if tensor.lanes != 1 or (tensor.code, tensor.bits) not in _CODES:
        raise _refusal(getattr(thing, "dtype", "this type of DLPack"))
    shape, strides = tensor.shape[:tensor.dimensions], None
    if tensor.strides:
        strides = [step * tensor.bits // 8 for step in tensor.strides[:tensor.dimensions]]
    found = _image((tensor.data or 0) + tensor.offset, shape, _CODES[tensor.code, tensor.bits],
                   strides, False, device if on_gpu else -1, thing)
    return found._replace(owner=(thing, capsule))


def stream_of(thing: Any) -> Optional[int]:
    """The stream in which work on an array of a GPU goes on: the current one of torch or CuPy, or
    that of the interface; None if the array names none."""
    maker = maker_of(thing)
    if maker == "torch" and thing.is_cuda:
        return int(sys.modules["torch"].cuda.current_stream(thing.device).cuda_stream)
    if maker == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream(thing.device.id).ptr)
    stream = getattr(thing, "__cuda_array_interface__", {}).get("stream")
    return None if stream is None else 0 if stream == 1 else int(stream)


def describe(thing: Any, stream: int = 0) -> Image:
    """Where the image lies. On a GPU its samples are there for later work in `stream`."""
    maker = maker_of(thing)
    if maker == "torch" and hasattr(thing, "data_ptr"):
        return _from_torch(thing)
    if maker == "cupy":
        return _from_cupy(thing)
    if hasattr(thing, "__array_interface__"):
        return _from_interface(thing.__array_interface__, thing, -1)
    face = getattr(thing, "__cuda_array_interface__", None)
    if face is not None:
        if face.get("stream") is None or stream_of(thing) == stream:
            device = thing.__dlpack_device__()[1] if hasattr(thing, "__dlpack_device__") else 0
            return _from_interface(face, thing, int(device))
        if not hasattr(thing, "__dlpack__"):
            raise ValueError("the image and out are in two streams; give both in one")
    if hasattr(thing, "__dlpack__"):
        return _from_dlpack(thing, stream)
    try:
        return _from_buffer(thing)
    except TypeError as failure:
        if "bytes-like" not in str(failure):
            raise
    raise TypeError(f"a {type(thing).__name__} is no image: give an array, or what has a buffer, "
                    "__array_interface__ or DLPack; gconv.imread reads a file")


def source_of(thing: Any, stream: int = 0) -> Image:
    """As `describe`; of a copy without gaps where samples of a row do not lie side by side."""
    try:
        return describe(thing, stream)
    except StrideError:
        maker = maker_of(thing)
        if maker == "torch":
            return describe(thing.contiguous())
        arrays = sys.modules["cupy"] if maker == "cupy" else numpy
        if arrays is None or (maker != "cupy" and hasattr(thing, "__cuda_array_interface__")):
            raise
        return describe(arrays.ascontiguousarray(thing), stream)


def samples(image: Image) -> Any:
    """A numpy array of the samples of an image of float32 on the CPU."""
    count = image.stride * (image.shape[0] - 1) + image.row_bytes
    place: Any = (ctypes.c_char * count).from_address(image.address)
    strides = (image.stride, image.row_bytes // image.shape[1], 4)[:len(image.shape)]
    return numpy.ndarray(image.shape, "f4", place, 0, strides)


def empty(shape: Tuple[int, ...], kind: str, like: Image) -> Any:
    """An array for a result, of the kind of `like` on its device; on the CPU numpy's unless `like`
    is of torch."""
    owner = like.owner
    if like.maker == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, kind), device=owner.device)
    if like.maker == "cupy":
        with owner.device:
            return sys.modules["cupy"].empty(shape, kind)
    if like.device >= 0:
        raise ValueError(f"gconv cannot make arrays of {like.maker} on a GPU; give `out`, an array "
                         "of CuPy or torch")
    return new(shape, kind)


def new(shape: Tuple[int, ...], kind: str) -> Any:
    """A numpy array; a memoryview if there is no numpy."""
    if numpy is not None:
        return numpy.empty(shape, kind)
    count = _row_bytes(shape, kind) * shape[0]
    return memoryview(bytearray(count)).cast(_LETTERS[kind], shape)


def overlap(one: Image, other: Image) -> bool:
    """Whether rows of two images share bytes. Rows of different strides count as a whole."""
    first, second = sorted((one, other), key=lambda image: image.address)
    if first.address + first.stride * (first.shape[0] - 1) + first.row_bytes <= second.address:
        return False
    between = (second.address - first.address) % first.stride
    return not (first.stride == second.stride and first.row_bytes <= between
                and between + second.row_bytes <= first.stride)


def nested(values: Any) -> Any:
    """Numbers, or lists of them: of what has tolist(), and of sequences of it."""
    if hasattr(values, "tolist"):
        return values.tolist()
    return [nested(each) for each in values] if isinstance(values, (list, tuple)) else values

"""The C library: its structures, its functions, and its errors as exceptions of Python.

include/gconv.h describes each of them. The library is the file that the environment variable
GCONV_LIBRARY names. Else it is looked for beside this file, then by the loader of the system.
"""
import ctypes
import os
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_float
from ctypes import c_int, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any, List

NAME = "libgconv.so.0.2"  # until 1.0 the minor version is part of the name


class GconvError(Exception):
    """A failure that the library reports; `status` is its gconv_status."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class ErrorText(Structure):
    _fields_ = [("status", c_int), ("line", c_int), ("message", c_char * 512)]


class FilterData(Structure):
    """The first members of gconv_filter; the library makes and frees the whole."""

    _fields_ = [("name", c_char_p), ("width", c_int), ("height", c_int), ("anchor_x", c_int),
                ("anchor_y", c_int), ("divisor", c_double), ("offset", c_double),
                ("offset_denominator", c_double), ("has_offset", c_bool),
                ("weights", POINTER(c_float)), ("column", POINTER(c_double)),
                ("row", POINTER(c_double))]


class Shape(Structure):
    _fields_ = [("width", c_uint32), ("height", c_uint32), ("channels", c_int), ("depth", c_int)]


class Detector(Structure):
    _fields_ = [("size", c_size_t), ("method", c_int), ("derivative", c_int), ("norm", c_int),
                ("like", c_int), ("low", c_double), ("high", c_double)]


class Job(Structure):
    _fields_ = [("size", c_size_t), ("filters", POINTER(c_void_p)), ("filter_count", c_int),
                ("correlate", c_bool), ("border", c_int), ("border_value", c_double),
                ("border_denominator", c_double), ("input", Shape), ("alpha", c_int),
                ("output", c_int), ("output_depth", c_int), ("scale", c_double),
                ("scale_denominator", c_double), ("offset", c_double),
                ("offset_denominator", c_double), ("has_offset", c_bool), ("absolute", c_bool),
                ("threshold", c_double), ("threshold_denominator", c_double), ("rule", c_int),
                ("invert", c_bool), ("implementation", c_char_p), ("device", c_char_p),
                ("threads", c_int), ("tiling", c_void_p), ("runs", c_uint64),
                ("between_files", c_bool), ("source_format", c_int), ("source_decoder", c_int),
                ("images_at_once", c_int), ("order", c_int), ("exact", c_bool),
                ("detector", POINTER(Detector))]


class ReaderOptions(Structure):
    _fields_ = [("size", c_size_t), ("grey", c_bool), ("opaque", c_bool),
                ("background", c_uint8 * 3), ("auto_orient", c_bool), ("tolerant", c_bool),
                ("max_pixels", c_uint64), ("warn", c_void_p), ("warn_user", c_void_p),
                ("warn_damage", c_void_p), ("decoder", c_int), ("opened", c_void_p),
                ("read", c_void_p), ("opened_user", c_void_p), ("keep", c_int),
                ("whole", c_bool), ("white", c_double), ("page", c_uint32),
                ("page_last", c_uint32), ("planes", c_int), ("nan", c_int),
                ("any_white", c_bool)]


class WriterOptions(Structure):
    _fields_ = [("size", c_size_t), ("format", c_int), ("shape", Shape), ("quality", c_int),
                ("compression", c_int), ("metadata", c_void_p), ("keep", c_int),
                ("no_clobber", c_bool), ("part_of", c_uint32), ("part_first", c_uint32),
                ("sync", c_bool), ("warn", c_void_p), ("warn_user", c_void_p),
                ("complete", c_void_p), ("written", c_void_p), ("complete_user", c_void_p),
                ("white", c_double), ("lossy", c_bool), ("chroma", c_int),
                ("progressive", c_bool), ("least_alpha", c_double),
                ("warn_damage", c_void_p)]


def _load() -> ctypes.CDLL:
    named = os.environ.get("GCONV_LIBRARY")
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), NAME)
    try:
        return ctypes.CDLL(named or (beside if os.path.exists(beside) else NAME))
    except OSError as failure:
        if named:
            raise ImportError(f"GCONV_LIBRARY={named} cannot be loaded: {failure}") from None
        raise ImportError(f"gconv needs {NAME}, beside this package or where the loader looks; "
                          f"install gconv, or set LD_LIBRARY_PATH: {failure}") from None


library = _load()
_DATA = POINTER(FilterData)
_LETTERS = {"b": POINTER(c_bool), "d": c_double, "i": c_int, "n": POINTER(c_char_p), "p": c_void_p,
            "s": c_char_p, "u": c_uint32, "v": None, "z": c_size_t, "D": _DATA,
            "E": POINTER(ErrorText), "F": POINTER(_DATA), "H": POINTER(c_void_p),
            "I": POINTER(c_int), "J": POINTER(Job), "R": POINTER(ReaderOptions),
            "S": POINTER(Shape), "T": POINTER(Detector), "W": POINTER(WriterOptions)}
for _function in """version:s filter_load:isFE filter_load_builtin:isFE filter_parse:iszsFE
        filter_create:iiiFE filter_create_vectors:iiiFE filter_free:vD filter_gain:dD
        method_filters:nTI detector_init:vTz job_init:vJz plan_create:iJHE plan_free:vp
        plan_implementation:sp plan_output_shape:Sp plan_explanation:sp plan_promise:ip
        promise_name:si plan_run_memory:ippzpzpE plan_run_device:ippzpzpE reader_options_init:vRz
        reader_open:isRHE reader_shape:Sp reader_read:ipupzE reader_finish:ipE reader_next:ipbE
        reader_free:vp writer_options_init:vWz writer_open:isWHE writer_write:ipupzE
        writer_finish:ipE writer_free:vp format_from_path:is""".split():  # the result, arguments
    _name, _, _types = _function.partition(":")
    _found: Any = getattr(library, "gconv_" + _name)
    _found.restype, *_found.argtypes = [_LETTERS[letter] for letter in _types]

_MEMORY = 1
_OPEN = 4


def call(name: str, *arguments: Any, about: str = "", creates: bool = False) -> None:
    """Calls a function that returns a status. Messages of failures begin with `about`, a file
    that has to be there unless the function creates it, in a folder that has to be there."""
    error = ErrorText()
    status = getattr(library, "gconv_" + name)(*arguments, byref(error))
    if status != 0:
        fail(status, error, about, (os.path.dirname(about) or ".") if creates else about)


def take_warnings(options: Any) -> List[str]:
    """A list that takes the warnings of a reader or writer, but not that of floats from 0 to 1."""
    said: List[str] = []
    options.taker = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)(
        lambda _user, line: None if b"--white" in line else said.append(line.decode()))
    options.warn = ctypes.cast(options.taker, c_void_p)
    return said


def fail(status: int, error: ErrorText, about: str = "", needed: str = "") -> None:
    """Raises what a status other than 0 stands for. `needed` is a path that has to be there."""
    message = error.message.decode("utf-8", "replace")
    if about:
        message = f"{about}: {message}"
    if status == _MEMORY:
        raise MemoryError(message)
    if status == _OPEN and needed and not os.path.exists(needed):
        raise FileNotFoundError(message)
    raise GconvError(message, status)

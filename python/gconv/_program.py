"""The program gconv: that of a wheel, which pip puts on the path, and what Python runs by it."""
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from typing import Any, Iterable, List, Optional, Union

from ._arrays import Array, numpy
from ._library import GconvError

Path = Union[str, "os.PathLike[str]"]
_OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "gconv")


def main() -> None:
    os.execv(_OWN if os.path.exists(_OWN) else _find(), ["gconv", *sys.argv[1:]])


def _find() -> str:
    found = os.environ.get("GCONV_PROGRAM") or (_OWN if os.path.exists(_OWN) else
                                                shutil.which("gconv"))
    if found is None:
        raise FileNotFoundError("the program gconv is not on the path; GCONV_PROGRAM names it")
    return found


def _options(named: Any) -> List[str]:
    """min_length=3 becomes --min-length=3, thin=True becomes --thin; a list is several options."""
    given = [(name, value) for name, values in named.items() if values is not None
             for value in (values if isinstance(values, (list, tuple)) else [values])]
    if not all(isinstance(value, (str, os.PathLike)) for name, value in given if name == "kernel"):
        raise TypeError("kernel is the text that Filter takes, or a list of such texts, a chain")
    return [f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")
            for name, value in given if value is not False]


def _call(arguments: List[str], given: bytes = b"", messages: bool = False,
          hidden: str = "\0") -> None:
    """Runs the program. `messages`: what it says goes to standard error, too. An exception has its
    first lines, with "image" for the path `hidden`."""
    said = b""
    with tempfile.TemporaryFile() as names:
        names.write(given)
        names.seek(0)
        with subprocess.Popen([_find(), *arguments], stdin=names, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as process:
            assert process.stdout is not None
            while piece := os.read(process.stdout.fileno(), 65536):
                said += piece
                if messages:
                    os.write(2, piece)
    if process.returncode != 0:
        lines = [line for line in said.decode("utf-8", "replace").splitlines()
                 if line.startswith("gconv: ") or not messages]
        raise GconvError("\n".join(lines[:10]).replace(hidden, "image") or
                         f"gconv {arguments[0]} ended with exit status {process.returncode}")


def run(files: Union[Path, Iterable[Path]], output: Path, command: str = "edges", *,
        journal: Optional[Path] = None, progress: bool = True, **options: Any) -> None:
    """Runs a command of the program on a file, or on many, on all processors.

    Results go to the directory `output`, under the names of their inputs. With `journal`, a batch
    that was interrupted goes on where it was, and `verify` checks the results. `progress` shows a
    bar on a terminal, and messages. `options` are those of the program: kernel="gaussian:2",
    kernel=["gauss5", "laplace3"] for a chain, method="canny", thin=True, min_length=20. Raises
    GconvError, with the program's first lines, if an image fails; the others are written.
    """
    files = [files] if isinstance(files, (str, bytes, os.PathLike)) else list(files)
    if not files:
        raise ValueError("there are no files to run on")
    chosen = _options({**options, "journal": journal and os.fspath(journal)})
    names = b"\0".join(os.path.abspath(os.fsencode(name)) for name in files)
    _call([command, *chosen, "--progress", "always" if progress and os.isatty(2) else "never",
           "--files0-from", "-", "-o", os.fspath(output)], names, messages=progress)


def verify(journal: Path) -> None:
    """Computes the outputs of a journal again and compares all samples. Raises GconvError, which
    names each output that is missing, stale or different."""
    _call(["check", "--verify", os.fspath(journal)])


def warn_of_white(image: Any, level: int) -> None:
    """Warns of an array that is black for gconv, and probably is not meant to be: a warning at the
    caller's `level`. Other things than arrays of numpy are not looked at."""
    if numpy is None or type(image) is not numpy.ndarray or image.size == 0:
        return
    least, largest = float(image.min()), float(image.max())
    if -16 <= least < largest <= 16:
        warnings.warn(f"no sample exceeds {largest:.3g}, and 255 is taken for white; give white=1 "
                      "for floats of which 1 is white, or multiply them", stacklevel=level)


def draw(image: Any, command: str, **options: Any) -> Array:
    """What a command of the program makes of an image in memory, by files in a directory of its
    own. False and True of numpy are 0 and 255."""
    from . import imread, imwrite
    if numpy is not None and type(image) is numpy.ndarray and image.dtype == bool:
        image = image.astype("u1") * 255
    if "white" not in options:
        warn_of_white(image, 4)
    with tempfile.TemporaryDirectory() as folder:
        given, made = (os.path.join(folder, name) for name in ("in.npy", "out.png"))
        imwrite(given, image)
        _call([command, *_options(options), given, made], hidden=given)
        return imread(made)

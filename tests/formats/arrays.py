#!/usr/bin/env python3
"""Files of NumPy and netpbm through gconv, and back: every pixel is compared with what NumPy, Pillow
and netpbm's programs make of it.

    tests/formats/arrays.py GCONV [COUNT]

COUNT random files of each kind: 40. Exits with 77 if NumPy is missing. Without Pillow or netpbm it
says so and tries the rest.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)
try:
    from PIL import Image
except ImportError:
    Image = None

GCONV = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 40
draw = random.Random(41)
noise = np.random.default_rng(41)


def gconv(*words):
    subprocess.run([GCONV, *words], check=True)


def check(name, got, wanted):
    if got.shape != wanted.shape or got.dtype != wanted.dtype or not np.array_equal(got, wanted):
        sys.exit(f"{name}: {got.dtype} {got.shape} differs from {wanted.dtype} {wanted.shape}")


def any_shape():
    return draw.randint(1, 60), draw.choice((1, 7, 8, 9, 64, 100))


def identity(folder, to, wanted, *words):
    """Copies the files in FOLDER by gconv, and compares the copies with the arrays of WANTED."""
    out = folder + "-out"
    gconv("filter", "-k", "identity", "--alpha", "keep", "-f", to, *words, "-o", out, folder)
    for name, array in wanted.items():
        path = os.path.join(out, os.path.splitext(name)[0] + "." + to)
        check(path, load(path), array)
    return out


# ---- What other programs read --------------------------------------------------------------------


def load(path):
    if path.endswith(".npy"):
        return np.load(path)
    if path.endswith(".pam"):
        return load_pam(open(path, "rb").read())
    return np.asarray(Image.open(path)).astype("u1") * (255 if path.endswith(".pbm") else 1)


def load_pam(data):
    head, _, body = data.partition(b"ENDHDR\n")
    field = dict(line.split(b" ", 1) for line in head.split(b"\n")[1:-1])
    sides = tuple(int(field[key]) for key in (b"HEIGHT", b"WIDTH", b"DEPTH"))
    array = np.frombuffer(body, ">u2" if int(field[b"MAXVAL"]) > 255 else "u1").reshape(sides)
    return array.astype(array.dtype.newbyteorder("="))[..., 0] if sides[2] == 1 else array.astype(
        array.dtype.newbyteorder("="))


# ---- NumPy ---------------------------------------------------------------------------------------


def random_array(kind):
    shape = any_shape() + draw.choice(((), (1,), (2,), (3,), (4,)))
    if kind == "b1":
        return noise.integers(0, 2, shape).astype(bool)
    if kind[0] == "u":
        return noise.integers(0, 256 ** int(kind[1]), shape).astype(kind)
    return ((noise.random(shape) - 0.3) * 300).astype(kind)


def try_numpy():
    wanted = {}
    os.mkdir("numpy")
    for i in range(COUNT):
        array = random_array(("u1", "u2", "f4", "f8", "b1")[i % 5])
        stored = array.astype(array.dtype.newbyteorder(draw.choice("<>")))
        stored = np.asfortranarray(stored) if draw.random() < 0.4 else stored
        with open(f"numpy/{i}.npy", "wb") as file:
            np.lib.format.write_array(file, stored, draw.choice(((1, 0), (2, 0), (3, 0))))
        if array.dtype == bool:
            array = array.astype("u1") * 255
        if array.dtype == np.float64:
            array = array.astype("f4")
        wanted[f"{i}.npy"] = array[..., 0] if array.shape[2:] == (1,) else array
    identity("numpy", "npy", wanted, "-q")
    identity("numpy-out", "pam", {n: a for n, a in wanted.items() if a.dtype != np.float32}, "-q")
    floats = {n: a.astype("f4") for n, a in wanted.items() if a.dtype == np.uint8}
    gconv("filter", "-k", "identity", "--alpha", "keep", "-q", "--depth", "32", "-o", "floats",
          *("numpy-out/" + n for n in floats))
    for name, array in floats.items():
        check(name, np.load("floats/" + name), array)
    grey = noise.integers(0, 256, any_shape()).astype("u1")
    np.save("grey.npy", grey)
    gconv("filter", "-k", "identity", "--depth", "1", "grey.npy", "bits.npy")
    check("bits.npy", np.load("bits.npy"), grey >= 128)


# ---- netpbm --------------------------------------------------------------------------------------


def blank():
    return draw.choice((" ", "\n", "\t", " \n ", "#c 1 2\n", "\r\n"))


def write_pnm(kind, array, maxval):
    """A file of this kind, P1 to P7, with samples from 0 to maxval."""
    height, width = array.shape[:2]
    if kind == 7:
        tuples = draw.choice(("", "TUPLTYPE %s\n" % {1: "GRAYSCALE", 2: "GRAYSCALE_ALPHA", 3: "RGB",
                                                    4: "RGB_ALPHA"}[array.shape[2]]))
        head = (f"P7\n# c\nHEIGHT {height}\nWIDTH {width}\nMAXVAL {maxval}\n{tuples}"
                f"DEPTH {array.shape[2]}\nENDHDR\n")
    else:
        numbers = [width, height] + ([] if kind in (1, 4) else [maxval])
        head = f"P{kind}" + "".join(blank() + str(n) for n in numbers) + "\n"
    if kind == 1:
        body = "".join(draw.choice(("", blank())) + str(v) for v in array.ravel()).encode()
    elif kind < 4:
        body = "".join(blank() + str(v) for v in array.ravel()).encode()
    elif kind == 4:
        body = np.packbits(array.astype(bool), axis=1).tobytes()
    else:
        body = array.astype(">u2" if maxval > 255 else "u1").tobytes()
    return head.encode() + body


def levels(kind, array, maxval):
    if kind in (1, 4):
        return (1 - array).astype("u1") * np.uint8(255)
    full = 65535 if maxval > 255 else 255
    scaled = (array.astype("u8") * np.uint64(full) + np.uint64(maxval // 2)) // np.uint64(maxval)
    scaled = scaled.astype("u2" if maxval > 255 else "u1")
    return scaled[..., 0] if scaled.shape[2:] == (1,) else scaled


def random_pnm(i):
    kind = i % 7 + 1
    channels = {1: (), 2: (), 4: (), 5: (), 3: (3,), 6: (3,), 7: (draw.randint(1, 4),)}[kind]
    maxval = 1 if kind in (1, 4) else draw.choice((1, 7, 100, 255, 256, 1023, 65535))
    array = noise.integers(0, maxval + 1, any_shape() + channels)
    return kind, array, maxval


def try_netpbm():
    wanted, grey = {}, {}
    os.mkdir("pnm")
    stream = b""
    for i in range(COUNT):
        kind, array, maxval = random_pnm(i)
        data = write_pnm(kind, array, maxval)
        name = f"{i}." + ("pbm", "pgm", "ppm", "pbm", "pgm", "ppm", "pam")[kind - 1]
        with open("pnm/" + name, "wb") as file:
            file.write(data)
        stream += data + b"\n" * (kind < 4)
        wanted[name] = levels(kind, array, maxval)
        if wanted[name].ndim == 2 and maxval <= 255:
            grey[name] = wanted[name]
    identity("pnm", "npy", wanted)
    identity("pnm", "pam", wanted)
    if Image is not None:
        shutil.rmtree("pnm-out")
        gconv("filter", "-k", "identity", "-f", "pbm", "-o", "bits", *("pnm/" + n for n in grey))
        for name, array in grey.items():
            path = "bits/" + os.path.splitext(name)[0] + ".pbm"
            check(path, load(path), (array >= 128) * np.uint8(255))
    out = subprocess.run([GCONV, "filter", "-k", "identity", "--alpha", "keep", "-f", "pam", "-", "-"],
                         input=stream, stdout=subprocess.PIPE, check=True).stdout
    alone = [subprocess.run([GCONV, "filter", "-k", "identity", "--alpha", "keep", "-f", "pam",
                             "pnm/" + name, "-"], stdout=subprocess.PIPE, check=True).stdout
             for name in list(wanted)[:8]]
    if not out.startswith(b"".join(alone)) or out.count(b"ENDHDR\n") < COUNT:
        sys.exit("a stream of images differs from its images")
    if shutil.which("pamtopnm") is None:
        print("no netpbm: not tried")
        return
    for name in list(wanted)[:7]: # plain text by netpbm itself, and back
        plain = subprocess.run(["pnmtoplainpnm", "pnm/" + name], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
        if plain.returncode == 0 and not name.endswith(".pam"):
            back = subprocess.run([GCONV, "filter", "-k", "identity", "-f", "pam", "-", "-"],
                                  input=plain.stdout, stdout=subprocess.PIPE, check=True).stdout
            check(name, load_pam(back), wanted[name])


def main():
    where = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try_numpy()
        try_netpbm()
        os.chdir(where)
    if Image is None:
        print("no Pillow: PBM not tried")


main()

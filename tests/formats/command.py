"""The program, which the tests of formats name as their first argument, and files as bytes."""
import json
import os
import subprocess
import sys

GCONV = os.path.abspath(sys.argv[1])


def run(*arguments, expect=0, data=None):
    done = subprocess.run([GCONV, *arguments], input=data, capture_output=True, timeout=120)
    assert done.returncode == expect, (arguments, done.returncode, done.stderr)
    return done


def convert(source, target, *options, expect=0):
    return run("filter", "-q", "-k", "identity", "--alpha", "keep", *options, source, target, expect=expect)


def formats():
    return {f["name"]: f for f in json.loads(run("info", "--json").stdout)["formats"]}


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)


def read(name):
    with open(name, "rb") as file:
        return file.read()

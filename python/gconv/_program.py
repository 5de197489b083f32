"""The program gconv of a wheel, which pip puts on the path."""
import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "gconv")
    os.execv(program, ["gconv", *sys.argv[1:]])

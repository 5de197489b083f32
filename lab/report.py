#!/usr/bin/env python3
"""Draws a report, one page of HTML, from what `gconv bench --json` or `compare --json` printed.

gconv runs this program for --html; contract.md, rule 86, says what a report holds. It needs
matplotlib. Where the first python3 on PATH lacks it, the system's is tried.
"""

import argparse
import os
import sys

SYSTEM_PYTHON = "/usr/bin/python3"
NO_MATPLOTLIB = 3  # the exit status that gconv knows


def need_matplotlib():
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        if os.access(SYSTEM_PYTHON, os.X_OK) and sys.executable != SYSTEM_PYTHON:
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, "-B", *sys.argv])
        print("report.py: matplotlib is missing (Debian: python3-matplotlib)", file=sys.stderr)
        sys.exit(NO_MATPLOTLIB)


def main():
    parser = argparse.ArgumentParser(description="Draws a report of gconv bench or compare.")
    parser.add_argument("results", help="JSON, also compressed by gzip; '-' is standard input")
    parser.add_argument("-o", "--output", required=True, help="the page; '-' is standard output")
    arguments = parser.parse_args()
    need_matplotlib()
    import charts
    import page
    import points

    try:
        with open(0 if arguments.results == "-" else arguments.results, "rb") as file:
            data = file.read()
        study = points.read(data)
        text = page.page(study, charts.Maker(study).make(), points.plain(data))
        with open(1 if arguments.output == "-" else arguments.output, "wb") as file:
            file.write(text.encode())
    except (OSError, ValueError) as error:
        sys.exit(f"report.py: {error}")


if __name__ == "__main__":
    main()

"""A batch with a journal: it goes on where it was interrupted, and can be checked afterwards.

    python3 batch.py IMAGE... FOLDER

Writes a drawing of every image to FOLDER/drawings, and the journal FOLDER/journal.
"""
import os
import sys

import gconv


def main(folder, images):
    drawings, journal = os.path.join(folder, "drawings"), os.path.join(folder, "journal")
    chosen = {"ink": "#203060", "format": "png"}
    try:
        gconv.run(images, drawings, "sketch", journal=journal, **chosen)
    except gconv.GconvError as failure:
        print(f"some images failed: {failure}")

    # A second run, after an interruption for example, draws only what the journal lacks.
    gconv.run(images, drawings, "sketch", journal=journal, **chosen)
    gconv.verify(journal)  # raises GconvError if a single sample differs
    for name in sorted(os.listdir(drawings)):
        print(name, gconv.imread(os.path.join(drawings, name)).shape)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        os.makedirs(sys.argv[-1], exist_ok=True)
        main(sys.argv[-1], sys.argv[1:-1])
    except (OSError, gconv.GconvError) as failure:
        sys.exit(f"batch.py: {failure}")

"""python -m gconv: the program, as `gconv` on the path."""
from ._program import main

main()

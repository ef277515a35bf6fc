"""`python -m vendiscore` is the command `vendiscore`."""

import sys

from .tools.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""`python -m lacuner`: the command line, for launchers that start modules."""

import sys

from lacuner.cli import main

if __name__ == "__main__":
    sys.exit(main())

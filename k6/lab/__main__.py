"""`python -m lab`: measures, and makes the report. See cli.py."""

import sys

from report.__main__ import main as report

from .cli import main

sys.exit(main(sys.argv[1:], lambda folder: report([str(folder)])))

"""Runs experiment files from Python, reads their runs, and fits scikit-learn's estimators with the program."""

from mokume.program import Failure, program
from mokume.run import Run, read, run

__all__ = ["Failure", "Run", "program", "read", "run"]

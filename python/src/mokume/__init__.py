"""mokume from Python: run experiment files, read their runs, and fit scikit-learn's estimators with the program."""

from mokume.program import Failure, program
from mokume.run import Run, read, run

__all__ = ["Failure", "Run", "program", "read", "run"]

"""Runs experiment files, and reads the files of runs."""

import io
import json
import os
import tempfile
from functools import cached_property
from pathlib import Path

from mokume.program import DONE, FAILED_FITS, STOPPED, Failure, call

_REPORT = "report: "


class Run:
    """Gives access to a run directory. Tables are pandas DataFrames, which are read on first use."""

    def __init__(self, directory):
        self.directory = Path(directory).resolve()
        if not (self.directory / "run.json").is_file():
            raise FileNotFoundError(f"{directory} is no run directory: it has no run.json")

    def __repr__(self):
        return f"<mokume run {self.directory}: {self.state}>"

    def _json(self, name):
        return json.loads((self.directory / name).read_text())

    def _table(self, name):
        import pandas

        return pandas.read_csv(self.directory / name)

    @property
    def state(self):
        """Returns "done", "stopped", "failed fits" or "running"."""
        return self._json("run.json")["state"]

    @cached_property
    def summary(self):
        """Returns the contents of summary.json."""
        return self._json("summary.json")

    @property
    def best(self):
        """Returns the parameters of the best candidate, or {} if nothing was searched."""
        return dict((self.summary.get("best") or {}).get("params") or {})

    @cached_property
    def results(self):
        """Returns results.csv, which has a row for each fit."""
        return self._table("results.csv")

    @cached_property
    def candidates(self):
        """Returns candidates.csv, which has a row for each candidate."""
        return self._table("candidates.csv")

    @cached_property
    def timeline(self):
        """Returns timeline.csv, which tells when and where each fit ran."""
        return self._table("timeline.csv")

    @cached_property
    def epochs(self):
        """Returns epochs.csv, which has the curves of networks: a row for each epoch of each fit.

        The fold of a fit to all rows is "refit". Large searches keep the epochs of their best fits only.
        """
        if not (self.directory / "epochs.csv").exists():
            raise FileNotFoundError(f"{self.directory} has no epochs.csv, because its model reports no curves")
        return self._table("epochs.csv")

    @property
    def report(self):
        """Returns the path of the report, a page for a browser."""
        return self.directory / "report.html"

    def predict(self, data, *, devices=None):
        """Predicts rows with the model of the run, and returns a DataFrame with the columns of `mokume predict`.

        `data` is an array of rows or pictures, or a SPEC such as "csv:new.csv".
        """
        import pandas

        if isinstance(data, str):
            return pandas.read_csv(io.StringIO(self._predict(data, devices)), index_col="row")
        with tempfile.TemporaryDirectory(prefix="mokume-") as place:
            spec = save_rows(place, "rows.npy", data)
            return pandas.read_csv(io.StringIO(self._predict(spec, devices, place)), index_col="row")

    def _predict(self, spec, devices, place=None):
        return predict(self.directory, spec, devices=devices, place=place)


def save_rows(place, name, rows):
    """Saves an array for the program, and returns its SPEC, which is relative to `place`."""
    import numpy

    rows = numpy.asarray(rows)
    if rows.dtype not in (numpy.float32, numpy.float64) and not numpy.issubdtype(rows.dtype, numpy.integer):
        rows = rows.astype(numpy.float32)
    numpy.save(os.path.join(place, name), numpy.ascontiguousarray(rows), allow_pickle=False)
    return f"npy:{name}" + (",layout=nhwc" if rows.ndim == 4 else "")


def predict(directory, spec, *, devices=None, place=None):
    """Returns the output of `mokume predict`."""
    chosen = ["--devices", devices] if devices else []
    return call(["predict", str(directory), "--data", spec, *chosen], directory=place)[0]


def read(directory):
    """Returns the run in a run directory."""
    return Run(directory)


def run(config, *, settings=None, devices=None, out=None, seed=None, max_time=None, fresh=False, quiet=False):
    """Runs an experiment file, or resumes its unfinished run, and returns the Run.

    `settings` replaces keys of the file, as in {"data.limit": 500}. `quiet` hides progress. The other arguments are the
    options of `mokume run`. If the run stops early, its state is "stopped", and the same call resumes it. Raises
    Failure if the program refuses the file, its data or its devices.
    """
    arguments = ["run", os.fspath(config)]
    for key, value in (settings or {}).items():
        arguments += ["--set", f"{key}={toml(value)}"]
    for option, value in [("--devices", devices), ("--out", out), ("--seed", seed), ("--max-time", max_time)]:
        if value is not None:
            arguments += [option, str(value)]
    if fresh:
        arguments.append("--fresh")
    _, messages = call(arguments, show=not quiet, accept=(DONE, FAILED_FITS, STOPPED))
    reports = [line.removeprefix(_REPORT) for line in messages.splitlines() if line.startswith(_REPORT)]
    if not reports:
        raise Failure(messages.strip() or "mokume left no run", STOPPED)
    return Run(Path(reports[-1]).parent)


def toml(value):
    """Returns a value as TOML text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    if isinstance(value, int):
        return str(value)
    if hasattr(value, "item"):  # NumPy's numbers
        return toml(value.item())
    if isinstance(value, float):
        return repr(value)
    raise TypeError(f"{value!r} has no form in TOML; use a number, a word, a list or a dictionary")

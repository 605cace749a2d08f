"""Defines the common parts of the estimators: checks of their input, and experiments in temporary directories."""

import csv
import hashlib
import io
import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse

from mokume.program import DONE, call
from mokume.run import predict, save_rows, toml

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6

    def validate_data(estimator, X, y="no_validation", **checks):
        return estimator._validate_data(X, y, **checks)


# By default, the host fits smaller data, because it has nothing to start first.
_SMALL = 1 << 20

# Predictions with fewer multiplications run here, in double precision, since starting the program would take longer.
FEW_PRODUCTS = 1 << 31

# `mokume predict` reads these files of a run directory, and its models.
_KEPT = ["run.json", "config.resolved.toml", "experiment.toml"]


# A file system in memory, where small experiments run: the program makes each file of a run durable, which takes a disk
# longer than a small fit.
_MEMORY = "/dev/shm"
_LARGEST_IN_MEMORY = 1 << 28


class Elsewhere(Exception):
    """Says why scikit-learn's code does the work."""


class Apart(Exception):
    """Says why each fold of a search needs inputs of its own."""


def temporary_directory(bytes_of_rows):
    """Returns a temporary directory, which is in memory if the rows are small and $TMPDIR names no other place."""
    usual = tempfile.gettempdir() == "/tmp"
    fits = bytes_of_rows <= _LARGEST_IN_MEMORY and os.access(_MEMORY, os.W_OK)
    if not usual or not fits or shutil.disk_usage(_MEMORY).free < 4 * _LARGEST_IN_MEMORY:
        return tempfile.TemporaryDirectory(prefix="mokume-")
    return tempfile.TemporaryDirectory(prefix="mokume-", dir=_MEMORY)


def _bytes_of(rows):
    return 16 * rows.nnz if scipy.sparse.issparse(rows) else rows.nbytes


def _write_libsvm(path, rows, y):
    """Writes sparse rows and their labels in LIBSVM's format, with digits that give the same numbers again."""
    rows.sum_duplicates()  # also sorts the columns
    rows.eliminate_zeros()
    pairs = [f" {column}:{value!r}" for column, value in zip((rows.indices + 1).tolist(), rows.data.tolist())]
    last = f" {rows.shape[1]}:0"
    with open(path, "w") as file:
        for row, label in enumerate(y.tolist()):
            text = "".join(pairs[rows.indptr[row] : rows.indptr[row + 1]])
            # A file has as many features as its largest index, so the first row names the last column.
            lacks_last = row == 0 and rows[0, rows.shape[1] - 1] == 0
            file.write(f"{label!r}{text}{last if lacks_last else ''}\n")


class Experiment:
    """Runs an experiment in a temporary directory, which exists until the end of the `with` block."""

    def __init__(
        self, model, X, y, options, *, weights=None, task="classification", devices=None, seed=0, verbose=False
    ):
        self.verbose = verbose
        self.files = {}  # further files of the experiment, as bytes
        self.rows, self.y, self.weights, self.fold_of = X, y, weights, None
        self.devices = devices or ("host" if X.size < _SMALL else "all")
        self.tables = {
            "": {"name": "fit", "model": model, "seed": str(seed)},
            "data": {"source": "npy", "path": "rows.npy", "labels": "labels.npy", "task": task},
            "validation": {"folds": 0},
            "search": {"method": "none"},
            "search.params": {},
            "model_options": options,
            "devices": {"use": self.devices},
        }
        if scipy.sparse.issparse(X):
            self.tables["data"] = {"source": "libsvm", "path": "rows.libsvm", "storage": "sparse", "task": task}
        if weights is not None:
            self.tables["data"]["weight"] = "weights.npy"

    def __enter__(self):
        self._place = temporary_directory(_bytes_of(self.rows))
        self.place = self._place.name
        return self

    def __exit__(self, *_):
        self._place.cleanup()

    def search(self, lists, fold_of):
        """Sets up a search whose candidate n has the n-th value of every list.

        Row r is validated in fold_of[r], or in no fold if that is -1. If there is one fold, it validates the last rows.
        """
        folds = int(fold_of.max()) + 1
        if folds > 1:
            self.fold_of = fold_of.astype(np.int64)
            self.tables["validation"] = {"folds": folds, "file": "folds.npy"}
        else:
            self.tables["validation"] = {"share": np.count_nonzero(fold_of == 0) / len(fold_of), "ordered": True}
        self.tables["search"] = {"method": "list"}
        self.tables["search.params"] = lists

    def run(self, accept=(DONE,)):
        """Runs the experiment, and returns its run directory. Raises Failure unless the exit code is in `accept`."""
        arrays = [("weights", self.weights), ("folds", self.fold_of)]
        if scipy.sparse.issparse(self.rows):
            _write_libsvm(os.path.join(self.place, "rows.libsvm"), self.rows, self.y)
        else:
            save_rows(self.place, "rows.npy", self.rows)
            arrays.append(("labels", self.y))
        for name, values in arrays:
            if values is not None:
                np.save(os.path.join(self.place, f"{name}.npy"), values)
        for name, content in self.files.items():
            Path(self.place, name).write_bytes(content)
        text = ""
        for table, keys in self.tables.items():
            if keys or not table:
                text += (f"[{table}]\n" if table else "") + "".join(f"{k} = {toml(v)}\n" for k, v in keys.items())
        Path(self.place, "fit.toml").write_text(text)
        call(["run", "fit.toml"], directory=self.place, show=bool(self.verbose), accept=accept)
        return next(Path(self.place, "runs", "fit").iterdir())


def read_table(path):
    """Returns a CSV file as a dictionary of columns, which are lists of text."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return {name: [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}


def read_json(path):
    return json.loads(Path(path).read_text())


class ProgramFiles:
    """Keeps the run directory of a model as bytes, so that the estimator can be copied and pickled."""

    def _keep(self, run, devices):
        """Keeps the model of a run directory. Predictions use the devices of the fit."""
        files = [run / name for name in _KEPT] + sorted((run / "models").rglob("*"))
        self._files = {str(f.relative_to(run)): f.read_bytes() for f in files if f.is_file()}
        self._devices = devices

    def _take_scaled_rows(self):
        """Removes the scaling from the model, whose rows a transformer scales."""
        manifest = self._model_json("manifest.json")
        if not manifest["scaling"]["mean"]:
            return
        manifest["scaling"] = {"mean": [], "scale": []}
        self._files["models/best/manifest.json"] = json.dumps(manifest).encode()
        before = self._files["models/best/SHA256SUMS"].decode().split()
        files = [(name, hashlib.sha256(self._files[f"models/best/{name}"]).hexdigest()) for name in before[1::2]]
        self._files["models/best/SHA256SUMS"] = "".join(f"{digest}  {name}\n" for name, digest in files).encode()

    def _model_json(self, name):
        return json.loads(self._files[f"models/best/{name}"])

    def _scores_of_program(self, X, after="predicted"):
        """Returns the columns to the right of the column `after` in the program's predictions for checked rows."""
        with temporary_directory(X.nbytes) as place:
            run = Path(place, "run")
            for name, content in self._files.items():
                path = run / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            text = predict("run", save_rows(place, "rows.npy", X), devices=self._devices, place=place)
        names = text[: text.index("\n")].split(",")
        table = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, ndmin=2, dtype=np.float64)
        return table[:, names.index(after) + 1 :]

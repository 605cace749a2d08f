#!/usr/bin/env python3
"""Compares grids on the features of landmarks with scikit-learn's Nystroem and LinearSVC, in alternating runs.

    bench/svc/nystrom.py [--rows 20000] [--landmarks 500] [--rounds 3] --out FILE

Both sides fit the same candidates to the same rows of MNIST in as many folds, with the hinge loss and one machine for
each class, and with their own landmarks and random folds, so errors agree only up to chance. The times are those of a
whole search with the final fit and its test; that of mokume includes reading the data and writing the report. On a
shared machine, compare the times of all cores, with --jobs 1, because the time of scikit-learn's processes is not known
otherwise. With --made, the rows are made: 20 inputs and two classes, in numbers that no kernel matrix allows.
"""
import gzip
import json
import os
import pathlib
import resource
import tempfile
import time

import numpy as np
import sklearn
from comparison import campaign, parser, run_of
from sklearn.datasets import make_classification
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

FOLDS = 3


class Clock:
    """Measures the time since it was made: on the wall and of all cores, of this process and of those it has ended."""

    def __init__(self):
        self._begin = self._now()

    def _now(self):
        used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in used)

    def seconds(self):
        return [round(now - begin, 2) for begin, now in zip(self._begin, self._now(), strict=True)]


def mnist(rows):
    """Returns the first rows of MNIST and its test set, with inputs from 0 to 1."""
    base = pathlib.Path(os.environ["MOKUME_DATA"]) / "mnist"

    def read(name, skip):
        return np.frombuffer(gzip.decompress((base / name).read_bytes()), dtype=np.uint8)[skip:]
    x = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 784)[:rows]
    test = read("t10k-images-idx3-ubyte.gz", 16).reshape(-1, 784)
    return ((x / 255).astype(np.float32), read("train-labels-idx1-ubyte.gz", 8)[:rows].astype(int),
            (test / 255).astype(np.float32), read("t10k-labels-idx1-ubyte.gz", 8).astype(int))


def made(rows):
    x, y = make_classification(rows + 10000, 20, n_informative=12, n_clusters_per_class=8, random_state=3)
    x = x.astype(np.float32)
    return x[:rows], y[:rows], x[rows:], y[rows:]


def of_mokume(options, grid, data):
    """Returns the seconds, the error of the best candidate in its folds and the test error."""
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        x, y, test, test_y = data
        for file, values in (("x.npy", x), ("y.npy", y), ("test_x.npy", test), ("test_y.npy", test_y)):
            np.save(place / file, values)
        experiment = f"""
name  = "nystrom"
model = "svc"
seed  = 1
[data]
source = "npy"
path   = "x.npy"
labels = "y.npy"
test   = "test_x.npy"
test_labels = "test_y.npy"
[validation]
folds = {FOLDS}
[search]
method = "grid"
[search.params]
C = {grid["C"]}
gamma = {grid["gamma"]}
[model_options]
approximation = "nystrom"
landmarks = {options.landmarks}
"""
        clock = Clock()
        run = run_of(options, place, experiment)
        seconds = clock.seconds()
        summary = json.loads((run / "summary.json").read_text())
        return seconds, summary["best"]["mean"], summary["test"]["error"]


def of_scikit_learn(options, grid, data):
    x, y, test, test_y = data
    pipeline = make_pipeline(Nystroem(n_components=options.landmarks, random_state=1),
                             LinearSVC(loss="hinge", tol=1e-3, max_iter=100000, random_state=1))
    search = GridSearchCV(pipeline, {"nystroem__gamma": grid["gamma"], "linearsvc__C": grid["C"]},
                          cv=StratifiedKFold(FOLDS, shuffle=True, random_state=1), n_jobs=options.jobs)
    clock = Clock()
    search.fit(x, y)
    wrong = np.mean(search.predict(test) != test_y)
    return clock.seconds(), 1 - search.best_score_, wrong


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--out", type=pathlib.Path, required=True)
    arguments.add_argument("--rows", type=int, default=20000)
    arguments.add_argument("--landmarks", type=int, default=500)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--jobs", type=int, default=1, help="processes of scikit-learn")
    arguments.add_argument("--made", action="store_true", help="make the rows instead of reading MNIST")
    options = arguments.parse_args()
    data = made(options.rows) if options.made else mnist(options.rows)
    grid = {"C": [1.0, 10.0], "gamma": [0.005, 0.02] if options.made else [0.01, 0.03]}
    rounds = []
    for _ in range(options.rounds):
        one = {}
        for name, measure in (("mokume", of_mokume), ("scikit-learn", of_scikit_learn)):
            seconds, error, test = measure(options, grid, data)
            one[name] = {"wall_s": seconds[0], "cpu_s": seconds[1], "error": round(float(error), 5), "test_error": round(float(test), 5)}
            print(name, one[name], flush=True)
        rounds.append(one)
    result = {**campaign.measured_here(options.out),
              "command": "bench/svc/nystrom.py", "rows": options.rows, "landmarks": options.landmarks,
              "data": "made" if options.made else "mnist", "grid": grid, "folds": FOLDS,
              "scikit-learn": sklearn.__version__, "rounds": rounds}
    options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

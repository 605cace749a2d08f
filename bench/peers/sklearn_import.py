#!/usr/bin/env python3
"""Runs one scikit-learn script twice, with its import as it is and with that of mokume, on MNIST's first 5,000 rows.

    MOKUME_PROGRAM=build/release/bin/mokume PYTHONPATH=python/src \\
      python3 bench/peers/sklearn_import.py [--rows 5000] [--cells 9] [--out FILE]

The script is a grid of 3 x 3 cells and 5 folds. --cells runs scikit-learn on the first cells only, and scales the time
of its search to all cells. Prints the best cells, the largest difference of the error counts of a fold, and the ratio
of times. Needs scikit-learn and $MOKUME_DATA/mnist.
"""
import argparse
import gzip
import json
import os
import pathlib
import time

import numpy as np

SCRIPT = """
search = GridSearchCV(SVC(), GRID, cv=5, refit=False)
search.fit(X, y)
"""
GRID = {"C": [1, 10, 100], "gamma": [0.0003, "scale", 0.03]}


def mnist(rows):
    folder = pathlib.Path(os.environ["MOKUME_DATA"]) / "mnist"
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as images:
        images.seek(16)
        X = np.frombuffer(images.read(rows * 784), dtype=np.uint8).reshape(rows, 784)
    with gzip.open(folder / "train-labels-idx1-ubyte.gz") as labels:
        labels.seek(8)
        y = np.frombuffer(labels.read(rows), dtype=np.uint8)
    return (X - 127.5) / 73.61, y


def run(imports, grid, X, y):
    """Returns the search and its seconds. `imports` differs between the two runs, and nothing else."""
    names = {"X": X, "y": y, "GRID": grid}
    start = time.perf_counter()
    exec(imports + SCRIPT, names)
    return names["search"], time.perf_counter() - start


def errors(search, rows):
    """Returns the errors of each cell and fold."""
    folds = range(search.n_splits_)
    shares = np.array([search.cv_results_[f"split{k}_test_score"] for k in folds]).T
    return np.rint((1 - shares) * rows / len(folds)).astype(int)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--cells", type=int, default=9)
    parser.add_argument("--out")
    options = parser.parse_args()
    X, y = mnist(options.rows)
    cells = [{"C": [c], "gamma": [g]} for c in GRID["C"] for g in GRID["gamma"]]

    ours, our_s = run("from mokume.sklearn import SVC, GridSearchCV", cells, X, y)
    part = cells[: options.cells]
    theirs, their_s = run("from sklearn.svm import SVC\nfrom sklearn.model_selection import GridSearchCV", part, X, y)
    whole_s = their_s * len(cells) / len(part)

    difference = np.abs(errors(ours, len(y))[: len(part)] - errors(theirs, len(y)))
    scores = ours.cv_results_["mean_test_score"][: len(part)]
    result = {
        "rows": len(y),
        "cells": len(cells),
        "cells_of_scikit_learn": len(part),
        "best_cell_mokume": part[int(np.argmax(scores))],
        "best_cell_scikit_learn": part[theirs.best_index_],
        "largest_difference_of_errors_per_1000": float(1000 * difference.max() / (len(y) / 5)),
        "mokume_s": our_s,
        "scikit_learn_s": whole_s,
        "ratio": whole_s / our_s,
    }
    print(json.dumps(result, indent=2))
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares fits on chi-squared and Laplacian kernel values of digits with scikit-learn's SVC, fold by fold.

    bench/svc/precomputed.py [--mokume build/release/bin/mokume] [--devices host]

Needs numpy and scikit-learn (pip install numpy scikit-learn).
"""
import csv
import pathlib
import tempfile

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel
from sklearn.model_selection import KFold
from sklearn.svm import SVC

import comparison

ROWS, FOLDS, C = 1500, 5, [0.01, 0.1, 1.0, 10.0, 100.0]
EXPERIMENT = f"""
name = "precomputed"
model = "svc"
data = {{ source = "npy", path = "k.npy", labels = "y.npy" }}
validation = {{ folds = {FOLDS}, shuffle = false, stratified = false }}
model_options = {{ kernel = "precomputed", multiclass = "ovo" }}
[search]
method = "grid"
[search.params]
C = {C}
"""


def by_mokume(options, k, y):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        np.save(place / "k.npy", k.astype(np.float32))
        np.save(place / "y.npy", y)
        run = comparison.run_of(options, place, EXPERIMENT)
        rows = csv.DictReader((run / "results.csv").open())
        return {(float(r["C"]), int(r["fold"])): int(r["errors"]) for r in rows}


def by_sklearn(k, y):
    return {(c, fold): int((SVC(C=c, kernel="precomputed").fit(k[np.ix_(train, train)], y[train])
                            .predict(k[np.ix_(test, train)]) != y[test]).sum())
            for fold, (train, test) in enumerate(KFold(FOLDS).split(k)) for c in C}


def main():
    options = comparison.parser(__doc__).parse_args()
    x, y = load_digits(return_X_y=True)
    x, y = x[:ROWS] / 16, y[:ROWS]
    for name, k in (("chi-squared", chi2_kernel(x, gamma=0.5)), ("Laplacian", laplacian_kernel(x, gamma=0.05))):
        theirs = by_sklearn(k, y)
        ours = by_mokume(options, k, y)
        equal = sum(ours[cell] == errors for cell, errors in theirs.items())
        print(f"{name}: {equal} of {len(theirs)} fits have the errors of scikit-learn")


if __name__ == "__main__":
    main()

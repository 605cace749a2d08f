#!/usr/bin/env python3
"""Compares grids of support vector regression with scikit-learn's SVR, fold by fold, with and without weights of rows.

For every data set, mokume and scikit-learn fit 24 candidates on 5 folds, on all cores. Prints the largest relative
difference of a fold's mean squared error, and the seconds of each. Writes the figures as JSON.

    bench/svc/regression.py [--mokume build/release/bin/mokume] [--devices host] [--housing housing.csv]
                            [--out bench/results/svc-regression.json]

Needs numpy and scikit-learn (pip install numpy scikit-learn). California's houses are left out unless they are in
$MOKUME_DATA or --housing names their file.
"""
import csv
import json
import os
import pathlib
import tempfile
import time

import numpy as np
from joblib import Parallel, delayed
from sklearn import datasets
from sklearn.model_selection import KFold
from sklearn.svm import SVR

import comparison

FOLDS, SEED = 5, 11
C, EPSILON = [0.1, 1.0, 10.0, 100.0], [0.05, 0.3]
EXPERIMENT = """
name = "regression"
model = "svc"
data = {{ source = "csv", path = "./rows.csv", target = "y", task = "regression"{weight} }}
validation = {{ folds = {folds}, shuffle = false, stratified = false }}
[search]
method = "grid"
[search.params]
C = {c}
gamma = {gamma}
epsilon = {epsilon}
"""


def houses(path):
    with path.open() as file:
        rows = [[float(v) for k, v in row.items() if k != "ocean_proximity" and v != ""] for row in csv.DictReader(file)]
    table = np.array([row for row in rows if len(row) == 9])
    return table[:, :-1], table[:, -1]


def data_sets(housing):
    made = {
        "diabetes": datasets.load_diabetes(return_X_y=True),
        "friedman 1": datasets.make_friedman1(2000, noise=1.0, random_state=SEED),
        "friedman 2": datasets.make_friedman2(2000, noise=100.0, random_state=SEED),
        "friedman 3": datasets.make_friedman3(2000, noise=0.1, random_state=SEED),
        "linear": datasets.make_regression(1500, 30, n_informative=10, noise=20.0, random_state=SEED),
    }
    if housing.exists():
        made["houses"] = houses(housing)
    order = np.random.RandomState(SEED)
    for name, (x, y) in made.items():
        # Folds have equal sizes, so that both programs split alike.
        rows = order.permutation(len(y))[:min(3000, len(y)) // FOLDS * FOLDS]
        x, y = np.asarray(x, float)[rows], np.asarray(y, float)[rows]
        x = ((x - x.mean(0)) / x.std(0)).astype(np.float32)
        y = ((y - y.mean()) / y.std()).astype(np.float32)
        weights = order.randint(0, 5, len(y)) / 2
        yield name, x, y, weights, [g / x.shape[1] for g in (0.1, 0.5, 2.0)]


def error_of_sklearn(x, y, weights, cell, train, test):
    c, gamma, epsilon = cell
    svr = SVR(C=c, gamma=gamma, epsilon=epsilon, tol=1e-3, cache_size=1000)
    svr.fit(x[train], y[train], sample_weight=None if weights is None else weights[train])
    return float(np.mean((svr.predict(x[test]) - y[test]) ** 2))


def by_sklearn(x, y, weights, gammas):
    folds = list(KFold(FOLDS).split(x))
    cells = [(c, g, e, f) for c in C for g in gammas for e in EPSILON for f in range(FOLDS)]
    x, y = x.astype(np.float64), y.astype(np.float64)
    start = time.monotonic()
    errors = Parallel(n_jobs=-1)(delayed(error_of_sklearn)(x, y, weights, cell[:3], *folds[cell[3]]) for cell in cells)
    return dict(zip(cells, errors)), time.monotonic() - start


def by_mokume(options, x, y, weights, gammas):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        columns = [*x.T, y] + ([] if weights is None else [weights])
        names = [f"x{k}" for k in range(x.shape[1])] + ["y"] + ([] if weights is None else ["w"])
        np.savetxt(place / "rows.csv", np.column_stack(columns), delimiter=",", header=",".join(names), comments="",
                   fmt="%.9g")
        experiment = EXPERIMENT.format(folds=FOLDS, c=C, gamma=gammas, epsilon=EPSILON,
                                       weight="" if weights is None else ', weight = "w"')
        start = time.monotonic()
        run = comparison.run_of(options, place, experiment)
        seconds = time.monotonic() - start
        rows = list(csv.DictReader((run / "results.csv").open()))
    return {(float(r["C"]), float(r["gamma"]), float(r["epsilon"]), int(r["fold"])): float(r["mse"])
            for r in rows}, seconds


def main():
    parser = comparison.parser(__doc__, "svc-regression.json")
    parser.add_argument("--housing", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("MOKUME_DATA", ""), "california-housing/housing.csv"))
    options = parser.parse_args()
    table = []
    for name, x, y, weights, gammas in data_sets(options.housing):
        for of_rows in (None, weights):
            theirs, their_seconds = by_sklearn(x, y, of_rows, gammas)
            ours, our_seconds = by_mokume(options, x, y, of_rows, gammas)
            off = np.array([abs(ours[cell] - error) / error for cell, error in theirs.items()])
            row = {"data": name, "rows": len(y), "features": x.shape[1], "weights": of_rows is not None,
                   "fits": len(off), "largest relative difference": float(f"{off.max():.2g}"),
                   "median relative difference": float(f"{np.median(off):.2g}"),
                   "scikit-learn s": round(their_seconds, 2), "mokume s": round(our_seconds, 2)}
            table.append(row)
            print(json.dumps(row), flush=True)
    comparison.publish(options, "validation errors of SVR grids against scikit-learn's, fold by fold", "regression.py", table)


if __name__ == "__main__":
    main()

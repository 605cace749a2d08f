#!/usr/bin/env python3
"""Compares the validation errors of SVC grids with scikit-learn's, fold by fold, on data sets that no test knows.

For every data set, one-vs-one and one-vs-rest, each solver of mokume and scikit-learn fit 27 candidates on 5 folds.
Prints how many folds are equal, at most two rows off, and further off, and how many of the latter mokume calls
ill-determined. Writes the figures as JSON.

    bench/svc/unseen.py [--mokume build/release/bin/mokume] [--devices host] [--out bench/results/svc-unseen.json]

Needs numpy and scikit-learn (pip install numpy scikit-learn).
"""
import csv
import json
import pathlib
import tempfile

import numpy as np
from joblib import Parallel, delayed
from sklearn import datasets
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

import comparison

FOLDS, SEED = 5, 7
C = [float(c) for c in np.logspace(-2, 4, 9)]
EXPERIMENT = """
name = "unseen"
model = "svc"
data = {{ source = "npy", path = "x.npy", labels = "y.npy" }}
validation = {{ folds = {folds}, shuffle = false, stratified = false }}
model_options = {{ multiclass = "{multiclass}", solver = "{solver}" }}
[search]
method = "grid"
[search.params]
C = {c}
gamma = {gamma}
"""


def data_sets():
    made = {
        "digits": datasets.load_digits(return_X_y=True),
        "breast cancer": datasets.load_breast_cancer(return_X_y=True),
        "wine": datasets.load_wine(return_X_y=True),
        "moons": datasets.make_moons(2000, noise=0.3, random_state=SEED),
        "quantiles": datasets.make_gaussian_quantiles(n_samples=2000, n_features=10, n_classes=3, random_state=SEED),
        "clusters": datasets.make_classification(3000, 20, n_informative=10, n_classes=4, flip_y=0.05,
                                                 random_state=SEED),
    }
    order = np.random.RandomState(SEED)
    for name, (x, y) in made.items():
        # Folds have equal sizes, so that both programs split alike.
        rows = order.permutation(len(y))[:len(y) // FOLDS * FOLDS]
        x = np.asarray(x, float)[rows]
        x = ((x - x.mean(0)) / np.where(x.std(0) > 0, x.std(0), 1)).astype(np.float32)
        yield name, x, np.asarray(y)[rows].astype(np.int64), [g / x.shape[1] for g in (0.1, 1.0, 10.0)]


def errors_of_sklearn(x, y, multiclass, c, gamma, train, test):
    svc = SVC(C=c, gamma=gamma, tol=1e-3, cache_size=1000)
    model = svc if multiclass == "ovo" or len(set(y)) == 2 else OneVsRestClassifier(svc)
    return int((model.fit(x[train], y[train]).predict(x[test]) != y[test]).sum())


def by_sklearn(x, y, gammas, multiclass):
    folds = list(KFold(FOLDS).split(x))
    cells = [(c, g, f) for c in C for g in gammas for f in range(FOLDS)]
    wide = x.astype(np.float64)
    counts = Parallel(n_jobs=-1)(delayed(errors_of_sklearn)(wide, y, multiclass, c, g, *folds[f]) for c, g, f in cells)
    return dict(zip(cells, counts))


def by_mokume(options, x, y, gammas, multiclass, solver):
    """Returns the errors, and whether mokume calls the fit ill-determined, by (C, gamma, fold)."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        np.save(place / "x.npy", x)
        np.save(place / "y.npy", y)
        run = comparison.run_of(options, place, EXPERIMENT.format(folds=FOLDS, multiclass=multiclass, solver=solver, c=C,
                                                                  gamma=gammas))
        unsure = {}
        for line in (run / "journal/node-0000.ndjson").read_text().splitlines():
            record = json.loads(line)
            if "fit" in record and "note" in record:
                words = [w for w in record["note"].split() if w.startswith("unsure=")]
                unsure[record["fit"]] = bool(words) and int(words[0][7:]) > record["n"] // 50
        rows = list(csv.DictReader((run / "results.csv").open()))
    return {(float(r["C"]), float(r["gamma"]), int(r["fold"])): (int(r["errors"]), unsure.get(k, False))
            for k, r in enumerate(rows)}


def main():
    options = comparison.parser(__doc__, "svc-unseen.json").parse_args()
    table = []
    for name, x, y, gammas in data_sets():
        for multiclass in ("ovo", "ovr"):
            theirs = by_sklearn(x, y, gammas, multiclass)
            for solver in ("libsvm", "blocked"):
                ours = by_mokume(options, x, y, gammas, multiclass, solver)
                off = [(abs(errors - theirs[cell]), unsure) for cell, (errors, unsure) in ours.items()]
                row = {"data": name, "rows": len(y), "multiclass": multiclass, "solver": solver, "folds": len(off),
                       "equal": sum(d == 0 for d, _ in off), "one or two off": sum(0 < d <= 2 for d, _ in off),
                       "further off": sum(d > 2 for d, _ in off),
                       "of these ill-determined": sum(d > 2 and unsure for d, unsure in off),
                       "most": max(d for d, _ in off)}
                table.append(row)
                print(json.dumps(row), flush=True)
    comparison.publish(options, "validation errors of SVC grids against scikit-learn's, fold by fold", "unseen.py", table)


if __name__ == "__main__":
    main()

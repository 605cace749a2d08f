#!/usr/bin/env python3
"""Runs the published SVC grid on MNIST with scikit-learn, on 20 cells spread over the 24 x 24 grid.

Times GridSearchCV over one-vs-rest SVC on those cells with as many processes as cores and scales the time to the whole
grid. With --results, compares every fold's error count with a mokume run of the whole grid.

    python3 bench/peers/svc_grid_sklearn.py --data $MOKUME_DATA/mnist [--limit 5000] [--jobs 2] [--out peer.json]
                                            [--results runs/svc-grid-mnist/.../results.csv]

Needs numpy and scikit-learn (pip install numpy scikit-learn).
"""
import argparse
import csv
import gzip
import json
import os
import time

import numpy as np
import sklearn
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

C_INDICES = [2, 7, 12, 17, 21]  # the middles of five ranges of the grid
GAMMA_INDICES = [3, 9, 15, 21]  # the middles of four ranges
GRID = 24


def idx(path):
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as f:
        raw = f.read()
    dims = raw[3]
    shape = np.frombuffer(raw, ">i4", dims, 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * dims).reshape(shape)


def load(folder, limit):
    def find(stem):
        for name in (stem, stem + ".gz"):
            if os.path.exists(os.path.join(folder, name)):
                return idx(os.path.join(folder, name))
        raise SystemExit(f"no {stem}[.gz] in {folder}")

    x = find("train-images-idx3-ubyte")[:limit].reshape(limit, -1)
    return (x - 127.5) / 73.61, find("train-labels-idx1-ubyte")[:limit]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with the four MNIST files")
    parser.add_argument("--limit", type=int, default=5000)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--peer", help="read the peer's figures from an earlier --out instead of measuring")
    parser.add_argument("--out", help="write the figures as JSON")
    parser.add_argument("--results", help="results.csv of a mokume run of the whole grid to compare with")
    args = parser.parse_args()

    if args.peer:
        with open(args.peer) as f:
            figures = json.load(f)
    else:
        x, y = load(args.data, args.limit)
        cs = 10 ** np.linspace(-3, 6, GRID)
        gammas = 10 ** np.linspace(-6, -2, GRID)
        cells = [(c, g) for g in GAMMA_INDICES for c in C_INDICES]
        params = [{"estimator__C": [cs[c]], "estimator__gamma": [gammas[g]]} for c, g in cells]
        search = GridSearchCV(OneVsRestClassifier(SVC()), params, cv=KFold(5), n_jobs=args.jobs, refit=False)
        start = time.perf_counter()
        search.fit(x, y)
        seconds = time.perf_counter() - start
        n = len(y) // 5
        errors = [[round((1 - search.cv_results_[f"split{k}_test_score"][i]) * n) for k in range(5)]
                  for i in range(len(cells))]
        figures = {
            "scikit_learn": sklearn.__version__, "limit": args.limit, "jobs": args.jobs, "cells": cells,
            "errors": errors, "seconds": seconds, "seconds_grid": seconds * GRID * GRID / len(cells),
            "mean_fit_s": search.cv_results_["mean_fit_time"].tolist(),
        }
        if args.out:
            with open(args.out, "w") as f:
                json.dump(figures, f, indent=1)
    print(f"scikit-learn {figures['scikit_learn']}, {figures['jobs']} processes: {len(figures['cells'])} cells in "
          f"{figures['seconds']:.1f} s, the grid of {GRID * GRID} cells scaled: {figures['seconds_grid']:.0f} s")

    if args.results:
        with open(args.results) as f:
            rows = list(csv.DictReader(f))
        key = {}
        cs = sorted({float(r["C"]) for r in rows})
        gammas = sorted({float(r["gamma"]) for r in rows})
        for r in rows:
            key[cs.index(float(r["C"])), gammas.index(float(r["gamma"])), int(r["fold"])] = int(r["errors"])
        worst = 0
        for (c, g), errors in zip(figures["cells"], figures["errors"]):
            ours = [key[c, g, k] for k in range(5)]
            worst = max(worst, max(abs(a - b) for a, b in zip(ours, errors)))
            print(f"C[{c:2}] gamma[{g:2}]  scikit-learn {errors}  mokume {ours}")
        print(f"largest difference of a fold: {worst} rows of {figures['limit'] // 5}")


if __name__ == "__main__":
    main()

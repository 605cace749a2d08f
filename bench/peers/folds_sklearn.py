"""Compares every fit of a grid on a table with gaps against scikit-learn's Pipeline(SimpleImputer, StandardScaler, SVC).

Writes the table, runs the grid with mokume, which fills and scales within each fold, and counts the validation errors
that differ. Prints one line and exits with 1 if any does.

    python bench/peers/folds_sklearn.py --mokume build/release/bin/mokume
"""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

ROWS, FOLDS = 600, 5
EXPERIMENT = """
name = "folds"
model = "svc"
devices.use = "host"
data = { source = "csv", path = "table.csv", missing = "mean", standardize = "features" }
validation = { folds = 5, shuffle = false, stratified = false }
model_options = { multiclass = "ovo" }
[search]
method = "grid"
[search.params]
C = [0.1, 1, 10, 100]
gamma = [0.01, 0.1, 1]
"""


def table():
    """Rows of five columns on different scales, with 8 % of the cells missing, and one of three classes each."""
    draw = np.random.RandomState(3)
    x = draw.randn(ROWS, 5) * [1, 10, 100, 0.1, 1000]
    x[:, 2] += 500 * draw.randn(ROWS) ** 3
    y = (x[:, 0] + x[:, 1] / 10 + x[:, 2] / 300 + 0.3 * draw.randn(ROWS) > 0).astype(int) + (x[:, 3] > 0.05)
    x = x.astype(np.float32).astype(float)
    x[draw.rand(ROWS, 5) < 0.08] = np.nan
    return x, y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mokume", type=pathlib.Path, required=True)
    mokume = parser.parse_args().mokume.resolve()
    x, y = table()
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        lines = [",".join("" if np.isnan(v) else repr(v) for v in row.tolist()) + f",{c}" for row, c in zip(x, y)]
        (place / "table.csv").write_text("a,b,c,d,e,y\n" + "\n".join(lines) + "\n")
        (place / "e.toml").write_text(EXPERIMENT)
        subprocess.run([mokume, "run", "e.toml"], cwd=place, check=True, stderr=subprocess.DEVNULL)
        fits = list(csv.DictReader(open(next(place.glob("runs/folds/*/results.csv")))))
    different = 0
    for fit in fits:
        held_out = np.arange(ROWS) // (ROWS // FOLDS) == int(fit["fold"])
        peer = make_pipeline(SimpleImputer(), StandardScaler(), SVC(C=float(fit["C"]), gamma=float(fit["gamma"])))
        peer.fit(x[~held_out], y[~held_out])
        different += int((peer.predict(x[held_out]) != y[held_out]).sum()) != int(fit["errors"])
    print(f"{len(fits)} fits, {sum(int(f['errors']) for f in fits)} errors; {different} fits differ from scikit-learn")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()

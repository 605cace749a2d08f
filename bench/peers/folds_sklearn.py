"""Compares every fit of a grid on a table with gaps against scikit-learn's Pipeline(SimpleImputer, StandardScaler, SVC).

Writes the table, runs the grid with mokume, which fills and scales within each fold, and counts the fits whose
validation errors or measures differ from scikit-learn's (balanced error, macro precision, recall and F1 to 1e-9; AUC to
1e-3, since it follows from single-precision decision values). Exits with 1 if any does.

    python bench/peers/folds_sklearn.py --mokume build/release/bin/mokume
"""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from sklearn import metrics
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
validation = { folds = 5, shuffle = false, stratified = false, score = ["balanced_error", "precision", "recall", "f1", "auc"] }
model_options = { multiclass = "ovo" }
[search]
method = "grid"
[search.params]
C = [0.1, 1, 10, 100]
gamma = [0.01, 0.1, 1]
"""


def table():
    """Returns rows of five columns on different scales, without 8 % of the cells, and one of three classes each."""
    draw = np.random.RandomState(3)
    x = draw.randn(ROWS, 5) * [1, 10, 100, 0.1, 1000]
    x[:, 2] += 500 * draw.randn(ROWS) ** 3
    y = (x[:, 0] + x[:, 1] / 10 + x[:, 2] / 300 + 0.3 * draw.randn(ROWS) > 0).astype(int) + (x[:, 3] > 0.05)
    x = x.astype(np.float32).astype(float)
    x[draw.rand(ROWS, 5) < 0.08] = np.nan
    return x, y


def measures(truth, predicted, decisions):
    """Returns scikit-learn's values by the names of the columns."""
    macro = dict(average="macro", zero_division=0)
    per_class = [metrics.roc_auc_score(truth == c, decisions[:, c]) for c in range(decisions.shape[1])]
    return {"balanced_error": 1 - metrics.balanced_accuracy_score(truth, predicted),
            "precision": metrics.precision_score(truth, predicted, **macro),
            "recall": metrics.recall_score(truth, predicted, **macro),
            "f1": metrics.f1_score(truth, predicted, **macro), "auc": np.mean(per_class)}


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
    different, off = 0, dict.fromkeys(["balanced_error", "precision", "recall", "f1", "auc"], 0.0)
    for fit in fits:
        held_out = np.arange(ROWS) // (ROWS // FOLDS) == int(fit["fold"])
        peer = make_pipeline(SimpleImputer(), StandardScaler(), SVC(C=float(fit["C"]), gamma=float(fit["gamma"])))
        peer.fit(x[~held_out], y[~held_out])
        predicted = peer.predict(x[held_out])
        different += int((predicted != y[held_out]).sum()) != int(fit["errors"])
        for name, value in measures(y[held_out], predicted, peer.decision_function(x[held_out])).items():
            off[name] = max(off[name], abs(value - float(fit[name])))
    print(f"{len(fits)} fits, {sum(int(f['errors']) for f in fits)} errors; {different} fits differ from scikit-learn;",
          "largest differences:", ", ".join(f"{name} {value:.1e}" for name, value in off.items()))
    sys.exit(different > 0 or max(v for n, v in off.items() if n != "auc") > 1e-9 or off["auc"] > 1e-3)


if __name__ == "__main__":
    main()

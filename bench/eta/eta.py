#!/usr/bin/env python3
"""Compares the predicted end of runs with their end.

    bench/eta/eta.py [--mokume build/release/bin/mokume] [--out bench/results/eta.json] [--only NAME]

Reads the ETA that `mokume status` shows (logs/status.json, which a run writes every two seconds) of experiments of
different kinds, and divides it by the seconds that the fits then took. 1 is a perfect prediction; the factor is the
ratio or its inverse, whichever is larger. `at_tenth` is the first prediction after a tenth of the time, `median` and
`worst` are over all predictions between a tenth and nine tenths. Experiments on MNIST and on housing need $MOKUME_DATA.
"""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench", "campaign"))
import campaign  # noqa: E402
SCALED = "standardize = { mean = 127.5, scale = 73.61 }"
GRID = """model = "svc"
[data]
{data}
[validation]
folds = 5
[search]
method = "grid"
[search.params]
C = {{ log10 = [-3, 6], n = {n} }}
gamma = {{ log10 = [-6, -2], n = {n} }}
"""
LAYERS = """[[model_options.layers]]
type = "conv2d"
out_channels = {channels}
kernel_size = 5
[[model_options.layers]]
type = "relu"
[[model_options.layers]]
type = "max_pool2d"
kernel_size = 2
[[model_options.layers]]
type = "flatten"
[[model_options.layers]]
type = "linear"
out_features = 10
"""
EXPERIMENTS = {
    "SVM grid, digits": GRID.format(data=f'source = "digits"\n{SCALED}', n=16),
    "SVM grid, MNIST": GRID.format(data=f'source = "mnist"\nlimit = 3000\n{SCALED}', n=12),
    "SVR grid, housing": """model = "svc"
[data]
source = "csv"
path = "california-housing"
target = "median_house_value"
categorical = ["ocean_proximity"]
missing = "mean"
limit = 3000
standardize = "features"
[validation]
folds = 5
[search]
method = "grid"
[search.params]
C = { log10 = [-1, 3], n = 8 }
gamma = { log10 = [-3, 0], n = 8 }
[model_options]
standardise_target = true
""",
    "random search of networks": """model = "cnn"
[data]
source = "digits"
standardize = { mean = 0, scale = 255 }
[validation]
folds = 3
[search]
method = "random"
candidates = 24
[search.params]
rate = { log10_uniform = [-4, -1] }
channels = { int = [4, 32] }
[model_options]
epochs = 8
batch_size = 32
optimizer = { type = "adam", lr = "$rate" }
""" + LAYERS.format(channels='"$channels"'),
    "bagged networks": """model = "cnn"
[data]
source = "digits"
standardize = { mean = 0, scale = 255 }
[validation]
share = 0.2
[bagging]
bootstraps = 12
[model_options]
epochs = 20
batch_size = 16
optimizer = { type = "adam", lr = 0.001 }
""" + LAYERS.format(channels=16),
    "one network, MNIST": """model = "cnn"
[data]
source = "mnist"
standardize = { mean = 0, scale = 255 }
[validation]
share = 0.1
[model_options]
epochs = 6
batch_size = 64
optimizer = { type = "adam", lr = 0.001 }
""" + LAYERS.format(channels=16),
}


def read_status(run):
    """Returns the status, or nothing while it is written."""
    try:
        return json.loads(open(os.path.join(run, "logs", "status.json"), encoding="utf-8").read())
    except (OSError, ValueError):
        return None


def last_end(run):
    ends = []
    for journal in glob.glob(os.path.join(run, "journal", "*.ndjson")):
        with open(journal, encoding="utf-8") as lines:
            ends += [record.get("end", 0) for record in map(json.loads, lines) if "end" in record]
    return max(ends)


def watch(mokume, text, devices, folder):
    """Runs an experiment and returns the times and ETAs that its status showed, and the end of its last fit."""
    config = os.path.join(folder, "e.toml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(text)
    log = open(os.path.join(folder, "log"), "w", encoding="utf-8")
    process = subprocess.Popen([mokume, "run", config, "--fresh", "--devices", devices, "--out", folder + "/runs"],
                               stdout=log, stderr=log)
    shown, run = {}, None
    while process.poll() is None:
        time.sleep(0.1)
        run = run or next(iter(glob.glob(folder + "/runs/*/*/")), None)
        status = read_status(run) if run else None
        if status:
            shown[status["time"]] = status.get("eta_s")
    if process.returncode != 0:
        sys.exit(f"mokume run failed: see {folder}/log")
    return shown, last_end(run)


def factors_of(shown, end):
    """Returns the factors between a tenth and nine tenths of the time. A missing ETA counts as infinite."""
    start = min(shown)
    factors = []
    for moment, eta in sorted(shown.items()):
        part = (moment - start) / (end - start)
        if 0.1 <= part <= 0.9:
            ratio = (eta or 0) / (end - moment)
            factors.append(max(ratio, 1 / ratio) if ratio > 0 else float("inf"))
    return factors, end - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mokume", default=os.path.join(ROOT, "build", "release", "bin", "mokume"))
    parser.add_argument("--out")
    parser.add_argument("--only", default="")
    parser.add_argument("--devices", default="all")
    arguments = parser.parse_args()
    data = os.environ.get("MOKUME_DATA", "")
    rows = []
    for name, text in EXPERIMENTS.items():
        if arguments.only not in name or (("MNIST" in name or "housing" in name) and not data):
            continue
        with tempfile.TemporaryDirectory() as folder:
            shown, end = watch(arguments.mokume, f'name = "eta"\nseed = 3\n{text}', arguments.devices, folder)
        factors, seconds = factors_of(shown, end)
        rows.append({"experiment": name, "seconds": round(seconds, 1), "predictions": len(factors),
                     "at_tenth": round(factors[0], 2), "median": round(statistics.median(factors), 2),
                     "worst": round(max(factors), 2)})
        print(rows[-1], flush=True)
    if arguments.out:
        result = {**campaign.measured_here(arguments.out), "command": "bench/eta/eta.py", "rows": rows}
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()

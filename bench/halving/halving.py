#!/usr/bin/env python3
"""Compares successive halving with the search of all candidates on all rows.

    bench/halving/halving.py [--seeds 20] [--out bench/results/halving.json]

Two grids of 24 x 24 SVMs with 5 folds, on 2,000 digits and on 5,000 rows of MNIST (left out without $MOKUME_DATA/mnist),
count the steps of the solver. A random search of 32 networks, repeated with several seeds, counts the rows that training
visits, in units of a training of one network on all rows. Each search runs on the host, once with and once without
rungs; test errors are those of the refit.
"""
import argparse
import csv
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench", "campaign"))
import campaign  # noqa: E402

RUNGS = ["search.rungs=3", "search.factor=4"]
SVC = """name = "svc"
model = "svc"
seed = 7
[data]
{data}
[validation]
folds = 5
[search]
method = "grid"
[search.params]
C = {{ log10 = [-2, 4], n = 24 }}
gamma = {{ log10 = [-5, -1], n = 24 }}
"""
DIGITS = 'source = "digits"\nlimit = 2000\nstandardize = { mean = 127.5, scale = 73.61 }'
MNIST = 'source = "mnist"\nlimit = 5000\nstandardize = { mean = 127.5, scale = 73.61 }'
NETWORK = """name = "network"
model = "cnn"
seed = 1
[data]
source = "digits"
standardize = { mean = 0, scale = 255 }
[validation]
share = 0.2
[search]
method = "random"
candidates = 32
[search.params]
rate = { log10_uniform = [-4.5, -1.5] }
units = { int_log = [8, 256] }
drop = { uniform = [0, 0.7] }
[model_options]
epochs = 12
batch_size = 32
optimizer = { type = "adam", lr = "$rate" }
layers = [{ type = "flatten" }, { type = "linear", out_features = "$units" }, { type = "relu" },
          { type = "dropout", p = "$drop" }, { type = "linear", out_features = 10 }]
"""


def search(program, text, settings):
    """Runs a search, and returns its summary, its fits and its solver's steps."""
    with tempfile.TemporaryDirectory(prefix="mokume-halving-") as folder:
        with open(os.path.join(folder, "e.toml"), "w") as f:
            f.write(text)
        command = [program, "run", "e.toml", "--devices", "host", "--quiet"]
        for setting in settings:
            command += ["--set", setting]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        run = glob.glob(os.path.join(folder, "runs/*/*"))[0]
        with open(os.path.join(run, "summary.json")) as f:
            summary = json.load(f)
        with open(os.path.join(run, "results.csv"), newline="") as f:
            fits = list(csv.DictReader(f))
        with open(os.path.join(run, "journal/node-0000.ndjson")) as f:
            steps = sum(int(n) for line in f if '"fit"' in line and '"refit"' not in line
                        for n in re.findall(r"steps=(\d+)", line))
        return summary, fits, steps


def grid(program, name, data):
    whole, _, all_steps = search(program, SVC.format(data=data), [])
    halved, fits, steps = search(program, SVC.format(data=data), RUNGS)
    return {"what": name, "candidates": whole["candidates"], "fits": len(fits), "fits_of_all": whole["fits"],
            "steps": steps, "steps_of_all": all_steps, "share": round(steps / all_steps, 4),
            "same_winner": halved["best"]["candidate"] == whole["best"]["candidate"],
            "test_errors": halved["test"]["errors"], "test_errors_of_all": whole["test"]["errors"], "n": whole["test"]["n"]}


def networks(program, seeds):
    errors, errors_of_all, winners = [], [], 0
    share = 0
    for seed in range(1, seeds + 1):
        whole, _, _ = search(program, NETWORK, [f"seed={seed}"])
        halved, fits, _ = search(program, NETWORK, [f"seed={seed}"] + RUNGS)
        share = sum(4.0 ** (int(fit["rung"]) - 2) for fit in fits) / whole["candidates"]
        errors.append(100 * halved["test"]["error"])
        errors_of_all.append(100 * whole["test"]["error"])
        winners += halved["best"]["candidate"] == whole["best"]["candidate"]
        print(f"seed {seed}: {errors[-1]:.1f} % instead of {errors_of_all[-1]:.1f} %", file=sys.stderr, flush=True)
    return {"what": f"random search of 32 networks on digits, {seeds} seeds", "share": round(share, 4),
            "mean_error_percent": round(statistics.mean(errors), 3),
            "mean_error_percent_of_all": round(statistics.mean(errors_of_all), 3),
            "worst_difference_points": round(max(a - b for a, b in zip(errors, errors_of_all)), 2),
            "same_winner": winners, "seeds": seeds}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--out", help="write the figures as JSON")
    args = parser.parse_args()
    program = os.path.join(os.path.abspath(args.build), "bin", "mokume")
    grids = [grid(program, "2,000 digits", DIGITS)]
    print(grids[-1], file=sys.stderr, flush=True)
    if os.path.isdir(os.path.join(os.environ.get("MOKUME_DATA", ""), "mnist")):
        grids.append(grid(program, "5,000 rows of MNIST", MNIST))
        print(grids[-1], file=sys.stderr, flush=True)
    figures = {**campaign.measured_here(args.out), "what": "successive halving in three rungs with factor 4, on the host",
               "command": "bench/halving/halving.py", "grids": grids, "networks": networks(program, args.seeds)}
    text = json.dumps(figures, indent=1) + "\n"
    if args.out:
        with open(args.out, "w") as f:
            f.write(text)
    else:
        print(text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares the choice of trials with Optuna's, with random search and with whole grids.

    bench/trials/trials.py [--seeds 20] [--trials 100] [--out bench/results/trials.json]

Needs Optuna (PyPI) and the preset `bench`. On functions of the literature, each search makes the same number of trials
with 1 and with 8 of them at once; ours chooses among 50 random candidates for each trial, or among the points of a grid.
The figures are medians over the seeds of the regret: the best loss minus the least one that is known. The same SVMs and
networks as in bench/halving/halving.py then count the solver's steps and the errors.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import warnings

import optuna

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench", "halving"))
import halving  # noqa: E402

PROGRAM = os.path.join(ROOT, "build", "release", "bin", "mokume")
PROPOSER = os.path.join(ROOT, "build", "release", "bin", "bench_trials")

HARTMANN_A = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
HARTMANN_P = [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
              [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]
HARTMANN_C = [1, 1.2, 3, 3.2]


def branin(x, y):
    return (y - 5.1 / (4 * math.pi ** 2) * x * x + 5 / math.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def hartmann(*x):
    return -sum(c * math.exp(-sum(a * (v - p * 1e-4) ** 2 for a, p, v in zip(rows, places, x)))
                for c, rows, places in zip(HARTMANN_C, HARTMANN_A, HARTMANN_P))


def choice(kind, x, y):
    """Three branches, of which one contains the minimum."""
    return {"a": 40, "b": 0, "c": 20}[kind] + branin(x, y)


def sphere(*x):
    return sum((v - 0.3) ** 2 for v in x)


FUNCTIONS = {
    "branin, 2 numbers": (branin, [[-5, 10], [0, 15]], 0.397887),
    "branin, grid of 24 x 24": (branin, [[-5 + 15 * i / 23 for i in range(24)], [15 * i / 23 for i in range(24)]], None),
    "hartmann, 6 numbers": (hartmann, [[0, 1]] * 6, -3.32237),
    "sphere, 4 numbers": (sphere, [[0, 1]] * 4, 0),
    "branin, 2 numbers and a word": (choice, [["a", "b", "c"], [-5, 10], [0, 15]], 0.397887),
}


def is_range(space):
    return len(space) == 2 and not isinstance(space[0], str)


def least(function, spaces, known):
    if known is not None:
        return known
    return min(function(x, y) for x in spaces[0] for y in spaces[1])


def ours(function, spaces, trials, at_once, seed):
    candidates = 50 * trials if any(map(is_range, spaces)) else 0
    process = subprocess.Popen([PROPOSER, str(trials), str(at_once), str(candidates), str(seed)], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    print(json.dumps(spaces), file=process.stdin, flush=True)
    losses = []
    for line in process.stdout:
        values = [word if isinstance(space[0], str) else float(word) for space, word in zip(spaces, line.split())]
        losses.append(function(*values))
        print(losses[-1], file=process.stdin, flush=True)
    process.wait()
    return losses


def optuna_losses(function, spaces, trials, at_once, sampler):
    """Asks for a trial when all but the last at_once - 1 trials have told their losses."""
    study = optuna.create_study(sampler=sampler)
    losses, waiting = [], []
    for _ in range(trials):
        trial = study.ask()
        values = [trial.suggest_float(str(i), *space) if is_range(space) else trial.suggest_categorical(str(i), space)
                  if isinstance(space[0], str) else space[trial.suggest_int(str(i), 0, len(space) - 1)]
                  for i, space in enumerate(spaces)]
        losses.append(function(*values))
        waiting.append((trial, losses[-1]))
        if len(waiting) == at_once:
            study.tell(*waiting.pop(0))
    return losses


def searches(at_once, seed):
    def with_optuna(sampler):
        return lambda *task: optuna_losses(*task, at_once, sampler)

    lies = at_once > 1
    return {
        "mokume": lambda *task: ours(*task, at_once, seed),
        "optuna": with_optuna(optuna.samplers.TPESampler(seed=seed, constant_liar=lies)),
        "random": with_optuna(optuna.samplers.RandomSampler(seed=seed)),
    }


def on_functions(seeds, trials):
    found = []
    for name, (function, spaces, known) in FUNCTIONS.items():
        for at_once in (1, 8):
            regrets = {}
            for seed in range(1, seeds + 1):
                for who, search in searches(at_once, seed).items():
                    best = min(search(function, spaces, trials))
                    regrets.setdefault(who, []).append(best - least(function, spaces, known))
            medians = {who: statistics.median(all_seeds) for who, all_seeds in regrets.items()}
            found.append({"function": name, "at_once": at_once, "trials": trials, "median_regret": medians})
            print(f"{name:30} at once {at_once}: " + "   ".join(f"{who} {m:.3g}" for who, m in medians.items()),
                  file=sys.stderr, flush=True)
    return found


def on_grid(name, data):
    whole, _, all_steps = halving.search(PROGRAM, halving.SVC.format(data=data), [])
    chosen, _, steps = halving.search(PROGRAM, halving.SVC.format(data=data), ["search.trials=60"])
    return {"what": name, "candidates": whole["candidates"], "trials": 60, "share": round(steps / all_steps, 4),
            "mean": chosen["best"]["mean"], "mean_of_all": whole["best"]["mean"], "n": whole["test"]["n"],
            "test_errors": chosen["test"]["errors"], "test_errors_of_all": whole["test"]["errors"]}


def on_networks(seeds):
    errors, drawn = [], []
    for seed in range(1, seeds + 1):
        settings = [f"seed={seed}", "search.candidates=2000", "search.trials=32", "search.at_once=4"]
        errors.append(100 * halving.search(PROGRAM, halving.NETWORK, settings)[0]["test"]["error"])
        drawn.append(100 * halving.search(PROGRAM, halving.NETWORK, settings[:1])[0]["test"]["error"])
        print(f"seed {seed}: {errors[-1]:.1f} %, drawn {drawn[-1]:.1f} %", file=sys.stderr, flush=True)
    return {"seeds": seeds, "mean_error_percent": round(statistics.mean(errors), 3),
            "mean_error_percent_drawn": round(statistics.mean(drawn), 3),
            "better": sum(a < b for a, b in zip(errors, drawn)), "worse": sum(a > b for a, b in zip(errors, drawn))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--out")
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    figures = {**halving.campaign.measured_here(options.out), "command": "bench/trials/trials.py", "optuna": optuna.__version__,
               "seeds": options.seeds, "functions": on_functions(options.seeds, options.trials),
               "grids": [on_grid("2,000 digits", halving.DIGITS)]}
    if os.path.isdir(os.path.join(os.environ.get("MOKUME_DATA", ""), "mnist")):
        figures["grids"].append(on_grid("5,000 rows of MNIST", halving.MNIST))
    figures["networks"] = on_networks(options.seeds)
    text = json.dumps(figures, indent=1) + "\n"
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text)


if __name__ == "__main__":
    main()

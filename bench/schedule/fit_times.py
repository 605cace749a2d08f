#!/usr/bin/env python3
"""Prints the fit times of an SVC grid for bench_schedule, from a run directory with one bundle per gamma and fold.

    bench/schedule/fit_times.py RUN [--total SECONDS] > bench/results/svc-grid-times.csv

Divides a lease's time among its fits by the solver's steps in their notes, plus a constant for each fit (the time to
validate it). With --total, for a run on a machine that was busy with other work, only the steps come from the run, and
all fits take SECONDS in total.
"""
import argparse
import csv
import glob
import json
import re
import sys

FIT_IN_STEPS = 1750  # in addition to its own steps, a fit takes the time of this number of steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--total", type=float)
    arguments = parser.parse_args()
    leases = {}
    for path in sorted(glob.glob(arguments.run + "/journal/node-*.ndjson")):
        for line in open(path):
            record = json.loads(line)
            if "fit" not in record:
                continue
            steps = re.search(r"steps=(\d+)", record["note"])
            key = (path, record["device"], record["bundle"], record["attempt"], record["start"])
            fit = (record["candidate"], record["fold"], FIT_IN_STEPS + (int(steps.group(1)) if steps else 0))
            leases.setdefault(key, []).append((fit, record["end"] - record["start"]))
    everything = sum(fit[2] for lease in leases.values() for fit, _ in lease)
    seconds = {}
    for lease in leases.values():
        together = sum(fit[2] for fit, _ in lease)
        took = max(end for _, end in lease)
        if arguments.total:
            took = arguments.total * together / everything
        for (candidate, fold, steps), _ in lease:
            seconds[candidate, fold] = took * steps / together
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["gamma", "C", "fold", "seconds"])
    for row in csv.DictReader(open(arguments.run + "/results.csv")):
        key = int(row["candidate"]), int(row["fold"])
        out.writerow([f"{float(row['gamma']):.6g}", f"{float(row['C']):.6g}", row["fold"], f"{seconds[key]:.3g}"])


if __name__ == "__main__":
    main()

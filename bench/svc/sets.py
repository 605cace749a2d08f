#!/usr/bin/env python3
"""Times the published grid of support vector machines with each instruction set of this processor, alternating.

    bench/svc/sets.py [--rows 5000] [--rounds 2] [--cases host-avx512,host-avx2,pocl-avx512,pocl-avx2]
                      [--out bench/results/svc-sets.json]

Needs a build with the tests (see campaign.environment_for) and MNIST in $MOKUME_DATA. Real older processors also have
other caches and clocks: what is compared is the code.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/campaign"))
import campaign  # noqa: E402


def seconds_of(options, case, place):
    device, isa = case.split("-")
    command = [options.build / "bin/mokume", "run", ROOT / "configs/svc-grid-mnist.toml", "--set",
               f"data.limit={options.rows}", "--devices", device, "--fresh", "--quiet", "--out", place / "runs"]
    began = time.monotonic()
    subprocess.run(command, check=True, capture_output=True,
                   env=campaign.environment_for(isa, options.build, device, place))
    return time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=lambda path: pathlib.Path(path).resolve(), default=ROOT / "build/release")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cases", default="host-avx512,host-avx2,pocl-avx512,pocl-avx2")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/results/svc-sets.json")
    options = parser.parse_args()
    result = {"what": "the published grid of 24 x 24 candidates, 5 folds, one-vs-rest, by instruction set",
              **campaign.measured_here(options.out), "versions": "mokume alone", "rows": options.rows,
              "command": f"bench/svc/sets.py --rows {options.rows} --rounds {options.rounds} --cases {options.cases}"}
    seconds = {case: [] for case in options.cases.split(",")}
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        for case in seconds:
            if case.startswith("pocl"):  # compiles the kernels
                seconds_of(argparse.Namespace(build=options.build, rows=300), case, place)
        for _ in range(options.rounds):
            for case, taken in seconds.items():
                taken.append(round(seconds_of(options, case, place), 1))
                print(case, taken[-1], flush=True)
    result["cases"] = {case: {"seconds": taken, "median": round(statistics.median(taken), 1)}
                       for case, taken in seconds.items()}
    options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times the published grid of support vector machines with each instruction set of this processor, alternating.

    bench/svc/sets.py [--rows 5000] [--rounds 2] [--cases host-avx512,host-avx2,pocl-avx512,pocl-avx2]
                      [--out bench/results/svc-sets.json]

MOKUME_ISA limits the host. PoCL takes the processor for an older one when older_cpu.so of the tests hides instructions
from it, so the build needs the tests. Real older processors also have other caches and clocks: what is compared is the
code. Needs MNIST in $MOKUME_DATA.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/campaign"))
import campaign  # noqa: E402

HIDDEN = {"avx512": "", "avx2": "avx512", "base": "avx,fma,f16c,xop"}  # from PoCL


def environment(build, device, isa, cache):
    changed = dict(os.environ, MOKUME_ISA=isa)
    if device == "pocl" and HIDDEN[isa]:
        changed.update(LD_PRELOAD="older_cpu.so", LD_LIBRARY_PATH=str(build / "lib"), OLDER_CPU=HIDDEN[isa],
                       XDG_CACHE_HOME=str(cache / isa))
    return changed


def seconds_of(options, case, place):
    device, isa = case.split("-")
    command = [options.build / "bin/mokume", "run", ROOT / "configs/svc-grid-mnist.toml", "--set",
               f"data.limit={options.rows}", "--devices", device, "--fresh", "--quiet", "--out", place / "runs"]
    began = time.monotonic()
    subprocess.run(command, check=True, capture_output=True, env=environment(options.build, device, isa, place))
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

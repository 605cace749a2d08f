#!/usr/bin/env python3
"""Measures how uncertain a run's members are about photographs, compared with test digits.

    python3 bench/photographs/photographs.py RUN [--mokume build/release/bin/mokume] [--out FILE]

RUN is the directory of a run on MNIST with members, for example of configs/cnn-bagging-small.toml. The pictures are
those of objects, and of one outline (horse), in Python's packages (pip install scikit-image scikit-learn matplotlib).
For each, the script prints the entropy of the members' mean, their mutual information (nats), and the share of the test
digits with less entropy. The mean of these shares is the area under the curve for telling photographs from digits by
entropy.
"""
import argparse
import importlib.util
import json
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PHOTOGRAPHS = {
    "skimage": ["data/" + name for name in (
        "astronaut.png", "brick.png", "camera.png", "cell.png", "chelsea.png", "clock_motion.png", "coffee.png", "coins.png",
        "grass.png", "gravel.png", "horse.png", "hubble_deep_field.jpg", "ihc.png", "microaneurysms.png", "moon.png",
        "motorcycle_left.png", "retina.jpg", "rocket.jpg")],
    "sklearn": ["datasets/images/china.jpg", "datasets/images/flower.jpg"],
    "matplotlib": ["mpl-data/sample_data/grace_hopper.jpg"],
}


def photographs():
    for package, files in PHOTOGRAPHS.items():
        found = importlib.util.find_spec(package)
        if found is None:
            raise SystemExit(f"{package} is not installed: its photographs are needed")
        for file in files:
            path = pathlib.Path(found.origin).parent / file
            if not path.is_file():
                raise SystemExit(f"{path} is missing: {package} carries other photographs now")
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--mokume", default=str(ROOT / "build/release/bin/mokume"))
    parser.add_argument("--out")
    args = parser.parse_args()
    rows = []
    for path in photographs():
        said = subprocess.run([args.mokume, "predict", args.run, str(path), "--json"], capture_output=True, text=True)
        if said.returncode != 0:
            raise SystemExit(said.stderr)
        j = json.loads(said.stdout)
        rows.append({"photograph": path.stem, "entropy": j["entropy"], "mutual_information": j["mutual_information"],
                     "digits_below": j["test_rows_below"], "vote": j["vote"]})
    rows.sort(key=lambda r: r["digits_below"])
    for r in rows:
        print(f"{r['photograph']:20} entropy {r['entropy']:.3f}  mutual information {r['mutual_information']:.3f}  "
              f"{100 * r['digits_below']:5.1f} % of the digits below  vote {r['vote']}")
    below = [r["digits_below"] for r in rows]
    total = {"photographs": len(rows), "median_digits_below": statistics.median(below),
             "area_under_curve": statistics.mean(below), "above_90_percent": sum(b >= 0.9 for b in below),
             "above_75_percent": sum(b >= 0.75 for b in below)}
    print(json.dumps(total))
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps({"total": total, "all": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()

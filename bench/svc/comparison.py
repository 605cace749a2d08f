"""Defines the common parts of the comparisons with scikit-learn: options, a run of mokume, and the file of results."""
import argparse
import json
import pathlib
import subprocess
import sys

import sklearn

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/campaign"))
import campaign  # noqa: E402


def parser(doc, results=None):
    """Returns a parser of options. `results` names the file that the comparison writes into bench/results."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--mokume", type=lambda path: pathlib.Path(path).resolve(),
                      default=ROOT / "build/release/bin/mokume")
    made.add_argument("--devices", default="host")
    if results:
        made.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/results" / results)
    return made


def run_of(options, place, experiment):
    """Writes an experiment next to its data in `place`, runs it, and returns the run's directory."""
    (place / "e.toml").write_text(experiment)
    subprocess.run([options.mokume, "run", "e.toml", "--devices", options.devices, "--quiet"], cwd=place, check=True,
                   capture_output=True)
    return next(next((place / "runs").iterdir()).iterdir())


def publish(options, what, script, table):
    options.out.write_text(json.dumps({
        "what": what, "scikit_learn": sklearn.__version__, **campaign.measured_here(options.out), "devices": options.devices,
        "command": f"bench/svc/{script} --devices {options.devices}", "table": table}, indent=1) + "\n")

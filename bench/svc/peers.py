#!/usr/bin/env python3
"""Compares mokume's SVC grid search with its strongest peers, on time, memory and the errors of every fold.

All programs get the same rows, folds and tolerance (1e-3), and every core. Peers that are slow fit a sample of the
grid, which is scaled and marked as an estimate; mokume always fits the whole grid, and its time is that of the whole
process, with start, refit, test and report. Programs run in turn, never side by side, in rounds whose order rotates. A
peer that needs longer than --once-above seconds runs in the first round only. `ratio` compares seconds, and `ratio_cpu`
processor seconds, which other programs on the machine disturb less, but which include the start of Python.

    bench/svc/peers.py [--cases ovr,ovo,clusters,overlap,adult,growth,flat] [--rounds 3] [--quick] [--full]
                       [--thundersvm FOLDER] [--plssvm FOLDER] [--a9a FILE] [--out bench/results/svc-peers.json]

  ovr, ovo  5,000 digits on the published grid of 24 x 24 candidates, one-vs-rest and one-vs-one
  clusters  the protocol of arXiv 2606.06742: 10,000 rows, 1,000 features, 10 folds x 50 values of C
  overlap   8,000 rows of 54 features, 3 classes that overlap, 6 x 6 candidates x 5 folds
  adult     a9a, 10 x 10 candidates x 5 folds
  growth    1,000 to 20,000 digits (with --full 60,000), 3 x 3 candidates x 5 folds: time and memory
  flat      memory over 10,000 fits in one process

Cases that are not named keep their figures in the file of results. Needs `pip install -r bench/svc/requirements.txt`,
Debian's libsvm-tools, $MOKUME_DATA, and for two of the peers the folders of programs built with
`cmake -DUSE_CUDA=OFF` (ThunderSVM 019bdea) and `cmake -DPLSSVM_ENABLE_OPENMP_BACKEND=ON` (PLSSVM 2cad0ac5).
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable

import numpy as np

import peer_data
import peer_programs as programs
from peer_programs import key

sys.path.insert(0, str(peer_data.ROOT / "bench/campaign"))
import campaign  # noqa: E402

CASES = ["ovr", "ovo", "clusters", "overlap", "adult", "growth", "flat"]


@dataclasses.dataclass
class Contestant:
    """Describes one program in one contest. go() fits `fits` of the `whole` fits of the grid."""
    name: str
    go: Callable[[], programs.Measurement]
    fits: int
    whole: int


def contest(title, contestants, options):
    """Lets all run in turn for some rounds. Returns a row of each, and the first measurements by name."""
    runs = {one.name: [] for one in contestants}
    for turn in range(options.rounds):
        for one in contestants[turn % len(contestants):] + contestants[:turn % len(contestants)]:
            before = runs[one.name]
            slow = before and before[0].seconds > options.once_above and not one.name.startswith("mokume")
            if slow or (before and before[0].failure):
                continue
            try:
                result = one.go()
            except programs.subprocess.TimeoutExpired:
                result = programs.Measurement(programs.LIMIT, 0, 0, 0, failure=f"longer than {programs.LIMIT} s")
            result.failure = re.sub(r"/\S*/", "", result.failure)  # removes paths of this machine
            before.append(result)
            print(f"{title}, {one.name}: {result.seconds:.1f} s, cpu {result.cpu:.1f} s for {one.fits} of {one.whole} "
                  f"fits, {result.peak_mb:.0f} MB, load {result.load:.1f}, others {result.others:.2f} {result.failure}",
                  flush=True)
    return [row_of(one, runs[one.name]) for one in contestants], {name: of[0] for name, of in runs.items()}


def row_of(one, runs):
    seconds = [run.seconds for run in runs]
    row = {"program": one.name, "fits": one.fits, "of": one.whole, "estimate": one.fits < one.whole,
           "seconds": [round(s, 2) for s in seconds], "median": round(statistics.median(seconds), 2),
           "whole": round(statistics.median(seconds) * one.whole / one.fits, 1),
           "whole_min": round(min(seconds) * one.whole / one.fits, 1),
           "whole_max": round(max(seconds) * one.whole / one.fits, 1),
           "cpu": [round(run.cpu, 1) for run in runs], "peak_mb": round(max(run.peak_mb for run in runs)),
           "load": [round(run.load, 2) for run in runs], "others": [round(run.others, 2) for run in runs]}
    failures = [run.failure for run in runs if run.failure]
    if failures:  # incomplete, so the time cannot be scaled
        row = {name: value for name, value in row.items() if not name.startswith(("median", "whole"))}
        row["failure"] = failures[0]
    return row


def agreement(ours, theirs):
    """Returns how the error counts of two programs agree on the fits that both have."""
    both = sorted(set(ours.errors) & set(theirs.errors))
    off = [(abs(ours.errors[fit] - theirs.errors[fit]), ours.unsure.get(fit, 0.0) > 0.02) for fit in both]
    return {"fits": len(off), "equal": sum(d == 0 for d, _ in off), "one or two off": sum(0 < d <= 2 for d, _ in off),
            "further off": sum(d > 2 for d, _ in off), "of these ill-determined": sum(d > 2 and u for d, u in off),
            "most": max((d for d, _ in off), default=0),
            "most, well-determined": max((d for d, u in off if not u), default=0),
            "fits further off": [f"{fit}: {ours.errors[fit]} and {theirs.errors[fit]}"
                                 for fit, (d, u) in zip(both, off) if d > 2 and not u][:20]}


def compared(rows, results, reference, sampled=None):
    """Adds to the rows how much longer each took than the reference, and how its errors agree with the reference's.

    `sampled` names mokume's run of only the cells that the peers fitted, for a ratio without scaling.
    """
    ours = next(row for row in rows if row["program"] == reference)
    part = next((row for row in rows if row["program"] == sampled), None)
    for row in rows:
        if row["program"] == reference or "failure" in row:
            continue
        row["ratio"] = round(row["whole"] / ours["whole"], 2)
        row["ratio_cpu"] = round(statistics.median(row["cpu"]) / row["fits"] * row["of"]
                                 / statistics.median(ours["cpu"]), 2)
        if part and row["estimate"] and row is not part and row["fits"] == part["fits"]:
            row["ratio_on_sample"] = round(row["median"] / part["median"], 2)
        row["agreement"] = agreement(results[reference], results[row["program"]])
        print(row["program"], "ratio", row["ratio"], row["ratio_cpu"], row.get("ratio_on_sample", ""), row["agreement"],
              flush=True)
    return rows


def of_peers(bench, work, multiclass, fits, whole, names):
    """Returns the named peers that are installed, as contestants that fit a list of [C, gamma, fold]."""
    return [Contestant(peer.name, lambda peer=peer: peer.fits(work, multiclass, fits), len(fits), whole)
            for peer in bench.peers if peer.name in names]


def grid_of_mokume(bench, mokume, work, multiclass, cs, gammas, name=None, **more):
    whole = len(cs) * len(gammas) * work.folds
    return Contestant(name or mokume.name,
                      lambda: mokume.grid(work, multiclass, bench.place(), cs, gammas, **more), whole, whole)


def mnist(bench, options, multiclass, names, devices):
    """Runs the published grid, or a small one, by mokume, and a sample of its cells by the peers and by mokume."""
    rows, n = (300, 6) if options.quick else (5000, 24)
    work = peer_data.digits(bench.folder, bench.mnist, rows)
    cs, gammas = np.logspace(-3, 6, n).tolist(), np.logspace(-6, -2, n).tolist()
    cells = [(cs[c], gammas[g]) for g in ([2, 4] if options.quick else [3, 9, 15, 21])
             for c in ([1, 4] if options.quick else [5, 17])]  # the middles of equal parts of the grid
    fits = [[c, g, fold] for c, g in cells for fold in range(work.folds)]
    whole, host = n * n * work.folds, bench.mokume[0]
    ran = [grid_of_mokume(bench, mokume, work, multiclass, cs, gammas) for mokume in bench.mokume[:devices]]
    ran.append(Contestant("mokume host, sample", lambda: host.cells(work, multiclass, bench.place(), cells), len(fits),
                          whole))
    ran += of_peers(bench, work, multiclass, fits, whole, names)
    return {"rows": rows, "features": work.features, "classes": 10, "grid": f"{n} x {n}", "folds": 5,
            "multiclass": multiclass, "sample": [key(c, g, 0)[:-2] for c, g in cells],
            "table": compared(*contest(f"mnist {multiclass}", ran, options), host.name, "mokume host, sample")}


def ovr(bench, options):
    return mnist(bench, options, "ovr", ["scikit-learn", "oneDAL fp64", "oneDAL fp32", "PLSSVM"], 2)


def ovo(bench, options):
    return mnist(bench, options, "ovo", [peer.name for peer in bench.peers], 1)


def dual_objective(gamma, coefficients, vectors):
    """Returns the dual objective that LIBSVM prints, from coefficients (alpha times sign) and support vectors."""
    wide = vectors.astype(float)
    squares = (wide ** 2).sum(1)
    kernel = np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * wide @ wide.T, 0))
    return float(coefficients @ kernel @ coefficients / 2 - np.abs(coefficients).sum())


def model_of(path, features):
    """Returns coefficients and support vectors of a LIBSVM model of two classes."""
    lines = path.read_text().partition("\nSV\n")[2].splitlines()
    vectors, coefficients = np.zeros((len(lines), features)), np.zeros(len(lines))
    for k, line in enumerate(lines):
        words = line.split()
        coefficients[k] = float(words[0])
        indices, values = zip(*(word.split(":") for word in words[1:]))
        vectors[k, np.array(indices, int) - 1] = np.array(values, float)
    return coefficients, vectors


def objectives(bench, work, gamma, cs):
    """Returns the dual objectives of mokume and LIBSVM after a fit of all rows, for some C."""
    libsvm = next((peer for peer in bench.peers if peer.name == "LIBSVM"), None)
    answer = []
    for c in cs:
        run = bench.mokume[0].run(work, "ovo", bench.place(), "none", {}, validation="folds = 0",
                                  options=f"C = {c!r}\ngamma = {gamma!r}")
        if run.failure:
            answer.append({"C": c, "failure": run.failure})
            continue
        ours = dual_objective(gamma, *model_of(run.folder / "models/best/model.libsvm", work.features))
        row = {"C": c, "mokume": ours, "seconds_mokume": round(run.seconds, 2)}
        if libsvm:
            start = time.perf_counter()
            words = programs.RBF.format(c=c, gamma=gamma, tol=programs.TOL).split()
            done = programs.run([libsvm.train, *words, "-m", "2000", work.text("all"), bench.folder / "model"])
            row["libsvm"] = float(re.findall(r"obj = (\S+),", done.stdout)[-1])
            row["seconds_libsvm"] = round(time.perf_counter() - start, 1)
            row["relative"] = abs(ours - row["libsvm"]) / abs(row["libsvm"])
        print("objective", row, flush=True)
        answer.append(row)
    return answer


def clusters(bench, options):
    rows, features, values = (400, 50, 10) if options.quick else (10000, 1000, 50)
    work, gamma = peer_data.clusters(bench.folder, rows, features, 10, seed=42)
    grids = {"lambda": (1 / (2 * rows * np.logspace(3, -3, values))).tolist(),  # values of the paper's program
             "C": np.logspace(-3, 3, values).tolist()}  # values of the paper's appendix
    answer = {"rows": rows, "features": features, "classes": 2, "folds": 10, "gamma": gamma,
              "published": {"TorchKM, one L40S": 37.7, "ThunderSVM, one L40S": 279.4, "scikit-learn": 14322.8}}
    for name, cs in grids.items():
        picked = [cs[values * k // 10] for k in (3, 5, 7, 9)]
        fits = [[c, gamma, fold] for fold, c in enumerate(picked)]
        ran = [grid_of_mokume(bench, mokume, work, "ovo", cs, [gamma]) for mokume in bench.mokume]
        ran += of_peers(bench, work, "ovo", fits, 10 * values, [peer.name for peer in bench.peers])
        answer[name] = compared(*contest(f"clusters {name}", ran, options), bench.mokume[0].name)
        answer[f"objectives {name}"] = objectives(bench, work, gamma, [picked[3]] + [picked[1]] * options.full)
    return answer


def overlap(bench, options):
    """Classes of which a seventh of the labels is wrong, so that most multipliers are free or at C."""
    from sklearn.datasets import make_classification
    rows, n = (600, 3) if options.quick else (8000, 6)
    x, y = make_classification(rows, 54, n_informative=12, n_redundant=10, n_classes=3, n_clusters_per_class=4,
                               class_sep=0.7, flip_y=0.15, random_state=3)
    work = peer_data.store("overlap", bench.folder, (x - x.mean(0)) / x.std(0), y, 5, "made by scikit-learn")
    cs, gammas = np.logspace(-1, 3, n).tolist(), np.logspace(-3, -0.5, n).tolist()
    fits = [[cs[c], gammas[g], (c + g) % 5] for g in range(0, n, 2) for c in range(1, n, 2)]
    ran = [grid_of_mokume(bench, mokume, work, "ovo", cs, gammas) for mokume in bench.mokume]
    ran += of_peers(bench, work, "ovo", fits, n * n * work.folds, [peer.name for peer in bench.peers])
    return {"rows": rows, "features": 54, "classes": 3, "grid": f"{n} x {n}", "folds": 5, "data": work.origin,
            "table": compared(*contest("overlap", ran, options), bench.mokume[0].name)}


def adult(bench, options):
    work = peer_data.adult(bench.folder, options.a9a, 600 if options.quick else 32561)
    n = 3 if options.quick else 10
    cs, gammas = (2.0 ** np.linspace(-5, 4, n)).tolist(), (2.0 ** np.linspace(-11, -2, n)).tolist()
    fits = [[cs[c], gammas[g], 0] for g in ([0, 2] if options.quick else [1, 3, 6, 8])
            for c in ([0, 2] if options.quick else [2, 7])]
    ran = [grid_of_mokume(bench, mokume, work, "ovo", cs, gammas, text=True) for mokume in bench.mokume]
    ran += of_peers(bench, work, "ovo", fits, n * n * work.folds,
                    [peer.name for peer in bench.peers if options.full or peer.name != "scikit-learn"])
    rows = compared(*contest("adult", ran, options), bench.mokume[0].name)
    return {"rows": work.rows, "features": work.features, "classes": 2, "folds": 5, "data": work.origin,
            "sample": [key(*fit) for fit in fits], "table": rows}


def growth(bench, options):
    sizes = [200, 400] if options.quick else [1000, 2000, 5000, 10000, 20000] + [60000] * options.full
    sizes = [rows for rows in sizes if rows <= options.rows]
    cs, answer = [0.1, 3.0, 100.0], []
    for rows in sizes:
        work = peer_data.digits(bench.folder, bench.mnist, rows)
        x = np.load(work.folder / "x.npy")
        scale = 1 / (work.features * float(x.var(dtype=float)))
        gammas = [scale / 5, scale, scale * 5]
        cells = [(c, g) for c in cs for g in gammas] if rows <= 2000 else zip(cs, gammas)
        fits = [[c, g, 0] for c, g in cells]
        ran = [grid_of_mokume(bench, mokume, work, "ovo", cs, gammas) for mokume in bench.mokume]
        names = [peer.name for peer in bench.peers if rows <= 20000]
        ran += of_peers(bench, work, "ovo", fits, len(cs) * len(gammas) * work.folds, names)
        answer.append({"rows": rows, "table": compared(*contest(f"growth {rows}", ran, options), bench.mokume[0].name)})
    return {"features": 784, "classes": 10, "folds": 5, "grid": "3 x 3", "sizes": answer}


def flat(bench, options):
    """Measures the resident memory of one process while it fits a tiny data set 10,000 times."""
    from sklearn.datasets import load_wine
    x, y = load_wine(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(y))
    x = ((x - x.mean(0)) / x.std(0))[order]
    work = peer_data.store("wine", bench.folder, x, y[order], 5, "scikit-learn's wine")
    n = (10, 10) if options.quick else (50, 40)
    cs, gammas = np.logspace(-2, 3, n[0]).tolist(), np.logspace(-4, 0, n[1]).tolist()
    answer = {}
    for mokume in bench.mokume:
        samples, over = [], threading.Event()

        def sample():
            while not over.wait(0.1):
                samples.append(sum(map(programs.resident, programs.descendants())) / 2**20)

        thread = threading.Thread(target=sample)
        thread.start()
        run = mokume.grid(work, "ovo", bench.place(), cs, gammas)
        over.set()
        thread.join()
        row = {"fits": len(run.errors), "seconds": round(run.seconds, 1), "peak_mb": round(run.peak_mb, 1)}
        parts = np.array_split([s for s in samples if s > 0], 10)
        row["median_mb_by_tenth"] = [round(float(np.median(part)), 1) for part in parts if len(part)]
        if run.failure:
            row["failure"] = run.failure
        answer[mokume.name] = row
        print(mokume.name, row, flush=True)
    return answer


class Bench:
    """Holds the programs and the places for files that all cases share."""

    def __init__(self, options, folder):
        self.folder = pathlib.Path(folder)
        self.mokume = [programs.Mokume(options.mokume.resolve(), devices) for devices in ("host", "pocl")]
        self.peers, self.missing = programs.peers(options.thundersvm, options.plssvm)
        self.peers = [peer for peer in self.peers if not options.peers or peer.name in options.peers.split(",")]
        self.mnist = pathlib.Path(os.environ.get("MOKUME_DATA", "")) / "mnist"

    def place(self):
        return pathlib.Path(tempfile.mkdtemp(dir=self.folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mokume", type=pathlib.Path, default=peer_data.ROOT / "build/release/bin/mokume")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--once-above", type=float, default=100, metavar="SECONDS")
    parser.add_argument("--rows", type=int, default=60000, help="growth: no more rows than these")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything works")
    parser.add_argument("--full", action="store_true", help="also 60,000 rows, and scikit-learn on a9a")
    parser.add_argument("--peers", default="", help="only these peers, e.g. LIBSVM,ThunderSVM")
    parser.add_argument("--thundersvm", default="", help="the folder of thundersvm-train and thundersvm-predict")
    parser.add_argument("--plssvm", default="", help="the folder of plssvm-train and plssvm-predict")
    parser.add_argument("--a9a", default="", help="the file a9a of LIBSVM's data page")
    parser.add_argument("--out", type=pathlib.Path, default=peer_data.ROOT / "bench/results/svc-peers.json")
    options = parser.parse_args()
    figures = json.loads(options.out.read_text()) if options.out.exists() else {}
    with tempfile.TemporaryDirectory(prefix="mokume-peers-") as folder:
        bench = Bench(options, folder)
        figures |= {"what": "SVC grid search against peers: seconds, peak memory and errors of the same folds",
                    **campaign.measured_here(options.out), "command": "bench/svc/peers.py", "tol": programs.TOL,
                    "versions": {one.name: one.version() for one in [bench.mokume[0], *bench.peers]},
                    "options": {peer.name: peer.options for peer in bench.peers if isinstance(peer, programs.Commands)},
                    "missing": bench.missing}
        for case in options.cases.split(","):
            command = f"bench/svc/peers.py --cases {case} --rounds {options.rounds}" + " --full" * options.full
            bench.folder = pathlib.Path(folder, case)
            bench.folder.mkdir()
            figures.setdefault("cases", {})[case] = {"date": time.strftime("%Y-%m-%d"), "command": command,
                                                     **globals()[case](bench, options)}
            options.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

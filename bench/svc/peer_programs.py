"""Runs mokume and its peers, which fit the same candidates on the same folds, and measures them with all processes."""
import concurrent.futures
import csv
import dataclasses
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

TOL = 1e-3
CORES = len(os.sched_getaffinity(0))
LIMIT = 540  # limit in seconds for a timed program
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclasses.dataclass
class Measurement:
    """Holds the results of one timed run, with each fit's errors and share of rows whose class tol leaves open."""
    seconds: float
    peak_mb: float
    load: float  # load average at the start
    others: float  # number of cores that other programs kept busy meanwhile
    cpu: float = 0.0  # processor seconds of all processes of the program, including its start
    errors: dict = dataclasses.field(default_factory=dict)
    unsure: dict = dataclasses.field(default_factory=dict)
    failure: str = ""
    folder: pathlib.Path | None = None


def descendants():
    """Returns the processes below this one."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parents.setdefault(int(file.read().rpartition(")")[2].split()[1]), []).append(int(entry))
            except OSError:
                pass  # the process has ended
    found, open_ones = [], [os.getpid()]
    while open_ones:
        children = parents.get(open_ones.pop(), [])
        found += children
        open_ones += children
    return found


def resident(process):
    """Returns the bytes of memory that a process holds now, or 0 if it has ended."""
    try:
        with open(f"/proc/{process}/statm") as file:
            return int(file.read().split()[1]) * PAGE
    except OSError:
        return 0


def busy_seconds():
    """Returns the processor seconds that the whole machine has spent, including those that other guests stole."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, soft, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


class Watch:
    """Times a block, and samples the memory of all processes that it starts."""

    def __enter__(self):
        self.peak, self.over, self.load = 0, threading.Event(), os.getloadavg()[0]
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()
        self.busy, self.own, self.start = busy_seconds(), os.times(), time.perf_counter()
        return self

    def sample(self):
        while not self.over.wait(0.05):
            self.peak = max(self.peak, sum(map(resident, descendants())))

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self.start
        now = os.times()
        self.cpu = sum(now[2:4]) - sum(self.own[2:4])
        own = sum(now[:4]) - sum(self.own[:4])
        self.others = max(0.0, busy_seconds() - self.busy - own) / self.seconds
        self.over.set()
        self.thread.join()

    def measurement(self, **more):
        return Measurement(**{"seconds": self.seconds, "peak_mb": self.peak / 2**20, "load": self.load,
                              "others": self.others, "cpu": self.cpu, **more})


def words_after(failed):
    """Returns the last line that a failed program printed."""
    output = (failed.stderr or "") + (failed.stdout or "")
    return (output.strip().splitlines() or [f"ended with {failed.returncode}"])[-1]


def run(command):
    """Runs a program to its end, or kills it at the limit, with all processes that it started."""
    command = [str(word) for word in command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        try:
            output, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


EXPERIMENT = """
name = "peers"
model = "svc"
[data]
{data}
[validation]
{validation}
[search]
method = "{method}"
{params}
[model_options]
multiclass = "{multiclass}"
tol = {tol}
{options}
"""


class Mokume:
    """Runs mokume in a fresh directory. The time is that of the whole process, with the refit and the report."""

    def __init__(self, program, devices):
        self.program, self.devices, self.name = program, devices, f"mokume {devices}"

    def version(self):
        return run([self.program, "--version"]).stdout.strip()

    def run(self, work, multiclass, place, method, params, validation=None, options="", text=False):
        """Runs a search with params, {name: list of values}. The run's directory stays in `place`."""
        place.mkdir(parents=True, exist_ok=True)
        data = ('source = "libsvm"\npath = "%s"' % work.text("all") if text else
                'source = "npy"\npath = "{0}/x.npy"\nlabels = "{0}/y.npy"'.format(work.folder))
        table = "[search.params]\n" + "\n".join(f"{k} = {list(map(float, v))}" for k, v in params.items())
        file = place / "e.toml"
        file.write_text(EXPERIMENT.format(
            data=data, method=method, params=table if params else "", multiclass=multiclass, tol=TOL, options=options,
            validation=validation or f'folds = {work.folds}\nfile = "{work.folder}/folds.npy"'))
        with Watch() as watch:
            done = run([self.program, "run", file, "--devices", self.devices, "--quiet", "--fresh", "--out", place])
        folder = max(path for path in (place / "peers").iterdir() if path.is_dir()) if done.returncode == 0 else None
        result = watch.measurement(failure="" if folder else words_after(done), folder=folder)
        if folder and params:
            read_results(folder, result)
        return result

    def grid(self, work, multiclass, place, cs, gammas, **more):
        return self.run(work, multiclass, place, "grid", {"C": cs, "gamma": gammas}, **more)

    def cells(self, work, multiclass, place, cells, **more):
        """Runs only some cells of a grid."""
        return self.run(work, multiclass, place, "list", {"C": [c for c, _ in cells], "gamma": [g for _, g in cells]},
                        **more)


def read_results(folder, result):
    """Takes the errors of all fits, and the rows that their notes call unsure, from a run directory."""
    unsure = {}
    for line in (folder / "journal/node-0000.ndjson").read_text().splitlines():
        record = json.loads(line)
        found = re.search(r"\bunsure=(\d+)", record.get("note", ""))
        if "fit" in record and found:
            unsure[record["fit"]] = int(found[1]) / record["n"]
    with open(folder / "results.csv") as file:
        for k, row in enumerate(csv.DictReader(file)):
            fit = key(row["C"], row["gamma"], row["fold"])
            if row["status"] not in ("ok", "copied"):
                result.failure = f"{fit}: {row['status']}"
            result.errors[fit] = int(row["errors"])
            result.unsure[fit] = unsure.get(k, 0.0)


def key(c, gamma, fold):
    """Returns a fit's name, which is the same for all programs, however they print numbers."""
    return f"{float(c):.9g} {float(gamma):.9g} {int(fold)}"


class Estimator:
    """Runs scikit-learn or oneDAL, in a process that fits on all cores as GridSearchCV does, one fit on each."""

    def __init__(self, name):
        self.name = name

    def version(self):
        package = "scikit-learn" if self.name == "scikit-learn" else "scikit-learn-intelex"
        return f"{package} {importlib.metadata.version(package)}"

    def fits(self, work, multiclass, fits):
        with tempfile.TemporaryDirectory() as folder:
            job = {"peer": self.name, "folder": str(work.folder), "multiclass": multiclass, "tol": TOL, "fits": fits,
                   "processes": CORES, "out": f"{folder}/out.json"}
            pathlib.Path(folder, "job.json").write_text(json.dumps(job))
            with Watch() as watch:
                done = run([sys.executable, pathlib.Path(__file__).with_name("peer_worker.py"), f"{folder}/job.json"])
            if done.returncode:
                return watch.measurement(failure=words_after(done))
            answer = json.loads(pathlib.Path(folder, "out.json").read_text())
        return watch.measurement(seconds=answer["seconds"],
                                 errors={key(*fit): n for fit, n in zip(fits, answer["errors"])})


class Commands:
    """Runs a peer that has two programs, which train on a LIBSVM file and predict another one.

    `side_by_side` fits run at a time. The time is that of the programs, including reading their files.
    """

    def __init__(self, name, folder, train, predict, options, side_by_side, release=""):
        self.name, self.options, self.side_by_side, self.release = name, options, side_by_side, release
        self.train, self.predict = (shutil.which(str(pathlib.Path(folder, word)) if folder else word)
                                    for word in (train, predict))

    def version(self):
        return self.release

    def one(self, work, multiclass, fit, folder):
        c, gamma, fold = fit
        model, answers = f"{folder}/{id(fit)}.model", f"{folder}/{id(fit)}.answers"
        options = self.options.format(c=c, gamma=gamma, tol=TOL, multiclass={"ovo": "oao", "ovr": "oaa"}[multiclass])
        done = run([self.train, *options.split(), work.text(f"train-{fold}"), model])
        if done.returncode == 0:
            done = run([self.predict, work.text(f"test-{fold}"), model, answers])
        if done.returncode:
            raise RuntimeError(words_after(done))
        truth = np.load(work.folder / "y.npy")[work.rows_of(fold)[1]]
        return int((np.loadtxt(answers) != truth).sum())

    def fits(self, work, multiclass, fits):
        for fold in {fit[2] for fit in fits}:
            work.text(f"train-{fold}"), work.text(f"test-{fold}")
        with tempfile.TemporaryDirectory() as folder, Watch() as watch:
            try:
                with concurrent.futures.ThreadPoolExecutor(self.side_by_side) as pool:
                    counts = list(pool.map(lambda fit: self.one(work, multiclass, fit, folder), fits))
                failure = ""
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                counts, failure = [], str(error)
        return watch.measurement(errors={key(*fit): n for fit, n in zip(fits, counts)}, failure=failure)


RBF = "-t 2 -c {c!r} -g {gamma!r} -e {tol!r} "


def peers(thundersvm, plssvm):
    """Returns all installed peers, and the reasons why others are missing."""
    here, missing = [], {}
    for name, package in (("scikit-learn", "sklearn"), ("oneDAL fp64", "sklearnex"), ("oneDAL fp32", "sklearnex")):
        if importlib.util.find_spec(package):
            here.append(Estimator(name))
        else:
            missing[name] = f"the Python package {package} is not installed"
    for peer, why in (
            (Commands("LIBSVM", "", "svm-train", "svm-predict", RBF + "-q", CORES, "Debian's package libsvm-tools"),
             "svm-train is not installed (Debian: libsvm-tools)"),
            (Commands("ThunderSVM", thundersvm, "thundersvm-train", "thundersvm-predict", RBF + f"-o {CORES} -q", 1,
                      "commit 019bdea, CPU, Eigen 3.4"),
             "not built; the newest commit does not link without CUDA, 019bdea does. --thundersvm names its folder"),
            (Commands("PLSSVM", plssvm, "plssvm-train", "plssvm-predict", RBF + "-b openmp -a {multiclass} --quiet", 1,
                      "commit 2cad0ac5, OpenMP"), "not built; --plssvm names the folder of its programs")):
        if peer.train and peer.predict:
            here.append(peer)
        else:
            missing[peer.name] = why
    return here, missing

#!/usr/bin/env python3
"""Kills processes of real runs at random moments, and checks whether anything was lost.

    bench/campaign/campaign.py [--runs 200] [--seed 1] [--out bench/results/campaign.json]

Every run is `mokume run` of a small SVC grid under mpirun on 2 to 4 ranks, with MPI over shared memory or over TCP on
loopback, with and without --enable-recovery. The script kills one process with SIGKILL at a random moment: a rank, rank
0, or, if devices have processes of their own, the process of a device. It then checks the following:

* no run takes longer than --limit seconds, which counts as a hang. If mpirun remains after every process of the run
  has exited, one of them killed inside MPI_Init, Open MPI is at fault (docs/adr/0012): the script kills mpirun after
  some seconds, and counts this separately;
* the run completes in spite of a killed device, and, with --enable-recovery, of a killed rank that had joined the run,
  rank 0 included;
* after any other death, the same command, on another number of ranks, completes the run and exits with 0;
* results.csv is byte-identical to that of an undisturbed run on one rank, and no two lines of the journals disagree;
* no process of the run is left.

With --enable-recovery, mpirun's own exit code is always 0, so run.json shows whether a run is complete. Run k of seed s
is always the same case (--only k repeats it); the exact moment depends on the machine. Exits with 1 if any check fails.
Needs Open MPI 4.1 and a build with the preset `release` or `bench`.
"""
import argparse
import collections
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NETWORKS = {"shared memory": [], "tcp": ["--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"]}
EXPERIMENT = """name = "campaign"
model = "svc"
seed = 7
[data]
source = "digits"
limit = {digits}
standardize = {{ mean = 127.5, scale = 73.61 }}
[validation]
folds = 3
[search]
method = "grid"
[search.params]
C = {{ log10 = [-1, 4], n = 6 }}
gamma = [0.0005, 0.001, 0.002, 0.005, 0.01]
"""
FITS = 6 * 5 * 3
LAUNCHER_PATIENCE_S = 15  # mpirun exits within milliseconds of its last process, or never


class Process:
    """Holds the information in /proc about one process."""

    def __init__(self, pid):
        self.pid = pid
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
        self.state, self.parent = fields[0], int(fields[1])
        self.directory = os.readlink(f"/proc/{pid}/cwd")

    def rank(self):
        with open(f"/proc/{self.pid}/environ", "rb") as f:
            for entry in f.read().split(b"\0"):
                if entry.startswith(b"OMPI_COMM_WORLD_RANK="):
                    return int(entry.partition(b"=")[2])
        return None


def processes():
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                found.append(Process(int(name)))
            except OSError:
                pass  # the process has exited
    return [p for p in found if p.state not in "ZX"]


class Job:
    """Runs one `mokume run` in its own directory."""

    def __init__(self, args, folder, ranks, network, recovery, isolation):
        self.folder = os.path.realpath(folder)
        self.program = os.path.join(args.build, "bin", "mokume")
        command = [self.program, "run", "e.toml", "--devices", args.devices]
        if isolation:
            command += ["--set", "devices.isolation=process"]
        self.launched = ranks > 0
        if self.launched:
            command = (["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] + NETWORKS[network]
                       + (["--enable-recovery"] if recovery else []) + command)
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           MOKUME_MPI_START_S="20")
        self.log = open(os.path.join(folder, "output.txt"), "ab")
        self.started = time.monotonic()
        self.child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                      stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True)

    def members(self):
        """Returns every process of the run except mpirun itself. All of them work in the run's directory."""
        return [p for p in processes() if p.directory == self.folder and p.pid != self.child.pid]

    def rank(self, number):
        for p in self.members():
            try:
                if p.rank() == number and os.path.samefile(f"/proc/{p.pid}/exe", self.program):
                    return p.pid
            except OSError:
                pass
        return None

    def device_of(self, number):
        parent = self.rank(number)
        return next((p.pid for p in self.members() if p.parent == parent), None) if parent else None

    def kill(self, victim, number, deadline):
        """Kills the victim once it exists, and returns whether it did so."""
        while self.child.poll() is None and time.monotonic() < deadline:
            pid = self.device_of(number) if victim == "device" else self.rank(number)
            if pid is not None:
                try:
                    os.kill(pid, signal.SIGKILL)
                    return True
                except OSError:
                    return False
            time.sleep(0.002)
        return False

    seen = None  # last time at which a process existed

    def is_alive(self, now):
        alive = bool(self.members())
        if alive:
            self.seen = now
        return alive

    def wait(self, limit):
        """Returns the exit code, None if a process of the run hangs, or "launcher" if only mpirun hangs."""
        while True:
            try:
                return self.child.wait(0.05)
            except subprocess.TimeoutExpired:
                now = time.monotonic()
            if self.is_alive(now):
                pass
            elif self.launched and self.seen is not None and now - self.seen > LAUNCHER_PATIENCE_S:
                self.child.kill()
                self.child.wait()
                return "launcher"
            if now - self.started > limit:
                return None

    def end(self, limit):
        """Returns the result of wait(), the number of processes that outlive the run, and the seconds of the run."""
        code = self.wait(limit)
        deadline = time.monotonic() + 2  # the last processes may be about to exit
        while code is not None and self.members() and time.monotonic() < deadline:
            time.sleep(0.02)
        left = self.members()
        for p in left + ([self.child] if code is None else []):
            try:
                os.kill(p.pid, signal.SIGKILL)
            except OSError:
                pass
        self.child.wait()
        self.log.close()
        return code, 0 if code is None else len(left), time.monotonic() - self.started


def results_at(pattern):
    paths = glob.glob(pattern)
    if len(paths) != 1:
        return None
    with open(paths[0], "rb") as f:
        return f.read()


def complete_at(pattern):
    for path in glob.glob(pattern):
        with open(path) as f:
            if json.load(f)["state"] == "done":
                return True
    return False


def results(folder):
    return results_at(os.path.join(folder, "runs/campaign/*/results.csv"))


def complete(folder):
    return complete_at(os.path.join(folder, "runs/campaign/*/run.json"))


def journals_agree(folder):
    """Checks that every fit and the refit are there, and that all lines of a fit agree."""
    said = collections.defaultdict(set)
    for path in glob.glob(os.path.join(folder, "runs/campaign/*/journal/node-*.ndjson")):
        with open(path, "rb") as f:
            for line in f.read().split(b"\n")[:-1]:  # text after the last newline was torn off
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # a later session has closed a torn line
                if "fit" in record and "values" in record:
                    said[record["fit"]].add(json.dumps([record["status"], record["n"], record["values"]]))
    return len(said) == FITS + 1 and all(len(texts) == 1 for texts in said.values())


ISAS = {"avx512": "AVX-512", "avx2": "AVX2", "base": "SSE2"}  # by the values of MOKUME_ISA


def instruction_set(cpuinfo):
    """Returns the instruction set that mokume's host code uses: the processor's, or less if MOKUME_ISA says so."""
    flags = {flag for line in cpuinfo if line.startswith("flags") for flag in line.partition(":")[2].split()}
    if not flags:
        return os.uname().machine
    has = ["avx512"] * ({"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags) + ["avx2"] * ({"avx2", "fma"} <= flags)
    order = list(ISAS)
    return ISAS[max([*has, "base"][0], os.environ.get("MOKUME_ISA") or "avx512", key=order.index)]


HIDDEN = {"avx512": "", "avx2": "avx512", "base": "avx,fma,f16c,xop"}  # from PoCL


def environment_for(isa, build, device, cache):
    """Returns an environment in which mokume uses no newer instructions than `isa`. MOKUME_ISA limits the host. PoCL
    takes the processor for an older one when older_cpu.so of the tests hides instructions from it, so the build needs
    the tests, and gets a folder of `cache` for its programs."""
    changed = dict(os.environ, MOKUME_ISA=isa)
    if device == "pocl" and HIDDEN[isa]:
        changed.update(LD_PRELOAD="older_cpu.so", LD_LIBRARY_PATH=os.path.join(build, "lib"), OLDER_CPU=HIDDEN[isa],
                       XDG_CACHE_HOME=os.path.join(cache, isa))
    return changed


def measured_here(stored=None):
    """Describes the machine and the date for a file of results. Says if the file `stored` comes from another machine."""
    with open("/proc/cpuinfo") as f:
        cpuinfo = f.readlines()
    facts = {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in cpuinfo if ":" in line}
    # Virtual machines hide the name of the model, but not its family: 25 is Zen 3 or 4, 26 is Zen 5.
    family = f" family {facts['cpu family']} model {facts['model']}" if "cpu family" in facts else ""
    here = {"machine": f"{facts.get('model name', 'unknown')}{family}, {os.cpu_count()} cores",
            "isa": instruction_set(cpuinfo)}
    if stored is not None and os.path.exists(stored):
        with open(stored) as f:
            there = json.load(f)
        if any(there.get(key) != value for key, value in here.items()):
            print(f"note: this is {here['machine']} with {here['isa']}; the figures in {stored} come from "
                  f"{there.get('machine', 'an unknown machine')} with {there.get('isa', 'an unknown instruction set')}",
                  file=sys.stderr)
    return {"date": time.strftime("%Y-%m-%d"), **here}


def write_experiment(folder, digits):
    with open(os.path.join(folder, "e.toml"), "w") as f:
        f.write(EXPERIMENT.format(digits=digits))


def undisturbed(args, ranks, isolation=False):
    """Returns results.csv and the seconds of an undisturbed run. With 0 ranks, the run does without mpirun."""
    with tempfile.TemporaryDirectory(prefix="mokume-campaign-") as folder:
        write_experiment(folder, args.digits)
        code, _, seconds = Job(args, folder, ranks, "shared memory", False, isolation).end(args.limit)
        if code != 0:
            with open(os.path.join(folder, "output.txt"), errors="replace") as f:
                raise SystemExit(f"the undisturbed run on {ranks} ranks failed ({code}):\n{f.read()[-2000:]}")
        return results(folder), seconds


class Case:
    """Holds the case of run k of a seed, which is a pure function of both."""

    def __init__(self, seed, k, victims):
        draw = random.Random(f"{seed}/{k}")
        self.victim = victims[k % len(victims)]
        self.network = list(NETWORKS)[k // len(victims) % 2]
        self.ranks = draw.choice([2, 3, 4])
        self.ranks_again = draw.choice([0, 1, 2, 3, 4])
        self.recovery = self.victim == "device" or draw.random() < 0.75
        self.number = draw.randrange(1, self.ranks) if self.victim == "rank" else 0
        if self.victim == "device":
            self.number = draw.randrange(self.ranks)
        self.moment = draw.random()

    def text(self):
        return (f"{self.victim} {self.number} of {self.ranks} at {self.moment:.2f}, {self.network}"
                f"{', recovery' if self.recovery else ''}")


def play(args, case, seconds, expected):
    """Plays a run in which a process is killed, and another run if the first one is not complete. Returns a dictionary
    of the outcome, whose "faults" may be empty."""
    folder = tempfile.mkdtemp(prefix="mokume-campaign-")
    write_experiment(folder, args.digits)
    isolation = case.victim == "device"
    job = Job(args, folder, case.ranks, case.network, case.recovery, isolation)
    time.sleep(case.moment * seconds)
    killed = job.kill(case.victim, case.number, job.started + args.limit)
    joined = bool(glob.glob(os.path.join(folder, f"runs/campaign/*/journal/node-{case.number:04}.ndjson")))
    code, left, took = job.end(args.limit)
    faults = []
    if code is None:
        faults.append("hang")
    if code == "launcher" and (joined or not killed):
        faults.append("mpirun hangs, though nobody died inside MPI_Init")
    if left:
        faults.append(f"{left} processes left")
    survives = case.victim == "device" or case.recovery
    first = complete(folder)
    # A device may die before its rank has joined. In this case, the rank starts another process for the device.
    if not first and (not killed or case.victim == "device" or (joined and survives)):
        faults.append(f"not complete, exit code {code}" + ("" if killed else ", though nobody was killed"))
    again = None
    if not first:
        again, left, _ = Job(args, folder, case.ranks_again, case.network, False, isolation).end(args.limit)
        if again != 0 or not complete(folder):
            faults.append("hang of the second run" if again is None else f"exit code {again} of the second run")
        if left:
            faults.append(f"{left} processes left by the second run")
    if results(folder) != expected:
        faults.append("results.csv differs")
    if not journals_agree(folder):
        faults.append("the journals lack a fit or disagree")
    if faults and args.keep:
        print(f"  kept: {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder)
    return {"killed": killed, "complete": first, "code": code, "again": again, "seconds": took, "faults": faults,
            "launcher_hangs": int(code == "launcher")}


def summary(args, outcomes):
    groups = collections.defaultdict(list)
    for case, outcome in outcomes:
        groups[case.victim, case.network, case.recovery].append(outcome)
    table = []
    for (victim, network, recovery), played in sorted(groups.items()):
        table.append({
            "victim": victim, "network": network, "recovery": recovery, "runs": len(played),
            "killed": sum(o["killed"] for o in played),
            "complete": sum(o["complete"] for o in played),
            "complete_on_the_second_run": sum(o["again"] == 0 for o in played),
            "hangs": sum("hang" in fault for o in played for fault in o["faults"]),
            "launcher_hangs": sum(o["launcher_hangs"] for o in played),
            "faults": sum(bool(o["faults"]) for o in played),
            "longest_s": round(max(o["seconds"] for o in played), 1),
        })
    return {
        **measured_here(),
        "what": "runs of a 6 x 5 x 3 SVC grid on digits with one process killed at a random moment",
        "command": f"bench/campaign/campaign.py --runs {args.runs} --seed {args.seed}",
        "runs": len(outcomes), "seed": args.seed,
        "faulty": [{"run": k, "case": case.text(), "faults": o["faults"]}
                   for k, (case, o) in enumerate(outcomes) if o["faults"]],
        "groups": table,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="play this run of the seed alone")
    parser.add_argument("--victims", help="comma list of rank, coordinator, device (default: all that there are)")
    parser.add_argument("--devices", default="host")
    parser.add_argument("--digits", type=int, default=2000, help="training rows, which set how long a run takes")
    parser.add_argument("--limit", type=float, default=60, help="seconds after which a run hangs")
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--keep", action="store_true", help="keep the directories of runs that fail")
    parser.add_argument("--out", help="write the figures as JSON")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    if shutil.which("mpirun") is None:
        print("there is no mpirun here (package openmpi-bin)", file=sys.stderr)
        return 77  # tells ctest that the test was skipped

    victims = args.victims.split(",") if args.victims else ["rank", "coordinator"]
    if not args.victims:
        schema = subprocess.run([os.path.join(args.build, "bin", "mokume"), "schema"], capture_output=True, text=True)
        if "isolation" in schema.stdout:
            victims.append("device")

    expected, alone = undisturbed(args, 0)
    print(f"undisturbed: {alone:.1f} s alone", file=sys.stderr)
    seconds = {}
    outcomes = []
    for k in [args.only] if args.only is not None else range(args.runs):
        case = Case(args.seed, k, victims)
        kind = case.victim == "device", case.ranks
        if kind not in seconds:
            seconds[kind] = undisturbed(args, case.ranks, case.victim == "device")[1]
            print(f"undisturbed: {seconds[kind]:.1f} s on {case.ranks} ranks"
                  + ", devices in processes of their own" * (case.victim == "device"), file=sys.stderr)
        outcome = play(args, case, seconds[kind], expected)
        outcomes.append((case, outcome))
        end = "complete" if outcome["complete"] else f"{outcome['code']}, then {outcome['again']}"
        print(f"{k}: {case.text()}: {end} in {outcome['seconds']:.1f} s{' (too late)' * (not outcome['killed'])}"
              f" {'; '.join(outcome['faults'])}", file=sys.stderr, flush=True)
    figures = summary(args, outcomes)
    if args.out:
        with open(args.out, "w") as f:
            json.dump(figures, f, indent=1)
            f.write("\n")
    else:
        print(json.dumps(figures, indent=1))
    return 1 if figures["faulty"] else 0


if __name__ == "__main__":
    sys.exit(main())

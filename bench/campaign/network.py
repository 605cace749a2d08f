#!/usr/bin/env python3
"""Runs mokume on several hosts whose network, disk and processes misbehave, and checks that nothing is lost.

    bench/campaign/network.py [--runs 100] [--seed 1] [--out bench/results/campaign-network.json]

Every run is `mokume run` of a small SVC grid under mpirun on 2 to 4 hosts, which are network namespaces on a switch in
user space (switch.py). The seed draws loss (up to 10 %), delay and jitter (which reorders), and one trouble at a random
moment:

    cut     a host's network is cut, for seconds or for good
    freeze  a rank is stopped (SIGSTOP) for up to 100 s
    kill    a rank is killed
    full    the file system of the run is full for a while
    none    only loss, delay and jitter

The script checks that no start takes longer than --limit seconds, that the same command completes the run in at most
three further starts on a good network, that results.csv is byte-identical to that of an undisturbed run, and that no
process is left. Needs root, Open MPI and a build with the preset `release`.
"""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import campaign
from switch import Switch

TROUBLES = ["cut", "freeze", "kill", "full", "none"]
DISK_MB = 64


class Case:
    """Holds the case of run k of a seed, which is a pure function of both."""

    def __init__(self, seed, k):
        draw = random.Random(f"network/{seed}/{k}")
        self.trouble = TROUBLES[k % len(TROUBLES)]
        self.hosts = draw.choice([2, 3, 4])
        self.isolation = draw.random() < 0.5
        self.loss = draw.choice([0, 0, 0.01, 0.1])
        self.delay = draw.choice([0, 0.001, 0.02])
        self.jitter = draw.choice([0, 0.001, 0.01])
        self.moment = draw.random()
        self.victim = draw.randrange(self.hosts)
        self.seconds = draw.choice([3, 15, 45, 100])
        if self.trouble == "cut" and draw.random() < 0.3:
            self.seconds = 3600

    def text(self):
        return (f"{self.trouble} {self.victim} of {self.hosts} for {self.seconds} s at {self.moment:.2f}, "
                f"loss {self.loss}, delay {self.delay}+{self.jitter} s{', devices apart' * self.isolation}")


class NetworkJob(campaign.Job):
    """Runs `mokume run` under mpirun, with one rank per host."""

    def __init__(self, args, folder, switch, hosts, isolation):
        self.folder = os.path.realpath(folder)
        self.program = os.path.join(args.build, "bin", "mokume")
        self.launched = True
        agent = os.path.join(folder, "agent")
        with open(agent, "w") as f:  # mpirun starts the daemons of the other hosts with this file instead of ssh
            f.write(f'#!/bin/sh\nhost=$1; shift\nexec ip netns exec {switch.names[0][:-2]}-$((${{host##*.}} - 1)) '
                    f'sh -c "cd {self.folder} && $*"\n')
        os.chmod(agent, 0o755)
        net = "10.77.0.0/24"
        command = ["mpirun", "--host", ",".join(switch.addresses[:hosts]), "-np", str(hosts), "--bind-to", "none",
                   "--mca", "plm_rsh_agent", agent, "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", net,
                   "--mca", "oob_tcp_if_include", net, "--enable-recovery", self.program, "run", "e.toml", "--devices",
                   args.devices, "--out", "disk/runs"]
        if isolation:
            command += ["--set", "devices.isolation=process"]
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           MOKUME_MPI_START_S="60")
        self.log = open(os.path.join(folder, "output.txt"), "ab")
        self.started = time.monotonic()
        self.child = subprocess.Popen(switch.command(0, command), cwd=folder, env=environment,
                                      stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
                                      start_new_session=True)

    def members(self):
        """Returns the ranks and their devices. mpirun and its daemons work in the directory, too."""
        return [p for p in super().members() if self.is_ours(p.pid)]

    def end(self, limit):
        result = super().end(limit)
        for p in processes_in(self.folder):  # daemons that Open MPI leaves running
            try:
                os.kill(p.pid, signal.SIGKILL)
            except OSError:
                pass
        return result

    def is_ours(self, pid):
        try:
            return os.path.samefile(f"/proc/{pid}/exe", self.program)
        except OSError:
            return False


def processes_in(folder):
    return [p for p in campaign.processes() if p.directory == os.path.realpath(folder)]


def mounted(folder):
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", disk], check=True)
    return disk


def fill(disk):
    """Fills a file system with a file, and returns its path. Removing the file frees the space."""
    path = os.path.join(disk, "ballast")
    with open(path, "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"\0" * (1 << 16))
        except OSError:
            pass
    return path


def make_trouble(case, job, switch, disk):
    """Starts the disturbance, and returns a function that ends it."""
    pid = job.rank(case.victim)
    if case.trouble == "cut":
        switch.cut(case.victim, case.seconds)
    elif case.trouble == "full":
        path = fill(disk)
        return lambda: os.path.exists(path) and os.remove(path)
    elif pid is not None and case.trouble in ("freeze", "kill"):
        os.kill(pid, signal.SIGSTOP if case.trouble == "freeze" else signal.SIGKILL)
        if case.trouble == "freeze":
            return lambda: os.kill(pid, signal.SIGCONT)
    return lambda: None


def results(folder):
    return campaign.results_at(os.path.join(folder, "disk/runs/campaign/*/results.csv"))


def first_start(args, case, folder, disk, switch, seconds):
    switch.loss, switch.delay, switch.jitter = case.loss, case.delay, case.jitter
    job = NetworkJob(args, folder, switch, case.hosts, case.isolation)
    time.sleep(case.moment * seconds)
    relieve = make_trouble(case, job, switch, disk)
    deadline = time.monotonic() + min(case.seconds, 100)
    while job.child.poll() is None and time.monotonic() < deadline and (job.is_alive(time.monotonic()) or not job.seen):
        time.sleep(0.1)
    try:
        relieve()
    except OSError:
        pass  # the process has exited
    return job.end(args.limit)


def play(args, case, seconds, expected):
    folder = tempfile.mkdtemp(prefix="mokume-network-")
    disk = mounted(folder)
    campaign.write_experiment(folder, args.digits)
    switch = Switch(4, f"{args.seed}/{case.text()}")
    faults, starts = [], 1
    try:
        code, left, took = first_start(args, case, folder, disk, switch, seconds)
        if code is None:
            faults.append("hang")
        switch.loss = switch.delay = switch.jitter = 0
        switch.cut_until = [0.0] * 4
        while not campaign.complete_at(os.path.join(folder, "disk/runs/campaign/*/run.json")) and starts < 4:
            starts += 1
            again, more, _ = NetworkJob(args, folder, switch, case.hosts, case.isolation).end(args.limit)
            left += more
            if again is None:
                faults.append(f"hang of start {starts}")
        if left:
            faults.append(f"{left} processes left")
        if results(folder) != expected:
            faults.append("results.csv differs, or is not there")
        return {"starts": starts, "code": code, "seconds": took, "faults": faults, **switch.counts}
    finally:
        switch.close()
        subprocess.run(["umount", "-l", disk], check=False)
        if faults and args.keep:
            print(f"  kept: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="play this run of the seed alone")
    parser.add_argument("--devices", default="host")
    parser.add_argument("--digits", type=int, default=2000)
    parser.add_argument("--limit", type=float, default=300, help="seconds after which a start hangs")
    parser.add_argument("--build", default=os.path.join(campaign.ROOT, "build/release"))
    parser.add_argument("--keep", action="store_true", help="keep the directories of runs that fail (not their disks)")
    parser.add_argument("--out", help="write the figures as JSON")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    expected, alone = campaign.undisturbed(args, 0)
    outcomes = []
    for k in [args.only] if args.only is not None else range(args.runs):
        case = Case(args.seed, k)
        outcome = play(args, case, 2 * alone, expected)
        outcomes.append((case, outcome))
        print(f"{k}: {case.text()}: exit code {outcome['code']} after {outcome['seconds']:.1f} s, {outcome['starts']} "
              f"starts {'; '.join(outcome['faults'])}", file=sys.stderr, flush=True)
        if args.out:
            write(args, outcomes)
    return 1 if any(o["faults"] for _, o in outcomes) else 0


def write(args, outcomes):
    def total(what):
        return sum(o[what] for _, o in outcomes)

    figures = {
        **campaign.measured_here(),
        "what": "runs on hosts whose network, disk and processes misbehave",
        "command": f"bench/campaign/network.py --runs {len(outcomes)} --seed {args.seed} --digits {args.digits}",
        "runs": len(outcomes), "starts": total("starts"), "frames": total("frames"), "lost": total("lost"),
        "cut": total("cut"), "longest_s": round(max(o["seconds"] for _, o in outcomes), 1),
        "troubles": {t: sum(c.trouble == t for c, _ in outcomes) for t in TROUBLES},
        "faulty": [{"run": k, "case": c.text(), "faults": o["faults"]}
                   for k, (c, o) in enumerate(outcomes) if o["faults"]],
    }
    with open(args.out, "w") as f:
        json.dump(figures, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    sys.exit(main())

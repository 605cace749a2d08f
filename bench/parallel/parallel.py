#!/usr/bin/env python3
"""Measures the training of one network on several ranks, alternating with one rank alone on one core.

    python3 bench/parallel/parallel.py speed [--rounds 3] [--out FILE]
        trains the Lightning network on generated pictures at batch 128 for each rank, and measures images per second:
        one rank on one core, and two ranks with a core each (synchronous, and averaged every 16 batches)
    python3 bench/parallel/parallel.py unequal [--rounds 3] [--out FILE]
        trains the same network at a batch of 128 on PoCL and the host device, one core each, in one process, and
        compares the speed with the sum of the two alone on a core
    python3 bench/parallel/parallel.py throttled [--rounds 3] [--out FILE]
        trains the same network at a batch of 256 in 32 shards on two ranks, PoCL with one core each, of which the
        second may use a quarter (a quota that needs root and cgroup v1 or v2), and compares the speed with both alone
    python3 bench/parallel/parallel.py reduce [--rounds 3] [--ranks 2 4] [--out FILE]
        measures for fully connected networks of growing size, at batch 16 for each rank, how much longer a step takes
        in a team than alone, and the same for PyTorch's DistributedDataParallel over gloo (needs torch)
    python3 bench/parallel/parallel.py roads [--rounds 3] [--ranks 2 4] [--out FILE]
        trains the guide's network, Lightning's and ResNet-8 on ranks that share the cores evenly, at batch 128 for each
        rank, with sums over MPI and over sockets ([devices] sums), and compares both with as many images on one rank,
        and with PyTorch's DistributedDataParallel over gloo (needs torch)

    python3 bench/parallel/parallel.py splits [--rounds 3] [--out FILE]
        trains the Lightning network and a wide one on two ranks with a core each, at batch 128 in 8 shards, split by
        batch, by states and by layers ([devices] split), and compares with one rank on one core, and with PyTorch's
        pipeline (needs torch)

Times are those of training in the journal, without loading the data. Each run trains for a while and then for twice as
long. The difference counts, so that one-time costs drop out (kernels, the first split, the test).
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LAYERS = "[[model_options.layers]]"


def layers_of(config):
    return LAYERS + (ROOT / "configs" / config).read_text().split(LAYERS, 1)[1]


LIGHTNING, GUIDE = layers_of("cnn-lightning-mnist.toml"), layers_of("cnn-guide-mnist.toml")
RESNET8 = "layers = [" + (ROOT / "configs/cnn-resnet8.toml").read_text().split("layers = [", 1)[1]


def mlp(hidden):
    return f"""
[[model_options.layers]]
type = "flatten"
[[model_options.layers]]
type = "linear"
out_features = {hidden}
[[model_options.layers]]
type = "relu"
[[model_options.layers]]
type = "linear"
out_features = 10
"""


def write_images(folder, rows):
    """Generates images of 28 x 28 with about as many ink pixels as the built-in digits, of which there are too few."""
    draw = random.Random(1)
    for part, count in (("train", rows), ("t10k", 100)):
        images = bytearray(struct.pack(">4i", 2051, count, 28, 28))
        for _ in range(count):
            image = bytearray(784)
            for _ in range(6):
                row, column = draw.randrange(4, 22), draw.randrange(4, 22)
                down, right = draw.choice([(0, 1), (1, 0), (1, 1)])
                for k in range(9):
                    at = 28 * min(26, row + k * down) + min(26, column + k * right)
                    image[at:at + 2] = bytes((draw.randrange(100, 256), draw.randrange(100, 256)))
            images += image
        (folder / f"{part}-images-idx3-ubyte").write_bytes(images)
        labels = bytes(k % 10 for k in range(count))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, count) + labels)


def experiment(layers, batch, parallel, rows, place):
    """Returns an experiment that trains on `rows` generated images, and tests on a few, whose time cancels out."""
    folder = pathlib.Path(place) / f"images-{rows}"
    if not folder.is_dir():
        folder.mkdir()
        write_images(folder, rows)
    return f"""
name = "parallel"
model = "cnn"
seed = 1
[data]
source = "idx"
path = "{folder}"
standardize = {{ mean = 0, scale = 255 }}
[validation]
folds = 0
[search]
method = "none"
[devices]
use = "pocl"
[model_options]
batch_size = {batch}
drop_last = true
optimizer = {{ type = "adam", lr = 0.0001 }}
parallel = {parallel}
{layers}
"""


def fit_seconds(mokume, text, epochs, ranks, cores, place, team=False, last=()):
    """Returns the seconds of one run. `cores` is a list for taskset, and `last` a prefix for the last rank."""
    config = pathlib.Path(place) / "parallel.toml"
    config.write_text(text)
    out = pathlib.Path(place) / f"out-{time.monotonic_ns()}"
    command = ["taskset", "-c", ",".join(map(str, cores))]
    run = [mokume, "run", str(config), "--fresh", "--out", str(out), "--set", f"model_options.epochs={epochs}",
           "--set", f"devices.team={'true' if team or ranks > 1 else 'false'}"]
    if ranks == 1:
        command += [*last, *run]
    elif not last:
        command += ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *run]
    else:
        command += ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks - 1), *run, ":", "-n", "1", *last, *run]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    journal = next(out.glob("parallel/*/journal/node-0000.ndjson"))
    training = next(line for line in map(json.loads, journal.read_text().splitlines()) if "refit" in line)
    shutil.rmtree(out)
    return training["end"] - training["start"]


def seconds_per_epoch(mokume, text, epochs, ranks, cores, place, team=False, last=()):
    short = fit_seconds(mokume, text, epochs, ranks, cores, place, team, last)
    return (fit_seconds(mokume, text, 2 * epochs, ranks, cores, place, team, last) - short) / epochs


def two_at_a_time(args, text, cores, place):
    """Returns the epochs per second of two independent runs with a core each, which is the ceiling of this machine."""
    places = [pathlib.Path(place) / f"core-{core}" for core in cores]
    for one in places:
        one.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        seconds = list(pool.map(lambda k: seconds_per_epoch(args.mokume, text, args.epochs, 1, [cores[k]], places[k]),
                                range(2)))
    return sum(1 / s for s in seconds)


def speed(args, place):
    cores = sorted(os.sched_getaffinity(0))[:2]
    trained = 4096  # 32 whole batches for one rank, 16 for two
    synchronous = '{ type = "synchronous", batch_scope = "per_device", shards = 16 }'
    cases = {
        "one rank, one core": (1, cores[:1], experiment(LIGHTNING, 128, '{ type = "none" }', trained, place)),
        "the same, by shards": (1, cores[:1], experiment(LIGHTNING, 128, synchronous, trained, place)),
        "two ranks, synchronous": (2, cores, experiment(LIGHTNING, 128, synchronous, trained, place)),
        "two ranks, averaged every 16": (2, cores, experiment(
            LIGHTNING, 128, '{ type = "local_sgd", period = 16 }', trained, place)),
    }
    rates = {name: [] for name in cases}
    both = "two independent runs at once"
    for _ in range(args.rounds):
        rates.setdefault(both, []).append(two_at_a_time(args, cases["one rank, one core"][2], cores, place) * trained)
        for name, (ranks, use, text) in cases.items():
            rates[name].append(trained / seconds_per_epoch(args.mokume, text, args.epochs, ranks, use, place))
            print(f"{name}: {rates[name][-1]:.0f} images/s", flush=True)
    alone = rates["one rank, one core"]
    rows = []
    for name, all_of_it in rates.items():
        ratio = statistics.median(x / a for x, a in zip(all_of_it, alone))
        rows.append({"case": name, "images_per_s": statistics.median(all_of_it), "ratio": ratio, "rounds": all_of_it})
        print(f"{name}: {rows[-1]['images_per_s']:.0f} images/s, {ratio:.2f} of one")
    return rows


def unequal(args, place):
    cores = sorted(os.sched_getaffinity(0))[:2]
    trained = 2048
    text = experiment(LIGHTNING, 128, '{ type = "synchronous", shards = 16 }', trained, place)
    cases = {"pocl": (cores[:1], "pocl", False), "host": (cores[:1], "host", False), "both": (cores, "pocl,host", True)}
    rates = {name: [] for name in cases}
    for _ in range(args.rounds):
        for name, (use, devices, team) in cases.items():
            one = text.replace('use = "pocl"', f'use = "{devices}"')
            rates[name].append(trained / seconds_per_epoch(args.mokume, one, args.epochs, 1, use, place, team))
        print({name: round(all_of_it[-1]) for name, all_of_it in rates.items()}, flush=True)
    share = statistics.median(b / (f + s) for f, s, b in zip(*rates.values()))
    faster = statistics.median(b / max(f, s) for f, s, b in zip(*rates.values()))
    print(f"{share:.2f} of the sum, {faster:.2f} of the faster")
    return {"of_the_sum": share, "of_the_faster": faster, "rounds": rates}


class Quarter:
    """Makes a control group whose processes may use a quarter of a core."""

    def __enter__(self):
        v1 = pathlib.Path("/sys/fs/cgroup/cpu")
        self.path = (v1 if v1.is_dir() else pathlib.Path("/sys/fs/cgroup")) / f"mokume-quarter-{os.getpid()}"
        try:
            self.path.mkdir()
            if v1.is_dir():
                (self.path / "cpu.cfs_period_us").write_text("10000")
                (self.path / "cpu.cfs_quota_us").write_text("2500")
            else:
                (self.path / "cpu.max").write_text("2500 10000")
        except OSError as error:
            sys.exit(f"cannot make a control group with a quota: {error}")
        return ["sh", "-c", f'echo $$ > {self.path}/cgroup.procs; exec "$@"', "sh"]

    def __exit__(self, *_):
        self.path.rmdir()


def throttled(args, place):
    cores = sorted(os.sched_getaffinity(0))[:2]
    trained = 2048
    text = experiment(LIGHTNING, 256, '{ type = "synchronous", shards = 32 }', trained, place)
    rates = {name: [] for name in ("whole", "quarter", "both")}
    with Quarter() as quarter:
        # The team begins with equal shares. Longer runs make the result depend less on the speed of adaptation.
        cases = {"whole": (1, cores[:1], (), 3), "quarter": (1, cores[1:], quarter, 1), "both": (2, cores, quarter, 6)}
        for _ in range(args.rounds):
            for name, (ranks, use, last, epochs) in cases.items():
                rates[name].append(
                    trained / seconds_per_epoch(args.mokume, text, epochs, ranks, use, place, last=last))
            print({name: round(all_of_it[-1]) for name, all_of_it in rates.items()}, flush=True)
    share = statistics.median(b / (f + s) for f, s, b in zip(*rates.values()))
    faster = statistics.median(b / max(f, s) for f, s, b in zip(*rates.values()))
    print(f"{share:.2f} of the sum, {faster:.2f} of the faster")
    return {"of_the_sum": share, "of_the_faster": faster, "rounds": rates}


def roads(args, place):
    cores = sorted(os.sched_getaffinity(0))
    rows = []
    for name, layers in [("guide", GUIDE), ("lightning", LIGHTNING), ("resnet8", RESNET8)]:
        for ranks in args.ranks:
            trained, batch = 128 * 10 * ranks, 128 * ranks
            parallel = f'{{ type = "synchronous", shards = {max(16, 2 * ranks)} }}'
            text = experiment(layers, batch, parallel, trained, place)
            share = cores[:min(ranks, len(cores))]
            rates = {"one core": [], "mpi": [], "sockets": [], "torch one core": [], "torch ddp": []}
            for _ in range(args.rounds):
                if not args.no_torch:
                    rates["torch one core"].append(128 / torch_step(name, 1, cores[:1], 5, 128))
                    rates["torch ddp"].append(128 * ranks / torch_step(name, ranks, share, 5, 128))
                rates["one core"].append(trained / seconds_per_epoch(args.mokume, text, args.epochs, 1, cores[:1], place))
                for road in ("mpi", "sockets"):
                    with_road = text.replace("[devices]", f'[devices]\nsums = "{road}"')
                    rates[road].append(
                        trained / seconds_per_epoch(args.mokume, with_road, args.epochs, ranks, share, place))
            row = {"network": name, "ranks": ranks, "cores": len(share)}
            row.update({f"{road}_images_per_s": statistics.median(all_of_it) for road, all_of_it in rates.items() if all_of_it})
            for road in ("mpi", "sockets"):
                row[f"{road}_efficiency"] = statistics.median(
                    r / (len(share) * one) for r, one in zip(rates[road], rates["one core"]))
            if not args.no_torch:
                row["torch_efficiency"] = statistics.median(
                    r / (len(share) * one) for r, one in zip(rates["torch ddp"], rates["torch one core"]))
                row["mpi_of_torch"] = statistics.median(a / b for a, b in zip(rates["mpi"], rates["torch ddp"]))
            print(json.dumps(row), flush=True)
            rows.append(row)
    return rows


WIDE = """
[[model_options.layers]]
type = "flatten"
""" + """[[model_options.layers]]
type = "linear"
out_features = 2000
[[model_options.layers]]
type = "relu"
""" * 3 + """[[model_options.layers]]
type = "linear"
out_features = 10
"""


def torch_pipeline(network, ranks, cores):
    """Returns the images per second of PyTorch with one process for each rank."""
    done = subprocess.run([sys.executable, str(ROOT / "bench/peers/pipeline_torch.py"), network, str(ranks), "5"],
                          capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["images_per_s"]


def splits(args, place):
    cores = sorted(os.sched_getaffinity(0))[:2]
    rows = []
    for name, layers, trained in [("lightning", LIGHTNING, 640), ("wide", WIDE, 1280)]:
        if name not in args.networks:
            continue
        for device in args.devices:
            text = experiment(layers, 128, '{ type = "synchronous", shards = 8 }', trained, place)
            text = text.replace('use = "pocl"', f'use = "{device}"')
            rates = {"one core": [], "batch": [], "states": [], "layers": [], "torch one core": [], "torch pipeline": []}
            for _ in range(args.rounds):
                rates["one core"].append(trained / seconds_per_epoch(args.mokume, text, args.epochs, 1, cores[:1], place))
                for split in ("batch", "states", "layers"):
                    chosen = text.replace("[devices]", f'[devices]\nsplit = "{split}"')
                    rates[split].append(trained / seconds_per_epoch(args.mokume, chosen, args.epochs, 2, cores, place))
                if not args.no_torch:
                    rates["torch one core"].append(torch_pipeline(name, 1, cores[:1]))
                    rates["torch pipeline"].append(torch_pipeline(name, 2, cores))
            row = {"network": name, "device": device}
            row.update({f"{key.replace(' ', '_')}_images_per_s": statistics.median(all_of_it)
                        for key, all_of_it in rates.items() if all_of_it})
            for split in ("batch", "states", "layers"):
                row[f"{split}_efficiency"] = statistics.median(
                    r / (2 * one) for r, one in zip(rates[split], rates["one core"]))
            if not args.no_torch:
                row["torch_efficiency"] = statistics.median(
                    r / (2 * one) for r, one in zip(rates["torch pipeline"], rates["torch one core"]))
                row["layers_of_torch"] = statistics.median(
                    a / b for a, b in zip(rates["layers"], rates["torch pipeline"]))
            print(json.dumps(row), flush=True)
            rows.append(row)
    return rows


def torch_step(network, ranks, cores, seconds, batch):
    """Returns the seconds per step of a rank, with a PyTorch process for each rank."""
    done = subprocess.run([sys.executable, str(ROOT / "bench/peers/ddp_torch.py"), str(network), str(ranks), str(seconds),
                           str(batch)],
                          capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["step_s"]


def reduce(args, place):
    cores = sorted(os.sched_getaffinity(0))
    batch, trained = 16, 1920
    result = []
    for hidden in args.hidden:
        parameters = 785 * hidden + 10 * hidden + 10
        for ranks in args.ranks:
            use = cores[:ranks]
            alone, team, torch_alone, torch_team = [], [], [], []
            for _ in range(args.rounds):
                epochs = max(2, min(40, 8_000_000 // parameters))
                steps = trained // batch
                text = experiment(mlp(hidden), batch, f'{{ type = "synchronous", shards = {ranks} }}', trained, place)
                alone.append(seconds_per_epoch(args.mokume, text, epochs, 1, cores[:1], place) / steps)
                steps = trained // (batch * ranks)
                text = experiment(mlp(hidden), batch * ranks, f'{{ type = "synchronous", shards = {ranks} }}', trained, place)
                team.append(seconds_per_epoch(args.mokume, text, epochs, ranks, use, place) / steps)
                if not args.no_torch:
                    torch_alone.append(torch_step(hidden, 1, cores[:1], 3, 16))
                    torch_team.append(torch_step(hidden, ranks, use, 3, 16))
            row = {"parameters": parameters, "ranks": ranks}
            for name, one, all_of_them in [("mokume", alone, team), ("torch", torch_alone, torch_team)]:
                if not one:
                    continue
                row[f"{name}_alone_ms"] = 1e3 * statistics.median(one)
                row[f"{name}_team_ms"] = 1e3 * statistics.median(all_of_them)
                row[f"{name}_reduction_ms"] = 1e3 * statistics.median(t - o for t, o in zip(all_of_them, one))
            print(json.dumps(row), flush=True)
            result.append(row)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "unequal", "throttled", "reduce", "roads", "splits"])
    parser.add_argument("--mokume", default=str(ROOT / "build/release/bin/mokume"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--devices", nargs="+", default=["pocl", "host"])
    parser.add_argument("--networks", nargs="+", default=["lightning", "wide"])
    parser.add_argument("--hidden", type=int, nargs="+", default=[16, 128, 1260, 5000])
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--out")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        measure = {"speed": speed, "unequal": unequal, "throttled": throttled, "reduce": reduce, "roads": roads,
                   "splits": splits}
        rows = measure[args.what](args, place)
    if args.out:
        path = pathlib.Path(args.out)
        known = json.loads(path.read_text()) if path.exists() else {}
        known[args.what] = rows
        path.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures training speed on convolutions of random shapes, alternating with PyTorch's best on the same cores.

    python3 bench/peers/cnn_shapes.py [--build build/release] [--devices opencl,host] [--isa avx2] [--compile]
                                      [--shapes 200] [--seeds 1,2,3] [--seconds 1] [--rounds 1]
                                      [--out FILE]

A network has a convolution of the drawn shape and a second one of the same window with stride 1, each with a relu, and
then the mean of the image and a linear layer. PyTorch runs eagerly with contiguous images and with channels last, and with
--compile also compiled with channels last (some 10 s a shape); the fastest counts. The ratio of a shape is the median
over the rounds. Only one side runs at a time. --isa limits both sides to an instruction set, for which mokume needs a
build with the tests. Needs torch.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/campaign"))
import campaign  # noqa: E402

IMAGES = 512
TORCH_LIMITS = {"avx2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
                "base": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41",
                         "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"}, "avx512": {}}


def draw(generator):
    """Returns a shape whose step is neither trivial nor longer than the time of a case."""
    while True:
        s = {"channels": generator.choice([1, 3, 8, 16, 24, 32, 37, 48, 64, 75, 96, 128]),
             "filters": generator.choice([8, 16, 20, 24, 32, 37, 48, 64, 75, 96, 128]),
             "window": generator.choice([1, 2, 3, 3, 4, 5, 7]), "stride": generator.choice([1, 1, 2]),
             "side": generator.choice([7, 8, 12, 14, 16, 20, 28, 32, 48, 56, 64]),
             "batch": generator.choice([8, 16, 32, 64, 128])}
        s["padding"] = generator.choice([0, s["window"] // 2])
        out = (s["side"] + 2 * s["padding"] - s["window"]) // s["stride"] + 1
        again = out + 2 * s["padding"] - s["window"] + 1
        if out < 1 or again < 1:
            continue
        window = s["window"] ** 2
        products = s["batch"] * window * s["filters"] * (out ** 2 * s["channels"] + again ** 2 * s["filters"])
        if 1e7 < products < 3e9:
            return s | {"products": products}


def name_of(s):
    return (f"{s['channels']}x{s['side']}x{s['side']} {s['window']}x{s['window']}"
            f"{'' if s['stride'] == 1 else '/2'}{'p' if s['padding'] else ''} {s['filters']}, batch {s['batch']}")


def layers_of(s):
    def conv(stride):
        return [{"type": "conv2d", "out_channels": s["filters"], "kernel_size": s["window"], "stride": stride,
                 "padding": s["padding"], "bias": True}, {"type": "relu"}]
    return conv(s["stride"]) + conv(1) + [{"type": "adaptive_avg_pool2d", "output_size": 1}, {"type": "flatten"},
                                          {"type": "linear", "out_features": 10, "bias": True}]


def our_rate(args, device, s, cache):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump({"input": [s["side"], s["side"], s["channels"]], "layers": layers_of(s),
                   "optimizer": {"type": "sgd", "lr": 0.001, "momentum": 0.9, "weight_decay": 0.0}}, f)
        f.flush()
        environment = campaign.environment_for(args.isa, args.build, "pocl" if device == "opencl" else device, cache)
        out = subprocess.run([args.build / "bin/cnn_bench", f.name, str(s["batch"]), "train", str(args.seconds), device],
                             check=True, capture_output=True, text=True, env=environment).stdout
    return json.loads(out)["images_per_s"]


def torch_rate(s, seconds, form):
    import torch
    from torch import nn
    torch.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(s["channels"], s["filters"], s["window"], s["stride"], s["padding"]), nn.ReLU(),
                        nn.Conv2d(s["filters"], s["filters"], s["window"], 1, s["padding"]), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(s["filters"], 10))
    x = torch.randn(IMAGES, s["channels"], s["side"], s["side"])
    if form != "contiguous":
        net, x = net.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    y = torch.arange(IMAGES) % 10
    optimizer = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9, fused=True)
    loss_of = nn.CrossEntropyLoss()
    forward = net
    if form == "compiled":
        torch.compiler.reset()
        forward = torch.compile(net)

    def step():
        rows = torch.randint(0, IMAGES, (s["batch"],))
        optimizer.zero_grad(set_to_none=True)
        loss_of(forward(x[rows]), y[rows]).backward()
        optimizer.step()

    step()
    for turn_s in (seconds / 2, seconds):  # the first turn warms up
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < turn_s:
            step()
            steps += 1
        rate = steps * s["batch"] / (time.perf_counter() - start)
    return rate


def measure(args, s, cache):
    """Returns the rates of both sides and the ratio of each of our devices, medians over the rounds."""
    rates = {name: [] for name in [*args.devices, *args.forms]}
    for _ in range(args.rounds):
        for device in args.devices:
            rates[device].append(our_rate(args, device, s, cache))
        for form in args.forms:
            rates[form].append(torch_rate(s, args.seconds, form))
    best = [max(rates[form][i] for form in args.forms) for i in range(args.rounds)]
    result = {"shape": name_of(s), **s, **{name: round(statistics.median(r), 1) for name, r in rates.items()}}
    for device in args.devices:
        result["ratio " + device] = round(statistics.median(o / t for o, t in zip(rates[device], best)), 3)
    return result


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=lambda path: pathlib.Path(path).resolve(), default=ROOT / "build/release")
    parser.add_argument("--devices", type=lambda names: names.split(","), default=["opencl", "host"])
    parser.add_argument("--isa", choices=list(TORCH_LIMITS), default=os.environ.get("MOKUME_ISA", "avx512"))
    parser.add_argument("--compile", action="store_true", help="also compare with torch.compile")
    parser.add_argument("--shapes", type=int, default=200, help="of each seed")
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[1])
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    args.forms = ["contiguous", "channels last", *["compiled"] * args.compile]
    return args


def main():
    args = parse()
    os.environ.update(TORCH_LIMITS[args.isa], MOKUME_ISA=args.isa)  # before torch looks at the processor
    here = campaign.measured_here(args.out)
    import torch
    threads = len(os.sched_getaffinity(0))
    torch.set_num_threads(threads)
    shapes = []
    for seed in args.seeds:
        generator = random.Random(seed)
        shapes += [draw(generator) for _ in range(args.shapes)]
    results = []
    with tempfile.TemporaryDirectory() as cache:
        for s in shapes:
            results.append(measure(args, s, cache))
            ratios = "  ".join(f"{results[-1]['ratio ' + device]:5.2f}" for device in args.devices)
            print(f"{ratios}  {name_of(s)}", flush=True)
    for device in args.devices:
        ratios = sorted(r["ratio " + device] for r in results)
        print(f"{device}: median {statistics.median(ratios):.2f}, {sum(r < 1 for r in ratios)} of {len(ratios)} below 1, "
              f"lowest {ratios[0]:.2f}")
    if args.out:
        options = f"--isa {args.isa} --shapes {args.shapes} --seeds {','.join(map(str, args.seeds))}"
        args.out.write_text(json.dumps({
            "what": "training speed on convolutions of random shapes over PyTorch's best", **here,
            "command": f"bench/peers/cnn_shapes.py {options} --seconds {args.seconds:g} --rounds {args.rounds}"
                       + " --compile" * args.compile,
            "versions": f"PyTorch {torch.__version__} with {threads} threads: {', '.join(args.forms)}",
            "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

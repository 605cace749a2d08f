#!/usr/bin/env python3
"""Images per second of the published networks with PyTorch on a CUDA device: eager and captured graph, fp32 and TF32.

    python3 bench/peers/cnn_torch_cuda.py [--cases guide:128:train 13,8,227:10:train guide:1000:infer ...]
                                          [--networks 0,0,32 4,5,32 ... --together 32]
                                          [--ops FILE] [--seconds 0.5] [--rounds 3] [--out FILE] [--device cuda]

Networks, batches and generated images are those of cnn_torch.py. Images and the order of an epoch are on the device.
Training: `eager` launches op by op; `graph` captures the whole step once (rows gathered, forward, backward, optimizer)
and replays it. Inference copies a batch from pinned host memory and its outputs back each time, as cnn_bench does.
--networks: --together copies of each at once by torch.func's vmap, at batch 10. --ops: a JSON list with the shapes that
bench/gpu/op_bench printed; products and convolutions one by one, launched back to back.

Medians of rounds of --seconds each; every round ends with torch.cuda.synchronize(). The warm-up selects the fastest of
cuDNN's kernels. The result is rewritten after every case. Needs torch; --device cpu tries the eager side.
"""
import argparse
import json
import os
import statistics
import sys
import time
from typing import Any, Callable, Dict, Iterator, List

import torch
from cnn_torch import DEFAULT_CASES, IMAGES, network
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap

PRECISIONS = {"fp32": False, "tf32": True}
WARM_UP = 11  # steps on a side stream before a capture, as PyTorch's documentation requires
BATCH_TOGETHER = 10
Step = Callable[[], None]


def set_precision(device: torch.device, name: str) -> None:
    if device.type != "cuda":
        return
    torch.backends.cuda.matmul.allow_tf32 = PRECISIONS[name]
    torch.backends.cudnn.allow_tf32 = PRECISIONS[name]
    torch.backends.cudnn.benchmark = True


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def captured(step: Step) -> Step:
    """The step as a graph that is replayed in one launch."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARM_UP):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def rates(device: torch.device, turn: Step, images: int, seconds: float, rounds: int) -> List[float]:
    """Images per second of each round. Turns are queued for some milliseconds before a wait."""
    for _ in range(4):
        turn()
    wait(device)
    start = time.perf_counter()
    for _ in range(8):
        turn()
    wait(device)
    between_waits = max(1, int(0.05 / max((time.perf_counter() - start) / 8, 1e-7)))
    found = []
    for _ in range(rounds):
        done, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            for _ in range(between_waits):
                turn()
            wait(device)
            done += between_waits * images
        found.append(done / (time.perf_counter() - start))
    return found


def batches(device: torch.device, batch: int, count: int = 0) -> Iterator[torch.Tensor]:
    """Rows of one network, or of `count` with their own orders; all batches are full, as a graph requires."""
    while True:
        order = torch.randperm(IMAGES, device=device) if count == 0 else torch.stack(
            [torch.randperm(IMAGES, device=device) for _ in range(count)])
        for first in range(0, IMAGES - batch + 1, batch):
            yield order[..., first:first + batch]


def made_images(device: torch.device) -> Any:
    return torch.randn(IMAGES, 1, 28, 28, device=device), torch.arange(IMAGES, device=device) % 10


def optimizer_for(name: str, net: nn.Module, mode: str) -> torch.optim.Optimizer:
    """As in cnn_torch.py; for a graph its step count is on the device too."""
    _, optimizer_of = network(name)
    optimizer = optimizer_of(net.parameters())
    for group in optimizer.param_groups:
        if mode == "graph" and "capturable" in group:
            group["capturable"] = True
    return optimizer


def training(name: str, batch: int, device: torch.device, mode: str) -> Step:
    torch.manual_seed(1)
    net = network(name)[0].to(device)
    optimizer, loss_of = optimizer_for(name, net, mode), nn.CrossEntropyLoss()
    x, y = made_images(device)
    stream = batches(device, batch)
    rows = next(stream).clone()

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss_of(net(x[rows]), y[rows]).backward()
        optimizer.step()

    run = captured(step) if mode == "graph" else step

    def turn() -> None:
        rows.copy_(next(stream))
        run()

    return turn


def inference(name: str, batch: int, device: torch.device, mode: str) -> Step:
    net = network(name)[0].to(device).eval()
    host = torch.randn(batch, 1, 28, 28)
    outputs = torch.empty(batch, 10)
    if device.type == "cuda":
        host, outputs = host.pin_memory(), outputs.pin_memory()
    x = host.to(device)
    place: Dict[str, torch.Tensor] = {}

    def forward() -> None:
        with torch.inference_mode():
            place["y"] = net(x)

    run = captured(forward) if mode == "graph" else forward

    def turn() -> None:
        with torch.inference_mode():
            x.copy_(host, non_blocking=True)
            run()
            outputs.copy_(place["y"], non_blocking=True)
        wait(device)  # a real caller waits for the answer

    return turn


def side_by_side(name: str, count: int, device: torch.device, mode: str) -> Step:
    """`count` networks by vmap: gradients of all losses at once, one step of stacked parameters."""
    torch.manual_seed(1)
    nets = [network(name)[0].to(device) for _ in range(count)]
    stacked, _ = stack_module_state(nets)
    parameters = {key: value.detach().clone() for key, value in stacked.items()}
    momenta = {key: torch.zeros_like(value) for key, value in parameters.items()}
    x, y = made_images(device)
    stream = batches(device, BATCH_TOGETHER, count)
    rows = next(stream).clone()

    def loss(own: Dict[str, torch.Tensor], images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(functional_call(nets[0], own, (images,)), labels)

    gradients = vmap(grad(loss))

    def step() -> None:
        found = gradients(parameters, x[rows], y[rows])
        torch._foreach_mul_(list(momenta.values()), 0.1)
        torch._foreach_add_(list(momenta.values()), [found[key] for key in momenta])
        torch._foreach_add_(list(parameters.values()), list(momenta.values()), alpha=-0.001)

    run = captured(step) if mode == "graph" else step

    def turn() -> None:
        rows.copy_(next(stream))
        run()

    return turn


def make_turn(case: str, device: torch.device, mode: str) -> Any:
    """The work of a turn, and its number of images."""
    name, batch, what = case.split(":", 2)
    if what == "train":
        return training(name, int(batch), device, mode), int(batch)
    if what == "infer":
        return inference(name, int(batch), device, mode), int(batch)
    count = int(what.rpartition(":")[2])
    return side_by_side(name, count, device, mode), count * BATCH_TOGETHER


def op_of(shape: Dict[str, Any], device: torch.device) -> Step:
    """The op in a line of op_bench, in PyTorch's own layout."""
    if shape["op"] == "gemm":
        m, n, k = shape["m"], shape["n"], shape["k"]
        a = torch.randn(k, m, device=device).t() if shape["transpose_a"] else torch.randn(m, k, device=device)
        b = torch.randn(n, k, device=device).t() if shape["transpose_b"] else torch.randn(k, n, device=device)
        out = torch.empty(m, n, device=device)
        return lambda: torch.mm(a, b, out=out)
    side, kernel, padding = shape["side"], shape["kernel"], shape["padding"]
    out_side = side + 2 * padding - kernel + 1
    x = torch.randn(shape["images"], shape["channels"], side, side, device=device)
    weight = torch.randn(shape["out_channels"], shape["channels"], kernel, kernel, device=device)
    bias = torch.randn(shape["out_channels"], device=device)
    dy = torch.randn(shape["images"], shape["out_channels"], out_side, out_side, device=device)
    wanted = {"conv2d_grad_input": [True, False, False], "conv2d_grad_weight": [False, True, True]}.get(shape["op"])
    if wanted is None:
        return lambda: torch.relu_(nn.functional.conv2d(x, weight, bias, padding=padding))
    geometry = [1, 1], [padding, padding], [1, 1], False, [0, 0], 1
    return lambda: torch.ops.aten.convolution_backward(dy, x, weight, [shape["out_channels"]], *geometry, wanted)


def attempt(what: str, body: Callable[[], Any]) -> Any:
    """A case that fails, for lack of memory or of an op in a graph, does not affect the others."""
    try:
        return body()
    except (RuntimeError, ValueError, NotImplementedError) as error:
        print(f"{what}: {' '.join(str(error).split())[:300]}", file=sys.stderr, flush=True)
        return None
    finally:
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


class Report:
    def __init__(self, args: argparse.Namespace, device: torch.device) -> None:
        self.path = args.out
        self.content: Dict[str, Any] = {
            "torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
            "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu", "rounds": args.rounds,
            "results": [], "ops": []}

    def add(self, kind: str, row: Dict[str, Any]) -> None:
        self.content[kind].append(row)
        print(json.dumps(row), flush=True)
        if self.path:
            new = self.path + ".new"
            with open(new, "w", encoding="utf-8") as file:
                json.dump(self.content, file, indent=1)
            os.replace(new, self.path)


def measure_networks(args: argparse.Namespace, device: torch.device, report: Report) -> None:
    modes = ["eager", "graph"] if device.type == "cuda" else ["eager"]
    precisions = list(PRECISIONS) if device.type == "cuda" else ["fp32"]
    cases = args.cases + [f"{name}:{BATCH_TOGETHER}:{what}" for name in args.networks
                          for what in (f"together:{args.together}", "train")]
    for case in dict.fromkeys(cases):
        for precision in precisions:
            for mode in modes:
                def measure() -> List[float]:
                    set_precision(device, precision)
                    turn, images = make_turn(case, device, mode)
                    return rates(device, turn, images, args.seconds, args.rounds)
                found = attempt(f"{case} {mode} {precision}", measure)
                if found:
                    report.add("results", {"case": case, "mode": mode, "precision": precision,
                                           "images_per_s": statistics.median(found), "all": found})


def measure_ops(args: argparse.Namespace, device: torch.device, report: Report) -> None:
    with open(args.ops, encoding="utf-8") as file:
        shapes = json.load(file)
    for shape in shapes:
        for precision in PRECISIONS if device.type == "cuda" else ["fp32"]:
            def measure() -> List[float]:
                set_precision(device, precision)
                return rates(device, op_of(shape, device), 1, args.seconds / 5, args.rounds)
            found = attempt(f"{shape['name']} {precision}", measure)
            if found:
                report.add("ops", {"op": shape["op"], "name": shape["name"], "precision": precision,
                                   "us": 1e6 / statistics.median(found)})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", default=DEFAULT_CASES)
    parser.add_argument("--networks", nargs="*", default=[])
    parser.add_argument("--together", type=int, default=32)
    parser.add_argument("--ops")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out")
    args = parser.parse_args()
    device = torch.device(args.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        print("cnn_torch_cuda: this PyTorch sees no CUDA device; --device cpu tries the eager side", file=sys.stderr)
        return 4
    report = Report(args, device)
    measure_networks(args, device, report)
    if args.ops:
        measure_ops(args, device, report)
    return 0 if report.content["results"] else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Measures the published networks in PyTorch on a CUDA device, in the variants that its users know.

    python3 bench/peers/cnn_torch_cuda.py [--cases guide:128:train 13,8,227:10:train guide:1000:infer ...]
                                          [--networks 0,0,32 4,5,32 ... --together 32] [--ops FILE]
                                          [--limit 100] [--each 25] [--seconds 0.15] [--rounds 3]
                                          [--out FILE] [--device cuda]

A variant is a mode, a precision and a layout:
  eager      op by op; optimizers are fused where PyTorch has a fused one
  graph      the whole step (rows gathered, forward, backward, optimizer) captured once and replayed in one launch
  compiled   the same after torch.compile; an optimizer without a fused form is compiled, too
  autotuned  the same with mode="max-autotune-no-cudagraphs"; the captured graph is what its other half would do
  fp32       strict: no TF32; tf32: products and convolutions in TF32; bf16: autocast to bfloat16, the rest as in tf32
  nchw, nhwc contiguous, or channels_last

Networks, batches and generated images are those of cnn_torch.py. Images and the order of an epoch are on the device.
Inference copies a batch from pinned host memory and its outputs back each time, as cnn_bench does. --networks measures
--together copies of each network at once by torch.func's vmap, at batch 10. --ops names a JSON list of the shapes that
bench/gpu/op_bench printed, and measures products and convolutions one by one, ten in a captured graph.

The first two cases have all variants. Their graphs and compiled steps come first, then the graphs of the other cases,
the ops, and the rest. --limit bounds everything, and --each a variant. Compilation takes long, so while other work
waits, it may begin only in the first half of --limit. Variants without time are listed as refused. Figures are medians
of rounds of --seconds each; every round ends with torch.cuda.synchronize(). The warm-up selects the fastest of cuDNN's
kernels. Every variant rewrites the result. Needs torch; --device cpu tries variants without graphs.
"""
import argparse
import contextlib
import json
import math
import os
import signal
import statistics
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Tuple

import torch
from cnn_torch import DEFAULT_CASES, IMAGES, network
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap

WARM_UP = 11  # steps on a side stream before a capture, as PyTorch's documentation requires
BATCH_TOGETHER = 10
OPS_IN_GRAPH = 10
COMPILED = {"compiled": "default", "autotuned": "max-autotune-no-cudagraphs"}
Step = Callable[[], Any]


class Variant(NamedTuple):
    mode: str
    precision: str
    layout: str

    def __str__(self) -> str:
        return " ".join(self)


class TooLong(Exception):
    pass


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limits the time of a block, because a compilation may take minutes."""
    def stop(_number: int, _frame: Any) -> None:
        raise TooLong(f"took longer than {seconds:.0f} s")
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


# ---- variants of a step -------------------------------------------------------------------------------------------

def set_precision(device: torch.device, precision: str) -> None:
    if device.type != "cuda":
        return
    torch.backends.cuda.matmul.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.benchmark = True


def autocast(device: torch.device, variant: Variant) -> Any:
    # A graph must not hold casts of weights that were cached before it was captured.
    return torch.autocast(device.type, torch.bfloat16, enabled=variant.precision == "bf16", cache_enabled=False)


def compiled(function: Callable[..., Any], variant: Variant) -> Callable[..., Any]:
    if variant.mode not in COMPILED:
        return function
    return torch.compile(function, dynamic=False, mode=COMPILED[variant.mode])


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def captured(step: Step, warm_up: int = WARM_UP) -> Step:
    """Returns the step as a graph that is replayed in one launch."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(warm_up):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()

    def replay() -> None:
        graph.replay()

    replay.step = step  # keeps the tensors alive that the graph reads
    return replay


def settled(step: Step, device: torch.device, variant: Variant) -> Step:
    return step if variant.mode == "eager" or device.type != "cuda" else captured(step)


def laid_out(net: nn.Module, device: torch.device, variant: Variant) -> nn.Module:
    return net.to(device, memory_format=torch.channels_last if variant.layout == "nhwc" else torch.contiguous_format)


def images_in(x: torch.Tensor, variant: Variant) -> torch.Tensor:
    """Returns images in a layout. With one channel, both layouts have the same bytes, but different strides."""
    return x.reshape(-1, 28, 28, 1).permute(0, 3, 1, 2) if variant.layout == "nhwc" else x


# ---- what is measured ---------------------------------------------------------------------------------------------

def rates(device: torch.device, turn: Step, images: int, seconds: float, rounds: int) -> List[float]:
    """Returns images per second of each round. Queues turns for some milliseconds before a wait."""
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
    """Yields rows of one network, or of `count` with their own orders. All batches are full, as a graph requires."""
    while True:
        order = torch.randperm(IMAGES, device=device) if count == 0 else torch.stack(
            [torch.randperm(IMAGES, device=device) for _ in range(count)])
        for first in range(0, IMAGES - batch + 1, batch):
            yield order[..., first:first + batch]


def made_images(device: torch.device) -> Any:
    return torch.randn(IMAGES, 1, 28, 28, device=device), torch.arange(IMAGES, device=device) % 10


def optimizer_step(name: str, net: nn.Module, device: torch.device, variant: Variant) -> Any:
    """Returns the optimizer of cnn_torch.py and its step. For a graph, the step count is on the device, too."""
    optimizer = network(name)[1](net.parameters())
    for group in optimizer.param_groups:
        if variant.mode != "eager" and device.type == "cuda" and "capturable" in group:
            group["capturable"] = True
    fused = all(group.get("fused") for group in optimizer.param_groups)
    return optimizer, optimizer.step if fused else compiled(optimizer.step, variant)


def turns(rows: torch.Tensor, stream: Iterator[torch.Tensor], run: Step) -> Step:
    def turn() -> None:
        rows.copy_(next(stream))
        run()
    return turn


def training(name: str, batch: int, device: torch.device, variant: Variant) -> Step:
    torch.manual_seed(1)
    net, loss_of = laid_out(network(name)[0], device, variant), nn.CrossEntropyLoss()
    optimizer, update = optimizer_step(name, net, device, variant)
    x, y = made_images(device)
    stream = batches(device, batch)
    rows = next(stream).clone()

    def loss(chosen: torch.Tensor) -> torch.Tensor:
        with autocast(device, variant):
            return loss_of(net(images_in(x[chosen], variant)), y[chosen])

    forward = compiled(loss, variant)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        forward(rows).backward()
        update()

    return turns(rows, stream, settled(step, device, variant))


def inference(name: str, batch: int, device: torch.device, variant: Variant) -> Step:
    net = laid_out(network(name)[0], device, variant).eval()
    host = torch.randn(batch, 1, 28, 28)
    outputs = torch.empty(batch, 10)
    if device.type == "cuda":
        host, outputs = host.pin_memory(), outputs.pin_memory()
    x = host.to(device)
    place: Dict[str, torch.Tensor] = {}

    def predict(images: torch.Tensor) -> torch.Tensor:
        with autocast(device, variant):
            return net(images_in(images, variant))

    forward = compiled(predict, variant)

    def step() -> None:
        with torch.inference_mode():
            place["y"] = forward(x)

    run = settled(step, device, variant)

    def turn() -> None:
        with torch.inference_mode():
            x.copy_(host, non_blocking=True)
            run()
            outputs.copy_(place["y"], non_blocking=True)
        wait(device)  # a real caller waits for the answer

    return turn


def side_by_side(name: str, count: int, device: torch.device, variant: Variant) -> Step:
    """Trains `count` networks by vmap, with gradients of all losses at once and one step of stacked parameters."""
    torch.manual_seed(1)
    nets = [network(name)[0].to(device) for _ in range(count)]
    stacked, _ = stack_module_state(nets)
    parameters = {key: value.detach().clone() for key, value in stacked.items()}
    momenta = {key: torch.zeros_like(value) for key, value in parameters.items()}
    x, y = made_images(device)
    stream = batches(device, BATCH_TOGETHER, count)
    rows = next(stream).clone()

    def loss(own: Dict[str, torch.Tensor], images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        with autocast(device, variant):
            return nn.functional.cross_entropy(functional_call(nets[0], own, (images,)), labels)

    gradients = compiled(vmap(grad(loss)), variant)

    def step() -> None:
        found = gradients(parameters, x[rows], y[rows])
        torch._foreach_mul_(list(momenta.values()), 0.1)
        torch._foreach_add_(list(momenta.values()), [found[key] for key in momenta])
        torch._foreach_add_(list(parameters.values()), list(momenta.values()), alpha=-0.001)

    return turns(rows, stream, settled(step, device, variant))


def make_turn(case: str, device: torch.device, variant: Variant) -> Tuple[Step, int]:
    """Returns the work of a turn, and its number of images."""
    name, batch, what = case.split(":", 2)
    if what == "train":
        return training(name, int(batch), device, variant), int(batch)
    if what == "infer":
        return inference(name, int(batch), device, variant), int(batch)
    count = int(what.rpartition(":")[2])
    return side_by_side(name, count, device, variant), count * BATCH_TOGETHER


def op_of(shape: Dict[str, Any], device: torch.device, variant: Variant) -> Step:
    """Returns the op in a line of op_bench."""
    dtype = torch.bfloat16 if variant.precision == "bf16" else torch.float32

    def made(*sizes: int) -> torch.Tensor:
        some = torch.randn(*sizes, device=device, dtype=dtype)
        return some.to(memory_format=torch.channels_last) if len(sizes) == 4 and variant.layout == "nhwc" else some

    if shape["op"] == "gemm":
        m, n, k = shape["m"], shape["n"], shape["k"]
        a = made(k, m).t() if shape["transpose_a"] else made(m, k)
        b = made(n, k).t() if shape["transpose_b"] else made(k, n)
        out = made(m, n)
        return lambda: torch.mm(a, b, out=out)
    side, kernel, padding = shape["side"], shape["kernel"], shape["padding"]
    out_side = side + 2 * padding - kernel + 1
    x = made(shape["images"], shape["channels"], side, side)
    weight, bias = made(shape["out_channels"], shape["channels"], kernel, kernel), made(shape["out_channels"])
    dy = made(shape["images"], shape["out_channels"], out_side, out_side)
    wanted = {"conv2d_grad_input": [True, False, False], "conv2d_grad_weight": [False, True, True]}.get(shape["op"])
    if wanted is None:
        return lambda: torch.relu_(nn.functional.conv2d(x, weight, bias, padding=padding))
    geometry = [1, 1], [padding, padding], [1, 1], False, [0, 0], 1
    return lambda: torch.ops.aten.convolution_backward(dy, x, weight, [shape["out_channels"]], *geometry, wanted)


# ---- what is measured first ---------------------------------------------------------------------------------------

def has_windows(case: str) -> bool:
    return not case.startswith("0,0,") and ":together:" not in case


Planned = Tuple[str, Variant]


def variants(case: str, modes: List[str], precisions: List[str]) -> List[Variant]:
    """Lists nhwc, the layout of tensor cores, if there are windows, and nchw in strict fp32 or without windows."""
    return [Variant(mode, precision, layout) for precision in precisions for mode in modes
            for layout in (["nhwc"] if has_windows(case) else []) + (
                ["nchw"] if precision == "fp32" or not has_windows(case) else [])]


class Plan(NamedTuple):
    """Holds cases and their variants, in the order in which they are measured. The ops come before `last`."""
    head: List[Planned]
    slow: List[Planned]
    rest: List[Planned]
    last: List[Planned]


def plan(cases: List[str], device: torch.device) -> Plan:
    graph = ["graph"] if device.type == "cuda" else ["eager"]
    precisions = ["fp32", "bf16", "tf32"] if device.type == "cuda" else ["fp32", "bf16"]
    head, rest = cases[:2], cases[2:]

    def all_of(some: List[str], modes: List[str], precision: str) -> List[Planned]:
        return [(case, variant) for case in some for variant in variants(case, modes, [precision])]

    def each(some: List[str], modes: List[str]) -> List[Planned]:
        return [one for precision in precisions for one in all_of(some, modes, precision)]

    quick = [(case, Variant(mode, precision, "nchw")) for case in head for mode in dict.fromkeys(graph + ["eager"])
             for precision in precisions if (mode, precision) != (graph[0], "fp32")]
    last = quick + each(head, ["autotuned"]) + each(rest, ["compiled"])
    return Plan(each(head, graph), each(head, ["compiled"]), each(rest, graph), last)


class Report:
    def __init__(self, args: argparse.Namespace, device: torch.device) -> None:
        self.path, self.end, self.each = args.out, time.monotonic() + args.limit, args.each
        self.content: Dict[str, Any] = {
            "torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
            "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu", "rounds": args.rounds,
            "results": [], "ops": [], "refused": []}

    def add(self, kind: str, row: Dict[str, Any]) -> None:
        self.content[kind].append(row)
        print(json.dumps(row), flush=True)
        if self.path:
            new = self.path + ".new"
            with open(new, "w", encoding="utf-8") as file:
                json.dump(self.content, file, indent=1)
            os.replace(new, self.path)

    def attempt(self, what: str, variant: Variant, body: Callable[[], List[float]]) -> List[float]:
        """Measures a variant. If it fails, for lack of memory, of time or of an op in a graph, the others go ahead."""
        left = self.end - time.monotonic()
        try:
            if left < 1:
                raise TooLong("no time was left")
            with within(min(self.each, left)):
                return body()
        except Exception as error:  # the compiler wraps every exception
            self.add("refused", {"what": what, "variant": str(variant), "why": " ".join(str(error).split())[:300]})
            return []
        finally:
            torch.compiler.reset()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


def measure_networks(args: argparse.Namespace, device: torch.device, report: Report, planned: List[Planned],
                     until: float = math.inf) -> List[Planned]:
    """Returns the cases that had not begun at the time `until`."""
    for number, (case, variant) in enumerate(planned):
        if time.monotonic() > until:
            return planned[number:]

        def measure() -> List[float]:
            set_precision(device, variant.precision)
            turn, images = make_turn(case, device, variant)
            return rates(device, turn, images, args.seconds, args.rounds)
        found = report.attempt(case, variant, measure)
        if found:
            report.add("results", {"case": case, "variant": str(variant), "images_per_s": statistics.median(found),
                                   "all": found})
    return []


def repeated(op: Step) -> Step:
    def ops() -> None:
        for _ in range(OPS_IN_GRAPH):
            op()
    return ops


def measure_ops(args: argparse.Namespace, device: torch.device, report: Report) -> None:
    with open(args.ops, encoding="utf-8") as file:
        shapes = json.load(file)
    cuda = device.type == "cuda"
    for precision in ["fp32", "tf32", "bf16"] if cuda else ["fp32"]:
        for shape in shapes:
            gemm = shape["op"] == "gemm"
            for layout in ["nchw"] if gemm else ["nhwc", "nchw"] if precision == "fp32" else ["nhwc"]:
                variant = Variant("graph" if cuda else "eager", precision, layout)

                def measure() -> List[float]:
                    set_precision(device, precision)
                    ops = repeated(op_of(shape, device, variant))
                    return rates(device, captured(ops, 3) if cuda else ops, OPS_IN_GRAPH, args.seconds / 3, args.rounds)
                found = report.attempt(shape["name"], variant, measure)
                if found:
                    report.add("ops", {"op": shape["op"], "name": shape["name"], "variant": str(variant),
                                       "us": 1e6 / statistics.median(found)})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", default=DEFAULT_CASES)
    parser.add_argument("--networks", nargs="*", default=[])
    parser.add_argument("--together", type=int, default=32)
    parser.add_argument("--ops")
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--each", type=float, default=25)
    parser.add_argument("--seconds", type=float, default=0.15)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out")
    args = parser.parse_args()
    device = torch.device(args.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        print("cnn_torch_cuda: this PyTorch sees no CUDA device; --device cpu tries the variants without graphs",
              file=sys.stderr)
        return 4
    report = Report(args, device)
    cases = args.cases + [f"{name}:{BATCH_TOGETHER}:{what}" for name in args.networks
                          for what in (f"together:{args.together}", "train")]
    planned = plan(list(dict.fromkeys(cases)), device)
    measure_networks(args, device, report, planned.head)
    waiting = measure_networks(args, device, report, planned.slow, report.end - args.limit / 2)
    measure_networks(args, device, report, planned.rest)
    if args.ops:
        measure_ops(args, device, report)
    measure_networks(args, device, report, waiting + planned.last)
    return 0 if report.content["results"] else 1


if __name__ == "__main__":
    sys.exit(main())

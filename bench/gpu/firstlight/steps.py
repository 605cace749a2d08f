"""The steps, the most telling first. Each raises StepFailed with one sentence, or leaves tables."""
import json
import os
import platform
import re
import shutil
import statistics
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from . import figures
from .session import Session, StepFailed, StepSkipped

CASES = ["guide:128:train", "lightning:128:train", "13,8,227:10:train", "guide:1:infer", "guide:1000:infer",
         "lightning:1:infer", "lightning:1000:infer", "13,8,227:5:train", "690,10,903:10:train"]
SMALL_NETWORKS = ["0,0,32", "0,0,100", "4,5,32", "8,7,20"]
TOGETHER = 32
REHEARSED_CASES = ["13,8,227:10:train", "guide:1:infer"]


def _need(found: Any, what: str) -> Any:
    if not found:
        raise StepFailed(what)
    return found


def machine(s: Session) -> None:
    """Describes the machine; runs no program of the bundle."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    system = re.search(r'PRETTY_NAME="(.*)"', Path("/etc/os-release").read_text()) if os.path.exists(
        "/etc/os-release") else None
    s.result["machine"].update(
        kernel=platform.release(), glibc=os.confstr("CS_GNU_LIBC_VERSION"), system=system.group(1) if system else "",
        cores=len(os.sched_getaffinity(0)), cpu=cpu.group(1) if cpu else "",
        memory_gib=round(int(memory.group(1)) / 2**20, 1) if memory else None)
    smi = shutil.which("nvidia-smi", path="/usr/bin:/usr/local/bin:/usr/local/nvidia/bin:" + os.environ.get("PATH", ""))
    if smi is None:
        return
    s.call("nvidia-smi", [smi], 20, environment=dict(os.environ))
    fields = "name,driver_version,memory.total,clocks.sm,clocks.max.sm,clocks.mem,temperature.gpu,power.draw"
    asked = s.call("nvidia-smi-query", [smi, f"--query-gpu={fields}", "--format=csv,noheader"], 20,
                   environment=dict(os.environ))
    if asked.good:
        s.result["machine"].update(zip((f"gpu {f}" for f in fields.split(",")), asked.out.strip().split(", ")))


def _listed(s: Session, name: str) -> List[Dict[str, Any]]:
    for mark in (s.work / "cache/mokume/opencl").glob("probe-*"):
        mark.unlink()
    listed = s.call(name, [s.kit.program("mokume"), "devices", "--json"], 60)
    try:
        found = json.loads(listed.out)
    except ValueError:
        return []
    return list(found["devices"] if isinstance(found, dict) else found)


def devices(s: Session) -> None:
    """The devices that the program sees, the output of doctor, the speeds, and the time to build kernels."""
    found = _listed(s, "devices")
    if not any(d.get("backend") == "opencl" for d in found):
        found = _listed(s, "devices-again")  # a driver that was slow once is left out until its mark is gone
    if s.layer and not any(d.get("backend") == "opencl" for d in found):
        s.layer = False  # a loader that refuses the layer of build logs must not cost the rest
        found = _listed(s, "devices-without-build-logs")
    s.table("devices", [{key: d.get(key) for key in ("id", "kind", "name", "platform", "vendor", "version", "driver",
                                                     "isa", "memory_bytes", "max_buffer_bytes", "physical_id")}
                        for d in found])
    doctor = s.call("doctor", [s.kit.program("mokume"), "doctor"], 60)
    if doctor.code == 4:
        s.accept()  # it found faults and reports them; the log is on the page
    opencl = [d for d in found if d.get("backend") == "opencl"]
    chosen = next((d for d in opencl if d.get("kind") == "gpu"), opencl[0] if opencl else None)
    if chosen is None:
        raise StepFailed("the program sees no OpenCL device; the log of doctor says why")
    s.gpu = chosen["id"]
    s.result["machine"].update(device=chosen["name"], driver=chosen.get("driver"), device_id=chosen["id"])
    probed = s.call("probe", [s.kit.program("mokume"), "devices", "--probe"])
    s.table("speeds", [{"device": line.split()[0], "says": " ".join(line.split()[1:])}
                       for line in probed.out.splitlines() if line.strip()])


def libraries(s: Session) -> None:
    """Every library that the programs load, and its origin."""
    env = dict(s.kit.environment(s.layer), LD_DEBUG="libs", LD_DEBUG_OUTPUT=str(s.work / "tmp/ld"))
    s.call("probe", [s.kit.program("mokume"), "devices", "--probe"], environment=env)
    loaded = set()
    for log in (s.work / "tmp").glob("ld.*"):
        text = log.read_text(errors="replace")
        log.unlink()
        begun = re.search(r"initialize program: (\S+)", text)
        if begun and begun.group(1).startswith(str(s.kit.root)):  # and not a driver's own compiler
            loaded.update(re.findall(r"calling init: (/\S+)", text))
    trace = dict(s.kit.environment(False), LD_TRACE_LOADED_OBJECTS="1")
    for program in sorted((s.kit.root / "bin").iterdir()):
        needs = s.call(f"needs-{program.name}", [str(program)], 20, environment=trace)
        loaded.update(re.findall(r"=> (/\S+)", needs.out))
        loaded.update(f"{program.name} finds no {name}" for name in re.findall(r"(\S+) => not found", needs.out))
    closure = s.kit.vendor_closure()
    rows = sorted(({"from": s.kit.origin(path, closure), "library": path} for path in loaded),
                  key=lambda row: (row["from"] != "OUTSIDE", row["from"], row["library"]))
    s.table("libraries", rows)
    outside = [row["library"] for row in rows if row["from"] == "OUTSIDE"]
    if outside:
        raise StepFailed(f"{len(outside)} libraries come neither from the bundle nor from glibc or the vendor: "
                         + ", ".join(outside[:5]))
    _need(rows, "no library was seen to be loaded; is LD_DEBUG ignored here?")


PASSES = [("numerics", ["semantics", "handle", "kernel_source", "group", "gemm", "linear_update"], ""),
          ("convolutions", ["conv2d", "conv2d_grad_input", "conv2d_grad_weight"], ""),
          ("other-ops", ["kernel_map", "row_norm2", "gather_rows", "fill", "optimizer_step", "softmax_loss",
                         "squared_loss", "max_pool", "max_pool_grad", "avg_pool", "avg_pool_grad", "bias_act",
                         "act_grad", "dropout", "affine_columns"], ""),
          ("gemm-clblast", ["gemm", "semantics"], "gemm=clblast"), ("gemm-tile", ["gemm", "semantics"], "gemm=tile"),
          ("refusals", ["refusal"], "")]
REHEARSED_PASSES = [("handles", ["handle", "kernel_source"], "")]


def _conform(s: Session, name: str, groups: List[str], choices: str) -> figures.Tests:
    """Runs a pass; after a crash or a hang it runs the rest again, three times at most."""
    said, left_out = "", []  # type: str, List[str]
    wanted = ":".join(f"opencl{s.gpu.split(':')[-1]}_*.{group}.*" for group in groups)
    env = dict(s.kit.environment(s.layer), **({"MOKUME_TEST_CHOICES": choices} if choices else {}))
    for attempt in range(3):
        filter_ = wanted + ("-" + ":".join(left_out) if left_out else "")
        outcome = s.call(name + "-again" * attempt, [s.kit.program("test_conformance"), f"--gtest_filter={filter_}"],
                         environment=env, grace=1, stall=160 if s.rehearse else 40)
        s.step["commands"][-1]["command"] = f"{choices} test_conformance --gtest_filter={wanted}" + (
            f", without {len(left_out)} tests that were run" if left_out else "")
        said += outcome.out
        tests = figures.Tests(outcome.out)
        if not tests.cut or s.left() < 10:
            break
        left_out += tests.passed + tests.failed + tests.skipped + [tests.cut]
    return figures.Tests(said)


def conformance(s: Session) -> None:
    """Every op against the oracle of the host backend, through the boundary."""
    overview, failures = [], []
    for name, groups, choices in REHEARSED_PASSES if s.rehearse else PASSES:
        if s.left() < 5:
            overview.append({"pass": name, "passed": 0, "failed": 0, "skipped": 0, "cut_in": "no time was left"})
            continue
        tests = _conform(s, name, groups, choices)
        overview.append({"pass": name, "passed": len(tests.passed), "failed": len(tests.failed),
                         "skipped": len(tests.skipped), "cut_in": ", ".join(tests.cut_in)})
        failures += [{"pass": name, "test": test, "why": tests.why[test]} for test in tests.failed]
        s.table("tests", overview)
        s.table("failed tests", failures)
    s.table("tests", overview)
    _need(any(row["passed"] for row in overview), f"no test ran on {s.gpu} and passed")


def _shape(line: Dict[str, Any]) -> str:
    if line["op"] == "gemm":
        turned = [side + "^T" if line[f"transpose_{side.lower()}"] else side for side in "AB"]
        return f"{line['m']} x {line['n']} x {line['k']}, {turned[0]}*{turned[1]}"
    return "{images} x {side}^2 x {channels} to {out_channels}, {kernel}^2, padding {padding}".format(**line)


def ops(s: Session) -> None:
    """Products and convolutions at the networks' shapes: the device's own choices, then each GEMM by itself."""
    seconds, most = ("0", "0.05") if s.rehearse else ("0.1", "1e9")
    rows: Dict[str, Dict[str, Any]] = {}
    for label, choices in (("own", ""), ("clblast", "gemm=clblast"), ("tile", "gemm=tile")):
        outcome = s.call(label, [s.kit.program("op_bench"), "opencl", seconds, most] + ([choices] if choices else []))
        for line in figures.json_lines(outcome.out):
            if "choices" in line:
                s.table(f"choices of {label}", [line["choices"]])
                continue
            row = rows.setdefault(line["name"], {"op": line["op"], "name": line["name"], "shape": _shape(line)})
            if label == "own":
                s.step.setdefault("shapes", []).append(line)
            row.update({f"{label}_us": line["us"], f"{label}_gflop_s": line["gflop_s"]})
            if label == "own":
                row["gb_s"] = line["gb_s"]
        s.table("ops", list(rows.values()))
    _need(rows, "no shape was measured")


def _rate(s: Session, name: str, case: str, seconds: float) -> Optional[float]:
    network, batch, what = case.split(":", 2)
    outcome = s.call(name, [s.kit.program("cnn_bench"), network, batch, what, str(seconds), "opencl"], 60)
    lines = figures.json_lines(outcome.out)
    return lines[-1]["images_per_s"] if lines else None


def _rounds(s: Session, cases: List[str], title: str, seconds: float, rounds: int) -> Dict[str, float]:
    """Medians; every case runs once before any is measured again."""
    rates: Dict[str, List[float]] = {}
    failed = set()
    for turn in range(rounds):
        for case in cases:
            if s.left() < 5 + 2 * seconds or case in failed:
                continue
            rate = _rate(s, re.sub(r"[:,]", "-", f"{case}:{turn}"), case, seconds)
            if rate is None:
                failed.add(case)
            else:
                rates.setdefault(case, []).append(rate)
            s.table(title, [{"case": case, "images_per_s": statistics.median(all_), "rounds": len(all_),
                             "least": min(all_), "most": max(all_)} for case, all_ in rates.items()])
    return {case: statistics.median(all_) for case, all_ in rates.items()}


def networks(s: Session) -> None:
    """Images per second of the published networks on generated, resident images."""
    _need(_rounds(s, REHEARSED_CASES if s.rehearse else CASES, "networks", 0.5 if s.rehearse else 1.5,
                  1 if s.rehearse else 2), "no network was measured")


def together(s: Session) -> None:
    """Small networks at batch 10: 32 side by side, and one by one."""
    count = 2 if s.rehearse else TOGETHER
    names = SMALL_NETWORKS[:1] if s.rehearse else SMALL_NETWORKS
    cases = [f"{n}:10:{what}" for n in names for what in (f"together:{count}", "train")]
    rates = _rounds(s, cases, "rates", 0.5 if s.rehearse else 1.5, 1 if s.rehearse else 2)
    s.table("together", [{"network": n, "together": count, "images_per_s": rates.get(f"{n}:10:together:{count}"),
                          "one_by_one": rates.get(f"{n}:10:train"),
                          "ratio": _ratio(rates.get(f"{n}:10:together:{count}"), rates.get(f"{n}:10:train"))}
                         for n in names])
    _need(rates, "no network was measured")


def _ratio(a: Optional[float], b: Optional[float]) -> Optional[float]:
    return round(a / b, 3) if a and b else None


def torch_python(s: Session) -> str:
    """A Python whose PyTorch has a device, or ''."""
    found = [shutil.which("python3")] + sorted(str(p) for p in Path("/opt").glob("*/.venv/bin/python3"))
    found += ["/opt/conda/bin/python3", "/usr/bin/python3"]
    wanted = "import torch, sys; sys.exit(not torch.cuda.is_available())"
    for number, python in enumerate(dict.fromkeys(p for p in found if p and os.path.exists(p))):
        if s.call(f"has-torch-{number}", [python, "-c", wanted], 60, environment=_torch_environment()).good:
            return python
        s.accept()
    return ""


def _torch_environment() -> Dict[str, str]:
    """Its own environment, without the bundle's libraries."""
    return {k: v for k, v in os.environ.items() if not k.startswith("PYTHONPATH")}


def peers(s: Session) -> None:
    """PyTorch CUDA: eager and as a captured graph, fp32 and TF32."""
    python = torch_python(s)
    if not python:
        raise StepSkipped("no python3 here has a PyTorch that sees a CUDA device")
    out, shapes = s.work / "steps/peers/peers.json", s.work / "steps/peers/ops.json"
    shapes.write_text(json.dumps(s.result["steps"].get("ops", {}).get("shapes", [])))
    cases = REHEARSED_CASES if s.rehearse else CASES
    script = Path(__file__).resolve().parent.parent / "peers/cnn_torch_cuda.py"
    if not script.exists():
        script = Path(__file__).resolve().parents[2] / "peers/cnn_torch_cuda.py"
    s.call("torch", [python, "-B", "-u", str(script), "--out", str(out), "--ops", str(shapes), "--seconds", "0.25",
                     "--together", str(TOGETHER), "--networks", *SMALL_NETWORKS, "--cases", *cases],
           environment=_torch_environment())
    if not out.exists():
        raise StepFailed("PyTorch measured nothing")
    compare(s, json.loads(out.read_text()))


def compare(s: Session, peer: Dict[str, Any]) -> None:
    """The results of the peer, compared with those of mokume in the steps before."""
    ours = {row["case"]: row["images_per_s"] for row in s.rows("networks", "networks")}
    ours.update({f"{row['network']}:10:together:{row['together']}": row["images_per_s"]
                 for row in s.rows("together", "together")})
    ours_us = {(row["op"], row["name"]): row.get("own_us") for row in s.rows("ops", "ops")}
    rows: Dict[str, Dict[str, Any]] = {}
    for one in peer["results"]:
        row = rows.setdefault(one["case"], {"case": one["case"], "mokume": ours.get(one["case"])})
        row[f"{one['mode']} {one['precision']}"] = one["images_per_s"]
        row[f"ratio to {one['mode']} {one['precision']}"] = _ratio(row["mokume"], one["images_per_s"])
    s.table("images a second beside PyTorch", list(rows.values()))
    by_op: Dict[Any, Dict[str, Any]] = {}
    for one in peer["ops"]:
        key = (one["op"], one["name"])
        row = by_op.setdefault(key, {"op": one["op"], "name": one["name"], "mokume_us": ours_us.get(key)})
        row[f"torch {one['precision']} us"] = one["us"]
        row[f"ratio to {one['precision']}"] = _ratio(one["us"], row["mokume_us"])
    s.table("microseconds an op beside PyTorch", list(by_op.values()))
    s.table("versions", [{k: v for k, v in peer.items() if k not in ("results", "ops")}])


def _experiment(s: Session, name: str, config: str, sets: List[str], seconds: Optional[float] = None,
                devices_: str = "") -> Dict[str, Any]:
    """Runs an experiment for the remaining time, and reads its results."""
    reserve = 15  # to finish its bundles and write the report
    allowed = s.left() - reserve if seconds is None else min(seconds, s.left() - reserve)
    if allowed < 3:
        return {"run": name, "state": "no time was left"}
    out = s.work / "steps" / s.step_name / f"{name}-runs"
    arguments = [s.kit.program("mokume"), "run", s.kit.config(config), "--out", str(out), "--fresh", "--devices",
                 devices_ or s.gpu, "--max-time", f"{int(allowed)}s"]
    for one in sets:
        arguments += ["--set", one]
    outcome = s.call(name, arguments, allowed + reserve - 2, grace=2)
    if outcome.code == 75:
        s.accept()  # stopped by --max-time
    row = {"run": name, **figures.of_run(out)}
    for plots in out.glob("*/*/plots"):
        shutil.rmtree(str(plots), ignore_errors=True)
    return row


def svc5000(s: Session) -> None:
    """The published grid on 5,000 rows, complete if time allows."""
    small = ["data.limit=200", "validation.folds=2", "search.params.gamma=[0.001]", "search.params.C=[1]"]
    s.table("svc, 5,000 rows", [_experiment(s, "grid", "svc-grid-mnist", small if s.rehearse else ["data.limit=5000"])])


def svc60000(s: Session) -> None:
    """60,000 rows: three gammas of the published 24, each alone with all C, the middle one first."""
    rows: List[Dict[str, Any]] = []
    gammas = {"middle": 10 ** (-6 + 4 * 11 / 23), "wide": 10 ** (-6 + 4 * 4 / 23), "narrow": 10 ** (-6 + 4 * 19 / 23)}
    for turn, (name, gamma) in enumerate(list(gammas.items())[:1 if s.rehearse else 3]):
        sets = [f"search.params.gamma=[{gamma:.6g}]"]
        if s.rehearse:
            sets += ["data.limit=400", "search.params.C=[1]"]
        share = s.left() / (2 if turn < 2 else 1) - 8
        rows.append({"gamma": gamma, **_experiment(s, name, "svc-grid-mnist", sets, share)})
        s.table("svc, 60,000 rows", rows)


def train(s: Session) -> None:
    """Whole trainings on MNIST with their errors."""
    small = ["data.limit=300", "model_options.epochs=1"] if s.rehearse else []
    work = [("guide", "cnn-guide-mnist", ["model_options.epochs=5", "model_options.batch_size=128"]),
            ("study", "cnn-study-mnist", ["model_options.epochs=5", "search.params.n_conv_layer=[13]",
                                          "search.params.kernel_size=[8]", "search.params.n_hidden_layer=[227]"]),
            ("lightning", "cnn-lightning-mnist", ["model_options.epochs=5"])]
    rows: List[Dict[str, Any]] = []
    for turn, (name, config, sets) in enumerate(work[1:2] if s.rehearse else work):
        keys = {one.split("=")[0] for one in small}
        chosen = [one for one in sets if one.split("=")[0] not in keys] + small
        rows.append(_experiment(s, name, config, chosen, s.left() / (3 - turn) - 5))
        s.table("trainings", rows)


def mixed(s: Session) -> None:
    """The card and the CPU in one run: how many fits each took."""
    sets = ["data.limit=300" if s.rehearse else "data.limit=2000", "validation.folds=3"]
    sets += ["search.params.gamma={ log10 = [-4, -2], n = %d }" % (2 if s.rehearse else 12),
             "search.params.C={ log10 = [-1, 2], n = %d }" % (2 if s.rehearse else 8)]
    s.table("run", [_experiment(s, "gpu-and-cpu", "svc-grid-mnist", sets, devices_=f"{s.gpu},host")])
    s.table("devices", figures.devices_of_run(s.work / "steps/mixed/gpu-and-cpu-runs"))


class Step(NamedTuple):
    name: str
    limit: float  # seconds
    least: float  # seconds without which it does not start
    body: Callable[[Session], None]


STEPS = [Step("machine", 45, 1, machine), Step("devices", 90, 10, devices), Step("libraries", 30, 5, libraries),
         Step("conformance", 70, 15, conformance), Step("ops", 50, 10, ops), Step("networks", 60, 10, networks),
         Step("together", 50, 10, together), Step("peers", 100, 20, peers), Step("svc5000", 90, 25, svc5000),
         Step("train", 50, 25, train), Step("svc60000", 80, 30, svc60000), Step("mixed", 30, 20, mixed)]

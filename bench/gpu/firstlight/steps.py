"""Defines the steps, the most informative ones first. Each raises StepFailed with one sentence, or produces tables."""
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from . import figures, known
from .session import Call, Session, StepFailed, StepSkipped

CASES = ["guide:128:train", "lightning:128:train", "13,8,227:10:train", "guide:1:infer", "guide:1000:infer",
         "lightning:1:infer", "lightning:1000:infer", "13,8,227:5:train", "690,10,903:10:train"]
SMALL_NETWORKS = ["0,0,32", "0,0,100", "4,5,32", "8,7,20"]
TOGETHER = 32
REHEARSED_CASES = ["13,8,227:10:train", "guide:1:infer"]
REHEARSED_QUICKSTART = ["search.params.C=[1]", "search.params.gamma=[0.01]", "data.limit=200"]


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


def _chosen(found: List[Dict[str, Any]]) -> Optional[Dict[str, Any]]:
    opencl = [d for d in found if d.get("backend") == "opencl"]
    return next((d for d in opencl if d.get("kind") == "gpu"), opencl[0] if opencl else None)


def device(s: Session) -> None:
    """Finds the card in the program's list, and makes `gemm = tile` its choice."""
    found = _listed(s, "devices")
    if not _chosen(found):
        found = _listed(s, "devices-again")  # a driver that was slow once is skipped until its mark is deleted
    if s.layer and not _chosen(found):
        s.layer = False  # a loader that rejects the layer of build logs must not prevent the other steps
        found = _listed(s, "devices-without-build-logs")
    s.table("devices", [{key: d.get(key) for key in ("id", "kind", "name", "platform", "vendor", "version", "driver",
                                                     "isa", "memory_bytes", "max_buffer_bytes", "physical_id")}
                        for d in found])
    chosen = _chosen(found)
    if chosen is None:
        s.call("doctor", [s.kit.program("mokume"), "doctor"], 60)
        for icd in sorted((s.work / "vendors").glob("*.icd")):
            s.call(f"probe-{icd.stem}", [str(s.kit.root / "lib/mokume/libexec/opencl-probe"), icd.read_text().strip()], 20)
        raise StepFailed("the program sees no OpenCL device; the logs of doctor and of the probes say why")
    s.gpu = chosen["id"]
    s.result["machine"].update(device=chosen["name"], driver=chosen.get("driver"), device_id=chosen["id"])
    force_tile(s)


OPEN = ["opencl", "0", "0"]  # op_bench without an op opens the device and reports its choices


def force_tile(s: Session) -> None:
    """Puts `gemm = tile` into the notes of the program that opens a device first, which the others read. CLBlast may
    win at the one size that it measures, but then, networks would not be stacked, and bits would depend on the race.
    """
    program = s.kit.program("op_bench")
    if not s.call("open", [program] + OPEN, 15).good:
        s.kit.remove_clblast()  # removes the only code in the race that is not ours
        s.call("open-without-clblast", [program] + OPEN, 15)
    for file in s.kit.choices_files():
        raced = dict(line.split(" ", 1) for line in file.read_text().splitlines())
        s.table("chosen before", [raced])
        file.write_text("".join(f"{key} {value}\n" for key, value in {**raced, "gemm": "tile"}.items()))
    again = s.call("open-again", [program] + OPEN, 15)
    choices = [line["choices"] for line in figures.json_lines(again.out) if "choices" in line]
    s.check("products of every program", "tile", choices[0].get("gemm") if choices else None)


def devices(s: Session) -> None:
    """Shows the output of doctor, and the speeds of all devices."""
    doctor = s.call("doctor", [s.kit.program("mokume"), "doctor"], 60)
    if doctor.code == 4:
        s.accept()  # the program finds and reports faults; the log is on the page
    probed = s.call("probe", [s.kit.program("mokume"), "devices", "--probe"])
    s.table("speeds", [{"device": line.split()[0], "says": " ".join(line.split()[1:])}
                       for line in probed.out.splitlines() if line.strip()])


def libraries(s: Session) -> None:
    """Lists every library that the programs load, and its origin."""
    env = dict(s.kit.environment(s.layer), LD_DEBUG="libs", LD_DEBUG_OUTPUT=str(s.work / "tmp/ld"))
    s.call("probe", [s.kit.program("mokume"), "devices", "--probe"], environment=env)
    loaded = set()
    for log in (s.work / "tmp").glob("ld.*"):
        text = log.read_text(errors="replace")
        log.unlink()
        begun = re.search(r"initialize program: (\S+)", text)
        if begun and begun.group(1).startswith(str(s.kit.root)):  # excludes a driver's own compiler
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


TILE, CLBLAST, TF32, BF16 = "gemm=tile", "gemm=clblast", "precision=tf32", "precision=bf16"
LARGE = ["*.large_*x*", "*.may_be_long"]  # the oracle takes half a minute for these
PASSES = [("numerics", ["semantics", "handle", "kernel_source", "group", "linear_update"], TILE),
          ("gemm", ["gemm"], TILE), ("convolutions", ["conv2d", "conv2d_grad_input", "conv2d_grad_weight"], TILE),
          ("other-ops", ["kernel_map", "row_norm2", "gather_rows", "fill", "optimizer_step", "softmax_loss",
                         "squared_loss", "max_pool", "max_pool_grad", "avg_pool", "avg_pool_grad", "bias_act",
                         "act_grad", "dropout", "affine_columns"], TILE),
          ("gemm-clblast", ["gemm", "semantics"], CLBLAST),
          ("tf32", ["gemm", "conv2d"], TF32), ("bf16", ["gemm", "conv2d_grad_input", "conv2d_grad_weight"], BF16),
          ("winograd", ["conv2d", "conv2d_grad_input"], TILE + ",conv=winograd_everywhere")]
REHEARSED_PASSES = [("handles", ["handle", "kernel_source"], TILE)]


class _Pass:
    """Runs some tests of the conformance suite, and after a crash or a hang the rest of them."""

    def __init__(self, s: Session, name: str, groups: List[str], choices: str) -> None:
        self.name, self.choices = name, choices
        self.wanted = ":".join(f"opencl{s.gpu.split(':')[-1]}_*.{group}.*" for group in groups)
        self.left_out, self.said, self.ended, self.runs = list(LARGE), "", False, 0

    def call(self, s: Session) -> Call:
        known_ones = len(self.left_out) - len(LARGE)
        self.runs += 1
        return Call(self.name + "-again" * (self.runs - 1),
                    [s.kit.program("test_conformance"), f"--gtest_filter={self.wanted}-{':'.join(self.left_out)}"],
                    dict(s.kit.environment(s.layer), MOKUME_TEST_CHOICES=self.choices),
                    f"{self.choices} test_conformance --gtest_filter={self.wanted}-{':'.join(LARGE)}"
                    + (f", without {known_ones} tests that were run" if known_ones else ""))

    def hear(self, said: str) -> None:
        self.said += said
        tests = figures.Tests(said)
        self.ended = not tests.cut
        if tests.cut:
            self.left_out += tests.passed + tests.failed + tests.skipped + [tests.cut]

    def tests(self) -> figures.Tests:
        return figures.Tests(self.said)


def conformance(s: Session) -> None:
    """Compares every op with the oracle of the host backend, through the C boundary. All passes run at once."""
    passes = [_Pass(s, *one) for one in (REHEARSED_PASSES if s.rehearse else PASSES)]
    for _ in range(3):
        unfinished = [one for one in passes if not one.ended]
        if not unfinished or s.left() < 5:
            break
        outcomes = s.call_together([one.call(s) for one in unfinished], grace=1, stall=160 if s.rehearse else 25)
        for one, outcome in zip(unfinished, outcomes):
            one.hear(outcome.out)
        s.table("tests", [{"pass": one.name, "passed": len(one.tests().passed), "failed": len(one.tests().failed),
                           "skipped": len(one.tests().skipped), "cut_in": ", ".join(one.tests().cut_in)}
                          for one in passes])
        s.table("failed tests", [{"pass": one.name, "test": test, "why": one.tests().why[test]}
                                 for one in passes for test in one.tests().failed])
    _need(any(one.tests().passed for one in passes), f"no test ran on {s.gpu} and passed")


def solver(s: Session) -> None:
    """Compares the bits of the SVM solvers on the GPU and on the host, and checks the quickstart's errors."""
    env = dict(s.kit.environment(s.layer), MOKUME_TEST_CHOICES=TILE)
    outcome = s.call("bits", [s.kit.program("test_svc"), f"--gtest_filter={':'.join(s.kit.manifest['solver_tests'])}"],
                     environment=env, grace=1)
    tests = figures.Tests(outcome.out)
    for name in s.kit.manifest["solver_tests"]:
        ended = "passed" if name in tests.passed else tests.why.get(name, "did not run to its end")
        s.check(name, "passed", ended)
    if s.left() > 5:
        row = _experiment(s, "quickstart", "quickstart", REHEARSED_QUICKSTART if s.rehearse else [], reserve=2)
        s.table("quickstart", [row])
        if not s.rehearse:
            s.check("errors of the quickstart on its 1000 test rows", known.QUICKSTART, row.get("test_errors"))


def _shape(line: Dict[str, Any]) -> str:
    if line["op"] == "gemm":
        turned = [side + "^T" if line[f"transpose_{side.lower()}"] else side for side in "AB"]
        return f"{line['m']} x {line['n']} x {line['k']}, {turned[0]}*{turned[1]}"
    return "{images} x {side}^2 x {channels} to {out_channels}, {kernel}^2, padding {padding}".format(**line)


def ops(s: Session) -> None:
    """Measures products and convolutions at the networks' shapes with our own GEMM, with CLBlast as a peer, with minimal
    filtering, and with matrix units. A device that cannot use its units says so in the choices."""
    seconds, most = ("0", "0.05") if s.rehearse else ("0.1", "1e9")
    rows: Dict[str, Dict[str, Any]] = {}
    for label, choices in (("tile", TILE + ",conv=implicit"), ("clblast", CLBLAST), ("tf32", TF32), ("bf16", BF16),
                           ("winograd", TILE + ",conv=winograd")):
        if s.left() < 5:
            break
        outcome = s.call(label, [s.kit.program("op_bench"), "opencl", seconds, most, choices])
        for line in figures.json_lines(outcome.out):
            if "choices" in line:
                s.table(f"choices of {label}", [line["choices"]])
                continue
            row = rows.setdefault(line["name"], {"op": line["op"], "name": line["name"], "shape": _shape(line)})
            row.update({f"{label}_us": line["us"], f"{label}_gflop_s": line["gflop_s"]})
            if label == "tile":
                s.step.setdefault("shapes", []).append(line)
                row["gb_s"] = line["gb_s"]
        s.table("ops", list(rows.values()))
    _need(rows, "no shape was measured")


def _rate(s: Session, name: str, case: str, seconds: float) -> Optional[float]:
    network, batch, what = case.split(":", 2)
    outcome = s.call(name, [s.kit.program("cnn_bench"), network, batch, what, str(seconds), "opencl"], 60)
    lines = figures.json_lines(outcome.out)
    return lines[-1]["images_per_s"] if lines else None


def _rounds(s: Session, cases: List[str], title: str, seconds: float, rounds: int) -> Dict[str, float]:
    """Returns the median of each case. Every case runs once before any case runs again."""
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
    """Measures images per second of the published networks on generated, resident images."""
    _need(_rounds(s, REHEARSED_CASES if s.rehearse else CASES, "networks", 0.5 if s.rehearse else 1,
                  1 if s.rehearse else 2), "no network was measured")


def together(s: Session) -> None:
    """Measures small networks at batch 10, 32 side by side and one by one."""
    count = 2 if s.rehearse else TOGETHER
    names = SMALL_NETWORKS[:1] if s.rehearse else SMALL_NETWORKS
    cases = [f"{n}:10:{what}" for n in names for what in (f"together:{count}", "train")]
    rates = _rounds(s, cases, "rates", 0.5 if s.rehearse else 0.7, 1 if s.rehearse else 2)
    s.table("together", [{"network": n, "together": count, "images_per_s": rates.get(f"{n}:10:together:{count}"),
                          "one_by_one": rates.get(f"{n}:10:train"),
                          "ratio": _ratio(rates.get(f"{n}:10:together:{count}"), rates.get(f"{n}:10:train"))}
                         for n in names])
    _need(rates, "no network was measured")


def _ratio(a: Optional[float], b: Optional[float]) -> Optional[float]:
    return round(a / b, 3) if a and b else None


def torch_python() -> str:
    """Returns a Python that has PyTorch, or ''."""
    found = [shutil.which("python3")] + sorted(str(p) for p in Path("/opt").glob("*/.venv/bin/python3"))
    found += ["/opt/conda/bin/python3", "/usr/bin/python3"]
    wanted = "import sys; from importlib.util import find_spec; sys.exit(find_spec('torch') is None)"
    for python in dict.fromkeys(p for p in found if p and os.path.exists(p)):
        if subprocess.run([python, "-c", wanted], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    return ""


def _torch_environment(s: Session) -> Dict[str, str]:
    """Returns PyTorch's environment, without the bundle's libraries. The next call finds what PyTorch compiles."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHONPATH")}
    return {**kept, "TORCHINDUCTOR_CACHE_DIR": str(s.work / "torch"), "TRITON_CACHE_DIR": str(s.work / "torch/triton")}


def peers(s: Session) -> None:
    """Measures PyTorch CUDA at its best: channels last, captured graphs, compiled, fp32, TF32 and bf16."""
    python = torch_python()
    if not python:
        raise StepSkipped("no python3 here has PyTorch")
    out, shapes = s.work / "steps/peers/peers.json", s.work / "steps/peers/ops.json"
    shapes.write_text(json.dumps(s.result["steps"].get("ops", {}).get("shapes", [])))
    cases, networks_, count = (REHEARSED_CASES, SMALL_NETWORKS[:1], 2) if s.rehearse else (
        CASES, SMALL_NETWORKS, TOGETHER)
    script = str(s.kit.packed / "peers/cnn_torch_cuda.py")
    limit = min(s.left() - 8, 60 if s.rehearse else math.inf)
    arguments = ["--out", str(out), "--ops", str(shapes), "--limit", str(int(limit)), "--seconds", "0.1", "--rounds",
                 "2", "--together", str(count), "--networks", *networks_, "--cases", *cases]
    if s.rehearse:
        arguments += ["--device", "cpu"]
    outcome = s.call("torch", [python, "-B", "-u", script] + arguments, environment=_torch_environment(s))
    if outcome.code == 4:
        raise StepSkipped(f"{python}'s PyTorch sees no CUDA device")
    if not out.exists():
        raise StepFailed("PyTorch measured nothing")
    compare(s, json.loads(out.read_text()))


def _best(rates: Dict[str, float]) -> Any:
    return max(rates.items(), key=lambda one: one[1]) if rates else ("", None)


def _beside(ours: Optional[float], theirs: Dict[str, float]) -> Dict[str, Any]:
    """Returns our rate, PyTorch's best rates in strict fp32 and overall, and the ratios to these two."""
    row: Dict[str, Any] = {"mokume": ours}
    strict = {name: rate for name, rate in theirs.items() if "fp32" in name.split()}
    for label, rates in (("fp32", strict), ("of all", theirs)):
        name, rate = _best(rates)
        row.update({f"best {label}": rate, f"by {label}": name, f"ratio to best {label}": _ratio(ours, rate)})
    return row


def compare(s: Session, peer: Dict[str, Any]) -> None:
    """Compares the results of the peer with those of mokume in earlier steps."""
    ours = {row["case"]: row["images_per_s"] for row in s.rows("networks", "networks")}
    ours.update({row["case"]: row["images_per_s"] for row in s.rows("together", "rates")})
    theirs: Dict[str, Dict[str, float]] = {}
    for one in peer["results"]:
        theirs.setdefault(one["case"], {})[one["variant"]] = one["images_per_s"]
    s.table("images a second beside PyTorch",
            [{"case": case, **_beside(ours.get(case), rates)} for case, rates in theirs.items()])
    ours_of_op = {(row["op"], row["name"]): 1e6 / row["tile_us"] for row in s.rows("ops", "ops") if row.get("tile_us")}
    by_op: Dict[Any, Dict[str, float]] = {}
    for one in peer["ops"]:
        by_op.setdefault((one["op"], one["name"]), {})[one["variant"]] = 1e6 / one["us"]
    s.table("ops a second beside PyTorch",
            [{"op": op, "name": name, **_beside(ours_of_op.get((op, name)), rates)}
             for (op, name), rates in by_op.items()])
    s.table("PyTorch, images a second of each variant", [{"case": case, **rates} for case, rates in theirs.items()])
    s.table("PyTorch, ops a second of each variant", [{"name": key[1], **rates} for key, rates in by_op.items()])
    s.table("what PyTorch refused", peer.get("refused", []))
    s.table("versions", [{k: v for k, v in peer.items() if k not in ("results", "ops", "refused")}])


def _experiment(s: Session, name: str, config: str, sets: List[str], seconds: Optional[float] = None,
                devices_: str = "", reserve: float = 12, environment: Optional[Dict[str, str]] = None) -> Dict[str, Any]:
    """Runs an experiment for the remaining time, except `reserve` for the last bundles and report. Returns results."""
    allowed = s.left() - reserve if seconds is None else min(seconds, s.left() - reserve)
    if allowed < 3:
        return {"run": name, "state": "no time was left"}
    out = s.work / "steps" / s.step_name / f"{name}-runs"
    arguments = [s.kit.program("mokume"), "run", s.kit.config(config), "--out", str(out), "--fresh", "--devices",
                 devices_ or s.gpu, "--max-time", f"{int(allowed)}s"]
    for one in sets:
        arguments += ["--set", one]
    outcome = s.call(name, arguments, allowed + reserve - 2, grace=2, environment=environment)
    if outcome.code == 75:
        s.accept()  # stopped by --max-time
    row = {"run": name, **figures.of_run(out)}
    for plots in out.glob("*/*/plots"):
        shutil.rmtree(str(plots), ignore_errors=True)
    return row


def _counts(s: Session, name: str) -> Dict[known.Cell, Dict[int, int]]:
    run = figures.newest_run(s.work / "steps" / s.step_name / f"{name}-runs")
    return known.counts(run / "results.csv") if run else {}


def svc5000(s: Session) -> None:
    """Runs the published grid on 5,000 rows, all of it if time allows, and compares its errors with scikit-learn's."""
    small = ["data.limit=200", "validation.folds=2", "search.params.gamma=[0.001]", "search.params.C=[1]"]
    s.table("svc, 5,000 rows", [_experiment(s, "grid", "svc-grid-mnist", small if s.rehearse else ["data.limit=5000"])])
    expected = known.grid_of_5000(s.kit.packed / "results/svc-grid-mnist5000.json")
    s.checks(known.checks(expected, _counts(s, "grid"), in_order=True))


GAMMAS = [("published", 19), ("middle", 11), ("wide", 4)]  # the published gammas are numbered from 0 to 23


def svc60000(s: Session) -> None:
    """Runs three of the 24 gammas on 60,000 rows, each alone with all C, the gamma with published errors first."""
    rows: List[Dict[str, Any]] = []
    for turn, (name, index) in enumerate(GAMMAS[:1] if s.rehearse else GAMMAS):
        gamma = 10 ** (-6 + 4 * index / 23)
        sets = [f"search.params.gamma=[{gamma!r}]"]
        if s.rehearse:
            sets += ["data.limit=400", "search.params.C=[1]"]
        share = s.left() / (2 if turn < 2 else 1) - 8
        rows.append({"gamma": gamma, **_experiment(s, name, "svc-grid-mnist", sets, share)})
        s.table("svc, 60,000 rows", rows)
        if not s.rehearse:
            s.checks(known.checks(known.grid_of_60000(), _counts(s, name), in_order=False))


SHORT = ["model_options.epochs=5", "model_options.batch_size=128"]
STUDY = ["search.params.n_conv_layer=[13]", "search.params.kernel_size=[8]", "search.params.n_hidden_layer=[227]"]
TRAININGS = [("guide-2000-rows", "cnn-guide-mnist", ["data.limit=2000", "model_options.epochs=1"]),
             ("guide", "cnn-guide-mnist", SHORT),
             ("lightning", "cnn-lightning-mnist", SHORT[:1]),
             ("study", "cnn-study-mnist", SHORT[:1] + STUDY)]
REHEARSED_TRAININGS = [("study", "cnn-study-mnist", ["data.limit=300", "model_options.epochs=1"] + STUDY)]


def train(s: Session) -> None:
    """Trains networks on MNIST, and checks their errors."""
    rows: List[Dict[str, Any]] = []
    trainings = REHEARSED_TRAININGS if s.rehearse else TRAININGS
    for turn, (name, config, sets) in enumerate(trainings):
        row = _experiment(s, name, config, sets, s.left() / (len(trainings) - turn), reserve=6)
        rows.append(row)
        s.table("trainings", rows)
        errors = row.get("test_errors")
        if errors is not None and name == "guide-2000-rows":
            s.check("errors of the guide network on 10000 images, after 2000 rows", known.GUIDE_OF_2000_ROWS, errors)
        if errors is not None and name == "guide":
            s.check("errors of the guide network on 10000 images, after 5 epochs",
                    f"{known.GUIDE}, within {known.GUIDE_CLOSE}", errors,
                    abs(errors - known.GUIDE) <= known.GUIDE_CLOSE)


def mixed(s: Session) -> None:
    """Runs the GPU and the CPU together, and counts the fits of each."""
    sets = ["data.limit=300" if s.rehearse else "data.limit=2000", "validation.folds=3"]
    sets += ["search.params.gamma={ log10 = [-4, -2], n = %d }" % (2 if s.rehearse else 12),
             "search.params.C={ log10 = [-1, 2], n = %d }" % (2 if s.rehearse else 8)]
    s.table("run", [_experiment(s, "gpu-and-cpu", "svc-grid-mnist", sets, devices_=f"{s.gpu},host")])
    s.table("devices", figures.devices_of_run(s.work / "steps/mixed/gpu-and-cpu-runs"))


TIMED = ["guide:128:train", "lightning:128:train", "13,8,227:10:train", "690,10,903:10:train", "0,0,100:10:train",
         f"0,0,100:10:together:{TOGETHER}", f"4,5,32:10:together:{TOGETHER}", "guide:1:infer"]
TIMED_SVC = ["data.limit=10000", "search.params.gamma=[0.002]", "search.params.C=[1]"]


def kernels(s: Session) -> None:
    """Times each kernel of the networks and of the SVM on the device, as the program runs as usual."""
    env = s.kit.environment(False)
    for case in REHEARSED_CASES if s.rehearse else TIMED:
        times = s.work / "steps/kernels" / re.sub(r"[:,]", "-", case)
        times.mkdir(parents=True, exist_ok=True)
        network, batch, what = case.split(":", 2)
        s.call(f"{times.name}-run", [s.kit.program("cnn_bench"), network, batch, what, "0.3", "opencl"], 20,
               environment=s.kit.with_layer(env, "kernel_times", KERNEL_TIMES=str(times)))
        s.table(case, figures.kernel_times(times))
    times = s.work / "steps/kernels/svc"
    times.mkdir(parents=True, exist_ok=True)
    sets = ["data.limit=300"] + TIMED_SVC[1:] if s.rehearse else TIMED_SVC
    _experiment(s, "svc-run", "svc-grid-mnist", sets, reserve=8,
                environment=s.kit.with_layer(env, "kernel_times", KERNEL_TIMES=str(times)))
    s.table("svc, 10,000 rows", figures.kernel_times(times))


class Step(NamedTuple):
    name: str
    limit: float  # seconds
    least: float  # minimum number of seconds to start with
    body: Callable[[Session], None]


DEVICE = Step("device", 25, 5, device)  # precedes all others except `machine` in every call
FIRST = [Step("machine", 10, 1, machine), DEVICE, Step("devices", 20, 5, devices), Step("libraries", 10, 5, libraries),
         Step("conformance", 47, 15, conformance), Step("solver", 20, 8, solver)]
REST = [DEVICE, Step("ops", 36, 10, ops), Step("networks", 40, 10, networks), Step("together", 28, 10, together),
        Step("peers", 84, 20, peers), Step("kernels", 30, 15, kernels), Step("svc5000", 36, 20, svc5000),
        Step("svc60000", 40, 25, svc60000), Step("train", 36, 20, train), Step("mixed", 22, 16, mixed)]
STEPS = FIRST + REST[1:]

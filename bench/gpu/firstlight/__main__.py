"""first-light [--first|--rest] [--only STEP,STEP] [--kit FOLDER] [--out FOLDER] [--work FOLDER] [--seconds N]
            [--library NAME] [--cuda] [--rehearse] [--list]

Measures mokume on this machine, in steps; all results go to one folder ($OUT, or ./first-light-TIME).
"""
import argparse
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import List, Optional, Sequence, Tuple

from . import driver, figures, page
from .kit import Kit, KitError, work_folder
from .session import Session, StepFailed, StepSkipped
from .steps import DEVICE, FIRST, REST, STEPS, Step

RESERVE = 8.0  # seconds at the end for archives
DRIVER_LIMIT = 10.0
REHEARSAL_PATIENCE = 4  # a rehearsal runs on a few shared cores; its limits only guard against hangs
EXIT_FAILED, EXIT_USAGE, EXIT_NO_DEVICE = 1, 2, 4


def arguments(argv: Optional[List[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="first-light", description=__doc__.splitlines()[3])
    call = parser.add_mutually_exclusive_group()
    call.add_argument("--first", action="store_true", help="is it right? the steps up to the solver, in 150 s")
    call.add_argument("--rest", action="store_true", help="how fast is it? the steps after it, in 400 s")
    parser.add_argument("--only", help="steps, with commas between them; --list names them")
    parser.add_argument("--without", default="", help="steps to leave out")
    parser.add_argument("--kit", type=Path, help="the bundle's folder (default: this one, or .kit)")
    parser.add_argument("--out", type=Path, help="folder for the results (default: $OUT, or ./first-light-TIME)")
    parser.add_argument("--work", type=Path, help="folder that keeps built kernels for the next call (default: "
                        "first-light-UID among the temporary files)")
    parser.add_argument("--seconds", type=float,
                        help="for everything (default: 550; 150 with --first, 400 with --rest)")
    parser.add_argument("--library", help="the vendor's OpenCL library, where it is not to be looked for")
    parser.add_argument("--cuda", action="store_true",
                        help="the kit's driver over CUDA's, also where there is the vendor's OpenCL")
    parser.add_argument("--rehearse", action="store_true", help="tiny sizes: shows that everything runs")
    parser.add_argument("--list", action="store_true", help="names the steps")
    options = parser.parse_args(argv)
    options.seconds = options.seconds or (150 if options.first else 400 if options.rest else 550)
    return options


def chosen_steps(only: Optional[str], without: str, among: List[Step]) -> List[Step]:
    """Returns the requested steps of a call, and the step that finds the device, which all others need."""
    known = [step.name for step in among]
    named = [name for name in (only or "").split(",") if name]
    left_out = [name for name in without.split(",") if name]
    for name in named + left_out:
        if name not in known:
            raise KitError(f"there is no step {name}; there are {', '.join(known)}")
    return [step for step in among if step is DEVICE or (not named or step.name in named) and step.name not in left_out]


def vendors_libraries(kit: Kit, named: Optional[str], over_cuda: bool) -> Tuple[List[str], List[str]]:
    """Returns the vendor's libraries and the OpenCL drivers, which are the same or the kit's driver on top of CUDA."""
    if named:
        found = list(filter(None, [driver.resolve(named)]))
    else:
        found = [] if over_cuda else driver.find()
    if found or named or not kit.cubins.is_dir():
        return found, found
    cuda = driver.find(driver.CUDA)[:1]
    return cuda, [str(kit.root / "lib/cuda_icd.so") for _ in cuda]


def find_driver(session: Session, named: Optional[str], over_cuda: bool) -> bool:
    """Writes the ICD files, or lists the available libraries."""
    session.begin("driver", DRIVER_LIMIT)
    libraries, drivers = vendors_libraries(session.kit, named, over_cuda)
    session.kit.libraries = libraries
    driver.write_icds(drivers, session.work / "vendors")
    if drivers != libraries:
        session.result["machine"]["OpenCL"] = "the kit's driver over CUDA's (tests/gpu/cuda)"
    session.table("libraries of vendors", [{"library": path, "is": os.path.realpath(path)} for path in libraries])
    if not libraries:
        session.table("what there is", driver.what_there_is())
    wanted = named or ", ".join(driver.PATTERNS)
    session.finish("" if libraries else f"there is no OpenCL library of a GPU's vendor here: looked for {wanted}; "
                   "the table lists what there is, and --library names one")
    return bool(libraries)


def run_step(session: Session, step: Step, later: Sequence[Step] = ()) -> None:
    """Runs a step within its own time and the time that earlier steps left over, so that later steps keep theirs."""
    left = session.end - RESERVE - time.monotonic()
    if left < step.least:
        session.skip(step.name, f"{max(left, 0):.0f} s were left; --only {step.name} runs it alone")
        return
    limit = max(step.limit, left - sum(other.limit for other in later))
    session.begin(step.name, min(limit * (REHEARSAL_PATIENCE if session.rehearse else 1), left))
    problem, skipped = "", False
    try:
        step.body(session)
    except StepSkipped as error:
        problem, skipped = str(error), True
    except StepFailed as error:
        problem = str(error)
    except SystemExit:
        session.finish("first-light was told to stop")
        raise
    except Exception as error:  # a fault of this script must not prevent later steps
        problem = f"{type(error).__name__}: {error} (a fault of first-light itself)"
        (session.work / "steps" / step.name / "fault.out").write_text(traceback.format_exc())
        traceback.print_exc()
    compiled = figures.builds(session.work / "builds")
    session.result["builds"] = compiled
    session.finish(problem, skipped)
    print_step(session, step.name)


def print_step(session: Session, name: str) -> None:
    done = session.result["steps"][name]
    print(f"\n== {name}: {done['status']}, {done['seconds']:.1f} s {done['reason']}", flush=True)
    for title, rows in done["tables"].items():
        if rows and title not in ("libraries", "rates"):
            print(page.plain(title, rows), flush=True)


def stop(number: int, _frame: Optional[FrameType]) -> None:
    sys.exit(128 + number)


def open_session(options: argparse.Namespace, start: float) -> Session:
    here = Path(__file__).resolve().parent.parent
    packed = options.kit or (here if (here / "manifest.json").exists() else Path(".kit"))
    stamp = time.strftime("%Y-%m-%d_%H%M%S", time.gmtime())
    out = options.out or Path(os.environ.get("OUT") or f"first-light-{stamp}")
    out.mkdir(parents=True, exist_ok=True)
    kit = Kit(packed.resolve(), work_folder(options.work))
    kit.unpack()
    return Session(kit, out.resolve(), options.seconds, options.rehearse, start)


def main() -> int:
    start = time.monotonic()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    options = arguments()
    among = FIRST if options.first else REST if options.rest else STEPS
    if options.list:
        print("\n".join(f"{step.name:12} {step.limit:4.0f} s  {step.body.__doc__}" for step in among))
        return 0
    try:
        steps = chosen_steps(options.only, options.without, among)
        session = open_session(options, start)
    except (KitError, OSError) as error:
        print(f"first-light: {error}", file=sys.stderr)
        return EXIT_USAGE
    found = find_driver(session, options.library, options.cuda)
    print_step(session, "driver")
    for place, step in enumerate(steps):
        if found or step.name == "machine":
            run_step(session, step, steps[place + 1:])
        else:
            session.skip(step.name, "there is no driver")
    session.save()
    print(f"\n{page.summary(session.result)}\n\nresults: {session.out}", flush=True)
    if not found:
        return EXIT_NO_DEVICE
    return EXIT_FAILED if any(s["status"] == "failed" for s in session.result["steps"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())

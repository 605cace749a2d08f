"""Keeps the folders, the time and the result of one call of first-light. Rewrites the result after every step."""
import json
import math
import os
import tarfile
import time
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional

from . import command, page
from .kit import Kit

LARGEST_ARCHIVE = 15 << 20  # bytes; results that come back from a lent machine
LARGEST_LOG = 1 << 20


def write(path: Path, text: str) -> None:
    """Writes the whole file or nothing."""
    new = path.with_name(path.name + ".new")
    path.parent.mkdir(parents=True, exist_ok=True)  # if somebody deleted it, only older results are lost
    new.write_text(text)
    os.replace(str(new), str(path))


class StepFailed(Exception):
    """States in one sentence why the step failed."""


class Call(NamedTuple):
    name: str
    arguments: List[str]
    environment: Dict[str, str]
    shown: str = ""  # the command on the page, if not the arguments


class StepSkipped(Exception):
    """States in one sentence that a requirement of the step is missing, which is not a fault."""


class Session:
    def __init__(self, kit: Kit, out: Path, seconds: float, rehearse: bool, start: Optional[float] = None) -> None:
        self.kit, self.out, self.rehearse = kit, out, rehearse
        self.work = kit.work
        self.start = time.monotonic() if start is None else start
        self.end = self.start + seconds
        self.layer = True
        self.gpu = "opencl:0"  # the programs' name for the device, which the step `device` finds
        self.step: Dict[str, Any] = {}
        self.step_name, self.step_begun = "", self.start
        self.step_end = self.end
        self.result: Dict[str, Any] = {
            "format": 1, "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "seconds_allowed": seconds,
            "rehearsal": rehearse, "bundle": {k: v for k, v in kit.manifest.items() if k != "files"},
            "machine": {}, "steps": {}}

    def left(self) -> float:
        """Returns the seconds that are left in the current step."""
        return min(self.step_end, self.end) - time.monotonic()

    def begin(self, name: str, limit: float) -> None:
        self.step = {"status": "running", "seconds": 0.0, "commands": [], "tables": {}}
        self.result["steps"][name] = self.step
        self.step_name, self.step_begun = name, time.monotonic()
        self.step_end = min(self.step_begun + limit, self.end)
        (self.work / "steps" / name).mkdir(parents=True, exist_ok=True)
        self.save()

    def finish(self, problem: str = "", skipped: bool = False) -> None:
        bad = [c for c in self.step["commands"] if c["status"] != "done"]
        wrong = [row for row in self.step["tables"].get("checks", []) if not row["good"]]
        if wrong and not problem:
            problem = f"{len(wrong)} of {len(self.step['tables']['checks'])} checks failed: {wrong[0]['check']}"
        status = "partly" if bad else "done"
        if problem or (bad and len(bad) == len(self.step["commands"])):
            status = "skipped" if skipped else "failed"
        reasons = [problem] if problem else [f"{c['name']}: {c['status']}" for c in bad[:3]]
        self.step.update(status=status, reason="; ".join(reasons), seconds=round(time.monotonic() - self.step_begun, 2))
        self.save()
        self.save_archives()

    def skip(self, name: str, reason: str) -> None:
        self.result["steps"][name] = {"status": "skipped", "reason": reason, "seconds": 0.0, "commands": [],
                                      "tables": {}}
        self.save()

    def call(self, name: str, arguments: List[str], seconds: Optional[float] = None, grace: float = 5.0,
             environment: Optional[Dict[str, str]] = None) -> command.Outcome:
        """Runs a program within the step's remaining time and records how it ended."""
        env = self.kit.environment(self.layer) if environment is None else environment
        return self.call_together([Call(name, arguments, env)], seconds, grace)[0]

    def call_together(self, calls: List["Call"], seconds: Optional[float] = None, grace: float = 5.0,
                      stall: float = math.inf) -> List[command.Outcome]:
        """Runs programs at once, within the step's remaining time, and records how they ended."""
        folder = self.work / "steps" / self.step_name
        allowed = min(self.left() - grace, self.left() if seconds is None else seconds)
        if allowed < 1:
            outcomes = [command.Outcome(None, 0.0, True, "", "no time is left in this step") for _ in calls]
        else:
            jobs = [command.Job(one.arguments, folder / one.name, one.environment) for one in calls]
            outcomes = command.run_together(jobs, folder, allowed, grace, stall)
        for one, outcome in zip(calls, outcomes):
            self.step["commands"].append({
                "name": one.name, "command": one.shown or " ".join(one.arguments),
                "seconds": round(outcome.seconds, 2), "status": "done" if outcome.good else outcome.why(),
                "log": f"steps/{self.step_name}/{one.name}"})
        self.save()
        return outcomes

    def accept(self) -> None:
        """Accepts the end of the last command, whatever its exit code."""
        self.step["commands"][-1]["status"] = "done"

    def table(self, title: str, rows: List[Dict[str, Any]]) -> None:
        self.step["tables"][title] = rows
        self.save()

    def check(self, what: str, expected: Any, found: Any, good: Optional[bool] = None) -> None:
        """Adds a row to the step's table of checks. A failed check fails the step, which continues."""
        self.checks([{"check": what, "expected": expected, "found": found,
                      "good": found == expected if good is None else good}])

    def checks(self, rows: List[Dict[str, Any]]) -> None:
        self.table("checks", self.step["tables"].get("checks", []) + rows)

    def rows(self, step: str, title: str) -> List[Dict[str, Any]]:
        """Returns a table of a step that ran before in this call."""
        found = self.result["steps"].get(step, {}).get("tables", {}).get(title, [])
        return list(found)

    def save(self) -> None:
        self.result["seconds"] = round(time.monotonic() - self.start, 1)
        write(self.out / "first-light.json", json.dumps(self.result, indent=1) + "\n")
        write(self.out / "first-light.html", page.html(self.result, self.work))

    def save_archives(self) -> None:
        logs = [path for path in sorted((self.work / "steps").rglob("*"))
                if path.is_file() and path.suffix not in (".svg", ".html") and "models" not in path.parts]
        logs += sorted((self.work / "builds").glob("*.json"))
        self._archive("logs.tar.gz", [p for p in logs if p.stat().st_size <= LARGEST_LOG], self.work)
        if "OPENCL_POSE" in os.environ:
            return  # a GPU cannot use kernels that PoCL built under its name
        cache = self.work / "cache"
        built = [p for part in ("mokume", "nv") for p in sorted((cache / part).rglob("*"))
                 if p.is_file() and not p.name.startswith("probe-")]  # a list of drivers is not a kernel
        self._archive("kernels.tar.gz", built, cache)

    def _archive(self, name: str, files: List[Path], base: Path) -> None:
        if not files:
            return
        new = self.work / (name + ".new")
        with tarfile.open(str(new), "w:gz", compresslevel=1) as archive:
            for path in files:
                archive.add(str(path), str(path.relative_to(base)), recursive=False)
        notes = self.result.setdefault("left_behind", {})
        if new.stat().st_size > LARGEST_ARCHIVE:
            notes[name] = f"{new.stat().st_size >> 20} MiB are more than come back; the last one that fitted is kept"
            new.unlink()
            return
        notes.pop(name, None)
        # The folder may be on another file system.
        staged = self.out / (name + ".new")
        staged.write_bytes(new.read_bytes())
        os.replace(str(staged), str(self.out / name))
        new.unlink()

"""Reads figures from the output and files of the programs."""
import json
import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

MOST_KERNELS = 48  # the page shows no more for a program


def json_lines(text: str) -> List[Dict[str, Any]]:
    """Returns the lines that are JSON objects. A killed program may leave an incomplete line."""
    found = []
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


class Tests:
    """Reads the output of a GoogleTest program, whether or not it exited normally."""

    def __init__(self, text: str) -> None:
        self.passed = re.findall(r"^\[       OK \] (\S+)", text, re.M)
        self.skipped = re.findall(r"^\[  SKIPPED \] (\S+) \(", text, re.M)
        self.failed = re.findall(r"^\[  FAILED  \] (\S+?),? .*\(\d+ ms\)", text, re.M)
        begun = re.findall(r"^\[ RUN      \] (\S+)", text, re.M)
        ended = set(self.passed) | set(self.skipped) | set(self.failed)
        self.cut_in = [name for name in begun if name not in ended]  # the test during which the program ended early
        self.cut = self.cut_in[-1] if self.cut_in else ""
        self.why: Dict[str, str] = {}
        for name in self.failed:
            part = text.split(f"[ RUN      ] {name}\n", 1)[-1].split(f"[  FAILED  ] {name}", 1)[0]
            self.why[name] = " ".join(part.split())[:400]


def newest_run(folder: Path) -> Optional[Path]:
    runs = sorted(p.parent for p in folder.glob("*/*/journal"))
    return runs[-1] if runs else None


def _fits(run: Path) -> Iterator[Dict[str, Any]]:
    for journal in sorted((run / "journal").glob("*.ndjson")):
        yield from (record for record in json_lines(journal.read_text(errors="replace"))
                    if "fit" in record and "note" in record and "start" in record)


def _rate(amount: float, seconds: float) -> float:
    return round(amount / seconds, 2) if seconds > 0 else 0.0


def _summary(run: Path) -> Dict[str, Any]:
    """Returns {} for a killed run, whose journal still contains every finished fit."""
    try:
        return dict(json.loads((run / "summary.json").read_text()))
    except (OSError, ValueError):
        return {}


def of_run(folder: Path) -> Dict[str, Any]:
    """Returns the newest run's figures, with fits and steps a second from the first start of a fit to the last end."""
    run = newest_run(folder)
    if run is None:
        return {}
    summary = _summary(run)
    fits = list(_fits(run))
    searched = [fit for fit in fits if "refit" not in fit]
    row: Dict[str, Any] = {"state": summary.get("state", "killed"), "fits": len(searched),
                           "planned": summary.get("fits_planned"), "failed": summary.get("failed"),
                           "wall_s": round(summary.get("wall_s") or 0, 1) or None}
    if searched:
        span = max(f["end"] for f in searched) - min(f["start"] for f in searched)
        steps = sum(int(m.group(1)) for m in (re.match(r"steps=(\d+)", f["note"]) for f in searched) if m)
        row.update(span_s=round(span, 2), fits_per_s=_rate(len(searched), span))
        if steps:
            row.update(steps=steps, steps_per_s=_rate(steps, span))
    if summary.get("best"):
        row["best_error"] = summary["best"]["mean"]
    if summary.get("test"):
        row.update(test_error=summary["test"].get("error"), test_errors=summary["test"].get("errors"))
    refits = [fit for fit in fits if "refit" in fit]
    if refits:
        row["refit_s"] = round(max(f["end"] for f in refits) - min(f["start"] for f in refits), 2)
        curves = refits[-1].get("curves", {})
        if curves:
            row["epochs"] = max(len(values) for values in curves.values())
    return row


def devices_of_run(folder: Path) -> List[Dict[str, Any]]:
    run = newest_run(folder)
    if run is None:
        return []
    return [{"id": d["id"], "device": d["name"], "fits": d["fits"], "busy_s": round(d["busy_s"] or 0, 2)}
            for d in _summary(run).get("devices", [])]


def kernel_times(folder: Path) -> List[Dict[str, Any]]:
    """Returns the kernels that took most of the device's time, from the files of the layer kernel_times."""
    rows = [row for path in sorted(folder.glob("*.json")) for row in json_lines(path.read_text(errors="replace"))]
    total = sum(row["seconds"] for row in rows) or 1

    def microseconds(row: Dict[str, Any], what: str) -> float:
        return round(1e6 * row[what] / row["calls"], 2)

    return [{"kernel": row["kernel"], "calls": row["calls"], "us": microseconds(row, "seconds"),
             "us idle before": microseconds(row, "idle"), "us of the host": microseconds(row, "host"),
             "share": round(row["seconds"] / total, 4)}
            for row in sorted(rows, key=lambda row: -row["seconds"])[:MOST_KERNELS]]


def _registers(log: str) -> Dict[str, Any]:
    """Returns the largest numbers that NVIDIA's assembler reports for the kernels of a program."""
    found = {}
    for key, pattern in (("registers", r"Used (\d+) registers"), ("stack", r"(\d+) bytes stack frame"),
                         ("spills", r"(\d+) bytes spill stores"), ("local", r"(\d+) bytes smem")):
        values = [int(v) for v in re.findall(pattern, log)]
        if values:
            found[key] = max(values)
    return found


def builds(folder: Path) -> List[Dict[str, Any]]:
    """Lists the programs that the driver compiled, slowest first; equal programs share a row."""
    rows: Dict[Any, Dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        for build in json_lines(path.read_text(errors="replace")):
            row = rows.setdefault((build["kernels"], build["options"]), {
                "kernels": build["kernels"][:120] or "?", "options": build["options"], "times": 0, "seconds": 0.0,
                "code": build["code"], **_registers(build["log"])})
            row["times"] += 1
            row["seconds"] = round(row["seconds"] + build["seconds"], 3)
            if build["log"].strip() and "log" not in row:
                row["log"] = build["log"][:2000]
    return sorted(rows.values(), key=lambda row: -row["seconds"])

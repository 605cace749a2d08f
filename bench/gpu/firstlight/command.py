"""Runs one command with a time limit, and kills the command and all its children if it does not exit in time."""
import math
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional


class Outcome(NamedTuple):
    code: Optional[int]  # None if the command could not be started, or not be killed
    seconds: float
    timed_out: bool
    out: str
    err: str

    @property
    def good(self) -> bool:
        return self.code == 0 and not self.timed_out

    def why(self) -> str:
        """Returns one line for people about the end of the command."""
        last = [line for line in (self.err or self.out).splitlines() if line.strip()][-1:]
        said = f": {last[0][:300]}" if last else ""
        if self.timed_out:
            return f"stopped after {self.seconds:.0f} s{said}"
        if self.code is None:
            return f"did not start{said}"
        if self.code < 0:
            return f"killed by {signal.Signals(-self.code).name}{said}"
        return f"exit code {self.code}{said}"


def _end(process: subprocess.Popen, grace: float) -> None:
    """Ends a process. Limits the wait, because a process inside a driver may not die."""
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, 3.0)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(patience)
            break
        except subprocess.TimeoutExpired:
            continue
    try:
        os.killpg(process.pid, signal.SIGKILL)  # also kills processes that the command left running
    except (ProcessLookupError, PermissionError):
        pass


def _ends(process: subprocess.Popen, out: Path, seconds: float, stall: float) -> bool:
    """Returns whether the process exits in time without being silent for longer than `stall`."""
    end = time.monotonic() + seconds
    size, heard = 0, time.monotonic()
    while time.monotonic() < end:
        try:
            process.wait(min(0.5, max(end - time.monotonic(), 0.01)))
            return True
        except subprocess.TimeoutExpired:
            if out.stat().st_size != size:
                size, heard = out.stat().st_size, time.monotonic()
            if time.monotonic() - heard > stall:
                return False
    return False


def run(command: List[str], log: Path, environment: Dict[str, str], directory: Path, seconds: float,
        grace: float = 5.0, stall: float = math.inf) -> Outcome:
    """Runs a command, with output to LOG.out and LOG.err. It counts as hanging after `stall` seconds without output."""
    out, err = log.with_name(log.name + ".out"), log.with_name(log.name + ".err")
    start = time.monotonic()
    with out.open("wb") as out_file, err.open("wb") as err_file:
        try:
            process = subprocess.Popen(command, stdout=out_file, stderr=err_file, stdin=subprocess.DEVNULL,
                                       env=environment, cwd=str(directory), start_new_session=True)
        except OSError as error:
            err_file.write(f"{error}\n".encode())
            err_file.flush()
            return Outcome(None, 0.0, False, "", str(error))
        try:
            timed_out = not _ends(process, out, max(seconds, 0.1), stall)
        finally:  # also if a signal ends first-light itself
            _end(process, grace)
    return Outcome(process.returncode, time.monotonic() - start, timed_out, out.read_text(errors="replace"),
                   err.read_text(errors="replace"))

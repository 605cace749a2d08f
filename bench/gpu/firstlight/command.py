"""Runs one command with a limit: it, and all that it started, ends in time or is killed."""
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional


class Outcome(NamedTuple):
    code: Optional[int]  # None: it could not be started, or did not even die
    seconds: float
    timed_out: bool
    out: str
    err: str

    @property
    def good(self) -> bool:
        return self.code == 0 and not self.timed_out

    def why(self) -> str:
        """One line that says how it ended, for people."""
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
    """A process in the hands of a driver may not die; nobody waits for it for ever."""
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
        os.killpg(process.pid, signal.SIGKILL)  # what it left running
    except (ProcessLookupError, PermissionError):
        pass


def run(command: List[str], log: Path, environment: Dict[str, str], directory: Path, seconds: float,
        grace: float = 5.0) -> Outcome:
    """Its output goes to LOG.out and LOG.err."""
    out, err = log.with_name(log.name + ".out"), log.with_name(log.name + ".err")
    start = time.monotonic()
    timed_out = False
    with out.open("wb") as out_file, err.open("wb") as err_file:
        try:
            process = subprocess.Popen(command, stdout=out_file, stderr=err_file, stdin=subprocess.DEVNULL,
                                       env=environment, cwd=str(directory), start_new_session=True)
        except OSError as error:
            err_file.write(f"{error}\n".encode())
            err_file.flush()
            return Outcome(None, 0.0, False, "", str(error))
        try:
            process.wait(max(seconds, 0.1))
        except subprocess.TimeoutExpired:
            timed_out = True
        _end(process, grace)
    return Outcome(process.returncode, time.monotonic() - start, timed_out, out.read_text(errors="replace"),
                   err.read_text(errors="replace"))

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


def _signal(process: subprocess.Popen, number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _end(process: subprocess.Popen, grace: float) -> None:
    """Ends a process that was asked to end. Limits the wait, because a process inside a driver may not die."""
    try:
        process.wait(grace)
    except subprocess.TimeoutExpired:
        _signal(process, signal.SIGKILL)
        try:
            process.wait(3.0)
        except subprocess.TimeoutExpired:
            pass
    _signal(process, signal.SIGKILL)  # also kills processes that the command left running


class Job(NamedTuple):
    """A command with its environment. Its output goes to LOG.out and LOG.err."""
    command: List[str]
    log: Path
    environment: Dict[str, str]


class _Running:
    def __init__(self, job: Job, directory: Path) -> None:
        self.out, self.err = (job.log.with_name(job.log.name + end) for end in (".out", ".err"))
        self.start = self.heard = time.monotonic()
        self.size, self.timed_out, self.seconds, self.refused = 0, False, 0.0, ""
        self.process: Optional[subprocess.Popen] = None
        with self.out.open("wb") as out, self.err.open("wb") as err:
            try:
                self.process = subprocess.Popen(job.command, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                                env=job.environment, cwd=str(directory), start_new_session=True)
            except OSError as error:
                self.refused = str(error)
                err.write(f"{error}\n".encode())

    def ended(self, stall: float) -> bool:
        """Returns whether the process has exited, or has been silent for longer than `stall`."""
        now = time.monotonic()
        if self.process is None or self.seconds:
            return True
        if self.process.poll() is not None:
            self.seconds = now - self.start
            return True
        if self.out.stat().st_size != self.size:
            self.size, self.heard = self.out.stat().st_size, now
        return now - self.heard > stall

    def ask_to_end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.timed_out = True
            _signal(self.process, signal.SIGTERM)

    def end(self, grace: float) -> None:
        if self.process is not None:
            _end(self.process, grace)
            self.seconds = self.seconds or time.monotonic() - self.start

    def outcome(self) -> Outcome:
        if self.process is None:
            return Outcome(None, 0.0, False, "", self.refused)
        return Outcome(self.process.returncode, self.seconds, self.timed_out, self.out.read_text(errors="replace"),
                       self.err.read_text(errors="replace"))


def run_together(jobs: List[Job], directory: Path, seconds: float, grace: float = 5.0,
                 stall: float = math.inf) -> List[Outcome]:
    """Runs all jobs at once until they end. One that prints nothing for `stall` seconds counts as hanging."""
    end = time.monotonic() + max(seconds, 0.1)
    running: List[_Running] = []
    try:
        for job in jobs:
            running.append(_Running(job, directory))
        pause = 0.01
        while time.monotonic() < end and not all([one.ended(stall) for one in running]):
            time.sleep(min(pause, max(end - time.monotonic(), 0)))
            pause = min(2 * pause, 0.2)
    finally:  # also if a signal ends first-light itself
        for one in running:
            one.ask_to_end()
        end = time.monotonic() + grace
        for one in running:
            one.end(max(end - time.monotonic(), 0.1))
    return [one.outcome() for one in running]

"""Finds the program `mokume` and calls it as a child process."""

import os
import subprocess
import sys
from pathlib import Path

_BUNDLED = Path(__file__).with_name("_program") / "bin" / "mokume"

# The program returns these exit codes. Runs with failed fits (5) and stopped runs (75) leave a run directory, too.
DONE, FAILED_FITS, STOPPED = 0, 5, 75
REFUSED = 2, 3  # a mistake in the experiment file, or in the data


class Failure(RuntimeError):
    """Reports that the program refused or failed. The text is the program's message; `code` is its exit code."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        return Failure, (str(self), self.code)


def program():
    """Returns the path of the program: $MOKUME_PROGRAM, or the program that comes with this package."""
    named = os.environ.get("MOKUME_PROGRAM")
    if named and not os.access(named, os.X_OK):
        raise FileNotFoundError(f"MOKUME_PROGRAM is {named}, which is no program; name the file bin/mokume of a build")
    if not named and not _BUNDLED.exists():
        raise FileNotFoundError(
            f"this package has no program at {_BUNDLED}; install the wheel, or set MOKUME_PROGRAM to bin/mokume of a build"
        )
    return os.path.abspath(named) if named else str(_BUNDLED)  # absolute, because children run in other directories


def _message(text, code):
    """Returns the program's message about its failure: all lines from the first error, or the last 20 lines."""
    lines = text.strip().splitlines()
    errors = [k for k, line in enumerate(lines) if "error:" in line]
    said = "\n".join(lines[errors[0] :] if errors else lines[-20:])
    return said.removeprefix("error: ") or f"mokume ended with code {code} and said nothing"


def call(arguments, *, directory=None, show=False, accept=(DONE,)):
    """Runs the program in `directory` and returns its standard output and standard error.

    With `show`, copies its messages to sys.stderr as they come, and does not capture standard output. Raises Failure
    unless the exit code is in `accept`. An interrupt also reaches the program, which then stops cleanly.
    """
    child = subprocess.Popen(
        [program(), *arguments],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if not show else None,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    with child:
        try:
            if show:
                output, messages = "", _copy(child.stderr)
                child.wait()
            else:
                output, messages = child.communicate()
        except BaseException:
            child.send_signal(2)  # SIGINT stops the run, which the next call resumes
            child.wait()
            raise
    if child.returncode not in accept:
        raise Failure(_message(messages, child.returncode), child.returncode)
    return output, messages


def _copy(stream):
    lines = []
    for line in stream:
        lines.append(line)
        sys.stderr.write(line)
        sys.stderr.flush()
    return "".join(lines)

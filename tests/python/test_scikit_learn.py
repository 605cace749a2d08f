"""Tests that scikit-learn's own tests pass with mokume's estimators, but for a list of named exceptions."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from scikit_learn_suite import MODULES

HERE = Path(__file__).parent


def exists(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.fixture(scope="module")
def finished():
    """Runs all modules at the same time, and returns the exit code and the output of each."""
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    # The tests compare models that several runs trained. Only one class of devices gives them the same bits, so OpenCL
    # is switched off, and the host computes.
    environment = {**os.environ, "PYTHONPATH": path, "SKLEARN_SEED": "0", "OCL_ICD_VENDORS": str(HERE / "none")}
    options = ["-q", "-p", "no:cacheprovider", "-p", "scikit_learn_suite", "--tb=short", "-W", "ignore"]
    children = {
        module: subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, "--pyargs", module],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for module in MODULES
        if exists(module)
    }
    return {module: (child.communicate()[0], child.returncode) for module, child in children.items()}


@pytest.mark.parametrize("module", MODULES)
def test_scikit_learns_own_tests(finished, module):
    if module not in finished:
        pytest.skip("this scikit-learn comes without its tests")
    output, code = finished[module]
    print(output)
    assert code == 0

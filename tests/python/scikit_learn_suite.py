"""Runs scikit-learn's own tests with mokume's estimators in place of its own.

    python -m pytest -p scikit_learn_suite --pyargs sklearn.svm.tests.test_svm

pytest loads this module as a plugin before the tests, which then import our classes from sklearn.svm,
sklearn.model_selection and sklearn.neural_network. Only the tests that scikit_learn_exceptions.txt names may fail.
"""

import functools
import re
from pathlib import Path

import pytest
import sklearn.model_selection
import sklearn.neural_network
import sklearn.svm

import mokume.sklearn

MODULES = [
    "sklearn.svm.tests.test_svm",
    "sklearn.svm.tests.test_sparse",
    "sklearn.model_selection.tests.test_search",
    "sklearn.neural_network.tests.test_mlp",
]


@functools.lru_cache
def exceptions():
    """Returns the reason of each test that scikit_learn_exceptions.txt names."""
    lines = Path(__file__).with_name("scikit_learn_exceptions.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def reason_to_fail(name):
    """Returns why a test of this name may fail, or None. Newer tests name a seed before their parameters: [42-SVC]."""
    name = re.sub(r"\[\d+-", "[", name)
    return exceptions().get(name) or exceptions().get(name.partition("[")[0])


def pytest_configure():
    for module in (sklearn.svm, sklearn.model_selection, sklearn.neural_network):
        for name in mokume.sklearn.__all__:
            if hasattr(module, name):
                setattr(module, name, getattr(mokume.sklearn, name))


def pytest_collection_modifyitems(items):
    for item in items:
        reason = reason_to_fail(f"{item.module.__name__.rpartition('.')[2]}.{item.name}")
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason))

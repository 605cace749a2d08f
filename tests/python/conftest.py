import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from mokume.sklearn import _base


@pytest.fixture(scope="session")
def digits():
    """Returns 500 rows of 64 features and ten classes."""
    rows, classes = load_digits(return_X_y=True)
    return rows[:500] / 16, classes[:500]


@pytest.fixture(scope="session")
def two_flowers():
    """Returns two classes with words as names."""
    rows, classes = load_iris(return_X_y=True)
    return rows[50:], np.array(["setosa", "versicolor", "virginica"])[classes[50:]]


@pytest.fixture
def runs(monkeypatch):
    """Returns a list to which each run of the program adds an item."""
    started, call = [], _base.call

    def counted(arguments, **options):
        if arguments[0] == "run":
            started.append(arguments)
        return call(arguments, **options)

    monkeypatch.setattr("mokume.sklearn._base.call", counted)
    return started

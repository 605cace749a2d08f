import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris


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

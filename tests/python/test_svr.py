"""Tests that SVR gives what scikit-learn's SVR gives."""

import pickle

import numpy as np
import pytest
import sklearn.svm
from sklearn.datasets import load_diabetes

from mokume.sklearn import SVR


@pytest.fixture(scope="module")
def patients():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0), (y - y.mean()) / y.std()


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"gamma": "auto", "C": 3, "epsilon": 0.3},
        {"kernel": "linear", "epsilon": 0.0},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.05},
        {"kernel": "sigmoid", "gamma": 0.02},
    ],
)
def test_equals_scikit_learn(patients, parameters):
    X, y = patients
    mine, other = SVR(**parameters).fit(X[:300], y[:300]), sklearn.svm.SVR(**parameters).fit(X[:300], y[:300])
    np.testing.assert_allclose(mine.predict(X[300:]), other.predict(X[300:]), atol=5e-3)
    assert abs(len(mine.support_) - len(other.support_)) <= 4
    assert abs(mine.score(X[300:], y[300:]) - other.score(X[300:], y[300:])) < 2e-3


def test_attributes_describe_the_model(patients):
    X, y = patients
    svr = SVR(kernel="linear").fit(X, y)
    np.testing.assert_array_equal(svr.support_vectors_, X[svr.support_].astype(np.float32))
    assert svr.dual_coef_.shape == (1, len(svr.support_)) and svr.intercept_.shape == (1,)
    np.testing.assert_allclose(X @ svr.coef_[0] + svr.intercept_[0], svr.predict(X), atol=1e-5)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(svr)).predict(X), svr.predict(X))


def test_the_program_predicts_the_same(patients, monkeypatch):
    X, y = patients
    svr = SVR().fit(X, y)
    here = svr.predict(X)
    monkeypatch.setattr("mokume.sklearn._svr.FEW_PRODUCTS", 0)
    np.testing.assert_allclose(svr.predict(X), here, atol=1e-5)


@pytest.mark.parametrize("parameters", [{"epsilon": -1}, {"kernel": "precomputed"}, {"C": 0}, {"gamma": "wide"}])
def test_refuses_what_the_program_lacks(patients, parameters):
    with pytest.raises(ValueError):
        SVR(**parameters).fit(*patients)

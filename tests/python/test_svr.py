"""Tests that SVR gives what scikit-learn's SVR gives."""

import pickle

import numpy as np
import pytest
import sklearn.model_selection
import sklearn.svm
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning

from mokume.sklearn import SVR, GridSearchCV


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
    np.testing.assert_array_equal(svr.support_vectors_, X[svr.support_])
    assert svr.dual_coef_.shape == (1, len(svr.support_)) and svr.intercept_.shape == (1,)
    np.testing.assert_allclose(X @ svr.coef_[0] + svr.intercept_[0], svr.predict(X), atol=1e-5)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(svr)).predict(X), svr.predict(X))


def test_the_program_predicts_the_same(patients, monkeypatch):
    X, y = patients
    svr = SVR().fit(X, y)
    here = svr.predict(X)
    monkeypatch.setattr("mokume.sklearn._kernel.MANY_PRODUCTS", 0)
    np.testing.assert_allclose(svr.predict(X), here, atol=1e-5)


@pytest.mark.parametrize(
    "parameters", [{"epsilon": -1}, {"kernel": "cosine"}, {"C": 0}, {"gamma": "wide"}, {"degree": 2.5}]
)
def test_refuses_as_scikit_learn_does(patients, parameters):
    with pytest.raises(ValueError):
        SVR(**parameters).fit(*patients)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_without_support_vectors_it_answers_the_intercept(patients, kernel):
    X, _ = patients
    svr = SVR(kernel=kernel).fit(X, np.full(len(X), 3.5))
    assert len(svr.support_) == 0 and svr.dual_coef_.shape == (1, 0)
    np.testing.assert_allclose(svr.predict(X), 3.5)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(svr)).predict(X), 3.5)


def test_a_limit_of_steps_is_reported(patients):
    X, y = patients
    with pytest.warns(ConvergenceWarning, match="max_iter=10"):
        svr = SVR(C=100, max_iter=10).fit(X, y)
    assert svr.fit_status_ == 1 and svr.n_iter_ >= 10


def test_weights_count_like_repeated_rows(patients):
    X, y = patients
    repeats = np.random.RandomState(0).randint(0, 3, len(X))
    weighted = SVR().fit(X, y, sample_weight=repeats)
    repeated = SVR(gamma=weighted._gamma).fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=5e-3)


@pytest.mark.parametrize("offset", [1e4, 1e8, -1e12])
def test_a_large_offset_of_the_targets_costs_no_precision(patients, monkeypatch, offset):
    X, y = patients
    mine, other = SVR().fit(X, y + offset), sklearn.svm.SVR().fit(X, y + offset)
    expected = other.predict(X) - offset
    np.testing.assert_allclose(mine.predict(X) - offset, expected, atol=5e-3)
    np.testing.assert_allclose(mine.intercept_ - offset, other.intercept_ - offset, atol=5e-3)
    monkeypatch.setattr("mokume.sklearn._kernel.MANY_PRODUCTS", 0)
    np.testing.assert_allclose(mine.predict(X) - offset, expected, atol=5e-3)


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error"])
def test_a_search_with_a_large_offset_of_the_targets(patients, scoring):
    X, y = patients
    grid = {"C": [0.1, 1]}
    mine = GridSearchCV(SVR(devices="host"), grid, cv=3, scoring=scoring).fit(X, y + 1e8)
    other = sklearn.model_selection.GridSearchCV(sklearn.svm.SVR(), grid, cv=3, scoring=scoring).fit(X, y + 1e8)
    name = "mean_test_score"
    np.testing.assert_allclose(mine.cv_results_[name], other.cv_results_[name], atol=2e-3)
    np.testing.assert_allclose(mine.predict(X), other.predict(X), rtol=0, atol=5e-3)

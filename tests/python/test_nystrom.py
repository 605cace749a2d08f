"""Tests SVC and SVR with approximation="nystrom"."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mokume.sklearn import SVC, SVR, GridSearchCV


@pytest.mark.parametrize("classes", [2, 10])
def test_all_rows_as_landmarks_give_the_exact_machine(digits, classes):
    X, y = digits
    X, y = X[y < classes], y[y < classes]
    half = len(X) // 2
    exact = SVC(tol=1e-4, decision_function_shape="ovo").fit(X[:half], y[:half])
    nystrom = clone(exact).set_params(approximation="nystrom", n_components=half).fit(X[:half], y[:half])
    assert np.abs(nystrom.decision_function(X[half:]) - exact.decision_function(X[half:])).max() < 0.02
    assert np.mean(nystrom.predict(X[half:]) != exact.predict(X[half:])) < 0.02
    assert nystrom.intercept_.shape == exact.intercept_.shape


@pytest.mark.parametrize("classes", [2, 10])
def test_support_vectors_are_landmarks(digits, classes):
    X, y = digits
    X, y = X[y < classes], y[y < classes]
    svc = SVC(approximation="nystrom", n_components=30, random_state=0).fit(X, y)
    assert len(np.unique(svc.support_)) == 30 == svc.n_support_.sum()
    np.testing.assert_array_equal(svc.support_vectors_, X[svc.support_])
    np.testing.assert_array_equal(svc.classes_[np.repeat(np.arange(classes), svc.n_support_)], y[svc.support_])
    copy = pickle.loads(pickle.dumps(svc))
    np.testing.assert_array_equal(copy.predict(X[:20]), svc.predict(X[:20]))
    other = clone(svc).set_params(random_state=1).fit(X, y)
    assert set(other.support_) != set(svc.support_)


def test_regression(digits):
    X, y = digits
    exact = SVR(C=10, tol=1e-4).fit(X[:200], y[:200])
    nystrom = SVR(C=10, tol=1e-4, approximation="nystrom", n_components=200).fit(X[:200], y[:200])
    np.testing.assert_allclose(nystrom.predict(X[200:]), exact.predict(X[200:]), atol=0.02)


def test_a_search_shares_the_features(digits):
    X, y = digits
    search = GridSearchCV(SVC(approximation="nystrom", n_components=50), {"C": [1, 10], "n_components": [20, 100]}, cv=3)
    search.fit(X, y)
    assert search.best_params_["n_components"] == 100
    assert search.best_score_ > 0.85


def test_refusals(digits):
    X, y = digits
    with pytest.raises(ValueError, match="'approximation' parameter of SVC"):
        SVC(approximation="fourier").fit(X, y)
    with pytest.raises(ValueError, match="'n_components' parameter of SVC"):
        SVC(approximation="nystrom", n_components=0).fit(X, y)
    with pytest.raises(ValueError, match="takes dense rows"):
        SVC(approximation="nystrom").fit(scipy.sparse.csr_matrix(X), y)
    with pytest.raises(ValueError, match="takes two classes"):
        SVC(approximation="nystrom", probability=True).fit(X, y)
    with pytest.raises(Exception, match="the kernel sigmoid is not positive definite"):
        SVC(approximation="nystrom", n_components=9, kernel="sigmoid").fit(X, y)
    with pytest.raises(NotFittedError):
        SVC(approximation="nystrom").predict(X)

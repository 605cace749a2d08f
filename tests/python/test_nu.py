"""Tests that NuSVC, NuSVR and OneClassSVM give what scikit-learn's give."""

import pickle

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm
from sklearn.datasets import load_diabetes, load_iris

from mokume.sklearn import NuSVC, NuSVR, OneClassSVM


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(X))
    return X[order], y[order]


@pytest.fixture(scope="module")
def patients():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0), (y - y.mean()) / y.std()


@pytest.mark.parametrize(
    "parameters", [{"nu": 0.213}, {"nu": 0.437, "kernel": "linear"}, {"nu": 0.313, "gamma": 0.1, "class_weight": "balanced"}]
)
def test_classifier_equals_scikit_learn(flowers, parameters):
    X, y = flowers
    mine = NuSVC(tol=1e-4, **parameters).fit(X[:110], y[:110])
    other = sklearn.svm.NuSVC(tol=1e-4, **parameters).fit(X[:110], y[:110])
    np.testing.assert_allclose(mine.decision_function(X), other.decision_function(X), atol=0.02)
    assert np.count_nonzero(mine.predict(X) != other.predict(X)) <= 1
    assert np.abs(mine.n_support_ - other.n_support_).max() <= 2


def test_two_classes_and_probabilities(flowers):
    X, y = flowers[0][flowers[1] < 2], flowers[1][flowers[1] < 2]
    mine, other = NuSVC(nu=0.217).fit(X, y), sklearn.svm.NuSVC(nu=0.217).fit(X, y)
    np.testing.assert_allclose(mine.decision_function(X), other.decision_function(X), atol=0.02)
    likely = NuSVC(nu=0.217, probability=True, random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(likely.argmax(axis=1), y)


def test_an_infeasible_nu_is_refused_as_by_scikit_learn(flowers):
    X, y = flowers[0][:80], np.r_[np.zeros(60), np.ones(20)]
    for kind in (NuSVC, sklearn.svm.NuSVC):
        with pytest.raises(ValueError, match="specified nu is infeasible"):
            kind(nu=0.6).fit(X, y)
    assert NuSVC(nu=0.45).fit(X, y).fit_status_ == 0


@pytest.mark.parametrize("parameters", [{}, {"nu": 0.219, "C": 3}, {"nu": 0.813, "kernel": "linear"}])
def test_regression_equals_scikit_learn(patients, parameters):
    X, y = patients
    mine = NuSVR(tol=1e-4, **parameters).fit(X[:300], y[:300])
    other = sklearn.svm.NuSVR(tol=1e-4, **parameters).fit(X[:300], y[:300])
    np.testing.assert_allclose(mine.predict(X[300:]), other.predict(X[300:]), atol=5e-3)
    assert abs(len(mine.support_) - len(other.support_)) <= 4


@pytest.mark.parametrize("parameters", [{"nu": 0.117}, {"nu": 0.317, "gamma": 0.3}, {"nu": 0.513, "kernel": "linear"}])
def test_one_class_equals_scikit_learn(flowers, parameters):
    X = flowers[0]
    mine = OneClassSVM(tol=1e-4, **parameters).fit(X[:100])
    other = sklearn.svm.OneClassSVM(tol=1e-4, **parameters).fit(X[:100])
    size = np.abs(other.score_samples(X)).max()
    np.testing.assert_allclose(mine.decision_function(X), other.decision_function(X), atol=1e-3 * size)
    np.testing.assert_allclose(mine.offset_, other.offset_, atol=1e-3 * size)
    sure = np.abs(other.decision_function(X)) > 1e-3 * size  # free support vectors lie on the boundary
    np.testing.assert_array_equal(mine.predict(X)[sure], other.predict(X)[sure])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(mine)).predict(X), mine.predict(X))
    sparse = OneClassSVM(tol=1e-4, **parameters).fit(scipy.sparse.csr_matrix(X[:100]))
    np.testing.assert_allclose(sparse.offset_, mine.offset_, atol=1e-6 * size)


def test_one_class_counts_weights_as_scikit_learn_does(flowers):
    X = flowers[0]
    weights = np.linspace(0.5, 2, len(X))
    mine = OneClassSVM(nu=0.213, tol=1e-4).fit(X, sample_weight=weights)
    other = sklearn.svm.OneClassSVM(nu=0.213, tol=1e-4).fit(X, sample_weight=weights)
    size = np.abs(other.score_samples(X)).max()
    np.testing.assert_allclose(mine.decision_function(X), other.decision_function(X), atol=2e-3 * size)


def test_the_program_predicts_the_same(flowers, patients, monkeypatch):
    machines = [
        (NuSVC(nu=0.2).fit(*flowers), flowers[0]),
        (NuSVR().fit(*patients), patients[0]),
        (OneClassSVM(nu=0.2).fit(flowers[0]), flowers[0]),
    ]
    here = [machine.predict(X) for machine, X in machines]
    values = machines[2][0].decision_function(flowers[0])
    monkeypatch.setattr("mokume.sklearn._kernel.MANY_PRODUCTS", 0)
    for (machine, X), expected in zip(machines, here):
        np.testing.assert_allclose(machine.predict(X), expected, atol=1e-5)
    np.testing.assert_allclose(machines[2][0].decision_function(flowers[0]), values, atol=1e-3)


@pytest.mark.parametrize(
    "weights, said", [([0.0] * 80, "zero or negative weights"), ([1.0] * 60 + [0.0] * 20, "belong to the same class")]
)
def test_weights_that_leave_one_class_are_named(flowers, weights, said):
    X, y = flowers[0][:80], np.r_[np.zeros(60), np.ones(20)]
    with pytest.raises(ValueError, match=said):
        NuSVC().fit(X, y, sample_weight=weights)

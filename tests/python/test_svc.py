"""Tests that SVC gives what scikit-learn's SVC gives."""

import os
import pickle
import tempfile

import numpy as np
import pytest
import sklearn.svm
from sklearn.base import clone

import mokume
from mokume.sklearn import SVC


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"gamma": "auto", "C": 3},
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.05},
        {"kernel": "sigmoid", "gamma": 0.002},
        {"tol": 1e-4},
        {"class_weight": "balanced", "C": 10},
        {"class_weight": {3: 5, 8: 0.2}, "C": 0.1},
    ],
)
def test_equals_scikit_learn(digits, parameters):
    X, y = digits
    mine, other = SVC(**parameters).fit(X[:300], y[:300]), sklearn.svm.SVC(**parameters).fit(X[:300], y[:300])
    assert np.sum(mine.predict(X[300:]) != other.predict(X[300:])) <= 1
    # A pair whose value is almost 0 gives its vote to one of two classes.
    by_class = np.isclose(mine.decision_function(X[300:]), other.decision_function(X[300:]), atol=5e-3)
    assert by_class.shape == (200, 10) and by_class.mean() > 0.99
    mine.decision_function_shape = other.decision_function_shape = "ovo"
    np.testing.assert_allclose(mine.decision_function(X[300:]), other.decision_function(X[300:]), atol=5e-3)
    assert abs(mine.score(X[300:], y[300:]) - other.score(X[300:], y[300:])) < 0.006
    assert mine.n_support_.shape == other.n_support_.shape
    assert abs(int(mine.n_support_.sum()) - int(other.n_support_.sum())) <= 3


def test_support_vectors_are_rows_of_the_training_set(digits):
    X, y = digits
    svc = SVC().fit(X, y)
    np.testing.assert_array_equal(svc.support_vectors_, X[svc.support_].astype(np.float32))
    np.testing.assert_array_equal(svc.classes_[np.repeat(np.arange(10), svc.n_support_)], y[svc.support_])
    assert svc.dual_coef_.shape == (9, len(svc.support_)) and svc.intercept_.shape == (45,)


def test_two_classes_with_names(two_flowers):
    X, y = two_flowers
    mine, other = SVC(kernel="linear").fit(X, y), sklearn.svm.SVC(kernel="linear").fit(X, y)
    np.testing.assert_array_equal(mine.predict(X), other.predict(X))
    np.testing.assert_allclose(mine.decision_function(X), other.decision_function(X), atol=5e-3)
    assert mine.decision_function(X).shape == (100,)
    np.testing.assert_allclose(mine.intercept_, other.intercept_, atol=2e-2)
    np.testing.assert_allclose(mine.coef_, other.coef_, atol=2e-2)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
def test_the_program_and_numpy_agree(digits, two_flowers, monkeypatch, kernel):
    for X, y in [digits, two_flowers]:
        svc = SVC(kernel=kernel, decision_function_shape="ovo", gamma=0.01, coef0=0.5).fit(X, y)
        here, classes = svc.decision_function(X), svc.predict(X)
        with monkeypatch.context() as patch:
            patch.setattr("mokume.sklearn._svc.FEW_PRODUCTS", 0)
            np.testing.assert_allclose(svc.decision_function(X), here, atol=1e-4)
            np.testing.assert_array_equal(svc.predict(X), classes)


def test_copies_and_pickles_without_files(digits, tmp_path, monkeypatch):
    X, y = digits
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    svc = SVC(C=2).fit(X, y)
    expected = svc.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(svc)).predict(X), expected)
    assert clone(svc).C == 2
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "parameters, word",
    [
        ({"class_weight": "even"}, "class_weight='even'"),
        ({"class_weight": {"rose": 2}}, "class_weight names the classes \\['rose'\\]"),
        ({"probability": True}, "probability=True"),
        ({"kernel": "precomputed"}, "kernel='precomputed'"),
        ({"break_ties": True}, "break_ties=True"),
        ({"gamma": "wide"}, "gamma='wide'"),
        ({"C": -1}, "C=-1"),
    ],
)
def test_refuses_what_the_program_lacks(two_flowers, parameters, word):
    with pytest.raises(ValueError, match=word):
        SVC(**parameters).fit(*two_flowers)


def test_a_failure_has_the_text_and_the_code_of_the_program(two_flowers):
    with pytest.raises(mokume.Failure, match="no device matches") as failure:
        SVC(devices="no-such-device").fit(*two_flowers)
    assert failure.value.code in (2, 4)
    assert pickle.loads(pickle.dumps(failure.value)).code == failure.value.code

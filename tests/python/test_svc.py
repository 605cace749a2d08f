"""Tests that SVC gives what scikit-learn's SVC gives."""

import os
import pickle
import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel

import mokume
from mokume.sklearn._kernel import dense_rows
from mokume.sklearn import SVC, GridSearchCV
from mokume.sklearn._base import temporary_directory


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
    np.testing.assert_array_equal(svc.support_vectors_, X[svc.support_])
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
            patch.setattr("mokume.sklearn._kernel.MANY_PRODUCTS", 0)
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
        ({"class_weight": "even"}, "class_weight"),
        ({"kernel": "cosine"}, "kernel"),
        ({"gamma": "wide"}, "gamma"),
        ({"C": -1}, "'C' parameter"),
        ({"degree": 2.5}, "degree"),
        ({"devices": 3}, "devices"),
    ],
)
def test_refuses_as_scikit_learn_does(two_flowers, parameters, word):
    with pytest.raises(ValueError, match=word):
        SVC(**parameters).fit(*two_flowers)


def test_the_program_fits(two_flowers):
    """scikit-learn's fit must call ours, which it does through names that are not public."""
    assert "models/best/model.libsvm" in SVC().fit(*two_flowers)._files
    assert "models/best/model.libsvm" in SVC().fit(scipy.sparse.csr_matrix(two_flowers[0]), two_flowers[1])._files


def test_a_limit_of_steps_is_reported():
    X, y = make_classification(1000, flip_y=0.4, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        svc = SVC(C=1e4, max_iter=5).fit(X, y)
    assert svc.fit_status_ == 1 and svc.n_iter_.shape == (1,) and svc.n_iter_.max() == 5


@pytest.mark.parametrize("limit", [200, 1000, 5000])
def test_a_limit_that_is_not_reached_changes_nothing(digits, limit):
    """The usual solver counts each of its rounds as 1000 steps, so a limit must not end it after a few rounds."""
    X, y = digits
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine = SVC(C=10, max_iter=limit, decision_function_shape="ovo").fit(X, y)
    other = sklearn.svm.SVC(C=10, max_iter=limit, decision_function_shape="ovo").fit(X, y)
    assert mine.fit_status_ == other.fit_status_ == 0 and mine.n_iter_.max() < limit
    np.testing.assert_allclose(mine.decision_function(X), other.decision_function(X), atol=5e-3)


def test_small_experiments_run_in_memory(monkeypatch, tmp_path):
    """A disk would take longer than the fit, because the program makes the files of a run durable."""
    usage = type(shutil.disk_usage("/"))
    monkeypatch.setattr(tempfile, "tempdir", "/tmp")
    monkeypatch.setattr("mokume.sklearn._base._MEMORY", str(tmp_path))
    for size, free, there in [(1000, 1 << 34, True), (1 << 40, 1 << 50, False), (1000, 1 << 20, False)]:
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: usage(free, 0, free))
        with temporary_directory(size) as place:
            assert (Path(place).parent == tmp_path) == there
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "chosen"))
    (tmp_path / "chosen").mkdir()
    with temporary_directory(1000) as place:
        assert Path(place).parent == tmp_path / "chosen"
    assert os.listdir(tmp_path) == ["chosen"] and os.listdir(tmp_path / "chosen") == []


@pytest.mark.parametrize("labels", [[2**53, 2**53 + 1], [2**60, 2**60 + 1], [-(2**60), 2**60 + 1]])
def test_large_labels_stay_distinct(two_flowers, labels):
    X, names = two_flowers
    y = np.array(labels)[(names == "virginica").astype(int)]
    svc = SVC().fit(X, y)
    assert svc.classes_.tolist() == labels and svc.score(X, y) > 0.9
    assert set(svc.predict(X).tolist()) == set(labels)
    search = GridSearchCV(SVC(devices="host"), {"C": [1, 10]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9 and set(search.predict(X).tolist()) == set(labels)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_sparse_rows_give_the_model_of_dense_rows(digits, kernel):
    X, y = digits
    dense, sparse = (SVC(kernel=kernel).fit(rows, y) for rows in [X, scipy.sparse.csr_matrix(X)])
    np.testing.assert_array_equal(sparse.support_, dense.support_)
    np.testing.assert_array_equal(sparse.dual_coef_.toarray(), dense.dual_coef_)
    np.testing.assert_allclose(sparse.decision_function(scipy.sparse.csr_matrix(X)), dense.decision_function(X))


def test_wide_sparse_rows_remain_sparse(digits):
    X, y = digits
    columns = np.sort(np.random.default_rng(1).choice(2**24 - 1, X.shape[1], replace=False))
    dense = scipy.sparse.csr_matrix(X)
    wide = scipy.sparse.csr_matrix((dense.data, columns[dense.indices], dense.indptr), shape=(len(X), 2**24))
    weights = np.arange(len(X)) % 3
    narrow, mine = (SVC(gamma=0.001).fit(rows, y, weights) for rows in [X, wide])
    np.testing.assert_array_equal(mine.support_, narrow.support_)
    np.testing.assert_array_equal(mine.predict(wide), narrow.predict(X))
    assert mine.shape_fit_ == wide.shape and mine.support_vectors_.shape[1] == 2**24


def test_wide_sparse_rows_may_be_unsorted_and_repeat_columns(digits):
    X, y = digits
    rows = scipy.sparse.csr_matrix(X)
    turned = [np.flatnonzero(row)[::-1] for row in X]
    twice = np.concatenate([np.repeat(columns, 2) for columns in turned])
    halves = np.concatenate([np.repeat(row[columns] / 2, 2) for row, columns in zip(X, turned)])
    wide = (len(X), 2**24)
    unsorted = scipy.sparse.csr_matrix((halves, twice, 2 * rows.indptr), shape=wide)
    sorted_rows = scipy.sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=wide)
    expected, mine = (SVC(gamma=0.001).fit(one, y) for one in [sorted_rows, unsorted])
    np.testing.assert_array_equal(mine.support_, expected.support_)
    np.testing.assert_array_equal(mine.dual_coef_.toarray(), expected.dual_coef_.toarray())


def test_sparse_rows_that_do_not_fit_as_dense_rows_are_refused():
    X = scipy.sparse.csr_matrix((2**20, 2**20), dtype=np.float64)
    with pytest.raises(ValueError, match="4096 GiB, more than half of the memory"):
        dense_rows(X)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_probabilities_are_near_scikit_learns(digits):
    X, y = digits
    mine, other = (
        kind(probability=True, random_state=0).fit(X[:400], y[:400]).predict_proba(X[400:])
        for kind in (SVC, sklearn.svm.SVC)
    )
    np.testing.assert_allclose(mine.sum(axis=1), 1)
    assert np.abs(mine - other).mean() < 0.01 and (mine.argmax(axis=1) == other.argmax(axis=1)).mean() > 0.9


@pytest.mark.parametrize("weights", [np.ones((500, 2)), np.full(500, np.nan), np.zeros(500), np.ones(3)])
def test_bad_weights_are_refused(digits, weights):
    with pytest.raises(ValueError, match="weight"):
        SVC().fit(*digits, sample_weight=weights)


def test_weights_count_like_repeated_rows(digits):
    X, y = digits
    repeats = np.random.RandomState(0).randint(0, 3, len(X))
    weighted = SVC(C=0.5).fit(X, y, sample_weight=repeats)
    repeated = SVC(C=0.5, gamma=weighted._gamma).fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    by_pair = [svc.set_params(decision_function_shape="ovo").decision_function(X) for svc in (weighted, repeated)]
    np.testing.assert_allclose(*by_pair, atol=5e-3)


def test_a_failure_has_the_text_and_the_code_of_the_program(two_flowers):
    with pytest.raises(mokume.Failure, match="no device matches") as failure:
        SVC(devices="no-such-device").fit(*two_flowers)
    assert failure.value.code in (2, 4)
    assert pickle.loads(pickle.dumps(failure.value)).code == failure.value.code


@pytest.mark.parametrize("kernel, function", [("laplacian", laplacian_kernel), ("chi2", chi2_kernel)])
@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
def test_kernels_that_libsvm_lacks(digits, kernel, function, name, monkeypatch):
    X, y = digits[0], digits[1] % 4
    own = {"C": 10} if name in ("SVC", "SVR") else {"nu": 0.213}
    mine = getattr(mokume.sklearn, name)(kernel=kernel, gamma=0.1, tol=1e-4, **own).fit(X[:300], y[:300])
    other = getattr(sklearn.svm, name)(kernel="precomputed", tol=1e-4, **own)
    other.fit(function(X[:300], gamma=0.1), y[:300])
    values = function(X, X[:300], gamma=0.1)
    decide = "predict" if name.endswith("SVR") else "decision_function"
    expected = getattr(other, decide)(values)
    np.testing.assert_allclose(getattr(mine, decide)(X), expected, atol=2e-3 * np.abs(expected).max())
    here, again = mine.predict(X), pickle.loads(pickle.dumps(mine))
    np.testing.assert_array_equal(again.predict(X), here)
    assert mine.support_vectors_.shape == (len(mine.support_), 64)
    monkeypatch.setattr("mokume.sklearn._kernel.MANY_PRODUCTS", 0)
    np.testing.assert_allclose(mine.predict(X), here, atol=1e-4)


def test_a_machine_of_distances_without_support_vectors_predicts_its_intercept(digits):
    machine = mokume.sklearn.SVR(kernel="laplacian", epsilon=100).fit(*digits)
    assert len(machine.support_) == 0
    np.testing.assert_allclose(machine.predict(digits[0]), machine.intercept_[0])


def test_probabilities_with_a_kernel_that_libsvm_lacks(digits):
    X, y = digits
    machine = SVC(kernel="laplacian", gamma=0.1, C=10, probability=True, random_state=0).fit(X[:400], y[:400])
    shares = machine.predict_proba(X[400:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert np.mean(shares.argmax(axis=1) == machine.predict(X[400:])) > 0.95


@pytest.mark.parametrize("kernel", ["laplacian", "chi2"])
def test_kernels_of_distances_take_dense_rows(digits, kernel, capsys):
    X, y = scipy.sparse.csr_matrix(digits[0]), digits[1]
    with pytest.raises(ValueError, match=f"kernel='{kernel}' takes dense rows"):
        SVC(kernel=kernel).fit(X, y)
    search = GridSearchCV(SVC(devices="host"), {"kernel": ["rbf", kernel]}, cv=2, error_score=0.0, verbose=1)
    with pytest.warns(FitFailedWarning):
        search.fit(X, y)
    assert "X is sparse, but some candidates take dense rows" in capsys.readouterr().out
    assert list(search.cv_results_["rank_test_score"]) == [1, 2]


def test_chi2_refuses_negative_values(digits):
    with pytest.raises(ValueError, match="Negative values in data"):
        SVC(kernel="chi2").fit(digits[0] - 0.5, digits[1])

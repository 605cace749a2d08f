"""Tests that the searches give what scikit-learn's give, by one run of the program where it can."""

import numpy as np
import pytest
import sklearn.model_selection
import sklearn.svm
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mokume.sklearn import SVC, SVR, GridSearchCV, RandomizedSearchCV

SHARED = "one run of the program fits all"
ELSEWHERE = "scikit-learn's search fits each candidate"


def assert_same_search(mine, other, tolerance):
    """Compares two searches that use the same folds."""
    assert set(other.cv_results_) == set(mine.cv_results_)
    assert mine.cv_results_["params"] == other.cv_results_["params"]
    for k in range(other.n_splits_):
        name = f"split{k}_test_score"
        np.testing.assert_allclose(mine.cv_results_[name], other.cv_results_[name], atol=tolerance)
    for name, column in other.cv_results_.items():
        assert mine.cv_results_[name].dtype == column.dtype if hasattr(column, "dtype") else True
    assert mine.n_splits_ == other.n_splits_
    assert mine.best_params_ == other.best_params_
    assert mine.best_index_ == other.best_index_


@pytest.mark.parametrize(
    "grid, cv",
    [
        ({"C": [0.1, 1, 10], "gamma": ["scale", 0.1]}, 3),
        ({"C": [1, 100]}, KFold(4, shuffle=True, random_state=1)),
        ([{"kernel": ["linear"], "C": [0.01, 1]}, {"kernel": ["rbf"], "gamma": [0.01, 0.05]}], None),
    ],
)
def test_equals_scikit_learn(digits, grid, cv, capsys):
    X, y = digits
    mine = GridSearchCV(SVC(devices="host"), grid, cv=cv, verbose=1).fit(X[:400], y[:400])
    other = sklearn.model_selection.GridSearchCV(sklearn.svm.SVC(), grid, cv=cv).fit(X[:400], y[:400])
    assert SHARED in capsys.readouterr().out
    assert_same_search(mine, other, 0.0101)  # one row of 100
    assert mine.best_estimator_.C == mine.best_params_.get("C", 1.0)
    assert np.sum(mine.predict(X[400:]) != other.predict(X[400:])) <= 1
    np.testing.assert_array_equal(mine.classes_, other.classes_)


def test_random_candidates_are_those_of_scikit_learn(digits):
    X, y = digits
    chosen = {"C": loguniform(0.1, 100), "gamma": loguniform(0.001, 0.1)}
    mine = RandomizedSearchCV(SVC(devices="host"), chosen, n_iter=5, cv=3, random_state=4).fit(X, y)
    other = sklearn.model_selection.RandomizedSearchCV(sklearn.svm.SVC(), chosen, n_iter=5, cv=3, random_state=4).fit(
        X, y
    )
    assert_same_search(mine, other, 0.0101)


@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_squared_error"])
def test_a_regression_is_searched(scoring, capsys):
    X, y = load_diabetes(return_X_y=True)
    grid = {"svr__C": [1, 100], "svr__epsilon": [0.1, 10]}
    mine = GridSearchCV(
        make_pipeline(StandardScaler(), SVR(devices="host")), grid, cv=4, scoring=scoring, verbose=1
    ).fit(X, y)
    assert SHARED in capsys.readouterr().out
    other = sklearn.model_selection.GridSearchCV(
        make_pipeline(StandardScaler(), sklearn.svm.SVR()), grid, cv=4, scoring=scoring
    ).fit(X, y)
    assert_same_search(mine, other, 2e-3 * np.abs(other.cv_results_["mean_test_score"]).max())
    np.testing.assert_allclose(mine.predict(X), other.predict(X), atol=1)
    assert mine.score(X, y) == pytest.approx(other.score(X, y), rel=1e-3)


def test_each_fold_scales_its_own_rows(capsys):
    """A scaler that had seen the validated rows would score otherwise: the last rows are far away."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X + 5 * X.std(axis=0) * (np.arange(len(X)) > 450)[:, None]
    grid, cv = {"svc__C": [0.1, 10], "svc__gamma": ["scale", 0.01]}, KFold(5)
    mine = GridSearchCV(make_pipeline(StandardScaler(), SVC(devices="host")), grid, cv=cv, verbose=1).fit(X, y)
    assert SHARED in capsys.readouterr().out
    other = sklearn.model_selection.GridSearchCV(make_pipeline(StandardScaler(), sklearn.svm.SVC()), grid, cv=cv).fit(
        X, y
    )
    assert_same_search(mine, other, 0.0101)
    scaled = StandardScaler().fit_transform(X)
    leaking = sklearn.model_selection.GridSearchCV(sklearn.svm.SVC(), {"C": [0.1, 10], "gamma": ["scale", 0.01]}, cv=cv)
    gap = leaking.fit(scaled, y).cv_results_["split4_test_score"] - other.cv_results_["split4_test_score"]
    assert np.abs(gap).max() > 0.05
    np.testing.assert_array_equal(mine.predict(X), other.predict(X))


@pytest.mark.parametrize(
    "options, reason",
    [
        ({"scoring": "f1_macro"}, "scoring='f1_macro'"),
        ({"scoring": ["accuracy", "f1_macro"], "refit": "f1_macro"}, "scoring="),
        ({"cv": ShuffleSplit(3, random_state=0)}, "validate rows more than once"),
        ({"cv": TimeSeriesSplit(3)}, "does not train on all rows"),
        ({"return_train_score": True}, "training rows"),
        ({"param_grid": {"kernel": ["linear", lambda a, b: a @ b.T]}}, "kernel"),
    ],
)
def test_other_searches_are_scikit_learns(digits, options, reason, capsys):
    X, y = digits
    options = {"param_grid": {"C": [1, 10]}, "cv": 3, **options}
    mine = GridSearchCV(SVC(devices="host"), verbose=1, **options).fit(X[:200], y[:200])
    said = capsys.readouterr().out
    assert ELSEWHERE in said and reason in said
    assert mine.cv is options["cv"]
    other = sklearn.model_selection.GridSearchCV(sklearn.svm.SVC(), **options).fit(X[:200], y[:200])
    assert set(mine.cv_results_) == set(other.cv_results_) and mine.n_splits_ == other.n_splits_
    for name in other.cv_results_:
        if "test" in name and "rank" not in name:
            np.testing.assert_allclose(mine.cv_results_[name], other.cv_results_[name], atol=0.05)


def test_other_estimators_are_searched(digits, capsys):
    X, y = digits
    search = GridSearchCV(LogisticRegression(max_iter=500), {"C": [0.1, 1]}, cv=2, verbose=1).fit(X, y)
    assert "LogisticRegression is not an estimator of mokume" in capsys.readouterr().out and search.best_score_ > 0.8
    search = GridSearchCV(make_pipeline(PCA(10), SVC()), {"pca__n_components": [5, 10]}, cv=2, verbose=1).fit(X, y)
    assert "no other transformer" in capsys.readouterr().out and search.best_score_ > 0.8
    groups = np.arange(len(X)) // 10
    search = GridSearchCV(SVC(devices="host"), {"C": [1]}, cv=GroupKFold(4), verbose=1).fit(X, y, groups=groups)
    assert SHARED in capsys.readouterr().out and search.n_splits_ == 4


def test_refit_by_a_function_and_not_at_all(digits):
    X, y = digits
    search = GridSearchCV(SVC(devices="host"), {"C": [0.1, 1, 10]}, cv=2, refit=lambda results: 0).fit(X, y)
    assert search.best_index_ == 0 and search.best_estimator_.C == 0.1 and not hasattr(search, "best_score_")
    search = GridSearchCV(SVC(devices="host"), {"C": [0.1, 1, 10]}, cv=2, refit=False).fit(X, y)
    assert not hasattr(search, "best_estimator_") and search.best_score_ > 0.8


def test_a_generator_of_folds_is_read_once(digits):
    X, y = digits
    for cv in (KFold(3), ShuffleSplit(3, random_state=1)):
        assert GridSearchCV(SVC(), {"C": [1]}, cv=cv.split(X)).fit(X, y).n_splits_ == 3


def test_a_fold_of_one_class_has_no_score(two_flowers):
    X, _ = two_flowers
    y = (np.arange(len(X)) >= 80).astype(int)  # the last fold trains on class 0
    with pytest.warns(FitFailedWarning):
        found = GridSearchCV(SVC(devices="host"), {"C": [1]}, cv=KFold(5), refit=False).fit(X, y).cv_results_
    assert np.isnan(found["split4_test_score"]).all() and not np.isnan(found["split0_test_score"]).any()


def test_a_bad_candidate_has_the_score_of_errors(two_flowers):
    with pytest.warns(FitFailedWarning):
        search = GridSearchCV(SVC(devices="host"), {"C": [1, -1]}, cv=2, error_score=-5).fit(*two_flowers)
    assert search.best_params_ == {"C": 1} and search.cv_results_["mean_test_score"][1] == -5


def test_a_limit_of_steps_is_reported():
    X, y = make_classification(1000, flip_y=0.4, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter ended 4 of 4 fits"):
        GridSearchCV(SVC(devices="host", max_iter=5), {"C": [1e4, 1e5]}, cv=2, refit=False).fit(X, y)


def test_equal_candidates_share_a_rank(digits):
    X, y = digits
    found = GridSearchCV(SVC(devices="host"), {"C": [1e5, 1e6, 1e-9]}, cv=2, refit=False).fit(X, y).cv_results_
    assert list(found["rank_test_score"]) == [1, 1, 3]

"""Tests that the searches give what scikit-learn's give, by one run of the program where it can."""

import pickle
import warnings

import numpy as np
import pandas
import pytest
import scipy.sparse
import sklearn.model_selection
import sklearn.svm
from scipy.stats import loguniform
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler

from mokume.sklearn import SVC, SVR, GridSearchCV, RandomizedSearchCV
from searches import APART, ELSEWHERE, SHARED, assert_same_search

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
def test_a_regression_is_searched(scoring, runs, capsys):
    X, y = load_diabetes(return_X_y=True)
    grid = {"svr__C": [1, 100], "svr__epsilon": [0.1, 10]}
    mine = GridSearchCV(
        make_pipeline(StandardScaler(), SVR(devices="host")), grid, cv=4, scoring=scoring, verbose=1
    ).fit(X, y)
    assert SHARED in capsys.readouterr().out and len(runs) == 1
    other = sklearn.model_selection.GridSearchCV(
        make_pipeline(StandardScaler(), sklearn.svm.SVR()), grid, cv=4, scoring=scoring
    ).fit(X, y)
    assert_same_search(mine, other, 2e-3 * np.abs(other.cv_results_["mean_test_score"]).max())
    np.testing.assert_allclose(mine.predict(X), other.predict(X), atol=1)
    assert mine.score(X, y) == pytest.approx(other.score(X, y), rel=1e-3)


def test_each_fold_scales_its_own_rows(capsys, runs, monkeypatch):
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
    assert len(runs) == 1  # which also fitted the best candidate to all rows
    monkeypatch.setattr("mokume.sklearn._kernel.MANY_PRODUCTS", 0)
    np.testing.assert_array_equal(mine.predict(X), other.predict(X))
    np.testing.assert_allclose(mine.decision_function(X), other.decision_function(X), atol=5e-3)


@pytest.mark.parametrize(
    "options, reason",
    [
        ({"scoring": "f1_macro"}, "scoring='f1_macro'"),
        ({"scoring": ["accuracy", "f1_macro"], "refit": "f1_macro"}, "scoring="),
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
    assert "too few candidates have equal transformers" in capsys.readouterr().out and search.best_score_ > 0.8
    groups = np.arange(len(X)) // 10
    search = GridSearchCV(SVC(devices="host"), {"C": [1]}, cv=GroupKFold(4), verbose=1).fit(X, y, groups=groups)
    assert SHARED in capsys.readouterr().out and search.n_splits_ == 4


def cells(X):
    """Returns a table with a column of words and missing numbers."""
    table = pandas.DataFrame(X[:, 20:24].copy(), columns=list("abcd"))
    table["word"] = np.where(X[:, 30] > 0.4, "dark", "light")
    table.iloc[::7, 0] = np.nan
    return table


COLUMNS = make_column_transformer(
    (make_pipeline(SimpleImputer(), MinMaxScaler()), list("abcd")), (OneHotEncoder(), ["word"])
)
PIPELINES = [
    (
        Pipeline([("before", MinMaxScaler()), ("svc", SVC(devices="host"))]),
        {},
        np.asarray,
        1,
        ShuffleSplit(2, random_state=0),
    ),
    (Pipeline([("before", COLUMNS), ("svc", SVC(devices="host", class_weight="balanced"))]), {}, cells, 1, 3),
    (
        Pipeline([("before", StandardScaler()), ("pca", PCA(svd_solver="full")), ("svc", SVC(devices="host"))]),
        {"pca__n_components": [5, 0.8], "before": [StandardScaler(), "passthrough"]},
        np.asarray,
        4,
        2,
    ),
    (
        Pipeline([("before", SelectKBest()), ("svc", SVC(devices="host"))]),
        {"before__k": [5, 30]},
        scipy.sparse.csr_matrix,
        2,
        2,
    ),
]


@pytest.mark.filterwarnings("ignore:Features .* are constant", "ignore:invalid value encountered")
@pytest.mark.parametrize("pipeline, settings, table, count, cv", PIPELINES)
def test_transformers_are_fitted_in_each_fold(digits, runs, capsys, pipeline, settings, table, count, cv):
    """The results are those of scikit-learn's search around the same estimator, and the runs are fewer."""
    X, y = table(digits[0]), digits[1]
    grid = {"svc__C": [0.1, 10], **settings}
    mine = GridSearchCV(pipeline, grid, cv=cv, verbose=1).fit(X, y)
    assert APART in capsys.readouterr().out
    folds = mine.n_splits_
    assert len(runs) == folds * count + 1  # the last run fits the best candidate to all rows
    del runs[:]
    other = sklearn.model_selection.GridSearchCV(pipeline, grid, cv=cv).fit(X, y)
    assert len(runs) == folds * count * 2 + 1
    assert_same_search(mine, other, 0)
    np.testing.assert_array_equal(mine.predict(X), other.predict(X))
    np.testing.assert_array_equal(mine.decision_function(X), other.decision_function(X))


def test_transformers_before_a_regression(runs):
    X, y = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(PolynomialFeatures(), MinMaxScaler(), SVR(devices="host"))
    grid = {"svr__C": [1, 100], "svr__epsilon": [0.1, 10], "polynomialfeatures__degree": [1, 2]}
    mine = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert len(runs) == 3 * 2 + 1
    assert_same_search(mine, sklearn.model_selection.GridSearchCV(pipeline, grid, cv=3).fit(X, y), 1e-5)


@pytest.mark.parametrize("cv", [ShuffleSplit(3, random_state=0), TimeSeriesSplit(3), RepeatedKFold(n_repeats=2)])
def test_any_folds_are_shared(digits, runs, cv, capsys):
    X, y = digits[0][:200], digits[1][:200] > 4
    np.random.seed(3)
    mine = GridSearchCV(SVC(devices="host"), {"C": [0.1, 1, 10]}, cv=cv, verbose=1).fit(X, y)
    assert len(runs) == mine.n_splits_ + 1
    np.random.seed(3)
    other = sklearn.model_selection.GridSearchCV(SVC(devices="host"), {"C": [0.1, 1, 10]}, cv=cv).fit(X, y)
    assert_same_search(mine, other, 0)


class Shaken(MinMaxScaler):
    """Draws random numbers whenever it is fitted."""

    def fit(self, X, y=None):
        super().fit(X, y)
        self.scale_ = self.scale_ * np.random.uniform(0.9, 1.1)
        return self


def test_transformers_that_draw_random_numbers_are_fitted_for_each_candidate(digits, capsys):
    X, y = digits
    found = []
    for kind in (GridSearchCV, sklearn.model_selection.GridSearchCV):
        np.random.seed(1)
        search = kind(make_pipeline(Shaken(), SVC(devices="host")), {"svc__C": [0.01, 0.02, 1]}, cv=2, verbose=1)
        found.append(search.fit(X, y).cv_results_["mean_test_score"])
    assert "a transformer draws random numbers" in capsys.readouterr().out
    np.testing.assert_array_equal(*found)


def test_a_transformer_that_fails_scores_errors(digits):
    X, y = digits
    search = GridSearchCV(
        make_pipeline(PCA(), SVC(devices="host")), {"svc__C": [1, 2], "pca__n_components": [5, 1000]}, cv=2
    )
    with pytest.warns(FitFailedWarning):
        search.fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).sum() == 2


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


@pytest.mark.parametrize("estimator", [SVC(devices="host"), make_pipeline(PCA(2), SVC(devices="host"))])
@pytest.mark.parametrize("values", [[1], [1, 10, 100]])
def test_a_fold_of_one_class_has_no_score(two_flowers, estimator, values):
    X, _ = two_flowers
    y = (np.arange(len(X)) >= 80).astype(int)  # the last fold trains on class 0
    grid = {"C" if isinstance(estimator, SVC) else "svc__C": values}
    with pytest.warns(FitFailedWarning):
        found = GridSearchCV(estimator, grid, cv=KFold(5), refit=False).fit(X, y).cv_results_
    assert np.isnan(found["split4_test_score"]).all() and not np.isnan(found["split0_test_score"]).any()


def _nan_if(X, bad):
    return np.full_like(X, np.nan) if bad else X


def test_a_setting_whose_transformer_gives_nan_has_no_score(two_flowers):
    estimator = make_pipeline(FunctionTransformer(_nan_if), SVC(devices="host"))
    grid = {"functiontransformer__kw_args": [{"bad": False}, {"bad": True}], "svc__C": [1, 10]}
    with pytest.warns(FitFailedWarning):
        found = GridSearchCV(estimator, grid, cv=3, refit=False).fit(*two_flowers).cv_results_
    assert np.isnan(found["mean_test_score"][2:]).all() and not np.isnan(found["mean_test_score"][:2]).any()


@pytest.mark.parametrize("limits", [[30, -1], [-1, 30, 1000]])
def test_limits_of_steps_can_be_searched(limits):
    X, y = make_classification(300, flip_y=0.3, random_state=1)  # no row lies within 1e-4 of the boundary
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mine = GridSearchCV(SVC(C=10, devices="host"), {"max_iter": limits}, cv=3).fit(X, y)
        other = sklearn.model_selection.GridSearchCV(SVC(C=10, devices="host"), {"max_iter": limits}, cv=3).fit(X, y)
    np.testing.assert_array_equal(mine.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])


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


def draws(search, **options):
    """Returns the scores of three searches in a row, and the next number of NumPy's generator."""
    np.random.seed(0)
    X, y = load_iris(return_X_y=True)
    found = [search(**options).fit(X[::2], y[::2]).cv_results_["mean_test_score"] for _ in range(3)]
    return np.array(found), np.random.rand()


@pytest.mark.parametrize(
    "cv, road", [(ShuffleSplit(2, test_size=0.3), APART), (StratifiedKFold(3, shuffle=True), SHARED)]
)
@pytest.mark.parametrize("refit", [False, True])
def test_searches_in_a_row_draw_the_folds_of_scikit_learn(cv, road, refit, capsys):
    options = {"param_grid": {"C": [0.01, 0.1]}, "cv": cv, "refit": refit}
    mine, after = draws(lambda **more: GridSearchCV(SVC(devices="host"), verbose=1, **more), **options)
    assert road in capsys.readouterr().out
    other, expected = draws(lambda **more: sklearn.model_selection.GridSearchCV(sklearn.svm.SVC(), **more), **options)
    np.testing.assert_allclose(mine, other, atol=1e-12)
    assert after == expected and len(np.unique(mine, axis=0)) > 1


@pytest.mark.parametrize("cv", [ShuffleSplit(2, test_size=0.3), StratifiedKFold(3, shuffle=True)])
@pytest.mark.parametrize("state", [None, 4])
def test_random_searches_in_a_row_draw_what_scikit_learn_draws(cv, state):
    options = {"param_distributions": {"C": loguniform(0.01, 1)}, "n_iter": 2, "cv": cv, "random_state": state}
    mine, after = draws(lambda **more: RandomizedSearchCV(SVC(devices="host"), **more), **options)
    other, expected = draws(
        lambda **more: sklearn.model_selection.RandomizedSearchCV(sklearn.svm.SVC(), **more), **options
    )
    np.testing.assert_allclose(mine, other, atol=1e-12)
    assert after == expected


class Inconsistent(ShuffleSplit):
    def get_n_splits(self, X=None, y=None, groups=None):
        return 5


def test_inconsistent_folds_are_refused_as_by_scikit_learn(two_flowers):
    with pytest.raises(ValueError, match="Expected 5 splits, got 2"):
        GridSearchCV(SVC(), {"C": [1]}, cv=Inconsistent(2)).fit(*two_flowers)


def test_a_generator_of_folds_outlives_a_refused_kernel():
    """The folds are read from the generator before scikit-learn's search starts."""
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    splits = KFold(2, shuffle=True, random_state=0).split(X)
    assert GridSearchCV(SVC(kernel=lambda a, b: a @ b.T), {"C": [1]}, cv=splits).fit(X, y).n_splits_ == 2


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined", "ignore:One or more of the test scores")
def test_one_row_has_no_r2(capsys):
    X, y = load_diabetes(return_X_y=True)
    options = {"param_grid": {"C": [1, 10]}, "cv": LeaveOneOut(), "refit": False}
    mine = GridSearchCV(SVR(devices="host"), verbose=1, **options).fit(X[:10], y[:10])
    assert "has no R2" in capsys.readouterr().out
    assert np.isnan(mine.cv_results_["mean_test_score"]).all()
    options["scoring"] = "neg_mean_squared_error"
    mine = GridSearchCV(SVR(devices="host"), verbose=1, **options).fit(X[:10], y[:10])
    assert SHARED in capsys.readouterr().out
    other = sklearn.model_selection.GridSearchCV(sklearn.svm.SVR(), **options).fit(X[:10], y[:10])
    np.testing.assert_allclose(mine.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"], rtol=1e-3)


def test_a_fold_may_validate_a_row_twice(two_flowers, capsys):
    X, y = two_flowers
    splits = [(trained, np.append(validated, validated[:20])) for trained, validated in KFold(3, shuffle=True).split(X)]
    mine = GridSearchCV(SVC(devices="host"), {"C": [0.01, 1]}, cv=splits, verbose=1).fit(X, y)
    assert "a fold validates rows more than once" in capsys.readouterr().out
    other = sklearn.model_selection.GridSearchCV(sklearn.svm.SVC(), {"C": [0.01, 1]}, cv=splits).fit(X, y)
    assert_same_search(mine, other, 1e-12)


def test_a_column_that_differs_between_the_folds_only_hardly_varies(two_flowers, capsys):
    X, y = two_flowers
    rows = np.column_stack([X[:, 3], 1e8 + 1e-7 * (np.arange(len(X)) >= 50)])
    grid, cv = {"svc__C": [0.01, 1]}, [(np.arange(50, 100), np.arange(50)), (np.arange(50), np.arange(50, 100))]
    y = np.roll(y, 25)
    mine = GridSearchCV(make_pipeline(StandardScaler(), SVC(devices="host")), grid, cv=cv, verbose=1).fit(rows, y)
    assert "a column hardly varies" in capsys.readouterr().out
    other = sklearn.model_selection.GridSearchCV(make_pipeline(StandardScaler(), sklearn.svm.SVC()), grid, cv=cv)
    np.testing.assert_array_equal(mine.predict(rows), other.fit(rows, y).predict(rows))


@pytest.mark.parametrize("offset, spread, road", [(1e8, 1e-7, APART), (1e8, 1, SHARED), (0, 1e-12, SHARED)])
def test_nearly_constant_columns_are_scaled_as_by_scikit_learn(two_flowers, capsys, offset, spread, road):
    """The second column varies by a few units in the last place, or clearly, and the third one is constant."""
    X, y = two_flowers
    columns = [X[:, 3], offset + spread * (np.arange(len(X)) % 2), np.full(len(X), 0.1)]
    rows, grid, cv = np.column_stack(columns), {"svc__C": [0.01, 1]}, KFold(3, shuffle=True, random_state=0)
    mine = GridSearchCV(make_pipeline(StandardScaler(), SVC(devices="host")), grid, cv=cv, verbose=1).fit(rows, y)
    assert road in capsys.readouterr().out
    other = sklearn.model_selection.GridSearchCV(make_pipeline(StandardScaler(), sklearn.svm.SVC()), grid, cv=cv)
    assert_same_search(mine, other.fit(rows, y), 1e-12)


def test_searches_are_pickled(two_flowers):
    X, y = two_flowers
    for cv in (3, ShuffleSplit(3, random_state=0)):
        search = GridSearchCV(SVC(devices="host"), {"C": [0.1, 1]}, cv=cv).fit(X, y)
        again = pickle.loads(pickle.dumps(search))
        np.testing.assert_array_equal(again.predict(X), search.predict(X))
        assert again.best_params_ == search.best_params_ and again.cv_results_.keys() == search.cv_results_.keys()


@pytest.mark.parametrize("estimator", [SVC(devices="host"), GridSearchCV(SVC(devices="host"), {"C": [0.1, 1]}, cv=2)])
def test_workers_fit_copies(two_flowers, estimator):
    scores = cross_val_score(estimator, *two_flowers, cv=3, n_jobs=2)
    np.testing.assert_array_equal(scores, cross_val_score(estimator, *two_flowers, cv=3))


def test_searches_of_several_scores(two_flowers):
    options = {"param_grid": {"C": [0.1, 1]}, "cv": 3, "scoring": {"acc": "accuracy", "f1": "f1_macro"}, "refit": "f1"}
    mine = GridSearchCV(SVC(devices="host"), n_jobs=2, **options).fit(*two_flowers)
    other = sklearn.model_selection.GridSearchCV(sklearn.svm.SVC(), **options).fit(*two_flowers)
    assert mine.multimetric_ and set(mine.scorer_) == {"acc", "f1"} and mine.best_params_ == other.best_params_
    for name in ("mean_test_acc", "mean_test_f1"):
        np.testing.assert_allclose(mine.cv_results_[name], other.cv_results_[name])

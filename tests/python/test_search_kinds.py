"""Tests that searches share the work of machines with nu and of networks."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.model_selection
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mokume.sklearn
from mokume.sklearn import _base, _mlp
from mokume.sklearn import GridSearchCV, MLPClassifier, MLPRegressor, NuSVC, OneClassSVM, SVC
from searches import APART, ELSEWHERE, SHARED, assert_same_search

FOLDS = KFold(3, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def tasks():
    """Returns rows, and targets for each kind of machine."""
    X, y = load_iris(return_X_y=True)
    patients, progress = load_diabetes(return_X_y=True)
    return {"classes": (X, y), "one class": (X, np.where(y == 1, 1, -1)), "numbers": (patients, progress)}


@pytest.mark.parametrize(
    "name, task, grid, scoring",
    [
        ("NuSVC", "classes", {"nu": [0.112, 0.313], "gamma": ["scale", 0.1]}, None),
        ("NuSVC", "classes", {"kernel": ["linear", "rbf"]}, "accuracy"),
        ("NuSVR", "numbers", {"nu": [0.213, 0.517], "C": [1, 100]}, None),
        ("NuSVR", "numbers", {"nu": [0.213, 0.517]}, "neg_mean_squared_error"),
        ("OneClassSVM", "one class", {"nu": [0.113, 0.317], "gamma": ["scale", 0.1]}, "accuracy"),
    ],
)
def test_machines_with_nu_share_a_run(tasks, runs, capsys, name, task, grid, scoring):
    X, y = tasks[task]
    kind, options = getattr(mokume.sklearn, name), {"cv": FOLDS, "scoring": scoring}
    mine = GridSearchCV(kind(devices="host"), grid, verbose=1, **options).fit(X, y)
    assert SHARED in capsys.readouterr().out and len(runs) == 1
    other = sklearn.model_selection.GridSearchCV(getattr(sklearn.svm, name)(), grid, **options).fit(X, y)
    assert_same_search(mine, other, 0.0201 if task != "numbers" else 1e-4 * np.abs(other.best_score_))
    alone = clone(mine.estimator).set_params(**mine.best_params_).fit(X, y)
    np.testing.assert_array_equal(mine.predict(X), alone.predict(X))


def test_an_infeasible_nu_has_no_score_in_the_folds_where_it_is_infeasible(tasks):
    options = {"param_grid": {"nu": [0.3, 0.9]}, "cv": FOLDS, "refit": False}
    found = []
    for search in (
        GridSearchCV(NuSVC(devices="host"), **options),
        sklearn.model_selection.GridSearchCV(sklearn.svm.NuSVC(), **options),
    ):
        with pytest.warns(FitFailedWarning):
            found.append(search.fit(*tasks["classes"]).cv_results_)
    scores = [[results[f"split{k}_test_score"] for k in range(3)] for results in found]
    np.testing.assert_allclose(*scores, atol=0.0201)
    assert np.isnan(scores[0]).sum() == 1


def test_one_class_takes_no_other_labels(tasks, capsys):
    X, y = tasks["classes"]
    GridSearchCV(OneClassSVM(devices="host"), {"nu": [0.1]}, cv=FOLDS, scoring="accuracy", verbose=1).fit(X, y)
    said = capsys.readouterr().out
    assert ELSEWHERE in said and "y has other labels" in said


# The program draws another order of the rows for each candidate, so fits agree without such an order.
NETWORK = {"shuffle": False, "max_iter": 4, "random_state": 5, "devices": "host"}
RATES = {"learning_rate_init": [0.001, 0.02], "alpha": [0.0, 1.0]}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("task", ["classes", "one class", "numbers"])
@pytest.mark.parametrize(
    "grid",
    [
        {"beta_1": [0.5, 0.9], **RATES},
        {"batch_size": [20, 33], "max_iter": [2, 5], "tol": [0.001, 0.5], "n_iter_no_change": [1, np.inf]},
        {"solver": ["sgd"], "momentum": [0.0, 0.9], "nesterovs_momentum": [False, True]},
    ],
)
def test_networks_share_a_run(tasks, runs, capsys, task, grid):
    """The scores are those of single fits, and the refit takes the model of the run."""
    X, y = tasks[task]
    X, y = (X[:435] / X.std(axis=0), y[:435] / y.std()) if task == "numbers" else (X, y)  # folds of one size
    estimator = (MLPRegressor if task == "numbers" else MLPClassifier)(**NETWORK)
    mine = GridSearchCV(estimator, grid, cv=FOLDS, verbose=1).fit(X, y)
    assert SHARED in capsys.readouterr().out
    fresh = task != "numbers" and "batch_size" not in grid  # 100 rows of a fold are one batch, and 150 are another
    assert len(runs) == 1 + fresh
    other = sklearn.model_selection.GridSearchCV(estimator, grid, cv=FOLDS).fit(X, y)
    assert_same_search(mine, other, 1e-6)
    np.testing.assert_array_equal(mine.best_estimator_.coefs_[0], other.best_estimator_.coefs_[0])
    assert mine.best_estimator_.loss_curve_ == other.best_estimator_.loss_curve_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("before", [[], [StandardScaler()], [PCA(10)]])
def test_networks_with_equal_layers_share_runs(digits, runs, capsys, before):
    X, y = digits
    pipeline = make_pipeline(*before, MLPClassifier(**NETWORK))
    grid = {"mlpclassifier__alpha": [0.0, 10.0], "mlpclassifier__hidden_layer_sizes": [7, (30, 10)]}
    mine = GridSearchCV(pipeline, grid, cv=FOLDS, verbose=1).fit(X, y)
    apart = before and isinstance(before[0], PCA)
    said = f"{APART} and layers" if apart else "2 runs of the program fit all 4 candidates"
    assert said in capsys.readouterr().out and len(runs) == 2 * (3 if apart else 1) + 1
    assert_same_search(mine, sklearn.model_selection.GridSearchCV(pipeline, grid, cv=FOLDS).fit(X, y), 0.0101)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_seed_gives_the_network_of_a_fit(digits, runs):
    """With an order of the rows that is drawn, a seed makes the best network that of a fit of its own."""
    X, y = digits
    options = {"max_iter": 4, "devices": "host"}
    for seed, fits in ((3, 2), (None, 1), (np.random.RandomState(3), 2)):
        del runs[:]
        search = GridSearchCV(MLPClassifier(random_state=seed, **options), RATES, cv=2).fit(X, y)
        assert len(runs) == fits and search.best_score_ > 0.5
        if seed is not None:
            alone = clone(search.estimator).set_params(**search.best_params_).fit(X, y)
            np.testing.assert_array_equal(search.best_estimator_.coefs_[0], alone.coefs_[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "parameters, reason",
    [
        ({"solver": "lbfgs"}, "solver='lbfgs'"),
        ({"early_stopping": True}, "early_stopping"),
        ({"solver": "sgd", "learning_rate": "adaptive"}, "learning_rate='adaptive'"),
    ],
)
def test_networks_of_scikit_learn_are_searched_by_it(digits, capsys, parameters, reason):
    X, y = digits
    GridSearchCV(MLPClassifier(max_iter=3, **parameters), {"alpha": [0.1, 1]}, cv=2, verbose=1).fit(X, y)
    said = capsys.readouterr().out
    assert ELSEWHERE in said and reason in said


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_folds_of_other_sizes_have_runs_of_their_own(tasks, runs, capsys):
    """A batch has all rows of a fold, and the folds train on 98, 98 and 99 rows."""
    X, y = (part[:-1] for part in tasks["classes"])
    mine = GridSearchCV(MLPClassifier(**NETWORK), RATES, cv=FOLDS, verbose=1).fit(X[1:], y[1:])
    assert "the size of a batch depends on the rows of a fold" in capsys.readouterr().out and len(runs) == 4
    other = sklearn.model_selection.GridSearchCV(MLPClassifier(**NETWORK), RATES, cv=FOLDS).fit(X[1:], y[1:])
    assert_same_search(mine, other, 1e-6)


@pytest.mark.parametrize("cv", [FOLDS, ShuffleSplit(3, random_state=0)])
def test_epochs_that_end_too_early_are_reported(tasks, cv):
    X, y = tasks["classes"]
    grid = {"max_iter": [3, 5], "tol": [10.0, 1e-6]}  # with tol=10, three epochs in a row are never better
    network = MLPClassifier(solver="sgd", n_iter_no_change=2, random_state=0, devices="host")
    with pytest.warns(ConvergenceWarning, match="max_iter ended 9 of 12 fits"):
        GridSearchCV(network, grid, cv=cv, refit=False).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        GridSearchCV(network, {"max_iter": [4, 5], "tol": [10.0]}, cv=FOLDS, refit=False).fit(X, y)


def test_a_run_whose_fits_ended_before_their_first_epoch_has_no_losses(tmp_path):
    assert _mlp.training_losses(tmp_path) == {}


def test_networks_that_all_fail_are_reported_as_by_scikit_learn(tasks):
    X, y = tasks["numbers"]
    network = MLPRegressor(solver="sgd", learning_rate_init=1e5, max_iter=3, random_state=0, devices="host")
    with pytest.raises(ValueError, match="All the 6 fits failed"):
        GridSearchCV(network, {"alpha": [0.0, 1.0]}, cv=FOLDS).fit(1e3 * X, 1e3 * y)


@pytest.mark.parametrize("name, task", [("SVC", "classes"), ("SVR", "numbers"), ("OneClassSVM", "one class")])
@pytest.mark.parametrize("cv, count", [(FOLDS, 1), (ShuffleSplit(2, random_state=0), 3)])
def test_many_sparse_rows_remain_sparse(tasks, runs, monkeypatch, name, task, cv, count):
    X, y = tasks[task]
    if name == "OneClassSVM":  # equal rows lie on the boundary
        X, y = tasks["numbers"][0], np.where(tasks["numbers"][1] > 100, 1, -1)
    X = scipy.sparse.csr_matrix(np.where(X > np.median(X, axis=0), X, 0))
    grid, options = {"gamma": [0.1, 1.0]}, {"cv": cv, "scoring": "accuracy" if task == "one class" else None}
    estimator, written = getattr(mokume.sklearn, name)(devices="host"), []
    if name == "OneClassSVM":
        estimator.set_params(nu=0.317)
    write = _base._write_libsvm
    monkeypatch.setattr(_base, "_write_libsvm", lambda *arguments: (written.append(arguments), write(*arguments)))
    dense = GridSearchCV(estimator, grid, **options).fit(X, y)
    assert len(runs) == count and not written
    monkeypatch.setattr("mokume.sklearn._kernel._LARGEST_DENSE", 0)
    sparse = GridSearchCV(estimator, grid, **options).fit(X, y)
    assert len(runs) == 2 * count and len(written) == count
    assert_same_search(sparse, dense, 1e-5)
    np.testing.assert_allclose(sparse.predict(X), dense.predict(X), rtol=1e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", [SVC(), MLPClassifier(max_iter=4, random_state=0), SVC(devices="all")])
def test_the_host_runs_small_searches(tasks, monkeypatch, estimator):
    """Other devices take longer to start than the host takes to fit."""
    used, enter = [], _base.Experiment.__enter__
    monkeypatch.setattr(_base.Experiment, "__enter__", lambda self: (used.append(self.devices), enter(self))[1])
    grid = {"C" if isinstance(estimator, SVC) else "alpha": [1, 10]}
    GridSearchCV(estimator, grid, cv=FOLDS, refit=False).fit(*tasks["classes"])
    monkeypatch.setattr(type(estimator), "_LITTLE_WORK", 0)
    GridSearchCV(estimator, grid, cv=FOLDS, refit=False).fit(*tasks["classes"])
    assert used == (["host", "all"] if estimator.devices is None else ["all", "all"])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_network_behind_a_scaler_is_taken_from_the_run(digits, runs, monkeypatch):
    X, y = digits
    pipeline = make_pipeline(StandardScaler(), MLPClassifier(**NETWORK))
    mine = GridSearchCV(pipeline, {"mlpclassifier__alpha": [0.0, 10.0]}, cv=FOLDS).fit(X, y)
    assert len(runs) == 1
    alone = clone(pipeline).set_params(**mine.best_params_).fit(X, y)
    np.testing.assert_allclose(mine.predict_proba(X), alone.predict_proba(X), atol=1e-3)
    monkeypatch.setattr("mokume.sklearn._mlp.FEW_PRODUCTS", 0)
    np.testing.assert_allclose(mine.predict_proba(X), alone.predict_proba(X), atol=1e-3)

"""Tests that networks are trained as by scikit-learn, by the program where it can."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.neural_network
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning

from mokume.sklearn import MLPClassifier, MLPRegressor

KINDS = [MLPClassifier, MLPRegressor]


def by_the_program(network):
    return hasattr(network, "_files")


@pytest.fixture(scope="module")
def patients():
    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0), (y - y.mean()) / y.std()


@pytest.fixture
def tasks(digits, two_flowers, patients):
    """Returns rows and targets of ten classes, of two classes and of a regression."""
    return {"ten": (MLPClassifier, *digits), "two": (MLPClassifier, *two_flowers), "numbers": (MLPRegressor, *patients)}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("task", ["ten", "two", "numbers"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"solver": "sgd", "learning_rate_init": 0.02},
        {"solver": "sgd", "learning_rate_init": 0.05, "momentum": 0.0, "activation": "tanh"},
        {"solver": "sgd", "nesterovs_momentum": False, "activation": "logistic", "hidden_layer_sizes": (20, 10)},
        {"activation": "identity", "hidden_layer_sizes": 7, "batch_size": 33},
        {"hidden_layer_sizes": (), "beta_1": 0.5, "beta_2": 0.9},
    ],
)
def test_equals_scikit_learn_without_a_random_order(tasks, task, parameters):
    """All else is equal: the initial weights, the batches, the losses and the steps."""
    kind, X, y = tasks[task]
    parameters = {"shuffle": False, "alpha": 0.0, "max_iter": 6, "random_state": 5, **parameters}
    # A step of adam has the same size for gradients that are nearly 0, of which float32 knows little.
    atol = 1e-5 if parameters.get("solver") == "sgd" else 3e-3
    other = getattr(sklearn.neural_network, kind.__name__)(**parameters).fit(X, y)
    mine = kind(**parameters).fit(X, y)
    assert by_the_program(mine)
    np.testing.assert_allclose(mine.loss_curve_, other.loss_curve_, rtol=1e-4)
    for name in ("coefs_", "intercepts_"):
        for ours, theirs in zip(getattr(mine, name), getattr(other, name)):
            np.testing.assert_allclose(ours, theirs, atol=atol)
            assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(mine.score(X, y), other.score(X, y), atol=0.003)
    for name in ("n_iter_", "t_", "n_layers_", "n_outputs_", "out_activation_", "validation_scores_"):
        assert getattr(mine, name) == getattr(other, name)
    assert mine.best_loss_ == min(mine.loss_curve_) and mine.loss_ == mine.loss_curve_[-1]
    assert mine._no_improvement_count == other._no_improvement_count


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tol, patience", [(0.01, 3), (0.002, 5), (0.1, 1)])
def test_stops_in_the_epoch_in_which_scikit_learn_stops(tasks, kind, tol, patience):
    _, X, y = tasks["two" if kind is MLPClassifier else "numbers"]
    parameters = {"shuffle": False, "alpha": 0.0, "max_iter": 300, "random_state": 1, "solver": "sgd", "tol": tol}
    other = getattr(sklearn.neural_network, kind.__name__)(n_iter_no_change=patience, **parameters).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        mine = kind(n_iter_no_change=patience, **parameters).fit(X, y)
    assert by_the_program(mine) and mine.n_iter_ == other.n_iter_ < 300
    assert mine._no_improvement_count == other._no_improvement_count


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_of_epochs_is_reported(tasks, kind):
    _, X, y = tasks["two" if kind is MLPClassifier else "numbers"]
    with pytest.warns(ConvergenceWarning, match=r"Maximum iterations \(3\) reached"):
        network = kind(max_iter=3).fit(X, y)
    assert by_the_program(network) and network.n_iter_ == len(network.loss_curve_) == 3


@pytest.mark.parametrize(
    "parameters", [{}, {"solver": "sgd", "learning_rate_init": 0.1}, {"hidden_layer_sizes": (30, 20)}]
)
def test_learns(digits, parameters):
    X, y = digits
    parameters = {"learning_rate_init": 0.01, "tol": 1e-3, **parameters}
    network = MLPClassifier(random_state=3, **parameters).fit(X[:400], y[:400])
    assert by_the_program(network) and network.score(X[400:], y[400:]) > 0.8
    shares = network.predict_proba(X[400:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(network.classes_[shares.argmax(axis=1)], network.predict(X[400:]))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("task", ["ten", "two", "numbers"])
def test_a_seed_gives_one_network(tasks, task):
    kind, X, y = tasks[task]
    first, second = (kind(max_iter=5, random_state=8).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first._forward_pass_fast(X), second._forward_pass_fast(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).predict(X), first.predict(X))
    assert clone(first).get_params() == first.get_params()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("task", ["ten", "two", "numbers"])
def test_the_program_and_numpy_agree(tasks, task, monkeypatch):
    kind, X, y = tasks[task]
    network = kind(max_iter=5, hidden_layer_sizes=(20, 10), random_state=1).fit(X, y)
    here = network._forward_pass_fast(X)
    monkeypatch.setattr("mokume.sklearn._mlp.FEW_PRODUCTS", 0)
    np.testing.assert_allclose(network._forward_pass_fast(X), here, atol=1e-5)
    np.testing.assert_allclose(network._forward_pass_fast(scipy.sparse.csr_matrix(X)), here, atol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_warm_start_goes_on(tasks, kind):
    _, X, y = tasks["ten" if kind is MLPClassifier else "numbers"]
    parameters = {"shuffle": False, "solver": "sgd", "momentum": 0.0, "random_state": 2}
    long = kind(max_iter=6, **parameters).fit(X, y)
    short = kind(max_iter=3, warm_start=True, **parameters).fit(X, y).fit(X, y)
    assert by_the_program(short)
    np.testing.assert_allclose(short.coefs_[0], long.coefs_[0], atol=1e-6)
    np.testing.assert_allclose(short.loss_curve_, long.loss_curve_, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_partial_fit_goes_on(digits):
    X, y = digits
    network = MLPClassifier(max_iter=5, random_state=0).fit(X, y)
    before = network.loss_curve_[-1]
    for _ in range(5):
        network.partial_fit(X, y)
    assert not by_the_program(network) and len(network.loss_curve_) == 10 and network.loss_curve_[-1] < before


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "parameters, reason",
    [
        ({"early_stopping": True}, "early_stopping"),
        ({"solver": "sgd", "learning_rate": "adaptive"}, "learning_rate='adaptive'"),
        ({"solver": "sgd", "learning_rate_init": 1e7, "max_iter": 1}, "the program refuses it: "),
        ({}, "each row has several targets"),
    ],
)
def test_scikit_learn_trains_the_rest(two_flowers, kind, parameters, reason, capsys):
    X, y = two_flowers[0], (two_flowers[1] == "virginica").astype(int)
    if not parameters:
        X, y = make_multilabel_classification(n_samples=60, random_state=0)
    parameters = {"max_iter": 4, "random_state": 0, **parameters}
    try:
        other = getattr(sklearn.neural_network, kind.__name__)(**parameters).fit(X, y)
    except ValueError as error:  # the weights are not finite
        with pytest.raises(ValueError, match=str(error)[:30]):
            kind(verbose=True, **parameters).fit(X, y)
    else:
        mine = kind(verbose=True, **parameters).fit(X, y)
        np.testing.assert_allclose(mine.coefs_[0], other.coefs_[0], rtol=1e-9)
        assert not by_the_program(mine)
    assert reason in capsys.readouterr().out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parameters", [{"activation": "sine"}, {"hidden_layer_sizes": (0,)}, {"devices": 3}])
def test_refuses_as_scikit_learn_does(tasks, kind, parameters):
    _, X, y = tasks["two" if kind is MLPClassifier else "numbers"]
    with pytest.raises(ValueError, match=next(iter(parameters))):
        kind(**parameters).fit(X, y)

"""Tests that MLPClassifier learns, predicts probabilities, and repeats its results."""

import pickle

import numpy as np
import pytest

from mokume.sklearn import MLPClassifier


@pytest.mark.parametrize(
    "parameters",
    [{}, {"solver": "sgd", "nesterovs_momentum": False, "learning_rate_init": 0.1}, {"hidden_layer_sizes": (30, 20)}],
)
def test_learns(digits, parameters):
    X, y = digits
    network = MLPClassifier(max_iter=60, random_state=3, **{"learning_rate_init": 0.01, **parameters}).fit(
        X[:400], y[:400]
    )
    assert network.score(X[400:], y[400:]) > 0.8
    shares = network.predict_proba(X[400:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(network.classes_[shares.argmax(axis=1)], network.predict(X[400:]))
    assert network.n_iter_ == len(network.loss_curve_) <= 60
    assert network.loss_curve_[-1] < network.loss_curve_[0]


def test_a_seed_gives_one_network(digits):
    X, y = digits
    first, second = (MLPClassifier(max_iter=5, random_state=8).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).predict_proba(X), first.predict_proba(X))


def test_the_program_and_numpy_agree(digits, two_flowers, monkeypatch):
    for X, y in [digits, two_flowers]:
        network = MLPClassifier(max_iter=5, hidden_layer_sizes=(20, 10), random_state=1).fit(X, y)
        here = network.predict_proba(X)
        with monkeypatch.context() as patch:
            patch.setattr("mokume.sklearn._mlp.FEW_PRODUCTS", 0)
            np.testing.assert_allclose(network.predict_proba(X), here, atol=1e-5)


@pytest.mark.parametrize(
    "parameters, word",
    [
        ({"activation": "tanh"}, "activation='tanh'"),
        ({"solver": "lbfgs"}, "solver='lbfgs'"),
        ({"solver": "sgd"}, "nesterovs_momentum=True"),
        ({"early_stopping": True}, "early_stopping=True"),
        ({"learning_rate": "adaptive"}, "learning_rate='adaptive'"),
        ({"hidden_layer_sizes": (0,)}, "hidden_layer_sizes"),
    ],
)
def test_refuses_what_the_program_lacks(two_flowers, parameters, word):
    with pytest.raises(ValueError, match=word):
        MLPClassifier(**parameters).fit(*two_flowers)

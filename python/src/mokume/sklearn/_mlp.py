"""Provides a fully connected network with scikit-learn's signature, which the program's cnn trains."""

import json
import numbers

import numpy as np
from sklearn.utils import check_random_state

from mokume.sklearn._base import FEW_PRODUCTS, Experiment, ProgramClassifier, refuse


class MLPClassifier(ProgramClassifier):
    """Trains scikit-learn's MLPClassifier with mokume.

    Supports relu and identity, adam and plain sgd (with momentum, without Nesterov's), and a constant learning rate.
    Weights start as in PyTorch. Both weights and biases decay, by alpha / batch_size. Values that the program does not
    support raise ValueError. `devices` takes the values of `mokume run --devices`; None stands for the host if the data
    is small, and for all devices otherwise.
    """

    def __init__(
        self,
        hidden_layer_sizes=(100,),
        activation="relu",
        *,
        solver="adam",
        alpha=0.0001,
        batch_size="auto",
        learning_rate="constant",
        learning_rate_init=0.001,
        power_t=0.5,
        max_iter=200,
        shuffle=True,
        random_state=None,
        tol=1e-4,
        verbose=False,
        warm_start=False,
        momentum=0.9,
        nesterovs_momentum=True,
        early_stopping=False,
        validation_fraction=0.1,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-8,
        n_iter_no_change=10,
        max_fun=15000,
        devices=None,
    ):
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.devices = devices

    def _optimizer(self, batch):
        common = {"lr": float(self.learning_rate_init), "weight_decay": float(self.alpha) / batch}
        if self.solver == "sgd":
            if self.momentum > 0:
                refuse(self, nesterovs_momentum=[False])
            return {"type": "sgd", "momentum": float(self.momentum), **common}
        betas = {"beta1": float(self.beta_1), "beta2": float(self.beta_2), "eps": float(self.epsilon)}
        return {"type": "adam", **betas, **common}

    def _layers(self, classes):
        sizes = self.hidden_layer_sizes
        sizes = [sizes] if isinstance(sizes, numbers.Integral) else list(sizes)
        if any(not isinstance(size, numbers.Integral) or size < 1 for size in sizes):
            raise ValueError(f"hidden_layer_sizes={self.hidden_layer_sizes!r} must be whole numbers above 0")
        layers = [{"type": "flatten"}]
        for size in sizes:
            layers.append({"type": "linear", "out_features": int(size)})
            if self.activation == "relu":
                layers.append({"type": "relu"})
        return layers + [{"type": "linear", "out_features": classes}]

    def _options(self, rows, classes):
        refuse(
            self,
            activation=["relu", "identity"],
            solver=["adam", "sgd"],
            learning_rate=["constant"],
            early_stopping=[False],
            warm_start=[False],
        )
        batch = min(200, rows) if self.batch_size == "auto" else min(int(self.batch_size), rows)
        return {
            "layers": self._layers(classes),
            "epochs": int(self.max_iter),
            "batch_size": batch,
            "shuffle": bool(self.shuffle),
            "optimizer": self._optimizer(batch),
            "stop": {"type": "plateau", "patience": int(self.n_iter_no_change), "min_delta": float(self.tol)},
        }

    def fit(self, X, y):
        """Trains the network on rows and their classes."""
        X, classes = self._checked(X, y)
        options = self._options(len(X), len(self.classes_))
        seed = self.random_state
        if not isinstance(seed, numbers.Integral):
            seed = check_random_state(seed).randint(np.iinfo(np.int32).max)
        with Experiment(
            "cnn", X, classes, options, devices=self.devices, seed=seed, verbose=self.verbose
        ) as experiment:
            run = experiment.run()
            self._keep(run, experiment.devices)
            self.loss_curve_ = _training_losses(run)
        weights = read_safetensors(self._files["models/best/model.safetensors"])
        linear = [k for k, layer in enumerate(options["layers"]) if layer["type"] == "linear"]
        self.coefs_ = [weights[f"{k}.weight"].T.astype(np.float64) for k in linear]
        self.intercepts_ = [weights[f"{k}.bias"].astype(np.float64) for k in linear]
        self._relu = self.activation == "relu"
        self.n_iter_ = len(self.loss_curve_)
        self.loss_ = self.loss_curve_[-1]
        self.best_loss_ = min(self.loss_curve_)
        self.n_layers_ = len([layer for layer in options["layers"] if layer["type"] == "linear"]) + 1
        self.n_outputs_ = 1 if len(self.classes_) == 2 else len(self.classes_)
        self.out_activation_ = "softmax"
        return self

    def predict_proba(self, X):
        """Returns the probability of each class."""
        X = self._rows(X)
        if len(X) * sum(weights.size for weights in self.coefs_) >= FEW_PRODUCTS:
            shares = self._scores_of_program(X)
        else:
            values = X.astype(np.float64)
            for k, (weights, biases) in enumerate(zip(self.coefs_, self.intercepts_)):
                values = (np.maximum(values, 0) if k > 0 and self._relu else values) @ weights + biases
            shares = np.exp(values - values.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X):
        """Returns the most probable class of each row."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def predict_log_proba(self, X):
        """Returns the logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


def read_safetensors(content):
    """Returns the float32 arrays of a safetensors file by name."""
    size = int.from_bytes(content[:8], "little")
    arrays = json.loads(content[8 : 8 + size])
    arrays.pop("__metadata__", None)
    return {
        name: np.frombuffer(content[8 + size :][slice(*array["data_offsets"])], "<f4").reshape(array["shape"])
        for name, array in arrays.items()
    }


def _training_losses(run):
    """Returns the mean training loss of each epoch from the journal."""
    for path in sorted((run / "journal").iterdir()):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            if "refit" in record and "train_loss" in record.get("curves", {}):
                return record["curves"]["train_loss"]
    raise RuntimeError("the journal has no training loss")

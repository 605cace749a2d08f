"""Trains scikit-learn's fully connected networks with the program; all but the training is scikit-learn's own code."""

import contextlib
import inspect
import json
import math
import warnings

import numpy as np
import sklearn
import sklearn.neural_network
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network._stochastic_optimizers import AdamOptimizer, SGDOptimizer

from mokume.program import DONE, FAILED_FITS, REFUSED, Failure
from mokume.sklearn._base import Apart, Elsewhere, Experiment, FEW_PRODUCTS, ProgramFiles, read_table, validate_data
from mokume.sklearn._kernel import dense_rows

_ACTIVATIONS = {"identity": None, "logistic": "sigmoid", "tanh": "tanh", "relu": "relu"}
_LOSSES = {
    "log_loss": {"loss": "cross_entropy"},
    "squared_error": {"loss": "huber", "huber_delta": 1e30},  # half of the square, like scikit-learn's loss
}
_MOST_PATIENT = 10**9 - 1  # the program's largest number
_COUNTS_EACH_FIT = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 3)


class _Drawn(Exception):
    """Ends a fit once the initial weights are drawn."""


def _with_devices(parent):
    """Returns an __init__ with the parameters of the parent's, which differ between versions, and `devices`."""
    signature = inspect.signature(parent.__init__)

    def __init__(self, *arguments, devices=None, **named):
        parent.__init__(self, *arguments, **named)
        self.devices = devices

    devices = inspect.Parameter("devices", inspect.Parameter.KEYWORD_ONLY, default=None)
    __init__.__signature__ = signature.replace(parameters=[*signature.parameters.values(), devices])
    return __init__


class Network(ProgramFiles):
    """Replaces the training of a network of scikit-learn, from which the other base class inherits.

    scikit-learn's `fit` checks the input, draws initial weights and calls `_fit_stochastic`, which trains them.
    tests/python runs scikit-learn's own tests, which show that each version still does this.
    """

    _model = "cnn"
    _task = "classification"
    _LITTLE_WORK = 1 << 27

    def _fit_stochastic(self, X, y, *others):
        if self.__dict__.pop("_only_draws", False):
            raise _Drawn
        self.__dict__.pop("_files", None)
        try:
            self._check_road(y, others)
            self._train(X, y)
        except Elsewhere as reason:
            if self.verbose:
                print(f"mokume: scikit-learn trains the network, because {reason}.", flush=True)
            super()._fit_stochastic(X, y, *others)

    def _check_road(self, y, others):
        """Raises Elsewhere for a training that the program does not know. `others` are scikit-learn's arguments."""
        *weights, _, _, _, _, _, incremental = others  # scikit-learn before 1.7 has no weights
        if incremental:
            raise Elsewhere("partial_fit makes one pass")
        if weights and weights[0] is not None:
            raise Elsewhere("the program weighs rows in another way")
        self._check_parameters()
        if y.shape[1] > 1 and self.out_activation_ != "softmax":
            raise Elsewhere("each row has several targets")

    def _check_parameters(self):
        """Raises Elsewhere for parameters that the program does not know."""
        if self.early_stopping:
            raise Elsewhere("early_stopping keeps the weights of one of the epochs")
        if self.solver == "sgd" and self.learning_rate != "constant":
            raise Elsewhere(f"the program does not know learning_rate={self.learning_rate!r}")
        if self.loss not in _LOSSES:
            raise Elsewhere(f"the program does not know loss={self.loss!r}")

    def _check_search(self):
        """Raises Elsewhere if the program cannot train this candidate of a search."""
        if self.solver == "lbfgs":
            raise Elsewhere("the program does not know solver='lbfgs'")
        self._check_parameters()

    @staticmethod
    def _work(shape, options):
        """Returns how many numbers a fit reads in all of its epochs."""
        return shape[0] * shape[1] * options["epochs"]

    def _shape(self):
        """Returns what the candidates of one run must have in common: the layers and the initial weights."""
        sizes = np.atleast_1d(self.hidden_layer_sizes).tolist() if np.size(self.hidden_layer_sizes) else []
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = seed.get_state()[1].tobytes(), seed.get_state()[2]
        return (*sizes, self.activation, self.solver, seed)

    def _draw(self, X, y):
        """Draws the initial weights of a fit to these rows."""
        self._only_draws = True
        with contextlib.suppress(_Drawn):
            self.fit(X, y)

    @staticmethod
    def _search_rows(machines, X):
        return dense_rows(X)

    @staticmethod
    def _prepare_search(machines, X, y, sizes):
        """Returns the options of these candidates, further files of their run, and its seed.

        All fits begin with the same weights. `sizes` has the number of rows of each fit.
        """
        first = machines[0]
        first._draw(X, y)
        for one in machines:
            one.coefs_, one.out_activation_ = first.coefs_, first.out_activation_
            if len({one._batch(size) for size in sizes}) > 1:
                raise Apart("the size of a batch depends on the rows of a fold")
        options = [one._options(sizes[0]) for one in machines]
        files = {options[0]["start"]: first._start(options[0]["layers"])}
        return options, files, first._random_state.randint(np.iinfo(np.int32).max)

    @staticmethod
    def _limited_fits(run, options, table):
        """Returns the candidate and the fold of each fit that max_iter ended before its rule to stop did."""
        return {
            (candidate, fold)
            for (candidate, fold), losses in training_losses(run).items()
            if fold != "refit" and _ends_at_limit(losses, options[int(candidate)])
        }

    def _takes_model(self, sizes):
        """Returns whether the refit of a search, whose fits have `sizes` rows, may take the model of its run.

        The program draws another order of the rows for each candidate, so a seed gives a model of its own to a fit.
        """
        return (self.random_state is None or not self.shuffle) and len({self._batch(size) for size in sizes}) == 1

    def _is_binary(self):
        return self.out_activation_ == "logistic"

    def _layers(self):
        layers = [{"type": "flatten"}]
        for weights in self.coefs_[:-1]:
            layers.append({"type": "linear", "out_features": weights.shape[1]})
            if _ACTIVATIONS[self.activation]:
                layers.append({"type": _ACTIVATIONS[self.activation]})
        layers.append({"type": "linear", "out_features": self.coefs_[-1].shape[1]})
        if self._is_binary():
            layers.append({"type": "linear", "out_features": 2})
        return layers

    def _optimizer_table(self, batch):
        common = {"lr": float(self.learning_rate_init), "weight_decay": float(self.alpha) / batch}
        if self.solver == "sgd":
            nesterov = bool(self.nesterovs_momentum and self.momentum > 0)
            return {"type": "sgd", "momentum": float(self.momentum), "nesterov": nesterov, **common}
        betas = {"beta1": float(self.beta_1), "beta2": float(self.beta_2), "eps": float(self.epsilon)}
        return {"type": "adam", **betas, **common}

    def _batch(self, rows):
        return min(200 if self.batch_size == "auto" else int(self.batch_size), rows)

    def _options(self, rows):
        layers, batch = self._layers(), self._batch(rows)
        options = {
            **_LOSSES[self.loss],
            "layers": layers,
            "epochs": int(self.max_iter),
            "batch_size": batch,
            "shuffle": bool(self.shuffle),
            "optimizer": self._optimizer_table(batch),
            "start": "start.safetensors",
        }
        options["stop"] = {
            "type": "plateau",
            "patience": int(min(self.n_iter_no_change, _MOST_PATIENT)) + 1,
            "min_delta": float(self.tol),
            "per_epoch": True,
            "monitor": "train_loss",
        }
        if self._is_binary():
            options["freeze"] = [str(len(layers) - 1)]
        return options

    def _start(self, layers):
        """Returns the present weights as a safetensors file.

        scikit-learn has one output for two classes, and the program has two. The first of them is always 0, and the
        second one is scikit-learn's output, so that their softmax is its logistic function.
        """
        weights, biases = list(self.coefs_), list(self.intercepts_)
        if self._is_binary():
            weights.append(np.array([[0.0, 1.0]]))
            biases.append(np.zeros(2))
        arrays = {}
        for place, weight, bias in zip(_linear(layers), weights, biases):
            arrays[f"{place}.weight"], arrays[f"{place}.bias"] = weight.T, bias
        return safetensors(arrays)

    def _train(self, X, y):
        """Runs the program, and sets the attributes that describe the trained network."""
        if self.batch_size != "auto" and self.batch_size > X.shape[0]:
            warnings.warn("Got `batch_size` less than 1 or larger than sample size. It is going to be clipped.")
        rows, options = dense_rows(X), self._options(X.shape[0])
        experiment = Experiment(
            "cnn",
            rows,
            self._targets(y),
            options,
            task=self._task,
            devices=self.devices,
            seed=self._random_state.randint(np.iinfo(np.int32).max),
            verbose=self.verbose,
        )
        experiment.files["start.safetensors"] = self._start(options["layers"])
        with experiment:
            try:
                run = self.__dict__.pop("_ready_run", None) or self._run(experiment)
            except Failure as failure:
                if failure.code not in REFUSED:
                    raise
                raise Elsewhere(f"the program refuses it: {failure}") from failure
            if run is None or not (run / "models" / "best" / "model.safetensors").exists():
                self.coefs_[0][...] = np.nan  # scikit-learn's fit then reports the failure
                return
            self._keep(run, experiment.devices)
            self._take_scaled_rows()
            losses = next(losses for (_, fold), losses in training_losses(run).items() if fold == "refit")
        self._take_weights(options["layers"], X.dtype)
        self._take_losses(losses, X.shape[0])

    def _run(self, experiment):
        return experiment.run(accept=(DONE, FAILED_FITS)) if np.isfinite(experiment.rows).all() else None

    def _take_weights(self, layers, dtype):
        weights = read_safetensors(self._files["models/best/model.safetensors"])
        for k, place in enumerate(_linear(layers)[: len(self.coefs_)]):
            self.coefs_[k] = np.ascontiguousarray(weights[f"{place}.weight"].T, dtype=dtype)
            self.intercepts_[k] = weights[f"{place}.bias"].astype(dtype)

    def _take_losses(self, losses, rows):
        """Sets what scikit-learn's training leaves behind, so that partial_fit and warm_start go on from there."""
        self.loss_curve_ += losses
        self.loss_ = losses[-1]
        self.n_iter_ = len(losses) + (0 if _COUNTS_EACH_FIT else self.n_iter_)
        self.t_ += rows * len(losses)
        for loss in losses:
            better = loss <= self.best_loss_ - self.tol
            self._no_improvement_count = 0 if better else self._no_improvement_count + 1
            self.best_loss_ = min(self.best_loss_, loss)
        parameters = self.coefs_ + self.intercepts_
        if self.solver == "sgd":
            schedule = self.learning_rate, self.momentum, self.nesterovs_momentum, self.power_t
            self._optimizer = SGDOptimizer(parameters, self.learning_rate_init, *schedule)
        else:
            betas = self.beta_1, self.beta_2, self.epsilon
            self._optimizer = AdamOptimizer(parameters, self.learning_rate_init, *betas)
        if len(losses) == self.max_iter and self._no_improvement_count <= self.n_iter_no_change:
            warnings.warn(
                f"Stochastic Optimizer: Maximum iterations ({self.max_iter}) reached and the optimization hasn't "
                "converged yet.",
                ConvergenceWarning,
            )

    def _forward_pass_fast(self, X, check_input=True):
        """Returns the outputs of the network. The program computes them if that takes long."""
        products = getattr(X, "shape", [0])[0] * sum(weights.size for weights in self.coefs_)
        if products < FEW_PRODUCTS or not hasattr(self, "_files"):
            return super()._forward_pass_fast(X, check_input)
        if check_input:
            X = validate_data(self, X, accept_sparse=["csr", "csc"], reset=False)
        regression = self._task == "regression"
        outputs = self._scores_of_program(dense_rows(X), after="row" if regression else "predicted")
        if regression:
            outputs = outputs[:, :1]
        return outputs[:, 1:] if self._is_binary() else outputs


class MLPClassifier(Network, sklearn.neural_network.MLPClassifier):
    """Is scikit-learn's MLPClassifier, trained by mokume on the devices of this machine.

    Training starts from scikit-learn's own initial weights and computes in float32. The program trains with adam, and
    with sgd at a constant learning rate, rows that each have one class. scikit-learn's own code trains with everything
    else: lbfgs, other learning rates, early_stopping, partial_fit, weights of rows, and several labels for each row.
    With `verbose`, a sentence says so.

    Each epoch shuffles the rows differently. `alpha` also penalises biases, and is the same in a smaller last
    batch. `loss_curve_` and the rule that stops by it leave out the penalty.

    `devices` takes the values of `mokume run --devices`; None stands for the host if the data is small, and for all
    devices otherwise.
    """

    _parameter_constraints: dict = {
        **sklearn.neural_network.MLPClassifier._parameter_constraints,
        "devices": [str, None],
    }
    __init__ = _with_devices(sklearn.neural_network.MLPClassifier)

    def _check_road(self, y, others):
        super()._check_road(y, others)
        if len(self.classes_) < 2:
            raise Elsewhere("all rows have one class")

    def _targets(self, y):
        return (y.ravel() if self._is_binary() else y.argmax(axis=1)).astype(np.int64)

    def _encode(self, y):
        """Returns the targets of a search as numbers."""
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise Elsewhere("all rows have one class")
        return numbers

    def _searched_targets(self, encoded):
        return encoded.astype(np.int64)


class MLPRegressor(Network, sklearn.neural_network.MLPRegressor):
    """Is scikit-learn's MLPRegressor, trained by mokume on the devices of this machine.

    The remarks of MLPClassifier apply here, too. The program trains networks with one target and the squared error.
    """

    _task = "regression"
    _parameter_constraints: dict = {
        **sklearn.neural_network.MLPRegressor._parameter_constraints,
        "devices": [str, None],
    }
    __init__ = _with_devices(sklearn.neural_network.MLPRegressor)

    def _targets(self, y):
        return y.ravel().astype(np.float64)

    def _encode(self, y):
        """Returns the targets of a search as numbers."""
        return np.asarray(y, dtype=np.float64)

    def _searched_targets(self, encoded):
        return encoded


def _linear(layers):
    return [place for place, layer in enumerate(layers) if layer["type"] == "linear"]


def safetensors(arrays):
    """Returns arrays as the bytes of a safetensors file, in float32."""
    header, data = {}, b""
    for name, array in arrays.items():
        content = np.ascontiguousarray(array, dtype="<f4").tobytes()
        offsets = [len(data), len(data) + len(content)]
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": offsets}
        data += content
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def read_safetensors(content):
    """Returns the float32 arrays of a safetensors file by name."""
    size = int.from_bytes(content[:8], "little")
    arrays = json.loads(content[8 : 8 + size])
    arrays.pop("__metadata__", None)
    return {
        name: np.frombuffer(content[8 + size :][slice(*array["data_offsets"])], "<f4").reshape(array["shape"])
        for name, array in arrays.items()
    }


def training_losses(run):
    """Returns the mean training losses of the epochs of each fit, by its candidate and fold, which are text."""
    if not (run / "epochs.csv").exists():  # no fit came to the end of an epoch
        return {}
    table, losses = read_table(run / "epochs.csv"), {}
    for candidate, fold, loss in zip(table["candidate"], table["fold"], table["train_loss"]):
        losses.setdefault((candidate, fold), []).append(float(loss))
    return losses


def _ends_at_limit(losses, options):
    """Returns whether a training made all of its epochs and its rule to stop did not end it in the last one."""
    best, without_better, stop = math.inf, 0, options["stop"]
    for loss in losses:
        without_better = 0 if loss <= best - stop["min_delta"] else without_better + 1
        best = min(best, loss)
    return len(losses) == options["epochs"] and without_better < stop["patience"]

"""Provides C-support vector classification with scikit-learn's interface, one-vs-one, with LIBSVM's stopping rule."""

import inspect
import itertools

import numpy as np
import sklearn.svm

from mokume.sklearn._kernel import KernelMachine, weights_as_text

_PROBABILITY = inspect.signature(sklearn.svm.SVC).parameters["probability"].default
_PROBABILITY_FOLDS = 5


class PairMachine(KernelMachine):
    """Provides what the classifiers share, which decide between each pair of classes."""

    def _options(self, class_weight=""):
        return {**super()._options(), "multiclass": "ovo", "class_weight": class_weight}

    def _shared_class_weight(self, y):
        """Returns class_weight for fits of parts of the rows: "balanced" depends on the rows of each fit."""
        if self.class_weight is None or self.class_weight == "balanced":
            return self.class_weight or ""
        return weights_as_text(self.class_weight, y)

    def _fitted_class_weight(self):
        if self.class_weight is None:
            return ""
        weights = self._class_weight if hasattr(self, "_class_weight") else self.class_weight_  # 1.2 has the first
        return ",".join(f"{number}={float(weight)!r}" for number, weight in enumerate(weights))

    def _targets(self, y):
        return y.astype(np.int64)

    def _weighted_rows(self, y, sample_weight):
        rows = super()._weighted_rows(y, sample_weight)
        left = np.unique(y[rows]).astype(int)
        if len(left) == 1:
            raise ValueError("Invalid input - all samples with positive weights belong to the same class.")
        if len(left) < len(self.classes_):
            lost = np.delete(self.classes_, left).tolist()
            raise ValueError(f"Invalid input - no sample of the classes {lost} has a positive weight.")
        return rows

    def _wants_probability(self):
        return getattr(self, "_effective_probability", self.probability) is True

    def _prepare(self, experiment, rows):
        if self._wants_probability():
            experiment.tables["validation"] = {"folds": min(_PROBABILITY_FOLDS, rows), "calibrate": True}

    def _vectors_of_classes(self, values, vectors):
        return np.array(values["nr_sv"].split(), dtype=np.int32)

    def _read_model(self, rows):
        super()._read_model(rows)
        if self._wants_probability():
            sigmoids = self._model_json("calibration.json")["sigmoids"]
            self._probA = np.array([sigmoid["a"] for sigmoid in sigmoids], dtype=np.float64)
            self._probB = np.array([sigmoid["b"] for sigmoid in sigmoids], dtype=np.float64)

    def _dense_decision_function(self, X):
        """Returns the decision value of each pair of classes, which is positive for the first class."""
        return self._scores_of_program(X) if self._runs_long(X) else super()._dense_decision_function(X)

    def _dense_predict(self, X):
        """Returns the number of the class of each row that wins the most pairs."""
        if not self._runs_long(X):
            return super()._dense_predict(X)
        wins = self._scores_of_program(X) > 0
        votes = np.zeros((len(wins), len(self.classes_)), dtype=int)
        for k, (a, b) in enumerate(itertools.combinations(range(len(self.classes_)), 2)):
            votes[:, a] += wins[:, k]
            votes[:, b] += ~wins[:, k]
        return votes.argmax(axis=1)


class SVC(PairMachine, sklearn.svm.SVC):
    """Is scikit-learn's SVC, fitted by mokume on the devices of this machine.

    The model has all attributes and methods of scikit-learn's, and predicts with its code; the program predicts if that
    takes long. It computes in float32. Sparse rows that take more than 64 MiB
    as a dense array remain sparse in the fit.

    `devices` takes the values of `mokume run --devices`; None stands for the host if the data is small, and for all
    devices otherwise. The parameters `shrinking` and `cache_size` have no effect: the program does not shrink, and
    chooses its own memory. A value of `C` above 1e12 counts as 1e12, and one of `tol` above 1 as 1.

    `max_iter` limits LIBSVM's steps of each pair of classes. A fit that the limit ends before it has converged has
    `fit_status_` 1 and gives a ConvergenceWarning.

    `probability=True` fits five folds more, drawn with `random_state`, and learns Platt's sigmoids from the decision
    values of the rows that they validate, as LIBSVM does.
    """

    _parameter_constraints: dict = {**sklearn.svm.SVC._parameter_constraints, "devices": [str, None]}

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability=_PROBABILITY,
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        devices=None,
    ):
        super().__init__(
            C=C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            shrinking=shrinking,
            probability=probability,
            tol=tol,
            cache_size=cache_size,
            class_weight=class_weight,
            verbose=verbose,
            max_iter=max_iter,
            decision_function_shape=decision_function_shape,
            break_ties=break_ties,
            random_state=random_state,
        )
        self.devices = devices

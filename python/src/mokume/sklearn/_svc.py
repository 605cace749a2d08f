"""Provides C-support vector classification with scikit-learn's signature, one-vs-one, with LIBSVM's stopping rule."""

import itertools

import numpy as np
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted

from mokume.sklearn._base import FEW_PRODUCTS, Experiment, ProgramClassifier, refuse
from mokume.sklearn._kernel import KernelMachine


class SVC(KernelMachine, ProgramClassifier):
    """Fits scikit-learn's SVC with mokume.

    `devices` takes the values of `mokume run --devices`; None stands for the host if the data is small, and for all
    devices otherwise. The parameters `shrinking`, `cache_size` and `random_state` have no effect: the program does not
    shrink, chooses its own memory, and draws no random numbers here. Values that it does not support raise ValueError.
    """

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability=False,
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
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.devices = devices

    def _options(self, classes):
        """Returns the parameters of the program's svc."""
        refuse(
            self,
            probability=[False, "deprecated"],
            decision_function_shape=["ovr", "ovo"],
            break_ties=[False],
        )
        return {**self._machine(), "multiclass": "ovo", "class_weight": self._class_weight(classes)}

    def _class_weight(self, classes):
        """Returns class_weight with the numbers by which the program knows the classes."""
        if self.class_weight is None or isinstance(self.class_weight, str):
            refuse(self, class_weight=[None, "balanced"])
            return self.class_weight or ""
        known = {label: number for number, label in enumerate(classes.tolist())}
        absent = [label for label in self.class_weight if label not in known]
        if absent:
            raise ValueError(f"class_weight names the classes {absent!r}, which y does not have")
        return ",".join(f"{known[label]}={float(weight)!r}" for label, weight in self.class_weight.items())

    def fit(self, X, y):
        """Fits the machine to rows and their classes."""
        X, classes = self._checked(X, y)
        options = self._options(self.classes_)
        with Experiment("svc", X, classes, options, devices=self.devices, verbose=self.verbose) as experiment:
            self._adopt(experiment.run(), X, experiment.devices)
        return self

    def _adopt(self, run, X, devices):
        """Takes over the model of a run that was fitted to the rows X."""
        self._keep(run, devices)
        manifest = self._manifest()
        self.support_ = np.array(manifest["training_rows"], dtype=np.int32)
        self.support_vectors_ = X[self.support_].astype(np.float64)
        self.shape_fit_ = X.shape
        self.fit_status_ = 0
        values, vectors = self._machine_file()
        # The manifest holds the steps of the solver for each pair of classes.
        self.n_iter_ = np.maximum(np.array(manifest["steps"], dtype=np.int32), 1)
        self.n_support_ = np.array(values["nr_sv"].split(), dtype=np.int32)
        rho = np.array(values["rho"].split(), dtype=np.float64)
        pairs = len(self.classes_) - 1
        coefficients = [line.split(" ", pairs)[:pairs] for line in vectors.splitlines()]
        dual = np.array(coefficients, dtype=np.float64).reshape(len(self.support_), pairs).T
        # With two classes, a positive decision value means classes_[1].
        self.dual_coef_, self.intercept_ = (-dual, rho) if pairs == 1 else (dual, -rho)

    def _pairs(self, X):
        """Returns the decision value of each pair of classes, which is positive for the first class."""
        X = self._rows(X)
        if X.size * len(self.support_) >= FEW_PRODUCTS:
            return self._scores_of_program(X)
        step = max(1, (1 << 22) // max(1, len(self.support_)))
        return np.concatenate([self._pairs_of_few(X[k : k + step]) for k in range(0, len(X), step)])

    def _pairs_of_few(self, X):
        values = self._kernel_values(X.astype(np.float64))
        if len(self.classes_) == 2:
            return -(values @ self.dual_coef_.T + self.intercept_)
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        part = [slice(first, last) for first, last in zip(ends, ends[1:])]
        pairs = itertools.combinations(range(len(part)), 2)
        columns = [
            values[:, part[a]] @ self.dual_coef_[b - 1, part[a]] + values[:, part[b]] @ self.dual_coef_[a, part[b]]
            for a, b in pairs
        ]
        return np.stack(columns, axis=1) + self.intercept_

    def predict(self, X):
        """Returns the class of each row that wins the most pairs."""
        wins = self._pairs(X) > 0
        votes = np.zeros((len(wins), len(self.classes_)), dtype=int)
        for k, (a, b) in enumerate(itertools.combinations(range(len(self.classes_)), 2)):
            votes[:, a] += wins[:, k]
            votes[:, b] += ~wins[:, k]
        return self.classes_[votes.argmax(axis=1)]

    def decision_function(self, X):
        """Returns the decision values of the pairs of classes ("ovo") or of the classes ("ovr")."""
        pairs = self._pairs(X)
        if len(self.classes_) == 2:
            return -pairs[:, 0]
        if self.decision_function_shape == "ovo":
            return pairs
        return _ovr_decision_function(pairs < 0, -pairs, len(self.classes_))

    @property
    def coef_(self):
        """Returns the weights of the features, for two classes and a linear kernel."""
        check_is_fitted(self)
        if self.kernel != "linear" or len(self.classes_) > 2:
            raise AttributeError("coef_ exists for a linear kernel and two classes only")
        return self.dual_coef_ @ self.support_vectors_

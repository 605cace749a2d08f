"""Provides C-support vector classification with scikit-learn's interface, one-vs-one, with LIBSVM's stopping rule."""

import inspect
import itertools

import numpy as np
import sklearn.svm

from mokume.sklearn._kernel import LANDMARKS, PARAMETERS, KernelMachine, weights_as_text

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

    def _dense_fit(self, X, y, sample_weight, solver_type, kernel, random_seed):
        if self._shares_landmarks() and self._wants_probability():
            raise ValueError("probability=True with approximation='nystrom' takes two classes, but y has more")
        self._rows_of_classes = y.astype(np.int64)
        try:
            super()._dense_fit(X, y, sample_weight, solver_type, kernel, random_seed)
        finally:
            del self._rows_of_classes

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

    def _shares_landmarks(self):
        """Returns whether pairs of classes share landmarks, which scikit-learn's layout of coefficients cannot express."""
        return self._approximates() and len(self.classes_) > 2

    def _runs_long(self, X):
        return self._shares_landmarks() or super()._runs_long(X)

    def _classes_of_landmarks(self, support):
        if not self._approximates():
            return None
        classes = self._rows_of_classes[support]
        self._n_support = np.bincount(classes, minlength=len(self.classes_)).astype(np.int32)
        return classes

    def _read_pairs(self, rows):
        """Reads what scikit-learn's layout can express of a model whose pairs share landmarks."""
        manifest = self._model_json("manifest.json")
        support = np.sort(rows[np.array(manifest["training_rows"], dtype=np.int64)])
        self.support_ = support[np.argsort(self._classes_of_landmarks(support), kind="stable")].astype(np.int32)
        self.dual_coef_ = np.empty((0, len(self.support_)))
        headers = [self._files[f"models/best/{name}"].decode().partition("\nSV\n")[0] for name in manifest["files"]]
        values = [dict(line.split(" ", 1) for line in header.splitlines()) for header in headers]
        self._gamma = float(values[0].get("gamma", self._gamma))
        self.intercept_ = np.array([-float(pair["rho"]) for pair in values])
        self._probA = self._probB = np.empty(0)
        self._num_iter = np.maximum(np.array(manifest["steps"], dtype=np.int64), 1).astype(np.int32)
        self.fit_status_ = int(self.max_iter != -1 and not all(manifest["converged"]))

    def _read_model(self, rows):
        if self._shares_landmarks():
            return self._read_pairs(rows)
        super()._read_model(rows)
        if self._wants_probability():
            sigmoids = self._model_json("calibration.json")["sigmoids"]
            self._probA = np.array([sigmoid["a"] for sigmoid in sigmoids], dtype=np.float64)
            self._probB = np.array([sigmoid["b"] for sigmoid in sigmoids], dtype=np.float64)

    def _dense_decision_function(self, X):
        """Returns the decision value of each pair of classes, which is positive for the first class."""
        return self._scores_of_program(X) if self._runs_long(X) else super()._dense_decision_function(X)

    def _dense_predict_proba(self, X):
        machine, X = self._for_libsvm(X)
        return super(PairMachine, machine)._dense_predict_proba(X)

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

    `kernel="laplacian"` is exp(-gamma * sum |x - y|), and `kernel="chi2"` exp(-gamma * sum (x - y)^2 / (x + y)), which
    takes no negative values. Both take dense rows.

    `approximation="nystrom"` trains on the kernel values with `n_components` training rows, for 100,000 rows and more;
    `random_state` draws them if it is a number. They are the support vectors. With more than two classes, all pairs
    share them, so `dual_coef_` is empty, and the program predicts.
    """

    _parameter_constraints: dict = {**sklearn.svm.SVC._parameter_constraints, **PARAMETERS, **LANDMARKS}

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
        approximation=None,
        n_components=1000,
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
        self.approximation = approximation
        self.n_components = n_components
        self.devices = devices

"""Provides the support vector machines with the parameter nu, with scikit-learn's interfaces and LIBSVM's stopping rule."""

import itertools

import numpy as np
import sklearn.svm

from mokume.sklearn._base import Elsewhere
from mokume.sklearn._kernel import PARAMETERS, KernelMachine
from mokume.sklearn._svc import _PROBABILITY, PairMachine
from mokume.sklearn._svr import RegressionMachine


class NuSVC(PairMachine, sklearn.svm.NuSVC):
    """Is scikit-learn's NuSVC, fitted by mokume on the devices of this machine.

    The remarks of SVC apply here, too. As in scikit-learn, `class_weight` has no effect on a nu-SVC.
    """

    _parameter_constraints: dict = {**sklearn.svm.NuSVC._parameter_constraints, **PARAMETERS}

    def __init__(
        self,
        *,
        nu=0.5,
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
            nu=nu,
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

    def _options(self, class_weight=""):
        return {**super()._options(), "C": 1.0, "kind": "nu_svc", "nu": float(self.nu)}

    def _fitted_class_weight(self):
        return ""

    def _fit_rows(self, X, y, sample_weight, seed):
        weights = sample_weight if len(sample_weight) else np.ones(len(y))
        sizes = [np.sum(weights[(y == number) & (weights > 0)]) for number in range(len(self.classes_))]
        if not any(sizes):
            raise ValueError("Invalid input - all samples have zero or negative weights, so any nu is infeasible")
        if np.count_nonzero(sizes) == 1:
            raise ValueError("specified nu is infeasible: all samples with positive weights belong to the same class")
        if any(self.nu * (a + b) / 2 > min(a, b) for a, b in itertools.combinations(sizes, 2)):
            raise ValueError("specified nu is infeasible")
        super()._fit_rows(X, y, sample_weight, seed)


class NuSVR(RegressionMachine, sklearn.svm.NuSVR):
    """Is scikit-learn's NuSVR, fitted by mokume on the devices of this machine. The remarks of SVR apply here, too."""

    _parameter_constraints: dict = {**sklearn.svm.NuSVR._parameter_constraints, **PARAMETERS}

    def __init__(
        self,
        *,
        nu=0.5,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        verbose=False,
        max_iter=-1,
        devices=None,
    ):
        super().__init__(
            nu=nu,
            C=C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            shrinking=shrinking,
            tol=tol,
            cache_size=cache_size,
            verbose=verbose,
            max_iter=max_iter,
        )
        self.devices = devices

    def _options(self, class_weight=""):
        return {**super()._options(), "kind": "nu_svr", "nu": float(self.nu)}


class OneClassSVM(KernelMachine, sklearn.svm.OneClassSVM):
    """Is scikit-learn's OneClassSVM, fitted by mokume on the devices of this machine.

    The remarks of SVC apply here, too.
    """

    _parameter_constraints: dict = {**sklearn.svm.OneClassSVM._parameter_constraints, **PARAMETERS}
    _task = "one_class"

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        nu=0.5,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
        devices=None,
    ):
        super().__init__(
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            tol=tol,
            nu=nu,
            shrinking=shrinking,
            cache_size=cache_size,
            verbose=verbose,
            max_iter=max_iter,
        )
        self.devices = devices

    def fit(self, X, y=None, sample_weight=None):
        """Fits the machine to rows to accept; `y` is ignored, and a weight multiplies the bound of its row."""
        return super().fit(X, y, sample_weight)

    def _options(self, class_weight=""):
        return {**super()._options(), "C": 1.0, "kind": "one_class", "nu": float(self.nu)}

    def _targets(self, y):
        return np.ones(len(y), dtype=np.int64)

    def _encode(self, y):
        if not np.isin(y, [-1, 1]).all():
            raise Elsewhere("a OneClassSVM answers 1 and -1, but y has other labels")
        return np.asarray(y, dtype=np.float64)

    def _searched_targets(self, encoded):
        return encoded.astype(np.int64)

    def _vectors_of_classes(self, values, vectors):
        return np.array([vectors, vectors], dtype=np.int32)

    def _dense_decision_function(self, X):
        """Returns the decision values, which are positive for accepted rows; the program's have the opposite sign."""
        return -self._scores_of_program(X) if self._runs_long(X) else super()._dense_decision_function(X)

    def _dense_predict(self, X):
        if not self._runs_long(X):
            return super()._dense_predict(X)
        return np.where(self._scores_of_program(X)[:, 0] < 0, 1, -1)

"""Provides epsilon-support vector regression with scikit-learn's signature and LIBSVM's stopping rule."""

import numbers

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mokume.sklearn._base import FEW_PRODUCTS, Experiment, ProgramRegressor
from mokume.sklearn._kernel import KernelMachine


class SVR(KernelMachine, ProgramRegressor):
    """Fits scikit-learn's SVR with mokume.

    `devices` is as in SVC. The parameters `shrinking` and `cache_size` have no effect: the program does not shrink, and
    chooses its own memory.
    """

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        C=1.0,
        epsilon=0.1,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
        devices=None,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.devices = devices

    def fit(self, X, y):
        """Fits the machine to rows and their targets."""
        X, y = self._checked(X, y)
        if not isinstance(self.epsilon, numbers.Real) or self.epsilon < 0:
            raise ValueError(f"epsilon={self.epsilon!r} is not a number from 0 up")
        options = {**self._machine(), "epsilon": float(self.epsilon)}
        with Experiment(
            "svc", X, y, options, task="regression", devices=self.devices, verbose=self.verbose
        ) as experiment:
            self._keep(experiment.run(), experiment.devices)
        manifest = self._manifest()
        self.support_ = np.array(manifest.get("training_rows", []), dtype=np.int32)
        self.support_vectors_ = X[self.support_].astype(np.float64)
        self.shape_fit_ = X.shape
        self.fit_status_ = 0
        self.n_iter_ = max(1, manifest["steps"][0])
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        values, vectors = self._machine_file()
        dual = [line.split(" ", 1)[0] for line in vectors.splitlines()]
        self.dual_coef_ = np.array(dual, dtype=np.float64).reshape(1, len(self.support_))
        self.intercept_ = -np.array([values["rho"]], dtype=np.float64)
        return self

    def predict(self, X):
        """Returns the predicted target of each row."""
        X = self._rows(X)
        if X.size * len(self.support_) >= FEW_PRODUCTS:
            return self._scores_of_program(X, after="row")[:, 0]
        step = max(1, (1 << 22) // max(1, len(self.support_)))
        parts = [X[k : k + step].astype(np.float64) for k in range(0, len(X), step)]
        return np.concatenate([self._kernel_values(part) @ self.dual_coef_[0] for part in parts]) + self.intercept_[0]

    @property
    def coef_(self):
        """Returns the weights of the features, for a linear kernel."""
        check_is_fitted(self)
        if self.kernel != "linear":
            raise AttributeError("coef_ exists for a linear kernel only")
        return self.dual_coef_ @ self.support_vectors_

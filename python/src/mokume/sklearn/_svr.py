"""Provides epsilon-support vector regression with scikit-learn's interface and LIBSVM's stopping rule."""

import numpy as np
import sklearn.svm

from mokume.sklearn._kernel import LANDMARKS, PARAMETERS, KernelMachine


class RegressionMachine(KernelMachine):
    """Provides what the regressions share, which learn targets around 0."""

    _task = "regression"
    _offset = 0.0

    def _targets(self, y):
        """Returns targets around 0, because the program rounds them to float32. The intercept takes up the offset."""
        self._offset = float(np.median(y))
        return y - self._offset

    def _vectors_of_classes(self, values, vectors):
        return np.array([vectors, vectors], dtype=np.int32)

    def _read_model(self, rows):
        super()._read_model(rows)
        self.intercept_ += self._offset

    def _dense_predict(self, X):
        if not self._runs_long(X):
            return super()._dense_predict(X)
        return self._scores_of_program(X, after="row")[:, 0] + self._offset


class SVR(RegressionMachine, sklearn.svm.SVR):
    """Is scikit-learn's SVR, fitted by mokume on the devices of this machine.

    The remarks of SVC on precision, `devices`, `shrinking`, `cache_size`, `C`, `tol`, `max_iter` and `approximation`
    apply here, too; the landmarks are the same in every fit. Targets are centred before they are rounded to float32, so
    a large offset of all targets costs no precision.
    """

    _parameter_constraints: dict = {**sklearn.svm.SVR._parameter_constraints, **PARAMETERS, **LANDMARKS}

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
        approximation=None,
        n_components=1000,
        devices=None,
    ):
        super().__init__(
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            tol=tol,
            C=C,
            epsilon=epsilon,
            shrinking=shrinking,
            cache_size=cache_size,
            verbose=verbose,
            max_iter=max_iter,
        )
        self.approximation = approximation
        self.n_components = n_components
        self.devices = devices

    def _options(self, class_weight=""):
        return {**super()._options(), "epsilon": float(self.epsilon)}

"""Defines the common parts of support vector machines: kernel parameters, and kernel values of few rows."""

import numbers

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from mokume.sklearn._base import refuse

_KERNELS = {"linear": "linear", "poly": "polynomial", "rbf": "rbf", "sigmoid": "sigmoid"}
_NO_LIMIT = 10**12


class KernelMachine:
    """Serves machines with the attributes kernel, degree, gamma, coef0, C, tol and max_iter."""

    def _machine(self):
        """Returns the parameters of the program's svc. If gamma is a word, it becomes gamma_unit, and gamma is 1."""
        refuse(self, kernel=list(_KERNELS))
        for name in ["C", "tol", "coef0"]:
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or (name != "coef0" and not value > 0):
                raise ValueError(f"{name}={value!r} is not a number{'' if name == 'coef0' else ' above 0'}")
        word = isinstance(self.gamma, str)
        if self.gamma not in ("scale", "auto") if word else not (isinstance(self.gamma, numbers.Real) and self.gamma > 0):
            raise ValueError(f"gamma={self.gamma!r} is neither 'scale' nor 'auto' nor a number above 0")
        return {
            "C": float(self.C),
            "kernel": _KERNELS[self.kernel],
            "degree": int(self.degree),
            "gamma": 1.0 if word else float(self.gamma),
            "gamma_unit": self.gamma if word else "one",
            "coef0": float(self.coef0),
            "tol": float(self.tol),
            "max_iterations": _NO_LIMIT if self.max_iter == -1 else int(self.max_iter),
        }

    def _machine_file(self):
        """Returns the header of the model's LIBSVM file as a dictionary, and the text of its vectors."""
        header, _, vectors = self._files["models/best/model.libsvm"].decode().partition("\nSV\n")
        values = dict(line.split(" ", 1) for line in header.splitlines())
        self._gamma = float(values.get("gamma", 0))
        self._fitted_kernel = dict(kernel=self.kernel, degree=self.degree, coef0=self.coef0)
        return values, vectors

    def _kernel_values(self, X):
        fitted = self._fitted_kernel
        if fitted["kernel"] == "rbf":
            return rbf_kernel(X, self.support_vectors_, gamma=self._gamma)
        if fitted["kernel"] == "linear":
            return X @ self.support_vectors_.T
        if fitted["kernel"] == "poly":
            return (self._gamma * (X @ self.support_vectors_.T) + fitted["coef0"]) ** fitted["degree"]
        return np.tanh(self._gamma * (X @ self.support_vectors_.T) + fitted["coef0"])

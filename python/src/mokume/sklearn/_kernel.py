"""Fits scikit-learn's support vector machines with the program; all but the fit is scikit-learn's own code."""

import copy
import os
from numbers import Integral

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Interval, StrOptions

from mokume.sklearn._base import Elsewhere, Experiment, ProgramFiles

try:
    from sklearn.utils._sparse import _align_api_if_sparse
except ImportError:  # scikit-learn before 1.9 stores matrices
    _align_api_if_sparse = scipy.sparse.csr_matrix

# The program predicts with more multiplications; with fewer, scikit-learn's code ends before the program has started.
MANY_PRODUCTS = 1 << 29

_DISTANCES = {"laplacian": laplacian_kernel, "chi2": chi2_kernel}  # kernels that LIBSVM lacks
_KERNELS = {"linear": "linear", "poly": "polynomial", "rbf": "rbf", "sigmoid": "sigmoid"} | {k: k for k in _DISTANCES}
PARAMETERS = {"kernel": [StrOptions({*_KERNELS, "precomputed"}), callable], "devices": [str, None]}
_NO_LIMIT = 10**12
LANDMARKS = {
    "approximation": [StrOptions({"nystrom"}), None],
    "n_components": [Interval(Integral, 1, 16384, closed="both")],
}
_LARGEST_DENSE = 1 << 26  # bytes
_LARGEST_C, _LARGEST_TOL = 1e12, 1.0
_SMALLEST_GAMMA, _LARGEST_GAMMA = 1e-300, 1e6  # the program refuses 0, and computes the same with the smallest
_TOO_LARGE = (
    "The dual coefficients or intercepts are not finite. The input data may contain large values and need to be "
    "preprocessed: mokume computes in float32, whose largest number is 3.4e38."
)


class KernelMachine(ProgramFiles):
    """Replaces the solver of a support vector machine of scikit-learn, from which the other base class inherits.

    scikit-learn's `fit` checks the input and then calls `_dense_fit` or `_sparse_fit`, which set the attributes that
    its other methods read. tests/python runs scikit-learn's own tests, which show that each version still does this.
    """

    _parameter_constraints: dict = {}
    _model = "svc"
    _task = "classification"
    _LITTLE_WORK = 1 << 25
    _ready_run = None

    def fit(self, X, y, sample_weight=None):
        """Fits the machine to rows and their targets; a weight multiplies the parameter C of its row."""
        return super().fit(X, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse &= not (self._needs_distances() or self._approximates())
        tags.input_tags.positive_only = self.kernel == "chi2"
        return tags

    def _options(self, class_weight=""):
        """Returns the parameters of the program's svc. If gamma is a word, it becomes gamma_unit, and gamma is 1."""
        word = isinstance(self.gamma, str)
        approximates = self._approximates()
        # The usual solver counts a round of few steps as 1000, so a limit of steps would end it after a few rounds.
        return {
            "solver": "blocked" if self.max_iter == -1 or approximates else "libsvm",
            "C": min(float(self.C), _LARGEST_C),
            "kernel": _KERNELS.get(self.kernel, "precomputed") if isinstance(self.kernel, str) else "precomputed",
            "degree": int(self.degree),
            "gamma": 1.0 if word else max(float(self.gamma), _SMALLEST_GAMMA),
            "gamma_unit": self.gamma if word else "one",
            "coef0": float(self.coef0),
            "tol": min(float(self.tol), _LARGEST_TOL),
            "max_iterations": _NO_LIMIT if self.max_iter == -1 else max(1, int(self.max_iter)),
            **(self._landmarks() if approximates else {}),
        }

    def _check_search(self):
        """Raises Elsewhere if the program cannot fit this candidate of a search."""
        if self._needs_matrix():
            raise Elsewhere("the kernel is a matrix or a function")
        if getattr(self, "break_ties", False):
            raise Elsewhere("break_ties=True counts otherwise than the program")

    @staticmethod
    def _work(shape, options):
        """Returns the size of the kernel matrix of a fit."""
        return shape[0] ** 2

    def _shape(self):
        """Returns what the candidates of one run must have in common."""
        return ()

    def _encode(self, y):
        """Returns the targets of a search as numbers."""
        return self._validate_targets(y)

    def _searched_targets(self, encoded):
        return self._targets(encoded)

    def _shared_class_weight(self, y):
        return ""

    @staticmethod
    def _search_rows(machines, X):
        """Returns the rows of a search for these candidates."""
        if scipy.sparse.issparse(X) and any(one._approximates() or one._needs_distances() for one in machines):
            raise Elsewhere("X is sparse, but some candidates take dense rows")
        return rows_of(X)

    @staticmethod
    def _prepare_search(machines, X, y, sizes):
        """Returns the options of these candidates, further files of their run, and its seed."""
        return [one._options(one._shared_class_weight(y)) for one in machines], {}, 0

    @staticmethod
    def _limited_fits(run, options, table):
        """Returns the candidate and the fold of each fit that max_iter ended before it had converged."""
        columns = zip(table["candidate"], table["fold"], table["status"])
        return {(candidate, fold) for candidate, fold, status in columns if status == "capped"}

    def _takes_model(self, sizes):
        """Returns whether the refit of a search, whose fits have `sizes` rows, may take the model of its run."""
        return getattr(self, "probability", False) is not True

    def _approximates(self):
        return getattr(self, "approximation", None) is not None

    def _landmarks(self):
        seed = getattr(self, "random_state", None)
        return {
            "approximation": self.approximation,
            "landmarks": int(self.n_components),
            "landmark_seed": int(seed) % 2**31 if isinstance(seed, Integral) else 0,
        }

    def _needs_matrix(self):
        return callable(self.kernel) or self.kernel == "precomputed"

    def _needs_distances(self):
        return isinstance(self.kernel, str) and self.kernel in _DISTANCES

    def _for_libsvm(self, X):
        """Returns a machine that LIBSVM's code can predict with, and its rows.

        A machine whose kernel LIBSVM lacks becomes one for a matrix of the kernel values with the support vectors.
        """
        if not self._needs_distances():
            return self, X
        machine, vectors = copy.copy(self), len(self.support_)
        machine.kernel, machine.support_vectors_ = "precomputed", np.empty((0, 0))
        machine.support_ = np.arange(vectors, dtype=np.int32)
        if vectors == 0:
            return machine, np.zeros((len(X), 1))
        return machine, _DISTANCES[self.kernel](X, self.support_vectors_, gamma=self._gamma)

    def _dense_predict(self, X):
        machine, X = self._for_libsvm(X)
        return super(KernelMachine, machine)._dense_predict(X)

    def _dense_decision_function(self, X):
        machine, X = self._for_libsvm(X)
        return super(KernelMachine, machine)._dense_decision_function(X)

    def _dense_fit(self, X, y, sample_weight, solver_type, kernel, random_seed):
        if callable(self.kernel):
            self._BaseLibSVM__Xfit = X  # scikit-learn's _compute_kernel reads it
            X = self._compute_kernel(X)
            if X.shape[0] != X.shape[1]:
                raise ValueError("X.shape[0] should be equal to X.shape[1]")
        if self.kernel == "chi2" and X.min() < 0:
            raise ValueError("Negative values in data passed to kernel='chi2', which compares frequencies")
        with np.errstate(over="ignore"):
            self._fit_rows(X.astype(np.float32), y, sample_weight, random_seed)
        self.support_vectors_ = np.empty((0, 0)) if self._needs_matrix() else X[self.support_]
        self._warn_from_fit_status()

    def _sparse_fit(self, X, y, sample_weight, solver_type, kernel, random_seed):
        if self._approximates():
            raise ValueError("X is sparse, but approximation='nystrom' takes dense rows: give X.toarray()")
        if self._needs_distances():
            raise ValueError(f"X is sparse, but kernel={self.kernel!r} takes dense rows: give X.toarray()")
        self._fit_rows(rows_of(X), y, sample_weight, random_seed)
        X.sort_indices()
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = _with_zeros(self.dual_coef_)
        self._warn_from_fit_status()

    def _fit_rows(self, X, y, sample_weight, seed):
        """Runs the program, and sets the attributes that describe the model."""
        if not np.isfinite(X.data if scipy.sparse.issparse(X) else X).all():
            raise ValueError(_TOO_LARGE)
        if sample_weight.ndim != 1 or not np.isfinite(sample_weight).all():
            raise ValueError("sample_weight must hold one finite number for each row")
        options = self._options(self._fitted_class_weight())
        rows = np.arange(X.shape[0])
        weights = None
        if len(sample_weight) and np.any(sample_weight != 1):
            rows = self._weighted_rows(y, sample_weight)
            weights = sample_weight[rows]
            if len(rows) < X.shape[0] and 0 < self._gamma <= _LARGEST_GAMMA:  # scale counts the rows without weight
                options.update(gamma=float(self._gamma), gamma_unit="one")
            X = X[np.ix_(rows, rows)] if self._needs_matrix() else X[rows]
        if self._approximates():
            options["landmarks"] = min(options["landmarks"], len(X))
        with Experiment(
            "svc",
            X,
            self._targets(y[rows]),
            options,
            weights=weights,
            task=self._task,
            devices=self.devices,
            seed=seed,
            verbose=self.verbose,
        ) as experiment:
            self._prepare(experiment, X.shape[0])
            run = self.__dict__.pop("_ready_run", None) or experiment.run()
            self._keep(run, experiment.devices)
            self._take_scaled_rows()
        self._read_model(rows)

    def _prepare(self, experiment, rows):
        """Changes the experiment of a fit before it runs."""

    def _weighted_rows(self, y, sample_weight):
        """Returns the rows with a positive weight."""
        rows = np.flatnonzero(sample_weight > 0)
        if len(rows) == 0:
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        return rows

    def _fitted_class_weight(self):
        return ""

    def _read_model(self, rows):
        """Reads the model's LIBSVM file. `rows` are the numbers of the rows that the program trained on."""
        ending = "svm" if self._needs_distances() else "libsvm"  # LIBSVM's programs cannot read the former
        header, _, vectors = self._files[f"models/best/model.{ending}"].decode().partition("\nSV\n")
        values = dict(line.split(" ", 1) for line in header.splitlines())
        manifest = self._model_json("manifest.json")
        if not self._needs_matrix():
            self._gamma = float(values.get("gamma", self._gamma))
        support = np.array(manifest.get("training_rows", []), dtype=np.int64)
        part = self._classes_of_landmarks(rows[support])
        if part is None:
            self._n_support = self._vectors_of_classes(values, len(support))
            part = np.repeat(np.arange(len(self._n_support)), self._n_support)[: len(support)]
        # scikit-learn sorts the support vectors of each class by their row.
        order = np.lexsort((support, part))
        self.support_ = rows[support[order]].astype(np.int32)
        columns = max(1, len(getattr(self, "classes_", [])) - 1)
        lines = [line.split(" ", columns)[:columns] for line in vectors.splitlines()]
        dual = np.array(lines, dtype=np.float64).reshape(len(support), columns)[order]
        self.dual_coef_ = np.ascontiguousarray(dual.T)
        self.intercept_ = 0.0 - np.array(values["rho"].split(), dtype=np.float64)
        self._probA = self._probB = np.empty(0)
        steps = np.array(manifest["steps"], dtype=np.int32)
        self._num_iter = np.maximum(steps, 1)  # scikit-learn promises at least one step
        self.fit_status_ = int(self.max_iter != -1 and not all(manifest["converged"]))

    def _classes_of_landmarks(self, support):
        """Returns the class of each support vector if their order in the file says something else."""
        return None

    def _runs_long(self, X):
        return not self._needs_matrix() and X.size * len(self.support_) >= MANY_PRODUCTS


def dense_rows(X):
    """Returns sparse rows as a dense float32 array, unless it would fill more than half of the memory."""
    size = X.shape[0] * X.shape[1] * 4
    if size > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2:
        raise ValueError(
            f"X is sparse, and as a dense array it takes {size / 2**30:.0f} GiB, more than half of the memory of this "
            "machine: mokume computes with dense rows, so select fewer features"
        )
    if not scipy.sparse.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float32)
    with np.errstate(over="ignore"):
        return X.astype(np.float32).toarray()


def rows_of(X):
    """Returns rows for the program. Sparse rows become a dense array if it is small, so that the fit is that of one."""
    if not scipy.sparse.issparse(X) or 4 * X.shape[0] * X.shape[1] <= _LARGEST_DENSE:
        return dense_rows(X)
    with np.errstate(over="ignore"):
        return scipy.sparse.csr_matrix(X, dtype=np.float32, copy=True)


def _with_zeros(matrix):
    """Returns a sparse matrix that stores zeros too, because scikit-learn's predictions read all numbers in a row."""
    rows, columns = matrix.shape
    indices, starts = np.tile(np.arange(columns), rows), np.arange(rows + 1) * columns
    return _align_api_if_sparse(scipy.sparse.csr_array((matrix.ravel(), indices, starts), shape=(rows, columns)))


def weights_as_text(class_weight, y):
    """Returns class_weight for the program, which knows the classes as 0, 1, ...; y holds these numbers' labels."""
    classes = np.unique(y)
    weights = compute_class_weight(class_weight, classes=classes, y=y)
    return ",".join(f"{number}={float(weight)!r}" for number, weight in enumerate(weights))

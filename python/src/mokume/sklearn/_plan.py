"""Decides which runs of the program fit the candidates of a search, and prepares their inputs."""

import time
from typing import NamedTuple

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array, indexable
from sklearn.utils.metaestimators import _safe_split

from mokume.sklearn._base import Experiment
from mokume.sklearn._kernel import dense_rows
from mokume.sklearn._svc import SVC
from mokume.sklearn._svr import SVR

SCORES = {SVC: (None, "accuracy"), SVR: (None, "r2", "neg_mean_squared_error")}
_MOST_FOLDS = 1000


class Elsewhere(Exception):
    """Says why a search goes scikit-learn's road."""


class _Apart(Exception):
    """Says why each fold needs inputs of its own."""


class Batch(NamedTuple):
    """Holds the input of one run, which fits some of the candidates in some of the folds."""

    rows: np.ndarray
    targets: np.ndarray
    fold_of: np.ndarray  # the number of the run's fold that validates each row, or -1
    candidates: list  # numbers of candidates in the search
    folds: list  # the number in the search of each of the run's folds
    options: list  # the program's parameters, for each candidate of the run
    scaled: bool = False
    seconds: float = 0.0  # time that preparing the rows took

    def validated(self):
        """Returns the targets of the rows that each of the run's folds validates."""
        return [self.targets[self.fold_of == fold] for fold in range(len(self.folds))]

    def experiment(self, machine):
        """Returns the experiment of the run."""
        names = _searched(self.options)
        experiment = Experiment(
            "svc",
            self.rows,
            machine._targets(self.targets),
            {name: value for name, value in self.options[0].items() if name not in names},
            task=machine._task,
            devices=machine.devices or "all",
            verbose=machine.verbose,
        )
        experiment.search({name: [one[name] for one in self.options] for name in names}, self.fold_of)
        if self.scaled:
            experiment.tables["data"]["standardize"] = "features"
        return experiment


class Plan:
    """Plans the runs for an estimator, its candidates and its folds. Raises Elsewhere where the program cannot help."""

    def __init__(self, estimator):
        self.estimator = estimator
        self.name, self.machine, self._before = _machine(estimator)
        self.alone = not self.name  # whether the machine is the estimator itself

    def add(self, X, y, candidates, splits):
        """Checks the candidates and folds, and sets up the batches."""
        self.candidates, self._splits = candidates, splits
        self._X, self._y = indexable(X, np.asarray(y))
        if self._y.ndim != 1:
            raise Elsewhere("y is not a list of one target for each row")
        if not candidates:
            raise Elsewhere("there are no candidates")
        self._machines, self._settings = zip(*(self._split(chosen) for chosen in candidates))
        self.seeds = len(splits) * sum(one.random_state is None for one in self._machines)
        try:
            self._together = self._plan_together()
            self.sentence = (
                f"one run of the program fits all {len(candidates)} candidates in all {len(splits)} folds, because it "
                "knows the estimator, the score and the folds"
            )
        except _Apart as reason:
            self._together = None
            if self.machine._task == "classification" and any(
                len(np.unique(self._y[rows])) < 2 for rows, _ in splits
            ):
                raise Elsewhere("a fold trains on one class") from None
            self._groups = self._groups_of_settings()
            # Each run also fits its best candidate to all of its rows, which must not cost more than sharing saves.
            if len(candidates) < 2 * len(self._groups):
                raise Elsewhere(f"{reason}, and too few candidates have equal transformers") from None
            self.sentence = (
                f"{len(splits) * len(self._groups)} runs of the program fit {len(candidates)} candidates in "
                f"{len(splits)} folds, one for each fold and setting of the transformers, because {reason}"
            )

    def __len__(self):
        return len(self.candidates)

    @property
    def folds(self):
        return len(self._splits)

    @property
    def one_run(self):
        return self._together is not None

    def batches(self):
        """Yields the inputs of the runs, one at a time, because each may fill much of the memory."""
        if self._together is not None:
            yield self._together
            return
        for fold, (trained, validated) in enumerate(self._splits):
            for members in self._groups:
                try:
                    batch = self._batch(members, fold, trained, validated)
                except (ValueError, TypeError) as error:  # scikit-learn scores such a fold with error_score
                    raise Elsewhere(first_line(error)) from error
                yield batch

    def _split(self, chosen):
        """Returns the machine with its parameters of a candidate, and the parameters of the steps before it."""
        prefix = f"{self.name}__" if self.name else ""
        own, settings = {}, {}
        known = self.machine.get_params(deep=False)
        for name, value in chosen.items():
            if name.startswith(prefix) and name[len(prefix) :] in known:
                own[name[len(prefix) :]] = value
            elif self._before and name not in ("steps", self.name) and not (prefix and name.startswith(prefix)):
                settings[name] = value
            else:
                raise Elsewhere(f"the search changes {name}")
        return _candidate(self.machine, own), settings

    def _options(self, members, y):
        return [self._machines[k]._options(self._machines[k]._shared_class_weight(y)) for k in members]

    def _plan_together(self):
        """Returns one batch for all fits. Raises _Apart if the program cannot make the inputs of each fold."""
        before = [step for _, step in self._before if step is not None and step != "passthrough"]
        if any(self._settings) or len(before) > 1 or not all(_is_plain_scaler(step) for step in before):
            raise _Apart("scikit-learn fits the transformers of each fold")
        scaled = bool(before)
        if scaled and scipy.sparse.issparse(self._X):
            raise Elsewhere("StandardScaler refuses sparse rows")
        rows = check_array(self._X, dtype=np.float64, order="C", accept_sparse="csr")
        # The program standardises numbers in double precision.
        rows = rows if scaled else dense_rows(rows)
        targets = self.machine._validate_targets(self._y)
        fold_of = _folds(self._splits, len(targets))
        if self.machine._task == "classification":
            for trained, _ in self._splits:
                if len(np.unique(targets[trained])) <= targets.max():
                    raise _Apart("a fold trains without one of the classes")
        if scaled and _hardly_varies(rows, fold_of):
            raise _Apart("a column hardly varies, and scikit-learn may take it for constant")
        everyone = list(range(len(self.candidates)))
        return Batch(
            rows, targets, fold_of, everyone, list(range(self.folds)), self._options(everyone, self._y), scaled
        )

    def _groups_of_settings(self):
        """Returns lists of candidates that have equal transformers."""
        groups = {}
        for number, settings in enumerate(self._settings):
            key = tuple((name, _key(settings[name])) for name in sorted(settings))
            groups.setdefault(key, []).append(number)
        return list(groups.values())

    def _batch(self, members, fold, trained, validated):
        """Returns the input of a run that fits candidates with equal transformers in one fold."""
        started = time.perf_counter()
        X, y = _safe_split(self.estimator, self._X, self._y, trained)
        X_validated, y_validated = _safe_split(self.estimator, self._X, self._y, validated, trained)
        if self._before:
            X, X_validated = self._transform(self._settings[members[0]], X, y, X_validated)
        rows = np.vstack(
            [dense_rows(check_array(one, dtype=np.float64, accept_sparse="csr")) for one in (X, X_validated)]
        )
        targets = self.machine._validate_targets(y)
        if self.machine._task == "classification":
            places = np.minimum(np.searchsorted(self.machine.classes_, y_validated), len(self.machine.classes_) - 1)
            if np.any(self.machine.classes_[places] != y_validated):
                raise Elsewhere("a fold validates a class that it does not train on")
        else:
            places = y_validated
        targets = np.concatenate([targets, np.asarray(places, dtype=targets.dtype)])
        fold_of = np.repeat([-1, 0], [len(y), len(y_validated)])
        seconds = time.perf_counter() - started
        return Batch(rows, targets, fold_of, members, [fold], self._options(members, y), seconds=seconds)

    def _transform(self, settings, X, y, X_validated):
        """Fits the steps before the machine to the rows that a fold trains on, as scikit-learn's search does."""
        steps = clone(self.estimator).set_params(**clone(settings, safe=False))[:-1]
        state = np.random.get_state()
        try:
            X, X_validated = steps.fit_transform(X, y), steps.transform(X_validated)
        except Exception as error:  # scikit-learn's road scores the error
            raise Elsewhere(f"a transformer fails: {first_line(error)}") from error
        finally:
            drawn = np.random.get_state()
            np.random.set_state(state)
        if state[2] != drawn[2] or not np.array_equal(state[1], drawn[1]):
            raise Elsewhere("a transformer draws random numbers, which are others for each candidate")
        return X, X_validated


def first_line(reason):
    return str(reason).strip().split("\n")[0].rstrip(".")


def _machine(estimator):
    """Returns the name of the machine in a pipeline, or "", the machine, and the steps before it."""
    if type(estimator) in SCORES:
        return "", clone(estimator), []
    if type(estimator) is not Pipeline:
        raise Elsewhere(f"{type(estimator).__name__} is not an estimator of mokume")
    *before, (name, machine) = estimator.steps
    if type(machine) not in SCORES:
        raise Elsewhere(f"the pipeline ends with {type(machine).__name__}, which mokume does not fit")
    if getattr(estimator, "transform_input", None) is not None:
        raise Elsewhere("the pipeline has settings of its own")
    return name, clone(machine), before


def _is_plain_scaler(step):
    return type(step) is StandardScaler and step.with_mean and step.with_std


def _key(value):
    """Returns a value that is equal for equal parameters. Two objects count as unequal."""
    return (type(value), value) if isinstance(value, (bool, int, float, str, type(None))) else id(value)


def _folds(splits, rows):
    """Returns the fold that validates each row, or -1 if none does. The program trains on all other rows."""
    if not 2 <= len(splits) <= _MOST_FOLDS:
        raise _Apart(f"the program takes 2 to {_MOST_FOLDS} folds")
    fold_of = np.full(rows, -1)
    everything = np.arange(rows)
    for fold, (trained, validated) in enumerate(splits):
        if np.any(fold_of[validated] != -1) or len(validated) == 0:
            raise _Apart("the folds validate rows more than once")
        fold_of[validated] = fold
        if np.count_nonzero(fold_of == fold) != len(validated):
            raise _Apart("a fold validates rows more than once")
        if not np.array_equal(np.sort(trained), np.delete(everything, validated)):
            raise _Apart("a fold does not train on all rows that it does not validate")
    return fold_of


def _hardly_varies(rows, fold_of):
    """Says whether scikit-learn may take a column for constant that has different values in a training set.

    It does so if var <= n * eps * var + (n * mean * eps)**2. Since var is at least range**2 / (2 * n), the range is
    then at most about 1.5 * n**1.5 * eps * mean, which is less than half of the bound below.
    """
    parts = [rows[fold_of == fold] for fold in np.unique(fold_of)]
    low = _without_each(np.array([part.min(axis=0) for part in parts]), np.min)
    high = _without_each(np.array([part.max(axis=0) for part in parts]), np.max)
    bound = 4 * len(rows) ** 1.5 * np.finfo(np.float64).eps * np.maximum(np.abs(low), np.abs(high))
    return bool(np.any((low < high) & (high - low <= bound)))


def _without_each(values, reduce):
    """Returns the reduced rows of `values` without the first row, those without the second, and so on."""
    return np.array([reduce(np.delete(values, k, axis=0), axis=0) for k in range(len(values))])


def _candidate(machine, own):
    """Returns the machine with the parameters of a candidate, which the program must know."""
    one = clone(machine).set_params(**own)
    one._validate_params()
    if one._needs_matrix():
        raise Elsewhere("the kernel is a matrix or a function")
    if getattr(one, "break_ties", False):
        raise Elsewhere("break_ties=True counts otherwise than the program")
    if one.devices != machine.devices:
        raise Elsewhere("the search changes devices")
    return one


def _searched(options):
    """Returns the options that the candidates do not share, and C, because a search needs a parameter."""
    return [name for name in options[0] if name == "C" or any(one[name] != options[0][name] for one in options)]

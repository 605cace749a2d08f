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

from mokume.sklearn._base import Apart, Elsewhere, Experiment
from mokume.sklearn._kernel import dense_rows
from mokume.sklearn._mlp import MLPClassifier, MLPRegressor
from mokume.sklearn._nu import NuSVC, NuSVR, OneClassSVM
from mokume.sklearn._svc import SVC
from mokume.sklearn._svr import SVR

_CLASSIFIES, _REGRESSES = (None, "accuracy"), (None, "r2", "neg_mean_squared_error")
SCORES = {
    SVC: _CLASSIFIES,
    NuSVC: _CLASSIFIES,
    MLPClassifier: _CLASSIFIES,
    SVR: _REGRESSES,
    NuSVR: _REGRESSES,
    MLPRegressor: _REGRESSES,
    OneClassSVM: ("accuracy",),
}
_MOST_FOLDS = 1000


class Batch(NamedTuple):
    """Holds the input of one run, which fits some of the candidates in some of the folds."""

    rows: np.ndarray
    targets: np.ndarray
    fold_of: np.ndarray  # the number of the run's fold that validates each row, or -1
    candidates: list  # numbers of candidates in the search
    folds: list  # the number in the search of each of the run's folds
    options: list  # the program's parameters, for each candidate of the run
    files: dict  # further files of the run
    seed: int
    scaled: bool = False
    seconds: float = 0.0  # time that preparing the rows took

    def validated(self):
        """Returns the targets of the rows that each of the run's folds validates."""
        return [self.targets[self.fold_of == fold] for fold in range(len(self.folds))]

    def _ends_soon(self, machine):
        """Returns whether the host ends the fits before other devices have started."""
        fits = sum(machine._work(self.rows.shape, options) for options in self.options) * len(self.folds)
        return fits <= machine._LITTLE_WORK

    def experiment(self, machine):
        """Returns the experiment of the run."""
        common, lists = _searched(self.options)
        if not lists:  # a search needs a parameter
            name = next(name for name in common if not isinstance(common[name], (dict, list)))
            lists[name] = [common.pop(name)] * len(self.options)
        experiment = Experiment(
            machine._model,
            self.rows,
            machine._searched_targets(self.targets),
            common,
            task=machine._task,
            devices=machine.devices or ("host" if self._ends_soon(machine) else "all"),
            seed=self.seed,
            verbose=machine.verbose,
        )
        experiment.search(lists, self.fold_of)
        experiment.files.update(self.files)
        if self.scaled:
            experiment.tables["data"]["standardize"] = "features"
        return experiment


class Plan:
    """Plans the runs for an estimator, its candidates and its folds. Raises Elsewhere where the program cannot help."""

    def __init__(self, estimator):
        self.estimator = estimator
        self.name, self.machine, self._before = _machine(estimator)
        self._known = self.machine.get_params(deep=False)
        self.seeds = 0
        self._together = []

    def add(self, X, y, candidates, splits):
        """Checks the candidates and folds, and sets up the batches."""
        self.candidates, self._splits = candidates, splits
        self._X, self._y = indexable(X, np.asarray(y))
        if self._y.ndim != 1:
            raise Elsewhere("y is not a list of one target for each row")
        if not candidates:
            raise Elsewhere("there are no candidates")
        self._machines, self._settings = zip(*(self._split(chosen) for chosen in candidates))
        self._groups = self._groups_of_settings()
        if self.machine._model == "svc":  # a network of the program draws no seed from NumPy's generator for each fit
            self.seeds = len(splits) * sum(one.random_state is None for one in self._machines)
        try:
            self._together = self._plan_together()
        except Apart as reason:
            self._check_apart(reason)

    def _check_apart(self, reason):
        """Raises Elsewhere if separate runs for each fold bring nothing."""
        if self.machine._task == "classification" and any(
            len(np.unique(self._y[rows])) < 2 for rows, _ in self._splits
        ):
            raise Elsewhere("a fold trains on one class")
        # Each run also fits its best candidate to all of its rows, which must not cost more than sharing saves.
        if len(self) < 2 * len(self._groups):
            raise Elsewhere(f"{reason}, and too few candidates have equal {self._parts}")
        self._reason = reason

    @property
    def _parts(self):
        """Returns what the candidates of one run have in common, in words."""
        return "transformers" if self.machine._model == "svc" else "transformers and layers"

    @property
    def sentence(self):
        """Tells which runs fit the candidates."""
        fits = f"all {len(self)} candidates in all {self.folds} folds"
        because = "because it knows the estimator, the score and the folds"
        if self.one_run:
            return f"one run of the program fits {fits}, {because}"
        if self._together:
            return f"{len(self._groups)} runs of the program fit {fits}, one for each choice of layers, {because}"
        return (
            f"{self.folds * len(self._groups)} runs of the program fit {len(self)} candidates in {self.folds} folds, "
            f"one for each fold and setting of the {self._parts}, because {self._reason}"
        )

    def __len__(self):
        return len(self.candidates)

    @property
    def folds(self):
        return len(self._splits)

    @property
    def sizes(self):
        """Returns the number of rows that each fit trains on, and that of all rows."""
        return [len(trained) for trained, _ in self._splits] + [len(self._y)]

    @property
    def one_run(self):
        return len(self._together) == 1

    def batches(self):
        """Yields the inputs of the runs, one at a time, because each may fill much of the memory."""
        if self._together:
            yield from self._together
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
        for name, value in chosen.items():
            if name.startswith(prefix) and name[len(prefix) :] in self._known:
                own[name[len(prefix) :]] = value
            elif self._before and name not in ("steps", self.name) and not (prefix and name.startswith(prefix)):
                settings[name] = value
            else:
                raise Elsewhere(f"the search changes {name}")
        return _candidate(self.machine, own), settings

    def _prepare(self, members, X, y, sizes):
        """Returns the options of candidates, further files of their run, and its seed."""
        return self.machine._prepare_search([self._machines[k] for k in members], X, y, sizes)

    def _plan_together(self):
        """Returns batches that have all rows. Raises Apart if the program cannot make the inputs of each fold."""
        before = [step for _, step in self._before if step is not None and step != "passthrough"]
        if any(self._settings) or len(before) > 1 or not all(_is_plain_scaler(step) for step in before):
            raise Apart("scikit-learn fits the transformers of each fold")
        scaled = bool(before)
        if scaled and scipy.sparse.issparse(self._X):
            raise Elsewhere("StandardScaler refuses sparse rows")
        rows = check_array(self._X, dtype=np.float64, order="C", accept_sparse="csr")
        # The program standardises numbers in double precision.
        rows = rows if scaled else self.machine._search_rows(self._machines, rows)
        targets = self.machine._encode(self._y)
        fold_of = _folds(self._splits, len(targets))
        if self.machine._task == "classification":
            for trained, _ in self._splits:
                if len(np.unique(targets[trained])) <= targets.max():
                    raise Apart("a fold trains without one of the classes")
        if scaled and _hardly_varies(rows, fold_of):
            raise Apart("a column hardly varies, and scikit-learn may take it for constant")
        sizes, numbers = [len(trained) for trained, _ in self._splits], list(range(self.folds))
        return [
            Batch(rows, targets, fold_of, members, numbers, *self._prepare(members, rows, self._y, sizes), scaled)
            for members in self._groups
        ]

    def _groups_of_settings(self):
        """Returns lists of candidates that have equal transformers and layers."""
        groups = {}
        for number, settings in enumerate(self._settings):
            key = tuple((name, _key(settings[name])) for name in sorted(settings))
            key += self._machines[number]._shape()
            groups.setdefault(key, []).append(number)
        return list(groups.values())

    def _batch(self, members, fold, trained, validated):
        """Returns the input of a run that fits candidates with equal transformers in one fold."""
        started = time.perf_counter()
        X, y = _safe_split(self.estimator, self._X, self._y, trained)
        X_validated, y_validated = _safe_split(self.estimator, self._X, self._y, validated, trained)
        if self._before:
            X, X_validated = self._transform(self._settings[members[0]], X, y, X_validated)
        parts = [check_array(one, dtype=np.float64, accept_sparse="csr") for one in (X, X_validated)]
        sparse = all(scipy.sparse.issparse(one) for one in parts)
        rows = scipy.sparse.vstack(parts, "csr") if sparse else np.vstack([dense_rows(one) for one in parts])
        rows = self.machine._search_rows([self._machines[k] for k in members], rows)
        targets = self.machine._encode(y)
        if self.machine._task == "classification":
            places = np.minimum(np.searchsorted(self.machine.classes_, y_validated), len(self.machine.classes_) - 1)
            if np.any(self.machine.classes_[places] != y_validated):
                raise Elsewhere("a fold validates a class that it does not train on")
        else:
            places = y_validated
        targets = np.concatenate([targets, np.asarray(places, dtype=targets.dtype)])
        fold_of = np.repeat([-1, 0], [len(y), len(y_validated)])
        seconds = time.perf_counter() - started
        prepared = self._prepare(members, rows[: len(y)], y, [len(y)])
        return Batch(rows, targets, fold_of, members, [fold], *prepared, seconds=seconds)

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
        raise Apart(f"the program takes 2 to {_MOST_FOLDS} folds")
    fold_of = np.full(rows, -1)
    everything = np.arange(rows)
    for fold, (trained, validated) in enumerate(splits):
        if np.any(fold_of[validated] != -1) or len(validated) == 0:
            raise Apart("the folds validate rows more than once")
        fold_of[validated] = fold
        if np.count_nonzero(fold_of == fold) != len(validated):
            raise Apart("a fold validates rows more than once")
        if not np.array_equal(np.sort(trained), np.delete(everything, validated)):
            raise Apart("a fold does not train on all rows that it does not validate")
    return fold_of


def _hardly_varies(rows, fold_of):
    """Says whether scikit-learn may take a column for constant that has different values in the rows of a fit.

    It does so if var <= n * eps * var + (n * mean * eps)**2. Since var is at least range**2 / (2 * n), the range is
    then at most about 1.5 * n**1.5 * eps * mean, which is less than half of the bound below.
    """
    parts = [rows[fold_of == fold] for fold in np.unique(fold_of)]
    low = _all_and_without_each(np.array([part.min(axis=0) for part in parts]), np.min)
    high = _all_and_without_each(np.array([part.max(axis=0) for part in parts]), np.max)
    bound = 4 * len(rows) ** 1.5 * np.finfo(np.float64).eps * np.maximum(np.abs(low), np.abs(high))
    return bool(np.any((low < high) & (high - low <= bound)))


def _all_and_without_each(values, reduce):
    """Returns the reduced rows of `values`: of all, of those without the first row, without the second, and so on."""
    others = [np.delete(values, k, axis=0) for k in range(len(values))]
    return np.array([reduce(some, axis=0) for some in (values, *others)])


def _candidate(machine, own):
    """Returns the machine with the parameters of a candidate, which the program must know."""
    one = clone(machine).set_params(**own)
    one._validate_params()
    one._check_search()
    if one.devices != machine.devices:
        raise Elsewhere("the search changes devices")
    return one


def _searched(options):
    """Returns the options that all candidates share, and the lists of those that the program searches.

    A key of a table becomes a list with a name of its own, to which the table refers.
    """
    common, lists = {}, {}
    for name, first in options[0].items():
        values = [one[name] for one in options]
        if isinstance(first, dict):
            common[name], inner = _searched(values)
            common[name].update({key: f"${name}_{key}" for key in inner})
            lists.update({f"{name}_{key}": list_ for key, list_ in inner.items()})
        elif any(value != first for value in values):
            lists[name] = values
        else:
            common[name] = first
    return common, lists

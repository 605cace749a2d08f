"""Runs searches as one experiment of the program, which shares kernel matrices and uses every device."""

import functools
import time
import warnings
from typing import NamedTuple

import joblib
import numpy as np
import scipy.sparse
import sklearn
import sklearn.model_selection
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, ParameterSampler, check_cv
from sklearn.model_selection._validation import _warn_or_raise_about_fit_failures
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array, check_random_state

from mokume.program import DONE, FAILED_FITS, Failure
from mokume.sklearn._base import Experiment, read_json, read_table
from mokume.sklearn._kernel import dense_rows
from mokume.sklearn._svc import SVC
from mokume.sklearn._svr import SVR

_SCORES = {SVC: (None, "accuracy"), SVR: (None, "r2", "neg_mean_squared_error")}
_REFUSED = 2, 3  # the program's exit codes for a mistake in the experiment file, and in the data

_MOST_FOLDS = 1000


class _Elsewhere(Exception):
    """Says why a search goes scikit-learn's road."""


class _Plan(NamedTuple):
    """Holds the input of a run that fits all candidates in all folds."""

    machine: object
    alone: bool  # whether the machine is the estimator itself
    scaled: bool
    rows: np.ndarray
    targets: np.ndarray
    candidates: list
    options: list
    fold_of: np.ndarray
    seeds: int  # counts the fits that draw a seed from NumPy's generator


class _Drawn:
    """Holds the candidates and folds of a search, or None as long as they are not drawn."""

    def __init__(self):
        self.candidates = None
        self.cv = None


class _DrawnFolds:
    """Gives scikit-learn's search the folds that are drawn already."""

    def __init__(self, count, splits):
        self._count = count
        self._splits = splits

    def get_n_splits(self, X=None, y=None, groups=None):
        return self._count

    def split(self, X=None, y=None, groups=None):
        splits, self._splits = self._splits, []  # the search is copied to each worker, and none reads them there
        return splits


class SharedSearch:
    """Goes the program's road where it gives what scikit-learn's search gives, and scikit-learn's everywhere else."""

    def fit(self, X, y=None, **params):
        """Fits every candidate in every fold, and the best one to all rows."""
        if hasattr(self, "_parameter_constraints"):  # scikit-learn 1.2 has none
            self._validate_params()
        self._drawn = _Drawn()
        try:
            plan = self._plan(X, y, params)
            self._say(
                f"one run of the program fits all {len(plan.candidates)} candidates in all {plan.fold_of.max() + 1} "
                "folds, because it knows the estimator, the score and the folds"
            )
            return self._fit_shared(plan, X, y)
        except _Elsewhere as reason:
            self._say(f"scikit-learn's search fits each candidate in each fold, because {reason}")
            return self._fit_elsewhere(X, y, params)
        finally:
            self.__dict__.pop("_drawn", None)

    def _fit_elsewhere(self, X, y, params):
        """Goes scikit-learn's road, and draws only the candidates and folds that are not drawn yet."""
        cv = self.cv
        self.cv = cv if self._drawn.cv is None else self._drawn.cv
        try:
            return super().fit(X, y, **params)
        finally:
            self.cv = cv

    # scikit-learn reads the parameters of this method, which differ between its versions.
    @functools.wraps(sklearn.model_selection.GridSearchCV._run_search, assigned=[])
    def _run_search(self, evaluate_candidates, **context):
        """Evaluates the candidates that are drawn already, or draws them."""
        drawn = self._drawn.candidates

        def evaluate(candidates, **more):
            return evaluate_candidates(candidates if drawn is None else drawn, **more)

        super()._run_search(evaluate, **context)

    def _say(self, sentence):
        if self.verbose >= 1:
            print(f"mokume: {sentence}.", flush=True)

    def _plan(self, X, y, params):
        """Returns the plan of the program's road. Raises _Elsewhere if scikit-learn must go its own."""
        self._check_road(params)
        prefix, machine, scaled = _machine(self.estimator)
        if self.scoring not in _SCORES[type(machine)]:
            raise _Elsewhere(f"the program does not compute scoring={self.scoring!r}")
        try:
            rows, y_checked = _rows(X, y, scaled)
            targets = machine._validate_targets(y_checked)
            candidates, splits = self._draw(machine, X, y, params.get("groups"))
            machines = [_candidate(machine, prefix, chosen) for chosen in candidates]
            if not machines:
                raise _Elsewhere("there are no candidates")
            fold_of = _folds(machine, splits, targets)
            self._check_folds(machine, rows if scaled else None, fold_of)
            options = [one._options(one._shared_class_weight(y_checked)) for one in machines]
        except (ValueError, TypeError) as error:  # scikit-learn's road ends in the same error, or scores it
            raise _Elsewhere(_first_line(error)) from error
        seeds = len(splits) * sum(one.random_state is None for one in machines)
        return _Plan(machine, not prefix, scaled, rows, targets, candidates, options, fold_of, seeds)

    def _fit_shared(self, plan, X, y):
        with _experiment(plan) as experiment:
            searched = {name: [one[name] for one in plan.options] for name in _searched(plan.options)}
            experiment.search(searched, plan.fold_of)
            run = _run(experiment)
            self._draw_seeds(plan)
            self._take_results(run, plan)
            if self.refit:
                self._refit(X, y, run if plan.alone else None)
        return self

    def _check_road(self, params):
        """Raises _Elsewhere for requests that need scikit-learn's loop."""
        if type(self)._run_search is not SharedSearch._run_search:
            raise _Elsewhere("a subclass chooses the candidates")
        if sklearn.get_config().get("enable_metadata_routing"):
            raise _Elsewhere("metadata is routed")
        if getattr(self, "_skl_callbacks", None) or getattr(self.estimator, "_skl_callbacks", None):
            raise _Elsewhere("callbacks watch the fits")
        if self.return_train_score:
            raise _Elsewhere("the program does not score training rows")
        given = [name for name, value in params.items() if name != "groups" and value is not None]
        if given:
            raise _Elsewhere(f"fit takes {given[0]}")

    def _draw(self, machine, X, y, groups):
        """Draws the candidates and the folds in scikit-learn's order, and keeps them for its road."""
        drawn = self._drawn
        drawn.cv = cv = check_cv(self.cv, y, classifier=machine._task == "classification")
        count = cv.get_n_splits(X, y, groups)
        drawn.candidates = list(self._candidates())
        splits = list(cv.split(X, y, groups))
        drawn.cv = _DrawnFolds(count, splits)
        if len(splits) != count:
            raise _Elsewhere("the number of folds differs from get_n_splits")
        return drawn.candidates, splits

    def _check_folds(self, machine, rows_to_scale, fold_of):
        """Raises _Elsewhere for folds in which scikit-learn scores or scales otherwise than the program."""
        validated = np.bincount(fold_of[fold_of >= 0])
        if machine._task == "regression" and self.scoring in (None, "r2") and validated.min() < 2:
            raise _Elsewhere("a fold validates one row, which has no R2")
        if rows_to_scale is not None and _hardly_varies(rows_to_scale, fold_of):
            raise _Elsewhere("a column hardly varies, and scikit-learn may take it for constant")

    def _draw_seeds(self, plan):
        """Draws the seeds of scikit-learn's fits, so that the next search draws the same folds after either road."""
        if joblib.effective_n_jobs(self.n_jobs) > 1:  # scikit-learn's workers draw from generators of their own
            return
        generator = check_random_state(None)
        for _ in range(plan.seeds):
            generator.randint(np.iinfo("i").max)

    def _take_results(self, run, plan):
        """Reads the scores of a run, and sets the attributes of a search."""
        candidates, folds = plan.candidates, int(plan.fold_of.max()) + 1
        validated = [plan.targets[plan.fold_of == fold] for fold in range(folds)]
        fits = _fits(run, len(candidates), folds, _scorer(plan.machine, self.scoring, validated))
        _warn_or_raise_about_fit_failures(fits, self.error_score)
        stopped = sum(fit.pop("stopped") for fit in fits)
        for fit in fits:
            if fit.pop("fit_error"):
                fit["test_scores"] = self.error_score
        if stopped:
            warnings.warn(f"max_iter ended {stopped} of {len(fits)} fits before they converged.", ConvergenceWarning)
        self.cv_results_ = self._format_results(candidates, folds, fits)
        self.best_index_ = self._select_best_index(self.refit, "score", self.cv_results_)
        self.best_params_ = candidates[self.best_index_]
        if not callable(self.refit):
            self.best_score_ = self.cv_results_["mean_test_score"][self.best_index_]
        self.scorer_ = check_scoring(self.estimator, scoring=self.scoring)
        self.n_splits_ = folds
        self.multimetric_ = False

    def _refit(self, X, y, run):
        """Fits the best candidate to all rows, or takes its model from the run if that holds it."""
        started = time.perf_counter()
        best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        if run is not None and read_json(run / "summary.json")["best"]["candidate"] == self.best_index_:
            if getattr(best, "probability", False) is not True:
                best._ready_run = run
        self.best_estimator_ = best.fit(X, y)
        self.refit_time_ = time.perf_counter() - started
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_


def _first_line(reason):
    return str(reason).strip().split("\n")[0].rstrip(".")


def _machine(estimator):
    """Returns the prefix of the machine's parameters, the machine, and whether a StandardScaler is before it."""
    if type(estimator) in _SCORES:
        return "", clone(estimator), False
    if type(estimator) is not Pipeline:
        raise _Elsewhere(f"{type(estimator).__name__} is not an estimator of mokume")
    *before, (name, machine) = estimator.steps
    before = [step for _, step in before if step is not None and step != "passthrough"]
    if type(machine) not in _SCORES:
        raise _Elsewhere(f"the pipeline ends with {type(machine).__name__}, which mokume does not fit")
    if estimator.memory is not None or getattr(estimator, "transform_input", None) is not None:
        raise _Elsewhere("the pipeline has settings of its own")
    if before and not (len(before) == 1 and _is_plain_scaler(before[0])):
        raise _Elsewhere("the program standardises columns, and knows no other transformer")
    return f"{name}__", clone(machine), bool(before)


def _is_plain_scaler(step):
    return type(step) is StandardScaler and step.with_mean and step.with_std


def _rows(X, y, scaled):
    """Returns dense rows and their targets."""
    if getattr(y, "ndim", None) != 1 and np.ndim(y) != 1:
        raise _Elsewhere("y is not a list of one target for each row")
    if scaled and scipy.sparse.issparse(X):
        raise _Elsewhere("StandardScaler refuses sparse rows")
    rows = check_array(X, dtype=np.float64, order="C", accept_sparse="csr")
    if rows.shape[0] != len(y):
        raise _Elsewhere("X and y differ in their lengths")
    # The program standardises numbers in double precision.
    return rows if scaled else dense_rows(rows), np.asarray(y)


def _folds(machine, splits, targets):
    """Returns the fold that validates each row, or -1 if none does. The program trains on all other rows."""
    if not 2 <= len(splits) <= _MOST_FOLDS:
        raise _Elsewhere(f"the program takes 2 to {_MOST_FOLDS} folds")
    fold_of = np.full(len(targets), -1)
    everything = np.arange(len(targets))
    for fold, (trained, validated) in enumerate(splits):
        if np.any(fold_of[validated] != -1) or len(validated) == 0:
            raise _Elsewhere("the folds validate rows more than once")
        fold_of[validated] = fold
        if np.count_nonzero(fold_of == fold) != len(validated):
            raise _Elsewhere("a fold validates rows more than once")
        if not np.array_equal(np.sort(trained), np.delete(everything, validated)):
            raise _Elsewhere("a fold does not train on all rows that it does not validate")
        if machine._task == "classification" and len(np.unique(targets[trained])) <= targets.max():
            raise _Elsewhere("a fold trains without one of the classes")
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


def _candidate(machine, prefix, chosen):
    """Returns the machine with the parameters of a candidate, which the program must know."""
    own = {}
    for name, value in chosen.items():
        if not name.startswith(prefix) or name[len(prefix) :] not in machine.get_params(deep=False):
            raise _Elsewhere(f"the search changes {name}")
        own[name[len(prefix) :]] = value
    one = clone(machine).set_params(**own)
    one._validate_params()
    if one._needs_matrix():
        raise _Elsewhere("the kernel is a matrix or a function")
    if getattr(one, "break_ties", False):
        raise _Elsewhere("break_ties=True counts otherwise than the program")
    if one.devices != machine.devices:
        raise _Elsewhere("the search changes devices")
    return one


def _searched(options):
    """Returns the options that the candidates do not share, and C, because a search needs a parameter."""
    return [name for name in options[0] if name == "C" or any(one[name] != options[0][name] for one in options)]


def _experiment(plan):
    machine, searched = plan.machine, _searched(plan.options)
    common = {name: value for name, value in plan.options[0].items() if name not in searched}
    experiment = Experiment(
        "svc",
        plan.rows,
        machine._targets(plan.targets),
        common,
        task=machine._task,
        devices=machine.devices or "all",
        verbose=machine.verbose,
    )
    if plan.scaled:
        experiment.tables["data"]["standardize"] = "features"
    return experiment


def _run(experiment):
    try:
        return experiment.run(accept=(DONE, FAILED_FITS))
    except Failure as failure:
        if failure.code not in _REFUSED:
            raise
        raise _Elsewhere(f"the program refuses the search: {failure}") from failure


def _fits(run, candidates, folds, score):
    """Returns a dictionary for each fit, in scikit-learn's order."""
    table, timeline = read_table(run / "results.csv"), read_table(run / "timeline.csv")
    times = {
        place[:2]: float(place[3]) - float(place[2])
        for place in zip(*(timeline[name] for name in ["candidate", "fold", "start_s", "end_s"]))
    }
    fits = [None] * (candidates * folds)
    values = table["errors"] if "errors" in table else table["mse"]
    for candidate, fold, n, value, status in zip(
        table["candidate"], table["fold"], table["n"], values, table["status"]
    ):
        failed = status == "failed"
        fits[int(candidate) * folds + int(fold)] = {
            "fit_error": f"mokume: candidate {candidate} failed in fold {fold}" if failed else None,
            "test_scores": np.nan if failed else score(float(value), int(fold)),
            "fit_time": times.get((candidate, fold), 0.0),
            "score_time": 0.0,
            "n_test_samples": int(n),
            "stopped": status == "capped",
        }
    return fits


def _scorer(machine, scoring, validated):
    """Returns a function that turns the program's metric of a fold, whose targets `validated` holds, into a score."""
    if machine._task == "classification":
        return lambda errors, fold: (len(validated[fold]) - errors) / len(validated[fold])
    if scoring == "neg_mean_squared_error":
        return lambda mse, fold: -mse
    spread = [np.var(targets) for targets in validated]
    return lambda mse, fold: 1 - mse / spread[fold] if spread[fold] > 0 else float(mse == 0)


class GridSearchCV(SharedSearch, sklearn.model_selection.GridSearchCV):
    """Is scikit-learn's GridSearchCV, and shares the work of the fits if the estimator is mokume's.

    One run of the program fits all candidates in all folds if

    * the estimator is an SVC or SVR of mokume, or a Pipeline of a StandardScaler and one of them, and the search
      changes only its own parameters,
    * the score is accuracy for an SVC, R2 or the negative mean squared error for an SVR, and training rows are not
      scored,
    * each row is validated at most once, each fold trains on all other rows, and these have all classes,
    * with R2, each fold validates two rows or more; with a StandardScaler, each column is constant or clearly varies.

    Its results are scikit-learn's, except that `mean_fit_time` holds the times of whole bundles of fits, including
    scoring. `n_jobs` has no effect on it: it uses the devices of the estimator, by default all. Every other search is
    scikit-learn's own. With `verbose` from 1 up, a sentence says which road was taken, and why.
    """

    def _candidates(self):
        return ParameterGrid(self.param_grid)


class RandomizedSearchCV(SharedSearch, sklearn.model_selection.RandomizedSearchCV):
    """Is scikit-learn's RandomizedSearchCV, and shares the work of the fits where GridSearchCV does."""

    def _candidates(self):
        return ParameterSampler(self.param_distributions, self.n_iter, random_state=self.random_state)

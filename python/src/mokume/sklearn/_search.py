"""Runs searches as one experiment of the program, which shares kernel matrices and uses every device."""

import contextlib
import functools
import time
import warnings

import joblib
import numpy as np
import sklearn
import sklearn.model_selection
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, ParameterSampler, check_cv
from sklearn.model_selection._validation import _warn_or_raise_about_fit_failures
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from mokume.program import DONE, FAILED_FITS, REFUSED, Failure
from mokume.sklearn._base import Elsewhere, read_json, read_table
from mokume.sklearn._plan import SCORES, Plan, first_line


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
            self._say(plan.sentence)
            return self._fit_shared(plan, X, y)
        except Elsewhere as reason:
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
        """Returns the plan of the program's road. Raises Elsewhere if scikit-learn must go its own."""
        self._check_road(params)
        plan = Plan(self.estimator)
        if self.scoring not in SCORES[type(plan.machine)]:
            raise Elsewhere(f"the program does not compute scoring={self.scoring!r}")
        try:
            candidates, splits = self._draw(plan.machine, X, y, params.get("groups"))
            self._check_sizes(plan.machine, splits)
            plan.add(X, y, candidates, splits)
        except (ValueError, TypeError) as error:  # scikit-learn's road ends in the same error, or scores it
            raise Elsewhere(first_line(error)) from error
        return plan

    def _fit_shared(self, plan, X, y):
        fits = [None] * (len(plan) * plan.folds)
        with contextlib.ExitStack() as kept:
            for batch in plan.batches():
                with contextlib.ExitStack() as place:
                    run = _run(place.enter_context(batch.experiment(plan.machine)))
                    score = _scorer(plan.machine, self.scoring, batch.validated())
                    _read_fits(run, batch, plan.machine, score, fits, plan.folds)
                    if plan.one_run:
                        kept.push(place.pop_all())
            self._draw_seeds(plan)
            self._take_results(fits, plan)
            if self.refit:
                self._refit(X, y, run if plan.one_run else None, plan.sizes)
        return self

    def _check_road(self, params):
        """Raises Elsewhere for requests that need scikit-learn's loop."""
        if type(self)._run_search is not SharedSearch._run_search:
            raise Elsewhere("a subclass chooses the candidates")
        if sklearn.get_config().get("enable_metadata_routing"):
            raise Elsewhere("metadata is routed")
        if getattr(self, "_skl_callbacks", None) or getattr(self.estimator, "_skl_callbacks", None):
            raise Elsewhere("callbacks watch the fits")
        if self.return_train_score:
            raise Elsewhere("the program does not score training rows")
        given = [name for name, value in params.items() if name != "groups" and value is not None]
        if given:
            raise Elsewhere(f"fit takes {given[0]}")

    def _draw(self, machine, X, y, groups):
        """Draws the candidates and the folds in scikit-learn's order, and keeps them for its road."""
        drawn = self._drawn
        drawn.cv = cv = check_cv(self.cv, y, classifier=machine._task == "classification")
        count = cv.get_n_splits(X, y, groups)
        drawn.candidates = list(self._candidates())
        splits = list(cv.split(X, y, groups))
        drawn.cv = _DrawnFolds(count, splits)
        if len(splits) != count:
            raise Elsewhere("the number of folds differs from get_n_splits")
        return drawn.candidates, splits

    def _check_sizes(self, machine, splits):
        """Raises Elsewhere for folds whose scores scikit-learn must explain."""
        least = min((len(validated) for _, validated in splits), default=0)
        if least == 0:
            raise Elsewhere("a fold validates no rows")
        if machine._task == "regression" and self.scoring in (None, "r2") and least < 2:
            raise Elsewhere("a fold validates one row, which has no R2")

    def _draw_seeds(self, plan):
        """Draws the seeds of scikit-learn's fits, so that the next search draws the same folds after either road."""
        if joblib.effective_n_jobs(self.n_jobs) > 1:  # scikit-learn's workers draw from generators of their own
            return
        generator = check_random_state(None)
        for _ in range(plan.seeds):
            generator.randint(np.iinfo("i").max)

    def _take_results(self, fits, plan):
        """Sets the attributes of a search from a dictionary for each fit, in scikit-learn's order."""
        _warn_or_raise_about_fit_failures(fits, self.error_score)
        stopped = sum(fit.pop("stopped") for fit in fits)
        for fit in fits:
            if fit.pop("fit_error"):
                fit["test_scores"] = self.error_score
        if stopped:
            warnings.warn(f"max_iter ended {stopped} of {len(fits)} fits before they converged.", ConvergenceWarning)
        self.cv_results_ = self._format_results(plan.candidates, plan.folds, fits)
        self.best_index_ = self._select_best_index(self.refit, "score", self.cv_results_)
        self.best_params_ = plan.candidates[self.best_index_]
        if not callable(self.refit):
            self.best_score_ = self.cv_results_["mean_test_score"][self.best_index_]
        self.scorer_ = check_scoring(self.estimator, scoring=self.scoring)
        self.n_splits_ = plan.folds
        self.multimetric_ = False

    def _refit(self, X, y, run, sizes):
        """Fits the best candidate to all rows, or takes its model from the run of all candidates if that holds it."""
        started = time.perf_counter()
        best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        if run is not None and read_json(run / "summary.json")["best"]["candidate"] == self.best_index_:
            machine = best.steps[-1][1] if isinstance(best, Pipeline) else best
            if machine._takes_model(sizes):
                machine._ready_run = run
        self.best_estimator_ = best.fit(X, y)
        self.refit_time_ = time.perf_counter() - started
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_


def _run(experiment):
    try:
        return experiment.run(accept=(DONE, FAILED_FITS))
    except Failure as failure:
        if failure.code not in REFUSED:
            raise
        raise Elsewhere(f"the program refuses the search: {failure}") from failure


def _read_fits(run, batch, machine, score, fits, folds):
    """Sets a dictionary for each fit of a run."""
    table, timeline = read_table(run / "results.csv"), read_table(run / "timeline.csv")
    times = {
        place[:2]: float(place[3]) - float(place[2])
        for place in zip(*(timeline[name] for name in ["candidate", "fold", "start_s", "end_s"]))
    }
    limited = machine._limited_fits(run, batch.options, table)
    values = table["errors"] if "errors" in table else table["mse"]
    for candidate, fold, n, value, status in zip(
        table["candidate"], table["fold"], table["n"], values, table["status"]
    ):
        failed = status == "failed"
        fits[batch.candidates[int(candidate)] * folds + batch.folds[int(fold)]] = {
            "fit_error": f"mokume: candidate {candidate} failed in fold {fold}" if failed else None,
            "test_scores": np.nan if failed else score(float(value), int(fold)),
            "fit_time": times.get((candidate, fold), 0.0) + batch.seconds,
            "score_time": 0.0,
            "n_test_samples": int(n),
            "stopped": (candidate, fold) in limited,
        }


def _scorer(machine, scoring, validated):
    """Returns a function that turns the program's metric of a fold, whose targets `validated` holds, into a score."""
    if machine._task != "regression":
        return lambda errors, fold: (len(validated[fold]) - errors) / len(validated[fold])
    if scoring == "neg_mean_squared_error":
        return lambda mse, fold: -mse
    spread = [np.var(targets) for targets in validated]
    return lambda mse, fold: 1 - mse / spread[fold] if spread[fold] > 0 else float(mse == 0)


class GridSearchCV(SharedSearch, sklearn.model_selection.GridSearchCV):
    """Is scikit-learn's GridSearchCV, and shares the work of the fits if the estimator is mokume's.

    The program fits the candidates if the estimator is one of mokume's, or a Pipeline that ends with one, the score is
    accuracy for classes, R2 or the negative mean squared error for numbers, and training rows are not scored. One run
    fits all candidates in all folds if

    * no step is before the machine, or only a StandardScaler, and the search changes only parameters of the machine,
    * networks have the same layers, activation, solver and random_state; others have a run for each choice of these,
    * each row is validated at most once, each fold trains on all other rows, and these have all classes,
    * behind a StandardScaler, each column is constant or clearly varies.

    Otherwise scikit-learn fits the steps before the machine to the rows that each fold trains on, and one run for each
    fold and each setting of these steps fits the candidates, if two candidates or more have equal settings on average.

    The program draws the order of the rows of a network for each candidate and fold. Without a random_state, all folds
    begin with the same weights.

    Its results are scikit-learn's, except that `mean_fit_time` holds the times of whole bundles of fits, including
    scoring. `n_jobs` has no effect on it: it uses the devices of the estimator, by default the host for a short search
    and all for a longer one. Every other search is scikit-learn's own. With `verbose` from 1 up, a sentence says which
    road was taken, and why.
    """

    def _candidates(self):
        return ParameterGrid(self.param_grid)


class RandomizedSearchCV(SharedSearch, sklearn.model_selection.RandomizedSearchCV):
    """Is scikit-learn's RandomizedSearchCV, and shares the work of the fits where GridSearchCV does."""

    def _candidates(self):
        return ParameterSampler(self.param_distributions, self.n_iter, random_state=self.random_state)

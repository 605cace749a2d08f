"""Runs a grid search as one experiment of the program, which shares kernel matrices and uses every device."""

import time

import numpy as np
import sklearn.model_selection
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv

from mokume.sklearn._base import Experiment, read_json, read_table, refuse
from mokume.sklearn._svc import SVC


class GridSearchCV(sklearn.model_selection.GridSearchCV):
    """Runs scikit-learn's GridSearchCV for mokume's SVC, with accuracy as its score.

    The folds are those of scikit-learn, but each row may be validated only once, as in KFold, StratifiedKFold and
    GroupKFold. Scores are exact, but `mean_fit_time` holds the times of whole bundles of fits, including scoring. The
    program refits the first of the best candidates. `n_jobs`, `verbose` and `pre_dispatch` have no effect: the program
    uses the devices of the estimator's parameter `devices`, by default all of them.
    """

    def __init__(
        self,
        estimator,
        param_grid,
        *,
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=None,
        verbose=0,
        pre_dispatch="2*n_jobs",
        error_score=np.nan,
        return_train_score=False,
    ):
        super().__init__(
            estimator=estimator,
            param_grid=param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def fit(self, X, y=None, *, groups=None):
        """Fits every candidate in every fold, and the best one to all rows."""
        if not isinstance(self.estimator, SVC):
            raise ValueError(
                f"GridSearchCV of mokume searches the parameters of mokume.sklearn.SVC, not of {self.estimator!r}; use "
                "that of scikit-learn for other estimators"
            )
        refuse(self, scoring=[None, "accuracy"], refit=[True, False], return_train_score=[False])
        estimator = clone(self.estimator)
        rows, classes = estimator._checked(X, y)
        parameters = list(ParameterGrid(self.param_grid))
        y = estimator.classes_[classes]
        fold_of = _folds(check_cv(self.cv, y, classifier=True), rows, y, groups)
        candidates = [clone(self.estimator).set_params(**chosen)._options(estimator.classes_) for chosen in parameters]
        options = {name: value for name, value in candidates[0].items() if all(c[name] == value for c in candidates)}
        options.pop("C", None)
        lists = {name: [c[name] for c in candidates] for name in candidates[0] if name not in options}
        devices = estimator.devices or "all"
        started = time.perf_counter()
        with Experiment("svc", rows, classes, options, devices=devices, verbose=estimator.verbose) as experiment:
            experiment.search(lists, fold_of)
            run = experiment.run()
            self.cv_results_ = _results(run, parameters, int(fold_of.max()) + 1)
            self.best_index_ = read_json(run / "summary.json")["best"]["candidate"]
            self.best_params_ = parameters[self.best_index_]
            self.best_score_ = self.cv_results_["mean_test_score"][self.best_index_]
            if self.refit:
                estimator.set_params(**self.best_params_)
                estimator._adopt(run, rows, devices)
                self.best_estimator_ = estimator
                self.refit_time_ = time.perf_counter() - started - self.cv_results_["mean_fit_time"].sum()
        self.scorer_ = check_scoring(estimator, scoring=self.scoring)
        self.n_splits_ = int(fold_of.max()) + 1
        self.multimetric_ = False
        if hasattr(estimator, "feature_names_in_"):
            self.feature_names_in_ = estimator.feature_names_in_
        return self


def _folds(cv, X, y, groups):
    """Returns the fold that validates each row, or -1 if none does. The program trains on all other rows."""
    fold_of = None
    for fold, (trained, validated) in enumerate(cv.split(X, y, groups)):
        if fold_of is None:
            fold_of = np.full(len(y), -1)
        if len(trained) + len(validated) != len(y) or np.any(fold_of[validated] != -1):
            raise ValueError(
                f"cv={cv!r} validates rows more than once, or leaves rows out: GridSearchCV of mokume takes folds that "
                "validate each row at most once and train on all others, as those of StratifiedKFold"
            )
        fold_of[validated] = fold
    return fold_of


def _results(run, parameters, folds):
    """Returns cv_results_ from a run directory."""
    table, timeline = read_table(run / "results.csv"), read_table(run / "timeline.csv")
    shape = (len(parameters), folds)
    scores, times = np.full(shape, np.nan), np.zeros(shape)
    for candidate, fold, n, errors, status in zip(
        *(table[name] for name in ["candidate", "fold", "n", "errors", "status"])
    ):
        if status != "failed":
            scores[int(candidate), int(fold)] = (int(n) - int(errors)) / int(n)
    for candidate, fold, start, end in zip(*(timeline[name] for name in ["candidate", "fold", "start_s", "end_s"])):
        if candidate and fold:
            times[int(candidate), int(fold)] = float(end) - float(start)
    results = {
        "mean_fit_time": times.mean(axis=1),
        "std_fit_time": times.std(axis=1),
        "mean_score_time": np.zeros(len(parameters)),
        "std_score_time": np.zeros(len(parameters)),
    }
    for name in sorted({name for chosen in parameters for name in chosen}):
        values = np.ma.masked_all(len(parameters), dtype=object)
        for k, chosen in enumerate(parameters):
            if name in chosen:
                values[k] = chosen[name]
        results[f"param_{name}"] = values
    results["params"] = parameters
    for fold in range(folds):
        results[f"split{fold}_test_score"] = scores[:, fold]
    results["mean_test_score"] = scores.mean(axis=1)
    results["std_test_score"] = scores.std(axis=1)
    # Equal candidates share a rank, even if rounding makes their means differ.
    means = np.nan_to_num(results["mean_test_score"], nan=-1)
    results["rank_test_score"] = np.array([1 + np.sum(means > mean + 1e-12) for mean in means], dtype=np.int32)
    return results

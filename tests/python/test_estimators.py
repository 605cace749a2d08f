"""Runs scikit-learn's own checks of estimators."""

import pytest
from scikit_learn_suite import reason_to_fail
from sklearn.utils.estimator_checks import parametrize_with_checks

from mokume.sklearn import SVC, SVR, GridSearchCV, MLPClassifier, MLPRegressor, NuSVC, NuSVR, OneClassSVM

SEARCH = GridSearchCV(SVC(), {"C": [0.5, 1]}, cv=2)


MACHINES = [SVC(), SVC(kernel="laplacian"), SVR(), NuSVC(), NuSVR(), OneClassSVM()]
NETWORKS = [MLPClassifier(max_iter=40), MLPRegressor(max_iter=80)]


@parametrize_with_checks([*MACHINES, *NETWORKS, SEARCH])
def test_check_estimator(request, estimator, check):
    reason = reason_to_fail(f"estimator_checks.{check.func.__name__}[{type(estimator).__name__}]")
    if reason:
        request.applymarker(pytest.mark.xfail(reason=reason))
    check(estimator)

"""Runs scikit-learn's own checks of estimators."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from mokume.sklearn import SVC, SVR, GridSearchCV, MLPClassifier


@parametrize_with_checks([SVC(), SVR(), MLPClassifier(max_iter=40), GridSearchCV(SVC(), {"C": [0.5, 1]}, cv=2)])
def test_check_estimator(estimator, check):
    check(estimator)

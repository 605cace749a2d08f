"""Provides estimators with scikit-learn's signatures, which the program fits on the devices of this machine."""

from mokume.sklearn._mlp import MLPClassifier, MLPRegressor
from mokume.sklearn._nu import NuSVC, NuSVR, OneClassSVM
from mokume.sklearn._search import GridSearchCV, RandomizedSearchCV
from mokume.sklearn._svc import SVC
from mokume.sklearn._svr import SVR

__all__ = [
    "SVC",
    "SVR",
    "GridSearchCV",
    "MLPClassifier",
    "MLPRegressor",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "RandomizedSearchCV",
]

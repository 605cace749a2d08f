"""Tests that GridSearchCV gives what scikit-learn's gives, in one run of the program."""

import numpy as np
import pytest
import sklearn.model_selection
import sklearn.svm
from sklearn.model_selection import KFold, ShuffleSplit

from mokume.sklearn import SVC, GridSearchCV, MLPClassifier


@pytest.mark.parametrize(
    "grid, cv",
    [
        ({"C": [0.1, 1, 10], "gamma": ["scale", 0.1]}, 3),
        ({"C": [1, 100]}, KFold(4, shuffle=True, random_state=1)),
        ([{"kernel": ["linear"], "C": [0.01, 1]}, {"kernel": ["rbf"], "gamma": [0.01, 0.05]}], None),
    ],
)
def test_equals_scikit_learn(digits, grid, cv):
    X, y = digits
    mine = GridSearchCV(SVC(devices="host"), grid, cv=cv).fit(X[:400], y[:400])
    other = sklearn.model_selection.GridSearchCV(sklearn.svm.SVC(), grid, cv=cv).fit(X[:400], y[:400])
    assert set(other.cv_results_) == set(mine.cv_results_)
    assert mine.cv_results_["params"] == other.cv_results_["params"]
    for k in range(other.n_splits_):
        name = f"split{k}_test_score"
        np.testing.assert_allclose(mine.cv_results_[name], other.cv_results_[name], atol=0.0101)  # one row of 100
    assert mine.n_splits_ == other.n_splits_
    assert mine.best_params_ == other.best_params_
    assert mine.best_index_ == other.best_index_
    assert mine.best_estimator_.C == mine.best_params_.get("C", 1.0)
    assert np.sum(mine.predict(X[400:]) != other.predict(X[400:])) <= 1
    np.testing.assert_array_equal(mine.classes_, other.classes_)


def test_equal_candidates_share_a_rank(digits):
    X, y = digits
    found = GridSearchCV(SVC(devices="host"), {"C": [1e5, 1e6, 1e-9]}, cv=2, refit=False).fit(X, y).cv_results_
    assert list(found["rank_test_score"]) == [1, 1, 3]


def test_refuses_what_the_program_lacks(digits):
    with pytest.raises(ValueError, match="scoring='f1_macro'"):
        GridSearchCV(SVC(), {"C": [1]}, scoring="f1_macro").fit(*digits)
    with pytest.raises(ValueError, match="validates rows more than once"):
        GridSearchCV(SVC(), {"C": [1]}, cv=ShuffleSplit(3)).fit(*digits)
    with pytest.raises(ValueError, match="mokume.sklearn.SVC"):
        GridSearchCV(MLPClassifier(), {"alpha": [1]}).fit(*digits)
    with pytest.raises(ValueError, match="kernel='precomputed'"):
        GridSearchCV(SVC(), {"kernel": ["rbf", "precomputed"]}).fit(*digits)

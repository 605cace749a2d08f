"""Compares searches, and holds the sentences that name their roads."""

import numpy as np

SHARED = "one run of the program fits all"
APART = "one for each fold and setting of the transformers"
ELSEWHERE = "scikit-learn's search fits each candidate"


def assert_same_search(mine, other, tolerance):
    """Compares two searches that use the same folds."""
    assert set(other.cv_results_) == set(mine.cv_results_)
    assert mine.cv_results_["params"] == other.cv_results_["params"]
    for k in range(other.n_splits_):
        name = f"split{k}_test_score"
        np.testing.assert_allclose(mine.cv_results_[name], other.cv_results_[name], atol=tolerance)
    for name, column in other.cv_results_.items():
        assert mine.cv_results_[name].dtype == column.dtype if hasattr(column, "dtype") else True
    assert mine.n_splits_ == other.n_splits_
    assert mine.best_params_ == other.best_params_
    assert mine.best_index_ == other.best_index_

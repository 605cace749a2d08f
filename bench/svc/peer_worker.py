"""Fits SVCs with scikit-learn or oneDAL in a process of its own: peer_worker.py JOB.json writes the errors of all fits.

The time excludes the start of Python and its processes, and reading the data.
"""
import json
import sys
import time

import numpy as np
from joblib import Parallel, delayed


def errors_of(peer, x, y, fold_of, multiclass, tol, fit):
    """Returns the number of wrong predictions of one fit on the rows of its fold."""
    from sklearn.multiclass import OneVsRestClassifier
    c, gamma, fold = fit
    svc = svc_of(peer)[0](C=c, gamma=gamma, tol=tol)
    model = OneVsRestClassifier(svc) if multiclass == "ovr" and len(np.unique(y)) > 2 else svc
    train, test = fold_of != fold, fold_of == fold
    return int((model.fit(x[train], y[train]).predict(x[test]) != y[test]).sum())


def started(peer):
    """Lets a process load its libraries before the clock starts."""
    svc_of(peer)[0](C=1.0).fit(np.eye(4), np.array([0, 1, 0, 1]))
    time.sleep(0.3)


def svc_of(peer):
    """Returns the class and the type of numbers."""
    if peer == "scikit-learn":
        from sklearn.svm import SVC
        return SVC, np.float64
    from sklearnex.svm import SVC
    return SVC, np.float32 if peer == "oneDAL fp32" else np.float64


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    kind = svc_of(job["peer"])[1]
    x, y, fold_of = (np.load(f"{job['folder']}/{name}.npy") for name in ("x", "y", "folds"))
    x = x.astype(kind)
    with Parallel(n_jobs=job["processes"]) as pool:
        pool(delayed(started)(job["peer"]) for _ in range(4 * job["processes"]))
        start = time.perf_counter()
        errors = pool(delayed(errors_of)(job["peer"], x, y, fold_of, job["multiclass"], job["tol"], fit)
                      for fit in job["fits"])
        seconds = time.perf_counter() - start
    with open(job["out"], "w") as file:
        json.dump({"errors": errors, "seconds": seconds}, file)


if __name__ == "__main__":
    main()

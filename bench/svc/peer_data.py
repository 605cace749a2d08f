"""Makes the data sets of peers.py: real digits, generated clusters, and a sparse set of two classes.

Every set becomes a Work: arrays and LIBSVM files on disk, with the fold of every row, which all programs share.
"""
import dataclasses
import pathlib
import sys

import numpy as np
import scipy.sparse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/peers"))
import svc_grid_sklearn  # noqa: E402

MEAN, SCALE = 127.5, 73.61  # values of the published grid


@dataclasses.dataclass
class Work:
    """Holds one data set on disk, cut into folds."""
    name: str
    folder: pathlib.Path
    rows: int
    features: int
    classes: int
    folds: int
    origin: str

    def rows_of(self, fold):
        """Returns the rows that train and those that validate a fold."""
        of = np.load(self.folder / "folds.npy")
        return np.flatnonzero(of != fold), np.flatnonzero(of == fold)

    def text(self, what):
        """Returns the LIBSVM file of all rows ("all"), or of a fold's rows ("train-0", "test-0")."""
        path = self.folder / f"{what}.libsvm"
        if not path.exists():
            x, y = np.load(self.folder / "x.npy"), np.load(self.folder / "y.npy")
            rows = np.arange(self.rows)
            if what != "all":
                kind, fold = what.split("-")
                rows = self.rows_of(int(fold))[kind == "test"]
            write_libsvm(path, x[rows], y[rows])
        return path


def write_libsvm(path, x, y):
    """Writes rows with nine digits, which read back as the same float32 numbers.

    The first row names the last feature even if it is 0, so that all files have the same number of features.
    """
    sparse = scipy.sparse.csr_matrix(x)
    names = [f"{k + 1}:" for k in range(x.shape[1])]
    with open(path, "w") as file:
        for k, label in enumerate(y):
            part = slice(sparse.indptr[k], sparse.indptr[k + 1])
            cells = [f"{names[j]}{v:.9g}" for j, v in zip(sparse.indices[part], sparse.data[part].tolist())]
            if k == 0 and x[0, -1] == 0:
                cells.append(f"{names[-1]}0")
            file.write(f"{label} {' '.join(cells)}\n")


def store(name, folder, x, y, folds, origin):
    """Writes a data set, cut into folds of consecutive rows as scikit-learn's KFold cuts them."""
    place = pathlib.Path(folder) / name.replace(" ", "-")
    place.mkdir(parents=True)
    fold_of = np.concatenate([np.full(len(part), k) for k, part in enumerate(np.array_split(np.arange(len(y)), folds))])
    np.save(place / "x.npy", np.ascontiguousarray(x, np.float32))
    np.save(place / "y.npy", np.asarray(y, np.int64))
    np.save(place / "folds.npy", fold_of.astype(np.int64))
    return Work(name, place, len(y), x.shape[1], len(set(np.asarray(y).tolist())), folds, origin)


def digits(folder, mnist, rows, folds=5):
    x, y = svc_grid_sklearn.load(str(mnist), rows)
    return store(f"mnist {rows}", folder, x.astype(np.float32), y, folds, "the first training images of MNIST")


def clusters(folder, rows, features, folds, seed):
    """Makes the set of arXiv 2606.06742: five normal clusters for each of two classes, with standardized columns.

    The centres of a class are moved by 2 in one half of the features, and the noise has a deviation of 3. Also returns
    the gamma of the kernel exp(-gamma * d^2), which the paper estimates from distances of random pairs.
    """
    draw = np.random.default_rng(seed)
    centres = draw.standard_normal((10, features))
    centres[:5, :features // 2] += 2
    centres[5:, features // 2:] += 2
    y = draw.integers(0, 2, rows)
    x = 3 * draw.standard_normal((rows, features)) + centres[draw.integers(0, 5, rows) + 5 * y]
    x = ((x - x.mean(0)) / x.std(0, ddof=1)).astype(np.float32)
    pairs = draw.integers(0, rows, (2, rows // 2))
    distances = ((x[pairs[0]].astype(float) - x[pairs[1]]) ** 2).sum(1)
    gamma = 2 * float(np.mean(1 / np.quantile(distances[distances > 0], [0.9, 0.1])))
    return store(f"clusters {rows}", folder, x, y, folds, f"made, seed {seed}"), gamma


def adult(folder, path, rows=32561, folds=5):
    """Returns a9a from a LIBSVM file or, without one, a generated set of the same shape and density."""
    if path:
        lines = [line.split() for line in pathlib.Path(path).read_text().splitlines() if line.strip()][:rows]
        x = np.zeros((len(lines), 123), np.float32)
        for k, line in enumerate(lines):
            for cell in line[1:]:
                index, value = cell.split(":")
                x[k, int(index) - 1] = float(value)
        y = [int(float(line[0]) > 0) for line in lines]
        return store("a9a", folder, x, y, folds, "a9a of LIBSVM's data page")
    draw = np.random.default_rng(7)
    groups = np.array_split(np.arange(123), 14)  # one of the features of each group is 1, as in a9a
    x = np.zeros((rows, 123), np.float32)
    for group in groups:
        x[np.arange(rows), group[0] + (len(group) * draw.random(rows) ** 2).astype(int)] = 1
    score = x @ draw.standard_normal(123) + 1.5 * draw.standard_normal(rows)
    y = score > np.quantile(score, 0.76)
    return store("a9a-like", folder, x, y, folds, "made: the shape and density of a9a, which was not at hand")

#!/usr/bin/env python3
"""Compares predictions of exported models with ONNX Runtime's: the same 1,000 rows, by mokume and from the ONNX file.

    python3 bench/peers/onnx_runtime.py [--mokume build/release/bin/mokume] [--rows 1000] [--out FILE]

Trains networks and support vector machines on the built-in data in a temporary directory, exports them, and writes the
rows as mokume's CSV. Prints, for each model, how many labels agree and the largest difference of a score, absolute and
relative to the largest score. Then imports each network, which must predict the same rows with the same scores up to
1e-5 of the largest score. Fails if a model has fewer than 99.9 % of equal labels, or if an imported network differs.
Needs onnx and onnxruntime.
"""
import argparse
import csv
import glob
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime

IMAGES = """{ type = "conv2d", out_channels = 8, kernel_size = 5, padding = 2 }, { type = "relu" },
  { type = "max_pool2d", kernel_size = 2 }, { type = "conv2d", out_channels = 12, kernel_size = 3, stride = 2 },
  { type = "relu" }, { type = "adaptive_avg_pool2d", output_size = 4 }, { type = "dropout", p = 0.2 }, { type = "flatten" },
  { type = "linear", out_features = 10 }, { type = "log_softmax" }"""
WINDOWS = """{ type = "conv2d", out_channels = 4, kernel_size = 4, kernel_width = 3, same = true }, { type = "relu" },
  { type = "conv2d", out_channels = 8, kernel_size = 3, groups = 4, dilation = 2, padding = 2, padding_width = 1 },
  { type = "conv_transpose2d", out_channels = 4, kernel_size = 3, stride = 2, padding = 1, output_padding = 1, groups = 2 },
  { type = "relu" }, { type = "max_pool2d", kernel_size = 3, stride = 2, ceil_mode = true },
  { type = "avg_pool2d", kernel_size = 3, kernel_width = 2, padding = 1, padding_width = 0, count_include_pad = false },
  { type = "avg_pool2d", kernel_size = 2, ceil_mode = true, padding = 1 },
  { type = "flatten" }, { type = "linear", out_features = 10 }"""
ROWS = """{ type = "normalise", per_feature = true }, { type = "flatten" }, { type = "linear", out_features = 60 },
  { type = "relu" }, { type = "linear", out_features = 10, bias = false }"""
NUMBERS = """{ type = "normalise", per_feature = true }, { type = "linear", out_features = 30 }, { type = "relu" },
  { type = "linear", out_features = 1 }"""
CURVES = """{ type = "conv2d", out_channels = 8, kernel_size = 5, stride = 2 }, { type = "leaky_relu", negative_slope = 0.2 },
  { type = "conv2d", out_channels = 8, kernel_size = 3, stride = 2 }, { type = "gelu" }, { type = "flatten" },
  { type = "linear", out_features = 40 }, { type = "gelu", approximate = "tanh" }, { type = "linear", out_features = 30 },
  { type = "silu" }, { type = "linear", out_features = 30 }, { type = "tanh" }, { type = "linear", out_features = 30 },
  { type = "sigmoid" }, { type = "linear", out_features = 10 }"""
PADDED = """{ type = "conv2d", out_channels = 6, kernel_size = 3, padding = 1, padding_mode = "reflect" }, { type = "relu" },
  { type = "conv2d", out_channels = 6, kernel_size = 5, stride = 2, padding = 2, padding_mode = "circular" },
  { type = "softmax" }, { type = "conv2d", out_channels = 6, kernel_size = 3, padding = 2, padding_mode = "replicate" },
  { type = "adaptive_max_pool2d", output_size = 5 }, { type = "relu" }, { type = "adaptive_max_pool2d", output_size = 1 },
  { type = "flatten" }, { type = "linear", out_features = 10 }, { type = "softmax" }"""
EXCITED = """{ type = "conv2d", out_channels = 8, kernel_size = 3, stride = 2 }, { name = "x", type = "hard_swish" },
  { type = "adaptive_avg_pool2d" }, { type = "flatten" }, { type = "linear", out_features = 8 },
  { name = "gate", type = "hard_sigmoid" }, { type = "multiply", inputs = ["x", "gate"] },
  { type = "channel_shuffle", groups = 4 }, { type = "flatten" }, { type = "linear", out_features = 10 }"""
LOCAL = """{ type = "conv2d", out_channels = 8, kernel_size = 5, stride = 2 }, { type = "relu" },
  { type = "lrn", size = 5, alpha = 0.5 }, { type = "max_pool2d", kernel_size = 2 },
  { type = "lrn", size = 3, alpha = 1.0, beta = 0.5, k = 2.0 }, { type = "flatten" }, { type = "linear", out_features = 10 }"""
CODES = """{ type = "embedding", vocabulary = 7, size = 3, first = 1, columns = 2 }, { type = "batch_norm" },
  { type = "linear", out_features = 16 }, { type = "relu" }, { type = "linear", out_features = 3 }"""
RESIDUAL = """{ name = "stem", type = "conv2d", out_channels = 8, kernel_size = 3, stride = 2, padding = 1, bias = false },
  { type = "batch_norm" }, { name = "one", type = "relu" },
  { type = "conv2d", out_channels = 8, kernel_size = 3, padding = 1, bias = false }, { type = "batch_norm" }, { type = "relu" },
  { type = "conv2d", out_channels = 8, kernel_size = 3, padding = 1, bias = false }, { name = "a", type = "batch_norm" },
  { type = "add", inputs = ["a", "one"] }, { name = "two", type = "relu" },
  { type = "conv2d", out_channels = 16, kernel_size = 3, stride = 2, padding = 1, bias = false }, { type = "batch_norm" },
  { type = "relu" }, { type = "conv2d", out_channels = 16, kernel_size = 3, padding = 1, bias = false },
  { name = "b", type = "batch_norm" },
  { type = "conv2d", out_channels = 16, kernel_size = 1, stride = 2, bias = false, inputs = ["two"] },
  { name = "skip", type = "batch_norm" }, { type = "add", inputs = ["b", "skip"] }, { name = "three", type = "relu" },
  { type = "conv2d", out_channels = 32, kernel_size = 3, stride = 2, padding = 1, bias = false }, { type = "batch_norm" },
  { type = "relu" }, { type = "conv2d", out_channels = 32, kernel_size = 3, padding = 1, bias = false },
  { name = "c", type = "batch_norm" },
  { type = "conv2d", out_channels = 32, kernel_size = 1, stride = 2, bias = false, inputs = ["three"] },
  { name = "side", type = "batch_norm" }, { type = "add", inputs = ["c", "side"] }, { type = "relu" },
  { type = "adaptive_avg_pool2d" }, { type = "flatten" }, { type = "linear", out_features = 10 }"""
NORMS = """{ type = "normalise", mean = 0.1, std = 1.5 }, { name = "a", type = "conv2d", out_channels = 6, kernel_size = 5, stride = 2 },
  { type = "group_norm", num_groups = 3 }, { type = "gelu" },
  { name = "b", type = "conv2d", out_channels = 4, kernel_size = 3, padding = 1 }, { name = "n", type = "layer_norm" },
  { type = "concat", inputs = ["a", "n"] }, { type = "adaptive_avg_pool2d", output_size = 5 }, { type = "silu" },
  { type = "flatten" }, { type = "linear", out_features = 20, bias = false }, { type = "layer_norm" },
  { type = "linear", out_features = 12 }, { type = "batch_norm" }, { type = "relu" },
  { type = "normalise", mean = 0.5, std = 0.7 }, { type = "linear", out_features = 10 }, { type = "log_softmax" }"""
FIXED = 'limit = 1000, standardize = { mean = 127.5, scale = 73.61 }'
FEATURES = 'limit = 1000, standardize = "features"'


def network(layers):
    return f'model = "cnn"\n[model_options]\nepochs = 2\nbatch_size = 25\nlayers = [{layers}]\n'


def machine(**options):
    values = {"multiclass": "ovr", "kernel": "rbf", "C": 10, "gamma": 0.002, **options}
    return 'model = "svc"\n[model_options]\n' + "".join(f"{k} = {json.dumps(v)}\n" for k, v in values.items())


# Each model has a name, a source, its options and settings. write_tables() creates the tables.
MODELS = [
    ("cnn images", "digits", FIXED, network(IMAGES)),
    ("cnn windows", "digits", FIXED, network(WINDOWS)),
    ("cnn padded", "digits", FIXED, network(PADDED)),
    ("cnn excited", "digits", FIXED, network(EXCITED)),
    ("cnn lrn", "digits", FIXED, network(LOCAL)),
    ("cnn embedding", "codes", "limit = 1000", network(CODES)),
    ("cnn activations", "digits", FIXED, network(CURVES)),
    ("cnn rows", "digits", 'limit = 1000', network(ROWS)),
    ("cnn residual", "digits", FIXED, network(RESIDUAL)),
    ("cnn norms", "digits", FIXED, network(NORMS)),
    ("cnn features", "digits", FEATURES, network(IMAGES)),
    ("cnn regression", "curve", 'standardize = "features"', network(NUMBERS)),
    ("svc one-vs-rest", "digits", FIXED, machine()),
    ("svc one-vs-one", "digits", FEATURES, machine(multiclass="ovo", gamma=0.001)),
    ("svc linear", "digits", FIXED, machine(kernel="linear", multiclass="ovo", C=0.01)),
    ("svc polynomial", "digits", FIXED, machine(kernel="polynomial", coef0=1.0)),
    ("svc sigmoid", "digits", FIXED, machine(kernel="sigmoid", gamma=0.0005)),
    ("svc regression", "curve", 'standardize = "features"', machine(gamma=0.1, epsilon=0.05)),
    ("svc two classes", "pair", 'standardize = "features"', machine(gamma=0.1)),
]


TABLES = {"pair": 2, "curve": 2, "codes": 3}  # the number of columns with features


def write_tables(place, rows):
    """Writes two noisy crescents that overlap a little, numbers on a bent surface, and classes of pairs of codes."""
    random = numpy.random.default_rng(1)
    label = random.integers(0, 2, rows)
    angle = random.uniform(0, numpy.pi, rows)
    x = numpy.where(label == 0, numpy.cos(angle), 1 - numpy.cos(angle)) + random.normal(0, 0.25, rows)
    y = numpy.where(label == 0, numpy.sin(angle), 0.5 - numpy.sin(angle)) + random.normal(0, 0.25, rows)
    number = 40 + 3 * x * y + random.normal(0, 0.1, rows)
    for name, target in ("pair", ["yes" if k else "no" for k in label]), ("curve", [f"{n:.6g}" for n in number]):
        lines = [f"{a:.6g},{b:.6g},{t}" for a, b, t in zip(x, y, target)]
        (place / f"{name}.csv").write_text("x,y,target\n" + "\n".join(lines) + "\n")
    shop, product = random.integers(0, 7, rows), random.integers(0, 7, rows)
    lines = [f"{a:.6g},{s},{p},c{(3 * s + 5 * p) % 7 % 3}" for a, s, p in zip(x, shop, product)]
    (place / "codes.csv").write_text("x,shop,product,target\n" + "\n".join(lines) + "\n")


def table(text):
    rows = list(csv.reader(io.StringIO(text)))
    return {name: [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}


class Bench:
    def __init__(self, program, place):
        self.program, self.place = program, place

    def mokume(self, *arguments):
        done = subprocess.run([self.program, *arguments], cwd=self.place, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"mokume {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def compare(self, name, source, data, model):
        made = source in TABLES
        text = f'source = "csv", path = "./{source}.csv", ' if made else f'source = "{source}", '
        title = name.replace(" ", "-")
        (self.place / "e.toml").write_text(
            f'name = "{title}"\nseed = 1\ndevices.use = "host"\nvalidation.folds = 0\ndata = {{ {text}{data} }}\n{model}')
        self.mokume("run", "e.toml")
        run = glob.glob(str(self.place / "runs" / title / "*"))[0]
        self.mokume("export", run, "--onnx", f"{title}.onnx")
        path = str(self.place / f"{title}.onnx")
        onnx.checker.check_model(path, full_check=True)
        if made:
            rows = numpy.loadtxt(self.place / f"{source}.csv", numpy.float32, delimiter=",", skiprows=1,
                                 usecols=range(TABLES[source]))
        else:
            rows = numpy.load(self.place / f"{source}.npy")
        spec = f"csv:./{source}.csv" if made else f"libsvm:./{source}.libsvm"
        said = table(self.mokume("predict", run, "--devices", "host", "--data", spec))
        names = list(said)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        given = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"rows": rows})))
        scores = next(given[key] for key in ("probabilities", "decisions", "predicted") if key in given)
        first = "predicted" if "predicted" in given else next(n for n in names if n.startswith(("prob", "decision")))
        columns = names[names.index(first):][: scores.shape[1]]
        own = numpy.array([[float(v) for v in said[c]] for c in columns]).T
        off = float(numpy.abs(own - scores).max())
        equal = sum(a == b for a, b in zip(said["predicted"], given["label"])) if "label" in given else None
        result = {"model": name, "rows": len(rows), "equal_labels": equal, "largest_difference": off,
                  "relative": off / float(numpy.abs(own).max())}
        if name.startswith("cnn") and source != "codes":  # an import reads no embeddings
            again = self.imported(title, text, spec)
            other = numpy.array([[float(v) for v in again[c]] for c in columns]).T
            result["imported"] = float(numpy.abs(own - other).max()) / max(1, float(numpy.abs(own).max()))
        return result

    def imported(self, title, source, spec):
        """Returns the predictions of TITLE.onnx's network, imported and run without training."""
        folder = self.place / f"{title}-again"
        self.mokume("import", f"{title}.onnx", "--out", folder.name)
        text = (folder / "model.toml").read_text()
        scaling = re.search(r"^standardize = .*?\}", text, re.M)
        data = f"data = {{ {source}limit = 1000{', ' + scaling[0] if scaling else ''} }}\n"
        text = re.sub(r"^\[data\]\n(.+\n)*", "", text, flags=re.M)
        (self.place / "again.toml").write_text(f'devices.use = "host"\n{data}' + text.replace(f'name = "{title}"', f'name = "{folder.name}"'))
        self.mokume("run", "again.toml")
        run = glob.glob(str(self.place / "runs" / folder.name / "*"))[0]
        return table(self.mokume("predict", run, "--devices", "host", "--data", spec))


def write_digits(place, rows):
    """Writes images of blurred blocks, as LIBSVM text for mokume and as an array."""
    random = numpy.random.default_rng(2)
    x = numpy.zeros((rows, 28, 28), numpy.float32)
    for k in range(rows):
        for _ in range(random.integers(3, 8)):
            row, column, down, right = *random.integers(3, 22, 2), *random.integers(1, 5, 2)
            x[k, row:row + down, column:column + right] = random.integers(80, 256)
    x = numpy.floor((x + numpy.roll(x, 1, 1) + numpy.roll(x, 1, 2)) / 3).reshape(rows, -1)
    numpy.save(place / "digits.npy", x)
    lines = ["0 " + " ".join(f"{k + 1}:{v:g}" for k, v in enumerate(row) if v != 0) for row in x]
    (place / "digits.libsvm").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mokume", default="build/release/bin/mokume")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--out")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(str(pathlib.Path(options.mokume).resolve()), pathlib.Path(directory))
        write_tables(bench.place, options.rows)
        write_digits(bench.place, options.rows)
        for one in MODELS:
            result = bench.compare(*one)
            results.append(result)
            labels = "" if result["equal_labels"] is None else f"{result['equal_labels']} of {result['rows']} labels equal, "
            print(f"{result['model']:18}{labels}largest difference {result['largest_difference']:.2e} "
                  f"({result['relative']:.1e} of the largest score)"
                  + (f", imported {result['imported']:.2e}" if "imported" in result else ""), flush=True)
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps({"onnxruntime": onnxruntime.__version__, "models": results}, indent=1))
    same = all(r["equal_labels"] is None or r["equal_labels"] >= 0.999 * r["rows"] for r in results)
    return 0 if same and all(r.get("imported", 0) < 1e-5 for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())

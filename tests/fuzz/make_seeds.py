#!/usr/bin/env python3
"""Writes the seeds that tests/fuzz starts from (seeds/TARGET/NAME), and the words that mutations insert (words.dict).

The seeds come from files of this tree (runs of earlier versions, golden experiments) and from the formats' own rules.
This script leaves seeds with other names alone: inputs that once found a fault, or that bench/fuzz/run kept.
"""
import gzip
import hashlib
import json
import os
import pathlib
import re
import struct
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
RUN = os.path.join(TESTS, "cli/earlier_runs/finished-bagging")
CUT = b"\n=====\n"


def read(path):
    with open(os.path.join(TESTS, path), "rb") as file:
        return file.read()


def seed(target, name, content):
    if isinstance(content, str):
        content = content.encode()
    directory = os.path.join(HERE, "seeds", target)
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, name), "wb") as file:
        file.write(content)


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def seal(text):
    text = text.rstrip("\n")
    return text[:-1] + ',"crc":"%08x"}\n' % zlib.crc32(text.encode())


# ---- experiments

def experiments():
    for name in ["full", "network"]:
        seed("toml", name, read(f"config/golden/{name}.toml"))
        seed("resolved", name, read(f"config/golden/{name}.resolved.toml"))
    for name in ["net", "other", "svc"]:
        seed("toml", f"starter-{name}", read(f"config/golden/starter-{name}.toml"))
    for name in ["finished-svc", "killed-bagging"]:
        seed("resolved", name, read(f"cli/earlier_runs/{name}/config.resolved.toml"))
    seed("toml", "csv", """name = "a"
model = "svc"
seed = "123456789012345678901234567890"
[data]
source = "csv"
path = "a.csv"
target = "y"
categorical = ["c", "d"]
missing = "mean"
standardize = "features"
within = "training"
[validation]
share = 0.2
[search]
method = "random"
candidates = 3
[search.params]
C = { log10_uniform = [-3, 6] }
degree = { int = [2, 4] }
coef0 = { uniform = [0, 1] }
kernel = ["rbf", "linear"]
[bagging]
bootstraps = 3
[devices]
use = ["host", "opencl:0"]
memory = "4 GiB"
""")
    for name, text in {"number": "seed=17", "path": "model_options.layers[0].type=dropout", "word": "data.source=mnist",
                       "list": "search.params.momentum=[0.5, 1e-3]", "table": "devices={ use = \"host\" }",
                       "text": "name=\"\\u00e9\"", "folds": "validation.folds=3"}.items():
        seed("set_argument", name, text)
    for name, text in {"name": "digits", "csv": "csv:a.csv,target=price,categorical=[town, street],missing=drop",
                       "idx": "idx:mnist,limit=500,standardize={ mean = 127.5, scale = 73.61 }",
                       "quoted": "csv:\"a,b.csv\",ignore='i'", "npy": "npy:x.npy,labels=y.npy,layout=nchw,test=own",
                       "images": "images:photos,size=32,channels=3", "standard-input": "-"}.items():
        seed("data_spec", name, text)


# ---- data files

def npy(kind, shape, values, version=1):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (kind, ", ".join(map(str, shape)))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(text)) + text.encode() + values


def png(width, height, kind, depth, rows, extra=b""):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(rows)) +
            chunk(b"IEND", b""))


def jpeg(coloured):
    """Returns a baseline JPEG of 8 x 8 equal pixels, with only the Huffman codes that it needs."""
    def segment(marker, data):
        return bytes([0xff, marker]) + struct.pack(">H", len(data) + 2) + data
    components = 3 if coloured else 1
    frame = struct.pack(">BHHB", 8, 8, 8, components) + b"".join(bytes([c + 1, 0x11, 0]) for c in range(components))
    # Each table has one code of one bit: DC category 0, or the end of the block.
    tables = b"".join(bytes([kind]) + bytes([1] + [0] * 15) + b"\x00" for kind in (0x00, 0x10))
    scan = bytes([components]) + b"".join(bytes([c + 1, 0]) for c in range(components)) + b"\x00\x3f\x00"
    exif = b"Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
    return (b"\xff\xd8" + segment(0xe0, b"JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00") + segment(0xe1, exif) +
            segment(0xdb, b"\x00" + bytes([1] * 64)) + segment(0xc0, frame) + segment(0xc4, tables) +
            segment(0xda, scan) + b"\x03" + b"\xff\xd9")


def data():
    table = "y,a,c,i,g\n1,0.5,red,id1,p\n0,1e-3,green,id2,p\n1,,red,id3,q\n0,-2,\"blue, dark\",id4,q\n"
    for name, options in {"gap": 8 | 16 | 32 | 64, "drop": 9 | 16 | 32 | 64, "mean": 10 | 16 | 32 | 64,
                          "copy": 9 | 4 | 16 | 32 | 64 | 128}.items():
        seed("csv", name, bytes([options]) + table.encode())
    seed("csv", "whole", bytes([8 | 16 | 32 | 64]) + table.replace(",,", ",7,").encode())
    seed("csv", "semicolons", b"\x01a;b;y\r\n1,5;2;cat\r\n3,25;4;dog\r\n\r\n")
    seed("csv", "tabs", b"\x00\xef\xbb\xbf1\t2\t3\n4\t5\t6\n")
    arff = "% c\n@relation r\n@attribute a numeric\n@attribute 'b c' {x, 'y z'}\n@attribute y {no,yes}\n@data\n"
    seed("csv", "arff", b"\x00" + (arff + "1,x,no\n2.5,'y z',yes\n?,x,no\n").encode())
    seed("csv", "blanks", b"\x00# c\n  a b   y\n1 2 cat\n3  4 dog\n")
    seed("csv", "compressed", b"\x00" + gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0))
    seed("libsvm_data", "plain", "+1 1:0.5 3:-2 # a comment\n-1 2:1e-3\n0 qid:3 1:1\n")
    seed("libsvm_data", "numbers", "1.5 1:1\n-2.25\n")
    seed("libsvm_data", "sparse", "1 1:0.5 70000:1e-60\n2\n1 3:0 16777216:-7\n")
    images = struct.pack(">IIII", 0x803, 2, 2, 3) + bytes(range(12))
    labels = struct.pack(">II", 0x801, 2) + bytes([7, 3])
    seed("idx", "both", images + CUT + labels)
    seed("idx", "compressed", gzip.compress(images, mtime=0) + CUT + gzip.compress(labels, mtime=0))
    seed("idx", "colours", struct.pack(">IIIII", 0x804, 1, 2, 1, 3) + bytes(6))
    seed("npy", "floats", npy("<f4", [2, 3], struct.pack("<6f", *range(6))))
    seed("npy", "empty", npy("<f4", [0, 3], b""))
    seed("npy_rows", "table", b"\x00" + npy("<f8", [2, 2], struct.pack("<4d", 1, 2, 3, 4)) + CUT +
         npy("<i8", [2], struct.pack("<2q", 0, 1)))
    seed("npy_rows", "pictures", b"\x01" + npy("|u1", [2, 2, 1, 3], bytes(range(12))) + CUT +
         npy("|b1", [2, 1], b"\x00\x01"))
    seed("npy_rows", "channels-first", b"\x02" + npy("<i2", [1, 3, 2, 2], struct.pack("<12h", *range(12))))
    seed("folds", "text", b"\x060\n1\n2\n2\n1\n0\n")
    seed("folds", "array", b"\x06" + npy("<i4", [6], struct.pack("<6i", 0, 1, 2, 2, 1, -1)))
    seed("folds", "too-large", b"\x01" + npy("<u8", [1], b"\xff" * 8))
    seed("gzip", "compressed", gzip.compress(b"text\n" * 20, mtime=0))
    seed("gzip", "plain", "\ufefftext\n")
    seed("picture", "grey", png(3, 2, 0, 8, b"\x00\x00\x80\xff\x01\x10\x20\x30"))
    seed("picture", "colours", png(2, 2, 2, 8, b"\x00" + bytes(6) + b"\x02" + bytes([200] * 6)))
    seed("picture", "transparent", png(1, 1, 6, 8, b"\x00\xff\x00\x00\x80"))
    seed("picture", "deep", png(2, 1, 4, 16, b"\x00" + bytes([1, 2, 3, 4] * 2)))
    palette = b"\x00\x00\x00\x06PLTE\x00\x00\x00\xff\xff\xff"
    palette += struct.pack(">I", zlib.crc32(palette[4:]))
    seed("picture", "palette", png(9, 1, 3, 1, b"\x00\xaa\x80", palette))
    seed("picture", "jpeg-grey", jpeg(False))
    seed("picture", "jpeg-colours", jpeg(True))
    values = struct.pack("<8f", *range(8))
    about = {"shape": {"height": 2, "width": 2, "channels": 1}, "rows": 2, "changed": 1}
    digest = hashlib.sha256(compact(about).encode() + values).hexdigest()
    seed("picture_cache", "two", compact({"pictures": about, "sha256": digest}).encode() + b"\n" + values)


# ---- the journal and sealed texts

def journal_line(fit, **more):
    record = {"fit": fit, "candidate": fit // 10, "bootstrap": fit // 5 % 2, "fold": fit % 5, "status": "ok", "n": 100,
              "values": [25, 0.25], "note": "steps=3", "device": "host:0", "class": "host / cpu", "bundle": fit // 4,
              "attempt": 1, "start": 1e9 + fit, "end": 1e9 + fit + 0.5}
    record.update(more)
    return seal(compact(record))


def journals():
    head = seal(compact({"mokume_journal": 2, "plan_hash": "0123456789abcdef", "node": 0}))
    other = seal(compact({"mokume_journal": 2, "plan_hash": "0123456789abcdef", "node": 1}))
    start = seal(compact({"event": "start", "time": 1e9, "reason": ""}))
    stop = seal(compact({"event": "stop", "time": 1e9 + 99, "reason": "done"}))
    event = {"time": 1e9 + 3, "node": 0, "device": "host:0", "fit": 3, "attempt": 1, "text": "it broke"}
    failed = seal(compact({"event": "failed", **event}))
    superseded = seal(compact({"event": "superseded", **event}))
    refit = seal(compact({"fit": 200, "refit": 3, "status": "ok", "n": 4, "values": [1], "note": "", "device": "host:0",
                          "bundle": 50, "attempt": 1, "start": 1e9 + 90, "end": 1e9 + 91, "confusion": [2, 0, 1, 1],
                          "measures": {"f1": 0.73}}))
    curves = journal_line(7, curves={"train_loss": [0.5, "nan", 0.25], "train_accuracy": [0.5, 0.75, 1]})
    whole = head + start + journal_line(0) + curves + refit + stop
    seed("journal", "whole", whole)
    seed("journal", "two-nodes", head + start + journal_line(3) + failed + superseded + CUT.decode() + other +
         journal_line(3, values=[30, 0.3]) + journal_line(4, status="failed", values=[], note="it broke"))
    seed("journal", "torn", whole + '{"fit":9,')
    seed("journal_reopened", "whole", whole)
    seed("journal_reopened", "torn", whole + '{"fit":9,')
    seed("sealed", "object", seal(compact({"a": 1})))
    seed("sealed", "plain", compact({"a": 1}))
    digest = hashlib.sha256(b"content\n").hexdigest()
    seed("sums", "right", f"{digest}  a\n" + CUT.decode() + "content\n")
    seed("sums", "wrong", f"{digest}  a\n{digest}  b\n" + CUT.decode() + "other\n")


# ---- messages

def messages():
    device = {"id": "host:0", "backend": "host", "name": "CPU", "vendor": "V", "class": "host / cpu", "budget": 1000,
              "speed": 1.5, "spare": False}
    attempt = {"bundle": 0, "number": 1, "fits": [0, 1], "done": [], "notes": [], "backup": False}
    record = {"fit": 0, "status": "ok", "n": 100, "values": [25, 0.25], "note": "", "device": "host:0", "bundle": 0,
              "attempt": 1, "start": 1.0, "end": 2.0}
    members = [{"node": 0, "device": 0, "speed": 1.0}, {"node": 1, "device": 0, "speed": 2.0}]
    view = {"host": "h boot", "cores": [0, 1], "devices": [{"id": "host:0", "physical_id": "", "on_cores": True}]}
    kinds = [
        {"type": "PRESENT", "version": "0.1.0", "view": view},
        {"type": "ASSIGN", "share": {"cores": [0], "devices": ["host:0"], "sharers": 1, "devices_of_run": 2}},
        {"type": "HELLO", "version": "0.1.0", "plan_hash": "ab", "devices": [device], "choices": {"c": {"gemm": "tile"}}},
        {"type": "LOOK", "directory": "runs/a", "mark": "m"},
        {"type": "SEEN", "seen": True, "host": "h", "file_system": "ext4", "sync_s": 0.001},
        {"type": "WELCOME", "run_directory": "runs/a", "plan_hash": "ab", "choices": {}, "profile": False},
        {"type": "REQUEST", "device": 0},
        {"type": "GRANT", "lease": 1, "device": 0, "attempt": attempt},
        {"type": "GRANT", "lease": 1, "device": 0, "attempt": {**attempt, "fits": [7], "refit": 3}},
        {"type": "NONE", "device": 0},
        {"type": "DONE", "lease": 1, "records": [record, {**record, "fit": 1}]},
        {"type": "END", "lease": 1, "status": 0, "text": "", "seconds": 1.5, "coming": []},
        {"type": "HEARTBEAT", "states": [{"device": 0, "lease": 1, "what": "w", "share": 0.5, "quiet": 0.1}]},
        {"type": "ACK", "cancel": [1]},
        {"type": "STOP", "code": 4, "reason": "on request"},
        {"type": "FINISH"},
        {"type": "BYE"},
        {"type": "LOAD", "config": "name = \"a\"\n"},
        {"type": "OPEN", "id": "host:0", "class": "host / cpu", "budget": 1000, "choices": {}, "measure": True},
        {"type": "ACCOUNT", "choices": {}, "fallbacks": {"gemm": 2}, "profile": [
            {"phase": "forward", "what": "gemm", "calls": 1, "seconds": 0.5, "flops": 1.0, "bytes": 2.0}]},
        {"type": "TEAM_START", "start": 1, "members": members, "attempt": attempt},
        {"type": "TEAM_BREAK", "start": 1, "why": "a member was lost"},
        {"type": "TEAM_END", "start": 1, "member": 1, "status": 0, "text": ""},
        {"type": "TEAM_JOIN", "member": 1, "speeds": [1.0, 2.0], "splits": "a"},
        {"type": "TEAM_TAKE", "count": 3},
        {"type": "TEAM_PROGRESS", "elapsed": 1.0, "busy": [0.5, 0.5], "units": [1.0, 2.0], "shares": "4,4", "at": "e0"},
    ]
    texts = [compact(kind).encode() for kind in kinds]

    def with_floats(message, floats):
        text = compact(message)
        text += " " * (-(len(text) + 1) % 4) + "\n"
        return text.encode() + struct.pack(f"<{len(floats)}f", *floats)

    def contribution(member, blocks):
        return with_floats({"type": "TEAM_CONTRIBUTION", "start": 1, "member": member, "number": 0, "count": 2,
                            "blocks": [{"first": first, "size": size, "values": 2} for first, size in blocks]},
                           [0.5] * 2 * len(blocks))

    total = with_floats({"type": "TEAM_SUM", "start": 1, "number": 0, "sum": 2}, [1, 2])
    for kind, text in zip(kinds, texts):
        seed("message", kind["type"].lower().replace("_", "-"), text)
    seed("message", "team-sum", total)
    seed("message", "team-contribution", contribution(1, [(0, 1), (2, 2)]))
    seed("team_messages", "one-sum", CUT.join([contribution(1, [(0, 1)]), contribution(2, [(2, 2)]),
                                               contribution(0, [(1, 1)])]))
    seed("team_messages", "sum-and-break", CUT.join([total, texts[21]]))
    frames = b"".join(struct.pack("=I", len(text)) + text for text in [texts[17], texts[18], texts[8], total])
    seed("device_messages", "start", frames)
    seed("device_messages", "too-long", struct.pack("=I", 1 << 30) + b"{}")

    def said(node, text, pause=0):
        return bytes([node << 4 | pause]) + text

    request, done, end, beat = texts[6], texts[10], texts[11], texts[12]
    seed("cluster_messages", "lease", CUT.join([said(0, request), said(1, request), said(0, beat), said(0, done),
                                                said(0, end), said(0, request), said(2, request)]))
    seed("cluster_messages", "lost", CUT.join([said(1, request), said(0, beat, 15), said(0, beat, 15), said(0, beat, 15),
                                               said(1, done), said(1, beat), said(0, texts[14]), said(0, texts[16])]))
    seed("rendezvous", "near-and-far", "4711 " + "0123456789abcdef" * 4 + " name 127.0.0.1 fe80::1")


# ---- other files of runs, models and the cache

def run_files():
    def file(name):
        with open(os.path.join(RUN, name), "rb") as found:
            return found.read()
    record = json.loads(file("run.json"))
    seed("run_json", "earlier", file("run.json"))
    record["data"].update({"columns": [{"name": "c", "levels": ["a", "b"], "fill": 0.0, "mode": "a"}], "guess": 0.9,
                           "shape": {"height": 28, "width": 28, "channels": 1}, "class_names": list("0123456789")})
    record.update({"config_sha256": "0" * 64, "reused_from": "runs/b"})
    seed("run_json", "sealed", seal(json.dumps(record, indent=1)))
    seed("status", "earlier", file("logs/status.json"))
    seed("status", "idle", seal(file("logs/status.json").decode()))
    seed("bundles", "earlier", file("logs/pieces.json"))
    seed("bundles", "three", seal('{"bundles":' + file("logs/pieces.json").decode().strip() + "}"))
    exemplar = {"kind": "easy", "row": 7, "label": "b", "width": 2, "height": 1, "grey": [0, 255]}
    whole = json.loads(file("models/vote.json"))
    known = dict(whole["exemplars"][0])
    known.update({"width": exemplar["width"], "height": exemplar["height"], "grey": exemplar["grey"]})
    seed("vote", "numbers", seal(compact({"members": 2, "n": 3, "mse": 0.5})))
    whole.update({"doubt": whole["doubt"][:3], "exemplars": [known]})
    seed("vote", "classes", seal(compact(whole)))
    seed("vote", "confusion", seal(compact({"members": 2, "n": 4, "errors": 1, "classes": ["a", "b"],
                                            "confusion": [2, 0, 1, 1], "measures": {"f1": 0.7}, "doubt": [0.1, 0.2]})))
    seed("nested", "two", seal(compact({"folds": 2, "each": [
        {"fold": 1, "best": "C = 1", "validation": 0.1, "errors": 3, "n": 10},
        {"fold": 2, "best": "C = 2", "validation": 0.2, "errors": 0, "n": 10, "mse": 0.5}]})))
    seed("nested", "pooled", seal(compact({"folds": 2, "each": [
        {"fold": fold, "best": "C = 1", "validation": 0.1, "errors": 3, "n": 10,
         "confusion": [4, 0, 0, 1, 2, 0, 1, 1, 1], "measures": {"auc": 0.9, "f1": 0.7}} for fold in (1, 2)]})))
    seed("fit_rates", "two", compact({"key": {"class": 0.5, "other": 2.0}, "svc": {"host": 1e-9}}))
    seed("fit_rates", "overflow", '{"key":{"class":1e999}}')
    row = {"phase": "forward", "what": "gemm 1x2x3", "calls": 3, "seconds": 0.5, "flops": 12.0, "bytes": 44.0}
    seed("profile", "one", seal(json.dumps({"node": 0, "devices": [
        {"node": 0, "id": "host:0", "device": "host:0", "name": "CPU", "rows": [row]}]}, indent=1)))
    seed("curve", "three", seal(compact({"metric": "error", "points": [
        {"rows": 75, "mean": 0.2, "sd": 0.05}, {"rows": 150, "mean": 0.1, "sd": 0}, {"rows": 300, "mean": 0.05, "sd": 0.01}]})))
    seed("structure", "branch", seal(compact({"candidate": 2, "steps": [
        {"name": "", "kind": "input", "output": "4", "parameters": 0},
        {"name": "a", "kind": "linear", "output": "3", "parameters": 15, "inputs": [0]},
        {"name": "b", "kind": "add", "output": "3", "parameters": 0, "inputs": [1, 0]}]})))
    header = {"mokume_trace": 1, "version": "0.2.0", "plan_hash": "ab", "fit": 3, "device": "host:0",
              "class": "host / CPU", "numerics": "strict", "steps": 2, "complete": True}
    steps = "1 load: write of 16 bytes = 00ff\n2 step: gemm 1x2 2x1 -> 1x1 1x1 = 0a none\n"
    seed("trace", "two", compact(header) + "\n" + steps)
    seed("trace", "torn", compact(header) + "\n" + steps[:40])
    seed("inputs", "csv", seal(compact({
        "model": "svc", "source": "csv", "target": "y", "categorical": ["c"], "ignore": ["i"], "group": "g",
        "missing": "mean", "layout": "", "columns": [{"name": "c", "levels": ["a"], "fill": 0.5, "mode": "a"}]})))
    seed("inputs", "images", seal(compact({"model": "cnn", "source": "images", "missing": "error", "layout": "",
                                           "size": 28, "channels": 1,
                                           "shape": {"height": 28, "width": 28, "channels": 1}})))
    for kind in ["one_vs_one", "one_vs_rest"]:
        seed("calibration", kind, json.dumps({"decisions": kind, "sigmoids": [
            {"a": -1.5, "b": 0.25}, {"a": -2, "b": 0}, {"a": -0.5, "b": -1}]}, indent=1))
    seed("team_account", "two", seal(compact({"shares": [
        {"fit": 0, "member": m, "node": m, "device": "host:0", "name": "CPU", "busy_s": 1.0, "idle_s": 0.5,
         "reduce_s": 0.1, "elapsed_s": 1.6, "units": 4.0} for m in (0, 1)],
        "splits": [{"fit": 0, "at": "0", "shares": "4,4"}]})))
    seed("speed", "one", compact({"class": "host /  /  /  / ", "cores": 1, "gflops": 100.0, "gbytes": 10.0}))
    device = "device \nkind 1\nflags 3\nmemory_bytes 1024\nname CPU\nplatform P\nvendor V\nversion OpenCL 3.0\n"
    seed("platforms", "one", f"platform_name P\nplatform_version OpenCL 3.0\nproblem p\n{device}end \n")


# ---- models

def safetensors(tensors, metadata):
    header, at = {"__metadata__": metadata}, 0
    for name, (kind, shape, values) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(values)]}
        at += len(values)
    text = compact(header)
    text += " " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text.encode() + b"".join(values for _, _, values in tensors.values())


def models():
    svm = ("svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 3\nrho 0.25\nlabel 1 -1\nnr_sv 2 1\nSV\n"
           "0.5 1:0.5 2:1 \n0.25 2:-3 \n-0.75 1:1 \n")
    pairs = ("svm_type c_svc\nkernel_type polynomial\ndegree 3\ngamma 1\ncoef0 0\nnr_class 3\ntotal_sv 3\n"
             "rho 0.1 0.2 0.3\nlabel 0 1 2\nnr_sv 1 1 1\nSV\n0.5 0.5 1:1 \n-0.5 0.5 2:1 \n-0.5 -0.5 1:2 2:2 \n")
    seed("svc_file", "two-classes", b"\x01" + svm.encode())
    seed("svc_file", "three-classes", b"\x01" + pairs.encode())
    manifest = {"format": "mokume-svc", "version": 1, "multiclass": "ovo", "classes": ["a", "b", "c"],
                "labels": [0, 1, 2], "features": 2, "scaling": {"mean": [0.5], "scale": [2.0]}, "kernel": "rbf", "C": 1.0,
                "files": ["model.libsvm"]}
    seed("svc_model", "pairs", CUT.join([compact(manifest).encode(), pairs.encode()]))
    seed("svc_model", "infinite", CUT.join([compact(manifest).encode(), pairs.replace("0.5 0.5 1:1", "1e300 0.5 1:1e300").encode()]))
    manifest["multiclass"] = "ovr"
    seed("svc_model", "rest", CUT.join([compact(manifest).encode()] + [svm.encode()] * 3))
    manifest.update(version=2, approximation="nystrom", multiclass="ovo")
    seed("svc_model", "landmarks", CUT.join([compact(manifest).encode()] + [svm.encode()] * 3))
    for member in ["000", "001"]:
        directory = f"cli/earlier_runs/finished-bagging/models/member-{member}"
        seed("cnn_model", f"member-{member}", read(directory + "/manifest.json") + CUT + read(directory + "/model.safetensors"))
    tensors = {"l": ("I64", [1], struct.pack("<q", 5)), "w": ("F32", [2, 1], struct.pack("<2f", 1, 2)),
               "z": ("F32", [0, 3], b""), "i": ("I32", [], struct.pack("<i", 7))}
    seed("safetensors", "all-types", safetensors(tensors, {"a": "b"}))

    start = {"1.weight": ("F32", [2, 3], struct.pack("<6f", *range(6))), "1.bias": ("F32", [2], struct.pack("<2f", 1, 2)),
             "normalise.mean": ("F32", [3], struct.pack("<3f", 1, 2, 3)),
             "normalise.std": ("F32", [3], struct.pack("<3f", 1, 2, 3))}
    seed("cnn_start", "whole", safetensors(start, {"format": "pt"}))
    seed("cnn_start", "other-shape", safetensors({"1.weight": ("F32", [3, 2], struct.pack("<6f", *range(6)))}, {}))
    seed("cnn_start", "not-a-number", safetensors({"1.bias": ("F32", [2], struct.pack("<2f", 1, float("nan")))}, {}))
    for name in ["lenet", "resnet8", "mobile", "norms", "joined", "rows", "spelt", "spelt-norms", "softplus", "outside"]:
        seed("onnx", name, read(f"cli/imported/{name}.onnx"))

    def summed(content):
        zeros = content.index(b"mokume_crc32") + len('mokume_crc32":"')
        return content[:zeros] + b"%08x" % zlib.crc32(content) + content[zeros + 8:]

    position = {"epoch": 1, "batch": 2, "batch_size": 4, "train_loss": [0.5], "train_accuracy": [0.5],
                "validation_loss": [0.6], "validation_accuracy": [0.4]}
    state = {"results": ("F32", [4], struct.pack("<4f", 1, 0, 1, 0)), "weights": ("F32", [2], struct.pack("<2f", 1, 2))}

    def checkpoint(**wrong):
        metadata = {"fit": "fit", "mokume_crc32": "00000000", "position": compact({**position, **wrong})}
        return summed(safetensors(state, metadata))

    seed("safetensors", "checkpoint", checkpoint())
    seed("checkpoint", "whole", checkpoint())
    seed("checkpoint", "negative", checkpoint(epoch=-1, batch_size=-4))
    seed("checkpoint", "real", checkpoint(batch=1e300))
    seed("checkpoint", "other-epochs", checkpoint(epoch=3))

    solved = {"problem": 0, "c": 0.5, "steps": 9, "vectors": 2, "at_c": 1, "capped": False}
    running = {"problem": 1, "c": 2.0, "steps": 7, "status": 0, "best": 3, "need": -1, "steps_left": 0}

    def solves(up=0.25, **wrong):
        ends = struct.pack("<4f", -float("inf"), up, 0, 0)
        tensors = {"0.numbers": ("F32", [1], ends[8:12]), "0.values": ("F32", [2], ends[4:12]),
                   "1.a": ("F32", [2], ends[8:]), "1.f": ("F32", [2], ends[4:12]), "1.inner": ("F32", [0], b""),
                   "1.numbers": ("F32", [4], ends), "1.flags": ("I32", [1], struct.pack("<i", 3)),
                   "1.members": ("I32", [0], b"")}
        text = compact([solved, {**running, **wrong}])
        return summed(safetensors(tensors, {"fit": "fit", "mokume_crc32": "00000000", "solves": text}))

    seed("svc_checkpoint", "whole", solves())
    seed("svc_checkpoint", "not-a-number", solves(up=float("nan")))
    seed("svc_checkpoint", "real", solves(steps=1e300))
    seed("svc_checkpoint", "negative", solves(steps=-1, problem=-1))


# ---- words

def words():
    """Writes words.dict: the names that the sources look for, and values at the edges."""
    root = pathlib.Path(TESTS).parent
    found = set()
    for folder in ["core", "plugins", "transports"]:
        for path in [*(root / folder).rglob("*.hpp"), *(root / folder).rglob("*.cpp")]:
            text = path.read_text()
            found.update('"%s":' % name for name in re.findall(r'field(?:[.]\w+)?\("(\w+)"', text))
            found.update('"%s":' % name for name in re.findall(r'[.]at\("(\w+)"\)', text))
            found.update('"%s"' % name for name in re.findall(r'kType = "(\w+)"', text))
            if path.parent.name == "config":
                found.update(re.findall(r'"(\w{2,24})"', text))
    found.update(["nan", '"nan"', '"inf"', "-0.0", "1e999", "1e-999", "18446744073709551615", "-9223372036854775808",
                  "4294967295", "2147483648", "true", "null", "[]", "{}", "\n=====\n", "'''", '"""', "[[", "]]",
                  "1979-05-27T07:32:00Z", "0x", "0o", "0b", "_", "inf", "\\u0000", "\\ud800", "svm_type c_svc\n",
                  "kernel_type sigmoid\n", "nr_class ", "total_sv ", "label ", "nr_sv ", "SV\n", "F32", "I64", "I32",
                  "__metadata__", "mokume_crc32", "'descr': '<f4'", "'<u8'", "'|b1'", "'fortran_order': True",
                  "'shape': ", "IHDR", "IDAT", "PLTE", "tRNS", "gAMA", "sRGB", "IEND"])
    with open(os.path.join(HERE, "words.dict"), "w") as file:
        for word in sorted(found):
            escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\x0a")
            file.write(f'"{escaped}"\n')


words()
experiments()
data()
journals()
messages()
run_files()
models()

#!/usr/bin/env python3
"""Writes tests/search/numpy_vectors.hpp: draws of NumPy, the reference of the tests of core/search.

The published draws follow the order of shermanlo77/multinode-gpu-study's mnist_nn. Run this script again only if the
tests need other cases; the file is part of the tree.

    python3 bench/peers/numpy_vectors.py > tests/search/numpy_vectors.hpp && scripts/format

Needs numpy 1.17 or later; 1.24 and 2.4 give the same file.
"""
import numpy as np

STUDY = 169514335042358758700408908237337905507
SEEDS = [0, 7, 2**32, 2**64 - 1, STUDY, 10**60 + 17]
PATHS = [(7, (0,)), (7, (1,)), (STUDY, (11,)), (STUDY, (2, 1)), (10**60 + 17, (3,))]
RANGES = [(0, 1), (1, 1000), (2, 11), (-5, 6), (0, 3 * 2**30), (0, 2**32 - 1), (0, 2**32), (0, 2**32 + 1), (41, 42),
          (0, 3 * 2**61), (-2**63, 2**63 - 1), (-2**62, 2**62 + 5), (0, 10)]
LENGTHS = [0, 1, 2, 20]
SMALL = [(23, 4), (26, 4), (29, 14), (5, 5), (9, 0), (1, 1)]


def literal(value):
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(literal(v) for v in value) + "}"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        return value.hex()
    if value == -2**63:
        return "INT64_MIN"
    return f"{value}U" if value >= 2**31 else str(value)


def vector(type_of, name, values):
    print(f"inline const std::vector<{type_of}> {name}{literal(list(values))};")


def struct(name, members):
    print(f"struct {name} {{ {' '.join(m + ';' for m in members)} }};")


def integers_of(array):
    return [int(v) for v in array]


def generator(*path, seed=2019):
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=path))


def seeds():
    struct("Seed", ["const char* digits", "std::vector<uint32_t> state", "std::vector<uint64_t> state64"])
    vector("Seed", "kSeeds", [(str(s), integers_of(np.random.SeedSequence(s).generate_state(6)),
                               integers_of(np.random.SeedSequence(s).generate_state(4, np.uint64))) for s in SEEDS])
    struct("Child", ["const char* digits", "std::vector<uint32_t> path", "std::vector<uint32_t> state"])
    children = []
    for seed, path in PATHS:
        child = np.random.SeedSequence(seed)
        for i in path:
            child = child.spawn(i + 1)[i]
        children.append((str(seed), path, integers_of(child.generate_state(4))))
    vector("Child", "kChildren", children)


def draws():
    vector("uint64_t", "kRaw", integers_of(generator().bit_generator.random_raw(6)))
    struct("Range", ["int64_t low, high", "std::vector<int64_t> drawn"])
    one_by_one, at_once, ranges = generator(), generator(), []
    for low, high in RANGES:
        ranges.append((low, high, [int(one_by_one.integers(low, high)) for _ in range(7)]))
        assert ranges[-1][2] == integers_of(at_once.integers(low, high, size=7))
    vector("Range", "kRanges", ranges)
    rng = generator()
    struct("HalfAndReal", ["int64_t half", "double real"])
    vector("HalfAndReal", "kHalvesAndReals", [(int(rng.integers(0, 10)), float(rng.random())) for _ in range(5)])
    rng = generator()
    vector("std::vector<uint8_t>", "kBytes", [list(rng.bytes(n)) for n in range(10)])


def orders():
    rng = generator()
    vector("std::vector<int64_t>", "kPermutations", [integers_of(rng.permutation(n)) for n in LENGTHS])
    vector("double", "kPermutedReals", [float(v) for v in rng.permutation(np.array([0.5, -1, 4, 8, 2.25]))])
    vector("int64_t", "kAfterPermutations", [int(rng.integers(0, 2**32)) for _ in range(3)])
    rng = generator()
    vector("int64_t", "kChosen", [int(rng.choice(7)) for _ in range(3)] + integers_of(rng.choice(7, size=4)))
    vector("double", "kChosenReals", [float(v) for v in rng.choice(np.array([0.5, -1, 4]), size=6)])


def sample(rng, rows, folds):
    rng.bytes(8)
    rng.bytes(8)
    edges = np.round(np.linspace(0, rows, max(folds, 1) + 1)).astype(np.int64)
    shuffled = rng.permutation(rows)
    row = np.concatenate([shuffled[rng.integers(a, b, b - a)] for a, b in zip(edges, edges[1:])])
    return edges, integers_of(row)


def published():
    struct("StudySample", ["std::vector<uint32_t> first", "uint32_t last", "uint64_t weighted_sum"])
    samples = []
    for seed in np.random.SeedSequence(STUDY).spawn(12):
        _, row = sample(np.random.default_rng(seed), 60000, 5)
        samples.append((row[:4], row[-1], sum((i + 1) * r for i, r in enumerate(row))))
    vector("StudySample", "kStudySamples", samples)
    struct("SmallStudy", ["int64_t rows", "uint32_t folds", "std::vector<uint32_t> row",
                          "std::vector<int64_t> edges", "std::vector<double> real", "std::vector<int64_t> index"])
    studies = []
    for rows, folds in SMALL:
        rng = np.random.default_rng(np.random.SeedSequence(7).spawn(2)[1])
        edges, row = sample(rng, rows, folds)
        real, index = [], []
        for _ in range(3):
            index.append(int(rng.integers(0, 3)))
            real.append(float(rng.random() * (9.5 - -2.0) + -2.0))
        studies.append((rows, folds, row, integers_of(edges), real, index))
    vector("SmallStudy", "kSmallStudies", studies)


def main():
    print("// Written by bench/peers/numpy_vectors.py: draws of NumPy. Vectors without their own seed use "
          "SeedSequence(2019).")
    print("#pragma once\n\n#include <cstdint>\n#include <vector>\n\nnamespace mokume::search::vectors {\n")
    for part in (seeds, draws, orders, published):
        part()
        print()
    print("}  // namespace mokume::search::vectors")


if __name__ == "__main__":
    main()

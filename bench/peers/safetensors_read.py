#!/usr/bin/env python3
"""Prints the metadata of a safetensors file, and name, type, shape and sum of every tensor, by the format's library.

    python3 bench/peers/safetensors_read.py FILE

Needs numpy and safetensors (pip install numpy safetensors).
"""
import argparse

from safetensors import safe_open


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    with safe_open(parser.parse_args().file, framework="numpy") as file:
        for key, value in sorted((file.metadata() or {}).items()):
            print(f"{key}: {value}")
        for name in sorted(file.keys()):
            tensor = file.get_tensor(name)
            total = tensor.sum(dtype="float64" if tensor.dtype.kind == "f" else "int64")
            print(f"{name} {tensor.dtype} {list(tensor.shape)} sum {total}")


if __name__ == "__main__":
    main()

"""Tests the rules of scripts/lint for comments: lint_test.py LINT"""
import pathlib
import subprocess
import sys
import tempfile

# Lines with "BAD" are findings.
SOURCE = '''// What this file is for. BAD
// How a paragraph goes on is free.
#include <string>

int rows = 0;  // of the matrix. BAD
int columns = 0;  /* Those of the matrix. BAD */
int size = 0;  // offset of the first row
               // how a trailing comment goes on is free
// Whatever begins with another word.
std::string text = "a  // of a text", raw = R"(b  // that)";
char slash = '/';  // which character it is. BAD

/* How a block begins. BAD
 * What follows is free. */
'''

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "sample.cpp"
    file.write_text(SOURCE)
    done = subprocess.run([sys.argv[1], "--comments", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expected = [n for n, line in enumerate(SOURCE.split("\n"), 1) if "BAD" in line]
    found = [int(line.split(":")[1]) for line in done.stdout.splitlines()]
    assert done.returncode == 1 and found == expected, (expected, done)

    file.write_text("// Adds two numbers.\nint sum = 0;  // in metres\n")
    done = subprocess.run([sys.argv[1], "--comments", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done

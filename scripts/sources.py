"""Tells scripts that look at sources which files changed, and how each one is compiled."""
import hashlib
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("core", "backends", "plugins", "transports", "apps", "tests", "bench")


def output_of(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def add_options(parser):
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--since", metavar="COMMIT", help="only files that differ from this commit")
    which.add_argument("--recent", action="store_true", help="only files that changed in the last four hours")
    parser.add_argument("--most", metavar="N", type=int, help="compile at most N of the files")


def base_commit(options, script):
    """Returns the commit to compare files with, or None if all files are checked."""
    if not options.since and not options.recent:
        return None
    if subprocess.run(["git", "-C", ROOT, "rev-parse"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        print(f"{script}: this is not a git checkout, so every file is checked")
        return None
    # The list follows first parents, so that the changes of a branch are as old as its merge.
    base = options.since or output_of("git", "rev-list", "-1", "--first-parent", "--before=4 hours ago", "HEAD").strip()
    if not base:
        print(f"{script}: this clone has no commit older than four hours, so every file is checked")
    return base or None


def files_to_check(base, suffixes):
    """Returns the sources that differ from the commit `base` in the working tree, sorted, or all of them for None."""
    if base is None:
        files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    else:
        changed = output_of("git", "diff", "--relative", "--name-only", "--no-renames", "--diff-filter=d", base)
        untracked = output_of("git", "ls-files", "--others", "--exclude-standard")
        files = (ROOT / name for name in (changed + untracked).splitlines() if name.split("/")[0] in FOLDERS)
    return sorted(file for file in files if file.suffix in suffixes)


def sample(files, most, script):
    """Returns at most `most` of the files, or all for None. Chooses by path, so that every run has the same files."""
    if most is None or len(files) <= most:
        return files
    print(f"{script}: {most} of {len(files)} files are compiled")
    chosen = sorted(files, key=lambda file: hashlib.sha256(str(file.relative_to(ROOT)).encode()).digest())[:most]
    return sorted(chosen)


def configure(compiler):
    """Configures a build without unity files, for its flags, and makes only generated headers. Returns the folder."""
    build = ROOT / "build/self-contained" / compiler
    c_compiler = compiler.replace("clang++", "clang").replace("g++", "gcc")
    subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_C_COMPILER={c_compiler}", "-DCMAKE_UNITY_BUILD=OFF",
                    "-DMOKUME_BUILD_TESTS=ON", "-DMOKUME_BUILD_BENCH=ON", "-DMOKUME_CCACHE=OFF"],
                   check=True, stdout=subprocess.DEVNULL)
    made = output_of("ninja", "-C", build, "--quiet", "-t", "targets", "rule", "CUSTOM_COMMAND").splitlines()
    headers = [name for name in made if name.endswith((".hpp", ".h")) and not os.path.isabs(name)]
    # Runs only the headers' commands. As targets, headers would wait for the libraries that their own target links.
    makers = output_of("ninja", "-C", build, "--quiet", "-t", "commands", "-s", *headers)
    subprocess.run(["bash", "-e"], input=makers, check=True, text=True)
    return build

"""Finds the vendor's OpenCL library and writes the ICD file that the bundle's loader reads."""
import fnmatch
import glob
import os
import subprocess
import time
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, Sequence

CUDA = ("libcuda.so.1",)
PATTERNS = ("libnvidia-opencl.so*", "libamdocl64.so*", "libigdrcl.so*")
NOT_SEARCHED = ("/proc", "/sys", "/dev", "/tmp", "/home")


def ldconfig() -> Dict[str, str]:
    """Maps library names to paths, from the dynamic loader's cache."""
    for program in ("/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig"):
        try:
            text = subprocess.run([program, "-p"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=10,
                                  check=False).stdout.decode(errors="replace")
        except (OSError, subprocess.TimeoutExpired):
            continue
        pairs = (line.split(" => ") for line in text.splitlines() if " => " in line and "x86-64" in line)
        found: Dict[str, str] = {}
        for name, path in pairs:
            found.setdefault(name.split()[0], path.strip())
        return found
    return {}


def _is_64_bit_library(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(5) == b"\x7fELF\x02"
    except OSError:
        return False


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def _walk(root: str, seconds: float, patterns: Sequence[str]) -> Iterator[str]:
    end = time.monotonic() + seconds
    for directory, below, files in os.walk(root):
        if time.monotonic() > end:
            return
        below[:] = [name for name in below if os.path.join(directory, name) not in NOT_SEARCHED]
        yield from (os.path.join(directory, name) for name in files if _matches(name, patterns))


def _once_each(paths: Iterable[str]) -> List[str]:
    """Keeps one path for each file, preferring the shortest name: libX.so.1 rather than libX.so.1.2.3."""
    kept: Dict[str, str] = {}
    for path in sorted(paths, key=lambda p: (len(os.path.basename(p)), p)):
        if _is_64_bit_library(path):
            kept.setdefault(os.path.realpath(path), path)
    return list(kept.values())


def find(patterns: Sequence[str] = PATTERNS) -> List[str]:
    """Returns paths of vendors' libraries, by default of OpenCL for GPUs. They may be outside the loader's path."""
    usual = [path for name, path in ldconfig().items() if _matches(name, patterns)]
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":") + [
        "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib",
        "/usr/lib/wsl/lib", "/opt/rocm/lib", "/opt/amdgpu/lib/x86_64-linux-gnu", "/usr/local/lib"]
    for folder in filter(None, folders):
        usual += [path for pattern in patterns for path in glob.glob(os.path.join(folder, pattern))]
    return _once_each(usual) or _once_each(_walk("/", 20, patterns))


def resolve(library: str) -> str:
    """Returns the path of a library that the user named, or "" if there is none."""
    path = library if "/" in library else ldconfig().get(library, "")
    return os.path.abspath(path) if path and os.path.exists(path) else ""


def write_icds(libraries: List[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, library in enumerate(libraries):
        (folder / f"{number}.icd").write_text(library + "\n")


def what_there_is() -> List[Dict[str, str]]:
    """Lists possible explanations for a machine without a vendor's library."""
    rows = [{"what": "ICD file", "where": path, "says": Path(path).read_text(errors="replace").strip()[:200]}
            for path in sorted(glob.glob("/etc/OpenCL/vendors/*"))]
    rows += [{"what": "library", "where": path, "says": name} for name, path in sorted(ldconfig().items())
             if any(word in name.lower() for word in ("opencl", "libcuda", "nvidia", "libamd", "hsa", "igdrcl"))]
    patterns = ("/dev/nvidia*", "/dev/kfd", "/dev/dri/*", "/dev/dxg")
    devices = (path for pattern in patterns for path in glob.glob(pattern))
    rows += [{"what": "device file", "where": path, "says": ""} for path in sorted(devices)]
    rows += [{"what": "folder", "where": path, "says": ", ".join(sorted(os.listdir(path))[:40])}
             for path in ("/usr/local/nvidia", "/usr/local/nvidia/lib64", "/opt/rocm") if os.path.isdir(path)]
    return rows

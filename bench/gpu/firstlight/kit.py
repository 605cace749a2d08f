"""Unpacks the bundle from `pack`, and defines an environment in which its programs find only its libraries."""
import fcntl
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional

from . import driver

PASSED_ON = ("OPENCL_LAYERS", "OPENCL_POSE", "POCL_", "CUDA_VISIBLE_", "CLBLAST_", "MOKUME_TEST_")
GLIBC = re.compile(r"/(ld-linux[^/]*|lib(c|m|mvec|dl|pthread|rt|resolv|util|anl|nsl|nss_[a-z]+))\.so[.0-9]*$")
CXX_RUN_TIME = re.compile(r"/lib(stdc\+\+|gcc_s)\.so[.0-9]*$")
VENDOR = re.compile(r"/lib(nvidia|cuda|amd|hsa|hip|rocm|drm|igd|igc|ze_)[^/]*\.so[^/]*$")


class KitError(Exception):
    """States in one sentence what the bundle or the machine lacks."""


def _version(text: str) -> List[int]:
    return [int(part) for part in re.findall(r"\d+", text)]


def work_folder(named: Optional[Path]) -> Path:
    """Returns the same folder in every call, so that a call finds the kernels that an earlier call built."""
    folder = (named or Path(tempfile.gettempdir()) / f"first-light-{os.getuid()}").resolve()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise KitError(f"{folder} belongs to another user: name another folder with --work")
    return folder


class Kit:
    def __init__(self, packed: Path, work: Path) -> None:
        self.packed, self.work = packed, work
        self.root = work / "kit"
        self.libraries: List[str] = []  # libraries of the vendor
        self.cubins = self.root / "cubins"  # programs for the driver on top of CUDA, if they are packed
        try:
            self.manifest: Dict[str, Any] = json.loads((packed / "manifest.json").read_text())
        except (OSError, ValueError) as error:
            raise KitError(f"{packed} is no bundle ({error}): make one with bench/gpu/pack, or name it with --kit")

    def unpack(self) -> None:
        """Keeps only the built kernels of an earlier call and, if the bundle is the same, its unpacked program."""
        self._check_glibc()
        self._lock()
        # The program rejects libraries that others may write to.
        os.umask(0o022)
        for folder in ("steps", "builds", "vendors", "tmp"):
            shutil.rmtree(str(self.work / folder), ignore_errors=True)
        for folder in ("home", "tmp", "cache", "builds", "vendors"):
            (self.work / folder).mkdir(parents=True, exist_ok=True)
        self._unpack_program()
        kernels = self.packed / "kernels.tar.gz"
        if kernels.exists() and not (self.work / "cache/mokume").exists():
            with tarfile.open(str(kernels)) as archive:
                archive.extractall(str(self.work / "cache"))

    def _lock(self) -> None:
        self.lock = os.open(str(self.work / "lock"), os.O_WRONLY | os.O_CREAT)  # held until this process ends
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise KitError(f"another first-light works in {self.work}: name another folder with --work")

    def _unpack_program(self) -> None:
        stamp = self.work / "unpacked.json"
        manifest = json.dumps(self.manifest)
        if stamp.exists() and stamp.read_text() == manifest:
            return
        if stamp.exists():
            stamp.unlink()
        shutil.rmtree(str(self.root), ignore_errors=True)
        for packed in ("program.tar.gz", "cubins.tar.xz"):
            if (self.packed / packed).exists():
                with tarfile.open(str(self.packed / packed)) as archive:
                    archive.extractall(str(self.root))
        stamp.write_text(manifest)

    def _check_glibc(self) -> None:
        here = os.confstr("CS_GNU_LIBC_VERSION") or "none"
        if _version(here) < _version(self.manifest["glibc"]):
            raise KitError(f"this machine has {here}; the bundle needs glibc {self.manifest['glibc']} or newer: "
                           "build and pack on an older system")

    def _cxx_run_time(self) -> Optional[Path]:
        """Returns the bundle's library only if the system's is too old, because a driver may need a newer one."""
        system = driver.ldconfig().get("libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6")
        try:
            has = f"GLIBCXX_{self.manifest['glibcxx']}\0".encode() in Path(system).read_bytes()
        except OSError:
            has = False
        return None if has else self.root / "runtime"

    def environment(self, layer: bool) -> Dict[str, str]:
        folders = [self.root / "deps", self._cxx_run_time()] + [Path(p).parent for p in self.libraries]
        kept = [part for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part]
        env = {key: value for key, value in os.environ.items() if key.startswith(PASSED_ON)}
        env.update(PATH="/usr/bin:/bin", HOME=str(self.work / "home"), TMPDIR=str(self.work / "tmp"), LC_ALL="C",
                   XDG_CACHE_HOME=str(self.work / "cache"), CUDA_CACHE_PATH=str(self.work / "cache/nv"),
                   LD_LIBRARY_PATH=":".join([str(f) for f in folders if f] + kept),
                   OCL_ICD_VENDORS=str(self.work / "vendors"), MOKUME_DATA=str(self.packed / "data"),
                   BUILD_LOGS=str(self.work / "builds"), MOKUME_TEST_CACHE=str(self.work / "cache/mokume"))
        if self.cubins.is_dir():
            env["OPENCL_CUBINS"] = str(self.cubins)
        return self.with_layer(env, "build_logs") if layer else env

    def with_layer(self, environment: Dict[str, str], layer: str, **more: str) -> Dict[str, str]:
        """Returns the environment with one more OpenCL layer of the bundle, and its variables."""
        given = [environment["OPENCL_LAYERS"]] if environment.get("OPENCL_LAYERS") else []
        return {**environment, **more, "OPENCL_LAYERS": ":".join(given + [str(self.root / f"lib/{layer}.so")])}

    def program(self, name: str) -> str:
        return str(self.root / "bin" / name)

    def config(self, name: str) -> str:
        return str(self.root / "configs" / f"{name}.toml")

    def remove_clblast(self) -> None:
        """Removes CLBlast until the program is unpacked again."""
        (self.work / "unpacked.json").unlink()
        for library in (self.root / "deps").glob("libclblast.so*"):
            library.unlink()

    def choices_files(self) -> List[Path]:
        """Returns the files in which the program remembers the variants that it measured on a device."""
        return sorted((self.work / "cache/mokume/opencl").glob("choices-*.txt"))

    def vendor_closure(self) -> List[str]:
        """Returns the libraries that the vendor's libraries need themselves."""
        paths: List[str] = []
        for library in self.libraries:
            try:
                listed = subprocess.run(["/lib64/ld-linux-x86-64.so.2", "--list", library], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, timeout=20, check=False)
            except (OSError, subprocess.TimeoutExpired):
                continue
            paths += re.findall(r"=> (/\S+)", listed.stdout.decode(errors="replace"))
        return paths

    def origin(self, path: str, closure: List[str]) -> str:
        """Returns the origin of a library: bundle, kernels, glibc, C++ run time, layer, vendor or OUTSIDE."""
        real = os.path.realpath(path)
        for folder, name in ((self.root, "bundle"), (self.work / "cache", "kernels that the driver built")):
            if real.startswith(os.path.realpath(str(folder)) + "/"):
                return name
        if GLIBC.search(path):
            return "glibc"
        if CXX_RUN_TIME.search(path):
            return "C++ run time"
        layers = os.environ.get("OPENCL_LAYERS", "").split(":")
        if path in layers:
            return "layer that was given"
        of_vendor = {os.path.realpath(p) for p in self.libraries + closure}
        # Drivers keep parts in subfolders of their library's folder.
        below = any(str(Path(real).parent).startswith(os.path.dirname(os.path.realpath(p)) + "/")
                    for p in self.libraries)
        if real in of_vendor or below or VENDOR.search(path):
            return "vendor"
        return "OUTSIDE"

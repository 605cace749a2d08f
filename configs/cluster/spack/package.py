# Spack: builds mokume with the site's compilers and MPI. It has not been built with Spack itself yet. Put it into a
# repository of your own, name your clone of mokume in `git`, and install it:
#   spack repo create site && mkdir -p site/packages/mokume && cp package.py site/packages/mokume/
#   spack repo add site && spack install mokume
# Spack 1.0 puts the packages of a new repository below site/spack_repo/site/packages.
from spack.package import *

try:  # since Spack 1.0
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass  # spack.package has it


class Mokume(CMakePackage):
    """Machine-learning experiments on every OpenCL device."""

    git = "file:///opt/src/mokume"  # edit: where your clone is; nothing is published yet

    license("Apache-2.0")
    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("git", type="build")

    depends_on("opencl-headers")
    depends_on("ocl-icd")
    depends_on("clblast")
    depends_on("openmpi@4.1:")
    depends_on("asio")
    depends_on("oneapi-tbb")
    depends_on("fmt@9:")
    depends_on("tomlplusplus@3.3:")
    depends_on("onednn@2.7:2 cpu_runtime=omp")
    depends_on("cli11@2.3:")
    depends_on("nlohmann-json@3.11:")
    depends_on("zlib-api")
    depends_on("openssl@3:")
    depends_on("curl@7.85:")
    depends_on("protobuf")
    depends_on("onnx", type="build")
    depends_on("libpng")
    depends_on("libjpeg-turbo")
    # At run time GPUs bring their driver; `spack install pocl` adds one for CPUs.

    conflicts("%gcc@:11", msg="mokume needs a compiler like GCC 12 or newer")

    generator("ninja")

    def cmake_args(self):
        return [self.define("MOKUME_BUILD_TESTS", False)]

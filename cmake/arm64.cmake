# Cross-compiles for arm64 with Debian's g++-aarch64-linux-gnu and arm64 libraries, for scripts/on-arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# g++ reports what GCC 10 changed in calls on arm64, which matters only to libraries that an older GCC compiled.
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)
# The build runs programs that it has built: the tests, to learn their names, and mokume, which prints its manual.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)

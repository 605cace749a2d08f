// Builds OpenCL C, caches binaries on disk, and provides the kernels of built programs.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>

#include "support/cl.hpp"

struct mk_device;

namespace mokume::opencl {

// Identifies a program of this library: a .cl file with everything that it includes, and macros. Two programs are the
// same if all three members agree. Messages show the name.
struct BuiltIn {
  std::string name;
  const char* source;
  std::string options;

  auto operator<=>(const BuiltIn&) const = default;
};

// Returns the source with its kernels turned into functions, which an appended kernel can call (common.cl).
std::string called_source(const BuiltIn& program);

// Holds a kernel of this library. Its arguments are a struct, then buffers, then local memory, if any.
struct LibraryKernel {
  LibraryKernel(cl_program built, const BuiltIn* from, const std::string& kernel);

  Kernel handle;
  const BuiltIn* program;  // nullptr for a kernel generated at run time
  std::string name;
  cl_uint n_arguments = 0;
  mutable const char* checked_type = nullptr;  // struct for which Launcher has checked the kernel
};

class LibraryProgram {
 public:
  LibraryProgram(BuiltIn what, Program built) : what_(std::move(what)), program_(std::move(built)) {}
  LibraryProgram(const LibraryProgram&) = delete;
  LibraryProgram& operator=(const LibraryProgram&) = delete;
  // Creates the kernel on the first call.
  const LibraryKernel& kernel(std::string_view name);

 private:
  BuiltIn what_;
  Program program_;
  std::map<std::string, LibraryKernel, std::less<>> kernels_;
};

// Holds a model's program and its kernels by name. Creates each kernel on first use.
class KernelSet {
 public:
  explicit KernelSet(Program program) : program_(std::move(program)) {}
  // Throws MK_INVALID_ARGUMENT if the program has no such kernel.
  cl_kernel get(const std::string& name);

 private:
  Program program_;
  std::map<std::string, Kernel> kernels_;
};

// Builds `source` with the options of all mokume kernels (OpenCL C 1.2, correctly rounded division if available, never
// fast-math) and `options`. Caches binaries in the cache directory under the SHA-256 of source, options, device,
// driver, platform version and instruction set. Rebuilds an entry that is damaged or that the driver rejects. Does not
// cache PoCL's binaries, because PoCL's own cache is better. Logs a build of more than a second at INFO. Throws
// MK_DEVICE_ERROR with the first lines of the build log, and logs all of it.
Program build_program(mk_device& device, const std::string& name, std::string_view source, const std::string& options);

}  // namespace mokume::opencl

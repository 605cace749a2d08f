// Building OpenCL C, with built binaries kept on disk, and the kernels of built programs.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "support/cl.hpp"

struct mk_device;

namespace mokume::opencl {

// A program of this library: a .cl file with all that it includes, and macros. The name is unique among all sources and
// macros.
struct BuiltIn {
  std::string name;
  const char* source;
  std::string options;
};

// The same with its kernels as functions, to be called by a kernel that is written after it: see common.cl.
std::string called_source(const BuiltIn& program);

// A kernel of this library: its first argument is a struct, then come buffers, and last local memory, if any.
struct LibraryKernel {
  LibraryKernel(cl_program built, const BuiltIn* from, const std::string& kernel);

  Kernel handle;
  const BuiltIn* program;  // nullptr for a kernel that was made at run time
  std::string name;
  cl_uint n_arguments = 0;
  mutable const char* checked_type = nullptr;  // the struct that the kernel was found to take: see Launcher
};

class LibraryProgram {
 public:
  LibraryProgram(BuiltIn what, Program built) : what_(std::move(what)), program_(std::move(built)) {}
  LibraryProgram(const LibraryProgram&) = delete;
  LibraryProgram& operator=(const LibraryProgram&) = delete;
  // Created at the first call.
  const LibraryKernel& kernel(std::string_view name);

 private:
  BuiltIn what_;
  Program program_;
  std::map<std::string, LibraryKernel, std::less<>> kernels_;
};

// A model's program and its kernels by name, created on first use.
class KernelSet {
 public:
  explicit KernelSet(Program program) : program_(std::move(program)) {}
  // Throws MK_INVALID_ARGUMENT if the program has no such kernel.
  cl_kernel get(const std::string& name);

 private:
  Program program_;
  std::map<std::string, Kernel> kernels_;
};

// Builds `source` with the options every kernel of mokume gets (OpenCL C 1.2, correctly rounded division where there
// is, never fast-math) and `options`. The binary is taken from and put into the cache directory under the SHA-256 of
// source, options, device, driver and platform version; an entry that is damaged or that the driver refuses is built
// again. PoCL's own cache does this better: there nothing is kept. Throws MK_DEVICE_ERROR with the first lines of the
// build log, which also goes to the log; a build that takes over a second is told at INFO.
Program build_program(mk_device& device, const std::string& name, std::string_view source, const std::string& options);

}  // namespace mokume::opencl

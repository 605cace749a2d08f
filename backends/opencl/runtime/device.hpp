// Defines an open device: a context and the built-in programs that were built for it. Only one thread at a time may use
// a device and the objects created from it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "abi/backend.h"
#include "runtime/attachments.hpp"
#include "runtime/choices.hpp"
#include "runtime/program.hpp"
#include "sdk/plugin.hpp"
#include "support/cl.hpp"

namespace mokume::opencl {
class ClBlast;
}

struct mk_device {
  mokume::sdk::Host host;
  std::string cache_directory;  // "" for none
  mokume::opencl::ClBlast* clblast = nullptr;
  mk_device_info info{};
  cl_device_id id = nullptr;
  mokume::opencl::Context context;
  mokume::opencl::Choices choices;
  double longest_wait_s = 600;  // from MOKUME_WAIT_SECONDS; the cluster, too, gives up on a device after 600 s
  int vector_width = 4;         // number of floats in a native vector: 4, 8 or 16
  int vector_registers = 16;    // number of registers for vectors of any width: 16 or 32
  bool halves_vectors = false;  // whether the processor computes a vector of 16 floats in two halves
  // Number of cores that share the work of a launch: all, or one (group/sequence.hpp). It does not affect any bits.
  int64_t cores = 1;

  // Returns a kernel of a built-in program. Builds the program on first use.
  const mokume::opencl::LibraryKernel& kernel(const mokume::opencl::BuiltIn& program, const char* name);

  // Returns the options for a built-in program and for programs derived from it.
  std::string built_in_options(const mokume::opencl::BuiltIn& program) const;

  mokume::opencl::Attachments attachments;

 private:
  std::map<mokume::opencl::BuiltIn, mokume::opencl::LibraryProgram> programs_;
};

namespace mokume::opencl {

// Creates the device and its context. choose_variants() (variants/variants.hpp) sets `choices`.
std::unique_ptr<mk_device> open_device(const sdk::Host& host, const std::string& cache_directory, ClBlast* clblast,
                                       const mk_device_info& info, cl_platform_id platform, cl_device_id id);

// Returns text such as "12 MiB" for messages.
std::string size_text(uint64_t bytes);

}  // namespace mokume::opencl

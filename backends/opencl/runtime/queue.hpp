// An in-order queue of a device, and the memory shared by its ops.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/attachments.hpp"
#include "runtime/kept_memory.hpp"
#include "runtime/pending_reads.hpp"
#include "runtime/workspace.hpp"
#include "support/cl.hpp"

struct mk_queue {
  ~mk_queue();  // waits, because commands read the members; a lost queue leaks its handle instead

  mk_device* device = nullptr;
  mokume::opencl::CommandQueue handle;
  bool profiling = false;
  bool lost = false;  // its commands did not end in time (see wait.hpp); they may still run, so nothing waits for them
  bool reads_directly = false;  // a copy with an event writes to memory of the caller, so finish() has no limit
  mokume::opencl::PendingReads reads;
  mokume::opencl::Workspaces workspaces;
  mokume::opencl::Attachments attachments;

  mk_buffer& workspace_buffer(size_t slot, int64_t floats) {
    return workspaces.get(*device, slot, static_cast<uint64_t>(floats) * sizeof(float));
  }
  cl_mem workspace(size_t slot, int64_t floats) { return workspace_buffer(slot, floats).memory.get(); }
  // Returns memory with the result of make(memory), computed from a view alone: see KeptMemory.
  cl_mem kept(const mk_tensor& of, const char* what, int64_t floats, const std::function<void(cl_mem)>& make);

 private:
  mokume::opencl::KeptMemory kept_;
};

namespace mokume::opencl {

std::unique_ptr<mk_queue> create_queue(mk_device& device, bool profiling);

}  // namespace mokume::opencl

// Defines an in-order queue of a device, and the memory that its ops share.
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
  ~mk_queue();  // waits, because commands read the members; leaks the handle of a lost queue instead

  mk_device* device = nullptr;
  mokume::opencl::CommandQueue handle;
  bool profiling = false;
  bool lost = false;            // commands did not end in time (wait.hpp) and may still run, so nothing waits for them
  bool reads_directly = false;  // a copy with an event writes to the caller's memory, so finish() has no time limit
  mokume::opencl::PendingReads reads;
  mokume::opencl::Workspaces workspaces;
  mokume::opencl::Attachments attachments;

  mk_buffer& workspace_buffer(size_t slot, int64_t floats) {
    return workspaces.get(*device, slot, static_cast<uint64_t>(floats) * sizeof(float));
  }
  cl_mem workspace(size_t slot, int64_t floats) { return workspace_buffer(slot, floats).memory.get(); }
  // Returns memory that holds the result of make(memory), which depends on a view alone (see KeptMemory).
  cl_mem kept(const mk_tensor& of, const char* what, int64_t floats, const std::function<void(cl_mem)>& make);
  // Returns a number that grows when workspaces or kept results move.
  uint64_t memory_changes() const { return workspaces.changes() + kept_.changes(); }

 private:
  mokume::opencl::KeptMemory kept_;
};

namespace mokume::opencl {

std::unique_ptr<mk_queue> create_queue(mk_device& device, bool profiling);

}  // namespace mokume::opencl

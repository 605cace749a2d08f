// Calls CLBlast's GEMM. Loads the library when a GPU first needs it, because initialising its tables takes longer than
// listing the devices may take.
#pragma once

#include <mutex>
#include <string>

#include "runtime/launcher.hpp"
#include "support/cl.hpp"

namespace mokume::opencl {

// Holds the row-major operands of sgemm. Offsets and strides are in elements.
struct SgemmCall {
  bool transpose_a, transpose_b;
  size_t m, n, k;
  float alpha, beta;
  cl_mem a;
  size_t a_offset, a_stride;
  cl_mem b;
  size_t b_offset, b_stride;
  cl_mem out;
  size_t out_offset, out_stride;
};

// Gives access to CLBlast. A process has one object of this class, and any thread may call its functions. A mutex
// serialises the calls, because CLBlast 1.5.3 has a race when two threads make it compile.
class ClBlast {
 public:
  ~ClBlast();
  ClBlast() = default;
  ClBlast(const ClBlast&) = delete;
  ClBlast& operator=(const ClBlast&) = delete;

  bool available();

  // Enqueues the product. Throws MK_DEVICE_ERROR if CLBlast is missing or fails. `event` may be NULL.
  void sgemm(const SgemmCall& call, const mk_queue& on, cl_event* event);

 private:
  void load();
  void set_options(const mk_device_info& info);

  std::mutex mutex_;
  bool tried_ = false;
  std::string given_options_, options_;  // the user's build options, and the options that are set
  void* sgemm_ = nullptr;
  void* clear_cache_ = nullptr;
};

// Computes the product with CLBlast, without the bias and the activation.
void gemm_clblast(Launcher& launcher, const mk_op& op);

}  // namespace mokume::opencl

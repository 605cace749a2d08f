#include "gemm/clblast.hpp"

#include <clblast_c.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "platforms/describe.hpp"
#include "runtime/device.hpp"
#include "runtime/queue.hpp"
#include "sdk/ops/gemm.hpp"

namespace mokume::opencl {
namespace {

using Sgemm = decltype(&CLBlastSgemm);
using ClearCache = decltype(&CLBlastClearCache);

CLBlastTranspose transpose(bool yes) { return yes ? CLBlastTransposeYes : CLBlastTransposeNo; }

constexpr const char* kVariable = "CLBLAST_BUILD_OPTIONS";

}  // namespace

void ClBlast::load() {
  if (tried_) return;
  tried_ = true;
  if (const char* given = std::getenv(kVariable)) given_options_ = given;
  void* library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return;
  sgemm_ = dlsym(library, "CLBlastSgemm");
  clear_cache_ = dlsym(library, "CLBlastClearCache");
}

bool ClBlast::available() {
  const std::lock_guard lock(mutex_);
  load();
  return sgemm_ != nullptr && clear_cache_ != nullptr;
}

// CLBlast takes build options only from the environment, which it reads for every program that it builds. It appends
// its own options without a separating space. It keeps programs in memory only, and its interface gives no access to
// them, so every process builds them again.
void ClBlast::set_options(const mk_device_info& info) {
  // Subnormal floats count as zero (abi/op.h).
  const std::string options = given_options_ + " -cl-denorms-are-zero" + wide_offsets(info) + " ";
  if (options == options_) return;
  options_ = options;
  setenv(kVariable, options.c_str(), 1);
}

void ClBlast::sgemm(const SgemmCall& c, const mk_queue& on, cl_event* event) {
  if (!available()) throw Error(MK_DEVICE_ERROR, "gemm: CLBlast cannot be loaded: install libclblast1");
  const std::lock_guard lock(mutex_);
  set_options(on.device->info);
  cl_command_queue queue = on.handle.get();
  const CLBlastStatusCode code = reinterpret_cast<Sgemm>(sgemm_)(
      CLBlastLayoutRowMajor, transpose(c.transpose_a), transpose(c.transpose_b), c.m, c.n, c.k, c.alpha, c.a,
      c.a_offset, c.a_stride, c.b, c.b_offset, c.b_stride, c.beta, c.out, c.out_offset, c.out_stride, &queue, event);
  if (code == CLBlastSuccess) return;
  check(code > -100 && code < 0 ? static_cast<cl_int>(code) : CL_SUCCESS, "CLBlast's GEMM");
  throw Error(MK_DEVICE_ERROR, "CLBlast's GEMM failed with status " + std::to_string(static_cast<int>(code)));
}

// Clears CLBlast's cache, because its kernels hold contexts, which must be released before the drivers.
ClBlast::~ClBlast() {
  if (clear_cache_ != nullptr) reinterpret_cast<ClearCache>(clear_cache_)();
}

void gemm_clblast(Launcher& launcher, const mk_op& op) {
  const mk_tensor &a = op.inputs[0], &b = op.inputs[1], &out = op.outputs[0];
  const auto stride = [](const mk_tensor& t) { return static_cast<size_t>(std::max(t.row_stride, t.columns)); };
  const auto [m, n, k] = ops::gemm_shape(op);
  const mk_gemm& gemm = op.gemm;
  const SgemmCall call{.transpose_a = gemm.transpose_a != 0,
                       .transpose_b = gemm.transpose_b != 0,
                       .m = static_cast<size_t>(m),
                       .n = static_cast<size_t>(n),
                       .k = static_cast<size_t>(k),
                       .alpha = static_cast<float>(gemm.alpha),
                       .beta = static_cast<float>(gemm.beta),
                       .a = memory(a),
                       .a_offset = static_cast<size_t>(a.offset),
                       .a_stride = stride(a),
                       .b = memory(b),
                       .b_offset = static_cast<size_t>(b.offset),
                       .b_stride = stride(b),
                       .out = memory(out),
                       .out_offset = static_cast<size_t>(out.offset),
                       .out_stride = stride(out)};
  launcher.enqueue_foreign([&](cl_event* event) { launcher.device().clblast->sgemm(call, launcher.queue(), event); });
}

}  // namespace mokume::opencl

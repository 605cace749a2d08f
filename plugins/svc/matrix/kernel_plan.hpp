// Plans how a device holds the kernel values of the training rows.
#pragma once

#include <cstdint>

namespace mokume::svc {

// Selects the type in which kernel rows are stored: floats, or IEEE halves (ADR 63).
enum class Storage { fp32, fp16 };

constexpr uint64_t bytes_of(Storage storage) { return storage == Storage::fp16 ? 2 : 4; }

inline constexpr int kMaxPanels = 8;  // must equal the number of panels in kernels/places.cl
// With halves, floats of at most this number of rows wait to become halves.
inline constexpr int64_t kStagedRows = 512;

// See kernel_store.hpp.
enum class KernelMode { gram_kept, in_place, on_the_fly, given };

// Describes what a plan depends on.
struct KernelNeeds {
  int64_t rows, stride;  // number of rows, and its padded value
  Storage storage;
  uint64_t fixed;       // bytes that every mode takes
  uint64_t row_of_x;    // bytes of a row's inputs in the mode on_the_fly
  int64_t solver_rows;  // most rows that a solver requests at a time
  uint64_t budget, max_buffer;
};

struct KernelPlan {
  KernelMode mode;
  int64_t panel_rows;   // rows of the largest panel
  int64_t cached_rows;  // rows that the panels hold in the mode on_the_fly
  int64_t staged_rows;  // rows of floats that are computed at a time in the mode on_the_fly and with halves
  uint64_t least;       // bytes that would suffice
  bool fits;
};

// Returns the bytes of resident matrices in one of the first two modes, or in the mode given.
uint64_t matrix_bytes(int64_t rows, int64_t stride, Storage storage, KernelMode mode);

// Returns the plan in this mode.
KernelPlan plan_of(const KernelNeeds& needs, KernelMode mode);

// Returns the plan in the first of the first three modes that fits, but in none before `first`.
KernelPlan best_plan(const KernelNeeds& needs, KernelMode first);

}  // namespace mokume::svc

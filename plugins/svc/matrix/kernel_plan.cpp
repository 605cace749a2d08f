#include "matrix/kernel_plan.hpp"

#include <algorithm>

namespace mokume::svc {
namespace {

int64_t rows_in(uint64_t bytes, uint64_t row_bytes) { return static_cast<int64_t>(bytes / row_bytes); }

KernelPlan plan_of_cache(const KernelNeeds& needs) {
  const auto ld = static_cast<uint64_t>(needs.stride);
  const uint64_t row = ld * bytes_of(needs.storage);
  KernelPlan plan{KernelMode::on_the_fly, 0, 0, std::clamp<int64_t>(needs.solver_rows, 16, 256), 0, false};
  // Rows that are not stored are rounded in a buffer of halves.
  const uint64_t rounded = needs.storage == Storage::fp16 ? row : 0;
  const uint64_t staged =
      needs.fixed + static_cast<uint64_t>(plan.staged_rows) * (ld * sizeof(float) + needs.row_of_x + rounded);
  plan.least = staged + 2 * static_cast<uint64_t>(needs.solver_rows) * row;
  plan.fits = plan.least <= needs.budget && row <= needs.max_buffer;
  if (!plan.fits) return plan;
  plan.panel_rows = std::clamp<int64_t>(rows_in(needs.max_buffer, row), 1, needs.rows);
  plan.cached_rows = std::min({rows_in(needs.budget - staged, row), needs.rows, kMaxPanels * plan.panel_rows});
  return plan;
}

}  // namespace

uint64_t matrix_bytes(int64_t rows, int64_t stride, Storage storage, KernelMode mode) {
  const auto n = static_cast<uint64_t>(rows), ld = static_cast<uint64_t>(stride);
  const uint64_t staged =
      storage == Storage::fp16 ? static_cast<uint64_t>(std::min(rows, kStagedRows)) * ld * sizeof(float) : 0;
  const uint64_t gram = mode == KernelMode::gram_kept ? n * ld * sizeof(float) : 0;
  return n * ld * bytes_of(storage) + staged + gram;
}

KernelPlan plan_of(const KernelNeeds& needs, KernelMode mode) {
  if (mode == KernelMode::on_the_fly) return plan_of_cache(needs);
  // A row has the same panel in both matrices, so the Gram matrix, which has floats, limits the panels of both.
  const uint64_t value = mode == KernelMode::gram_kept ? sizeof(float) : bytes_of(needs.storage);
  KernelPlan plan{mode, 0, 0, 0, 0, false};
  plan.panel_rows = std::min(needs.rows, rows_in(needs.max_buffer, static_cast<uint64_t>(needs.stride) * value));
  if (needs.storage == Storage::fp16) plan.staged_rows = std::min(needs.rows, kStagedRows);
  plan.least = needs.fixed + matrix_bytes(needs.rows, needs.stride, needs.storage, mode);
  plan.fits = plan.least <= needs.budget && needs.rows <= kMaxPanels * plan.panel_rows;
  return plan;
}

KernelPlan best_plan(const KernelNeeds& needs, KernelMode first) {
  for (const KernelMode mode : {KernelMode::gram_kept, KernelMode::in_place})
    if (mode >= first)
      if (const KernelPlan plan = plan_of(needs, mode); plan.fits) return plan;
  return plan_of(needs, KernelMode::on_the_fly);
}

}  // namespace mokume::svc

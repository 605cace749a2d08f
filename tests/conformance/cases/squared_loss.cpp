#include <cmath>

#include "losses.hpp"

namespace mokume::conformance {
namespace {

Case squared_case(const LossCase& l) {
  return {l.name, l.size, [=] {
            Problem p;
            const mk_tensor prediction = l.prediction(p);
            const mk_tensor target = p.random(l.data_rows, l.columns, l.out, -l.range, l.range);
            const mk_tensor index = l.index(p), rows = l.rows(p);
            p.op = ops::squared_loss(prediction, target, index, l.scale, rows, l.grad(p, prediction));
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const LossCase& l : loss_cases()) list.push_back(squared_case(l));
  list.push_back(squared_case({"7x5_large_values", Size::tiny, 7, 5, 9, LossCase::apart, {}, {}, 1e15F}));
  list.push_back(squared_case({"large_16500x1030", Size::large, 16500, 1030, 900, LossCase::in_place}));
  return list;
}

std::vector<double> scale(const Problem& p, uint32_t output, const std::vector<Words>&, Machine&) {
  const mk_tensor &prediction = p.op.inputs[0], &target = p.op.inputs[1], &index = p.op.inputs[2];
  const double columns = static_cast<double>(prediction.columns);
  std::vector<double> result;
  for (int64_t r = 0; r < prediction.rows; ++r) {
    const auto row = static_cast<int64_t>(p.memory[Problem::memory_of(index)][Problem::place(index, 0, r)]);
    double squares = 0;
    for (int64_t c = 0; c < prediction.columns; ++c) {
      const double sum = std::fabs(p.at(prediction, r, c)) + std::fabs(p.at(target, row, c));
      squares += sum * sum;
      if (output == 1) result.push_back(std::fabs(p.op.reals[0]) * 2 / columns * sum);
    }
    if (output == 0) result.insert(result.end(), {squares / columns, 0.0});
  }
  return result;
}

const AddCases kAdded{{MK_OP_SQUARED_LOSS, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance

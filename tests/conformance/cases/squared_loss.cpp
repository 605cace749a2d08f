#include <cmath>

#include "losses.hpp"

namespace mokume::conformance {
namespace {

struct Form {
  const char* name;
  bool weighted;
  ops::DistanceForm form;
};

constexpr Form kPlain{"", false, {}};
constexpr Form kForms[] = {
    {"_weights", true, {}},
    {"_huber", false, {ops::Distance::huber, 0.75}},
    {"_huber_weights", true, {ops::Distance::huber, 1.5}},
    {"_smooth_l1", false, {ops::Distance::smooth_l1, 0.75}},
    {"_l1_weights", true, {ops::Distance::smooth_l1, 0}},
};

Case squared_case(const LossCase& l, const Form& form = kPlain) {
  return {l.name + form.name, l.size, [=] {
            Problem p;
            const mk_tensor prediction = l.prediction(p);
            const mk_tensor target = p.random(l.data_rows, l.columns, l.out, -l.range, l.range);
            const mk_tensor index = l.index(p), rows = l.rows(p);
            const mk_tensor weight = form.weighted ? l.weight(p) : mk_tensor{};
            p.op =
                ops::squared_loss(prediction, target, index, l.scale, rows, l.grad(p, prediction), weight, form.form);
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const LossCase& l : loss_cases()) {
    list.push_back(squared_case(l));
    for (const Form& form : kForms) list.push_back(squared_case(l, form));
  }
  const LossCase large{"7x5_large_values", Size::tiny, 7, 5, 9, LossCase::apart, {}, {}, 1e15F};
  list.push_back(squared_case(large));
  for (const Form& form : kForms) list.push_back(squared_case(large, form));
  list.push_back(squared_case({"large_16500x1030", Size::large, 16500, 1030, 900, LossCase::in_place}));
  return list;
}

// Holds the scales of the loss and the slope of one element, with m = |prediction| + |target|.
struct Bases {
  double loss, slope;
};

Bases bases(const mk_op& op, double m) {
  const double delta = op.squared_loss.form.delta;
  switch (op.squared_loss.form.distance) {
    case ops::Distance::huber:
      return {std::fmin(m * m, (1 + delta) * m), std::fmin(m, delta)};
    case ops::Distance::smooth_l1:
      return {m + (delta > 0 ? std::fmin(m * m / delta, m) : 0), 1 + (delta > 0 ? m / delta : 0)};
    default:
      return {m * m, 2 * m};
  }
}

std::vector<double> scale(const Problem& p, uint32_t output, const std::vector<Words>&, Machine&) {
  const mk_tensor &prediction = p.op.inputs[0], &target = p.op.inputs[1], &index = p.op.inputs[2];
  const double columns = static_cast<double>(prediction.columns);
  std::vector<double> result;
  for (int64_t r = 0; r < prediction.rows; ++r) {
    const auto row = static_cast<int64_t>(p.memory[Problem::memory_of(index)][Problem::place(index, 0, r)]);
    const double weight = weight_of(p, r), zero = ops::is_plain_loss(p.op) ? 0 : kAnyZero;
    double losses = 0, squares = 0;
    for (int64_t c = 0; c < prediction.columns; ++c) {
      const double sum = std::fabs(p.at(prediction, r, c)) + std::fabs(p.at(target, row, c));
      const Bases b = bases(p.op, sum);
      losses += b.loss;
      squares += sum * sum;
      if (output == 1) result.push_back(weight * std::fabs(p.op.squared_loss.scale) / columns * b.slope + zero);
    }
    if (output == 0)
      result.insert(result.end(), {weight * losses / columns + zero, ops::is_plain_loss(p.op) ? 0 : squares / columns});
  }
  return result;
}

const AddCases kAdded{{MK_OP_SQUARED_LOSS, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance

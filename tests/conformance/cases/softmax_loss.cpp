#include <cmath>
#include <limits>

#include "losses.hpp"

namespace mokume::conformance {
namespace {

mk_tensor labels(Problem& p, const LossCase& l) {
  std::vector<int32_t> values;
  for (int64_t i = 0; i < l.data_rows; ++i) values.push_back(static_cast<int32_t>((i * 31 + i / 7) % l.columns));
  return p.indices(values, l.in.offset);
}

using Change = float (*)(float);

struct Form {
  const char* name;
  bool weighted;
  ops::SoftmaxForm form;
};

constexpr Form kPlain{"", false, {}};
constexpr Form kForms[] = {
    {"_weights", true, {}},      {"_smoothing", false, {0.1, 0}},         {"_smoothing_weights", true, {0.4, 0}},
    {"_focal_2", false, {0, 2}}, {"_focal_half_weights", true, {0, 0.5}},
};

Case softmax_case(const LossCase& l, Change change = nullptr, const Form& form = kPlain) {
  return {l.name + form.name, l.size, [=] {
            Problem p;
            const mk_tensor logits = l.prediction(p);
            if (change != nullptr) p.change(logits, change);
            const mk_tensor label = labels(p, l), index = l.index(p), rows = l.rows(p);
            const mk_tensor weight = form.weighted ? l.weight(p) : mk_tensor{};
            p.op = ops::softmax_loss(logits, label, index, l.scale, rows, l.grad(p, logits), weight, form.form);
            return p;
          }};
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const LossCase& l : loss_cases()) {
    list.push_back(softmax_case(l));
    for (const Form& form : kForms)
      if (l.data_rows > 0) list.push_back(softmax_case(l, nullptr, form));
  }
  // The rows have two lengths, because devices compute long rows differently.
  const auto special = [&](const std::string& name, float range, Change change) {
    list.push_back(softmax_case({name, Size::tiny, 23, 11, 31, LossCase::apart, {1, 1}, {}, range}, change));
    list.push_back(softmax_case({name + "_long", Size::tiny, 5, 131, 31, LossCase::apart, {1, 1}, {}, range}, change));
    for (const Form& form : kForms)
      list.push_back(softmax_case({name, Size::tiny, 23, 11, 31, LossCase::apart, {1, 1}, {}, range}, change, form));
  };
  special("logits_far_apart", 300, nullptr);
  special("logits_beyond_exp", 1e4F, nullptr);
  special("equal_largest", 2, [](float x) { return std::floor(x); });
  special("all_equal", 2, [](float) { return -7.5F; });
  special("nans", 2, [](float x) { return x > 1.9F ? std::numeric_limits<float>::quiet_NaN() : x; });
  special("minus_infinity", 2, [](float x) { return x < 0 ? -std::numeric_limits<float>::infinity() : x; });
  special("plus_infinity", 2, [](float x) { return x > 1.9F ? std::numeric_limits<float>::infinity() : x; });
  special("all_minus_infinity", 2, [](float) { return -std::numeric_limits<float>::infinity(); });
  list.push_back(softmax_case({"large_16500x1030", Size::large, 16500, 1030, 900, LossCase::in_place}));
  return list;
}

std::vector<double> scale(const Problem& p, uint32_t output, const std::vector<Words>& want, Machine&) {
  const mk_tensor& logits = p.op.inputs[0];
  const std::vector<double> rows = values_of(p.op.outputs[0], want);
  std::vector<double> result;
  for (int64_t r = 0; r < logits.rows; ++r) {
    const double by = weight_of(p, r) * (1 + p.op.softmax_loss.form.gamma);
    const double zero = ops::is_plain_loss(p.op) ? 0 : kAnyZero;
    if (output == 1) {
      result.insert(result.end(), static_cast<size_t>(logits.columns), by * std::fabs(p.op.softmax_loss.scale) + zero);
      continue;
    }
    double low = p.at(logits, r, 0), high = low;
    for (int64_t c = 0; c < logits.columns; ++c) {
      low = std::fmin(low, p.at(logits, r, c));
      high = std::fmax(high, p.at(logits, r, c));
    }
    result.push_back(zero + by * (1 + std::fmin(high - low, 1e30)) + std::fabs(rows[static_cast<size_t>(2 * r)]));
    result.push_back(0);  // a hit is exactly 1 or 0
  }
  return result;
}

const AddCases kAdded{{MK_OP_SOFTMAX_LOSS, cases(), scale}};

}  // namespace
}  // namespace mokume::conformance

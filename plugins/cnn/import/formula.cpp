#include "import/formula.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

namespace mokume::cnn::onnx {
namespace {

// Formulas are compared at these points. They cover the middle of activations, but no special values.
constexpr double kFirst = -7.03, kStep = 0.137;
constexpr int kPoints = 104;
// Formulas are compared at these distances on both sides, too, since a clip may change a function only far from 0.
constexpr std::array<double, 9> kFar = {16, 128, 1e3, 1e4, 1e6, 1e9, 1e12, 1e18, 1e30};
// Exporters round constants to float32.
constexpr double kTolerance = 3e-6;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double hard_sigmoid(double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }
double gelu(double x) { return x * 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); }
double gelu_tanh(double x) {
  return x * 0.5 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

template <class Function>
bool equals(const FormulaPtr& formula, const Function& function) {
  const auto agrees = [&](double x) {
    const double wanted = function(x), is = Formula::at(formula, x);
    return std::fabs(is - wanted) <= kTolerance * (1 + std::fabs(wanted));
  };
  for (int k = 0; k < kPoints; ++k)
    if (!agrees(kFirst + k * kStep)) return false;
  return std::all_of(kFar.begin(), kFar.end(), [&](double x) { return agrees(x) && agrees(-x); });
}

double of_two(Formula::Kind kind, double a, double b) {
  switch (kind) {
    case Formula::Kind::add:
      return a + b;
    case Formula::Kind::subtract:
      return a - b;
    case Formula::Kind::multiply:
      return a * b;
    case Formula::Kind::divide:
      return a / b;
    default:
      return std::pow(a, b);
  }
}

double of_one(Formula::Kind kind, double a, double slope) {
  switch (kind) {
    case Formula::Kind::negative:
      return -a;
    case Formula::Kind::exp:
      return std::exp(a);
    case Formula::Kind::sqrt:
      return std::sqrt(a);
    case Formula::Kind::erf:
      return std::erf(a);
    case Formula::Kind::tanh:
      return std::tanh(a);
    case Formula::Kind::sigmoid:
      return sigmoid(a);
    case Formula::Kind::relu:
      return std::max(a, 0.0);
    case Formula::Kind::leaky_relu:
      return a > 0 ? a : slope * a;
    case Formula::Kind::gelu:
      return gelu(a);
    case Formula::Kind::hard_sigmoid:
      return hard_sigmoid(a);
    default:
      return gelu_tanh(a);
  }
}

bool is_constant(const Affine& a) { return a.scale == 0; }

std::optional<Affine> finite(const Affine& a) {
  return std::isfinite(a.scale) && std::isfinite(a.shift) ? std::optional(a) : std::nullopt;
}

std::optional<Affine> affine_of_two(Formula::Kind kind, const Affine& a, const Affine& b) {
  if (kind == Formula::Kind::add) return finite({a.scale + b.scale, a.shift + b.shift});
  if (kind == Formula::Kind::subtract) return finite({a.scale - b.scale, a.shift - b.shift});
  if (is_constant(a) && is_constant(b)) return finite({0, of_two(kind, a.shift, b.shift)});
  if (kind == Formula::Kind::multiply && is_constant(a)) return finite({a.shift * b.scale, a.shift * b.shift});
  if (kind == Formula::Kind::multiply && is_constant(b)) return finite({a.scale * b.shift, a.shift * b.shift});
  if (kind == Formula::Kind::divide && is_constant(b)) return finite({a.scale / b.shift, a.shift / b.shift});
  if (kind == Formula::Kind::power && is_constant(b) && b.shift == 1) return a;
  return std::nullopt;
}

std::optional<Affine> affine_of_one(const Formula& f, const Affine& a) {
  if (f.kind() == Formula::Kind::negative) return Affine{-a.scale, -a.shift};
  if (f.kind() == Formula::Kind::leaky_relu && f.value() == 1) return a;
  if (is_constant(a)) return finite({0, of_one(f.kind(), a.shift, f.value())});
  return std::nullopt;
}

}  // namespace

FormulaPtr Formula::number(double value) { return FormulaPtr(new Formula(Kind::number, value)); }

FormulaPtr Formula::make(Kind kind, FormulaPtr a, FormulaPtr b, double value) {
  auto made = std::unique_ptr<Formula>(new Formula(kind, value));
  for (const FormulaPtr& part : {a, b}) made->size_ += part == nullptr ? 0 : part->size_;
  made->a_ = std::move(a);
  made->b_ = std::move(b);
  return made;
}

double Formula::at(const FormulaPtr& formula, double x) {
  if (formula == nullptr) return x;
  const Formula& f = *formula;
  if (f.kind_ == Kind::number) return f.value_;
  const double a = at(f.a_, x);
  return f.is_binary() ? of_two(f.kind_, a, at(f.b_, x)) : of_one(f.kind_, a, f.value_);
}

double decimal(float value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  double number = 0;
  std::from_chars(text.data(), end, number);
  return number;
}

// Decides by the operators and not by values, because a function may bend anywhere.
std::optional<Affine> as_affine(const FormulaPtr& formula) {
  if (formula == nullptr) return Affine{1, 0};
  if (formula->is_number()) return Affine{0, formula->value()};
  const auto a = as_affine(formula->a());
  if (!a) return std::nullopt;
  if (!formula->is_binary()) return affine_of_one(*formula, *a);
  const auto b = as_affine(formula->b());
  return b ? affine_of_two(formula->kind(), *a, *b) : std::nullopt;
}

std::optional<nlohmann::ordered_json> as_activation(const FormulaPtr& formula) {
  using nlohmann::ordered_json;
  if (formula == nullptr) return std::nullopt;
  if (equals(formula, [](double x) { return std::max(x, 0.0); })) return ordered_json{{"type", "relu"}};
  const double slope = -Formula::at(formula, -1);
  if (slope >= 0 && slope < 1e6 && equals(formula, [&](double x) { return x > 0 ? x : slope * x; }))
    return ordered_json{{"type", "leaky_relu"}, {"negative_slope", decimal(float(slope))}};
  if (equals(formula, gelu)) return ordered_json{{"type", "gelu"}};
  if (equals(formula, gelu_tanh)) return ordered_json{{"type", "gelu"}, {"approximate", "tanh"}};
  if (equals(formula, [](double x) { return x * sigmoid(x); })) return ordered_json{{"type", "silu"}};
  if (equals(formula, [](double x) { return std::tanh(x); })) return ordered_json{{"type", "tanh"}};
  if (equals(formula, sigmoid)) return ordered_json{{"type", "sigmoid"}};
  if (equals(formula, hard_sigmoid)) return ordered_json{{"type", "hard_sigmoid"}};
  if (equals(formula, [](double x) { return x * hard_sigmoid(x); })) return ordered_json{{"type", "hard_swish"}};
  return std::nullopt;
}

}  // namespace mokume::cnn::onnx

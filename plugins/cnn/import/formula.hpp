// Recognises functions of one number that a graph expresses with several operators, such as gelu and silu. Compares a
// formula with mokume's activations at many points, so that different spellings by exporters do not matter.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace mokume::cnn::onnx {

class Formula;
using FormulaPtr = std::shared_ptr<const Formula>;  // null stands for x

class Formula {
 public:
  enum class Kind {
    number,
    add,
    subtract,
    multiply,
    divide,
    power,
    negative,
    exp,
    sqrt,
    erf,
    tanh,
    sigmoid,
    relu,
    leaky_relu,
    gelu,
    gelu_tanh,
    hard_sigmoid
  };

  static FormulaPtr number(double value);
  // `b` serves operators on two numbers; a leaky_relu stores its slope in `value`.
  static FormulaPtr make(Kind kind, FormulaPtr a, FormulaPtr b = nullptr, double value = 0);

  Kind kind() const { return kind_; }
  const FormulaPtr& a() const { return a_; }
  const FormulaPtr& b() const { return b_; }
  bool is_binary() const { return kind_ >= Kind::add && kind_ <= Kind::power; }
  bool is_number() const { return kind_ == Kind::number; }
  double value() const { return value_; }
  size_t size() const { return size_; }  // number of operators; a shared part counts each time it occurs

  static double at(const FormulaPtr& formula, double x);

 private:
  Formula(Kind kind, double value) : kind_(kind), value_(value) {}

  const Kind kind_;
  const double value_;
  FormulaPtr a_, b_;
  size_t size_ = 1;
};

// Limits the formulas to compare. Activations have at most a dozen operators.
inline constexpr size_t kMostOperators = 64;

// Returns the shortest decimal number that rounds to a float32, such as 0.1 in place of 0.10000000149.
double decimal(float value);

struct Affine {
  double scale, shift;
};
// Returns scale and shift if the formula is scale * x + shift.
std::optional<Affine> as_affine(const FormulaPtr& formula);

// Returns the JSON of the layer that computes this formula, or nothing if there is none.
std::optional<nlohmann::ordered_json> as_activation(const FormulaPtr& formula);

}  // namespace mokume::cnn::onnx

// The layers of networks. Each is one file of this folder, which holds its keys, its shape rule, its parameters and
// their initial values, its passes forward and back, and its costs; table.cpp lists them (docs/howto/add-layer.md). The
// folder above forms networks of them, places their memory and trains them.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"
#include "keys.hpp"
#include "layers/parameter.hpp"
#include "parameters.hpp"
#include "sdk/ops/bias_act.hpp"
#include "sdk/ops/dropout.hpp"
#include "sdk/ops/optimizer_step.hpp"

namespace mokume::cnn {

class Layer;
class Plan;

// The values of a layer's keys, which are in the ranges of its description.
class Values {
 public:
  // Error(MK_BAD_DATA): a saved model may hold anything.
  Values(const nlohmann::json& values, const mk_form& form);

  int64_t integer(const char* key) const;
  double real(const char* key) const;
  bool flag(const char* key) const;

 private:
  const nlohmann::json& values_;
};

struct LayerType {
  mk_form form;
  std::shared_ptr<Layer> (*make)(const Values& values, Plan& plan);
};

// A layer sees this while it is made: its input, and the parameters, to which it adds its own.
class Plan {
 public:
  // The layer's parameters go to the end of `all`.
  Plan(const LayerType& layer, uint32_t number, const Shape& input, std::vector<Parameter>& all)
      : type(layer), index(number), in(input), parameters_(all) {}

  const LayerType& type;
  const uint32_t index;  // in the list of layers, from 0
  const Shape in;
  bool first = false;  // nothing has changed the data yet
  bool last = false;
  bool classifies = false;

  // Error(MK_INVALID_ARGUMENT) that names the layer.
  [[noreturn]] void refuse(const std::string& what, const std::string& cure) const;
  void need_images() const {
    if (in.flat) refuse("it needs images, and its input is rows of features", "put it before flatten");
  }
  // Returns its index among the network's parameters.
  int parameter(Parameter parameter);
  // A weight from `from` to `outputs` and, if wanted, a bias, initialised as PyTorch does.
  void weight_and_bias(const Shape& from, int64_t outputs, Parameter::Kind kind, bool with_bias, int* weight,
                       int* bias);

 private:
  std::vector<Parameter>& parameters_;
};

// The operands of one layer in a pass over a batch.
struct Pass {
  const sdk::Device& device;
  std::vector<mk_op>* queue;  // takes the ops; nullptr: they go to the device
  const ParameterVector& weights;
  std::span<const Slice> buffers;    // those that the layer asked for
  const ops::DropoutPlace* dropout;  // nullptr: nothing is dropped
  mk_tensor x, y;                    // input and output: rows x elements
  mk_tensor dy = {}, dx = {};        // on the way back: their gradients; where nobody needs it, dx is empty
  const Slice* ones = nullptr;       // on the way back: a vector of as many ones as a batch has rows
  // On the way back: x is what relu gave. A layer may take the relu's gradient too: then it puts dx where x was and
  // sets `relu_done`.
  bool x_is_relu = false, relu_done = false;

  void submit(const mk_op& op) const { queue != nullptr ? queue->push_back(op) : device.submit(op); }
};

// The step that a layer takes on its way back.
struct OwnStep {
  const ops::OptimizerSettings& settings;
  int64_t t;
  const ParameterVector& gradients;  // for what does not take the step by itself
  std::span<const ParameterVector> states;
};

// Layers are not changed once their network is made, and several engines share them.
class Layer {
 public:
  struct Buffer {
    int64_t per_row, fixed;  // elements of 4 bytes
  };

  explicit Layer(const Plan& plan) : type(plan.type), index(plan.index), in(plan.in), out(plan.in) {}
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  const LayerType& type;
  const uint32_t index;  // in the list of layers, from 0
  const Shape in;

  // ---- what the constructor of a layer sets ----

  Shape out;                                           // the input's, if it is not set
  bool runs = true;                                    // false: it computes nothing
  ops::Activation activation = ops::Activation::none;  // done last; its own, or that of a layer that it absorbed
  bool overwrites = false;                             // it can work on its input's memory, ...
  bool keeps_zeros = false;                            // ... and then a relu before it still sees its zeros there
  bool per_feature = false;                            // use_moments() wants those of the rows that are trained on
  std::vector<Buffer> buffers;
  double products = 0;           // multiply-adds of a row on its way forward
  int64_t workspace = 0;         // elements that a backend may need in addition, whatever the batch
  std::vector<int64_t> variant;  // values of keys that other ops follow from than from the shapes alone

  // ---- what a layer does ----

  // Whether this layer does `next`, which is an activation that follows it at once, in its own op.
  virtual bool absorbs(const Layer&) const { return false; }
  // Writes what its buffers hold before the first pass.
  virtual void fill_buffers(const sdk::Device&, std::span<const Slice>) const {}
  virtual void use_moments(const sdk::Device&, std::span<const Slice>, const std::vector<float>& /*mean*/,
                           const std::vector<float>& /*deviation*/) const {}
  virtual void forward(const Pass&) const {}
  // The gradient of the input.
  virtual void backward(Pass&) const {}
  // The gradients of the parameters, replacing the old ones.
  virtual void gradients(const Pass&, const ParameterVector& /*to*/) const {}
  // The parameter whose gradient backward_with_step() does not keep; -1: there is no such thing for this optimizer.
  virtual int stepped_parameter(const ops::OptimizerSettings&, int64_t /*batch*/) const { return -1; }
  // In the place of gradients() and backward().
  virtual void backward_with_step(Pass&, const OwnStep&) const {}

  // ---- what the network sets ----

  bool in_place = false;                          // it works on its input's memory: nobody needs what was there
  bool relu_before = false;                       // a relu before it looks at that memory on the way back
  int64_t first_parameter = 0, n_parameters = 0;  // elements of the flat vector
  int parameters_begin = 0, parameters_end = 0;   // among the network's parameters

  bool ends_in_relu() const { return activation == ops::Activation::relu; }
};

template <class Made>
std::shared_ptr<Layer> make(const Values& values, Plan& plan) {
  return std::make_shared<Made>(values, plan);
}

template <class Made, size_t N>
constexpr LayerType layer_type(const char* name, const char* doc, const mk_param (&keys)[N]) {
  return {{name, doc, keys, N, 0}, make<Made>};
}
template <class Made>
constexpr LayerType layer_type(const char* name, const char* doc) {
  return {{name, doc, nullptr, 0, 0}, make<Made>};
}

}  // namespace mokume::cnn

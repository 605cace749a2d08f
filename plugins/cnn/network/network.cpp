#include "network/network.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "layers/table.hpp"
#include "network/freeze.hpp"
#include "sdk/ops/linear_update.hpp"

namespace mokume::cnn {
namespace {

using nlohmann::json;

// Lets stages overwrite their input, unless several stages read it or the stage that computed it needs it for its
// backward pass. A relu needs only the zeros of its output, so a layer that preserves zeros may overwrite that output.
void share_memory(const std::vector<Layer*>& stages, const std::vector<int>& readers) {
  std::vector<bool> relu(stages.size() + 1);  // whether a relu needs the memory of each value
  for (size_t k = 0; k < stages.size(); ++k) {
    Layer& s = *stages[k];
    const size_t x = s.reads.front();
    const bool kept = readers[x] > 1 || (x > 0 && stages[x - 1]->reads_output);
    s.in_place = s.overwrites && !kept && (s.keeps_zeros || !relu[x]);
    s.in_place_to_predict = s.in_place || (s.overwrites_to_predict && readers[x] == 1);
    s.relu_before = relu[x] && s.in_place;
    relu[k + 1] = s.relu_before || (s.ends_in_relu() && !s.grads_activation);
  }
}

void check_outputs(const Network& network, int64_t outputs, const LayerPlan& last) {
  const Shape& out = network.layers.back()->out;
  if (!out.flat)
    last.refuse("the output of the network is images of " + text(out), "end it with flatten and a linear layer");
  if (out.elements() != outputs)
    last.refuse("the network has " + text(out) + " outputs, but the data needs " + std::to_string(outputs),
                "set the last layer's out_features to " + std::to_string(outputs));
  if (network.parameters.empty())
    last.refuse("the network has no trainable parameters", "add a linear or a conv2d layer");
}

bool same(const Layer* a, const Layer* b) {
  return &a->type == &b->type && a->in == b->in && a->out == b->out && a->variant == b->variant &&
         a->activation == b->activation && a->reads == b->reads && a->n_parameters == b->n_parameters &&
         a->per_feature == b->per_feature && a->frozen == b->frozen;
}

// Builds the layers in order, and finds the value that each of them computes.
class Builder {
 public:
  Builder(const Settings& settings, const Shape& input, int64_t outputs)
      : classifies_(settings.loss == Loss::cross_entropy),
        outputs_(outputs),
        freeze_(settings.freeze, settings.absent) {
    net_.input = input;
  }

  Network build(const json& layers) {
    if (layers.empty()) throw Error(MK_INVALID_ARGUMENT, "the network has no layers: add [[model_options.layers]]");
    find_inputs(layers);
    for (const json& description : layers) add(description);
    freeze_.check(net_.layers);
    net_.output = value_.back();
    net_.readers.assign(stages_.size() + 1, 0);
    for (const Layer* s : stages_)
      for (const size_t v : s->reads) ++net_.readers[v];
    ++net_.readers[net_.output];
    share_memory(stages_, net_.readers);
    net_.stages.assign(stages_.begin(), stages_.end());
    find_trained();
    net_.gradient_flow = gradient_flow(net_.stages, net_.trained, net_.output);
    return std::move(net_);
  }

 private:
  static std::string name_of(const json& layer) { return layer.value("name", ""); }

  void find_inputs(const json& layers) {
    std::map<std::string, int> named{{"input", -1}};
    readers_.assign(layers.size(), 0);
    for (int index = 0; const json& layer : layers) {
      std::vector<int>& inputs = inputs_.emplace_back();
      std::istringstream names(layer.value("inputs", ""));
      for (std::string name; std::getline(names, name, ',');) {
        const auto known = named.find(name);
        if (known == named.end()) throw Error(MK_BAD_DATA, "a layer of the network reads an unknown layer");
        inputs.push_back(known->second);
      }
      if (inputs.empty()) inputs.push_back(index - 1);
      for (const int i : inputs)
        if (i >= 0) ++readers_[i];
      const std::string name = name_of(layer);
      if (!named.emplace(name.empty() ? std::to_string(index) : name, index).second)
        throw Error(MK_BAD_DATA, "two layers of the network have one name");
      ++index;
    }
    for (size_t i = 0; i + 1 < readers_.size(); ++i)
      if (readers_[i] == 0) throw Error(MK_BAD_DATA, "a layer of the network is read by no other");
  }

  void add(const json& description) {
    const auto index = uint32_t(net_.layers.size());
    const std::vector<int>& inputs = inputs_[index];
    std::vector<Shape> shapes;
    for (const int i : inputs) shapes.push_back(i < 0 ? net_.input : net_.layers[i]->out);
    const auto begin = int(net_.parameters.size());
    LayerPlan plan(layer_type_of(description), index, name_of(description), std::move(shapes), net_.parameters);
    plan.first = stages_.empty();
    plan.last = index + 1 == inputs_.size();
    plan.classifies = classifies_;
    plan.frozen = freeze_.holds(plan.name);
    if (inputs.size() > 1 && !plan.type.joins)
      plan.refuse("it reads one layer, but its inputs are " + std::to_string(inputs.size()),
                  "join them with add, multiply or concat before it");
    const std::shared_ptr<Layer> layer = plan.type.make(Values(description, plan.type.form), plan);
    net_.layers.push_back(layer);
    layer->inputs = inputs;
    layer->first_parameter = net_.n_parameters;
    layer->parameters_begin = begin;
    layer->parameters_end = int(net_.parameters.size());
    for (int p = begin; p < layer->parameters_end; ++p) layer->n_parameters += net_.parameters[p].size();
    net_.n_parameters += layer->n_parameters;
    place(*layer);
    if (plan.last) check_outputs(net_, outputs_, plan);
  }

  // A layer that computes is a stage, unless the stage before it absorbs it.
  void place(Layer& layer) {
    const int first = layer.inputs.front();
    const size_t x = first < 0 ? 0 : value_[first];
    Layer* const before = x == 0 ? nullptr : stages_[x - 1];
    if (before != nullptr && int(before->index) == first && readers_[first] == 1 && before->absorbs(layer)) {
      before->activation = layer.activation;
      value_.push_back(x);
    } else if (!layer.runs) {
      value_.push_back(x);
    } else {
      for (const int i : layer.inputs) layer.reads.push_back(i < 0 ? 0 : value_[i]);
      stages_.push_back(&layer);
      value_.push_back(stages_.size());
    }
  }

  void find_trained() {
    net_.trained.assign(stages_.size() + 1, false);
    for (size_t k = 0; k < stages_.size(); ++k) {
      const std::vector<size_t>& reads = stages_[k]->reads;
      net_.trained[k + 1] = (stages_[k]->n_parameters > 0 && !stages_[k]->frozen) ||
                            std::any_of(reads.begin(), reads.end(), [&](size_t v) { return net_.trained[v]; });
    }
  }

  const bool classifies_;
  const int64_t outputs_;
  const Freeze freeze_;
  Network net_;
  std::vector<std::vector<int>> inputs_;  // indexed by layer
  std::vector<int> readers_;              // number of layers that read each layer
  std::vector<size_t> value_;             // value that each layer computes
  std::vector<Layer*> stages_;
};

}  // namespace

Network make_network(const Settings& settings, const Shape& input, int64_t outputs) {
  try {
    return Builder(settings, input, outputs).build(json::parse(settings.layers));
  } catch (const json::exception& e) {
    throw Error(MK_BAD_DATA, std::string("the saved network description is corrupt: ") + e.what());
  }
}

bool same_shape(const Network& a, const Settings& a_settings, const Network& b, const Settings& b_settings) {
  const auto keys = [](const Settings& s) {
    return std::tuple(s.batch_size, s.accumulate, s.loss, s.loss_form.is_plain(), s.weighted, s.mixup_alpha > 0,
                      s.cutmix_alpha > 0, s.mirrors, s.standardise_target, s.ema_decay > 0, s.stop.restore_best,
                      s.optimizer.kind, s.optimizer.states(), s.optimizer.clip > 0, s.muon.ns_steps,
                      s.muon.momentum > 0,

                      ops::has_linear_update(s.optimizer, s.batch_size));
  };
  return keys(a_settings) == keys(b_settings) && a_settings.augment == b_settings.augment &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(), same);
}

}  // namespace mokume::cnn

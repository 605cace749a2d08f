#include "network.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "layers/table.hpp"

namespace mokume::cnn {
namespace {

using nlohmann::json;

// The gradient of a relu is 0 where its output is 0, so the relu needs its output. A layer that keeps zeros may
// overwrite it.
void share_memory(const std::vector<Layer*>& stages) {
  bool relu = false;
  for (Layer* s : stages) {
    s->in_place = s->overwrites && (s->keeps_zeros || !relu);
    s->relu_before = relu && s->in_place;
    relu = s->relu_before || s->ends_in_relu();
  }
}

void check_outputs(const Network& network, int64_t outputs, const Plan& last) {
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
         a->activation == b->activation && a->n_parameters == b->n_parameters && a->per_feature == b->per_feature;
}

Network network_of(const json& layers, const Settings& settings, const Shape& input, int64_t outputs) {
  if (layers.empty()) throw Error(MK_INVALID_ARGUMENT, "the network has no layers: add [[model_options.layers]]");
  Network net;
  net.input = input;
  std::vector<Layer*> stages;
  for (const json& description : layers) {
    const auto index = uint32_t(net.layers.size());
    const auto begin = int(net.parameters.size());
    Plan plan(layer_type_of(description), index, index == 0 ? input : net.layers.back()->out, net.parameters);
    plan.first = stages.empty();
    plan.last = index + 1 == layers.size();
    plan.classifies = settings.loss == Loss::cross_entropy;
    const std::shared_ptr<Layer> layer = plan.type.make(Values(description, plan.type.form), plan);
    net.layers.push_back(layer);
    layer->first_parameter = net.n_parameters;
    layer->parameters_begin = begin;
    layer->parameters_end = int(net.parameters.size());
    for (int p = begin; p < layer->parameters_end; ++p) layer->n_parameters += net.parameters[p].size();
    net.n_parameters += layer->n_parameters;
    if (!stages.empty() && stages.back()->index + 1 == index && stages.back()->absorbs(*layer))
      stages.back()->activation = layer->activation;
    else if (layer->runs)
      stages.push_back(layer.get());
    if (plan.last) check_outputs(net, outputs, plan);
  }
  share_memory(stages);
  net.stages.assign(stages.begin(), stages.end());
  while (net.stages[net.first_trained]->n_parameters == 0) ++net.first_trained;
  return net;
}

}  // namespace

Network make_network(const Settings& settings, const Shape& input, int64_t outputs) {
  try {
    return network_of(json::parse(settings.layers), settings, input, outputs);
  } catch (const json::exception& e) {
    throw Error(MK_BAD_DATA, std::string("the layers of the network are damaged: ") + e.what());
  }
}

bool same_shape(const Network& a, const Settings& a_settings, const Network& b, const Settings& b_settings) {
  const ops::OptimizerSettings &x = a_settings.optimizer, &y = b_settings.optimizer;
  return a_settings.batch_size == b_settings.batch_size && a_settings.loss == b_settings.loss &&
         a_settings.standardise_target == b_settings.standardise_target && x.kind == y.kind &&
         x.states() == y.states() &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(), same);
}

std::string describe(const Network& network) {
  std::string out;
  const auto add_row = [&](std::string a, std::string b, const std::string& c) {
    a.resize(std::max<size_t>(a.size() + 1, 26), ' ');
    b.resize(std::max<size_t>(b.size() + 1, 18), ' ');
    out += "  " + a + b + c + "\n";
  };
  add_row("layers", "output", "parameters");
  add_row("input", text(network.input), "");
  for (const auto& layer : network.layers) {
    const int64_t count = layer->n_parameters;
    add_row("[" + std::to_string(layer->index) + "] " + layer->type.form.name, text(layer->out),
            count == 0 ? "" : std::to_string(count));
  }
  return out + "  " + std::to_string(network.n_parameters) + " parameters\n";
}

}  // namespace mokume::cnn

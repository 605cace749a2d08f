#include "layers/table.hpp"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "layers/initialisation.hpp"
#include "network/expand.hpp"

// Lists the layers in the order of the documentation. Each layer is defined by the file with its name.
// clang-format off
#define MOKUME_CNN_LAYERS(layer) \
  layer(kConv2d)                 \
  layer(kConvTranspose2d)        \
  layer(kLinear)                 \
  layer(kEmbedding)              \
  layer(kRelu)                   \
  layer(kLeakyRelu)              \
  layer(kGelu)                   \
  layer(kSilu)                   \
  layer(kTanh)                   \
  layer(kSigmoid)                \
  layer(kHardSigmoid)            \
  layer(kHardSwish)              \
  layer(kSoftmax)                \
  layer(kMaxPool2d)              \
  layer(kAvgPool2d)              \
  layer(kAdaptiveAvgPool2d)      \
  layer(kAdaptiveMaxPool2d)      \
  layer(kBatchNorm)              \
  layer(kLayerNorm)              \
  layer(kGroupNorm)              \
  layer(kLrn)                    \
  layer(kDropout)                \
  layer(kFlatten)                \
  layer(kAdd)                    \
  layer(kMultiply)               \
  layer(kConcat)                 \
  layer(kChannelShuffle)         \
  layer(kNormalise)              \
  layer(kLogSoftmax)
// clang-format on

namespace mokume::cnn {

// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration takes none
#define MOKUME_CNN_DECLARE(layer) extern const LayerType layer;
#define MOKUME_CNN_ADDRESS(layer) &(layer),
MOKUME_CNN_LAYERS(MOKUME_CNN_DECLARE)

namespace {

constexpr const LayerType* kLayers[] = {MOKUME_CNN_LAYERS(MOKUME_CNN_ADDRESS)};

}  // namespace

mk_param layers_param() {
  static const auto keys = [] {
    std::array<std::vector<mk_param>, std::size(kLayers)> all;
    for (size_t i = 0; i < all.size(); ++i) {
      const mk_form& form = kLayers[i]->form;
      all[i].assign(form.params, form.params + form.n_params);
      all[i].insert(all[i].end(), kGraphKeys.begin(), kGraphKeys.end());
    }
    return all;
  }();
  static const auto forms = [] {
    std::vector<mk_form> all;
    for (size_t i = 0; i < keys.size(); ++i)
      all.push_back({kLayers[i]->form.name, kLayers[i]->form.doc, keys[i].data(), uint32_t(keys[i].size()), 0});
    all.push_back(block_form());
    return all;
  }();
  return {"layers",
          MK_PARAM_FORMS,
          MK_PARAM_EXPANDED,
          0,
          0,
          "[{ type = \"flatten\" }, { type = \"linear\", out_features = 10 }]",
          kBlocks,
          "the network, from input to output",
          forms.data(),
          uint32_t(forms.size()),
          0};
}

const LayerType& layer_type_of(const nlohmann::json& layer) {
  const std::string name = layer.at("type");
  for (const LayerType* type : kLayers)
    if (type->form.name == name) return *type;
  throw Error(MK_BAD_DATA, "unknown layer '" + name + "'");
}

Values::Values(const nlohmann::json& values, const mk_form& form) : values_(values), form_(form) {
  for (const mk_param& key : std::span(form.params, form.n_params)) {
    if (key.type == MK_PARAM_TEXT) check_choice(key);
    if (key.type == MK_PARAM_BOOL || key.type == MK_PARAM_TEXT) continue;
    const double v = real(key.name);
    if (!(v >= key.minimum && v <= key.maximum) || (v == key.minimum && (key.flags & MK_PARAM_EXCLUSIVE_MIN) != 0))
      throw Error(MK_BAD_DATA, "a layer of the network has a size out of range");
  }
}

void Values::check_choice(const mk_param& key) const {
  const std::string choices = "|" + std::string(key.choices) + "|";
  if (choices.find("|" + text(key.name) + "|") == std::string::npos)
    throw Error(MK_BAD_DATA, "a layer of the network has an unknown " + std::string(key.name));
}

nlohmann::json Values::value(const char* key) const {
  for (const mk_param& known : std::span(form_.params, form_.n_params))
    if (std::string_view(known.name) == key) return value_of(values_, known);
  throw Error(MK_INTERNAL, std::string("a layer has no key ") + key);
}

int64_t Values::integer(const char* key) const { return value(key).get<int64_t>(); }
double Values::real(const char* key) const { return value(key).get<double>(); }
bool Values::flag(const char* key) const { return value(key).get<bool>(); }
std::string Values::text(const char* key) const { return value(key).get<std::string>(); }

void LayerPlan::refuse(const std::string& what, const std::string& cure) const {
  const std::string title = named ? "layer '" + name + "'" : "layers[" + name + "]";
  throw Error(MK_INVALID_ARGUMENT, title + " (" + type.form.name + "): " + what + "; " + cure);
}

int LayerPlan::parameter(Parameter p) {
  if (!parameters_.empty()) p.offset = parameters_.back().offset + parameters_.back().size();
  if (p.offset + double(p.rows()) * p.outputs > 0x1p40)
    refuse("the network has more than 2^40 parameters", "make it smaller");
  p.name = name + "." + p.name;
  p.frozen = frozen;
  parameters_.push_back(std::move(p));
  return int(parameters_.size()) - 1;
}

void LayerPlan::weight_and_bias(const Shape& from, int64_t outputs, int64_t biases, Parameter::Kind kind,
                                const Values& v, int* weight, int* bias) {
  const double bound = 1 / std::sqrt(from.elements());
  Parameter w{"weight", from, outputs, kind, bound}, b{"bias", from, biases, Parameter::Kind::bias, bound};
  initialise(w, v);
  initialise_bias(b, v);
  *weight = parameter(std::move(w));
  *bias = v.flag("bias") ? parameter(std::move(b)) : -1;
}

}  // namespace mokume::cnn

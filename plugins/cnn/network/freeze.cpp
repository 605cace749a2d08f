#include "network/freeze.hpp"

#include <algorithm>
#include <sstream>

#include "layers/layer.hpp"

namespace mokume::cnn {
namespace {

bool is_within(std::string_view layer, std::string_view name) {
  return layer.starts_with(name) && (layer.size() == name.size() || layer[name.size()] == '.');
}

}  // namespace

Freeze::Freeze(const std::string& names, std::vector<std::string> absent) : absent_(std::move(absent)) {
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, ',');) names_.push_back(name);
}

bool Freeze::holds(std::string_view layer) const {
  return std::any_of(names_.begin(), names_.end(), [&](const std::string& name) { return is_within(layer, name); });
}

void Freeze::check(std::span<const std::shared_ptr<const Layer>> layers) const {
  for (const std::string& name : names_) {
    const auto found = [&](const auto& layer) { return layer->n_parameters > 0 && is_within(layer->name, name); };
    const auto found_elsewhere = [&](const std::string& layer) { return is_within(layer, name); };
    if (std::any_of(layers.begin(), layers.end(), found) ||
        std::any_of(absent_.begin(), absent_.end(), found_elsewhere))
      continue;
    constexpr size_t kShown = 12;
    std::vector<std::string> known;
    for (const auto& layer : layers)
      if (layer->n_parameters > 0) known.push_back(layer->name);
    std::string list;
    for (size_t k = 0; k < std::min(kShown, known.size()); ++k) list += (k == 0 ? "" : ", ") + known[k];
    throw Error(MK_INVALID_ARGUMENT, "freeze: no layer with parameters is called '" + name +
                                         "'; these layers have some: " + list + (known.size() > kShown ? ", ..." : ""));
  }
}

}  // namespace mokume::cnn

// The names in model_options.freeze: layers whose parameters keep their values.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mokume::cnn {

class Layer;

class Freeze {
 public:
  // `names` are joined by commas. A name is that of a layer, or of a block, whose layers it stands for: "stage" and
  // "stage.1" hold "stage.1.main". Layers without a name are called by their places.
  explicit Freeze(const std::string& names);

  bool holds(std::string_view layer) const;
  // Throws Error(MK_INVALID_ARGUMENT) if a name holds no layer with parameters.
  void check(std::span<const std::shared_ptr<const Layer>> layers) const;

 private:
  std::vector<std::string> names_;
};

}  // namespace mokume::cnn

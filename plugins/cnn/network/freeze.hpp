// Reads the names in model_options.freeze: layers whose parameters keep their values.
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
  // `names` is a comma-separated list of layers or blocks. A block stands for its layers: "stage" and "stage.1" contain
  // "stage.1.main". The index of a layer without a name is its name. `absent` names layers that only other candidates
  // have.
  explicit Freeze(const std::string& names, std::vector<std::string> absent = {});

  bool holds(std::string_view layer) const;
  // Throws Error(MK_INVALID_ARGUMENT) if a name stands for no layer with parameters and for no absent layer.
  void check(std::span<const std::shared_ptr<const Layer>> layers) const;

 private:
  std::vector<std::string> names_, absent_;
};

}  // namespace mokume::cnn

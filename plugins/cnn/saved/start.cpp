#include "saved/start.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "saved/fitted.hpp"

namespace mokume::cnn {
namespace {

std::string sizes_of(const safetensors::Shape& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text.empty() ? "a single number" : text;
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  std::string list;
  for (size_t k = 0; k < std::min(kShown, names.size()); ++k) list += (k == 0 ? "" : ", ") + names[k];
  return names.size() <= kShown ? list : list + " and " + std::to_string(names.size() - kShown) + " more";
}

// PyTorch counts batches for a kind of momentum that mokume does not have.
bool is_count(std::string_view name) { return name.ends_with(".num_batches_tracked"); }

}  // namespace

Start::Start(const std::string& path, std::string_view bytes, const Network& network)
    : path_(path), network_(network), reader_(path, bytes) {
  std::set<std::string_view> known;
  size_t found = 0;
  for (const Parameter& p : network.parameters) {
    known.insert(p.name);
    const safetensors::Tensor* tensor = reader_.find(p.name);
    if (tensor == nullptr) {
      missing_.push_back(p.name);
    } else {
      check(p, *tensor);
      ++found;
    }
  }
  if (network.wants_moments()) read_moments();
  for (const safetensors::Tensor& tensor : reader_.tensors()) {
    const bool moments = tensor.name == kMeanTensor || tensor.name == kDeviationTensor;
    if (known.count(tensor.name) == 0 && !is_count(tensor.name) && !(moments && has_moments()))
      extra_.push_back(tensor.name);
  }
  if (found == 0)
    throw Error(MK_BAD_DATA, "start: " + path_ + " has no tensor for any layer of the network, which needs " +
                                 list_of(missing_) + (extra_.empty() ? "" : ", but it has " + list_of(extra_)) +
                                 ": name the layers as the file does");
}

void Start::check(const Parameter& p, const safetensors::Tensor& tensor) const {
  if (tensor.dtype != safetensors::Dtype::f32)
    throw Error(MK_BAD_DATA, "start: the tensor " + p.name + " of " + path_ + " has whole numbers: save it as float32");
  if (tensor.shape != p.torch_shape())
    throw Error(MK_BAD_DATA, "start: the tensor " + p.name + " of " + path_ + " is " + sizes_of(tensor.shape) +
                                 ", but the network needs " + sizes_of(p.torch_shape()) +
                                 ": change the layer, or rename it so that it keeps its random values");
  const std::vector<float> all = values(p, tensor);
  if (!std::all_of(all.begin(), all.end(), [](float v) { return std::isfinite(v); }))
    throw Error(MK_BAD_DATA, "start: the tensor " + p.name + " of " + path_ +
                                 " has a value that is not finite: its training diverged; take another file");
}

void Start::read_moments() {
  const int64_t features = network_.input.elements();
  const auto read = [&](const char* name, std::vector<float>& to) {
    const safetensors::Tensor* tensor = reader_.find(name);
    if (tensor == nullptr || !tensor->is({features})) return false;
    to.resize(size_t(features));
    reader_.read(*tensor, to.data());
    return std::all_of(to.begin(), to.end(), [](float v) { return std::isfinite(v); });
  };
  if (!read(kMeanTensor, moments_.feature_mean) || !read(kDeviationTensor, moments_.feature_deviation)) moments_ = {};
}

std::vector<float> Start::values(const Parameter& p, const safetensors::Tensor& tensor) const {
  std::vector<float> in_file(size_t(p.size())), here(size_t(p.size()));
  reader_.read(tensor, in_file.data());
  Parameter alone = p;
  alone.offset = 0;
  from_torch(alone, in_file.data(), 0, p.outputs, here);
  return here;
}

void Start::write(const ParameterVector& to) const {
  for (const Parameter& p : network_.parameters)
    if (const safetensors::Tensor* tensor = reader_.find(p.name)) to.write(p.offset, values(p, *tensor));
}

std::string Start::warning() const {
  std::string text;
  if (!missing_.empty()) text = "it has no tensor for " + list_of(missing_) + ", which begin with random values";
  if (!extra_.empty())
    text += (text.empty() ? "it" : "; it") + std::string(" has ") + list_of(extra_) +
            ", for which the network has no layer";
  return text.empty() ? "" : "start: " + path_ + ": " + text;
}

}  // namespace mokume::cnn

// Replaces random initial parameters by the tensors of the same names in a safetensors file. Fitted::save() and
// PyTorch's state_dict() use these names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data.hpp"
#include "network/network.hpp"
#include "storage/safetensors.hpp"

namespace mokume::cnn {

class Start {
 public:
  // `bytes` is the content of the file, which may be anything; `bytes` and the network must outlive the object. Throws
  // Error(MK_BAD_DATA) if the content is not a safetensors file, if the file has none of the network's tensors, or if
  // one of them has the wrong type or shape or a value that is not finite.
  Start(const std::string& path, std::string_view bytes, const Network& network);

  // Returns a sentence for the user about layers without tensors and tensors without layers, or "".
  std::string warning() const;

  // Writes the tensors of the file. Other parameters keep their values.
  void write(const ParameterVector& to) const;

  // Returns whether the file has moments that the network needs. They replace the moments of the training rows.
  bool has_moments() const { return !moments_.feature_mean.empty(); }
  const Moments& moments() const { return moments_; }

 private:
  void read_moments();
  void check(const Parameter& parameter, const safetensors::Tensor& tensor) const;
  // Returns the values in the network's order.
  std::vector<float> values(const Parameter& parameter, const safetensors::Tensor& tensor) const;

  std::string path_;
  const Network& network_;
  safetensors::Reader reader_;
  std::vector<std::string> missing_, extra_;
  Moments moments_;
};

}  // namespace mokume::cnn

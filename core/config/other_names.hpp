// Gives hints to users who write names of scikit-learn, LIBSVM, PyTorch or Keras in an experiment file.
#pragma once

#include <string>

namespace mokume::config {

// Returns a hint for a key of one of these programs, or "".
std::string instead_of_key(const std::string& key);

// Returns a hint for the value `text` of `key`, or "".
std::string instead_of_value(const std::string& key, const std::string& text);

}  // namespace mokume::config

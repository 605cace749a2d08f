// Names of keys and values in other programs: scikit-learn, LIBSVM, PyTorch and Keras.
#pragma once

#include <string>

namespace mokume::config {

// Returns a suggestion for a key of another program; "" if no program uses it.
std::string instead_of_key(const std::string& key);

// Returns a suggestion for a value of another program; "" if no program uses it.
std::string instead_of_value(const std::string& key, const std::string& text);

}  // namespace mokume::config

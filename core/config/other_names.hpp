// What other programs call the keys and values of an experiment file: scikit-learn, LIBSVM, PyTorch and Keras.
#pragma once

#include <string>

namespace mokume::config {

// Returns what to write instead of a key that only others know, "" if none of them does.
std::string instead_of_key(const std::string& key);

// Returns what to write instead of the value `text` of `key`, "" if it is nobody's.
std::string instead_of_value(const std::string& key, const std::string& text);

}  // namespace mokume::config

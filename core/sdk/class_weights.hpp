// Computes the weight of an error on a row of each class from the option "class_weight". The option is "" (all weights
// are 1), "balanced", or a list such as "cat=2, dog=0.5". Classes that the list does not name have weight 1.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "abi/model.h"
#include "sdk/error.hpp"

namespace mokume::sdk {

// Returns, for each class, the number of rows divided by the number of classes and by the number of rows of the class,
// as scikit-learn does. Counts the rows on which a fit of this fold trains. Classes without rows do not count; their
// weight is 1.
inline std::vector<double> balanced_weights(const mk_data& data, const mk_sample& sample, int32_t fold) {
  std::vector<double> rows(static_cast<size_t>(data.n_classes), 0);
  double all = 0;
  for (int64_t i = 0; i < sample.places; ++i) {
    if (fold != MK_ALL_ROWS && sample.fold_of[i] == fold) continue;
    ++rows[static_cast<size_t>(data.labels[sample.row[i]])];
    ++all;
  }
  const auto classes = static_cast<double>(rows.size()) - static_cast<double>(std::count(rows.begin(), rows.end(), 0));
  for (double& one : rows) one = one > 0 ? all / (classes * one) : 1;
  return rows;
}

// Reads weights by name. A name may contain '=', but no comma. Throws Error(MK_INVALID_ARGUMENT) for a bad part.
inline std::vector<double> named_weights(const std::string& text, const mk_data& data) {
  std::vector<double> weights(static_cast<size_t>(data.n_classes), 1);
  const auto trimmed = [](std::string_view word) {
    const size_t first = std::min(word.find_first_not_of(' '), word.size());
    return word.substr(first, word.find_last_not_of(' ') + 1 - first);
  };
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = trimmed(std::string_view(text).substr(at, end - at));
    const size_t equals = part.rfind('=');
    const auto refuse = [&](const std::string& what) {
      throw Error(MK_INVALID_ARGUMENT, "class_weight: '" + std::string(part) + "' " + what);
    };
    double weight = 0;
    if (equals == std::string_view::npos) refuse("is neither balanced nor NAME=WEIGHT");
    const std::string_view number = trimmed(part.substr(equals + 1));
    const auto [stop, fault] = std::from_chars(number.data(), number.data() + number.size(), weight);
    const bool is_number = fault == std::errc() && stop == number.data() + number.size();
    const std::string_view name = trimmed(part.substr(0, equals));
    if (is_number && weight == 0)
      refuse("leaves out the class '" + std::string(name) +
             "', which no weight does: write a weight above 0, or remove the rows of the class");
    if (!is_number || !(weight > 0) || !(weight <= 1e12)) refuse("does not end in a weight above 0 and at most 1e12");
    const auto* const known = std::find(data.class_names, data.class_names + data.n_classes, name);
    if (known == data.class_names + data.n_classes) refuse("names no class of the data");
    weights[static_cast<size_t>(known - data.class_names)] = weight;
    at = end + 1;
  }
  return weights;
}

// Returns one weight per class, or {} if all are 1. `data` must have classes, unless `text` is "".
inline std::vector<double> class_weights(const std::string& text, const mk_data& data, const mk_sample& sample,
                                         int32_t fold) {
  if (text.empty()) return {};
  return text == "balanced" ? balanced_weights(data, sample, fold) : named_weights(text, data);
}

}  // namespace mokume::sdk

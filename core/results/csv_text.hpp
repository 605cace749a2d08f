// Builds the text of a CSV file, field by field.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "results/format.hpp"
#include "search/plan.hpp"

namespace mokume::results {

class Csv {
 public:
  template <class... Fields>
  void add(const Fields&... fields) {
    (add_text(text_of(fields)), ...);
  }
  void add_names(const std::vector<std::string>& names) {
    for (const std::string& name : names) add(name);
  }
  void add_params(const search::Plan& plan, size_t candidate) {
    const auto& values = plan.candidates[candidate];
    for (size_t p = 0; p < plan.params.size(); ++p) add(p < values.size() ? search::to_text(values[p]) : "");
  }
  void end_row() { text_.back() = '\n'; }
  std::string text() && { return std::move(text_); }

 private:
  static std::string text_of(const std::string& text) { return csv_field(text); }
  static std::string text_of(const std::optional<double>& value) { return value ? base::shortest(*value) : ""; }
  template <std::integral Whole>
  static std::string text_of(Whole value) {
    return std::to_string(value);
  }
  void add_text(const std::string& text) { text_ += text + ','; }

  std::string text_;
};

}  // namespace mokume::results

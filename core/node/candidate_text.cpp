#include "node/candidate_text.hpp"

#include <fmt/format.h>

namespace mokume::node {

std::string candidate_text(const search::Plan& plan, uint32_t candidate) {
  std::string text;
  for (size_t p = 0; p < plan.params.size(); ++p) {
    const search::Value& value = plan.candidates[candidate][p];
    const auto* real = std::get_if<double>(&value);
    text += fmt::format("{}{} = {}", p == 0 ? "" : ", ", plan.params[p],
                        real != nullptr ? fmt::format("{:.6g}", *real) : search::to_text(value));
  }
  return text;
}

}  // namespace mokume::node

// JSON from files that anybody may have written.
#pragma once

#include <nlohmann/json.hpp>

namespace mokume::sdk {

// nlohmann's parse(), but what is nested deeper than anything of ours is left out: copies and dump() are recursive, and
// brackets by the hundred thousand would overflow their stack. Throws nlohmann::json::exception.
template <class Json, class Input>
Json parse_json(Input&& input) {
  constexpr int kDeepest = 64;
  return Json::parse(std::forward<Input>(input), [](int depth, auto, auto&) { return depth <= kDeepest; });
}

}  // namespace mokume::sdk

// Reads searched parameters in the notation of [search.params].
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "config/parameter.hpp"
#include "config/tree.hpp"

namespace mokume::config {

// Describes a table notation of a search space, { name = [first, last] }. A list also has n, its number of values; a
// uniform distribution may have a step.
struct Notation {
  using Kind = search::Space::Kind;
  const char* name;
  bool distribution;  // true for a distribution, which random search draws from; false for a list
  double base;        // base of the ends if they are exponents, or 0 if they are values
  Kind kind;
  const char* doc;
  bool logarithm = false;  // whether values between the ends are even in the logarithm

  bool is_integer() const { return kind == Kind::integer_uniform || kind == Kind::integer_log; }
  bool has_step() const { return kind == Kind::integer_uniform || kind == Kind::real_uniform; }
};
std::span<const Notation> notations();
const Notation& notation_of(search::Space::Kind kind);  // `kind` must be a distribution

// Describes the length of a list, the `n` of the searched parameter `name`.
Parameter list_length(const std::string& name);

// Describes the step of the searched parameter `name`, whose distribution has this notation.
Parameter step_length(const std::string& name, const Notation& notation);

// Reads a value, a list, or a table such as { log10 = [-3, 6], n = 24 }. If `parameter` is nullptr (the model is
// unknown), only checks the notation. Rejects distributions if `method` is "grid" or "list". Adds diagnostics and
// returns nothing if the space is invalid.
std::optional<search::Space> read_space(const std::string& name, const Parameter* parameter, const std::string& method,
                                        const Node& node, Diagnostics& diagnostics);

// Returns a warning if a distribution has ends that hardly anyone means, or nothing.
std::string doubt_about(const search::Space& space);

// Reads the key `when` of a searched parameter, which names values of `earlier` ones, and sets the conditions of
// `space`. Adds diagnostics and returns false if they are invalid. The names in `invalid` have diagnostics already.
bool read_conditions(const Node& node, const std::vector<search::Space>& earlier, const std::set<std::string>& invalid,
                     const std::string& method, search::Space& space, Diagnostics& diagnostics);

}  // namespace mokume::config

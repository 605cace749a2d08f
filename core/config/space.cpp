#include "config/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "config/diagnostics.hpp"
#include "config/value.hpp"
#include "sdk/portable.hpp"

namespace mokume::config {
namespace {

using search::Space;
using search::Value;
using Kind = Space::Kind;

constexpr size_t kMaxListLength = 100'000;
constexpr double kMaxExactInteger = 0x1p53;  // the doubles in search::Space hold integers exactly up to this limit
constexpr const char* kSpaceNotations =
    "a parameter is a value, a list, or a table with log, log10, log2 or linear and n, or, for random search, "
    "log_uniform, log10_uniform, uniform, int or int_log; a table may also have values, a list, and when";

constexpr std::array kNotations = {
    Notation{"log10", false, 10, Kind::list, "n values from 10^first to 10^last, evenly spaced in the exponent"},
    Notation{"log2", false, 2, Kind::list, "n values from 2^first to 2^last, evenly spaced in the exponent"},
    Notation{"log", false, 0, Kind::list, "n values from first to last, evenly spaced in the logarithm", true},
    Notation{"linear", false, 0, Kind::list, "n evenly spaced values from first to last"},
    Notation{"log10_uniform", true, 10, Kind::log10_uniform, "drawn from 10^first to 10^last, uniform in the exponent"},
    Notation{"log_uniform", true, 0, Kind::log10_uniform, "drawn from first to last, uniform in the logarithm", true},
    Notation{"uniform", true, 0, Kind::real_uniform, "drawn uniformly from first to last"},
    Notation{"int", true, 0, Kind::integer_uniform, "an integer drawn from first to last, both included"},
    Notation{"int_log", true, 0, Kind::integer_log,
             "an integer drawn from first to last, both included, uniform in the logarithm"},
};

// Reads a table such as { log10 = [first, last], n = count }.
class SpaceReader {
 public:
  SpaceReader(const std::string& name, const Parameter* parameter, const std::string& method, const Node& node,
              Diagnostics& diagnostics)
      : name_(printable(name)), parameter_(parameter), method_(method), node_(node), diagnostics_(diagnostics) {
    space_.name = name;
  }

  std::optional<Space> read() {
    for (const Entry& entry : node_.entries) sort_out(entry);
    if (notation_ == nullptr && good_) fail(node_.location, name_ + " does not define its values", "", kSpaceNotations);
    check_count();
    if (notation_ == nullptr) return std::nullopt;
    check_notation();
    const bool ends = read_ends() && read_step();
    if (!good_ || !ends || parameter_ == nullptr) return std::nullopt;
    if (notation_->distribution ? !make_distribution() : !make_list()) return std::nullopt;
    return std::move(space_);
  }

 private:
  bool fail(const Location& location, const std::string& message, const std::string& hint = "",
            const std::string& note = "") {
    diagnostics_.add(location, message, hint, note);
    return good_ = false;
  }

  void sort_out(const Entry& entry) {
    if (entry.key == "n") {
      count_ = &entry;
      return;
    }
    if (entry.key == "step") {
      step_ = &entry;
      return;
    }
    if (entry.key == "when" || entry.key == "otherwise") return;  // see read_conditions()
    const auto* found =
        std::find_if(kNotations.begin(), kNotations.end(), [&](const Notation& n) { return entry.key == n.name; });
    if (found == kNotations.end()) {
      std::vector<std::string> known = {"n", "step", "values", "when", "otherwise"};
      for (const Notation& notation : kNotations) known.emplace_back(notation.name);
      misspelt_ = true;
      fail(entry.location, fmt::format("unknown key {} in {}", in_quotes(entry.key), name_), suggest(entry.key, known),
           kSpaceNotations);
    } else if (notation_ != nullptr) {
      fail(entry.location, fmt::format("{} has both '{}' and '{}'", name_, notation_->name, found->name));
    } else {
      notation_ = found;
      ends_ = &entry;
    }
  }

  void check_count() {
    if (notation_ != nullptr && !notation_->distribution && count_ == nullptr && !misspelt_)
      fail(ends_->location, fmt::format("{} needs n, the number of values, with '{}'", name_, notation_->name));
    if (count_ == nullptr) return;
    if (notation_ != nullptr && notation_->distribution) {
      fail(count_->location, fmt::format("n is for lists; {} draws its values from '{}'", name_, notation_->name),
           "leave it out");
    } else if (!read_value(list_length(name_), count_->value, diagnostics_)) {
      good_ = false;
    }
  }

  void check_notation() {
    if (notation_->distribution && (method_ == "grid" || method_ == "list"))
      fail(ends_->location, fmt::format("{} is a distribution, but method is \"{}\"", name_, method_),
           "use log or linear with n, or method = \"random\"");
    if (parameter_ == nullptr) return;
    const bool integer = parameter_->type == Type::integer;
    if (!integer && parameter_->type != Type::real) {
      fail(ends_->location,
           fmt::format("{} must be {}, which '{}' cannot produce", name_, wanted(parameter_->type), notation_->name),
           "list its values");
    } else if (integer && notation_->distribution && !notation_->is_integer()) {
      fail(ends_->location, fmt::format("{} is an integer, which '{}' cannot draw", name_, notation_->name), "use int");
    } else if (!integer && notation_->is_integer()) {
      fail(ends_->location, fmt::format("{} is a real number, which '{}' cannot draw", name_, notation_->name),
           "use uniform or log_uniform");
    }
  }

  bool read_ends() {
    const Node& list = ends_->value;
    if (list.kind != Node::Kind::array || list.items.size() != 2 || !list.items[0].is_number() ||
        !list.items[1].is_number())
      return fail(list.location, fmt::format("'{}' of {} needs its two ends: [first, last]", notation_->name, name_));
    Parameter end;
    end.name = "an end of " + name_;
    const bool integers = notation_->is_integer();
    if (integers) {
      end.type = Type::integer;
      end.range = {-kMaxExactInteger, kMaxExactInteger};
    }
    for (const Node& item : list.items)
      if (!read_value(end, item, diagnostics_)) return good_ = false;
    first_ = list.items[0].number();
    last_ = list.items[1].number();
    if (integers ? last_ < first_ : last_ <= first_)
      return fail(list.location, fmt::format("the first end of {} must be below the last", name_));
    if (notation_->logarithm && first_ <= 0)
      return fail(
          list.location, fmt::format("the ends of '{}' of {} must be above 0", notation_->name, name_),
          fmt::format("use {} if they are exponents of 10", notation_->distribution ? "log10_uniform" : "log10"));
    if (!std::isfinite(last_ - first_))
      return fail(list.location, fmt::format("the ends of {} are too far apart", name_));
    return true;
  }

  bool read_step() {
    if (notation_->kind == Kind::integer_log && first_ < 1)
      return fail(ends_->value.items[0].location, fmt::format("'int_log' of {} begins at 1 at least", name_));
    if (step_ == nullptr) return true;
    if (!notation_->has_step())
      return fail(step_->location, fmt::format("step is for uniform and int, not for '{}'", notation_->name),
                  "leave it out");
    if (!read_value(step_length(name_, *notation_), step_->value, diagnostics_)) return good_ = false;
    const double step = space_.step = step_->value.number(), distance = last_ - first_;
    if (step > distance || distance > step * kMaxExactInteger)
      return fail(step_->value.location,
                  fmt::format("the step of {} must be at most {} and not tiny", name_, base::shortest(distance)));
    return true;
  }

  double value_at(double end) const { return notation_->base == 0 ? end : sdk::portable::pow(notation_->base, end); }

  // Returns value i of a list of n values.
  double value_of(int64_t i, int64_t n) const {
    if (i == 0 || i + 1 == n) return value_at(i == 0 ? first_ : last_);
    const double from = notation_->logarithm ? sdk::portable::log10(first_) : first_;
    const double to = notation_->logarithm ? sdk::portable::log10(last_) : last_;
    const double at = from + static_cast<double>(i) * ((to - from) / static_cast<double>(n - 1));
    return notation_->logarithm ? sdk::portable::pow(10, at) : value_at(at);
  }

  bool check_ends() {
    const std::vector<Node>& ends = ends_->value.items;
    for (const auto& [node, value] : {std::pair(&ends[0], value_at(first_)), std::pair(&ends[1], value_at(last_))})
      if (!std::isfinite(value) || !parameter_->holds(value))
        return fail(node->location, out_of_range(*parameter_, number_text(*parameter_, value)));
    return true;
  }

  bool make_distribution() {
    space_.kind = notation_->kind;
    space_.low = notation_->logarithm ? sdk::portable::log10(first_) : first_;
    space_.high = notation_->logarithm ? sdk::portable::log10(last_) : last_;
    return check_ends();
  }

  // The exponents equal those of numpy.linspace: first + i * step, with the last one exact.
  bool make_list() {
    if (!check_ends()) return false;
    const bool integer = parameter_->type == Type::integer;
    const int64_t n = count_->value.integer;
    std::set<double> seen;
    for (int64_t i = 0; i < n; ++i) {
      const double value = value_of(i, n);
      if (integer && (value != std::floor(value) || std::abs(value) > kMaxExactInteger))
        return fail(ends_->value.location,
                    fmt::format("{} is an integer, but this makes {}", name_, base::shortest(value)));
      if (!seen.insert(value).second)
        return fail(ends_->value.location,
                    fmt::format("the ends of {} are too close for {} different values", name_, n));
      space_.values.push_back(integer ? Value(static_cast<int64_t>(value)) : Value(value));
    }
    return true;
  }

  std::string name_;
  const Parameter* parameter_;
  const std::string& method_;
  const Node& node_;
  Diagnostics& diagnostics_;
  const Notation* notation_ = nullptr;
  const Entry* ends_ = nullptr;
  const Entry* count_ = nullptr;
  const Entry* step_ = nullptr;
  double first_ = 0, last_ = 0;
  bool good_ = true;
  bool misspelt_ = false;
  Space space_;
};

std::optional<Space> read_list(const std::string& name, const Parameter* parameter, const std::string& method,
                               const Node& node, Diagnostics& diagnostics) {
  Space space;
  space.name = name;
  if (node.items.empty()) {
    diagnostics.add(node.location, printable(name) + " has an empty list", "list at least one value");
    return std::nullopt;
  }
  if (node.items.size() > kMaxListLength) {
    diagnostics.add(node.location, fmt::format("{} lists {} values; the limit is {}", printable(name),
                                               node.items.size(), kMaxListLength));
    return std::nullopt;
  }
  if (parameter == nullptr) return std::nullopt;
  std::set<Value> seen;
  const size_t before = diagnostics.size();
  for (const Node& item : node.items) {
    auto value = read_value(*parameter, item, diagnostics);
    if (!value) continue;
    if (!seen.insert(*value).second && method != "list")
      diagnostics.add(item.location,
                      fmt::format("{} lists {} twice", parameter->name, printable(search::to_text(*value))));
    space.values.push_back(std::move(*value));
  }
  return diagnostics.size() == before ? std::optional(space) : std::nullopt;
}

// Reads the table { values = [...], when = {...} }.
std::optional<Space> read_values(const std::string& name, const Parameter* parameter, const std::string& method,
                                 const Node& node, Diagnostics& diagnostics) {
  bool good = true;
  for (const Entry& entry : node.entries) {
    if (entry.key == "values" || entry.key == "when" || entry.key == "otherwise") continue;
    diagnostics.add(entry.location, fmt::format("{} has both 'values' and {}", printable(name), in_quotes(entry.key)),
                    "keep one of the two");
    good = false;
  }
  const Node& values = node.find("values")->value;
  if (values.kind != Node::Kind::array) {
    diagnostics.add(values.location, fmt::format("'values' of {} is not a list", printable(name)),
                    "write [first, second, ...]");
    good = false;
  }
  return good ? read_list(name, parameter, method, values, diagnostics) : std::nullopt;
}

bool equals(const Value& value, const Node& node) {
  if (const auto* text = std::get_if<std::string>(&value)) return node.kind == Node::Kind::text && node.text == *text;
  if (const auto* flag = std::get_if<bool>(&value)) return node.kind == Node::Kind::boolean && node.boolean == *flag;
  const double number =
      std::holds_alternative<double>(value) ? std::get<double>(value) : static_cast<double>(std::get<int64_t>(value));
  return node.is_number() && node.number() == number;
}

// Reads one entry of `when`, such as kernel = "rbf" or kernel = ["rbf", "poly"].
bool read_condition(const std::string& name, const Entry& entry, const std::vector<Space>& earlier,
                    const std::set<std::string>& invalid, Space& space, Diagnostics& diagnostics) {
  const auto fail = [&](const Location& location, const std::string& message, const std::string& hint) {
    diagnostics.add(location, message, hint);
    return false;
  };
  const std::string key = printable(entry.key);
  const auto found =
      std::find_if(earlier.begin(), earlier.end(), [&](const Space& one) { return one.name == entry.key; });
  if (invalid.count(entry.key) > 0) return false;
  if (found == earlier.end())
    return fail(entry.location, fmt::format("{} depends on '{}', which is not searched before it", name, key),
                fmt::format("list '{}' earlier in [search.params]", key));
  if (found->kind != Space::Kind::list)
    return fail(entry.location, fmt::format("{} depends on '{}', which is drawn from a distribution", name, key),
                fmt::format("list the values of '{}'", key));
  search::Condition condition{entry.key, static_cast<size_t>(found - earlier.begin()), {}};
  const std::span<const Node> items = entry.value.kind == Node::Kind::array ? std::span<const Node>(entry.value.items)
                                                                            : std::span<const Node>(&entry.value, 1);
  for (const Node& item : items) {
    const auto value =
        std::find_if(found->values.begin(), found->values.end(), [&](const Value& one) { return equals(one, item); });
    if (value == found->values.end()) {
      std::vector<std::string> known;
      for (const Value& one : found->values) known.push_back(search::to_text(one));
      return fail(item.location, fmt::format("{} depends on a value that '{}' never has", name, key),
                  fmt::format("its values are {}", printable(join(known), 200)));
    }
    condition.values.push_back(*value);
  }
  if (condition.values.empty())
    return fail(entry.value.location, fmt::format("{} depends on no value of '{}'", name, key),
                "list at least one value");
  space.when.push_back(std::move(condition));
  return true;
}

}  // namespace

std::span<const Notation> notations() { return kNotations; }

bool read_conditions(const Node& node, const std::vector<Space>& earlier, const std::set<std::string>& invalid,
                     const std::string& method, Space& space, Diagnostics& diagnostics) {
  const Entry* const condition = node.kind == Node::Kind::table ? node.find("when") : nullptr;
  if (condition == nullptr && node.kind == Node::Kind::table && node.find("otherwise") != nullptr) {
    diagnostics.add(node.find("otherwise")->location,
                    fmt::format("{} has 'otherwise' without 'when'", printable(space.name)), "leave it out");
    return false;
  }
  if (condition == nullptr) return true;
  const Node* const when = &condition->value;
  const std::string name = printable(space.name);
  if (when->kind != Node::Kind::table || when->entries.empty()) {
    diagnostics.add(when->location, fmt::format("'when' of {} names no parameter and its values", name),
                    "write when = { kernel = \"rbf\" } or when = { kernel = [\"rbf\", \"poly\"] }");
    return false;
  }
  if (method == "list") {
    diagnostics.add(when->location, fmt::format("{} has 'when', but method \"list\" lists whole candidates", name),
                    "leave it out");
    return false;
  }
  return std::all_of(when->entries.begin(), when->entries.end(), [&](const Entry& entry) {
    return read_condition(name, entry, earlier, invalid, space, diagnostics);
  });
}

Parameter list_length(const std::string& name) {
  Parameter length;
  length.name = "n of " + name;
  length.type = Type::integer;
  length.range = {2, kMaxListLength};
  return length;
}

Parameter step_length(const std::string& name, const Notation& notation) {
  Parameter step;
  step.name = "the step of " + name;
  step.type = notation.is_integer() ? Type::integer : Type::real;
  step.range = {notation.is_integer() ? 1.0 : 0.0, kMaxExactInteger, !notation.is_integer()};
  return step;
}

// Resolved files have the ends as the plan stores them, so log_uniform becomes log10_uniform.
const Notation& notation_of(Kind kind) {
  return *std::find_if(kNotations.begin(), kNotations.end(),
                       [&](const Notation& n) { return n.distribution && !n.logarithm && n.kind == kind; });
}

// A first exponent between 0 and 0.1 is rather a value, such as 1e-4.
std::string doubt_about(const Space& space) {
  if (space.kind != Kind::log10_uniform || !(space.low > 0 && space.low < 0.1)) return "";
  const std::string first = base::shortest(space.low), last = base::shortest(space.high);
  return fmt::format(
      "'log10_uniform' of {} draws from 10^{} = {:.6g} to 10^{} = {:.6g}; for values from {} to {}, write "
      "log_uniform = [{}, {}]",
      printable(space.name), first, sdk::portable::pow(10, space.low), last, sdk::portable::pow(10, space.high), first,
      last, first, last);
}

std::optional<Space> read_space(const std::string& name, const Parameter* parameter, const std::string& method,
                                const Node& node, Diagnostics& diagnostics) {
  if (node.kind == Node::Kind::table && node.find("values") != nullptr)
    return read_values(name, parameter, method, node, diagnostics);
  if (node.kind == Node::Kind::table) return SpaceReader(name, parameter, method, node, diagnostics).read();
  if (node.kind == Node::Kind::array) return read_list(name, parameter, method, node, diagnostics);
  if (parameter == nullptr) return std::nullopt;
  auto value = read_value(*parameter, node, diagnostics);
  if (!value) return std::nullopt;
  Space space;
  space.name = name;
  space.values.push_back(std::move(*value));
  return space;
}

}  // namespace mokume::config

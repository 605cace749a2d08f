// The values of a model's parameters.
#include "config/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "sdk/error.hpp"

namespace mokume::config {
namespace {

using search::Space;
using search::Value;

constexpr const char* kSpaceForms =
    "a parameter is a value, a list, or a table with log10, log2 or linear and n, or, for random search, "
    "log10_uniform, uniform or int";

bool is_number(const Node& node) { return node.kind == Node::Kind::integer || node.kind == Node::Kind::real; }
double number_of(const Node& node) {
  return node.kind == Node::Kind::real ? node.real : static_cast<double>(node.integer);
}

bool in_range(const mk_param& param, double value) {
  if ((param.flags & MK_PARAM_EXCLUSIVE_MIN) != 0 && value <= param.minimum) return false;
  return value >= param.minimum && value <= param.maximum;
}

// Integers in full, and reals no longer than they must be.
std::string number_text(const mk_param& param, double value) {
  return param.type == MK_PARAM_INTEGER && std::abs(value) < 0x1p63 ? fmt::format("{}", static_cast<int64_t>(value))
                                                                    : base::shortest(value);
}

bool out_of_range(const mk_param& param, const Place& place, double value, Findings& findings) {
  findings.add(place, fmt::format("{} must be {}, not {}", param.name, range_of(param), number_text(param, value)));
  return false;
}

const char* wanted(const mk_param& param) {
  switch (param.type) {
    case MK_PARAM_REAL:
      return "a number";
    case MK_PARAM_INTEGER:
      return "an integer";
    case MK_PARAM_TEXT:
      return "a text";
    default:
      return "true or false";
  }
}

// Reads { shape = [first, last], n = count }.
class SpaceReader {
 public:
  SpaceReader(const std::string& name, const mk_param* param, const std::string& method, const Node& node,
              Findings& findings)
      : name_(printable(name)), param_(param), method_(method), node_(node), findings_(findings) {
    space_.name = name;
  }

  std::optional<Space> read() {
    for (const Entry& entry : node_.entries) sort_out(entry);
    if (shape_ == nullptr && good_) fail(node_.place, name_ + " does not say how its values are made", "", kSpaceForms);
    check_count();
    if (shape_ == nullptr) return std::nullopt;
    check_shape();
    const bool ends = read_ends();
    if (!good_ || !ends || param_ == nullptr) return std::nullopt;
    if (shape_->distribution ? !make_distribution() : !make_list()) return std::nullopt;
    return std::move(space_);
  }

 private:
  bool fail(const Place& place, const std::string& message, const std::string& hint = "",
            const std::string& note = "") {
    findings_.add(place, message, hint, note);
    return good_ = false;
  }

  void sort_out(const Entry& entry) {
    if (entry.key == "n") {
      count_ = &entry;
      return;
    }
    const auto found =
        std::find_if(shapes().begin(), shapes().end(), [&](const Shape& s) { return entry.key == s.name; });
    if (found == shapes().end()) {
      std::vector<std::string> known = {"n"};
      for (const Shape& shape : shapes()) known.emplace_back(shape.name);
      misspelt_ = true;
      fail(entry.place, fmt::format("unknown key {} in {}", quoted(entry.key), name_), suggest(entry.key, known),
           kSpaceForms);
    } else if (shape_ != nullptr) {
      fail(entry.place, fmt::format("{} has both '{}' and '{}'", name_, shape_->name, found->name));
    } else {
      shape_ = &*found;
      ends_ = &entry;
    }
  }

  void check_count() {
    if (shape_ != nullptr && !shape_->distribution && count_ == nullptr && !misspelt_)
      fail(ends_->place, fmt::format("{} needs n, the number of values, beside '{}'", name_, shape_->name));
    if (count_ == nullptr) return;
    const Node& n = count_->value;
    if (shape_ != nullptr && shape_->distribution) {
      fail(count_->place, fmt::format("n goes with a list; {} draws its values from '{}'", name_, shape_->name),
           "leave it out");
    } else if (n.kind != Node::Kind::integer) {
      fail(n.place, fmt::format("n of {} must be an integer, not {}", name_, describe(n.kind)));
    } else if (n.integer < 2 || n.integer > kMaxListLength) {
      fail(n.place, fmt::format("n of {} must be from 2 to {}, not {}", name_, kMaxListLength, n.integer),
           n.integer == 1 ? "two ends make two values; write one value alone" : "");
    }
  }

  void check_shape() {
    if (shape_->distribution && (method_ == "grid" || method_ == "list"))
      fail(ends_->place, fmt::format("{} is a distribution, but method is \"{}\"", name_, method_),
           "use log10 or linear with n, or method = \"random\"");
    if (param_ == nullptr) return;
    const bool integer = param_->type == MK_PARAM_INTEGER;
    if (!integer && param_->type != MK_PARAM_REAL) {
      fail(ends_->place, fmt::format("{} must be {}, which '{}' cannot make", name_, wanted(*param_), shape_->name),
           "list its values");
    } else if (integer && shape_->distribution && shape_->kind != Space::Kind::integer_uniform) {
      fail(ends_->place, fmt::format("{} is an integer, which '{}' cannot draw", name_, shape_->name), "use int");
    } else if (!integer && shape_->kind == Space::Kind::integer_uniform) {
      fail(ends_->place, fmt::format("{} is a real number, which 'int' cannot draw", name_),
           "use uniform or log10_uniform");
    }
  }

  bool read_ends() {
    const Node& list = ends_->value;
    const auto bad_number = [](const Node& end) { return !is_number(end); };
    if (list.kind != Node::Kind::array || list.items.size() != 2 ||
        std::any_of(list.items.begin(), list.items.end(), bad_number))
      return fail(list.place, fmt::format("'{}' of {} needs its two ends: [first, last]", shape_->name, name_));
    const bool integers = shape_->kind == Space::Kind::integer_uniform;
    for (const Node& end : list.items) {
      if (!std::isfinite(number_of(end)))
        return fail(end.place,
                    fmt::format("the ends of {} must be finite, not {}", name_, base::shortest(number_of(end))));
      if (integers &&
          (end.kind != Node::Kind::integer || end.integer < -kMaxExactInteger || end.integer > kMaxExactInteger))
        return fail(end.place, fmt::format("the ends of {} must be integers within 2^53", name_));
    }
    first_ = number_of(list.items[0]);
    last_ = number_of(list.items[1]);
    if (integers ? last_ < first_ : last_ <= first_)
      return fail(list.place, fmt::format("the first end of {} must be below the last", name_));
    if (!std::isfinite(last_ - first_)) return fail(list.place, fmt::format("the ends of {} are too far apart", name_));
    return true;
  }

  double value_at(double end) const { return shape_->base == 0 ? end : std::pow(shape_->base, end); }

  bool check_ends() {
    const std::vector<Node>& ends = ends_->value.items;
    for (const auto& [node, value] : {std::pair(&ends[0], value_at(first_)), std::pair(&ends[1], value_at(last_))})
      if (!std::isfinite(value) || !in_range(*param_, value))
        return out_of_range(*param_, node->place, value, findings_);
    return true;
  }

  bool make_distribution() {
    space_.kind = shape_->kind;
    space_.low = first_;
    space_.high = last_;
    return check_ends();
  }

  // The exponents are numpy.linspace's: first + i * step, and the last one exactly.
  bool make_list() {
    if (!check_ends()) return false;
    const int64_t n = count_->value.integer;
    const double step = (last_ - first_) / static_cast<double>(n - 1);
    std::set<double> seen;
    for (int64_t i = 0; i < n; ++i) {
      const double value = value_at(i + 1 == n ? last_ : first_ + static_cast<double>(i) * step);
      if (param_->type == MK_PARAM_INTEGER && (value != std::floor(value) || std::abs(value) > 0x1p53))
        return fail(ends_->value.place,
                    fmt::format("{} is an integer, but this makes {}", name_, base::shortest(value)));
      if (!seen.insert(value).second)
        return fail(ends_->value.place, fmt::format("the ends of {} are too close for {} different values", name_, n));
      if (param_->type == MK_PARAM_INTEGER) {
        space_.values.emplace_back(static_cast<int64_t>(value));
      } else {
        space_.values.emplace_back(value);
      }
    }
    return true;
  }

  std::string name_;
  const mk_param* param_;
  const std::string& method_;
  const Node& node_;
  Findings& findings_;
  const Shape* shape_ = nullptr;
  const Entry* ends_ = nullptr;
  const Entry* count_ = nullptr;
  double first_ = 0, last_ = 0;
  bool good_ = true;
  bool misspelt_ = false;
  Space space_;
};

std::optional<Space> read_list(const std::string& name, const mk_param* param, const std::string& method,
                               const Node& node, Findings& findings) {
  Space space;
  space.name = name;
  if (node.items.empty()) {
    findings.add(node.place, printable(name) + " has an empty list", "list at least one value");
    return std::nullopt;
  }
  if (node.items.size() > static_cast<size_t>(kMaxListLength)) {
    findings.add(node.place, fmt::format("{} lists {} values; the limit is {}", printable(name), node.items.size(),
                                         kMaxListLength));
    return std::nullopt;
  }
  if (param == nullptr) return std::nullopt;
  std::set<Value> seen;
  bool good = true;
  for (const Node& item : node.items) {
    auto value = read_value(*param, item, findings);
    good = value && good;
    if (!value) continue;
    if (!seen.insert(*value).second && method != "list") {
      findings.add(item.place, fmt::format("{} lists {} twice", param->name, printable(search::to_text(*value))));
      good = false;
    }
    space.values.push_back(std::move(*value));
  }
  return good ? std::optional(space) : std::nullopt;
}

}  // namespace

std::string range_of(const mk_param& param) {
  const bool above = (param.flags & MK_PARAM_EXCLUSIVE_MIN) != 0;
  if (param.type == MK_PARAM_INTEGER && !above && std::isfinite(param.minimum) && std::isfinite(param.maximum))
    return fmt::format("from {} to {}", number_text(param, param.minimum), number_text(param, param.maximum));
  std::string low, high;
  if (std::isfinite(param.minimum)) low = (above ? "above " : "at least ") + number_text(param, param.minimum);
  if (std::isfinite(param.maximum)) high = "at most " + number_text(param, param.maximum);
  if (low.empty() && high.empty()) return "finite";
  return low + (low.empty() || high.empty() ? "" : " and ") + high;
}

std::optional<Value> read_value(const mk_param& param, const Node& node, Findings& findings) {
  const auto wrong = [&]() -> std::optional<Value> {
    findings.add(node.place, fmt::format("{} must be {}, not {}", param.name, wanted(param), describe(node.kind)));
    return std::nullopt;
  };
  switch (param.type) {
    case MK_PARAM_BOOL:
      if (node.kind != Node::Kind::boolean) return wrong();
      return node.boolean;
    case MK_PARAM_TEXT: {
      if (node.kind != Node::Kind::text) return wrong();
      const std::vector<std::string> choices = choices_of(param.choices);
      if (choices.empty() || std::find(choices.begin(), choices.end(), node.text) != choices.end()) return node.text;
      findings.add(node.place, fmt::format("unknown {} {}", param.name, quoted(node.text)), suggest(node.text, choices),
                   fmt::format("{} is one of: {}", param.name, join(choices)));
      return std::nullopt;
    }
    case MK_PARAM_INTEGER:
      if (node.kind != Node::Kind::integer) return wrong();
      break;
    default:
      if (!is_number(node)) return wrong();
  }
  const double number = number_of(node);
  if (!std::isfinite(number)) {
    findings.add(node.place, fmt::format("{} must be finite, not {}", param.name, base::shortest(number)));
    return std::nullopt;
  }
  if (!in_range(param, number)) {
    out_of_range(param, node.place, number, findings);
    return std::nullopt;
  }
  if (param.type == MK_PARAM_INTEGER) return node.integer;
  return number;
}

std::optional<Space> read_space(const std::string& name, const mk_param* param, const std::string& method,
                                const Node& node, Findings& findings) {
  if (node.kind == Node::Kind::table) return SpaceReader(name, param, method, node, findings).read();
  if (node.kind == Node::Kind::array) return read_list(name, param, method, node, findings);
  if (param == nullptr) return std::nullopt;
  auto value = read_value(*param, node, findings);
  if (!value) return std::nullopt;
  Space space;
  space.name = name;
  space.values.push_back(std::move(*value));
  return space;
}

std::optional<Value> default_value(const mk_param& param) {
  if (param.fallback == nullptr || *param.fallback == '\0') return std::nullopt;
  Findings findings("the default");
  const auto tree = read_tree(std::string("x = ") + param.fallback, 0, findings);
  std::optional<Value> value;
  if (tree && tree->entries.size() == 1) value = read_value(param, tree->entries[0].value, findings);
  if (!value) {
    const auto found = findings.take();
    throw Error(MK_DEVICE_ERROR, fmt::format("the model's default of '{}' is not valid: {}", param.name,
                                             found.empty() ? "no single value" : found.front().message));
  }
  return value;
}

}  // namespace mokume::config

// The values of the keys that every experiment has.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "config/value.hpp"

namespace mokume::config {
namespace {

constexpr size_t kMaxName = 128;

std::string path_of(const Key& key) { return dotted(key.table, key.name); }

bool is_decimal(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Reads one value of one key.
class SettingReader {
 public:
  SettingReader(const Key& key, const Node& node, Findings& findings)
      : key_(key), path_(path_of(key)), node_(node), findings_(findings) {}

  bool read(Config& config) {
    const Slot slot = key_.slot(config);
    switch (key_.type) {
      case Type::text:
        return keep(slot, text(node_));
      case Type::name:
        return keep(slot, name());
      case Type::choice:
        return read_choice(slot);
      case Type::boolean:
        return read_boolean(slot);
      case Type::integer:
        return read_integer(slot);
      case Type::share:
        return read_share(slot);
      case Type::texts:
        return keep(slot, texts());
      case Type::directories:
        return keep(slot, directories());
      case Type::seed:
        return read_seed(config);
      case Type::size:
        return read_size(slot);
      case Type::selection:
        return keep(slot, selection());
      case Type::standardize:
        return read_standardize(*std::get<data::Standardize*>(slot));
      case Type::table:
      case Type::options:
      case Type::params:
        break;
    }
    return false;
  }

 private:
  bool fail(const Node& at, const std::string& what, const std::string& hint = "", const std::string& note = "") {
    findings_.add(at.place, path_ + " " + what, hint, note);
    return false;
  }
  bool wrong_type(const Node& at, const std::string& wanted) {
    return fail(at, "must be " + wanted + ", not " + describe(at.kind));
  }

  template <class T>
  bool keep(const Slot& slot, std::optional<T> value) {
    if (!value) return false;
    *std::get<T*>(slot) = std::move(*value);
    return true;
  }

  std::optional<std::string> text(const Node& node) {
    if (node.kind != Node::Kind::text) {
      wrong_type(node, "a text");
    } else if (node.text.empty()) {
      fail(node, "must not be empty");
    } else if (std::any_of(node.text.begin(), node.text.end(),
                           [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; })) {
      fail(node, "must not hold control characters");
    } else {
      return node.text;
    }
    return std::nullopt;
  }

  // Becomes a directory: nothing that a shell, a file system or a web page could take for something else.
  std::optional<std::string> name() {
    auto name = text(node_);
    if (!name) return std::nullopt;
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
             c == '-';
    };
    if (!std::all_of(name->begin(), name->end(), allowed)) {
      fail(node_, "may hold only letters, digits, '.', '_' and '-'");
    } else if (name->front() == '.') {
      fail(node_, "must not begin with '.'");
    } else if (name->size() > kMaxName) {
      fail(node_, fmt::format("must not be longer than {} characters", kMaxName));
    } else {
      return name;
    }
    return std::nullopt;
  }

  bool read_choice(const Slot& slot) {
    const auto word = text(node_);
    if (!word) return false;
    const std::vector<std::string> choices = choices_of(key_.choices);
    const auto found = std::find(choices.begin(), choices.end(), *word);
    if (found == choices.end()) {
      findings_.add(node_.place, "unknown " + path_ + " " + quoted(*word), suggest(*word, choices),
                    path_ + " is one of: " + join(choices));
      return false;
    }
    if (const auto* missing = std::get_if<data::Missing*>(&slot)) {
      **missing = static_cast<data::Missing>(found - choices.begin());
    } else {
      *std::get<std::string*>(slot) = *word;
    }
    return true;
  }

  bool read_boolean(const Slot& slot) {
    if (node_.kind != Node::Kind::boolean) return wrong_type(node_, "true or false");
    *std::get<bool*>(slot) = node_.boolean;
    return true;
  }

  bool read_integer(const Slot& slot) {
    constexpr size_t kDigits = std::numeric_limits<int64_t>::digits10;
    if (node_.kind == Node::Kind::text && node_.text.size() > kDigits && is_decimal(node_.text))
      return fail(node_, "must be an integer of 64 bits");
    if (node_.kind != Node::Kind::integer) return wrong_type(node_, "an integer");
    const int64_t value = node_.integer;
    const bool zero = value == 0 && key_.has(kZeroAllowed);
    if (!zero && (value < key_.minimum || value > key_.maximum)) {
      const bool open = key_.maximum == std::numeric_limits<int64_t>::max();
      return fail(node_, open ? fmt::format("must be at least {}, not {}", key_.minimum, value)
                              : fmt::format("must be from {} to {}, not {}", key_.minimum, key_.maximum, value));
    }
    if (auto* const* wide = std::get_if<int64_t*>(&slot)) {
      **wide = value;
    } else {
      *std::get<uint32_t*>(slot) = static_cast<uint32_t>(value);
    }
    return true;
  }

  bool read_share(const Slot& slot) {
    if (node_.kind != Node::Kind::real && node_.kind != Node::Kind::integer) return wrong_type(node_, "a number");
    const double value = node_.kind == Node::Kind::real ? node_.real : static_cast<double>(node_.integer);
    if (!(value > 0 && value < 1)) return fail(node_, "must be above 0 and below 1, not " + base::shortest(value));
    *std::get<double*>(slot) = value;
    return true;
  }

  std::optional<std::vector<std::string>> texts() {
    if (node_.kind != Node::Kind::array) {
      wrong_type(node_, "a list of texts");
      return std::nullopt;
    }
    std::vector<std::string> result;
    std::set<std::string> seen;
    bool good = true;
    for (const Node& item : node_.items) {
      auto word = text(item);
      good = word && good;
      if (!word) continue;
      if (!seen.insert(*word).second) good = fail(item, "lists " + quoted(*word) + " twice");
      result.push_back(std::move(*word));
    }
    if (node_.items.empty() && !key_.has(kEmptyAllowed)) good = fail(node_, "must not be empty");
    return good ? std::optional(result) : std::nullopt;
  }

  std::optional<std::vector<std::string>> directories() {
    auto paths = texts();
    bool good = paths.has_value();
    for (size_t i = 0; good && i < paths->size(); ++i)
      if ((*paths)[i].front() != '/') good = fail(node_.items[i], "takes absolute paths only");
    return good ? paths : std::nullopt;
  }

  std::optional<std::string> selection() {
    if (node_.kind == Node::Kind::text) return text(node_);
    if (node_.kind != Node::Kind::array) {
      wrong_type(node_, "a text or a list of texts");
      return std::nullopt;
    }
    const auto words = texts();
    if (!words) return std::nullopt;
    return fmt::format("{}", fmt::join(*words, ","));
  }

  bool read_seed(Config& config) {
    if (node_.kind == Node::Kind::integer) {
      if (node_.integer < 0) return fail(node_, fmt::format("must not be negative, but is {}", node_.integer));
      config.seed_text = std::to_string(node_.integer);
    } else if (node_.kind == Node::Kind::text) {
      if (!is_decimal(node_.text)) return fail(node_, "must be an integer or a text of decimal digits only");
      config.seed_text = node_.text;
    } else {
      return wrong_type(node_, "an integer or a text of decimal digits");
    }
    config.seed = seed_of(config.seed_text);
    return true;
  }

  bool read_size(const Slot& slot) {
    uint64_t bytes = 0;
    if (node_.kind == Node::Kind::integer) {
      bytes = node_.integer < 0 ? 0 : static_cast<uint64_t>(node_.integer);
    } else if (node_.kind == Node::Kind::text) {
      const auto parsed = base::parse_bytes(node_.text);
      if (!parsed) return fail(node_, "is no size", "write it in bytes or as \"4 GiB\" or \"512 MiB\"");
      bytes = *parsed;
    } else {
      return wrong_type(node_, "an integer or a text such as \"4 GiB\"");
    }
    if (bytes < static_cast<uint64_t>(key_.minimum) || bytes > static_cast<uint64_t>(key_.maximum))
      return fail(node_, "must be from 1 byte to 8 EiB");
    *std::get<uint64_t*>(slot) = bytes;
    return true;
  }

  bool read_standardize(data::Standardize& result) {
    constexpr const char* kForms = "it is \"none\", \"features\" or { mean = 127.5, scale = 73.61 }";
    if (node_.kind == Node::Kind::text) {
      if (node_.text == "none") result = {};
      if (node_.text == "features") result = {data::Standardize::Kind::features, 0, 1};
      if (node_.text == "none" || node_.text == "features") return true;
      findings_.add(node_.place, "unknown " + path_ + " " + quoted(node_.text),
                    suggest(node_.text, {"none", "features"}), kForms);
      return false;
    }
    if (node_.kind != Node::Kind::table) {
      findings_.add(node_.place, path_ + " must be a text or a table, not " + describe(node_.kind), "", kForms);
      return false;
    }
    return read_fixed(result, kForms);
  }

  bool read_fixed(data::Standardize& result, const char* forms) {
    result = {data::Standardize::Kind::fixed, 0, 1};
    bool good = true;
    std::vector<std::string> absent = {"mean", "scale"};
    for (const Entry& entry : node_.entries) {
      const auto known = std::find(absent.begin(), absent.end(), entry.key);
      if (known == absent.end()) {
        const std::string hint = suggest(entry.key, {"mean", "scale"});
        findings_.add(entry.place, "unknown key " + quoted(entry.key) + " in " + path_, hint, forms);
        good = false;
        continue;
      }
      absent.erase(known);
      good = read_number(entry, entry.key == "mean" ? result.mean : result.scale) && good;
    }
    // A misspelt key is one fault, not two.
    if (good && !absent.empty()) good = fail(node_, "needs " + quoted(absent.front()), "", forms);
    return good;
  }

  bool read_number(const Entry& entry, double& number) {
    const Node& node = entry.value;
    if (node.kind != Node::Kind::real && node.kind != Node::Kind::integer) {
      findings_.add(node.place, path_ + "." + entry.key + " must be a number, not " + describe(node.kind));
      return false;
    }
    number = node.kind == Node::Kind::real ? node.real : static_cast<double>(node.integer);
    if (!std::isfinite(number)) {
      findings_.add(node.place, path_ + "." + entry.key + " must be finite, not " + base::shortest(number));
      return false;
    }
    if (entry.key == "scale" && !(number > 0)) {
      findings_.add(node.place, path_ + ".scale must be above 0, not " + base::shortest(number));
      return false;
    }
    return true;
  }

  const Key& key_;
  std::string path_;
  const Node& node_;
  Findings& findings_;
};

}  // namespace

std::vector<std::string> choices_of(const char* choices) {
  if (choices == nullptr || *choices == '\0') return {};
  return base::split(choices, '|');
}

std::string join(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string suggest(const std::string& word, const std::vector<std::string>& known) {
  const std::string best = base::closest(printable(word), known);
  return best.empty() ? "" : "did you mean '" + best + "'?";
}

std::string without_leading_zeros(const std::string& digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string::npos ? "0" : digits.substr(first);
}

uint64_t seed_of(const std::string& digits) {
  const std::string plain = without_leading_zeros(digits);
  uint64_t seed = 0;
  const char* end = plain.data() + plain.size();
  if (std::from_chars(plain.data(), end, seed).ec == std::errc{}) return seed;
  const std::string hash = base::sha256(plain);
  std::from_chars(hash.data(), hash.data() + 16, seed, 16);
  return seed;
}

bool read_setting(const Key& key, const Node& node, Config& config, Findings& findings) {
  return SettingReader(key, node, findings).read(config);
}

}  // namespace mokume::config

#include "data/spec.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "data/input.hpp"
#include "data/labels.hpp"
#include "sdk/error.hpp"

namespace mokume::data {
namespace {

[[noreturn]] void refuse(std::string_view part, const std::string& what) {
  throw Error(MK_INVALID_ARGUMENT, "--data: '" + std::string(part) + "' " + what);
}

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& words) {
  const std::string near = base::closest(word, words);
  return near.empty() ? "it can be " + list(words) : "did you mean '" + near + "'?";
}

// Splits at commas outside quotes, brackets and braces.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts(1);
  char quote = 0;
  int depth = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.emplace_back();
      continue;
    }
    parts.back() += c;
  }
  if (quote != 0) refuse(text, std::string("has no closing ") + quote);
  if (depth != 0) refuse(text, "has brackets or braces that do not match");
  return parts;
}

std::string unquoted(std::string_view text) {
  const std::string trimmed = base::trim(text);
  const bool quotes =
      trimmed.size() >= 2 && trimmed.front() == trimmed.back() && (trimmed.front() == '"' || trimmed.front() == '\'');
  return quotes ? trimmed.substr(1, trimmed.size() - 2) : trimmed;
}

// Parses `a` or `[a, "b c"]`.
std::vector<std::string> parse_list(const std::string& text) {
  std::vector<std::string> items;
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    items.push_back(unquoted(text));
  } else if (!base::trim(text.substr(1, text.size() - 2)).empty()) {
    for (const std::string& item : parts_of(std::string_view(text).substr(1, text.size() - 2)))
      items.push_back(unquoted(item));
  }
  return items;
}

Standardize parse_standardize(std::string_view part, const std::string& text) {
  Standardize result;
  const std::string word = unquoted(text);
  if (word == "none") return result;
  if (word == "features") {
    result.kind = Standardize::Kind::features;
    return result;
  }
  result.kind = Standardize::Kind::fixed;
  toml::table table;
  try {
    table = toml::parse("v = " + text);
  } catch (const toml::parse_error&) {
    table.clear();
  }
  const toml::table* values = table["v"].as_table();
  const std::optional<double> mean = table["v"]["mean"].value<double>();
  const std::optional<double> scale = table["v"]["scale"].value<double>();
  if (table.size() != 1 || values == nullptr || values->size() != 2 || !mean || !scale)
    refuse(part, "is not none, features or { mean = M, scale = S }");
  result.mean = *mean;
  result.scale = *scale;
  return result;
}

int64_t parse_count(std::string_view part, const std::string& text, const char* what) {
  int64_t value = 0;
  const auto [at, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || at != text.data() + text.size() || value < 1) refuse(part, what);
  return value;
}

// Returns the enumerator that `text` names. An empty text names none.
template <class Enum>
Enum parse_named(std::string_view part, const std::string& text, const char* what) {
  for (const auto& [value, word] : names_of(Enum()))
    if (!text.empty() && text == word) return value;
  refuse(part, what);
}

void set_key(std::string_view part, const std::string& key, const std::string& value, DataSpec& spec) {
  if (key == "path") {
    if (!spec.path.empty()) refuse(part, "is a second path; name one");
    spec.path = unquoted(value);
  } else if (key == "test") {
    spec.test = unquoted(value);
  } else if (key == "target") {
    spec.target = unquoted(value);
  } else if (key == "categorical") {
    spec.categorical = parse_list(value);
  } else if (key == "ignore") {
    spec.ignore = parse_list(value);
  } else if (key == "weight") {
    spec.weight = unquoted(value);
  } else if (key == "labels") {
    spec.labels = unquoted(value);
  } else if (key == "test_labels") {
    spec.test_labels = unquoted(value);
  } else if (key == "layout") {
    spec.layout = parse_named<Layout>(part, unquoted(value), "is neither layout=nhwc nor layout=nchw");
  } else if (key == "storage") {
    spec.storage = unquoted(value);
  } else if (key == "task") {
    spec.task = unquoted(value);
  } else if (key == "missing") {
    spec.missing = parse_named<Missing>(part, unquoted(value), "is not missing=error, missing=drop or missing=mean");
  } else if (key == "limit") {
    spec.limit = parse_count(part, unquoted(value), "is not a number of rows; write limit=N with N at least 1");
  } else if (key == "size") {
    spec.size = parse_count(part, unquoted(value), "is not a number of pixels; write size=N with N at least 1");
  } else if (key == "channels") {
    spec.channels = parse_count(part, unquoted(value), "is neither channels=1 (grey) nor channels=3 (colour)");
  } else if (key == "standardize") {
    spec.standardize = parse_standardize(part, value);
  } else {
    refuse(part, "has an unknown key; " + suggestion(key, spec_keys()));
  }
}

bool reads_text(const std::string& source) { return source == "csv" || source == "libsvm"; }

[[noreturn]] void contradiction(const std::string& what) { throw Error(MK_INVALID_ARGUMENT, what); }

void check_task(const DataSpec& spec) {
  if (spec.task.empty()) return;
  if (spec.task != "classification" && spec.task != "regression" && spec.task != kOneClass)
    contradiction("data.task is '" + spec.task + "'; it can be classification, regression or one_class");
  if (!reads_text(spec.source) && spec.source != "npy")
    contradiction("data.task is for the sources csv, libsvm and npy only; remove it");
}

void check_npy(const DataSpec& spec) {
  if (spec.source != "npy" && (!spec.labels.empty() || !spec.test_labels.empty() || spec.layout != Layout::none))
    contradiction("data.labels, data.test_labels and data.layout are for source npy only; remove them");
  if (!spec.test_labels.empty() && spec.test.empty())
    contradiction("data.test_labels needs data.test; name the file with the rows of these labels");
}

void check_images(const DataSpec& spec) {
  if (spec.source != "images" && (spec.size != 0 || spec.channels != 0))
    contradiction("data.size and data.channels are for source images only; remove them");
  if (spec.size < 0 || spec.size > kMostImageSide)
    contradiction("data.size is not between 1 and " + std::to_string(kMostImageSide) + " pixels");
  if (spec.channels != 0 && spec.channels != 1 && spec.channels != 3)
    contradiction("data.channels can be 1 (grey) or 3 (colour)");
}

void check_storage(const DataSpec& spec) {
  if (spec.storage.empty()) return;
  if (spec.storage != "sparse" && spec.storage != "dense" && spec.storage != "auto")
    contradiction("data.storage is '" + spec.storage + "'; it can be sparse, dense or auto");
  if (spec.source != "libsvm") contradiction("data.storage is for source libsvm only; remove it");
  if (spec.keeps_sparse() && spec.subtracts_means())
    contradiction(
        "data.storage is 'sparse', but data.standardize subtracts means, which fills the zeros; write { mean = 0, "
        "scale "
        "= S }, or remove one of them");
}

void check_paths(const DataSpec& spec) {
  const bool built_in = is_built_in(spec.source);
  if (built_in && !spec.path.empty())
    contradiction("data.path has no meaning for the built-in " + spec.source + "; remove it");
  if (spec.path.empty() && !built_in && spec.source != "mnist")
    contradiction("data.source '" + spec.source + "' needs data.path; name the file");
  if (spec.path == kStandardInput && !reads_text(spec.source))
    contradiction("standard input (-) is for the sources csv and libsvm only; name a file");
  if (spec.test == kStandardInput) contradiction("data.test cannot be standard input (-); name a file");
}

}  // namespace

std::vector<std::string> source_names() {
  return {"digits", "friedman", "mnist", "idx", "libsvm", "csv", "npy", "images"};
}

bool is_built_in(std::string_view source) { return source == "digits" || source == "friedman"; }

std::vector<std::string> spec_keys() {
  return {"path", "test",     "target", "categorical", "ignore", "weight",      "task",   "missing",
          "size", "channels", "limit",  "standardize", "labels", "test_labels", "layout", "storage"};
}

DataSpec parse_spec(std::string_view text, const DataSpec* like) {
  DataSpec spec;
  const std::vector<std::string> parts = parts_of(text);
  const bool standard = base::trim(parts[0]) == kStandardInput;
  const size_t colon = standard ? std::string::npos : parts[0].find(':');
  spec.source = base::trim(parts[0].substr(0, colon));
  if (standard) {
    if (like == nullptr || !reads_text(like->source))
      refuse(parts[0], "is standard input, but nothing says in which format; write csv:- or libsvm:-");
    spec.source = like->source;
    spec.path = kStandardInput;
  }
  const std::vector<std::string> sources = source_names();
  if (std::find(sources.begin(), sources.end(), spec.source) == sources.end())
    refuse(parts[0], "does not start with a known source; " + suggestion(spec.source, sources));
  if (like != nullptr && like->source == spec.source) {
    spec.target = like->target;
    spec.categorical = like->categorical;
    spec.ignore = like->ignore;
    spec.group = like->group;
    spec.weight = like->weight;
    spec.missing = like->missing;
    spec.size = like->size;
    spec.channels = like->channels;
    spec.storage = like->storage;
    spec.layout = like->layout;
  }
  if (colon != std::string::npos) {
    spec.path = unquoted(parts[0].substr(colon + 1));
    if (spec.path.empty()) refuse(parts[0], "has no path after the colon");
  }
  std::vector<std::string> seen;
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    const std::string key = base::trim(parts[i].substr(0, equals));
    const std::string value = equals == std::string::npos ? "" : base::trim(parts[i].substr(equals + 1));
    if (value.empty()) refuse(parts[i], "is not key=value");
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) refuse(parts[i], "sets a key twice");
    set_key(parts[i], key, value, spec);
    seen.push_back(key);
  }
  check_spec(spec);
  return spec;
}

void check_spec(const DataSpec& spec) {
  const std::vector<std::string> sources = source_names();
  if (std::find(sources.begin(), sources.end(), spec.source) == sources.end())
    contradiction("data.source is '" + spec.source + "'; " + suggestion(spec.source, sources));
  check_paths(spec);
  if (spec.source != "csv" &&
      (!spec.target.empty() || !spec.categorical.empty() || !spec.ignore.empty() || spec.missing != Missing::error))
    contradiction("data.target, data.categorical, data.ignore and data.missing are for source csv only; remove them");
  if (!reads_text(spec.source) && spec.source != "npy" && !spec.weight.empty())
    contradiction("data.weight is for the sources libsvm, csv and npy only; remove it");
  check_task(spec);
  check_npy(spec);
  check_images(spec);
  check_storage(spec);
  if (spec.limit < 0) contradiction("data.limit is negative; use 0 or leave it out for all rows");
  if (spec.standardize.kind == Standardize::Kind::fixed &&
      !(std::isfinite(spec.standardize.mean) && std::isfinite(spec.standardize.scale) && spec.standardize.scale > 0))
    contradiction("data.standardize needs a finite mean and a finite scale above 0");
}

}  // namespace mokume::data

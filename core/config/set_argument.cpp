#include "config/set_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "config/diagnostics.hpp"

namespace mokume::config {
namespace {

constexpr const char* kUsage = "write it as key=value, for example data.limit=5000";

// Holds one step of a dotted key: "layers" or, for an element of a list, "layers[2]".
struct Step {
  std::string key;
  Location location;
  std::optional<size_t> index;
};

// Reads an index such as "[2]" at the front of `key` and returns its length, or 0 if there is none.
size_t read_index(std::string_view key, std::optional<size_t>& index) {
  constexpr size_t kMostDigits = 6;
  const size_t end = key.find_first_not_of("0123456789", 1);
  if (!key.starts_with('[') || end == std::string_view::npos || key[end] != ']') return 0;
  if (end == 1 || end > 1 + kMostDigits) return 0;
  index = std::stoul(std::string(key.substr(1, end - 1)));
  return end + 1;
}

// Returns the steps of "a.b[2].c", or an empty list if `key` is not a dotted key.
std::vector<Step> split_key(std::string_view key, uint32_t set) {
  std::vector<Step> steps;
  for (size_t at = 0;;) {
    const size_t begin = at;
    while (at < key.size() && is_plain(key[at])) ++at;
    if (at == begin) return {};
    Step step{std::string(key.substr(begin, at - begin)), {}, std::nullopt};
    at += read_index(key.substr(at), step.index);
    step.location = {set, 1, static_cast<uint32_t>(begin) + 1, static_cast<uint32_t>(at - begin)};
    steps.push_back(std::move(step));
    if (at == key.size()) return steps;
    if (key[at++] != '.') return {};
  }
}

// Makes the argument readable as TOML without moving any character: "layers[2].p = 1" becomes "layers_2_.p = 1".
std::string without_indices(std::string argument, size_t key_length) {
  std::replace_if(
      argument.begin(), argument.begin() + static_cast<ptrdiff_t>(key_length),
      [](char c) { return c == '[' || c == ']'; }, '_');
  return argument;
}

// Returns the value at the end of the only path of `depth` keys in `tree`. Returns nullptr if `tree` holds anything
// else, which happens if VALUE has several lines.
Node* only_value(Node& tree, size_t depth) {
  Node* at = &tree;
  for (size_t i = 0; i < depth; ++i) {
    if (at->kind != Node::Kind::table || at->entries.size() != 1) return nullptr;
    at = &at->entries[0].value;
  }
  return at;
}

// Returns the element of the list `at` that `step` names; reports an error and returns nullptr if there is none.
Node* element_of(Node& at, const Step& step, const std::string& reached, Diagnostics& diagnostics) {
  if (at.kind == Node::Kind::array && *step.index < at.items.size()) return &at.items[*step.index];
  const bool absent = at.kind == Node::Kind::table && at.entries.empty();
  const std::string what = absent                         ? "it is not in the file"
                           : at.kind != Node::Kind::array ? fmt::format("that is {}, not a list", describe(at.kind))
                           : at.items.empty()             ? "it is empty"
                                              : fmt::format("the last is {}[{}]", step.key, at.items.size() - 1);
  diagnostics.add(step.location, fmt::format("there is no {}: {}", in_quotes(reached), what));
  return nullptr;
}

void merge(Node& root, const std::vector<Step>& path, Node value, Diagnostics& diagnostics) {
  Node* at = &root;
  std::string reached;
  for (const Step& step : path) {
    if (at->kind != Node::Kind::table)
      return diagnostics.add(step.location, fmt::format("cannot set {} inside {}: that is {}, not a table",
                                                        in_quotes(step.key), in_quotes(reached), describe(at->kind)));
    auto found =
        std::find_if(at->entries.begin(), at->entries.end(), [&](const Entry& e) { return e.key == step.key; });
    if (found == at->entries.end()) {
      at->entries.push_back({step.key, step.location, {}});
      found = at->entries.end() - 1;
      found->value.location = step.location;
    }
    reached += (reached.empty() ? "" : ".") + step.key;
    if (&step == &path.back() && !step.index) found->location = step.location;
    at = &found->value;
    if (!step.index) continue;
    reached += fmt::format("[{}]", *step.index);
    at = element_of(*at, step, reached, diagnostics);
    if (at == nullptr) return;
  }
  *at = std::move(value);
}

}  // namespace

void apply_set(Node& root, const std::string& argument, uint32_t set, Diagnostics& diagnostics) {
  if (!check_text(argument, set, diagnostics)) return;
  const size_t equals = argument.find('=');
  std::string_view key = std::string_view(argument).substr(0, equals);
  while (key.ends_with(' ')) key.remove_suffix(1);
  const std::vector<Step> path = split_key(key, set);
  if (equals == std::string::npos || path.empty())
    return diagnostics.add({set, 1, 1, std::max(characters(key), 1U)}, "this is not a setting", kUsage);
  const size_t begin = argument.find_first_not_of(' ', equals + 1);
  if (begin == std::string::npos)
    return diagnostics.add({set, 1, static_cast<uint32_t>(equals) + 1, 1}, "a value is missing after '='", kUsage);

  Diagnostics attempt = diagnostics.empty_copy();
  std::optional<Node> tree = read_tree(without_indices(argument, key.size()), set, attempt);
  if (Node* value = tree ? only_value(*tree, path.size()) : nullptr)
    return merge(root, path, std::move(*value), diagnostics);

  const bool begins_like_toml = std::string_view("\"'[{").find(argument[begin]) != std::string_view::npos;
  if (begins_like_toml || argument.find('\n') != std::string::npos) {
    if (attempt.empty()) attempt.add({set, 1, 1, 1}, "this contains more than one setting", kUsage);
    return diagnostics.merge(std::move(attempt));
  }
  Node bare;
  bare.kind = Node::Kind::text;
  bare.text = argument.substr(begin);
  bare.location = {set, 1, static_cast<uint32_t>(begin) + 1, characters(bare.text)};
  merge(root, path, std::move(bare), diagnostics);
}

}  // namespace mokume::config

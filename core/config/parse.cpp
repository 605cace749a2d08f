#include "config/parse.hpp"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>

#include "config/model_values.hpp"
#include "config/reading.hpp"
#include "config/rules.hpp"
#include "config/set_argument.hpp"
#include "config/wording.hpp"

namespace mokume::config {
namespace {

// Returns the reason if there is no model, else "".
std::string find_model(Reading& reading, const SchemaLookup& lookup) {
  std::string why;
  if (!reading.is_good("model")) return why;
  try {
    reading.schema = lookup(reading.config.model, reading.config.plugin_directories, why);
  } catch (const std::exception& error) {
    why = error.what();
  }
  return why;
}

void report_model(Reading& reading, const std::string& why) {
  if (reading.schema || !reading.is_good("model")) return;
  // The model may be in a plugin directory whose entry is invalid; that error is already reported.
  const bool half_known = reading.find("plugins", "directories") != nullptr && !reading.is_good("plugins.directories");
  if (half_known || reading.is_meant("plugins", "directories")) return;
  reading.diagnostics.add(
      reading.find("", "model")->value.location,
      why.empty() ? fmt::format("there is no model '{}'", reading.config.model) : printable(why, 1000));
}

void keep_behaviour(Reading& reading) {
  for (const Parameter& key : keys())
    if (!key.before.empty() && reading.find(key.table, key.name) == nullptr)
      key.member.set(reading.config, value_before(key));
}

}  // namespace

ParseResult parse(const std::string& text, const std::string& file, const std::vector<std::string>& sets,
                  const SchemaLookup& lookup, Origin origin) {
  Diagnostics diagnostics(file);
  std::optional<Node> root = read_tree(text, 0, diagnostics);
  if (!root) return {std::nullopt, diagnostics.take()};
  for (size_t i = 0; i < sets.size(); ++i) apply_set(*root, sets[i], static_cast<uint32_t>(i + 1), diagnostics);
  if (!diagnostics.empty()) return {std::nullopt, diagnostics.take()};

  Reading reading(*root, diagnostics);
  reading.read_keys();
  if (origin == Origin::run) keep_behaviour(reading);
  const std::string why = find_model(reading, lookup);
  reading.report_unknown_keys();
  report_model(reading, why);
  reading.report_missing_keys();
  check_data(reading);
  check_validation(reading);
  read_model_values(reading, origin);
  check_search(reading);
  if (!diagnostics.empty()) return {std::nullopt, diagnostics.take()};
  return {std::move(reading.config), {}};
}

}  // namespace mokume::config

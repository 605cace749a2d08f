#include "config/starter.hpp"

#include <fmt/format.h>

#include "config/keys.hpp"
#include "config/wording.hpp"

namespace mokume::config {
namespace {

// Returns text like "dropout rate; from 0 to 1" or "kernel function: linear, rbf".
std::string meaning(const Parameter& parameter) {
  if (parameter.choices.empty() || parameter.is_tagged()) return parameter.doc;
  return parameter.doc + (parameter.doc.empty() ? "" : ": ") + join(parameter.choices);
}

// Returns "name = default  # meaning", or a comment to fill in if there is no default.
std::string line(const Parameter& parameter, const std::string& indent) {
  const std::string start = indent + (parameter.fallback.empty() && indent.empty() ? "# " : "");
  const std::string doc = meaning(parameter);
  return fmt::format("{}{:<14} = {:<10}{}{}\n", start, parameter.name, parameter.fallback, doc.empty() ? "" : " # ",
                     doc);
}

std::string inline_table(const Tag& tag) {
  std::string text = fmt::format("{{ type = \"{}\"", tag.name);
  for (const Parameter& parameter : tag.parameters)
    text += fmt::format(", {} = {}", parameter.name, parameter.fallback.empty() ? "..." : parameter.fallback);
  return text + " }";
}

// Lists the tagged tables that a parameter accepts, as comments to copy.
std::string tags_of(const Parameter& parameter) {
  const bool list = parameter.type == Type::tagged_tables;
  std::string text = fmt::format("\n# {} {}:\n", parameter.name, list ? "is a list of such tables" : "is one of");
  for (const Parameter& one : parameter.tags.front().parameters)
    if (one.has(kCommon)) text += line(one, "# ");
  for (const Tag& tag : parameter.tags) {
    text += list ? fmt::format("# [[{}.{}]]", kOptions, parameter.name)
                 : fmt::format("# {} = {}", parameter.name, inline_table(tag));
    text += (tag.doc.empty() ? "" : "  # ") + tag.doc + '\n';
    if (list) text += fmt::format("# type = \"{}\"\n", tag.name);
    for (const Parameter& one : tag.parameters) {
      if (one.has(kCommon)) continue;
      text += list ? line(one, "# ") : fmt::format("#   {:<14} {}\n", one.name, meaning(one));
    }
  }
  return text;
}

std::string search_example(const ModelSchema& schema) {
  for (const Parameter& parameter : schema) {
    if (parameter.type == Type::real) return parameter.name + " = { log10 = [-1, 3], n = 5 }";
    if (parameter.type == Type::integer) return parameter.name + " = [1, 2]";
  }
  return "lr = [0.1, 0.01]";
}

}  // namespace

std::string starter_toml(const std::string& model, const ModelSchema& schema) {
  std::string text = "# mokume run FILE. Every key: `mokume schema`.\n";
  std::string table;
  for (const Parameter& key : keys()) {
    if (key.init.empty()) continue;
    if (key.table != table) text += fmt::format("\n[{}]\n", key.table);
    table = key.table;
    text += fmt::format("{:<{}} = ", key.name, table.empty() ? 5 : 0) +
            fmt::format(fmt::runtime(key.init), model, search_example(schema)) + '\n';
  }
  text += fmt::format("\n[{}]\n", kOptions);
  for (const Parameter& parameter : schema) text += line(parameter, "");
  for (const Parameter& parameter : schema)
    if (parameter.is_tagged()) text += tags_of(parameter);
  return text;
}

}  // namespace mokume::config

#include "config/expanded.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "config/diagnostics.hpp"
#include "sdk/error.hpp"
#include "sdk/json.hpp"

namespace mokume::config {
namespace {

class Expansion {
 public:
  Json encode(const Node& node) {
    Json json = {{"at", nodes_.size()}};
    nodes_.push_back(&node);
    if (node.kind == Node::Kind::text) json["text"] = node.text;
    if (node.kind == Node::Kind::integer) json["integer"] = node.integer;
    if (node.kind == Node::Kind::array) {
      Json& list = json["list"] = Json::array();
      for (const Node& item : node.items) list.push_back(encode(item));
    }
    if (node.kind == Node::Kind::table) {
      Json& table = json["table"] = Json::array();
      for (const Entry& entry : node.entries) table.push_back(Json::array({entry.key, encode(entry.value)}));
    }
    return json;
  }

  Node decode(const Json& json) const {
    const Node& origin = origin_of(json.at("at"));
    Node node;
    node.location = origin.location;
    if (json.contains("list")) {
      node.kind = Node::Kind::array;
      for (const Json& item : json["list"]) node.items.push_back(decode(item));
    } else if (json.contains("table")) {
      for (const Json& pair : json["table"]) {
        Node value = decode(pair.at(1));
        const Entry* entry = origin.find(pair.at(0).get<std::string>());
        const Location location = entry == nullptr ? value.location : entry->location;
        node.entries.push_back({pair.at(0), location, std::move(value)});
      }
    } else if (json.contains("text")) {
      node.kind = Node::Kind::text;
      node.text = json["text"];
    } else if (json.contains("integer")) {
      node.kind = Node::Kind::integer;
      node.integer = json["integer"];
    } else {
      node = origin;
    }
    return node;
  }

  void add(const Json& problem, Diagnostics& diagnostics) const {
    const auto text = [&](const char* key) { return base::without_controls(problem.value(key, std::string())); };
    const Node& at = origin_of(problem.at("at"));
    const Entry* entry = problem.contains("key") ? at.find(text("key")) : nullptr;
    std::string hint = text("hint"), note = text("note");
    if (problem.contains("word")) hint = suggest(problem["word"], problem.at("known"));
    if (problem.contains("place")) note += diagnostics.where(origin_of(problem["place"]).location);
    diagnostics.add(entry == nullptr ? at.location : entry->location, text("message"), hint, note);
  }

 private:
  const Node& origin_of(const Json& number) const { return *nodes_.at(number.get<size_t>()); }

  std::vector<const Node*> nodes_;
};

}  // namespace

std::optional<Node> expanded(const Parameter& parameter, const Node& options, const Node* searched, Origin origin,
                             Diagnostics& diagnostics) {
  Expansion expansion;
  Json given = expansion.encode(options);
  if (searched != nullptr) given["searched"] = expansion.encode(*searched);
  if (origin == Origin::run) given["resolved"] = true;
  std::string text;
  const auto take = [](void* taker, const char* answer) { *static_cast<std::string*>(taker) = answer; };
  sdk::call(parameter.expand, parameter.name.c_str(), given.dump().c_str(), &text, take);
  try {
    const Json answer = sdk::parse_json<Json>(text);
    if (answer.contains("value")) return expansion.decode(answer["value"]);
    for (const Json& problem : answer.at("problems")) expansion.add(problem, diagnostics);
    return std::nullopt;
  } catch (const std::exception& error) {
    throw Error(MK_DEVICE_ERROR, "the model cannot read '" + parameter.name + "': " + error.what());
  }
}

}  // namespace mokume::config

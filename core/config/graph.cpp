#include "config/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "config/wording.hpp"

namespace mokume::config {
namespace {

constexpr const char *kTypeKey = "type", *kLayers = "layers";
constexpr const char *kBlock = "block", *kRepeat = "repeat", *kInput = "input", *kPrevious = "previous";
constexpr size_t kMostLayers = 100'000;
constexpr size_t kMostDepth = 16;  // of blocks within blocks

Node text_node(const Location& at, std::string text) {
  Node node;
  node.kind = Node::Kind::text;
  node.location = at;
  node.text = std::move(text);
  return node;
}

void put(Node& table, const char* key, Node value) {
  for (Entry& entry : table.entries)
    if (entry.key == key) return void(entry.value = std::move(value));
  table.entries.push_back({key, value.location, std::move(value)});
}

const std::string* text_of(const Node& table, const char* key) {
  const Entry* entry = table.find(key);
  return entry != nullptr && entry->value.kind == Node::Kind::text ? &entry->value.text : nullptr;
}

bool is_block(const Node& layer) {
  const std::string* type = layer.kind == Node::Kind::table ? text_of(layer, kTypeKey) : nullptr;
  return type != nullptr && *type == kBlock;
}

// The names that a value of `inputs` lists, with their locations; anything else is left to the reader of tables.
std::vector<Node> listed_names(const Node& inputs) {
  std::vector<Node> names;
  if (inputs.kind == Node::Kind::text)
    for (std::string& name : base::split(inputs.text, ','))
      names.push_back(text_node(inputs.location, std::move(name)));
  for (const Node& item : inputs.items)
    if (item.kind == Node::Kind::text) names.push_back(item);
  return names;
}

class Flattener {
 public:
  Flattener(const std::string& list, const Node* blocks, Diagnostics& diagnostics)
      : list_(list), blocks_(blocks), diagnostics_(diagnostics) {}

  std::optional<Node> flatten(const Node& layers) {
    const size_t before = diagnostics_.size();
    if (blocks_ != nullptr && blocks_->kind != Node::Kind::table)
      add(*blocks_, fmt::format("'{}' must be a table of blocks, not {}", kBlocks, describe(blocks_->kind)));
    names_all_ = std::any_of(layers.items.begin(), layers.items.end(), is_block);
    Node flat = layers;
    flat.items.clear();
    flat_ = &flat.items;
    add_layers(layers, list_, "", kInput);
    if (diagnostics_.size() == before) check_readers();
    return diagnostics_.size() == before ? std::optional(std::move(flat)) : std::nullopt;
  }

 private:
  // The layers of one list: their own names, and the names of their outputs in the flat list.
  using Scope = std::map<std::string, std::string>;

  void add(const Node& at, const std::string& message, const std::string& hint = "", const std::string& note = "") {
    diagnostics_.add(at.location, message, hint, note);
  }

  // Appends the layers of a list, whose names begin with `prefix` and whose first layer reads `input`. Returns the name
  // of its output.
  std::string add_layers(const Node& list, const std::string& title, const std::string& prefix,
                         const std::string& input) {
    Scope scope;
    std::string previous = input;
    for (size_t i = 0; i < list.items.size() && flat_->size() < kMostLayers; ++i) {
      Node layer = list.items[i];
      if (layer.kind != Node::Kind::table) {
        flat_->push_back(std::move(layer));
        continue;
      }
      const std::string place = fmt::format("{}[{}]", title, i), own = own_name(layer, i);
      check_new(layer, own, place, list, scope);
      resolve_inputs(layer, i, place, list, scope, input, previous);
      if (is_block(layer)) {
        previous = add_block(layer, place, prefix + own, previous);
      } else {
        if (!prefix.empty() && i == 0 && layer.find(kInputs) == nullptr)
          put(layer, kInputs, text_node(layer.location, input));
        if (names_all_) put(layer, kName, text_node(layer.location, prefix + own));
        previous = prefix + own;
        outputs_[previous] = {layer.location, place, false};
        flat_->push_back(std::move(layer));
      }
      scope[own] = previous;
    }
    if (flat_->size() >= kMostLayers) add(list, fmt::format("the network has more than {} layers", kMostLayers));
    return previous;
  }

  static std::string own_name(const Node& layer, size_t index) {
    const std::string* name = text_of(layer, kName);
    return name == nullptr || name->empty() ? std::to_string(index) : *name;
  }

  void check_new(const Node& layer, const std::string& own, const std::string& place, const Node& list,
                 const Scope& scope) {
    const Entry* entry = layer.find(kName);
    const Node& at = entry == nullptr ? layer : entry->value;
    if (!std::all_of(own.begin(), own.end(), [](char c) { return is_plain(c) || c == '.'; }))
      add(at,
          fmt::format("the name {} of {} may contain only letters, digits, '.', '_' and '-'", in_quotes(own), place));
    if (own == kInput || own == kPrevious)
      add(at, fmt::format("{} cannot be called {}, which has a meaning in '{}'", place, in_quotes(own), kInputs),
          "choose another name");
    if (scope.count(own) == 0) return;
    for (size_t i = 0; i < list.items.size(); ++i)
      if (list.items[i].kind == Node::Kind::table && own_name(list.items[i], i) == own)
        return add(at, fmt::format("two layers are called {}", in_quotes(own)), "choose another name",
                   "the first one is at " + diagnostics_.where(list.items[i].location));
  }

  // Replaces the names in `inputs` by those of the flat list.
  void resolve_inputs(Node& layer, size_t index, const std::string& place, const Node& list, const Scope& scope,
                      const std::string& input, const std::string& previous) {
    const Entry* entry = layer.find(kInputs);
    std::string joined;
    if (entry == nullptr) {
      note_reader(previous);
      return;
    }
    const Location at = entry->value.location;
    for (const Node& name : listed_names(entry->value)) {
      const std::string found = resolved(name, index, place, list, scope, input, previous);
      note_reader(found);
      joined += (joined.empty() ? "" : ",") + found;
    }
    // An empty list, or a value that is no list of texts, has its error from the reader of tables.
    if (!joined.empty()) put(layer, kInputs, text_node(at, joined));
  }

  std::string resolved(const Node& name, size_t index, const std::string& place, const Node& list, const Scope& scope,
                       const std::string& input, const std::string& previous) {
    if (name.text == kInput) return input;
    if (name.text == kPrevious) return previous;
    if (const auto known = scope.find(name.text); known != scope.end()) return known->second;
    std::vector<std::string> names = {kInput, kPrevious};
    for (size_t i = 0; i < list.items.size(); ++i) {
      if (list.items[i].kind != Node::Kind::table) continue;
      const std::string own = own_name(list.items[i], i);
      if (own == name.text && i >= index) {
        add(name, fmt::format("{} reads {}, which comes later", place, in_quotes(name.text)),
            "a layer can read only earlier layers");
        return name.text;
      }
      if (i < index && text_of(list.items[i], kName) != nullptr) names.push_back(own);
    }
    add(name, fmt::format("{} reads {}, but no layer has this name", place, in_quotes(name.text)),
        suggest(name.text, names), "inputs can be: " + join(names));
    return name.text;
  }

  // ---- blocks

  // Appends the layers of a block and returns the name of its output.
  std::string add_block(const Node& instance, const std::string& place, const std::string& name,
                        const std::string& previous) {
    const std::string* called = text_of(instance, kBlock);
    const Entry* found = called == nullptr || blocks_ == nullptr ? nullptr : entry_of(*blocks_, *called);
    if (found == nullptr) {
      report_unknown_block(instance, place, called);
      return name;
    }
    if (broken_.count(*called) > 0) return name;
    if (std::find(open_.begin(), open_.end(), *called) != open_.end() || open_.size() >= kMostDepth) {
      add(instance, fmt::format("the block {} contains itself", in_quotes(*called)), "remove one of the two");
      return name;
    }
    const Entry* layers = found->value.find(kLayers);
    if (layers == nullptr || layers->value.kind != Node::Kind::array || layers->value.items.empty()) {
      add(layers == nullptr ? found->value : layers->value,
          fmt::format("the block {} needs a list of layers", in_quotes(*called)),
          fmt::format("write [[model_options.{}.{}.{}]]", kBlocks, printable(*called), kLayers));
      return name;
    }
    const Entry* repeat = instance.find(kRepeat);
    const int64_t times = repeat == nullptr ? 1 : repeat->value.integer;
    if (repeat != nullptr && (repeat->value.kind != Node::Kind::integer || times < 1 || times > 1000)) {
      add(repeat->value, fmt::format("{} of {} must be a whole number from 1 to 1000", kRepeat, place),
          repeat->value.kind == Node::Kind::text ? "the number of layers cannot be searched" : "");
      return name;
    }
    const std::string* inputs = text_of(instance, kInputs);
    if (inputs != nullptr && inputs->find(',') != std::string::npos)
      add(instance.find(kInputs)->value, fmt::format("the block {} reads one input", in_quotes(*called)),
          "join the layers with add or concat before it");
    open_.push_back(*called);
    std::string output = inputs == nullptr ? previous : *inputs;
    for (int64_t r = 0; r < times; ++r) {
      const size_t before = diagnostics_.size();
      const std::map<std::string, Node> values = values_of(instance, found->value, *called, place, times, r);
      if (diagnostics_.size() != before) break;
      Node copy = layers->value;
      substitute(copy, values);
      const std::string prefix = name + (repeat == nullptr ? "." : fmt::format(".{}.", r));
      output = add_layers(copy, fmt::format("{}.{}.{}", kBlocks, *called, kLayers), prefix, output);
      if (diagnostics_.size() == before) continue;
      broken_.insert(*called);
      break;
    }
    open_.pop_back();
    return output;
  }

  static const Entry* entry_of(const Node& table, const std::string& key) {
    const Entry* entry = table.find(key);
    return entry != nullptr && entry->value.kind == Node::Kind::table ? entry : nullptr;
  }

  void report_unknown_block(const Node& instance, const std::string& place, const std::string* called) {
    std::vector<std::string> known;
    for (const Entry& entry : blocks_ == nullptr ? std::vector<Entry>() : blocks_->entries) known.push_back(entry.key);
    const std::string has = known.empty() ? fmt::format("define it in [model_options.{}.NAME]", kBlocks)
                                          : fmt::format("blocks are: {}", join(known));
    if (called == nullptr)
      return add(instance, fmt::format("{} needs '{}', the name of a block", place, kBlock), "", has);
    add(instance.find(kBlock)->value, fmt::format("there is no block {}", in_quotes(*called)), suggest(*called, known),
        has);
  }

  // The values of a block's parameters in repetition r: its defaults, or those of the instance.
  std::map<std::string, Node> values_of(const Node& instance, const Node& block, const std::string& called,
                                        const std::string& place, int64_t times, int64_t r) {
    std::map<std::string, Node> values;
    std::vector<std::string> known;
    for (const Entry& entry : block.entries)
      if (entry.key != kLayers) values[entry.key] = entry.value, known.push_back(entry.key);
    for (const Entry& entry : instance.entries) {
      if (entry.key == kTypeKey || entry.key == kBlock || entry.key == kName || entry.key == kInputs ||
          entry.key == kRepeat)
        continue;
      if (values.count(entry.key) == 0) {
        diagnostics_.add(entry.location, fmt::format("unknown key {} in {}", in_quotes(entry.key), place),
                         suggest(entry.key, known),
                         fmt::format("the block {} takes: {}", printable(called), join(known)));
        continue;
      }
      const bool each = entry.value.kind == Node::Kind::array;
      if (each && int64_t(entry.value.items.size()) != times) {
        add(entry.value,
            fmt::format("{} lists {} values for {} repetitions", in_quotes(entry.key), entry.value.items.size(), times),
            "give one value, or one for each repetition");
        continue;
      }
      values[entry.key] = each ? entry.value.items[size_t(r)] : entry.value;
    }
    return values;
  }

  static void substitute(Node& node, const std::map<std::string, Node>& values) {
    if (node.kind == Node::Kind::text && node.text.starts_with('$'))
      if (const auto found = values.find(node.text.substr(1)); found != values.end()) node = found->second;
    for (Node& item : node.items) substitute(item, values);
    for (Entry& entry : node.entries) substitute(entry.value, values);
  }

  // ---- readers

  struct Output {
    Location location;
    std::string place;
    bool read = false;
  };

  void note_reader(const std::string& name) {
    if (const auto output = outputs_.find(name); output != outputs_.end()) output->second.read = true;
  }

  void check_readers() {
    std::string last;
    for (size_t i = 0; i < flat_->size(); ++i)
      if ((*flat_)[i].kind == Node::Kind::table) last = own_name((*flat_)[i], i);
    for (const auto& [name, output] : outputs_)
      if (!output.read && name != last)
        diagnostics_.add(output.location, fmt::format("no layer reads the output of {}", output.place),
                         "remove the layer, or name it in the 'inputs' of another");
  }

  const std::string list_;
  const Node* blocks_;
  Diagnostics& diagnostics_;
  bool names_all_ = false;
  std::vector<Node>* flat_ = nullptr;
  std::set<std::string> broken_;           // blocks with errors, which are reported once
  std::vector<std::string> open_;          // the blocks around the current layer
  std::map<std::string, Output> outputs_;  // of the flat list
};

}  // namespace

void add_graph_keys(std::vector<Parameter>& keys) {
  Parameter name;
  name.name = kName;
  name.type = Type::text;
  name.doc = "what `inputs` of later layers and saved models call it; its place in the list if not given";
  name.flags = kOfModel | kPlanIfSet;
  name.fallback = "\"\"";
  keys.push_back(name);
  Parameter inputs;
  inputs.name = kInputs;
  inputs.type = Type::selection;
  inputs.doc = "names of the layers that it reads, \"input\" or \"previous\"; the layer before it if not given";
  inputs.flags = kOfModel | kPlanIfSet | kEmptyAllowed;
  inputs.fallback = "[]";
  keys.push_back(inputs);
}

std::optional<Node> flat_layers(const std::string& list, const Node& layers, const Node* blocks,
                                Diagnostics& diagnostics) {
  if (layers.kind != Node::Kind::array) return layers;
  return Flattener(list, blocks, diagnostics).flatten(layers);
}

}  // namespace mokume::config

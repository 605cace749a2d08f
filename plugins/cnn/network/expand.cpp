#include "network/expand.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <vector>

namespace mokume::cnn {
namespace expansion {

// Holds a value of [model_options] in the form of mk_model.expand.
using Node = nlohmann::ordered_json;

constexpr const char *kAt = "at", *kText = "text", *kList = "list", *kTable = "table";  // keys of a node
constexpr const char *kType = "type", *kName = "name", *kInputs = "inputs";             // keys of layers and of blocks
constexpr const char *kBlock = "block", *kRepeat = "repeat", *kLayers = "layers", *kSearched = "searched";
constexpr const char* kResolved = "resolved";
constexpr const char *kRepeats = "repeats", *kRepetition = "repetition";  // keys of layers in a searched repetition
constexpr const char *kInput = "input", *kPrevious = "previous";          // names in `inputs`
constexpr size_t kMostLayers = 100'000;
constexpr int64_t kMostRepeats = 1000;
constexpr size_t kMostDepth = 16;  // limit for the nesting of blocks

bool is_table(const Node& node) { return node.contains(kTable); }

std::span<const Node> items_of(const Node& node, const char* part) {
  if (!node.contains(part)) return {};
  return node[part].get_ref<const Node::array_t&>();
}

const std::string& key_of(const Node& entry) { return entry[0].get_ref<const std::string&>(); }

const Node* find(const Node& table, const std::string& key) {
  for (const Node& entry : items_of(table, kTable))
    if (key_of(entry) == key) return &entry[1];
  return nullptr;
}

Node text_node(const Node& at, const std::string& text) { return {{kAt, at[kAt]}, {kText, text}}; }

int64_t integer_of(const Node& node) { return node.value("integer", int64_t{0}); }

// Returns the largest integer that a searched parameter can have, or -1 if there is none from 0 up.
int64_t largest(const Node& space) {
  int64_t most = space.value("integer", int64_t{-1});
  for (const Node& item : items_of(space, kList)) most = std::max(most, integer_of(item));
  for (const char* key : {"values", "int", "int_log"})
    if (const Node* part = find(space, key)) most = std::max(most, largest(*part));
  return most;
}

void put(Node& table, const char* key, Node value) {
  for (Node& entry : table[kTable])
    if (key_of(entry) == key) return void(entry[1] = std::move(value));
  table[kTable].push_back(Node::array({key, std::move(value)}));
}

const std::string* text_of(const Node& node) {
  return node.contains(kText) ? &node[kText].get_ref<const std::string&>() : nullptr;
}

const std::string* text_of(const Node& table, const char* key) {
  const Node* value = find(table, key);
  return value == nullptr ? nullptr : text_of(*value);
}

bool is_block(const Node& layer) {
  const std::string* type = text_of(layer, kType);
  return type != nullptr && *type == kBlock;
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Returns the names that a value of `inputs` lists. The program checks any other value.
std::vector<Node> listed_names(const Node& inputs) {
  std::vector<Node> names;
  if (const std::string* text = text_of(inputs)) {
    std::istringstream words(*text + ",");
    for (std::string word; std::getline(words, word, ',');) names.push_back(text_node(inputs, word));
  }
  for (const Node& item : items_of(inputs, kList))
    if (text_of(item) != nullptr) names.push_back(item);
  return names;
}

class Expansion {
 public:
  Expansion(std::string list, const Node& options)
      : list_(std::move(list)),
        blocks_(find(options, kBlocks)),
        searched_(options.contains(kSearched) ? options[kSearched] : Node::object()),
        resolved_(options.contains(kResolved)) {}

  Node run(const Node& layers) {
    if (blocks_ != nullptr && !is_table(*blocks_)) add(*blocks_, quoted(kBlocks) + " must be a table of blocks");
    const std::span<const Node> items = items_of(layers, kList);
    names_all_ = std::any_of(items.begin(), items.end(), is_block);
    add_layers(layers, list_, "", kInput);
    if (problems_.empty()) check_readers();
    if (!problems_.empty()) return {{"problems", problems_}};
    return {{"value", {{kAt, layers[kAt]}, {kList, flat_}}}};
  }

 private:
  // Maps the names of the layers of one list to the names of their outputs in the flat list.
  using Scope = std::map<std::string, std::string>;
  // Identifies a layer by its list and index. `place` names the layer in messages.
  struct At {
    const std::span<const Node> list;
    size_t index;
    const std::string& place;
  };

  Node& add(const Node& at, const std::string& message, const std::string& hint = "", const std::string& note = "") {
    return problems_.emplace_back(Node{{kAt, at[kAt]}, {"message", message}, {"hint", hint}, {"note", note}});
  }

  // Adds a problem with a word that may be a misspelling of a known one.
  Node& add_word(const Node& at, const std::string& message, const std::string& word,
                 const std::vector<std::string>& known, const std::string& note) {
    Node& problem = add(at, message, "", note);
    problem["word"] = word;
    problem["known"] = known;
    return problem;
  }

  // Appends the layers of a list, whose names begin with `prefix` and whose first layer reads `input`. Returns the name
  // of the list's output.
  std::string add_layers(const Node& list, const std::string& title, const std::string& prefix,
                         const std::string& input) {
    const std::span<const Node> items = items_of(list, kList);
    Scope scope;
    std::string previous = input;
    for (size_t i = 0; i < items.size() && flat_.size() < kMostLayers; ++i) {
      Node layer = items[i];
      if (!is_table(layer)) {
        flat_.push_back(std::move(layer));
        continue;
      }
      const std::string place = title + "[" + std::to_string(i) + "]", own = own_name(layer, i);
      const At at{items, i, place};
      if (!resolved_) refuse_written_keys(layer, place);
      check_name(layer, own, at, scope);
      resolve_inputs(layer, at, scope, input, previous);
      if (is_block(layer)) {
        previous = add_block(layer, place, prefix + own, previous);
      } else {
        if (!prefix.empty() && i == 0 && find(layer, kInputs) == nullptr) put(layer, kInputs, text_node(layer, input));
        if (names_all_) put(layer, kName, text_node(layer, prefix + own));
        if (repeats_ != nullptr) {
          put(layer, kRepeats, *repeats_);
          put(layer, kRepetition, {{kAt, (*repeats_)[kAt]}, {"integer", repetition_}});
        }
        previous = prefix + own;
        outputs_[previous] = {layer, place, false};
        flat_.push_back(std::move(layer));
      }
      scope[own] = previous;
    }
    if (flat_.size() >= kMostLayers) add(list, "the network has more than " + std::to_string(kMostLayers) + " layers");
    return previous;
  }

  // Only a resolved file has the keys that this class adds.
  void refuse_written_keys(const Node& layer, const std::string& place) {
    for (const char* key : {kRepeats, kRepetition})
      if (find(layer, key) != nullptr)
        add(layer, "unknown key " + quoted(key) + " in " + place,
            "put the layer into a block, and set repeat where the block is used")["key"] = key;
  }

  static std::string own_name(const Node& layer, size_t index) {
    const std::string* name = text_of(layer, kName);
    return name == nullptr || name->empty() ? std::to_string(index) : *name;
  }

  void check_name(const Node& layer, const std::string& own, const At& at, const Scope& scope) {
    const Node* name = find(layer, kName);
    const Node& where = name == nullptr ? layer : *name;
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
             c == '.';
    };
    if (!std::all_of(own.begin(), own.end(), allowed))
      add(where, "the name " + quoted(own) + " of " + at.place + " may contain only letters, digits, '.', '_' and '-'");
    if (own == kInput || own == kPrevious)
      add(where, at.place + " cannot be called " + quoted(own) + ", which has a meaning in '" + kInputs + "'",
          "choose another name");
    if (scope.count(own) == 0) return;
    for (size_t i = 0; i < at.index; ++i) {
      if (!is_table(at.list[i]) || own_name(at.list[i], i) != own) continue;
      add(where, "two layers are called " + quoted(own), "choose another name", "the first one is at ")["place"] =
          at.list[i][kAt];
      return;
    }
  }

  // Replaces the names in `inputs` by names in the flat list.
  void resolve_inputs(Node& layer, const At& at, const Scope& scope, const std::string& input,
                      const std::string& previous) {
    const Node* inputs = find(layer, kInputs);
    if (inputs == nullptr) return note_reader(previous);
    std::string text;
    for (const Node& name : listed_names(*inputs)) {
      const std::string found = resolved(name, at, scope, input, previous);
      note_reader(found);
      text += (text.empty() ? "" : ",") + found;
    }
    if (!text.empty()) put(layer, kInputs, text_node(*inputs, text));  // the program checks an empty list
  }

  std::string resolved(const Node& node, const At& at, const Scope& scope, const std::string& input,
                       const std::string& previous) {
    const std::string& name = *text_of(node);
    if (name == kInput) return input;
    if (name == kPrevious) return previous;
    if (const auto known = scope.find(name); known != scope.end()) return known->second;
    std::vector<std::string> names = {kInput, kPrevious};
    for (size_t i = 0; i < at.list.size(); ++i) {
      if (!is_table(at.list[i])) continue;
      const std::string own = own_name(at.list[i], i);
      if (own == name && i >= at.index) {
        add(node, at.place + " reads " + quoted(name) + ", which comes later", "a layer can read only earlier layers");
        return name;
      }
      if (i < at.index && text_of(at.list[i], kName) != nullptr) names.push_back(own);
    }
    add_word(node, at.place + " reads " + quoted(name) + ", but no layer has this name", name, names,
             "inputs can be: " + joined(names));
    return name;
  }

  // ---- blocks

  // Appends the layers of a block and returns the name of its output.
  std::string add_block(const Node& instance, const std::string& place, const std::string& name,
                        const std::string& previous) {
    const std::string* called = text_of(instance, kBlock);
    const Node* block = called == nullptr || blocks_ == nullptr ? nullptr : find(*blocks_, *called);
    if (block == nullptr || !is_table(*block)) {
      add_unknown_block(instance, place, called);
      return name;
    }
    if (broken_.count(*called) > 0) return name;
    if (std::find(open_.begin(), open_.end(), *called) != open_.end() || open_.size() >= kMostDepth) {
      add(instance, "the block " + quoted(*called) + " contains itself", "remove one of the two");
      return name;
    }
    const Node* layers = find(*block, kLayers);
    if (layers == nullptr || items_of(*layers, kList).empty()) {
      add(layers == nullptr ? *block : *layers, "the block " + quoted(*called) + " needs a list of layers",
          std::string("write [[model_options.") + kBlocks + "." + *called + "." + kLayers + "]]");
      return name;
    }
    const std::optional<int64_t> times = repetitions(instance, place);
    if (!times) return name;
    const std::string* inputs = text_of(instance, kInputs);
    if (inputs != nullptr && inputs->find(',') != std::string::npos)
      add(*find(instance, kInputs), "the block " + quoted(*called) + " reads one input",
          "join the layers with add, multiply or concat before it");
    return add_repetitions(instance, *block, place, name, *times, inputs == nullptr ? previous : *inputs);
  }

  // Appends the layers of all repetitions of a block that reads `output`, and returns the name of the last output.
  std::string add_repetitions(const Node& instance, const Node& block, const std::string& place,
                              const std::string& name, int64_t times, std::string output) {
    const std::string& called = *text_of(instance, kBlock);
    const Node* repeat = find(instance, kRepeat);
    open_.push_back(called);
    for (int64_t r = 0; r < times && broken_.count(called) == 0; ++r) {
      const size_t before = problems_.size();
      const std::map<std::string, Node> values = values_of(instance, block, called, place, times, r);
      if (problems_.size() != before) break;
      Node copy = *find(block, kLayers);
      substitute(copy, values);
      if (is_searched(instance)) repeats_ = repeat, repetition_ = r + 1;
      const std::string prefix = name + "." + (repeat == nullptr ? "" : std::to_string(r) + ".");
      output = add_layers(copy, std::string(kBlocks) + "." + called + "." + kLayers, prefix, output);
      if (problems_.size() != before) broken_.insert(called);
    }
    if (is_searched(instance)) repeats_ = nullptr;
    open_.pop_back();
    return output;
  }

  std::optional<int64_t> repetitions(const Node& instance, const std::string& place) {
    const Node* repeat = find(instance, kRepeat);
    if (repeat == nullptr) return 1;
    const bool searched = is_searched(instance);
    const Node* space = searched ? find(searched_, text_of(*repeat)->substr(1)) : nullptr;
    const int64_t most = space == nullptr ? -1 : largest(*space);
    // A search that asks only for 0 also needs the layers, which then are absent from all candidates.
    const int64_t times = !searched ? integer_of(*repeat) : most == 0 ? 1 : most;
    if (searched && repeats_ != nullptr) {
      add(*repeat, std::string(kRepeat) + " of " + place + " is searched, and so is that of a block around it",
          "search one of the two");
    } else if (times >= 1 && times <= kMostRepeats) {
      return times;
    } else {
      add(*repeat, std::string(kRepeat) + " of " + place + " must be a whole number from 1 to 1000",
          searched ? "search it among whole numbers: a list, or { int = [1, 4] }" : "");
    }
    return std::nullopt;
  }

  static bool is_searched(const Node& instance) {
    const std::string* repeat = text_of(instance, kRepeat);
    return repeat != nullptr && repeat->starts_with('$');
  }

  void add_unknown_block(const Node& instance, const std::string& place, const std::string* called) {
    std::vector<std::string> known;
    if (blocks_ != nullptr)
      for (const Node& entry : items_of(*blocks_, kTable)) known.push_back(key_of(entry));
    const std::string has = known.empty() ? std::string("define it in [model_options.") + kBlocks + ".NAME]"
                                          : "blocks are: " + joined(known);
    if (called == nullptr) {
      add(instance, place + " needs '" + kBlock + "', the name of a block", "", has);
    } else {
      add_word(*find(instance, kBlock), "there is no block " + quoted(*called), *called, known, has);
    }
  }

  // Returns the values of a block's parameters in repetition r: the defaults, or the values of the instance.
  std::map<std::string, Node> values_of(const Node& instance, const Node& block, const std::string& called,
                                        const std::string& place, int64_t times, int64_t r) {
    constexpr std::array kOwnKeys = {kType, kBlock, kName, kInputs, kRepeat};
    std::map<std::string, Node> values;
    std::vector<std::string> known;
    for (const Node& entry : items_of(block, kTable))
      if (key_of(entry) != kLayers) values[key_of(entry)] = entry[1], known.push_back(key_of(entry));
    for (const Node& entry : items_of(instance, kTable)) {
      const std::string& key = key_of(entry);
      const Node& value = entry[1];
      if (std::find(kOwnKeys.begin(), kOwnKeys.end(), key) != kOwnKeys.end()) continue;
      if (values.count(key) == 0) {
        add_word(instance, "unknown key " + quoted(key) + " in " + place, key, known,
                 "the block " + called + " takes: " + joined(known))["key"] = key;
        continue;
      }
      const bool each = value.contains(kList);
      if (each && int64_t(value[kList].size()) != times) {
        add(value,
            quoted(key) + " lists " + std::to_string(value[kList].size()) + " values for " + std::to_string(times) +
                " repetitions",
            "give one value, or one for each repetition");
        continue;
      }
      values[key] = each ? value[kList][size_t(r)] : value;
    }
    return values;
  }

  static void substitute(Node& node, const std::map<std::string, Node>& values) {
    if (const std::string* text = text_of(node); text != nullptr && text->starts_with('$'))
      if (const auto found = values.find(text->substr(1)); found != values.end()) node = Node(found->second);
    if (node.contains(kList))
      for (Node& item : node[kList]) substitute(item, values);
    if (node.contains(kTable))
      for (Node& entry : node[kTable]) substitute(entry[1], values);
  }

  // ---- readers

  struct Output {
    Node layer;
    std::string place;
    bool read = false;
  };

  void note_reader(const std::string& name) {
    if (const auto output = outputs_.find(name); output != outputs_.end()) output->second.read = true;
  }

  void check_readers() {
    std::string last;
    for (size_t i = 0; i < flat_.size(); ++i)
      if (is_table(flat_[i])) last = own_name(flat_[i], i);
    for (const auto& [name, output] : outputs_)
      if (!output.read && name != last)
        add(output.layer, "no layer reads the output of " + output.place,
            "remove the layer, or name it in the 'inputs' of another");
  }

  const std::string list_;
  const Node* blocks_;
  const Node searched_;            // the parameters of the search
  const bool resolved_;            // whether the file is the resolved file of a run
  const Node* repeats_ = nullptr;  // the searched `repeat` around the current layer
  int64_t repetition_ = 0;         // counts from 1
  bool names_all_ = false;
  Node::array_t flat_, problems_;
  std::set<std::string> broken_;           // blocks with problems, which are reported once
  std::vector<std::string> open_;          // the blocks around the current layer
  std::map<std::string, Output> outputs_;  // the key is the name in the flat list
};

}  // namespace expansion

const std::array<mk_param, 4> kGraphKeys = {{
    {expansion::kName, MK_PARAM_TEXT, MK_PARAM_YOUNGER | MK_PARAM_COMMON, 0, 0, "\"\"", "",
     "name of the layer in saved models and in `inputs` of later layers; without it, its place in the list", nullptr, 0,
     0},
    {expansion::kInputs, MK_PARAM_TEXT, MK_PARAM_YOUNGER | MK_PARAM_COMMON | MK_PARAM_LIST, 0, 0, "[]", "",
     "the layers that it reads: their names, \"input\" or \"previous\"; without it, the previous layer", nullptr, 0, 0},
    {expansion::kRepeats, MK_PARAM_INTEGER, MK_PARAM_YOUNGER | MK_PARAM_WRITTEN, 0, expansion::kMostRepeats, "0", "",
     "in a block with a searched `repeat`: its value, which mokume writes", nullptr, 0, 0},
    {expansion::kRepetition, MK_PARAM_INTEGER, MK_PARAM_YOUNGER | MK_PARAM_WRITTEN, 0, expansion::kMostRepeats, "0", "",
     "the layer is absent if this exceeds `repeats`", nullptr, 0, 0},
}};

mk_form block_form() {
  static constexpr mk_param kKeys[] = {
      {expansion::kBlock, MK_PARAM_TEXT, 0, 0, 0, "", "", "name of the block", nullptr, 0, 0}};
  return {expansion::kBlock, "the layers of a block of [model_options.blocks]", kKeys, 1, MK_FORM_EXPANDED};
}

std::string expand(const std::string& list, const std::string& options) {
  const auto root = expansion::Node::parse(options);
  return expansion::Expansion(list, root).run(*expansion::find(root, list)).dump();
}

PresentLayers present_layers(const std::string& layers) {
  if (layers.find(expansion::kRepetition) == std::string::npos) return {layers, {}};
  nlohmann::json kept = nlohmann::json::array();
  std::map<std::string, std::string> standing_for;  // maps an absent layer to its input
  const auto resolved = [&](const std::string& name) {
    const auto found = standing_for.find(name);
    return found == standing_for.end() ? name : found->second;
  };
  std::string previous = expansion::kInput;
  for (nlohmann::json layer : nlohmann::json::parse(layers)) {
    const std::string name = layer.value(expansion::kName, "");
    std::istringstream names(layer.value(expansion::kInputs, previous));
    std::string inputs, first;
    for (std::string one; std::getline(names, one, ',');) {
      inputs += (inputs.empty() ? "" : ",") + resolved(one);
      if (first.empty()) first = resolved(one);
    }
    const bool absent = layer.value(expansion::kRepetition, int64_t{0}) > layer.value(expansion::kRepeats, int64_t{0});
    previous = name;
    if (absent) {
      standing_for[name] = first;
      continue;
    }
    layer.erase(expansion::kRepeats);
    layer.erase(expansion::kRepetition);
    layer[expansion::kInputs] = inputs;
    kept.push_back(std::move(layer));
  }
  PresentLayers present{kept.dump(), {}};
  for (const auto& [name, input] : standing_for) present.absent.push_back(name);
  return present;
}

}  // namespace mokume::cnn

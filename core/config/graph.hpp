// Lists of layers that form a graph. A layer may have a `name`, and `inputs`: the names of the layers that it reads,
// "input" for the input of the network, or "previous". Without inputs it reads the layer before it, and without a name
// it is called by its place in the list.
//
//   [model_options.blocks.residual]         a block: parameters with defaults, and a list of layers. There, "$channels"
//   channels = 16                           stands for the parameter, and "input" for what the block reads
//   layers = [...]
//
//   [[model_options.layers]]                a block in a list of layers. A list gives a parameter one value for each
//   type = "block"                          repetition
//   block = "residual"
//   name = "stage"
//   repeat = 2
//   channels = 32
//
// The program replaces blocks by their layers (docs/adr/0036). These are called by the place of the block:
// "stage.0.main" is the layer `main` of the first repetition, and without `repeat` it is "stage.main".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/parameter.hpp"
#include "config/tree.hpp"

namespace mokume::config {

inline constexpr const char* kBlocks = "blocks";  // the table of blocks in [model_options]
inline constexpr const char* kName = "name";      // keys of every layer
inline constexpr const char* kInputs = "inputs";

// Adds the keys that every layer of a graph has: `name`, and `inputs`, which is kept as one text with commas.
void add_graph_keys(std::vector<Parameter>& keys);

// Returns the layers without blocks, in which every input is the name of an earlier layer or "input". If there were
// blocks, all layers have names. `list` is the parameter's name in messages; `blocks` is the table of blocks or
// nullptr. Adds diagnostics and returns nothing if a name is used twice, an input is unknown or comes later, nobody
// reads a layer, or a block is unknown or contains itself. Layers that are no tables are left to the reader of tables.
std::optional<Node> flat_layers(const std::string& list, const Node& layers, const Node* blocks,
                                Diagnostics& diagnostics);

}  // namespace mokume::config

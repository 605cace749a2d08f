// Lists of layers that form a graph. A layer may have a `name`, and `inputs`: the names of the layers that it reads,
// "input" for the input of the network, or "previous". Without inputs it reads the layer before it, and without a name
// its place in the list is its name.
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
// expand() replaces blocks by their layers (docs/adr/0036), whose names begin with the place of the block:
// "stage.0.main" is the layer `main` of the first repetition, and without `repeat` it is "stage.main".
#pragma once

#include <array>
#include <string>

#include "abi/model.h"

namespace mokume::cnn {

inline constexpr const char* kBlocks = "blocks";  // the table of blocks in [model_options]

// The keys `name` and `inputs` that every layer has in a file, in addition to those of its type. The program keeps
// `inputs` as one text with commas.
extern const std::array<mk_param, 2> kGraphKeys;
// Describes blocks among the layers.
mk_form block_form();

// As mk_model.expand. In the list that it returns, every input is the name of an earlier layer or "input", and if there
// were blocks, all layers have names. The problems are: a name is used twice, an input is unknown or comes later,
// nobody reads a layer, a block is unknown or contains itself. The program checks layers that are no tables.
std::string expand(const std::string& list, const std::string& options);

}  // namespace mokume::cnn

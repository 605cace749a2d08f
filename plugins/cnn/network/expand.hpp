// Expands lists of layers that form a graph. A layer may have a `name`, and `inputs` that name the layers that it
// reads: "input" is the input of the network, and "previous" the layer before. Without inputs, a layer reads the layer
// before, and without a name, its place in the list is its name.
//
//   [model_options.blocks.residual]         defines a block: parameters with defaults, and a list of layers, in which
//   channels = 16                           "$channels" is the parameter, and "input" is what the block reads
//   layers = [...]
//
//   [[model_options.layers]]                puts the block into a list of layers. For a parameter, a list of values
//   type = "block"                          has one value for each repetition
//   block = "residual"
//   name = "stage"
//   repeat = 2
//   channels = 32
//
// A searched number of repetitions, `repeat = "$depth"`, puts as many into the list as the search can ask for. Their
// layers have the keys `repeats = "$depth"` and `repetition`, and present_layers() removes those that a candidate does
// not have.
//
// expand() replaces blocks by their layers (docs/adr/0036), whose names begin with the place of the block:
// "stage.0.main" is the layer `main` of the first repetition, and without `repeat` it is "stage.main".
#pragma once

#include <array>
#include <string>
#include <vector>

#include "abi/model.h"

namespace mokume::cnn {

inline constexpr const char* kBlocks = "blocks";  // the table of blocks in [model_options]

// Lists the keys `name`, `inputs`, `repeats` and `repetition`, which every layer has in a file in addition to those of
// its type. The program keeps `inputs` as one text with commas.
extern const std::array<mk_param, 4> kGraphKeys;
// Describes blocks among the layers.
mk_form block_form();

// Implements mk_model.expand. In the result, every input is the name of an earlier layer or "input", and if there were
// blocks, all layers have names. Problems are repeated names, inputs that are unknown or come later, layers that nobody
// reads, and blocks that are unknown or contain themselves. The program checks layers that are no tables.
std::string expand(const std::string& list, const std::string& options);

struct PresentLayers {
  std::string layers;               // as JSON
  std::vector<std::string> absent;  // names of layers that only other candidates have
};

// Removes the layers of a candidate, as JSON, whose repetition exceeds the number of repeats. What reads an absent
// layer reads its first input, so that an absent repetition of a block passes on what the block reads.
PresentLayers present_layers(const std::string& layers);

}  // namespace mokume::cnn

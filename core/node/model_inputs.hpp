// Reads and writes inputs.json in a model's directory. The file tells how to prepare rows as in training, so that a
// model predicts without its run. The model's own manifest holds the rest (classes, scaling).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "data/dataset.hpp"

namespace mokume::node {

struct ModelInputs {
  std::string model;    // library that wrote the model
  data::DataSpec data;  // excludes paths, limits and scaling
  std::vector<data::Column> columns;
  std::optional<data::Shape> shape;  // shape of a row, for source "images"

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("model", self.model);
    field("source", self.data.source);
    field.optional("target", self.data.target);
    field.optional("categorical", self.data.categorical);
    field.optional("ignore", self.data.ignore);
    field.optional("group", self.data.group);
    field.optional("weight", self.data.weight);
    field("missing", self.data.missing);
    field("layout", self.data.layout);
    field.optional("size", self.data.size);
    field.optional("channels", self.data.channels);
    field.optional("storage", self.data.storage);
    field.optional("columns", self.columns);
    field("shape", self.shape);
  }
};

void write_inputs(const std::string& model_directory, const config::Config& config, const data::Dataset& data);
// Returns nothing if the directory has no such file. Throws Error(MK_BAD_DATA) that names a damaged file.
std::optional<ModelInputs> read_inputs(const std::string& model_directory);

}  // namespace mokume::node

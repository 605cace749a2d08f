#include "node/model_inputs.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/sealed.hpp"
#include "data/spec.hpp"
#include "sdk/error.hpp"

namespace mokume::node {
namespace {

constexpr const char* kInputs = "inputs.json";

}  // namespace

void write_inputs(const std::string& model_directory, const config::Config& config, const data::Dataset& data) {
  ModelInputs inputs{config.model, config.data, data.columns, {}};
  if (config.data.source == "images") inputs.shape = data.shape;
  base::write_file(base::Below{model_directory, kInputs}, base::seal(base::to_json(inputs)));
}

std::optional<ModelInputs> read_inputs(const std::string& model_directory) {
  const base::Below file{model_directory, kInputs};
  if (!base::exists(file)) return std::nullopt;
  try {
    const auto text = base::unseal_file(base::read_file(file, 1U << 28));
    if (!text || !text->checked) throw Error(MK_BAD_DATA, "its checksum differs");
    auto inputs = base::from_json<ModelInputs>(text->object);
    const std::vector<std::string> known = data::source_names();
    if (std::find(known.begin(), known.end(), inputs.data.source) == known.end())
      throw Error(MK_BAD_DATA, "its source is unknown");
    return inputs;
  } catch (const Error& e) {
    throw Error(MK_BAD_DATA, file.path() + " is damaged (" + e.what() + "): restore the model's files");
  }
}

}  // namespace mokume::node

#include "checkpoint.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "sdk/error.hpp"
#include "sdk/safetensors.hpp"

namespace mokume::cnn {
namespace {

using nlohmann::json;
namespace st = sdk::safetensors;

std::string file_in(const std::string& directory) { return directory + "/checkpoint.safetensors"; }
std::string state_name(size_t k) { return "state" + std::to_string(k); }

std::vector<float> floats(const st::Reader& reader, const std::string& name) {
  const st::Tensor* tensor = reader.find(name);
  if (tensor == nullptr || tensor->dtype != st::Dtype::f32)
    throw Error(MK_BAD_DATA, "a checkpoint lacks the tensor " + name);
  std::vector<float> values(tensor->bytes / sizeof(float));
  reader.read(*tensor, values.data());
  return values;
}

}  // namespace

void save_checkpoint(const std::string& directory, const Checkpoint& c) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) throw Error(MK_INTERNAL, "cannot create " + directory + ": " + failed.message());
  st::Writer writer;
  const auto add = [&](const std::string& name, const std::vector<float>& values) {
    writer.add(name, {static_cast<int64_t>(values.size())}, values.data());
  };
  add("parameters", c.parameters);
  for (size_t k = 0; k < c.states.size(); ++k) add(state_name(k), c.states[k]);
  if (!c.results.empty()) add("results", c.results);
  const History& h = c.history;
  writer.metadata("fit", c.fingerprint);
  writer.metadata("position", json{{"epoch", c.epoch},
                                   {"batch", c.batch},
                                   {"train_loss", h.train_loss},
                                   {"train_accuracy", h.train_accuracy},
                                   {"validation_loss", h.validation_loss},
                                   {"validation_accuracy", h.validation_accuracy}}
                                  .dump());
  writer.write(file_in(directory));
}

std::optional<Checkpoint> load_checkpoint(const std::string& directory, const std::string& fingerprint,
                                          uint64_t parameters, uint64_t states) {
  if (directory.empty() || !std::filesystem::exists(file_in(directory))) return std::nullopt;
  try {
    const st::Reader reader(file_in(directory));
    if (reader.metadata().at("fit") != fingerprint) return std::nullopt;
    Checkpoint c;
    c.fingerprint = fingerprint;
    const json position = json::parse(reader.metadata().at("position"));
    c.epoch = position.at("epoch");
    c.batch = position.at("batch");
    c.history = {position.at("train_loss"), position.at("train_accuracy"), position.at("validation_loss"),
                 position.at("validation_accuracy")};
    c.parameters = floats(reader, "parameters");
    if (c.parameters.size() != parameters) return std::nullopt;
    for (size_t k = 0; k < states; ++k) {
      c.states.push_back(floats(reader, state_name(k)));
      if (c.states.back().size() != parameters) return std::nullopt;
    }
    if (reader.find("results") != nullptr) c.results = floats(reader, "results");
    return c;
  } catch (const Error&) {
    return std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
}

}  // namespace mokume::cnn

#include "train/checkpoint.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sdk/json.hpp"
#include "storage/checkpoint_file.hpp"

namespace mokume::cnn {
namespace {

using nlohmann::json;
namespace st = safetensors;

storage::CheckpointFile file_of(const sdk::Host& host, const std::string& directory) {
  return {host, "cnn", directory, "checkpoint"};
}

// Calls body(first float, chunk of host memory) for consecutive chunks of the whole vector.
template <class Body>
void in_chunks(const ParameterVector& vector, Body&& body) {
  const int64_t size = vector.layout().elements();
  std::vector<float> room(std::min(kChunk, size));
  for_each_chunk(size, [&](int64_t first, int64_t count) { body(first, std::span(room.data(), count)); });
}

json position_of(const st::Reader& reader) { return sdk::parse_json<json>(reader.metadata().at("position")); }

// Returns whether training can have this position, with one training loss for each earlier epoch.
bool is_possible(const Checkpoint& c) {
  const History& h = c.history;
  const auto epochs = static_cast<size_t>(c.epoch);
  return c.epoch >= 0 && c.batch >= 0 && c.batch_size > 0 && h.train_loss.size() == epochs &&
         std::max({h.train_accuracy.size(), h.validation_loss.size(), h.validation_accuracy.size(),
                   h.validation_squares.size()}) <= epochs;
}

}  // namespace

void save_checkpoint(const sdk::Host& host, const std::string& directory, const Checkpoint& c, const Engine& engine,
                     const ReadState& read) {
  st::Writer writer;
  for (const auto& [name, vector] : engine.state())
    writer.add(name, {vector->layout().elements()}, [&read, called = name, from = vector](const st::Writer::Put& put) {
      in_chunks(*from, [&](int64_t first, std::span<float> chunk) {
        read(called, *from, first, chunk);
        put(chunk.data(), chunk.size_bytes());
      });
    });
  if (!c.results.empty()) writer.add("results", {int64_t(c.results.size())}, c.results.data());
  json position{{"epoch", c.epoch},
                {"batch", c.batch},
                {"batch_size", c.batch_size},
                {"train_loss", c.history.train_loss},
                {"train_accuracy", c.history.train_accuracy},
                {"validation_loss", c.history.validation_loss},
                {"validation_accuracy", c.history.validation_accuracy}};
  if (!c.history.validation_squares.empty()) position["validation_squares"] = c.history.validation_squares;
  writer.metadata("position", position.dump());
  file_of(host, directory).write(writer, c.fingerprint);
}

void StoredCheckpoint::read_into(const Engine& engine) const {
  for (const auto& [name, vector] : engine.state())
    in_chunks(*vector, [&, &tensor = name, &to = *vector](int64_t first, std::span<float> chunk) {
      read(tensor, first, chunk);
      to.write(first, chunk);
    });
}

void StoredCheckpoint::read(const std::string& name, int64_t first, std::span<float> to) const {
  reader_.read(*reader_.find(name), first * sizeof(float), to.size_bytes(), to.data());
}

int64_t checkpoint_batch(const sdk::Host& host, const std::string& directory, const std::string& fingerprint) {
  return file_of(host, directory).read(fingerprint, [](const st::Reader& reader) -> int64_t {
    return sdk::whole_number(position_of(reader).at("batch_size"));
  });
}

std::optional<StoredCheckpoint> find_checkpoint(const sdk::Host& host, const std::string& directory,
                                                const std::string& fingerprint, const Engine& engine) {
  StateSizes sizes;
  for (const auto& [name, vector] : engine.state()) sizes.emplace_back(name, vector->layout().elements());
  return find_checkpoint(host, directory, fingerprint, sizes);
}

std::optional<StoredCheckpoint> find_checkpoint(const sdk::Host& host, const std::string& directory,
                                                const std::string& fingerprint, const StateSizes& state) {
  const storage::CheckpointFile file = file_of(host, directory);
  file.remove_remains();
  return file.read(fingerprint, [&](st::Reader reader) -> std::optional<StoredCheckpoint> {
    const json position = position_of(reader);
    for (const auto& [name, elements] : state) {
      const st::Tensor* tensor = reader.find(name);
      if (tensor == nullptr || !tensor->is({elements})) return std::nullopt;
    }
    Checkpoint c{fingerprint,
                 sdk::whole_number(position.at("epoch")),
                 sdk::whole_number(position.at("batch")),
                 sdk::whole_number(position.at("batch_size")),
                 {position.at("train_loss"), position.at("train_accuracy"), position.at("validation_loss"),
                  position.at("validation_accuracy"), position.value("validation_squares", std::vector<double>{})},
                 {}};
    if (!is_possible(c)) return std::nullopt;
    if (const st::Tensor* results = reader.find("results"); results != nullptr) {
      if (results->dtype != st::Dtype::f32) return std::nullopt;
      c.results.resize(results->bytes / sizeof(float));
      reader.read(*results, c.results.data());
    }
    return StoredCheckpoint(std::move(c), std::move(reader));
  });
}

}  // namespace mokume::cnn

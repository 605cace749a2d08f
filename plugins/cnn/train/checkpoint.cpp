#include "train/checkpoint.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sdk/error.hpp"
#include "sdk/json.hpp"
#include "sdk/storage.hpp"

namespace mokume::cnn {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
namespace st = safetensors;

std::string file_in(const std::string& directory) { return directory + "/checkpoint.safetensors"; }

// Calls body(first float, chunk of host memory) for consecutive chunks of the whole vector.
template <class Body>
void in_chunks(const ParameterVector& vector, Body&& body) {
  const int64_t size = vector.layout().elements();
  std::vector<float> room(std::min(kChunk, size));
  for_each_chunk(size, [&](int64_t first, int64_t count) { body(first, std::span(room.data(), count)); });
}

// Renames the file, so that the next checkpoint can take its name and the damaged file can be examined.
void set_aside(const sdk::Host& host, const std::string& file, const std::string& why) {
  const std::string aside = file + ".damaged";
  std::error_code failed;
  fs::rename(file, aside, failed);
  host.log(MK_LOG_WARNING, "cnn",
           why + "; the training starts from scratch" +
               (failed ? ", and the file cannot be renamed (" + failed.message() + ")"
                       : ", and the file was renamed to " + aside));
}

// Returns nothing if the file is absent or damaged, and sets a damaged file aside. `read` receives the reader of a
// verified file and its position, and throws if the contents are invalid.
template <class Read>
auto read_checkpoint(const sdk::Host& host, const std::string& directory, const std::string& fingerprint,
                     const Read& read) -> decltype(read(std::declval<st::Reader>(), json())) {
  const std::string file = file_in(directory);
  if (directory.empty() || !fs::exists(file)) return {};
  const auto damaged = [&] { set_aside(host, file, file + " is not a checkpoint of this version"); };
  try {
    st::Reader reader(file);
    reader.verify();
    if (reader.metadata().at("fit") != fingerprint) return {};
    const json position = sdk::parse_json<json>(reader.metadata().at("position"));
    return read(std::move(reader), position);
  } catch (const Error& e) {
    set_aside(host, file, e.what());
  } catch (const json::exception&) {
    damaged();
  } catch (const std::out_of_range&) {
    damaged();
  }
  return {};
}

// Returns whether training can have this position, with one training loss for each earlier epoch.
bool is_possible(const Checkpoint& c) {
  const History& h = c.history;
  const auto epochs = static_cast<size_t>(c.epoch);
  return c.epoch >= 0 && c.batch >= 0 && c.batch_size > 0 && h.train_loss.size() == epochs &&
         std::max({h.train_accuracy.size(), h.validation_loss.size(), h.validation_accuracy.size(),
                   h.validation_squares.size()}) <= epochs;
}

// Removes files of killed writers. A file that is less than an hour old may belong to a running writer.
void remove_remains(const std::string& directory) {
  std::error_code failed;
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& entry : fs::directory_iterator(directory, failed))
    if (entry.path().string().starts_with(file_in(directory) + ".tmp-") && entry.last_write_time(failed) < old)
      fs::remove(entry.path(), failed);
}

}  // namespace

void save_checkpoint(const std::string& directory, const Checkpoint& c, const Engine& engine, const ReadState& read) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) throw sdk::storage_error("create " + directory, failed.value());
  st::Writer writer;
  for (const auto& [name, vector] : engine.state())
    writer.add(name, {vector->layout().elements()}, [&read, called = name, from = vector](const st::Writer::Put& put) {
      in_chunks(*from, [&](int64_t first, std::span<float> chunk) {
        read(called, *from, first, chunk);
        put(chunk.data(), chunk.size_bytes());
      });
    });
  if (!c.results.empty()) writer.add("results", {int64_t(c.results.size())}, c.results.data());
  writer.checksum();
  writer.metadata("fit", c.fingerprint);
  json position{{"epoch", c.epoch},
                {"batch", c.batch},
                {"batch_size", c.batch_size},
                {"train_loss", c.history.train_loss},
                {"train_accuracy", c.history.train_accuracy},
                {"validation_loss", c.history.validation_loss},
                {"validation_accuracy", c.history.validation_accuracy}};
  if (!c.history.validation_squares.empty()) position["validation_squares"] = c.history.validation_squares;
  writer.metadata("position", position.dump());
  try {
    writer.write(file_in(directory));
  } catch (const Error& e) {
    // If the directory is gone, another device has finished the fit, so the checkpoint is not needed.
    const bool storage = e.status() == MK_STORAGE || e.status() == MK_INVALID_ARGUMENT;
    if (!storage || fs::exists(directory, failed)) throw;
  }
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
  return read_checkpoint(host, directory, fingerprint, [](const st::Reader&, const json& position) -> int64_t {
    return sdk::whole_number(position.at("batch_size"));
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
  if (!directory.empty()) remove_remains(directory);
  const auto read = [&](st::Reader reader, const json& position) -> std::optional<StoredCheckpoint> {
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
  };
  return read_checkpoint(host, directory, fingerprint, read);
}

}  // namespace mokume::cnn

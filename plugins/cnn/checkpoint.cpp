#include "checkpoint.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sdk/error.hpp"

namespace mokume::cnn {
namespace {

using nlohmann::json;
namespace st = sdk::safetensors;

std::string file_in(const std::string& directory) { return directory + "/checkpoint.safetensors"; }

// The tensors of a checkpoint that are as long as the network.
std::vector<std::pair<std::string, const ParameterVector*>> vectors(const Engine& engine) {
  std::vector<std::pair<std::string, const ParameterVector*>> all{{"parameters", &engine.parameters()}};
  for (size_t k = 0; k < engine.states().size(); ++k)
    all.emplace_back("state" + std::to_string(k), &engine.states()[k]);
  return all;
}

int64_t size_of(const ParameterVector& vector) { return vector.layout().elements(); }

std::vector<float> room(const ParameterVector& vector) {
  return std::vector<float>(static_cast<size_t>(std::min(kPiece, size_of(vector))));
}

bool holds(const st::Reader& reader, const std::string& name, int64_t size) {
  const st::Tensor* tensor = reader.find(name);
  return tensor != nullptr && tensor->dtype == st::Dtype::f32 && tensor->shape == st::Shape{size};
}

}  // namespace

void save_checkpoint(const std::string& directory, const Checkpoint& c, const Engine& engine) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) throw Error(MK_STORAGE, "cannot create " + directory + ": " + failed.message());
  st::Writer writer;
  for (const auto& [name, vector] : vectors(engine))
    writer.add(name, st::Dtype::f32, {size_of(*vector)}, [from = vector](const st::Writer::Put& put) {
      std::vector<float> piece = room(*from);
      in_pieces(size_of(*from), [&](int64_t first, int64_t count) {
        from->read(first, {piece.data(), static_cast<size_t>(count)});
        put(piece.data(), static_cast<uint64_t>(count) * sizeof(float));
      });
    });
  if (!c.results.empty()) writer.add("results", {static_cast<int64_t>(c.results.size())}, c.results.data());
  const History& h = c.history;
  writer.checksum();
  writer.metadata("fit", c.fingerprint);
  writer.metadata("position", json{{"epoch", c.epoch},
                                   {"batch", c.batch},
                                   {"batch_size", c.batch_size},
                                   {"train_loss", h.train_loss},
                                   {"train_accuracy", h.train_accuracy},
                                   {"validation_loss", h.validation_loss},
                                   {"validation_accuracy", h.validation_accuracy}}
                                  .dump());
  try {
    writer.write(file_in(directory));
  } catch (const Error& e) {
    // Another device has finished the fit meanwhile, and nobody wants its checkpoint any more.
    if (e.status() != MK_STORAGE || std::filesystem::exists(directory, failed)) throw;
  }
}

void StoredCheckpoint::read_into(const Engine& engine) const {
  for (const auto& [name, vector] : vectors(engine)) {
    std::vector<float> piece = room(*vector);
    in_pieces(size_of(*vector), [&, &name = name, &to = *vector](int64_t first, int64_t count) {
      reader_.read(*reader_.find(name), static_cast<uint64_t>(first) * sizeof(float),
                   static_cast<uint64_t>(count) * sizeof(float), piece.data());
      to.write(first, {piece.data(), static_cast<size_t>(count)});
    });
  }
}

namespace {

// Out of the way, so that the next checkpoint takes its place and somebody can look at this one.
void set_aside(const sdk::Host& host, const std::string& file, const std::string& why) {
  const std::string aside = file + ".damaged";
  std::error_code failed;
  std::filesystem::rename(file, aside, failed);
  host.log(MK_LOG_WARNING, "cnn",
           why + "; the training starts anew" +
               (failed ? ", and the file cannot be renamed (" + failed.message() + ")" : ", and the file is " + aside));
}

// Nothing where the file is absent, or damaged and set aside, or `read`, which is given the reader of a whole file,
// throws for what it does not hold.
template <class Read>
auto read_checkpoint(const sdk::Host& host, const std::string& directory, const Read& read)
    -> decltype(read(std::declval<st::Reader>())) {
  if (directory.empty() || !std::filesystem::exists(file_in(directory))) return {};
  try {
    st::Reader reader(file_in(directory));
    reader.verify();
    return read(std::move(reader));
  } catch (const Error& e) {
    set_aside(host, file_in(directory), e.what());
  } catch (const json::exception&) {
    set_aside(host, file_in(directory), file_in(directory) + " is no checkpoint of this version");
  } catch (const std::out_of_range&) {
    set_aside(host, file_in(directory), file_in(directory) + " is no checkpoint of this version");
  }
  return {};
}

// Of writers that were killed. One that is at work has begun lately.
void remove_remains(const std::string& directory) {
  std::error_code failed;
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& entry : std::filesystem::directory_iterator(directory, failed))
    if (entry.path().string().starts_with(file_in(directory) + ".tmp-") && entry.last_write_time(failed) < old)
      std::filesystem::remove(entry.path(), failed);
}

}  // namespace

int64_t checkpoint_batch(const sdk::Host& host, const std::string& directory, const std::string& fingerprint) {
  return read_checkpoint(host, directory, [&](const st::Reader& reader) -> int64_t {
    if (reader.metadata().at("fit") != fingerprint) return 0;
    return json::parse(reader.metadata().at("position")).at("batch_size");
  });
}

std::optional<StoredCheckpoint> find_checkpoint(const sdk::Host& host, const std::string& directory,
                                                const std::string& fingerprint, const Engine& engine) {
  if (!directory.empty()) remove_remains(directory);
  return read_checkpoint(host, directory, [&](st::Reader reader) -> std::optional<StoredCheckpoint> {
    if (reader.metadata().at("fit") != fingerprint) return std::nullopt;
    for (const auto& [name, vector] : vectors(engine))
      if (!holds(reader, name, size_of(*vector))) return std::nullopt;
    Checkpoint c;
    c.fingerprint = fingerprint;
    const json position = json::parse(reader.metadata().at("position"));
    c.epoch = position.at("epoch");
    c.batch = position.at("batch");
    c.batch_size = position.at("batch_size");
    c.history = {position.at("train_loss"), position.at("train_accuracy"), position.at("validation_loss"),
                 position.at("validation_accuracy")};
    if (const st::Tensor* results = reader.find("results"); results != nullptr) {
      if (results->dtype != st::Dtype::f32) return std::nullopt;
      c.results.resize(results->bytes / sizeof(float));
      reader.read(*results, c.results.data());
    }
    return StoredCheckpoint(std::move(c), std::move(reader));
  });
}

}  // namespace mokume::cnn

#include "storage/checkpoint_file.hpp"

#include <chrono>
#include <filesystem>
#include <system_error>

#include "sdk/storage.hpp"

namespace mokume::storage {

namespace fs = std::filesystem;

void CheckpointFile::write(safetensors::Writer& writer, const std::string& fit) const {
  std::error_code failed;
  fs::create_directories(directory_, failed);
  if (failed) throw sdk::storage_error("create " + directory_, failed.value());
  writer.checksum();
  writer.metadata("fit", fit);
  try {
    writer.write(path_);
  } catch (const Error& e) {
    // If the directory is gone, another device has finished the fit, so the checkpoint is not needed.
    const bool storage = e.status() == MK_STORAGE || e.status() == MK_INVALID_ARGUMENT;
    if (!storage || fs::exists(directory_, failed)) throw;
  }
}

bool CheckpointFile::exists() const {
  std::error_code failed;
  return !directory_.empty() && fs::exists(path_, failed);
}

// A file that is less than an hour old may belong to a running writer.
void CheckpointFile::remove_remains() const {
  if (directory_.empty()) return;
  std::error_code failed;
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& entry : fs::directory_iterator(directory_, failed))
    if (entry.path().string().starts_with(path_ + ".tmp-") && entry.last_write_time(failed) < old)
      fs::remove(entry.path(), failed);
}

void CheckpointFile::remove_foreign() const {
  std::error_code failed;
  fs::remove(path_, failed);
  host_.log(MK_LOG_INFO, model_,
            path_ +
                " belongs to other data, other settings, another version or another class of device: it was "
                "removed, and the fit starts over");
}

// Keeps the file, so that it can be examined.
void CheckpointFile::set_aside(const std::string& why) const {
  const std::string aside = path_ + ".damaged";
  std::error_code failed;
  fs::rename(path_, aside, failed);
  host_.log(MK_LOG_WARNING, model_,
            why + "; the fit starts over" +
                (failed ? ", and the file cannot be renamed (" + failed.message() + ")"
                        : ", and the file was renamed to " + aside));
}

}  // namespace mokume::storage

#include "base/passed.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/below.hpp"
#include "base/files.hpp"
#include "base/sealed.hpp"

namespace mokume::base {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{1} << 20;
constexpr size_t kNameCharacters = 32;
constexpr std::time_t kSecondsUntilSettled = 2;

// Returns whether the file may change again without a new time, because its file system counts whole seconds.
bool unsettled(const std::string& file) {
  struct stat s {};
  return ::stat(file.c_str(), &s) == 0 && s.st_ctim.tv_nsec == 0 &&
         std::time(nullptr) - s.st_ctim.tv_sec < kSecondsUntilSettled;
}

// Removes old records, because every build makes new libraries. What is still in use is checked again.
void remove_old(const fs::path& directory) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none))
    if (entry.last_write_time(none) < old) fs::remove(entry.path(), none);
}

}  // namespace

std::vector<std::string> states_of(const std::vector<std::string>& files) {
  std::vector<std::string> states;
  for (const std::string& file : files) {
    struct stat s {};
    const bool there = ::stat(file.c_str(), &s) == 0;
    states.push_back(there ? fmt::format("{} {} {} {}.{:09} {}.{:09}", s.st_dev, s.st_ino, s.st_size, s.st_mtim.tv_sec,
                                         s.st_mtim.tv_nsec, s.st_ctim.tv_sec, s.st_ctim.tv_nsec)
                           : "absent");
  }
  return states;
}

Passed::Passed(const std::string& cache, const std::string& check, std::string what,
               std::vector<std::string> circumstances)
    : what_(std::move(what)), circumstances_(std::move(circumstances)) {
  if (cache.empty()) return;
  file_ = cache + "/" + check + "/" + sha256(what_).substr(0, kNameCharacters) + ".json";
  std::error_code none;
  if (!fs::exists(file_, none)) return;
  try {
    const auto content = unseal_file(read_file(file_, kMostBytes));
    damaged_ = !content || !content->checked;
    if (damaged_) return;
    const auto record = nlohmann::json::parse(content->object);
    if (!record.contains("what")) return;  // another version wrote it
    known_ = record.at("what") == what_ && record.at("circumstances") == circumstances_ &&
             record.at("states") == states_of(record.at("files").get<std::vector<std::string>>());
  } catch (const std::exception&) {
    damaged_ = true;
  }
}

void Passed::remember(const std::vector<std::string>& files, const std::vector<std::string>& states) const noexcept {
  if (file_.empty()) return;
  try {
    if (std::any_of(files.begin(), files.end(), unsettled)) return;
    const fs::path path(file_);
    fs::create_directories(path.parent_path());
    const nlohmann::json record = {
        {"what", what_}, {"circumstances", circumstances_}, {"files", files}, {"states", states}};
    write_file(Below{path.parent_path().string(), path.filename().string()}, seal(record.dump()), Durable::no);
    remove_old(path.parent_path());
  } catch (const std::exception&) {
    // The next process checks again.
  }
}

}  // namespace mokume::base

#include "registry/passed.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/child.hpp"
#include "base/files.hpp"
#include "base/sealed.hpp"

namespace mokume::registry {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{1} << 20;
constexpr size_t kNameCharacters = 32;

// Identifies the content of the files without reading it.
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

// Returns the variables that determine which libraries are mapped.
std::vector<std::string> loader_variables() {
  std::vector<std::string> variables = base::environment_without_launcher();
  std::erase_if(variables, [](const std::string& one) { return !one.starts_with("LD_"); });
  std::sort(variables.begin(), variables.end());
  return variables;
}

// Removes old records, because every build makes new libraries. A library still in use is tried again.
void remove_old(const fs::path& directory) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none))
    if (entry.last_write_time(none) < old) fs::remove(entry.path(), none);
}

}  // namespace

Passed::Passed(const std::string& directory, const std::string& library) : library_(library) {
  if (directory.empty()) return;
  file_ = directory + "/libraries/" + base::sha256(library).substr(0, kNameCharacters) + ".json";
  std::error_code none;
  if (!fs::exists(file_, none)) return;
  try {
    const auto content = base::unseal_file(base::read_file(file_, kMostBytes));
    damaged_ = !content || !content->checked;
    if (damaged_) return;
    const auto record = nlohmann::json::parse(content->object);
    const auto files = record.at("files").get<std::vector<std::string>>();
    known_ = record.at("library") == library && record.at("variables") == loader_variables() &&
             record.at("states") == states_of(files);
  } catch (const std::exception&) {
    damaged_ = true;
  }
}

void Passed::remember(const std::vector<std::string>& mapped) const noexcept {
  if (file_.empty()) return;
  try {
    fs::create_directories(fs::path(file_).parent_path());
    const nlohmann::json record = {
        {"library", library_}, {"variables", loader_variables()}, {"files", mapped}, {"states", states_of(mapped)}};
    base::write_file(file_, base::seal(record.dump()));
    remove_old(fs::path(file_).parent_path());
  } catch (const std::exception&) {
    // The next start tries the library again.
  }
}

}  // namespace mokume::registry

#include "record.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "hash.hpp"

namespace mokume::pose {
namespace {

void write(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

}  // namespace

Record::Record(std::string directory) : directory_(std::move(directory)) {
  std::error_code failed;
  if (!directory_.empty()) std::filesystem::create_directories(directory_ + "/programs", failed);
}

pose_counts_t Record::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string Record::program(std::string_view source, std::string_view options) {
  const std::string hash = hash_of(source, options), path = directory_ + "/programs/" + hash;
  const std::lock_guard lock(mutex_);
  ++counts_.builds;
  if (!directory_.empty() && written_.insert(hash).second) {
    write(path + ".options", options);
    write(path + ".cl", source);
  }
  return hash;
}

void Record::kernel(const std::string& program, const std::string& name, const std::array<size_t, 3>& group,
                    size_t local_bytes) {
  if (directory_.empty() || program.empty()) return;  // the program was made from a binary
  const std::string line = program + " " + name + " " + std::to_string(group[0]) + "x" + std::to_string(group[1]) +
                           "x" + std::to_string(group[2]) + " " + std::to_string(local_bytes) + "\n";
  const std::lock_guard lock(mutex_);
  if (!written_.insert(line).second) return;
  // Several processes append to the file, so each line is one write.
  if (std::FILE* file = std::fopen((directory_ + "/kernels.txt").c_str(), "ae")) {
    std::fwrite(line.data(), 1, line.size(), file);
    std::fclose(file);
  }
}

void Record::write_counts() const {
  const pose_counts_t c = counts();
  if (directory_.empty() || c.launches == 0) return;
  std::ofstream(directory_ + "/counts-" + std::to_string(getpid()) + ".json")
      << "{\"launches\": " << c.launches << ", \"waits\": " << c.waits << ", \"reads\": " << c.reads
      << ", \"read_bytes\": " << c.read_bytes << ", \"writes\": " << c.writes
      << ", \"written_bytes\": " << c.written_bytes << ", \"copies\": " << c.copies
      << ", \"copied_bytes\": " << c.copied_bytes << ", \"builds\": " << c.builds
      << ", \"cached_programs\": " << c.cached_programs << "}\n";
}

}  // namespace mokume::pose

// Simulates a file system that all processes of a job share. When a process dies, its finished appends stay, and a part
// of an unfinished append.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/disk.hpp"
#include "sdk/error.hpp"
#include "simulation/world.hpp"

namespace mokume::simulation {

class SharedDisk {
 public:
  explicit SharedDisk(World& world) : world_(world) {}

  std::map<std::string, std::string> files;  // content by path
  double sync_s = 0.003;                     // average time of an append
  double full_until = 0, slow_until = 0;     // a slow disk takes kSlow times as long

  static constexpr double kSlow = 1000;

  World& world() const { return world_; }

 private:
  World& world_;
};

// Gives one process its view of the disk.
class ProcessDisk : public base::Disk {
 public:
  ProcessDisk(SharedDisk& shared, const Process& process) : shared_(shared), process_(process) {}

  std::unique_ptr<base::AppendFile> open(const std::string& directory, const std::string& name) const override {
    return std::make_unique<File>(shared_, process_, directory + "/" + name);
  }

 private:
  class File : public base::AppendFile {
   public:
    File(SharedDisk& shared, const Process& process, std::string path)
        : shared_(shared), process_(process), path_(std::move(path)) {
      check();
      shared_.files[path_];
    }

    std::string read() const override { return shared_.files[path_]; }

    void append(std::string_view text) override {
      check();
      World& world = shared_.world();
      const bool slow = shared_.slow_until > world.now();
      const size_t torn = world.random().below(static_cast<uint32_t>(text.size()) + 1);
      world.sleep_until(world.now() + world.random().about(shared_.sync_s) * (slow ? SharedDisk::kSlow : 1));
      if (process_.dead() || shared_.full_until > world.now()) {
        shared_.files[path_] += text.substr(0, torn);
        fail();
      }
      shared_.files[path_] += text;
    }

    void cut(uint64_t bytes) override {
      check();
      shared_.files[path_].resize(bytes);
    }

   private:
    void check() const {
      if (process_.dead()) fail();
    }
    [[noreturn]] void fail() const { throw Error(MK_STORAGE, "cannot write " + path_ + ": no space left on device"); }

    SharedDisk& shared_;
    const Process& process_;
    std::string path_;
  };

  SharedDisk& shared_;
  const Process& process_;
};

}  // namespace mokume::simulation

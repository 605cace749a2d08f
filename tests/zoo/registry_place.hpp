// Provides a registry over a scratch tree of libraries of the zoo, and a host that keeps its log.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "registry/registry.hpp"
#include "sdk/error.hpp"
#include "support/paths.hpp"

namespace mokume::registry {

namespace fs = std::filesystem;

// Keeps its log, in which the libraries of the zoo report that they are started and shut down.
class FakeHost {
 public:
  FakeHost() {
    table_.struct_size = sizeof(table_);
    table_.abi_major = MK_ABI_MAJOR;
    table_.abi_minor = MK_ABI_MINOR;
    table_.self = this;
    table_.log = [](void* self, int32_t, const char* source, const char* text) {
      FakeHost& host = *static_cast<FakeHost*>(self);
      const std::lock_guard lock(host.mutex_);
      host.lines.push_back(std::string(source) + " " + text);
    };
  }
  const mk_host* table() const { return &table_; }

  std::vector<std::string> lines;

 private:
  mk_host table_{};
  std::mutex mutex_;
};

// Each test has its own plugin directory with private permissions, whatever the umask of the build.
class RegistryTest : public testing::Test {
 protected:
  RegistryTest() {
    forget_environment();
    std::string name = testing::TempDir() + "mokume-registry-XXXXXX";
    root_ = fs::canonical(mkdtemp(name.data())).string();
  }
  ~RegistryTest() override {
    forget_environment();
    fs::remove_all(root_);
  }

  static void forget_environment() {
    for (const char* name : {"MOKUME_PLUGIN_PATH", "MOKUME_TRUST_GROUP_WRITABLE"}) unsetenv(name);
  }

  std::string directory(const std::string& tree) {
    for (const char* part : {"", "/backends", "/plugins", "/transports"}) {
      fs::create_directories(root_ + "/" + tree + part);
      chmod((root_ + "/" + tree + part).c_str(), 0755);
    }
    return root_ + "/" + tree;
  }

  // Copies one library of the zoo to its place of installation.
  std::string install(const std::string& animal, const std::string& kind = "backends", const std::string& tree = "a",
                      const std::string& as = "") {
    const std::string path = directory(tree) + "/" + kind + "/" + (as.empty() ? animal : as) + ".so";
    fs::copy_file(test::build_directory() + "/tests/zoo/animals/" + animal + ".so", path);
    chmod(path.c_str(), 0755);
    return path;
  }

  // Loads backend `name` from tree "a", expects a refusal at `stage`, and returns the reason.
  std::string refusal(const std::string& name, const std::string& stage) {
    Registry registry(host_.table(), {directory("a")});
    EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, name), nullptr);
    const std::vector<LoadEntry> report = registry.report();
    EXPECT_EQ(report.size(), 1U);
    if (report.empty()) return "";
    EXPECT_EQ(report.back().stage, stage) << report.back().text;
    EXPECT_FALSE(report.back().loaded);
    EXPECT_EQ(report.back().kind, "backend");
    EXPECT_EQ(report.back().name, name);
    try {
      registry.load(MK_PLUGIN_BACKEND, name);
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_DEVICE_ERROR);
      EXPECT_NE(std::string(e.what()).find(report.back().text), std::string::npos) << e.what();
    }
    return report.back().text;
  }

  FakeHost host_;
  std::string root_;
};

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace mokume::registry

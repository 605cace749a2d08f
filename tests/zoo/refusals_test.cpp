// Tests that each bad library is refused with its reason, by the process that looks for it or by one that tries it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/files.hpp"
#include "registry/probe.hpp"
#include "zoo/animals.hpp"
#include "zoo/registry_place.hpp"

namespace mokume::registry {
namespace {

using zoo::Animal;

class Refusal : public RegistryTest, public testing::WithParamInterface<Animal> {
 protected:
  ProbeSetup setup() const {
    ProbeSetup setup;
    setup.program = test::build_directory() + "/bin/mokume";
    setup.cache_directory = root_ + "/cache";
    return setup;
  }

  void expect(const Prober& prober, const Animal& animal) {
    Registry registry(host_.table(), {directory("a")}, prober);
    EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, animal.name), nullptr);
    const LoadEntry entry = registry.report().at(0);
    EXPECT_EQ(entry.text, animal.sentence);
    EXPECT_EQ(entry.stage, animal.stage);
    EXPECT_FALSE(entry.loaded);
  }
};

class Here : public Refusal {};

TEST_P(Here, IsRefusedWithItsSentence) {
  install(GetParam().name);
  expect({}, GetParam());
  EXPECT_EQ(std::count(host_.lines.begin(), host_.lines.end(), GetParam().name + " shutdown"), 0);
}

INSTANTIATE_TEST_SUITE_P(Animals, Here, testing::ValuesIn(zoo::read_here()),
                         [](const auto& p) { return p.param.name; });

class Elsewhere : public Refusal {};

TEST_P(Elsewhere, IsRefusedWithItsSentenceAndNeverLoaded) {
  install(GetParam().name);
  ProbeSetup limited = setup();
  if (hangs(GetParam())) limited.limit_s = std::stod(zoo::kProbeSeconds);
  expect(Probe{limited}, GetParam());
  EXPECT_EQ(host_.lines, std::vector<std::string>{}) << "it ran in this process";
}

INSTANTIATE_TEST_SUITE_P(Animals, Elsewhere, testing::ValuesIn([] {
                           std::vector<Animal> all = zoo::tried_elsewhere(), more = zoo::read_here();
                           all.insert(all.end(), more.begin(), more.end());
                           return all;
                         }()),
                         [](const auto& p) { return p.param.name; });

TEST_F(Refusal, ATruncatedLibraryIsNeverLoaded) {
  const std::string path = install("good");
  const uintmax_t whole = fs::file_size(path);
  for (const uintmax_t size : {whole / 8, whole / 4, whole / 2, whole * 3 / 4}) {
    fs::resize_file(path, size);
    Registry registry(host_.table(), {directory("a")}, Probe(setup()));
    EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, "good"), nullptr) << size;
    EXPECT_EQ(registry.report().at(0).stage, "open");
    EXPECT_TRUE(contains(registry.report().at(0).text, "again") || contains(registry.report().at(0).text, "install"))
        << registry.report().at(0).text;
  }
}

// ---- libraries that passed are remembered

class Remembered : public Refusal {
 protected:
  // Returns whether the library is tried in a child, which fails for a program that does not exist.
  bool is_tried() {
    ProbeSetup without = setup();
    without.program = "/nowhere";
    told_.clear();
    without.tell = [&](const std::string& text) { told_.push_back(text); };
    const std::string path = root_ + "/a/backends/good.so";
    Probe{without}(MK_PLUGIN_BACKEND, "good", path);
    return !told_.empty() && told_.back().starts_with("the backend 'good' (" + path +
                                                      ") is loaded without a trial: cannot start a child process: ");
  }

  std::string record() const {
    for (const auto& entry : fs::directory_iterator(root_ + "/cache/libraries")) return entry.path().string();
    return "";
  }

  std::vector<std::string> told_;  // set by is_tried()
};

TEST_F(Remembered, UntilAFileChanges) {
  const std::string path = install("good");
  EXPECT_TRUE(is_tried());
  Probe{setup()}(MK_PLUGIN_BACKEND, "good", path);
  EXPECT_FALSE(is_tried());
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_TRUE(is_tried());
  Probe{setup()}(MK_PLUGIN_BACKEND, "good", path);
  EXPECT_FALSE(is_tried());
  setenv("LD_LIBRARY_PATH", "/elsewhere", 1);
  EXPECT_TRUE(is_tried()) << "other libraries may be mapped";
  unsetenv("LD_LIBRARY_PATH");
}

TEST_F(Remembered, AHangIsReportedBeforeTheLibraryIsLeftOut) {
  install("query_hangs");
  std::vector<std::string> told;
  ProbeSetup limited = setup();
  limited.limit_s = std::stod(zoo::kProbeSeconds);
  limited.patience_s = limited.limit_s / 2;
  limited.tell = [&](const std::string& text) { told.push_back(text); };
  const std::string path = root_ + "/a/backends/query_hangs.so";
  EXPECT_THROW(Probe{limited}(MK_PLUGIN_BACKEND, "query_hangs", path), std::exception);
  EXPECT_EQ(told, std::vector<std::string>{"the backend 'query_hangs' (" + path +
                                           ") is being tried and has not answered for 1 s; it is left out after 2 s"});
}

TEST_F(Remembered, NotIfItFailed) {
  install("start_crashes", "backends", "a", "good");
  EXPECT_THROW(Probe{setup()}(MK_PLUGIN_BACKEND, "good", root_ + "/a/backends/good.so"), std::exception);
  EXPECT_TRUE(is_tried());
}

TEST_F(Remembered, NotIfTheRecordIsDamaged) {
  const std::string path = install("good");
  Probe{setup()}(MK_PLUGIN_BACKEND, "good", path);
  const std::string before = base::read_file(record());
  for (size_t at = 0; at < before.size(); at += 37) {
    std::string changed = before;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    std::ofstream(record(), std::ios::binary) << changed;
    EXPECT_TRUE(is_tried()) << at;
    EXPECT_EQ(told_.front(), record() + " is damaged and is written again");
  }
  Probe{setup()}(MK_PLUGIN_BACKEND, "good", path);
  EXPECT_FALSE(is_tried());
  fs::remove(record());
  EXPECT_TRUE(is_tried());
}

TEST_F(Remembered, NotWithoutACache) {
  const std::string path = install("good");
  ProbeSetup none = setup();
  none.cache_directory.clear();
  Probe{none}(MK_PLUGIN_BACKEND, "good", path);
  EXPECT_TRUE(is_tried());
}

}  // namespace
}  // namespace mokume::registry

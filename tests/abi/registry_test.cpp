#include "registry/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "sdk/error.hpp"
#include "zoo/registry_place.hpp"

namespace mokume::registry {
namespace {

TEST_F(RegistryTest, AGoodBackendIsStartedOnceAndShutDown) {
  const std::string path = install("good");
  {
    Registry registry(host_.table(), {directory("a")});
    const Library& library = registry.load(MK_PLUGIN_BACKEND, "good");
    EXPECT_EQ(library.name, "good");
    EXPECT_EQ(library.path, path);
    EXPECT_EQ(library.version, "1.2.3");
    EXPECT_EQ(library.description, "a fixture");
    EXPECT_EQ(library.backend()->struct_size, sizeof(mk_backend));
    EXPECT_EQ(&registry.load(MK_PLUGIN_BACKEND, "good"), &library);
    EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, "good"), &library);
    const std::vector<LoadEntry> report = registry.report();
    ASSERT_EQ(report.size(), 1U);
    EXPECT_EQ(report[0].stage, "loaded");
    EXPECT_TRUE(report[0].loaded);
    EXPECT_EQ(report[0].path, path);
    EXPECT_TRUE(contains(report[0].text, "1.2.3"));
    EXPECT_EQ(host_.lines, (std::vector<std::string>{"good start"}));
  }
  EXPECT_EQ(host_.lines, (std::vector<std::string>{"good start", "good shutdown"}));
}

TEST_F(RegistryTest, ModelsAndTransportsHaveTheirOwnDirectories) {
  install("good_model", "plugins");
  install("good_transport", "transports");
  {
    Registry registry(host_.table(), {directory("a")});
    EXPECT_EQ(registry.load(MK_PLUGIN_MODEL, "good_model").model()->struct_size, sizeof(mk_model));
    EXPECT_EQ(registry.load(MK_PLUGIN_TRANSPORT, "good_transport").transport()->struct_size, sizeof(mk_transport));
    EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, "good_model"), nullptr);
  }
  EXPECT_EQ(host_.lines, (std::vector<std::string>{"good_model start", "good_transport start",
                                                   "good_transport shutdown", "good_model shutdown"}));
}

TEST_F(RegistryTest, ModelsHaveBothFunctionsOfCalibrationOrNone) {
  install("half_model", "plugins");
  Registry registry(host_.table(), {directory("a")});
  EXPECT_EQ(registry.try_load(MK_PLUGIN_MODEL, "half_model"), nullptr);
  EXPECT_EQ(registry.report().back().text, "it has only one of calibrate() and probabilities(): provide both or none");
}

TEST_F(RegistryTest, ConcurrentLoadsReturnOneLibrary) {
  install("good");
  Registry registry(host_.table(), {directory("a")});
  std::vector<const Library*> found(4);
  std::vector<std::thread> threads;
  for (const Library*& slot : found)
    threads.emplace_back([&registry, &slot] { slot = registry.try_load(MK_PLUGIN_BACKEND, "good"); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(found[0], nullptr);
  EXPECT_EQ(std::count(found.begin(), found.end(), found[0]), 4);
  EXPECT_EQ(host_.lines.size(), 1U);
}

TEST_F(RegistryTest, AFileThatIsNotALibraryIsRefused) {
  const std::string path = directory("a") + "/backends/text.so";
  std::ofstream(path) << "not a library\n";
  chmod(path.c_str(), 0644);
  EXPECT_TRUE(contains(refusal("text", "open"), path));
  std::ofstream(directory("a") + "/backends/empty.so").close();
  refusal("empty", "open");
}

// ---- search

TEST_F(RegistryTest, TheFirstDirectoryWinsAndABadCandidateDoesNotHideAGoodOne) {
  install("good", "backends", "b");
  install("good", "backends", "c");
  const std::string bad = directory("a") + "/backends/good.so";
  std::ofstream(bad) << "x";
  chmod(bad.c_str(), 0644);
  Registry registry(host_.table(), {directory("a"), directory("b"), directory("c")});
  EXPECT_EQ(registry.load(MK_PLUGIN_BACKEND, "good").path, root_ + "/b/backends/good.so");
  const std::vector<LoadEntry> report = registry.report();
  ASSERT_EQ(report.size(), 2U);
  EXPECT_EQ(report[0].path, bad);
  EXPECT_EQ(report[0].stage, "open");
  EXPECT_TRUE(report[1].loaded);
}

TEST_F(RegistryTest, ALibraryThatFailedIsNotStartedAgainThroughALink) {
  const std::string target = install("null_table");
  fs::create_symlink(target, directory("b") + "/backends/null_table.so");
  Registry registry(host_.table(), {directory("a"), directory("b")});
  EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, "null_table"), nullptr);
  EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, "null_table"), nullptr);
  EXPECT_EQ(host_.lines, (std::vector<std::string>{"null_table start"}));
  EXPECT_EQ(registry.report().size(), 2U);
}

TEST_F(RegistryTest, TheEnvironmentIsSearchedAfterTheConfigAndBeforeTheProgram) {
  install("good", "backends", "env");
  setenv("MOKUME_PLUGIN_PATH", (root_ + "/env:" + root_ + "/env2").c_str(), 1);
  Registry registry(host_.table(), {directory("a")});
  EXPECT_EQ(registry.load(MK_PLUGIN_BACKEND, "good").path, root_ + "/env/backends/good.so");
  const std::vector<std::string>& directories = registry.directories();
  ASSERT_EQ(directories.size(), 4U);
  EXPECT_EQ(directories[0], root_ + "/a");
  EXPECT_EQ(directories[1], root_ + "/env");
  EXPECT_EQ(directories[2], root_ + "/env2");
  const fs::path program = fs::canonical("/proc/self/exe");
  EXPECT_EQ(directories[3], (program.parent_path().parent_path() / "lib" / "mokume").string());
}

TEST_F(RegistryTest, RelativeDirectoriesAreRefusedAndReported) {
  install("good");
  setenv("MOKUME_PLUGIN_PATH", "a::./a", 1);
  const fs::path before = fs::current_path();
  fs::current_path(root_);  // in this directory, the relative entries would work
  Registry registry(host_.table(), {"a", ""});
  EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, "good"), nullptr);
  fs::current_path(before);
  const std::vector<LoadEntry> report = registry.report();
  ASSERT_EQ(report.size(), 6U);  // five entries, and the name that was not found
  for (const LoadEntry& entry : report) EXPECT_EQ(entry.stage, "find");
  EXPECT_TRUE(contains(report[0].text, "'a' in the list of plugin directories is not an absolute directory"));
  EXPECT_TRUE(contains(report[4].text, "'./a' in MOKUME_PLUGIN_PATH"));
}

TEST_F(RegistryTest, NamesCannotLeaveTheDirectory) {
  install("good");
  fs::create_directories(root_ + "/a/backends/sub");
  Registry registry(host_.table(), {directory("a")});
  for (const std::string name : {"", "../backends/good", "/etc/passwd", "good.so", "Good", ".", "sub/x", "a b"}) {
    EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, name), nullptr);
    EXPECT_TRUE(contains(registry.report().back().text, "it is not a valid name")) << name;
  }
  EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, std::string("good\0x", 6)), nullptr);
  EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, std::string(5000, 'a')), nullptr);
  EXPECT_TRUE(host_.lines.empty());
}

TEST_F(RegistryTest, AMissingLibraryErrorListsTheSearchedPlacesAndTheAvailableNames) {
  install("good");
  install("wrong_magic");
  Registry registry(host_.table(), {directory("a")});
  try {
    registry.load(MK_PLUGIN_BACKEND, "goood");
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_TRUE(contains(e.what(), "no backends/goood.so in " + root_ + "/a")) << e.what();
    EXPECT_TRUE(contains(e.what(), "did you mean 'good'?")) << e.what();
    EXPECT_TRUE(contains(e.what(), "wrong_magic")) << e.what();
    EXPECT_TRUE(contains(e.what(), "MOKUME_PLUGIN_PATH")) << e.what();
  }
  EXPECT_EQ(registry.report().back().stage, "find");
}

TEST_F(RegistryTest, AvailableListsNamesOnceWithoutLoading) {
  install("good", "backends", "b");
  install("good");
  install("wrong_magic");
  install("good_model", "plugins");
  std::ofstream(root_ + "/a/backends/notes.txt") << "x";
  std::ofstream(root_ + "/a/backends/Bad Name.so") << "x";
  const Registry registry(host_.table(), {directory("a"), directory("b"), root_ + "/missing"});
  const std::vector<std::string> names = registry.available(MK_PLUGIN_BACKEND);
  for (const char* name : {"good", "wrong_magic"}) EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  for (const char* name : {"notes", "Bad Name", "good_model"})
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 0) << name;
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_TRUE(registry.report().empty());
  EXPECT_TRUE(host_.lines.empty());
}

}  // namespace
}  // namespace mokume::registry

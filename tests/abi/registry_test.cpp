#include "registry/registry.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "sdk/error.hpp"
#include "support/paths.hpp"

namespace mokume::registry {
namespace {

namespace fs = std::filesystem;

// A host that keeps its log: the libraries of the zoo log when they are started and shut down.
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

// Each test has its own plugin directory, with private permissions whatever the umask of the build was.
class RegistryTest : public testing::Test {
 protected:
  RegistryTest() {
    unsetenv("MOKUME_PLUGIN_PATH");
    std::string name = testing::TempDir() + "mokume-registry-XXXXXX";
    root_ = fs::canonical(mkdtemp(name.data())).string();
  }
  ~RegistryTest() override {
    unsetenv("MOKUME_PLUGIN_PATH");
    fs::remove_all(root_);
  }

  std::string directory(const std::string& tree) {
    for (const char* part : {"", "/backends", "/plugins", "/transports"}) {
      fs::create_directories(root_ + "/" + tree + part);
      chmod((root_ + "/" + tree + part).c_str(), 0755);
    }
    return root_ + "/" + tree;
  }

  // Copies one library of the zoo to the place where it would be installed.
  std::string install(const std::string& animal, const std::string& kind = "backends", const std::string& tree = "a",
                      const std::string& as = "") {
    const std::string path = directory(tree) + "/" + kind + "/" + (as.empty() ? animal : as) + ".so";
    fs::copy_file(test::build_directory() + "/tests/abi/zoo/" + animal + ".so", path);
    chmod(path.c_str(), 0755);
    return path;
  }

  // Loads backend `name` from tree "a", expects it to be refused at `stage`, and returns the reason.
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

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

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

// ---- the zoo

struct Animal {
  const char *name, *stage;
  std::vector<std::string> phrases;
};

class Zoo : public RegistryTest, public testing::WithParamInterface<Animal> {};

TEST_P(Zoo, IsRefusedWithAReason) {
  install(GetParam().name);
  const std::string text = refusal(GetParam().name, GetParam().stage);
  for (const std::string& phrase : GetParam().phrases) EXPECT_TRUE(contains(text, phrase)) << phrase << ": " << text;
  EXPECT_EQ(std::count(host_.lines.begin(), host_.lines.end(), std::string(GetParam().name) + " shutdown"), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Animals, Zoo,
    testing::Values(
        Animal{"no_symbol", "symbol", {"does not export mokume_plugin_query_v1", "MOKUME_PLUGIN("}},
        Animal{"null_header", "query", {"cannot serve ABI 1.0", "rebuild"}},
        Animal{"query_throws", "query", {"thrown by the query"}},
        Animal{"wrong_magic", "header", {"0x0000000000000007", "not a mokume library"}},
        Animal{"short_header", "header", {"has 56 bytes, this program's 64", "rebuild"}},
        Animal{"other_major", "header", {"uses ABI 2.0, this program 1.0", "rebuild"}},
        Animal{"newer_minor", "header", {"needs ABI 1.1, this program has only 1.0", "update mokume or rebuild"}},
        Animal{"wrong_hash", "header", {"other headers of core/abi", "this program's is", "rebuild"}},
        Animal{"wrong_sanitizer", "header", {"unknown sanitizer, this program with", "same preset"}},
        Animal{"wrong_kind", "header", {"is a model, not a backend", "move it to plugins/"}},
        Animal{"unknown_kind", "header", {"unknown kind, not a backend"}},
        Animal{"wrong_name", "header", {"calls itself 'other', its file 'wrong_name'", "rename"}},
        Animal{"null_name", "header", {"calls itself ''"}},
        Animal{"null_start", "header", {"no version, description or start function"}},
        Animal{"start_fails", "start", {"the driver is missing: install it"}},
        Animal{"start_throws", "start", {"thrown across the boundary", "author"}},
        Animal{"start_is_silent", "start", {"status 1 and no reason"}},
        Animal{"null_table", "start", {"returned no table"}},
        Animal{"short_table", "start", {"has 24 bytes, this program's"}},
        Animal{"other_table_major", "start", {"table has ABI 2.0, this program uses 1.0"}},
        Animal{"null_slot", "start", {"function 11 of its table is null"}}),
    [](const auto& p) { return std::string(p.param.name); });

TEST_F(RegistryTest, AFileThatIsNotALibraryIsRefused) {
  const std::string path = directory("a") + "/backends/text.so";
  std::ofstream(path) << "not a library\n";
  chmod(path.c_str(), 0644);
  EXPECT_TRUE(contains(refusal("text", "open"), path));
  std::ofstream(directory("a") + "/backends/empty.so").close();
  refusal("empty", "open");
}

// ---- permissions

TEST_F(RegistryTest, AFileThatOthersMayWriteIsRefused) {
  const std::string path = install("good");
  for (const mode_t mode : {0757, 0775, 0666}) {
    chmod(path.c_str(), mode);
    const std::string text = refusal("good", "permissions");
    EXPECT_TRUE(contains(text, "chmod go-w " + path)) << text;
  }
  EXPECT_TRUE(host_.lines.empty());
}

TEST_F(RegistryTest, ADirectoryThatOthersMayWriteIsRefused) {
  install("good");
  for (const mode_t mode : {0777, 0775, 01777}) {
    chmod((directory("a") + "/backends").c_str(), mode);
    Registry registry(host_.table(), {root_ + "/a"});
    EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, "good"), nullptr);
    const LoadEntry entry = registry.report().at(0);
    EXPECT_EQ(entry.stage, "permissions");
    EXPECT_TRUE(contains(entry.text, "chmod go-w " + root_ + "/a/backends")) << entry.text;
  }
}

TEST_F(RegistryTest, AFileOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = install("good");
  ASSERT_EQ(chown(path.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  const std::string text = refusal("good", "permissions");
  EXPECT_TRUE(contains(text, "belongs to user 12345, not to root or user 0")) << text;
}

TEST_F(RegistryTest, AFileThatIsNotRegularIsRefused) {
  fs::create_directory(directory("a") + "/backends/folder.so");
  EXPECT_TRUE(contains(refusal("folder", "permissions"), "not a regular file"));
  ASSERT_EQ(mkfifo((directory("a") + "/backends/pipe.so").c_str(), 0600), 0);
  EXPECT_TRUE(contains(refusal("pipe", "permissions"), "not a regular file"));
}

TEST_F(RegistryTest, ALinkToAGoodLibraryIsAccepted) {
  const std::string target = install("good", "backends", "elsewhere");
  fs::create_symlink(target, directory("a") + "/backends/good.so");
  Registry registry(host_.table(), {directory("a")});
  EXPECT_EQ(registry.load(MK_PLUGIN_BACKEND, "good").path, target);
}

TEST_F(RegistryTest, ALinkIsRefusedIfItsTargetWouldBe) {
  const std::string target = install("good", "backends", "elsewhere");
  fs::create_symlink(target, directory("a") + "/backends/good.so");
  fs::create_symlink(root_ + "/nowhere", directory("a") + "/backends/dangling.so");
  chmod((root_ + "/elsewhere/backends").c_str(), 0777);
  EXPECT_TRUE(contains(refusal("good", "permissions"), root_ + "/elsewhere/backends"));
  EXPECT_TRUE(contains(refusal("dangling", "permissions"), "cannot be resolved"));
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
  fs::current_path(root_);  // the relative entries would work here
  Registry registry(host_.table(), {"a", ""});
  EXPECT_EQ(registry.try_load(MK_PLUGIN_BACKEND, "good"), nullptr);
  fs::current_path(before);
  const std::vector<LoadEntry> report = registry.report();
  ASSERT_EQ(report.size(), 6U);  // five entries and the name that was not found
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

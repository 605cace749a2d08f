// Tests that a run continues with the other backends, whatever a bad backend does.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include "cli/processes.hpp"
#include "cli/shell.hpp"
#include "zoo/animals.hpp"

namespace mokume::zoo {
namespace {

namespace fs = std::filesystem;
using cli_test::Ended;
using cli_test::Place;

class Zoo : public testing::TestWithParam<Animal> {
 protected:
  Zoo() {
    for (const std::string& path : {library(), library() + "/backends"}) {
      fs::create_directory(path);
      chmod(path.c_str(), 0755);
    }
    setenv("MOKUME_PLUGIN_PATH", library().c_str(), 1);
    setenv("XDG_CACHE_HOME", (place_.path() / "cache").c_str(), 1);
  }
  ~Zoo() override {
    for (const char* name : {"MOKUME_PLUGIN_PATH", "MOKUME_PROBE_SECONDS", "XDG_CACHE_HOME", "OCL_ICD_VENDORS",
                             "MOKUME_FAULT", "MOKUME_FAULT_IN", "MOKUME_FAULT_ONCE"})
      unsetenv(name);
  }

  std::string library() const { return fs::canonical(place_.path()).string() + "/lib"; }

  // Puts a library of the zoo where the program finds it, and returns its path.
  std::string install(const std::string& animal) const {
    const std::string path = library() + "/backends/" + animal + ".so";
    fs::copy_file(test::build_directory() + "/tests/zoo/animals/" + animal + ".so", path);
    chmod(path.c_str(), 0755);
    return path;
  }

  std::string results(const std::string& devices, Ended& ended, const std::string& more = "") const {
    place_.write("e.toml", cli_test::small_experiment(devices, 120) + more);
    ended = place_.mokume("run --fresh e.toml --out " + devices.substr(0, devices.find(',')));
    EXPECT_EQ(ended.code, 0) << ended.err;
    for (const auto& run : fs::directory_iterator(place_.path() / devices.substr(0, devices.find(',')) / "small"))
      return cli_test::slurp(run.path() / "results.csv");
    return "";
  }

  Place place_;
};

TEST_P(Zoo, TheRunContinuesWithTheOtherBackend) {
  const std::string path = install(GetParam().name);
  Ended alone, both;
  const std::string expected = results("host", alone);
  EXPECT_EQ(alone.err.find(GetParam().name), std::string::npos) << "'host' names no other backend\n" << alone.err;
  // The program has already tried the other libraries.
  if (hangs(GetParam())) setenv("MOKUME_PROBE_SECONDS", kProbeSeconds, 1);
  EXPECT_EQ(results(GetParam().name + ",host", both), expected);
  EXPECT_NE(
      both.err.find("the backend '" + GetParam().name + "' is left out: " + path + ": " + GetParam().sentence + "\n"),
      std::string::npos)
      << both.err;
  EXPECT_GT(expected.size(), 100U);
}

INSTANTIATE_TEST_SUITE_P(Animals, Zoo, testing::ValuesIn([] {
                           std::vector<Animal> all = tried_elsewhere(), more = read_here();
                           all.insert(all.end(), more.begin(), more.end());
                           return all;
                         }()),
                         [](const auto& p) { return p.param.name; });

class Keeper : public Zoo {};

TEST_F(Keeper, AllAndEveryAlsoContinue) {
  setenv("OCL_ICD_VENDORS", library().c_str(), 1);  // leaves no drivers, whose kernels would have to be built
  install("enumerate_crashes");
  const std::string bad = install("constructor_crashes");
  for (const std::string devices : {"all", "every"}) {
    Ended ended;
    EXPECT_GT(results(devices, ended).size(), 100U);
    EXPECT_NE(ended.err.find(bad + ": the process that tried it crashed (Segmentation fault)"), std::string::npos);
  }
  const Ended listed = place_.mokume("devices");
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_NE(listed.out.find("host:0"), std::string::npos);
  const Ended doctor = place_.mokume("doctor");
  EXPECT_EQ(doctor.code, 4);
  EXPECT_NE(doctor.out.find("REFUSED  " + bad + ": "), std::string::npos) << doctor.out;
}

TEST_F(Keeper, ADeviceThatCannotBeUsedAloneIsAnErrorWithItsReason) {
  const std::string bad = install("start_crashes");
  place_.write("e.toml", cli_test::small_experiment("start_crashes:0"));
  const Ended ended = place_.mokume("run e.toml");
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.err.find("error: the devices 'start_crashes:0' cannot be used: " + bad + ": the process that tried"),
            std::string::npos)
      << ended.err;
}

TEST_F(Keeper, ADeviceThatDiesInOpenIsLeftOutInAProcessOfItsOwn) {
  Ended alone;
  const std::string expected = results("host", alone);
  for (const std::string how : {"throws", "crashes", "exits"}) {
    install("open_" + how);
    Ended both;
    EXPECT_EQ(results("open_" + how + ",host", both, "isolation = \"process\"\n"), expected);
    EXPECT_NE(both.err.find("the run continues without it"), std::string::npos) << both.err;
  }
}

// The backend of tests/faults computes until it is told to misbehave.
TEST_F(Keeper, ADeviceThatMisbehavesLaterCostsOnlyItsOwnWork) {
  Ended alone;
  const std::string expected = results("host", alone);
  setenv("MOKUME_PLUGIN_PATH", cli_test::fault_library().c_str(), 1);
  for (const std::string function : {"queue_create", "buffer_create", "copy", "submit", "finish"})
    for (const std::string kind : {"throw", "crash"}) {
      const fs::path struck = place_.path() / (function + kind);
      setenv("MOKUME_FAULT_IN", function.c_str(), 1);
      setenv("MOKUME_FAULT", (kind + ":" + (function == "queue_create" ? "1" : "3")).c_str(), 1);
      setenv("MOKUME_FAULT_ONCE", struck.c_str(), 1);
      fs::remove_all(place_.path() / "fault:0");
      Ended both;
      EXPECT_EQ(results("fault:0,host", both, "isolation = \"process\"\n"), expected) << function << " " << kind;
      EXPECT_TRUE(fs::exists(struck)) << function << " " << kind << " did not happen";
    }
}

TEST_F(Keeper, ATruncatedBackendIsLeftOut) {
  const std::string path = install("good");
  fs::resize_file(path, fs::file_size(path) / 2);
  Ended alone, both;
  const std::string expected = results("host", alone);
  EXPECT_EQ(results("good,host", both), expected);
  EXPECT_NE(both.err.find("the backend 'good' is left out: " + path + ": "), std::string::npos) << both.err;
}

TEST_F(Keeper, ABackendThatOthersMayChangeIsLeftOut) {
  const std::string path = install("good");
  chmod(path.c_str(), 0757);
  Ended alone, both;
  const std::string expected = results("host", alone);
  EXPECT_EQ(results("good,host", both), expected);
  EXPECT_NE(both.err.find("the backend 'good' is left out: " + path + ": others may write to the file '" + path +
                          "' (mode 0757): chmod go-w " + path + "\n"),
            std::string::npos)
      << both.err;
}

TEST_F(Keeper, ASignalEndsTheProgramWhileABackendHangs) {
  setenv("MOKUME_PROBE_SECONDS", "600", 1);
  for (const std::string function : {"constructor", "query", "start", "enumerate"}) {
    const std::string path = install(function + "_hangs");
    place_.write("e.toml", cli_test::small_experiment(function + "_hangs,host"));
    const pid_t pid = place_.start({"run", "--fresh", "e.toml"});
    pid_t child = 0;
    const auto hangs = [&] {  // a child that has mapped the library
      for (const pid_t one : cli_test::children_of(pid))
        if (cli_test::slurp("/proc/" + std::to_string(one) + "/maps").find(path) != std::string::npos) child = one;
      return child != 0;
    };
    EXPECT_TRUE(cli_test::eventually(hangs));
    kill(pid, SIGTERM);
    EXPECT_EQ(Place::wait(pid), 75) << cli_test::slurp(place_.path() / "child.txt");
    EXPECT_TRUE(cli_test::eventually([&] { return cli_test::is_dead(child); }));
    EXPECT_NE(cli_test::slurp(place_.path() / "child.txt").find("the backend '" + function + "_hangs' (" + path + ")"),
              std::string::npos);
  }
}

TEST_F(Keeper, AModelThatCrashesGetsASentence) {
  fs::create_directory(library() + "/plugins");
  chmod((library() + "/plugins").c_str(), 0755);
  fs::copy_file(test::build_directory() + "/tests/zoo/animals/model_crashes.so",
                library() + "/plugins/model_crashes.so");
  place_.write("e.toml", "name = \"x\"\nmodel = \"model_crashes\"\ndata.source = \"digits\"\ndevices.use = \"host\"\n");
  const Ended ended = place_.mokume("run e.toml");
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find(library() + "/plugins/model_crashes.so: the process that tried it crashed (Segmentation "
                                       "fault) in its start function"),
            std::string::npos)
      << ended.err;
}

}  // namespace
}  // namespace mokume::zoo

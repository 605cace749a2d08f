// Tests devices in child processes: their results, and the outcome when a child crashes or its parent is killed.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/processes.hpp"
#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

constexpr const char* kProcess = " --set devices.isolation=process";

std::string results(const Place& place, const std::string& out) {
  for (const auto& entry : fs::directory_iterator(place.path() / out / "small"))
    return slurp(entry.path() / "results.csv");
  return "";
}

// Returns an experiment whose device fails as MOKUME_FAULT requests.
std::string faulty_experiment(const std::string& devices, int digits = 500) {
  return std::string("plugins.directories = [\"") + fault_library() + "\"]\n" + small_experiment(devices, digits);
}

bool maps(pid_t pid, const std::string& library) {
  return slurp("/proc/" + std::to_string(pid) + "/maps").find(library) != std::string::npos;
}

long ticks(pid_t pid) {
  const std::string stat = slurp("/proc/" + std::to_string(pid) + "/stat");
  std::stringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string skipped;
  for (int k = 0; k < 11; ++k) fields >> skipped;
  long user = 0, system = 0;
  fields >> user >> system;
  return user + system;
}

// Returns whether the first fit is in the journal.
bool works(const Place& place) {
  if (!fs::exists(place.path() / "runs/small") || place.run("small").empty()) return false;
  return slurp(place.run("small") / "journal/node-0000.ndjson").find("\"fit\":") != std::string::npos;
}

TEST(Isolation, ADeviceInItsOwnProcessGivesTheSameBytes) {
  for (const char* device : {"host", "opencl:0"}) {
    const Place place;
    place.write("e.toml", small_experiment(device));
    const Ended plain = place.mokume("run e.toml --out plain");
    if (plain.code == 4 && std::string(device) == "opencl:0") GTEST_SKIP() << "no OpenCL device";
    ASSERT_EQ(plain.code, 0) << plain.err;
    const Ended apart = place.mokume(std::string("run e.toml --out apart --profile") + kProcess);
    ASSERT_EQ(apart.code, 0) << apart.err;
    EXPECT_EQ(results(place, "apart"), results(place, "plain")) << device;
    const auto run_json = [&](const char* out) {
      for (const auto& entry : fs::directory_iterator(place.path() / out / "small"))
        return nlohmann::json::parse(slurp(entry.path() / "run.json"));
      return nlohmann::json();
    };
    EXPECT_EQ(run_json("apart")["choices"], run_json("plain")["choices"]);
    EXPECT_NE(apart.err.find("predict"), std::string::npos) << "no profile: " << apart.err;
    const auto best = [](const Ended& ended) { return ended.err.substr(ended.err.find("best candidate")); };
    EXPECT_EQ(best(apart).substr(0, best(apart).find("reproducible")),
              best(plain).substr(0, best(plain).find("reproducible")));
    EXPECT_NE(best(plain).find(", with the kernels in run.json"), std::string::npos) << best(plain);
  }
}

TEST(Isolation, TheParentNeverOpensTheDriver) {
  const Place place;
  place.write("e.toml", faulty_experiment("opencl:0", 3000));
  if (place.mokume("devices").out.find("opencl:0") == std::string::npos) GTEST_SKIP() << "no OpenCL device";
  const pid_t pid = place.start({"run", "e.toml", "--set", "devices.isolation=process"});
  ASSERT_TRUE(eventually([&] { return works(place); })) << slurp(place.path() / "child.txt");
  const auto children = children_of(pid);
  ASSERT_EQ(children.size(), 1U);
  EXPECT_TRUE(maps(children[0], "libOpenCL.so"));
  EXPECT_FALSE(maps(pid, "libpocl"));
  kill(pid, SIGKILL);
  Place::wait(pid);
}

TEST(Isolation, ACrashIsAnErrorThatNamesTheSignal) {
  const Place place;
  place.write("e.toml", faulty_experiment("fault:0"));
  const Ended crashed = place.shell("MOKUME_FAULT=crash:4 " + Place::program() + " run e.toml" + kProcess);
  EXPECT_EQ(crashed.code, 4) << crashed.err;
  EXPECT_NE(crashed.err.find("fault:0"), std::string::npos) << crashed.err;
  EXPECT_NE(crashed.err.find("its process crashed (Segmentation fault)"), std::string::npos) << crashed.err;
  // The log contains the driver's output and the name of the driver's device.
  const std::string log = slurp(place.run("small") / "logs/node-0000.log");
  EXPECT_NE(log.find("fault:0: the driver's last words"), std::string::npos) << log;
  // The next run resumes from the journal and writes the bytes of an undisturbed run.
  ASSERT_EQ(place.mokume(std::string("run e.toml") + kProcess).code, 0);
  ASSERT_EQ(place.mokume("run e.toml --out plain").code, 0);
  EXPECT_EQ(slurp(place.run("small") / "results.csv"), results(place, "plain"));
}

TEST(Isolation, AnInvalidMessageIsADeviceError) {
  const Place place;
  place.write("e.toml", faulty_experiment("fault:0"));
  const Ended ended = place.shell("MOKUME_FAULT=garbage:4 " + Place::program() + " run e.toml" + kProcess);
  EXPECT_EQ(ended.code, 4) << ended.err;
  EXPECT_NE(ended.err.find("the message is not a JSON object"), std::string::npos) << ended.err;
}

TEST(Isolation, ADeviceErrorIsTheSameWithAndWithoutIsolation) {
  const Place place;
  place.write("e.toml", faulty_experiment("fault:0"));
  std::string texts[2];
  for (const bool apart : {false, true}) {
    const Ended ended =
        place.shell("MOKUME_FAULT=fail:4 " + Place::program() + " run --fresh e.toml" + (apart ? kProcess : ""));
    EXPECT_EQ(ended.code, 4) << ended.err;
    texts[apart] = ended.err.substr(ended.err.find("error: "));
  }
  EXPECT_NE(texts[0].find("failed, as it was told to"), std::string::npos) << texts[0];
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(Isolation, ADeviceThatCannotBeOpenedIsLeftOutWithAndWithoutIsolation) {
  const Place place;
  place.write("e.toml", faulty_experiment("fault:0,host"));
  const std::string run = "MOKUME_FAULT=closed " + Place::program() + " run --fresh e.toml --out ";
  for (const bool apart : {false, true}) {
    const std::string out = apart ? "apart" : "plain", process = apart ? kProcess : "";
    const Ended ended = place.shell(run + out + process);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.err.find("the device stays closed, as it was told to; the run continues without it"),
              std::string::npos)
        << ended.err;
    const Ended alone = place.shell(run + out + "-alone --devices fault:0" + process);
    EXPECT_EQ(alone.code, 4) << alone.err;
    EXPECT_EQ(alone.err.find("continues without it"), std::string::npos) << alone.err;
  }
  EXPECT_EQ(results(place, "apart"), results(place, "plain"));
}

TEST(Isolation, ACrashWhileADeviceIsOpenedCostsNothing) {
  const Place place;
  place.write("e.toml", faulty_experiment("fault:0"));
  const std::string struck = (place.path() / "struck").string();
  const Ended ended = place.shell("MOKUME_FAULT=open-crash MOKUME_FAULT_ONCE=" + struck + " " + Place::program() +
                                  " run e.toml --out apart" + kProcess);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(fs::exists(struck));
  EXPECT_NE(ended.err.find("crashed (Segmentation fault) while it opened the device; starting another"),
            std::string::npos)
      << ended.err;
  ASSERT_EQ(place.mokume("run e.toml --out plain").code, 0);
  EXPECT_EQ(results(place, "apart"), results(place, "plain"));
}

TEST(Isolation, AKilledParentLeavesNoChildNotEvenAHungOne) {
  for (const char* fault : {"", "hang:4"}) {
    const Place place;
    place.write("e.toml", faulty_experiment("fault:0", 3000));
    const std::string struck = (place.path() / "struck").string();
    setenv("MOKUME_FAULT", fault, 1);
    setenv("MOKUME_FAULT_ONCE", struck.c_str(), 1);
    const pid_t pid = place.start({"run", "e.toml", "--set", "devices.isolation=process"});
    unsetenv("MOKUME_FAULT");
    unsetenv("MOKUME_FAULT_ONCE");
    const auto busy = [&] { return *fault != '\0' ? fs::exists(struck) : works(place); };
    ASSERT_TRUE(eventually(busy)) << slurp(place.path() / "child.txt");
    const auto children = children_of(pid);
    EXPECT_EQ(children.size(), 1U);
    kill(pid, SIGKILL);
    EXPECT_EQ(Place::wait(pid), 128 + SIGKILL);
    for (const pid_t child : children) EXPECT_TRUE(eventually([&] { return is_dead(child); })) << fault;
  }
}

TEST(Isolation, StopsCleanlyWhenTheWholeProcessGroupIsSignalled) {
  const Place place;
  place.write("e.toml", small_experiment("host", 3000));
  const pid_t pid = place.start({"run", "e.toml", "--set", "devices.isolation=process"});
  ASSERT_TRUE(eventually([&] { return works(place); })) << slurp(place.path() / "child.txt");
  // Ctrl-C and scancel signal the child, too, but it must not react.
  for (const pid_t child : children_of(pid)) kill(child, SIGINT);
  for (const pid_t child : children_of(pid)) kill(child, SIGTERM);
  kill(pid, SIGINT);
  EXPECT_EQ(Place::wait(pid), 75) << slurp(place.path() / "child.txt");
  const Ended rest = place.mokume("resume " + place.run("small").string());
  ASSERT_EQ(rest.code, 0) << rest.err;
  ASSERT_EQ(place.mokume("run e.toml --out plain").code, 0);
  EXPECT_EQ(slurp(place.run("small") / "results.csv"), results(place, "plain"));
}

TEST(Isolation, AStoppedNetworkResumesFromItsCheckpointToTheSameBytes) {
  const Place place;
  place.write("e.toml", R"(name = "small"
model = "cnn"
seed = 3
data = { source = "digits", limit = 600, standardize = { mean = 0, scale = 255 } }
validation.share = 0.25
devices.use = "host"
[search]
method = "grid"
params = { rate = [0.002, 0.01, 0.02] }
[model_options]
epochs = 200
batch_size = 25
optimizer = { type = "adam", lr = "$rate" }
layers = [{ type = "conv2d", out_channels = 4, kernel_size = 5 }, { type = "flatten" },
          { type = "linear", out_features = 10 }]
)");
  ASSERT_EQ(place.mokume("run e.toml --out plain").code, 0);
  const pid_t pid = place.start({"run", "e.toml", "--set", "devices.isolation=process"});
  ASSERT_TRUE(eventually([&] { return works(place); })) << slurp(place.path() / "child.txt");
  const auto children = children_of(pid);
  ASSERT_EQ(children.size(), 1U);
  const long before = ticks(children[0]);  // after a fifth of a second, a fit is under way
  ASSERT_TRUE(eventually([&] { return ticks(children[0]) >= before + sysconf(_SC_CLK_TCK) / 5; }));
  kill(pid, SIGTERM);
  ASSERT_EQ(Place::wait(pid), 75) << slurp(place.path() / "child.txt");
  EXPECT_TRUE(fs::exists(place.run("small") / "scratch"));
  const Ended rest = place.mokume(std::string("run e.toml") + kProcess);
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(slurp(place.run("small") / "results.csv"), results(place, "plain"));
}

TEST(Isolation, ChildrenOfRanksAreNotRanks) {
  if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  const Place place;
  place.write("e.toml", small_experiment("host"));
  const Ended run =
      place.shell("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -np 2 " +
                  Place::program() + " run e.toml" + kProcess);
  ASSERT_EQ(run.code, 0) << run.err;
  ASSERT_EQ(place.mokume("run e.toml --out plain").code, 0);
  EXPECT_EQ(slurp(place.run("small") / "results.csv"), results(place, "plain"));
}

// The model kills its process in its second epoch, once in each fit and in the refit. The next attempt resumes from the
// files of the killed one.
TEST(Isolation, ARefitThatLosesItsChildResumesInTheNext) {
  const Place place;
  place.write("e.toml", std::string("name = \"small\"\nmodel = \"mean\"\nplugins.directories = [\"") + test_library() +
                            "\"]\ndevices = { use = \"host\", isolation = \"process\" }\n"
                            "data = { source = \"digits\", limit = 60 }\nvalidation.folds = 2\n"
                            "search.method = \"none\"\nmodel_options = { epochs = 4, die_in = 2 }\n");
  const Ended ended = place.mokume("run e.toml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(fs::exists(place.run("small") / "scratch"));
  const std::string journal = slurp(place.run("small") / "journal/node-0000.ndjson");
  EXPECT_NE(journal.find("0.3333333333333333,0.25,0.2]"), std::string::npos) << journal;
}

TEST(Isolation, ARefitThatLosesEveryChildIsReported) {
  const Place place;
  std::string text = faulty_experiment("fault:0");
  text = text.substr(0, text.find("[validation]")) + "[validation]\nfolds = 0\n[search]\nmethod = \"none\"\n" +
         "[model_options]\nC = 1.0\ngamma = 0.01\n" + text.substr(text.find("[devices]"));
  place.write("e.toml", text);
  const std::string run = Place::program() + " run e.toml" + kProcess;
  const Ended ended = place.shell("MOKUME_FAULT=crash:4 " + run);
  EXPECT_EQ(ended.code, 5) << ended.err;
  EXPECT_NE(ended.err.find("the refit failed: failed 3 times"), std::string::npos) << ended.err;
  EXPECT_TRUE(fs::exists(place.run("small") / "results.csv"));
  EXPECT_EQ(place.shell(run + " --fresh").code, 0);
}

// Another child or another device repeats the work.
TEST(Isolation, ACrashCostsOneChildAndNotTheRun) {
  const Place place;
  place.write("e.toml", faulty_experiment("fault:0,host"));
  // The first run also stores the measured speeds, so that the first op of the second run belongs to a fit.
  const std::string run = "XDG_CACHE_HOME=$PWD/cache " + Place::program() + " run e.toml" + kProcess;
  const Ended plain = place.shell(run + " --out plain");
  ASSERT_EQ(plain.code, 0) << plain.err;
  const Ended struck = place.shell("MOKUME_FAULT=crash:1 MOKUME_FAULT_ONCE=$PWD/struck " + run);
  ASSERT_EQ(struck.code, 0) << struck.err;
  EXPECT_TRUE(fs::exists(place.path() / "struck"));
  EXPECT_EQ(slurp(place.run("small") / "results.csv"), results(place, "plain"));
}

TEST(Isolation, UsersCannotStartTheChild) {
  const Place place;
  const Ended ended = place.mokume("device-child 1");
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("internal to mokume"), std::string::npos) << ended.err;
  EXPECT_EQ(place.mokume("--help").out.find("device-child"), std::string::npos);
}

}  // namespace
}  // namespace mokume::cli_test

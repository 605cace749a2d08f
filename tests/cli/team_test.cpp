// Tests one network on the devices of several ranks, from the user's view.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/processes.hpp"
#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using namespace std::chrono_literals;

std::string experiment(int epochs, const std::string& parallel) {
  return R"(name = "net"
model = "cnn"
seed = 3
[data]
source = "digits"
limit = 800
standardize = { mean = 0, scale = 255 }
[validation]
share = 0.25
[search]
method = "none"
[devices]
use = "host"
team = true
[model_options]
epochs = )" +
         std::to_string(epochs) + R"(
batch_size = 40
optimizer = { type = "adam", lr = 0.005 }
parallel = )" +
         parallel + R"(
[[model_options.layers]]
type = "conv2d"
out_channels = 4
kernel_size = 5
stride = 2
[[model_options.layers]]
type = "relu"
[[model_options.layers]]
type = "dropout"
p = 0.1
[[model_options.layers]]
type = "flatten"
[[model_options.layers]]
type = "linear"
out_features = 10
)";
}

const char* const kSynchronous = R"({ type = "synchronous", shards = 8 })";

// Without OpenCL drivers, listing devices is fast, and the host device is enough here.
const char* const kRecoveringMpirun =
    "OCL_ICD_VENDORS=/nowhere OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 200 mpirun "
    "--oversubscribe --bind-to none --enable-recovery ";

std::string on_ranks(int ranks) {
  return ranks == 1 ? "OCL_ICD_VENDORS=/nowhere " : kRecoveringMpirun + ("-np " + std::to_string(ranks) + " ");
}

class InTeam : public testing::Test {
 protected:
  void SetUp() override {
    if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  }

  Bytes alone(const std::string& text) {
    const Place place;
    place.write("e.toml", text);
    const Ended ended = place.shell(on_ranks(1) + Place::program() + " run e.toml");
    EXPECT_EQ(ended.code, 0) << ended.err;
    return bytes_of(place.run("net"));
  }

  bool is_training() const {
    std::error_code none;
    for (const auto& run : fs::directory_iterator(place_.path() / "runs/net", none))
      if (slurp(run.path() / "logs/status.json").find("epoch") != std::string::npos) return true;
    return false;
  }

  std::vector<pid_t> ranks() const {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::error_code gone;
      if (fs::read_symlink(entry.path() / "cwd", gone) != place_.path() || gone) continue;
      if (slurp(entry.path() / "cmdline").rfind(Place::program_path(), 0) == 0) found.push_back(std::stoi(name));
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  Place place_;
};

// Returns what carried the sums between nodes.
std::string sums_of(const fs::path& run) {
  return nlohmann::json::parse(slurp(run / "run.json"))["environment"]["sums"].get<std::string>();
}

TEST_F(InTeam, GivesTheBytesOfOneDeviceOnAnyNumberOfRanks) {
  const std::string text = experiment(4, kSynchronous);
  const Bytes one = alone(text);
  for (const int ranks : {2, 3}) {
    const Place place;
    place.write("e.toml", text);
    const Ended ended = place.shell(on_ranks(ranks) + Place::program() + " run e.toml");
    ASSERT_EQ(ended.code, 0) << ended.err;
    const fs::path run = place.run("net");
    EXPECT_EQ(bytes_of(run), one) << ranks << " ranks";
    const std::string report = slurp(run / "report.html");
    EXPECT_NE(report.find("The team"), std::string::npos);
    const auto account = nlohmann::json::parse(slurp(run / "logs/team.json"));
    EXPECT_EQ(account["shares"].size(), 2U * static_cast<unsigned>(ranks)) << "of the fit and of the refit";
    const auto summary = nlohmann::json::parse(slurp(run / "summary.json"));
    EXPECT_EQ(summary["devices"].size(), static_cast<size_t>(ranks));
    EXPECT_GT(summary["devices"][1]["busy_s"].get<double>(), 0);
    EXPECT_EQ(sums_of(run), "mpi: the default");
  }
}

TEST_F(InTeam, GivesTheSameBytesWithSumsOverSockets) {
  const std::string text = experiment(4, kSynchronous);
  place_.write("e.toml", text);
  const Ended ended = place_.shell(on_ranks(3) + Place::program() + " run e.toml --set devices.sums=sockets");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(bytes_of(place_.run("net")), alone(text));
  EXPECT_EQ(sums_of(place_.run("net")), "sockets: devices.sums");
}

TEST_F(InTeam, ResumesWithOtherRanksAfterAStop) {
  const std::string text = experiment(600, kSynchronous);
  place_.write("e.toml", text);
  std::thread stopper([&] {
    ASSERT_TRUE(eventually([&] { return is_training(); }));
    for (const pid_t rank : ranks()) kill(rank, SIGTERM);
  });
  const Ended stopped = place_.shell(on_ranks(2) + Place::program() + " run e.toml");
  stopper.join();
  EXPECT_NE(stopped.err.find("the same command resumes it"), std::string::npos) << stopped.err;
  const fs::path run = place_.run("net");
  EXPECT_FALSE(fs::exists(run / "models/best"));
  const Ended resumed = place_.shell(on_ranks(1) + Place::program() + " run e.toml");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(bytes_of(run), alone(text));
}

TEST_F(InTeam, ContinuesWithoutAKilledRank) {
  const std::string text = experiment(600, kSynchronous);
  place_.write("e.toml", text);
  std::thread killer([&] {
    ASSERT_TRUE(eventually([&] { return is_training(); }));
    const std::vector<pid_t> all = ranks();
    ASSERT_EQ(all.size(), 3U);
    kill(all.back(), SIGKILL);
  });
  const Ended ended = place_.shell(on_ranks(3) + Place::program() + " run e.toml");
  killer.join();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("leaves the team"), std::string::npos) << ended.err;
  EXPECT_EQ(bytes_of(place_.run("net")), alone(text));
  EXPECT_EQ(sums_of(place_.run("net")), "sockets: a node was lost, after which MPI is not safe");
}

TEST_F(InTeam, AveragesWeights) {
  place_.write("e.toml", experiment(8, R"({ type = "local_sgd", period = 4, warmup_epochs = 1 })"));
  const Ended ended = place_.shell(on_ranks(2) + Place::program() + " run e.toml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto summary = nlohmann::json::parse(slurp(place_.run("net") / "summary.json"));
  EXPECT_LT(summary["best"]["mean"].get<double>(), 0.3);
}

// "fault" is the first backend in alphabetical order, so its device leads.
TEST(Team, ContinuesWithoutTheDeviceThatLed) {
  const Place place, good;
  place.write("e.toml",
              std::string("plugins.directories = [\"") + fault_library() + "\"]\n" + experiment(4, kSynchronous));
  const Ended ended =
      place.shell(on_ranks(1) + "MOKUME_FAULT=fail:300 " + Place::program() + " run e.toml --devices fault:0,host");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("fault:0 leaves the team: "), std::string::npos) << ended.err;
  good.write("e.toml", experiment(4, kSynchronous));
  ASSERT_EQ(good.shell(on_ranks(1) + Place::program() + " run e.toml").code, 0);
  EXPECT_EQ(bytes_of(place.run("net")), bytes_of(good.run("net")));
}

TEST_F(InTeam, ContinuesWithoutADeviceOfAnotherRank) {
  place_.write("e.toml",
               std::string("plugins.directories = [\"") + fault_library() + "\"]\n" + experiment(4, kSynchronous));
  const std::string run = Place::program() + " run e.toml --devices ";
  const Ended ended =
      place_.shell(kRecoveringMpirun + by_rank(run + "host,fault:0", "env MOKUME_FAULT=fail:300 " + run + "fault:0"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("node 1 fault:0 leaves the team: "), std::string::npos) << ended.err;
  EXPECT_EQ(bytes_of(place_.run("net")), alone(experiment(4, kSynchronous)));
}

// Averages depend on the split. A run repeats the splits of another run, whatever the speeds, and writes its bytes.
TEST_F(InTeam, RepeatsTheSplitsOfAnotherRun) {
  place_.write("e.toml", experiment(8, R"({ type = "local_sgd", period = 4, adapt = true })"));
  const std::string run = on_ranks(2) + Place::program() + " run e.toml --fresh";
  ASSERT_EQ(place_.shell(run).code, 0);
  const fs::path first = place_.run("net");
  fs::rename(first, place_.path() / "other");
  auto account = nlohmann::json::parse(slurp(place_.path() / "other/logs/team.json"));
  account["splits"] = nlohmann::json::parse(R"([
    {"fit": 0, "at": "epoch 1, batch 1", "shares": "6+2"}, {"fit": 0, "at": "epoch 3, batch 9", "shares": "1+7"},
    {"fit": 1, "at": "epoch 1, batch 1", "shares": "3+5"}])");
  place_.write("other/logs/team.json", account.dump());
  const auto repeat = [&](const std::string& name) {
    const Ended again = place_.shell(run + " --set devices.repeat_splits=" + name);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(nlohmann::json::parse(slurp(place_.run("net") / "logs/team.json"))["splits"], account["splits"]);
    const Bytes bytes = bytes_of(place_.run("net"));
    fs::rename(place_.run("net"), place_.path() / (name + "-again"));
    return bytes;
  };
  const Bytes uneven = repeat("other");
  EXPECT_NE(uneven, bytes_of(place_.path() / "other"));
  EXPECT_EQ(repeat("other-again"), uneven);
}

TEST_F(InTeam, GivesTheSameBytesWithItsDevicesInSeparateProcesses) {
  const std::string text = experiment(4, kSynchronous);
  const Bytes one = alone(text);
  place_.write("e.toml", text);
  const Ended ended = place_.shell(on_ranks(2) + Place::program() + " run e.toml --set devices.isolation=process");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(bytes_of(place_.run("net")), one);
}

// The network needs about 10.5 MiB on one device, with gradients, Adam's states and the rows.
std::string large_experiment(int epochs) {
  std::string text = experiment(epochs, R"({ type = "synchronous", shards = 2 })");
  const std::string last = "[[model_options.layers]]\ntype = \"linear\"\nout_features = ";
  const size_t at = text.rfind(last);
  text.insert(at, last + "700\n[[model_options.layers]]\ntype = \"relu\"\n");
  return text;
}

std::string split_of(const fs::path& run) {
  return nlohmann::json::parse(slurp(run / "logs/team.json"))["splits"][0]["shares"].get<std::string>();
}

TEST_F(InTeam, SplitsWhatIsTooLargeForADevice) {
  const std::string text = large_experiment(3);
  const Bytes one = alone(text);
  place_.write("e.toml", text);
  const auto run = [&](const std::string& set) {
    fs::remove_all(place_.path() / "runs");
    const Ended ended = place_.shell(on_ranks(2) + Place::program() + " run e.toml " + set);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(bytes_of(place_.run("net")), one) << set;
    return split_of(place_.run("net"));
  };
  EXPECT_EQ(run("--set devices.memory='\"24 MiB\"'").find("layers"), std::string::npos);
  EXPECT_EQ(run("--set devices.memory='\"9 MiB\"'").substr(0, 7), "layers ");
  EXPECT_EQ(run("--set devices.split=layers --set devices.sums=sockets").substr(0, 7), "layers ");
  EXPECT_EQ(run("--set devices.split=layers --set devices.isolation=process").substr(0, 7), "layers ");
  EXPECT_EQ(run("--set devices.split=states --set devices.isolation=process"), "1+1");
  const Ended ended = place_.shell(on_ranks(2) + Place::program() +
                                   " run e.toml --fresh --set devices.split=batch --set devices.memory='\"9 MiB\"'");
  EXPECT_NE(ended.err.find("set devices.split to"), std::string::npos) << ended.err;
}

TEST(Team, ResumesWithoutADeviceWhoseProcessIsKilled) {
  for (const size_t victim : {0U, 1U}) {
    const Place place;
    place.write("e.toml", experiment(200, kSynchronous));
    const pid_t pid = place.start({"run", "e.toml", "--devices", "host,pocl", "--set", "devices.isolation=process"});
    const auto trains = [&] {
      if (!fs::exists(place.path() / "runs/net") || place.run("net").empty()) return false;
      return slurp(place.run("net") / "logs/status.json").find("epoch") != std::string::npos;
    };
    if (!eventually([&] { return trains() || is_dead(pid); }) || is_dead(pid)) {
      Place::wait(pid);
      GTEST_SKIP() << "no second device: " << slurp(place.path() / "child.txt");
    }
    auto children = children_of(pid);
    std::sort(children.begin(), children.end());  // in the order of their creation
    ASSERT_EQ(children.size(), 2U);
    kill(children[victim], SIGKILL);
    EXPECT_EQ(Place::wait(pid), 0) << slurp(place.path() / "child.txt");
    EXPECT_NE(slurp(place.path() / "child.txt").find("leaves the team"), std::string::npos);
  }
}

TEST_F(InTeam, ReportsTheMeasuresThatTheUserAsksFor) {
  std::string text = experiment(2, kSynchronous);
  text.insert(text.find("[search]"), "score = [\"auc\"]\n");
  const Bytes one = alone(text);
  for (const char* split : {"batch", "layers"}) {
    fs::remove_all(place_.path() / "runs");
    place_.write("e.toml", text);
    const Ended ended =
        place_.shell(on_ranks(2) + Place::program() + " run e.toml --set devices.split=" + std::string(split));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.err.find("leaves the team"), std::string::npos) << ended.err;
    EXPECT_EQ(bytes_of(place_.run("net")), one) << split;
  }
}

TEST(Team, RefusalsNameTheCure) {
  const Place place;
  place.write("plain.toml", experiment(2, R"({ type = "none" })"));
  Ended ended = place.shell(on_ranks(1) + Place::program() + " run plain.toml");
  EXPECT_EQ(ended.code, 0) << "one device needs nobody: " << ended.err;
  ended = place.mokume("run plain.toml --fresh --set devices.use=pocl,host");
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("set model_options.parallel"), std::string::npos) << ended.err;
  ended = place.mokume("run plain.toml --fresh --set devices.use=pocl,host --set validation={folds=0}");
  EXPECT_EQ(ended.code, 2) << ended.err;
  place.write("child.toml", experiment(2, kSynchronous));
  ended = place.mokume(
      "run child.toml --set devices.use=pocl,host --set model_options.batch_size=400 "
      "--set \"model_options.parallel={type='synchronous',batch_scope='per_device'}\"");
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("400 for each of 2 devices"), std::string::npos) << ended.err;
  ended = place.mokume("run child.toml --fresh --set devices.repeat_splits=nowhere");
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("there is no such directory"), std::string::npos) << ended.err;
  place.write("svc.toml", small_experiment("host") + "team = true\n");
  ended = place.mokume("run svc.toml");
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("devices.team is true"), std::string::npos) << ended.err;
  ended = place.mokume("run child.toml --set \"model_options.parallel={type='synchronous',shards=6}\"");
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find("power of two"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace mokume::cli_test

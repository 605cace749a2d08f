// Tests networks from the user's view: searched, stopped, killed, resumed, and used for predictions.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using namespace std::chrono_literals;

std::string experiment(int epochs) {
  return R"(name = "net"
model = "cnn"
seed = 3
[data]
source = "digits"
limit = 600
standardize = { mean = 0, scale = 255 }
[validation]
share = 0.25
[search]
method = "grid"
[search.params]
rate = [0.002, 0.01]
[devices]
use = "host"
[model_options]
epochs = )" +
         std::to_string(epochs) + R"(
batch_size = 25
optimizer = { type = "adam", lr = "$rate" }
[[model_options.layers]]
type = "conv2d"
out_channels = 4
kernel_size = 5
stride = 2
[[model_options.layers]]
type = "relu"
[[model_options.layers]]
type = "max_pool2d"
kernel_size = 2
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

TEST(Network, LearnsAndLeavesTheFilesListedInTheGuide) {
  const Place place;
  place.write("e.toml", experiment(6));
  const Ended dry = place.mokume("run e.toml --dry-run");
  EXPECT_NE(dry.err.find("4 x 12 x 12"), std::string::npos) << dry.err;
  EXPECT_NE(dry.err.find("1554 parameters; for each row 15.8 k multiply-adds"), std::string::npos) << dry.err;
  const Ended run = place.mokume("run e.toml --profile");
  ASSERT_EQ(run.code, 0) << run.err;
  const fs::path d = place.run("net");
  for (const char* phase : {"load", "forward", "backward", "step", "validate", "transfer", "predict"})
    EXPECT_NE(run.err.find(std::string("\n") + phase + " "), std::string::npos) << phase << run.err;
  EXPECT_NE(slurp(d / "report.html").find("Where the time went"), std::string::npos);
  const std::string results = slurp(d / "results.csv");
  EXPECT_EQ(results.substr(0, results.find('\n')), "candidate,bootstrap,fold,rate,n,errors,error,loss,status");
  const auto summary = nlohmann::json::parse(slurp(d / "summary.json"));
  EXPECT_LT(summary["test"]["error"], 0.3);
  EXPECT_NE(slurp(d / "report.html").find("Training"), std::string::npos);
  const std::string drawing = slurp(d / "plots/network.svg");
  for (const char* text : {">conv2d<", ">4 x 12 x 12<", ">6 layers, 1\u202F554 parameters<"})
    EXPECT_TRUE(has(drawing, text));
  EXPECT_TRUE(has(slurp(d / "report.html"), "best candidate&#39;s network"));
  fs::remove_all(d / "plots");
  ASSERT_EQ(place.mokume("report " + d.string()).code, 0);
  EXPECT_EQ(slurp(d / "plots/network.svg"), drawing) << "structure.json has the layers";
  const std::string kept = slurp(d / "structure.json");
  std::ofstream(d / "structure.json") << kept.substr(0, kept.size() / 2);
  const Ended damaged = place.mokume("report " + d.string());
  EXPECT_EQ(damaged.code, 3);
  EXPECT_TRUE(has(damaged.err, "structure.json is damaged")) << damaged.err;
  std::ofstream(d / "structure.json") << kept;
  EXPECT_FALSE(fs::exists(d / "scratch"));
  const Ended predicted = place.mokume("predict " + d.string() + " --data digits,limit=50 --devices host");
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(std::count(predicted.out.begin(), predicted.out.end(), '\n'), 51);
}

// The weights take 12.6 MB, and so does their momentum. Their gradients are never stored, so 32 MB are enough.
TEST(Network, NeedsNoMemoryForGradientsThatAreNeverKept) {
  const Place place;
  place.write("e.toml", R"(name = "wide"
model = "cnn"
[data]
source = "digits"
limit = 300
[validation]
share = 0.25
[search]
method = "grid"
[search.params]
rate = [0.001]
[devices]
use = "host"
memory = "32 MB"
[model_options]
epochs = 1
batch_size = 10
optimizer = { type = "sgd", lr = "$rate", momentum = 0.1 }
[[model_options.layers]]
type = "flatten"
[[model_options.layers]]
type = "linear"
out_features = 4000
[[model_options.layers]]
type = "linear"
out_features = 10
)");
  const Ended run = place.mokume("run e.toml");
  EXPECT_EQ(run.code, 0) << run.err;
  const Ended refused = place.mokume("run e.toml --set model_options.batch_size=200");
  EXPECT_EQ(refused.code, 4) << refused.err;
}

TEST(Network, GivesTheSameBytesAfterStopsAndKills) {
  const Place undisturbed;
  undisturbed.write("e.toml", experiment(200));
  ASSERT_EQ(undisturbed.mokume("run e.toml").code, 0);
  const Bytes expected = bytes_of(undisturbed.run("net"));

  const Place place;
  place.write("e.toml", experiment(200));
  const fs::path said = place.path() / "child.txt";
  const auto started = [&] { return fs::exists(said) && slurp(said).find("loading") != std::string::npos; };
  for (const int signal : {SIGTERM, SIGKILL, SIGTERM}) {
    fs::remove(said);
    const pid_t pid = place.start({"run", "e.toml"});
    for (int k = 0; k < 20000 && !started(); ++k) std::this_thread::sleep_for(1ms);  // until then, there is no handler
    std::this_thread::sleep_for(60ms);                                               // lets some batches pass
    kill(pid, signal);
    const int code = Place::wait(pid);
    EXPECT_TRUE(code == 75 || code == 128 + SIGKILL) << code << slurp(place.path() / "child.txt");
  }
  const Ended last = place.mokume("run e.toml");
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(bytes_of(place.run("net")), expected);
}

// By default, the refit trains for the median of the best epochs of three folds. With "all", the rule ends the refit by
// the training's own accuracy.
TEST(Network, ARefitHasTheEpochsThatValidationChose) {
  const Place place;
  std::string folded = experiment(40);
  folded.replace(folded.find("share = 0.25"), 12, "folds = 3");
  place.write("e.toml", folded);
  const std::string folds =
      "--set search.params.rate=[0.01] "
      "'model_options.stop={ type = \"plateau\", patience = 2, restore_best = true, "
      "monitor = \"validation_accuracy\" }'";
  const auto notes = [&] {
    std::map<int, std::string> found;
    std::istringstream lines(slurp(place.run("net") / "journal" / "node-0000.ndjson"));
    for (std::string line; std::getline(lines, line);) {
      const auto record = nlohmann::json::parse(line);
      if (record.contains("note")) found[record.at("fit")] = record.at("note");
    }
    return found;
  };
  const Ended run = place.mokume("run e.toml " + folds);
  ASSERT_EQ(run.code, 0) << run.err;
  std::map<int, std::string> said = notes();
  ASSERT_EQ(said.size(), 4U);
  std::vector<int> best, all;
  for (int fold = 0; fold < 3; ++fold) {
    int epochs = 0, chosen = 0;
    ASSERT_EQ(std::sscanf(said.at(fold).c_str(), "epochs=%d best=%d", &epochs, &chosen), 2) << said.at(fold);
    EXPECT_LT(epochs, 40);
    EXPECT_GT(epochs, chosen);
    best.push_back(chosen);
  }
  std::sort(best.begin(), best.end());
  EXPECT_EQ(said.at(3), "epochs=" + std::to_string(best[1]));
  fs::remove_all(place.path() / "runs");
  ASSERT_EQ(place.mokume("run e.toml " + folds + " model_options.refit_epochs=all").code, 0);
  EXPECT_NE(notes().at(3).find(" best="), std::string::npos) << "by the rule, with the training's accuracy";
  const std::string ratio = " 'model_options.stop={ type = \"ratio\", ratio = 0.7 }'";
  std::vector<std::string> by_training;
  for (const char* how : {"validated", "all"}) {
    fs::remove_all(place.path() / "runs");
    ASSERT_EQ(
        place
            .mokume("run e.toml --set search.params.rate=[0.01] model_options.refit_epochs=" + std::string(how) + ratio)
            .code,
        0);
    by_training.push_back(notes().at(3));
  }
  EXPECT_EQ(by_training[0], by_training[1]) << "a rule that watches the training needs no validation";
}

// If a bit in the checkpoint of a stopped training flips, the next session reports it, trains from the start, and
// writes the same bytes.
TEST(Network, ADamagedCheckpointIsSetAsideAndTheTrainingStartsOver) {
  const Place undisturbed;
  undisturbed.write("e.toml", experiment(60));
  ASSERT_EQ(undisturbed.mokume("run e.toml").code, 0);
  const Bytes expected = bytes_of(undisturbed.run("net"));

  const Place place;
  place.write("e.toml", experiment(60));
  fs::path checkpoint;
  for (int attempt = 0; checkpoint.empty() && attempt < 20; ++attempt) {
    fs::remove_all(place.path() / "runs");
    const pid_t pid = place.start({"run", "e.toml"});
    const auto works = [&] {
      return fs::exists(place.path() / "runs/net") && !place.run("net").empty() &&
             fs::exists(place.run("net") / "logs/status.json");
    };
    for (int k = 0; k < 20000 && !works(); ++k) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(60ms);  // lets some batches pass
    kill(pid, SIGTERM);
    Place::wait(pid);
    for (const auto& entry : fs::recursive_directory_iterator(place.run("net")))
      if (entry.path().filename() == "checkpoint.safetensors") checkpoint = entry.path();
  }
  ASSERT_FALSE(checkpoint.empty()) << "no training was stopped in the middle";
  std::string content = slurp(checkpoint);
  content[content.size() - 100] = static_cast<char>(content[content.size() - 100] ^ 16);
  std::ofstream(checkpoint, std::ios::binary) << content;
  const Ended last = place.mokume("run e.toml");
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_NE(last.err.find("checkpoint.safetensors has changed since it was written (its checksum differs)"),
            std::string::npos)
      << last.err;
  EXPECT_NE(last.err.find(".damaged"), std::string::npos) << last.err;
  EXPECT_EQ(bytes_of(place.run("net")), expected);
}

TEST(Network, TwoNodesWriteTheSameBytesAsOne) {
  if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  const Place one, two;
  one.write("e.toml", experiment(4));
  two.write("e.toml", experiment(4));
  ASSERT_EQ(one.mokume("run e.toml").code, 0);
  const Ended run =
      two.shell("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -np 2 " +
                Place::program() + " run e.toml");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(bytes_of(two.run("net")) == bytes_of(one.run("net")));
}

// PoCL shows as many devices of one class as an environment variable requests.
TEST(Network, TwoDevicesOfAClassWriteTheSameBytesAsOne) {
  const Place one, two;
  if (one.shell(Place::program() + " devices").out.find("Portable Computing Language") == std::string::npos)
    GTEST_SKIP() << "PoCL is missing: install pocl-opencl-icd";
  const std::string run = Place::program() + " run e.toml --devices pocl --set data.limit=300";
  for (const Place* place : {&one, &two}) place->write("e.toml", experiment(4));
  const Ended alone = one.shell(run), both = two.shell("POCL_DEVICES='pthread pthread' " + run);
  ASSERT_EQ(alone.code, 0) << alone.err;
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_NE(slurp(two.run("net") / "timeline.csv").find("opencl:1"), std::string::npos);
  EXPECT_TRUE(bytes_of(two.run("net")) == bytes_of(one.run("net")));
}

TEST(Network, TheProfilesOfAllNodesAreShownAndKept) {
  if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  const Place place;
  place.write("e.toml", experiment(4));
  const Ended run =
      place.shell("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -np 2 " +
                  Place::program() + " run e.toml --profile");
  ASSERT_EQ(run.code, 0) << run.err;
  const fs::path d = place.run("net");
  for (const char* node : {"node 0, host:0", "node 1, host:0"})
    EXPECT_NE(run.err.find(node), std::string::npos) << run.err;
  ASSERT_EQ(place.mokume("report " + d.string()).code, 0);
  EXPECT_NE(slurp(d / "report.html").find("Node 1, host:0"), std::string::npos);
  place.write("damage", "{");
  fs::copy_file(place.path() / "damage", d / "logs/profile-0001.json", fs::copy_options::overwrite_existing);
  const Ended damaged = place.mokume("report " + d.string());
  EXPECT_EQ(damaged.code, 3);
  EXPECT_NE(damaged.err.find("profile-0001.json is not a profile"), std::string::npos) << damaged.err;
}

// Makes the configuration small, and runs it for an epoch on the digits, which have one colour.
TEST(Network, TheRecipeOfAirbenchTrains) {
  const Place place;
  std::string text = slurp(fs::path(test::source_directory()) / "configs/cnn-airbench.toml");
  const auto replace = [&](const std::string& from, const std::string& to) {
    ASSERT_TRUE(has(text, from)) << from;
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  replace(
      "source = \"images\"\npath = \"train\"                # train/CLASS/*.png\ntest = \"test\"\nsize = 32\nchannels "
      "= 3",
      "source = \"digits\"\nlimit = 200");
  replace("out_channels = 24", "out_channels = 8");
  replace("channels = 64", "channels = 8");
  replace("channels = 256", "channels = 8");
  replace("batch_size = 1024", "batch_size = 50");
  replace("epochs = 10", "epochs = 1");
  replace("warmup_epochs = 2", "warmup_epochs = 0");
  replace("folds = 0", "share = 0.5");
  place.write("e.toml", text);
  const Ended run = place.mokume("run e.toml --devices host");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.err, "validation error")) << run.err;
  replace("kernel_size = 2, bias = false, initialisation", "kernel_size = 3, bias = false, initialisation");
  place.write("e.toml", text);
  EXPECT_EQ(place.mokume("run e.toml --devices host").code, 2) << "a window of 9 numbers needs 18 filters";
}

TEST(Network, ErrorsAreReportedInSentences) {
  const Place place;
  place.write("e.toml", experiment(2));
  const auto expect = [](const Ended& ended, int code, const std::vector<std::string>& words) {
    EXPECT_EQ(ended.code, code) << ended.err;
    for (const std::string& word : words)
      EXPECT_NE(ended.err.find(word), std::string::npos) << word << "\n" << ended.err;
  };
  expect(place.mokume("run e.toml --set model_options.batch_size=1000"), 2, {"batch_size is 1000", "450 rows"});
  expect(place.mokume("run e.toml --set model_options.layers[0].kernel_size=29"), 2, {"layers[0] (conv2d)", "29 x 29"});
  expect(place.mokume("run e.toml --set model_options.layers[0].out_chanels=3"), 2, {"out_channels"});
  expect(place.mokume("run e.toml --set model_options.layers[5].out_features=11"), 2, {"layers[5] (linear)", "10"});
  expect(place.mokume("run e.toml --set model_options.loss=nll"), 2, {"loss = \"nll\"", "log_softmax"});
  expect(place.mokume("run e.toml --set model_options.mixup_alpha=0.2 model_options.class_weight=balanced"), 2,
         {"mixup_alpha excludes weights of rows and classes"});
  expect(place.mokume("run e.toml --set model_options.cutmix_alpha=1 model_options.mixup_alpha=0.2"), 2,
         {"mixup_alpha and cutmix_alpha are both above 0: choose one of the two"});
  expect(place.mokume("run e.toml --set 'model_options.layers=[{ type = \"flatten\" }, { type = \"linear\", "
                      "out_features = 10 }]' 'model_options.optimizer={ type = \"muon\", lr = \"$rate\" }'"),
         2, {"optimizer = \"muon\" needs a weight before that of the last layer"});
  expect(place.mokume("run e.toml --set 'model_options.layers[0]={ type = \"conv2d\", out_channels = 4, "
                      "kernel_size = 29, padding = 28, padding_mode = \"reflect\" }'"),
         2, {"layers[0] (conv2d)", "padding_mode \"reflect\" has no pixels for so much padding"});
  std::string rows = "x,y\n";
  for (int k = 0; k < 40; ++k) rows += std::to_string(k) + "," + std::to_string(2 * k) + ".5\n";
  place.write("line.csv", rows);
  place.write("line.toml",
              "name = \"line\"\nmodel = \"cnn\"\ndata = { source = \"csv\", path = \"./line.csv\" }\n"
              "validation.folds = 2\ndevices.use = \"host\"\n[model_options]\nepochs = 100\nbatch_size = 4\n"
              "optimizer = { type = \"sgd\", lr = 10.0 }\n[[model_options.layers]]\ntype = \"linear\"\n"
              "out_features = 1\n");
  expect(place.mokume("run line.toml"), 5, {"2 fits failed"});
  EXPECT_NE(slurp(place.run("line") / "results.csv").find("\n0,0,1,20,,failed"), std::string::npos)
      << "of the rows that were to be validated, whenever it failed: " << slurp(place.run("line") / "results.csv");
  expect(place.mokume("run line.toml --fresh --set validation.folds=0"), 5,
         {"the refit failed", "diverged", "lower lr"});
  // This network diverges in its only step, after its only loss.
  rows = "x,y\n";
  for (int k = 1; k <= 40; ++k) rows += std::to_string(k) + "e15," + std::to_string(k) + "e16\n";
  place.write("line.csv", rows);
  expect(place.mokume("run line.toml --set validation.folds=0 model_options.epochs=1 model_options.batch_size=40 "
                      "'model_options.optimizer={ type = \"sgd\", lr = 1e6 }'"),
         5, {"the refit failed", "diverged", "lower lr"});
  expect(place.mokume("run e.toml --fresh --set devices.memory='\"2 MiB\"'"), 4,
         {"needs at least 2.1 MiB of memory", "raise devices.memory"});
}

}  // namespace
}  // namespace mokume::cli_test

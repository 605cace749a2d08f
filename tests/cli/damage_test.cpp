// Run directories that are damaged, cut, or none at all: one sentence that names place and cure, no internal fault.
#include <gtest/gtest.h>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

class Damage : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    whole_ = new Place;
    whole_->write("svc.toml", small_experiment("host"));
    whole_->write("net.toml", R"(
name = "net"
model = "cnn"
[data]
source = "digits"
limit = 100
[validation]
folds = 2
[search]
method = "none"
[model_options]
epochs = 1
batch_size = 10
[[model_options.layers]]
type = "flatten"
[[model_options.layers]]
type = "linear"
out_features = 10
[devices]
use = "host"
)");
    ASSERT_EQ(whole_->mokume("run svc.toml").code, 0);
    ASSERT_EQ(whole_->mokume("run net.toml").code, 0);
  }
  static void TearDownTestSuite() {
    delete whole_;
    whole_ = nullptr;
  }

  void expect(const std::string& arguments, int code, const std::vector<std::string>& phrases) const {
    const Ended ended = place_.mokume(arguments);
    EXPECT_EQ(ended.code, code) << arguments << "\n" << ended.err;
    for (const std::string& phrase : phrases)
      EXPECT_NE(ended.err.find(phrase), std::string::npos) << arguments << ": " << phrase << "\n" << ended.err;
  }
  // A copy of the run `name` as ./d.
  fs::path copy(const std::string& name) const {
    fs::remove_all(place_.path() / "d");
    fs::copy(whole_->run(name), place_.path() / "d", fs::copy_options::recursive);
    return place_.path() / "d";
  }

  Place place_;
  static Place* whole_;
};
Place* Damage::whole_ = nullptr;

// The length stays, and so does what a reader of the format can see: a weight is another.
void flip_the_last_byte(const fs::path& file) {
  std::string content = slurp(file);
  content.back() = static_cast<char>(content.back() ^ 1);
  std::ofstream(file, std::ios::binary) << content;
}

TEST_F(Damage, WhatIsNoRunDirectoryIsNamed) {
  place_.write("file", "");
  fs::create_directory(place_.path() / "empty");
  for (const char* command : {"status", "explain", "report", "resume"}) {
    expect(command + std::string(" nowhere"), 2, {"there is no such directory", "runs/NAME/STAMP"});
    expect(command + std::string(" file"), 2, {"file is not a run directory"});
    expect(command + std::string(" empty"), 2, {"it holds no config.resolved.toml"});
    expect(command + (" " + std::string(300, 'x')), 2, {"it cannot be looked into"});
  }
}

TEST_F(Damage, ARecordThatIsDamagedOrGoneSaysWhatToDo) {
  const fs::path run = copy("small");
  std::string deep = R"({"plan_hash":"x","state":"done","choices":{},"environment":)";
  deep += std::string(200000, '[') + std::string(200000, ']') + "}";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{}"), std::string("[]"), deep,
        std::string(R"({"plan_hash":"x","state":"done","choices":{},"devices":[1]})"),
        std::string(R"({"plan_hash":"x","state":"done","choices":{},"devices":[{"speed":null}]})")}) {
    place_.write("d/run.json", text);
    for (const char* command : {"status d", "explain d", "report d", "resume d", "predict d --data digits"})
      expect(command, 3, {"d/run.json is damaged", "start a new run with --fresh"});
  }
  fs::remove(run / "run.json");
  expect("status d", 2, {"it holds no run.json"});
}

TEST_F(Damage, AFinishedRunWithoutItsJournalKeepsItsTablesUntilItIsComputedAgain) {
  const fs::path run = copy("small");
  const std::string results = slurp(run / "results.csv");
  fs::remove_all(run / "journal");
  for (const char* command : {"status d", "report d"}) expect(command, 3, {"d/journal is missing", "mokume resume d"});
  EXPECT_EQ(slurp(run / "results.csv"), results);
  expect("resume d", 0, {});
  EXPECT_EQ(slurp(run / "results.csv"), results);
}

TEST_F(Damage, AModelThatIsCutSaysHowToHaveItAgain) {
  for (const std::string name : {"small", "net"}) {
    const fs::path run = copy(name);
    for (const auto& entry : fs::directory_iterator(whole_->run(name) / "models/best")) {
      const fs::path file = run / "models/best" / entry.path().filename();
      const std::string said = "models/best/" + file.filename().string();
      if (file.filename() == "SHA256SUMS") continue;  // of older runs there is none
      fs::resize_file(file, fs::file_size(file) / 2);
      expect("predict d --data digits,test=own", 3, {said, "mokume resume d` trains the model again"});
      place_.write("d/" + said, "\x1b[2J\xff garbage");
      expect("predict d --data digits,test=own", 3, {said, "damaged"});
      EXPECT_EQ(place_.mokume("predict d --data digits,test=own").err.find('\x1b'), std::string::npos) << said;
      fs::remove(file);
      expect("predict d --data digits,test=own", 3, {said});
      fs::copy_file(entry.path(), file);
      flip_the_last_byte(file);
      expect("predict d --data digits,test=own", 3, {said, "mokume resume d` trains the model again"});
      fs::copy_file(entry.path(), file, fs::copy_options::overwrite_existing);
      if (name == "small" && file.extension() == ".libsvm") break;  // one stands for all ten
    }
    fs::remove_all(run / "models/best");
    expect("resume d", 0, {"refitting"});
    for (const auto& entry : fs::directory_iterator(whole_->run(name) / "models/best"))
      EXPECT_EQ(slurp(run / "models/best" / entry.path().filename()), slurp(entry.path()));
  }
}

TEST_F(Damage, WhereNothingCanBeWrittenTheCauseAndTheCureAreSaid) {
  place_.write("e.toml", small_experiment("host"));
  expect("run e.toml --out /proc/none", 2, {"cannot create /proc/none/small", "--out"});
  expect("doctor --out /proc/none", 2, {"cannot write '/proc/", "choose another directory with --out"});
  const fs::path run = copy("small");
  fs::remove(run / "results.csv");
  fs::create_directory(run / "results.csv");
  expect("report d", 75, {"cannot write 'd/results.csv'", "check free space and permissions"});
}

TEST_F(Damage, AnOptionThatIsShortForAKeyIsNamedAsItWasTyped) {
  place_.write("e.toml", small_experiment("host"));
  expect("run e.toml --seed -3 --set data.limit=400", 2, {"--> --seed, column 6"});
  expect("run e.toml --devices '' --seed x", 2, {"--> --devices, column 13", "--> --seed, column 6"});
}

}  // namespace
}  // namespace mokume::cli_test

// Tests that damaged, truncated or missing files of runs lead to one sentence with place and cure, not to a fault.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "support/sample.hpp"

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
  fs::path copy(const std::string& name) const {
    fs::remove_all(place_.path() / "d");
    fs::copy(whole_->run(name), place_.path() / "d", fs::copy_options::recursive);
    return place_.path() / "d";
  }

  Place place_;
  static Place* whole_;
};
Place* Damage::whole_ = nullptr;

// Keeps the length of the file, so that a reader of the format may notice nothing.
void flip_the_last_byte(const fs::path& file) {
  std::string content = slurp(file);
  content.back() = static_cast<char>(content.back() ^ 1);
  std::ofstream(file, std::ios::binary) << content;
}

TEST_F(Damage, ADirectoryThatIsNotARunIsNamed) {
  place_.write("file", "");
  fs::create_directory(place_.path() / "empty");
  for (const char* command : {"status", "explain", "report", "resume"}) {
    expect(command + std::string(" nowhere"), 2, {"there is no such directory", "runs/NAME/STAMP"});
    expect(command + std::string(" file"), 2, {"file is not a run directory"});
    expect(command + std::string(" empty"), 2, {"it holds no config.resolved.toml"});
    expect(command + (" " + std::string(300, 'x')), 2, {"it cannot be accessed"});
  }
}

TEST_F(Damage, ADamagedOrMissingRecordNamesTheCure) {
  const fs::path run = copy("small");
  std::string deep = R"({"plan_hash":"x","state":"done","choices":{},"environment":)";
  deep += std::string(200000, '[') + std::string(200000, ']') + "}";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{}"), std::string("[]"), deep,
        std::string(R"({"plan_hash":"x","state":"done","choices":{},"devices":[1]})"),
        std::string(R"({"plan_hash":"x","state":"done","choices":{},"devices":[{"speed":null}]})")}) {
    place_.write("d/run.json", text);
    for (const char* command : {"status d", "explain d", "report d", "resume d", "predict d --data digits"})
      expect(command, 3, {"d/run.json is damaged", "start a new run with `mokume run --fresh`"});
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

TEST_F(Damage, ATruncatedModelNamesTheCommandThatTrainsItAgain) {
  for (const std::string name : {"small", "net"}) {
    const fs::path run = copy(name);
    for (const auto& entry : fs::directory_iterator(whole_->run(name) / "models/best")) {
      const fs::path file = run / "models/best" / entry.path().filename();
      const std::string said = "models/best/" + file.filename().string();
      if (file.filename() == "SHA256SUMS") continue;  // older runs have no such file
      fs::resize_file(file, fs::file_size(file) / 2);
      expect("predict d --data digits,test=own", 3, {said, "mokume resume d` trains the model again"});
      place_.write("d/" + said, "\x1b[2J\xff garbage");
      expect("predict d --data digits,test=own", 3, {said, "mokume resume d` trains the model again"});
      EXPECT_EQ(place_.mokume("predict d --data digits,test=own").err.find('\x1b'), std::string::npos) << said;
      fs::remove(file);
      expect("predict d --data digits,test=own", 3, {said});
      fs::copy_file(entry.path(), file);
      flip_the_last_byte(file);
      expect("predict d --data digits,test=own", 3, {said, "mokume resume d` trains the model again"});
      fs::copy_file(entry.path(), file, fs::copy_options::overwrite_existing);
      if (name == "small" && file.extension() == ".libsvm") break;  // one file stands for all ten
    }
    fs::remove_all(run / "models/best");
    expect("resume d", 0, {"refitting"});
    for (const auto& entry : fs::directory_iterator(whole_->run(name) / "models/best"))
      EXPECT_EQ(slurp(run / "models/best" / entry.path().filename()), slurp(entry.path()));
  }
}

TEST_F(Damage, AWriteFailureNamesTheCauseAndTheCure) {
  place_.write("e.toml", small_experiment("host"));
  expect("run e.toml --out /proc/none", 2, {"cannot create /proc/none/small", "--out"});
  expect("doctor --out /proc/none", 2, {"cannot write '/proc/", "another directory with --out"});
  const fs::path run = copy("small");
  fs::remove(run / "results.csv");
  fs::create_directory(run / "results.csv");
  expect("report d", 2, {"cannot write 'd/results.csv': Is a directory", "choose another place"});
}

TEST_F(Damage, AnOptionThatSetsAKeyIsNamedAsItWasTyped) {
  place_.write("e.toml", small_experiment("host"));
  expect("run e.toml --seed -3 --set data.limit=400", 2, {"--> --seed, column 6"});
  expect("run e.toml --devices '' --seed x", 2, {"--> --devices, column 13", "--> --seed, column 6"});
}

// Flips one bit in every byte of a small file, or in about `places` bytes of a larger file, and calls `body` each time.
template <class Body>
void for_flipped(const fs::path& file, size_t places, const Body& body) {
  const std::string whole = slurp(file);
  const size_t step = std::max<size_t>(1, whole.size() / places);
  for (size_t at = 0; at < whole.size(); at += step) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at / step) % 8));
    std::ofstream(file, std::ios::binary) << flipped;
    body(fmt::format("{} byte {} of {}", file.string(), at, whole.size()));
  }
  std::ofstream(file, std::ios::binary) << whole;
}

// Covers every file that affects the outcome of a run.
TEST_F(Damage, NoFlippedBitChangesAResultUnnoticed) {
  const size_t places = test::sample(8, 40);
  for (const std::string name : {"small", "net"}) {
    const fs::path run = copy(name);
    // A kill may tear the last line of a journal. In a complete run, that line holds the end of the last session.
    const auto said_of = [&] {
      const auto summary = nlohmann::json::parse(slurp(run / "summary.json"));
      return slurp(run / "results.csv") + summary["best"].dump() + summary["test"].dump() + summary["fits"].dump();
    };
    const std::string said = said_of();
    const std::string predicts = "predict d --data digits,limit=40 --devices host";
    const Ended predicted = place_.mokume(predicts);
    ASSERT_EQ(predicted.code, 0) << predicted.err;
    for (const char* file : {"run.json", "config.resolved.toml", "journal/node-0000.ndjson"})
      for_flipped(run / file, places, [&](const std::string& what) {
        const Ended ended = place_.mokume("report d");
        if (ended.code == 0) {
          EXPECT_EQ(said_of(), said) << what;
        } else {
          EXPECT_EQ(ended.code, 3) << what << ended.err;
          EXPECT_NE(ended.err.find(file), std::string::npos) << what << ended.err;
        }
      });
    std::vector<fs::path> files = {run / "run.json", run / "config.resolved.toml"};
    for (const auto& entry : fs::directory_iterator(run / "models/best")) files.push_back(entry.path());
    for (const fs::path& file : files)
      for_flipped(file, files.size() > 6 ? 8 : places, [&](const std::string& what) {
        const Ended ended = place_.mokume(predicts);
        EXPECT_EQ(ended.code, 3) << what << ended.out;
        EXPECT_EQ(ended.out, "") << what;
      });
    EXPECT_EQ(place_.mokume(predicts).out, predicted.out);
  }
}

// The checksum is right, but the values are not.
TEST_F(Damage, AnInvalidRecordIsNamedAndNothingIsOverwritten) {
  const fs::path run = copy("small"), journal = run / "journal/node-0000.ndjson";
  const std::string whole = slurp(journal);
  const std::vector<std::string> lines = lines_of(whole);
  const std::map<std::string, std::string> before = {{"results.csv", slurp(run / "results.csv")},
                                                     {"summary.json", slurp(run / "summary.json")},
                                                     {"report.html", slurp(run / "report.html")}};
  const std::vector<std::pair<std::string, std::string>> changes = {{R"("n":)", R"("n":0,"m":)"},
                                                                    {R"("n":)", R"("n":4000,"m":)"},
                                                                    {R"("values":[)", R"("values":[1000000,)"},
                                                                    {R"("values":[)", R"("values":["nan",)"},
                                                                    {R"("fold":)", R"("fold":7,"m":)"},
                                                                    {R"("candidate":)", R"("candidate":12,"m":)"},
                                                                    {R"("fit":)", R"("fit":3000000,"m":)"}};
  for (const auto& [part, by] : changes) {
    std::string changed;
    bool done = false;
    for (std::string line : lines) {
      std::string object = base::unseal(line).value();
      if (const size_t at = object.find(part); !done && object.starts_with("{\"fit\"") && at != std::string::npos) {
        object.replace(at, part.size(), by);
        done = true;
      }
      changed += base::seal(object);
    }
    ASSERT_TRUE(done) << part;
    place_.write("d/journal/node-0000.ndjson", changed);
    for (const char* command : {"report d", "status d", "explain d", "resume d"})
      expect(command, 3, {"d/journal/node-0000.ndjson, line "});
    for (const auto& [name, text] : before) EXPECT_EQ(slurp(run / name), text) << name << by;
    fs::copy_file(whole_->run("small") / "run.json", run / "run.json", fs::copy_options::overwrite_existing);
  }
}

// Texts from models, drivers and foreign files do not reach the terminal unchanged.
TEST_F(Damage, NoTextOfARunControlsTheTerminal) {
  const fs::path run = copy("small");
  std::string changed;
  for (const std::string& line : lines_of(slurp(run / "journal/node-0000.ndjson"))) {
    std::string object = base::unseal(line).value();
    for (const auto& [part, by] :
         {std::pair<std::string, std::string>(R"("note":")", R"("note":"\u001b[2J\u009b1mbell\u0007 )"),
          {R"("device":")", R"("device":"\u001b]0;title\u0007)"}})
      if (const size_t at = object.find(part); at != std::string::npos) object.replace(at, part.size(), by);
    changed += base::seal(object);
  }
  place_.write("d/journal/node-0000.ndjson", changed);
  rewrite(run / "run.json", R"("vendor": ")", R"("vendor": "\u001b[31m)");
  place_.write("evil.csv", "a,y\n1,\x1b[2Jcat\n2,dog\n3,\x1b[2Jcat\n4,dog\n");
  for (const char* command : {"status d", "explain d", "explain d 0", "report d", "compare d d", "list .",
                              "data info csv:./evil.csv", "check evil.csv"}) {
    const Ended ended = place_.mokume(command);
    EXPECT_EQ((ended.out + ended.err).find_first_of("\x1b\x07"), std::string::npos) << command << ended.out;
    EXPECT_EQ((ended.out + ended.err).find("\xc2\x9b"), std::string::npos) << command << ended.out;
  }
  EXPECT_NE(place_.mokume("data info csv:./evil.csv").out.find("?[2Jcat"), std::string::npos);
}

TEST_F(Damage, AnOlderRunWithoutChecksumsPredictsWithAWarning) {
  const fs::path run = copy("net");
  const std::string predicts = "predict d --data digits,limit=40 --devices host";
  const std::string said = place_.mokume(predicts).out;
  std::string record = slurp(run / "run.json");
  record = record.substr(0, record.rfind(",\"crc\"")) + "}\n";
  const size_t begin = record.find(" \"config_sha256\"");
  record.erase(begin, record.find('\n', begin) + 1 - begin);
  place_.write("d/run.json", record);
  fs::remove(run / "models/best/SHA256SUMS");
  const Ended old = place_.mokume(predicts);
  EXPECT_EQ(old.code, 0) << old.err;
  EXPECT_EQ(old.out, said);
  EXPECT_NE(old.err.find("d was written by an older version without checksums"), std::string::npos) << old.err;
  expect("resume d", 0, {});
}

TEST_F(Damage, PredictionsOfAMemberAndTheVoteAreChecked) {
  place_.write("e.toml",
               "name = \"bag\"\nmodel = \"svc\"\nseed = 3\ndata = { source = \"digits\", limit = 200, standardize = "
               "\"features\" }\nbagging.bootstraps = 2\nvalidation.folds = 0\ndevices.use = \"host\"\n"
               "model_options = { C = 10, gamma = 0.001 }\n");
  ASSERT_EQ(place_.mokume("run e.toml").code, 0);
  const fs::path run = place_.run("bag");
  const std::string vote = slurp(run / "models/vote.json");
  for_flipped(run / "models/vote.json", test::sample(8, 40), [&](const std::string& what) {
    const Ended ended = place_.mokume("report " + run.string());
    if (ended.code == 0) return;  // the flipped byte is the newline after the last bracket
    EXPECT_EQ(ended.code, 3) << what;
    EXPECT_NE(ended.err.find("vote.json is damaged"), std::string::npos) << what << ended.err;
  });
  for_flipped(run / "models/member-001/test.npy", 10, [&](const std::string& what) {
    fs::remove(run / "models/vote.json");
    const Ended ended = place_.mokume("resume " + run.string());
    EXPECT_EQ(ended.code, 3) << what << ended.err;
    EXPECT_NE(ended.err.find("test.npy was changed after it was written"), std::string::npos) << what << ended.err;
  });
  ASSERT_EQ(place_.mokume("resume " + run.string()).code, 0);
  EXPECT_EQ(slurp(run / "models/vote.json"), vote);
}

}  // namespace
}  // namespace mokume::cli_test

// Tests that verify computes the results of a run again, says which differ, and finds the first step that does.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

class Verify : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("MOKUME_PLUGIN_PATH", fault_library().c_str(), 1);
    whole_ = new Place;
    whole_->write("svc.toml", small_experiment("host", 200));
    whole_->write("net.toml", R"(
name = "net"
model = "cnn"
data = { source = "digits", limit = 100, standardize = { mean = 127.5, scale = 255 } }
validation.folds = 2
search.method = "none"
model_options = { epochs = 1, batch_size = 10, layers = [{ type = "flatten" }, { type = "linear", out_features = 10 }] }
devices.use = "host"
)");
    ASSERT_EQ(whole_->mokume("run svc.toml").code, 0);
    ASSERT_EQ(whole_->mokume("run net.toml").code, 0);
    ASSERT_EQ(whole_->mokume("run net.toml --fresh --set name=strict --set devices.numerics=strict").code, 0);
  }
  static void TearDownTestSuite() {
    delete whole_;
    whole_ = nullptr;
    unsetenv("MOKUME_PLUGIN_PATH");
  }

  // Copies a run to "d".
  fs::path copy(const std::string& name) const {
    fs::remove_all(place_.path() / "d");
    fs::copy(whole_->run(name), place_.path() / "d", fs::copy_options::recursive);
    return place_.path() / "d";
  }
  Ended verify(const std::string& arguments, const std::string& environment = "") const {
    return place_.shell(environment + " " + Place::program() + " verify d " + arguments);
  }
  void expect(const std::string& arguments, int code, const std::vector<std::string>& phrases) const {
    const Ended ended = verify(arguments);
    EXPECT_EQ(ended.code, code) << arguments << "\n" << ended.out << ended.err;
    for (const std::string& phrase : phrases)
      EXPECT_TRUE(has(ended.out + ended.err, phrase)) << arguments << ": " << phrase << "\n" << ended.out << ended.err;
  }

  // Changes the journal's sealed lines for which `change` returns true.
  static void edit_journal(const fs::path& run, const std::function<bool(std::string&)>& change) {
    const fs::path file = run / "journal/node-0000.ndjson";
    std::string edited;
    for (const std::string& line : lines_of(slurp(file))) {
      std::string object = base::unseal(line).value();
      edited += change(object) ? base::seal(object) : line + "\n";
    }
    std::ofstream(file, std::ios::binary) << edited;
  }
  // Changes the loss of fit 0 by about a millionth, and its device class if `by` is not "".
  static void change_loss(const fs::path& run, const std::string& by = "") {
    edit_journal(run, [&](std::string& line) {
      if (!has(line, "\"fit\":0,")) return false;
      const size_t values = line.find("\"values\":[");
      const size_t digit = line.find('.', line.rfind(',', line.find(']', values))) + 6;
      line[digit] = line[digit] == '5' ? '4' : '5';
      if (!by.empty()) line.replace(line.find("\"class\":\"") + 9, 4, by);
      return true;
    });
  }

  Place place_;
  static Place* whole_;
};
Place* Verify::whole_ = nullptr;

// Maps the files of a run to their contents and times.
std::map<std::string, std::pair<std::string, fs::file_time_type>> files_of(const fs::path& run) {
  std::map<std::string, std::pair<std::string, fs::file_time_type>> files;
  for (const auto& entry : fs::recursive_directory_iterator(run))
    files[entry.path().string()] = {entry.is_regular_file() ? slurp(entry.path()) : "", entry.last_write_time()};
  return files;
}

TEST_F(Verify, ComputesEveryResultAgainAndWritesNothing) {
  for (const std::string name : {"small", "net", "strict"}) {
    const fs::path run = copy(name);
    const auto before = files_of(run);
    const Ended ended = verify("--fits all --devices host");
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    EXPECT_TRUE(has(ended.out, name == "small" ? "37 of 37 results equal" : "3 of 3 results equal")) << ended.out;
    EXPECT_EQ(files_of(run), before);
  }
}

TEST_F(Verify, TheSampleIsSpreadOverThePlanAndAlwaysTheSame) {
  copy("small");
  const auto sample = [&](const std::string& arguments) {
    std::string names;
    for (const std::string& line : lines_of(verify(arguments + " --devices host").out))
      if (line.starts_with("fit ") || line.starts_with("the refit"))
        names += line.substr(0, line.find_first_of(": ", 5)) + ",";
    return names;
  };
  EXPECT_EQ(sample("--fits 3"), "fit 0,fit 18,the refit,");
  EXPECT_EQ(sample("--fits 1"), "fit 0,");
  EXPECT_EQ(sample(""), "fit 0,fit 4,fit 8,fit 12,fit 16,fit 20,fit 24,fit 28,fit 32,the refit,");
  EXPECT_EQ(sample("--fit 2,1"), "fit 7,");
  EXPECT_EQ(sample("--fit refit"), "the refit,");
}

TEST_F(Verify, AnotherRecordDiffersAndTheNextStepIsNamed) {
  change_loss(copy("net"));
  expect("--fits all --devices host", 1,
         {"differs: loss ", "2 of 3 results equal, 1 differ", "write a trace of it", "--fit 0 --trace FILE"});
}

TEST_F(Verify, OnlyFastNumericsHaveATolerance) {
  change_loss(copy("net"), "else");
  expect("--fits all --devices host", 0, {"within tolerance: loss ", "host:0, another class", "2 of 3 results equal"});
  change_loss(copy("strict"), "else");
  expect("--fits all --devices host", 1, {"differs: loss ", "host:0, another class"});
}

TEST_F(Verify, TwoDevicesThatDifferShowTheFirstStep) {
  copy("net");
  const Ended same = verify("--fits all --devices fault,host");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_TRUE(has(same.out, "6 of 6 results equal")) << same.out;
  const Ended net = verify("--fits all --devices fault,host", "MOKUME_FAULT=skew:optimizer_step");
  EXPECT_EQ(net.code, 1) << net.out << net.err;
  EXPECT_TRUE(has(net.out, "the first step that differs is step 15, step: optimizer_step 1x7850")) << net.out;
  copy("small");
  const Ended svc = verify("--fit 18 --devices fault,host", "MOKUME_FAULT=skew:kernel_map");
  EXPECT_EQ(svc.code, 1) << svc.out << svc.err;
  EXPECT_TRUE(has(svc.out, "kernel: kernel_map 200x200 1x200 1x200 -> 200x200, gamma 0.001; the ")) << svc.out;
  EXPECT_TRUE(has(svc.out, " on host:0, ")) << svc.out;
}

TEST_F(Verify, TwoSitesCompareTraces) {
  copy("net");
  expect("--devices host --trace t", 0, {"t: ", " steps of fit 0: candidate 0, fold 0"});
  const std::string trace = slurp(place_.path() / "t");
  EXPECT_TRUE(has(trace.substr(0, 20), "{\"mokume_trace\":1,")) << trace.substr(0, 100);
  expect("--devices host --against t", 0, {" steps are equal"});
  const auto edited = [&](const std::string& part, const std::string& by) {
    std::string text = trace;
    text.replace(text.find(part), part.size(), by);
    place_.write("t", text);
  };
  const size_t digest = trace.find(" = ", trace.find("\n11 ")) + 3;
  edited(trace.substr(digest, 32), std::string(32, '0'));
  expect("--devices host --against t", 1,
         {"the first step that differs is step 11, forward: gemm 10x784", "the 10 steps before it are equal",
          std::string(32, '0') + " on host:0 there"});
  edited("forward: gemm 10x784", "forward: gemm 11x784");
  expect("--devices host --against t", 1,
         {"the traces part: step 11, forward: gemm 10x784", "on host:0 here, step 11, "});
  place_.write("t", trace);
  copy("strict");
  expect("--devices host --against t", 2, {"t is the trace of a run with another plan"});
}

TEST_F(Verify, ALongTraceIsCut) {
  copy("net");
  expect("--devices host --trace t --trace-steps 5", 0, {"t: 5 steps of fit 0", "which has more"});
  expect("--devices host --against t", 0, {"the first 5 steps are equal; --trace-steps N compares more"});
}

// The kernels of a model differ between kinds of devices in their names and buffers.
TEST_F(Verify, KernelsOfOtherKindsOfDevicesAreNotCompared) {
  copy("small");
  expect("--devices host --fit 18 --trace t", 0, {});
  std::string trace = slurp(place_.path() / "t");
  ASSERT_TRUE(has(trace, "kernel choose_native"));
  for (size_t at = 0; (at = trace.find("_native = ", at)) != std::string::npos; ++at)
    trace.replace(at, 42, "_group = " + std::string(33, '1'));
  place_.write("t", trace);
  expect("--devices host --against t", 0, {" steps are equal"});
}

TEST_F(Verify, DamagedTracesNameThePlace) {
  copy("net");
  expect("--devices host --trace t", 0, {});
  const std::string trace = slurp(place_.path() / "t");
  place_.write("t", trace.substr(0, trace.find("\n7 ") + 1));
  expect("--devices host --against t", 3, {"t, line 7: the trace ends after 6 of ", "copy it again"});
  place_.write("t", trace.substr(0, trace.find("\n7 ")) + "\n\x1b[2J\n");
  const Ended ended = verify("--devices host --against t");
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_TRUE(has(ended.err, "t, line 8: this is not step 7")) << ended.err;
  for (const std::string& text : {std::string(), std::string("{}\n"), std::string("no trace\n")}) {
    place_.write("t", text);
    expect("--devices host --against t", 3, {"t, line 1: this is no trace of a fit"});
  }
  expect("--devices host --against nowhere", 3, {"cannot read 'nowhere'"});
}

TEST_F(Verify, ADamagedRunNamesTheFile) {
  const fs::path run = copy("net");
  const fs::path journal = run / "journal/node-0000.ndjson";
  const std::string whole = slurp(journal);
  std::string flipped = whole;
  flipped[whole.find("\"values\"") + 12] ^= 1;
  std::ofstream(journal, std::ios::binary) << flipped;
  expect("--devices host", 3, {"d/journal/node-0000.ndjson, line "});
  fs::remove_all(run / "journal");
  expect("--devices host", 3, {"d/journal is missing"});
  copy("net");
  std::ofstream(run / "config.resolved.toml", std::ios::app) << "\n";
  expect("--devices host", 3, {"d/config.resolved.toml has changed"});
  copy("net");
  place_.write("d/run.json", "{}");
  expect("--devices host", 3, {"d/run.json is damaged"});
}

TEST_F(Verify, AnUnfinishedRunHasFewerResults) {
  const fs::path journal = copy("small") / "journal/node-0000.ndjson";
  const std::vector<std::string> lines = lines_of(slurp(journal));
  std::string some;
  for (size_t k = 0; k < 2; ++k) some += lines[k] + "\n";
  std::ofstream(journal, std::ios::binary) << some;
  expect("--devices host", 3, {"d/journal has no result that can be computed again"});
  for (size_t k = 2; k < 5; ++k) some += lines[k] + "\n";
  std::ofstream(journal, std::ios::binary) << some;
  expect("--devices host", 0, {"3 of 3 results equal"});
  expect("--devices host --fit refit", 2, {"has no result of the refit", "mokume explain"});
}

TEST_F(Verify, OtherDataAreRefusedAndACopyElsewhereIsTaken) {
  std::string rows = "a,y\n";
  for (int k = 0; k < 40; ++k)
    rows += std::to_string(k % 7) + "." + std::to_string(k) + (k % 3 == 0 ? ",no\n" : ",yes\n");
  place_.write("rows.csv", rows);
  place_.write("e.toml",
               "name = \"c\"\nmodel = \"svc\"\ndevices.use = \"host\"\nvalidation.folds = 2\n"
               "data = { source = \"csv\", path = \"./rows.csv\" }\n");
  ASSERT_EQ(place_.mokume("run e.toml").code, 0);
  fs::rename(place_.run("c"), place_.path() / "d");
  expect("--devices host", 0, {"3 of 3 results equal"});
  place_.write("elsewhere.csv", rows);
  place_.write("rows.csv", rows + "1.5,no\n");
  expect("--devices host", 3, {"the data 'rows' are not those of d", "run.json has ", "--set data.path=FILE"});
  expect("--devices host --set data.path=./elsewhere.csv", 0, {"3 of 3 results equal"});
  expect("--devices host --set data.path=./elsewhere.csv --set seed=9", 2, {"--set makes another plan than that of d"});
  fs::remove(place_.path() / "rows.csv");
  expect("--devices host", 3, {"rows.csv"});
}

TEST_F(Verify, ADeviceThatFailsIsNoDifference) {
  copy("net");
  const Ended closed = verify("--fits all --devices fault,host", "MOKUME_FAULT=closed");
  EXPECT_EQ(closed.code, 4) << closed.out << closed.err;
  EXPECT_TRUE(has(closed.out, "3 of 6 results equal, 3 failed")) << closed.out;
  EXPECT_TRUE(has(closed.out, "failed: device fault:0")) << closed.out;
  const Ended failing = verify("--fits all --devices fault", "MOKUME_FAULT=fail:1");
  EXPECT_EQ(failing.code, 4) << failing.out << failing.err;
  EXPECT_TRUE(has(failing.out, "the device failed, as it was told to")) << failing.out;
}

TEST_F(Verify, MistakesInTheCommandLineAreNamed) {
  copy("net");
  expect("--devices nothing", 4, {"no device matches 'nothing'", "host:0"});
  expect("--fits 0", 2, {"--fits 0 is no number of fits: write 1 or more, or all"});
  expect("--fits 2x", 2, {"--fits 2x is no number of fits"});
  expect("--fit 9", 2, {"'9' is not a fit of this run"});
  expect("--fits 1 --fit 1", 2, {"--fit"});
  EXPECT_EQ(place_.mokume("verify nowhere").code, 2);
}

TEST_F(Verify, TeamsAndUnknownModelsAreRefused) {
  place_.write("net.toml", slurp(whole_->path() / "net.toml"));
  ASSERT_EQ(place_.mokume("run net.toml --set devices.team=true").code, 0);
  fs::rename(place_.run("net"), place_.path() / "d");
  expect("--devices host", 2, {"d was computed by a team of devices", "mokume compare"});
  place_.write("e.toml", "name = \"m\"\nmodel = \"mean\"\nplugins.directories = [\"" + test_library() +
                             "\"]\ndata.source = \"digits\"\ndata.limit = 50\ndevices.use = \"host\"\n");
  ASSERT_EQ(place_.mokume("run e.toml").code, 0);
  fs::remove_all(place_.path() / "d");
  fs::rename(place_.run("m"), place_.path() / "d");
  expect("--devices host", 4, {"the model 'mean' of d is in none of the searched directories", "--plugins"});
  expect("--devices host --plugins " + test_library(), 0, {" results equal"});
}

}  // namespace
}  // namespace mokume::cli_test

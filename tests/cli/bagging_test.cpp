// Tests bagging from end to end: members, vote and tables, on one rank and on several, after a kill and a resume.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/shell.hpp"
#include "data/npy/npy.hpp"

namespace mokume::cli_test {
namespace {

// Returns an experiment with 4 bootstraps. `more` adds the search.
std::string bagged(const std::string& model, const std::string& more) {
  return "name = \"bag\"\nmodel = \"" + model +
         "\"\nseed = 3\ndata = { source = \"digits\", limit = 300, standardize = \"features\" }\nbagging.bootstraps = "
         "4\nvalidation.folds = 3\n"
         "devices.use = \"host\"\n" +
         more;
}

const char* const kSvc =
    "[search]\nmethod = \"random\"\ncandidates = 3\n[search.params]\nC = { log10_uniform = [-1, 2] }\n"
    "gamma = { log10_uniform = [-3, -1] }\n";
const char* const kNetwork = R"([search]
method = "random"
candidates = 2
select = "loss"
[search.params]
lr = { log10_uniform = [-2, -1] }
units = { int = [4, 20] }
[model_options]
epochs = 2
batch_size = 10
optimizer = { type = "sgd", lr = "$lr" }
layers = [{ type = "flatten" }, { type = "linear", out_features = "$units" }, { type = "relu" },
          { type = "linear", out_features = 10 }]
)";

// Returns the only entry of a directory.
fs::path only(const fs::path& directory) { return fs::directory_iterator(directory)->path(); }

std::vector<std::vector<std::string>> table(const fs::path& path) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream in(slurp(path));
  for (std::string line; std::getline(in, line);) {
    auto& row = rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  return rows;
}

nlohmann::json summary(const fs::path& run) { return nlohmann::json::parse(slurp(run / "summary.json")); }

TEST(Bagging, GivesMembersAndTheirVote) {
  const Place place;
  for (const auto& [model, more] : {std::pair("svc", kSvc), std::pair("cnn", kNetwork)}) {
    SCOPED_TRACE(model);
    place.write("e.toml", bagged(model, more));
    const Ended ended = place.mokume(std::string("run e.toml --out ") + model);
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.err.find("4 members, test error "), std::string::npos) << ended.err;
    const fs::path run = only(place.path() / model / "bag");
    for (const char* member : {"member-000", "member-001", "member-002", "member-003"})
      EXPECT_TRUE(fs::exists(run / "models" / member / "test.npy")) << member;
    EXPECT_EQ(std::distance(fs::directory_iterator(run / "models"), {}), 5) << "no attempt is left behind";
    const auto members = table(run / "ensemble.csv");
    ASSERT_EQ(members.size(), 5U);
    EXPECT_EQ(members[0].front(), "bootstrap");
    EXPECT_EQ(members[0].back(), "status");
    const auto json = summary(run);
    EXPECT_EQ(json["bootstraps"], 4);
    EXPECT_EQ(json["members"], 4);
    EXPECT_TRUE(json["best"].is_null());
    double sum = 0;
    for (size_t b = 0; b < 4; ++b) {
      EXPECT_EQ(members[b + 1][0], std::to_string(b));
      sum += std::stod(members[b + 1][members[0].size() - 2]);
    }
    EXPECT_LT(json["test"]["error"].get<double>(), sum / 4) << "a vote that is worse than its members";
    EXPECT_NE(slurp(run / "report.html").find("<h2>Members</h2>"), std::string::npos);
    EXPECT_TRUE(fs::exists(run / "plots/members.svg"));
    for (const char* plot : {"certainty-easy-00.svg", "certainty-misclassified-04.svg"})
      EXPECT_TRUE(fs::exists(run / "plots" / plot)) << plot;
    EXPECT_EQ(place.mokume("report " + run.string()).code, 0);
    EXPECT_EQ(summary(run)["test"], json["test"]);
  }
}

// Candidates 0 to 2 belong to bootstrap 0, candidates 3 to 5 to bootstrap 1, and so on. No candidate is drawn twice.
TEST(Bagging, EveryBootstrapDrawsItsOwnCandidatesAndRows) {
  const Place place;
  place.write("e.toml", bagged("svc", kSvc));
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  const auto fits = table(place.run("bag") / "results.csv");
  ASSERT_EQ(fits.size(), 1 + 4 * 3 * 3U);
  std::set<std::string> values;
  for (size_t r = 1; r < fits.size(); ++r) {
    EXPECT_EQ(std::stoul(fits[r][0]) / 3, std::stoul(fits[r][1])) << r;
    values.insert(fits[r][3]);
  }
  EXPECT_EQ(values.size(), 12U);
}

TEST(Bagging, IsTheSameOnAnyNumberOfRanksAndAfterAKill) {
  if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  const Place place;
  place.write("e.toml", bagged("cnn", kNetwork));
  ASSERT_EQ(place.mokume("run e.toml --out plain").code, 0);
  const fs::path plain = only(place.path() / "plain/bag");
  const Ended ranks =
      place.shell("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -np 3 " +
                  Place::program() + " run e.toml --out ranks");
  ASSERT_EQ(ranks.code, 0) << ranks.err;
  const Ended stopped = place.mokume("run e.toml --out again --max-time 1s");
  EXPECT_TRUE(stopped.code == 75 || stopped.code == 0) << stopped.err;  // the run may already have finished
  ASSERT_EQ(place.mokume("run e.toml --out again").code, 0);
  for (const char* out : {"ranks", "again"}) {
    const fs::path run = only(place.path() / out / "bag");
    for (const char* file : {"results.csv", "ensemble.csv", "models/vote.json", "models/member-002/test.npy"})
      EXPECT_EQ(slurp(run / file), slurp(plain / file)) << out << "/" << file;
  }
}

TEST(Bagging, ALostMemberIsTrainedAgain) {
  const Place place;
  place.write("e.toml", bagged("svc", kSvc));
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  const fs::path run = place.run("bag");
  const std::string vote = slurp(run / "models/vote.json");
  EXPECT_EQ(nlohmann::json::parse(vote)["doubt"].size(), 101U) << "percentiles";
  fs::remove_all(run / "models/member-001");
  fs::remove(run / "models/vote.json");
  const auto time = fs::last_write_time(run / "models/member-000");
  const Ended again = place.mokume("resume " + run.string());
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(slurp(run / "models/vote.json"), vote);
  EXPECT_EQ(fs::last_write_time(run / "models/member-000"), time);
}

TEST(Bagging, AStoppedRunKeepsTheFinishedMembers) {
  const Place place;
  place.write("e.toml",
              "name = \"bag\"\nmodel = \"cnn\"\nbagging.bootstraps = 12\nvalidation.folds = 0\ndevices.use = \"host\"\n"
              "data = { source = \"digits\", limit = 1000, standardize = { mean = 127.5, scale = 255 } }\n"
              "[model_options]\nepochs = 10\nbatch_size = 5\noptimizer = { type = \"sgd\", lr = 0.01 }\n"
              "layers = [{ type = \"flatten\" }, { type = \"linear\", out_features = 100 },\n"
              "          { type = \"linear\", out_features = 10 }]\n");
  ASSERT_EQ(place.mokume("run e.toml --out plain").code, 0);
  const pid_t pid = place.start({"run", "e.toml"});
  const auto attempts = [&] {
    std::error_code none;
    size_t count = 0;
    for (const auto& run : fs::directory_iterator(place.path() / "runs/bag", none))
      for (const auto& model : fs::directory_iterator(run.path() / "models", none))
        count += model.path().extension() == ".new" ? 0 : 1;
    return count;
  };
  for (int k = 0; k < 60000 && attempts() < 2; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(pid, SIGTERM);
  ASSERT_EQ(Place::wait(pid), 75) << slurp(place.path() / "child.txt");
  const fs::path run = place.run("bag");
  EXPECT_TRUE(fs::exists(run / "models/member-000/test.npy"));
  const Ended said = place.mokume("predict " + run.string() + " --data digits,test=own,limit=20 --devices host");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.err.find(" is not finished: using the "), std::string::npos) << said.err;
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  for (const char* file :
       {"ensemble.csv", "models/vote.json", "models/member-000/test.npy", "models/member-011/test.npy"})
    EXPECT_EQ(slurp(run / file), slurp(only(place.path() / "plain/bag") / file)) << file;
}

TEST(Bagging, AListGivesEachBootstrapItsOwnMember) {
  const Place place;
  place.write(
      "e.toml",
      "name = \"bag\"\nmodel = \"svc\"\ndata = { source = \"digits\", limit = 200, standardize = \"features\" }\n"
      "bagging.bootstraps = 3\nvalidation.folds = 0\ndevices.use = \"host\"\n"
      "[search]\nmethod = \"list\"\ncandidates = 1\n[search.params]\nC = [1, 1, 10]\n"
      "gamma = [0.01, 0.02, 0.01]\n");
  const Ended ended = place.mokume("run e.toml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto members = table(place.run("bag") / "ensemble.csv");
  ASSERT_EQ(members.size(), 4U);
  EXPECT_EQ(members[2][3], "0.02");
  EXPECT_EQ(members[3][2], "10");
  const Ended wrong = place.mokume("run e.toml --fresh --set bagging.bootstraps=4");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("lists 3 candidates, but 4 bootstraps take 1 each"), std::string::npos) << wrong.err;
}

// Candidates that diverge fail. A bootstrap without another candidate yields no member, and the other members vote.
TEST(Bagging, AMemberThatFailsLeavesTheVoteToTheOthers) {
  const Place place;
  const std::string diverging =
      "name = \"bag\"\nmodel = \"cnn\"\nseed = 7\nbagging.bootstraps = 3\ndevices.use = \"host\"\n"
      "data = { source = \"digits\", limit = 200, standardize = { mean = 127.5, scale = 255 } }\n"
      "[model_options]\nepochs = 2\nbatch_size = 10\noptimizer = { type = \"sgd\", lr = \"$lr\" }\n"
      "layers = [{ type = \"flatten\" }, { type = \"linear\", out_features = 20 },\n"
      "          { type = \"linear\", out_features = 10 }]\n[search]\nmethod = \"list\"\n";
  const auto expect = [&](const std::string& more, const std::vector<std::string>& words) {
    place.write("e.toml", diverging + more);
    const Ended ended = place.mokume("run e.toml --fresh");
    EXPECT_EQ(ended.code, 5) << ended.err;
    for (const std::string& word : words)
      EXPECT_NE(ended.err.find(word), std::string::npos) << word << "\n" << ended.err;
  };
  expect("candidates = 2\nparams.lr = [0.01, 1e6, 0.02, 1e6, 1e6, 9e5]\n[validation]\nfolds = 2\n",
         {"2 of 3 members, test error ", "; their vote:\ntest error: ", "8 fits failed",
          "the refit of bootstrap 2 failed: no candidate has a result in every fold\n"});
  const std::string run = only(place.path() / "runs/bag");
  const auto said = summary(run);
  EXPECT_EQ(said["members"], 2);
  ASSERT_TRUE(said["test"].is_object());
  const Ended predicted = place.mokume("predict " + run + " --data digits,test=own --devices host");
  EXPECT_NE(predicted.err.find("errors: " + said["test"]["errors"].dump() + " of 1000\n"), std::string::npos)
      << predicted.err;
  EXPECT_NE(predicted.err.find(" is incomplete: using the 2 members that it has"), std::string::npos);
  const std::string page = slurp(fs::path(run) / "report.html");
  EXPECT_NE(page.find("Test error, vote of 2"), std::string::npos);
  const Ended why = place.mokume("explain " + run + " refit,2");
  EXPECT_NE(why.out.find("given up after "), std::string::npos) << why.out;
  EXPECT_EQ(why.out.find("tries it again"), std::string::npos) << "it would end in the same way\n" << why.out;

  fs::remove_all(place.path() / "runs");
  expect("candidates = 1\nparams.lr = [0.01, 1e6, 1e6]\n[validation]\nfolds = 0\n",
         {"1 of 3 members, test error ", "the refit of bootstrap 1 failed: the training diverged", "(and 1 more)\n"});
  const Ended again = place.mokume("explain " + only(place.path() / "runs/bag").string() + " refit,1");
  EXPECT_NE(again.out.find("tries it again"), std::string::npos) << again.out;
  const std::string whole = slurp(only(place.path() / "runs/bag") / "report.html");
  EXPECT_NE(whole.find("2 members failed"), std::string::npos);
  EXPECT_NE(whole.find("the refit of bootstrap 1"), std::string::npos) << "with what the model said";
  EXPECT_EQ(summary(only(place.path() / "runs/bag"))["failed_refits"], 2);
  fs::remove_all(place.path() / "runs");
  expect("candidates = 1\nparams.lr = [1e6, 1e6, 1e6]\n[validation]\nfolds = 0\n",
         {"the refit of bootstrap 0 failed: the training diverged", "(and 2 more)\n"});
  EXPECT_TRUE(summary(only(place.path() / "runs/bag"))["test"].is_null());
}

TEST(Bagging, RegressionAveragesTheMembers) {
  const Place place;
  place.write("e.toml",
              "name = \"bag\"\nmodel = \"cnn\"\ndata = { source = \"friedman\", limit = 300 }\n"
              "bagging.bootstraps = 3\nvalidation.folds = 2\ndevices.use = \"host\"\n[model_options]\n"
              "epochs = 3\nbatch_size = 10\noptimizer = { type = \"adam\", lr = 0.01 }\n"
              "layers = [{ type = \"linear\", out_features = 8 }, { type = \"relu\" },\n"
              "          { type = \"linear\", out_features = 1 }]\n");
  const Ended ended = place.mokume("run e.toml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("3 members, test mse "), std::string::npos) << ended.err;
  const auto members = table(place.run("bag") / "ensemble.csv");
  double sum = 0;
  for (size_t b = 1; b < members.size(); ++b) sum += std::stod(members[b][members[0].size() - 2]);
  EXPECT_LE(summary(place.run("bag"))["test"]["mse"].get<double>(), sum / 3)
      << "a mean cannot be worse than its members";
}

TEST(Bagging, DamagedPredictionsAreReported) {
  const Place place;
  place.write("e.toml", bagged("svc", kSvc));
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  const fs::path run = place.run("bag");
  fs::remove_all(run / "models/member-001");
  place.write(fs::relative(run / "models/member-002/test.npy", place.path()).string(), "garbage");
  const Ended again = place.mokume("resume " + run.string());
  EXPECT_EQ(again.code, 3) << again.err;
  EXPECT_NE(again.err.find("member-002/test.npy"), std::string::npos) << again.err;
  fs::remove(run / "models/member-002/SHA256SUMS");  // older runs have no sums, so only the values can be checked
  for (const size_t at : {0U, 1U}) {                 // the label, then a certainty
    fs::remove_all(run / "models/member-001");
    data::FloatTable said = data::read_npy((run / "models/member-000/test.npy").string());
    said.values[at] = at == 0 ? 99 : std::numeric_limits<float>::quiet_NaN();
    data::write_npy((run / "models/member-002/test.npy").string(), said);
    const Ended odd = place.mokume("resume " + run.string());
    EXPECT_EQ(odd.code, 3) << odd.err;
    for (const char* words : {"member-002/test.npy holds a ", "remove its directory, and `mokume resume` trains"})
      EXPECT_NE(odd.err.find(words), std::string::npos) << odd.err;
  }
}

}  // namespace
}  // namespace mokume::cli_test

// Tests NumPy arrays as data, and folds from a file.
#include <gtest/gtest.h>

#include "cli/shell.hpp"
#include "data/npy/npy.hpp"

namespace mokume::cli_test {
namespace {

constexpr int64_t kRows = 60;

class Arrays : public testing::Test {
 protected:
  Arrays() {
    data::FloatTable rows{kRows, 2, {}}, labels{kRows, 1, {}};
    for (int64_t r = 0; r < kRows; ++r) {
      const auto kind = static_cast<float>(r % 2);
      rows.values.insert(rows.values.end(), {kind + static_cast<float>(r * 37 % 101) / 60, static_cast<float>(r)});
      labels.values.push_back(kind * 7);
    }
    data::write_npy((place_.path() / "x.npy").string(), rows);
    data::write_npy((place_.path() / "y.npy").string(), labels);
  }
  // Returns the file of folds. Of three folds, each validates ten rows, and none validates the other rows.
  static std::string folds(int64_t shift = 0) {
    std::string text;
    for (int64_t r = 0; r < kRows; ++r) text += std::to_string(r < 30 ? (r / 10 + shift) % 3 : -1) + "\n";
    return text;
  }
  Ended run(const std::string& more = "") const {
    place_.write("e.toml",
                 "name = \"a\"\nmodel = \"svc\"\n[data]\nsource = \"npy\"\npath = \"x.npy\"\nlabels = \"y.npy\"\n"
                 "[validation]\nfolds = 3\nfile = \"folds.txt\"\n[search]\nmethod = \"grid\"\n[search.params]\n"
                 "C = [1, 10]\n[model_options]\ngamma_unit = \"scale\"\ngamma = 1.0\n[devices]\nuse = \"host\"\n");
    return place_.mokume("run e.toml " + more);
  }

  Place place_;
};

TEST_F(Arrays, FoldsComeFromTheFile) {
  place_.write("folds.txt", folds());
  const Ended ended = run();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("2 classes"), std::string::npos) << ended.err;
  const std::vector<std::string> rows = lines_of(slurp(place_.run("a") / "results.csv"));
  ASSERT_EQ(rows.size(), 7U) << "two candidates in three folds";
  const std::vector<std::string> names = cells_of(rows[0]);
  const auto n = static_cast<size_t>(std::find(names.begin(), names.end(), "n") - names.begin());
  for (size_t r = 1; r < rows.size(); ++r) EXPECT_EQ(cells_of(rows[r]).at(n), "10");
}

TEST_F(Arrays, OtherFoldsAreAnotherRun) {
  place_.write("folds.txt", folds());
  ASSERT_EQ(run().code, 0);
  const fs::path first = place_.run("a");
  const std::string hash = slurp(first / "summary.json");
  fs::rename(place_.path() / "runs", place_.path() / "before");
  place_.write("folds.txt", folds(1));
  const Ended resumed = place_.mokume("resume before/a/" + first.filename().string());
  EXPECT_NE(resumed.code, 0);
  EXPECT_NE(resumed.err.find("plan"), std::string::npos) << resumed.err;
  ASSERT_EQ(run().code, 0);
  const auto plan_of = [](const std::string& summary) { return summary.substr(summary.find("plan_hash"), 80); };
  EXPECT_NE(plan_of(slurp(place_.run("a") / "summary.json")), plan_of(hash));
}

TEST_F(Arrays, AFoldFileIsCheckedBeforeItIsUsed) {
  place_.write("folds.txt", folds() + "0\n");
  const Ended longer = run();
  EXPECT_EQ(longer.code, 3);
  EXPECT_NE(longer.err.find("'folds.txt' has the folds of 61 rows, but there are 60 training rows"), std::string::npos)
      << longer.err;
  place_.write("folds.txt", folds());
  const Ended fewer = run("--set validation.folds=4");
  EXPECT_EQ(fewer.code, 3);
  EXPECT_NE(fewer.err.find("validation.folds is 4; set it to 3"), std::string::npos) << fewer.err;
}

TEST_F(Arrays, ArraysArePredictedWithAndWithoutLabels) {
  place_.write("folds.txt", folds());
  ASSERT_EQ(run().code, 0);
  const std::string predict = "predict " + place_.run("a").string() + " --devices host --data npy:x.npy";
  const Ended bare = place_.mokume(predict);
  ASSERT_EQ(bare.code, 0) << bare.err;
  EXPECT_EQ(lines_of(bare.out).at(0), "row,predicted,decision_0_vs_7");
  EXPECT_EQ(lines_of(bare.out).size(), 61U);
  const Ended known = place_.mokume(predict + ",labels=y.npy");
  EXPECT_EQ(lines_of(known.out).at(0), "row,predicted,label,decision_0_vs_7");
  EXPECT_NE(known.err.find("of 60"), std::string::npos) << known.err;
}

}  // namespace
}  // namespace mokume::cli_test

// Tests the columns of `mokume predict RUN --data SPEC`: the numbers that decide the classes, as CSV and JSON.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

using nlohmann::ordered_json;

// Returns 90 rows of the classes `names`, spread around the corners of a polygon and close enough to overlap.
std::string clouds(const std::vector<std::string>& names) {
  std::string csv = "a,b,kind\n";
  for (size_t r = 0; r < 90; ++r) {
    const size_t c = r % names.size();
    const double angle = 6.283 * static_cast<double>(c) / static_cast<double>(names.size());
    const double right = static_cast<double>(r * 37 % 101) / 50 - 1, up = static_cast<double>(r * 53 % 97) / 48 - 1;
    csv += std::to_string(std::cos(angle) + right) + "," + std::to_string(std::sin(angle) + up) + "," + names[c] + "\n";
  }
  return csv;
}

const std::vector<std::string> kThree{"ant", "bee", "cat"};
constexpr const char* kNet = R"(model = "cnn"
[model_options]
epochs = 3
batch_size = 30
layers = [{ type = "linear", out_features = 3 }]
)";

// Holds the output for the training rows. Each row maps the names of the columns to their values.
struct Predicted {
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> rows;
  float number(size_t row, const std::string& name) const { return std::stof(rows[row].at(name)); }
};

class Columns : public testing::Test {
 protected:
  // Runs an experiment whose file ends with `more`.
  void train(const std::vector<std::string>& classes, const std::string& more) {
    place_.write("t.csv", clouds(classes));
    place_.write("e.toml",
                 "name = \"c\"\ndevices.use = \"host\"\nvalidation.folds = 0\n"
                 "data = { source = \"csv\", path = \"./t.csv\" }\n" +
                     more);
    const Ended ended = place_.mokume("run e.toml");
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  std::string output(const std::string& more = "") const {
    const Ended ended =
        place_.mokume("predict " + place_.run("c").string() + " --devices host --data csv:./t.csv" + more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  }
  Predicted predicted() const {
    const auto lines = lines_of(output());
    Predicted all{cells_of(lines.at(0)), {}};
    for (size_t r = 1; r < lines.size(); ++r) {
      const auto cells = cells_of(lines[r]);
      EXPECT_EQ(cells.size(), all.names.size()) << lines[r];
      all.rows.emplace_back();
      for (size_t c = 0; c < cells.size(); ++c) all.rows.back()[all.names[c]] = cells[c];
    }
    EXPECT_EQ(all.rows.size(), 90U);
    return all;
  }
  void expect_json_equals_csv() const {
    const Predicted csv = predicted();
    const auto lines = lines_of(output(" --json"));
    ASSERT_EQ(lines.size(), csv.rows.size());
    for (size_t r = 0; r < lines.size(); ++r) {
      const auto object = ordered_json::parse(lines[r]);
      std::vector<std::string> names;
      for (const auto& [name, value] : object.items()) {
        names.push_back(name);
        const std::string& cell = csv.rows[r].at(name);
        if (value.is_string())
          EXPECT_EQ(value.get<std::string>(), cell);
        else
          EXPECT_EQ(value.get<float>(), std::stof(cell)) << name;
      }
      EXPECT_EQ(names, csv.names);
    }
  }

  Place place_;
};

TEST_F(Columns, OfANetworkAreProbabilities) {
  train(kThree, kNet);
  const Predicted all = predicted();
  EXPECT_EQ(all.names, (std::vector<std::string>{"row", "predicted", "label", "probability_ant", "probability_bee",
                                                 "probability_cat"}));
  for (size_t r = 0; r < all.rows.size(); ++r) {
    double sum = 0, largest = 0;
    for (const std::string& name : kThree) {
      const auto p = static_cast<double>(all.number(r, "probability_" + name));
      EXPECT_TRUE(p >= 0 && p <= 1) << p;
      sum += p;
      largest = std::max(largest, p);
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    EXPECT_EQ(static_cast<double>(all.number(r, "probability_" + all.rows[r].at("predicted"))), largest);
  }
  expect_json_equals_csv();
}

// This network is so certain that float32 has no number between its probability and 1.
TEST_F(Columns, OfACertainNetworkAreNeitherOneNorZero) {
  train(kThree, std::string(kNet) + "optimizer = { type = \"sgd\", lr = 30.0 }\n");
  const Predicted all = predicted();
  double largest = 0, smallest = 1;
  for (size_t r = 0; r < all.rows.size(); ++r)
    for (const std::string& name : kThree) {
      const double p = std::stod(all.rows[r].at("probability_" + name));
      largest = std::max(largest, p);
      smallest = std::min(smallest, p);
    }
  EXPECT_EQ(static_cast<float>(largest), 1) << "this test needs a network that is certain";
  EXPECT_LT(largest, 1);
  EXPECT_GT(smallest, 0);
  EXPECT_LT(smallest, 1e-9);
}

TEST_F(Columns, OfTwoClassesAreOneDecisionThatIsPositiveForTheFirst) {
  train({"yes", "no"}, "model = \"svc\"\n");
  const Predicted all = predicted();
  ASSERT_EQ(all.names.back(), "decision_no_vs_yes");
  size_t positive = 0;
  for (size_t r = 0; r < all.rows.size(); ++r) {
    const bool first = all.number(r, "decision_no_vs_yes") > 0;
    EXPECT_EQ(all.rows[r].at("predicted"), first ? "no" : "yes") << r;
    positive += first ? 1 : 0;
  }
  EXPECT_TRUE(positive > 0 && positive < all.rows.size()) << "this test needs both classes";
  expect_json_equals_csv();
}

TEST_F(Columns, OfOneVersusRestAreLargestForTheClass) {
  train(kThree, "model = \"svc\"\nmodel_options.multiclass = \"ovr\"\n");
  const Predicted all = predicted();
  ASSERT_EQ(all.names.size(), 6U);
  for (size_t r = 0; r < all.rows.size(); ++r)
    for (const std::string& name : kThree)
      EXPECT_LE(all.number(r, "decision_" + name + "_vs_rest"),
                all.number(r, "decision_" + all.rows[r].at("predicted") + "_vs_rest"))
          << r;
  expect_json_equals_csv();
}

TEST_F(Columns, OfOneVersusOneGiveTheClassTheMostPairs) {
  train(kThree, "model = \"svc\"\nmodel_options.multiclass = \"ovo\"\n");
  const Predicted all = predicted();
  ASSERT_EQ(all.names.size(), 6U);
  for (size_t r = 0; r < all.rows.size(); ++r) {
    std::map<std::string, int> won;
    for (size_t a = 0; a < 3; ++a)
      for (size_t b = a + 1; b < 3; ++b)
        ++won[all.number(r, "decision_" + kThree[a] + "_vs_" + kThree[b]) > 0 ? kThree[a] : kThree[b]];
    for (const std::string& name : kThree) EXPECT_LE(won[name], won[all.rows[r].at("predicted")]) << r;
  }
  expect_json_equals_csv();
}

TEST_F(Columns, OfAnEnsembleAreSharesOfItsVotes) {
  train(kThree, "model = \"svc\"\nbagging.bootstraps = 5\n");
  const Predicted all = predicted();
  ASSERT_EQ(all.names.size(), 7U);
  size_t split = 0;
  for (size_t r = 0; r < all.rows.size(); ++r) {
    long votes = 0;
    for (const std::string& name : kThree) votes += std::lround(5 * all.number(r, "vote_share_" + name));
    EXPECT_EQ(votes, 5) << r;
    const float share = all.number(r, "vote_share_" + all.rows[r].at("predicted"));
    EXPECT_FLOAT_EQ(5 * share, all.number(r, "votes")) << r;
    split += share < 1 ? 1 : 0;
  }
  EXPECT_GT(split, 0U) << "the members are too alike for this test";
  expect_json_equals_csv();
}

TEST_F(Columns, OfTheFileAreCopiedToTheLeft) {
  place_.write("t.csv", "id,a,b,name,kind\n7,1,1,\"x, y\",ant\n8,2,1,z,bee\n9,1,2,,ant\n10,2,3,w,bee\n");
  place_.write("e.toml",
               "name = \"c\"\nmodel = \"svc\"\ndevices.use = \"host\"\nvalidation.folds = 0\n"
               "data = { source = \"csv\", path = \"./t.csv\", ignore = [\"id\", \"name\"] }\n");
  ASSERT_EQ(place_.mokume("run e.toml").code, 0);
  const auto lines = lines_of(output(" --columns name,id"));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(lines[0].starts_with("row,name,id,predicted,label,")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("0,\"x, y\",7,ant,ant,")) << lines[1];
  EXPECT_TRUE(lines[3].starts_with("2,,9,")) << lines[3];
  const auto object = ordered_json::parse(lines_of(output(" --columns id --columns a --json")).at(3));
  EXPECT_EQ(object["id"], "10");
  EXPECT_EQ(object["a"], "2");
  const auto refused = [&](const std::string& arguments, int code, const std::string& phrase) {
    const Ended ended = place_.mokume("predict " + place_.run("c").string() + " --devices host " + arguments);
    EXPECT_EQ(ended.code, code) << arguments;
    EXPECT_NE(ended.err.find(phrase), std::string::npos) << ended.err;
  };
  refused("--data csv:./t.csv --columns nmae", 3, "has no column 'nmae' to copy; did you mean 'name'?");
  refused("--data csv:./t.csv --columns id,id", 2, "two columns of the output would be called 'id'");
  place_.write("t.libsvm", "1 1:2\n");
  refused("--data libsvm:./t.libsvm --columns id", 2, "leave --columns out");
  EXPECT_EQ(place_.mokume("predict " + place_.run("c").string() + " --columns id").code, 2);
}

TEST_F(Columns, OfStandardInputAreThoseOfTheFile) {
  train(kThree, "model = \"svc\"\n");
  const std::string predict =
      "cat t.csv | " + Place::program() + " predict " + place_.run("c").string() + " --devices host --data ";
  const std::string file = output();
  for (const char* spec : {"-", "csv:-", "-,missing=drop"}) {
    const Ended ended = place_.shell(predict + spec);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, file) << spec;
  }
  EXPECT_EQ(place_.shell("gzip -c t.csv | " + predict.substr(predict.find('|') + 1) + "-").out, file);
  place_.write("rows.txt", "1 1:0.5 2:1\n2 2:1\n");
  const Ended sparse = place_.shell("cat rows.txt | " + predict.substr(predict.find('|') + 1) + "libsvm:-");
  EXPECT_EQ(sparse.code, 0) << sparse.err;
  EXPECT_EQ(lines_of(sparse.out).size(), 3U);
  const auto refused = [&](const std::string& line, int code, const std::string& phrase) {
    const Ended ended = place_.shell(line);
    EXPECT_EQ(ended.code, code) << line;
    EXPECT_NE(ended.err.find(phrase), std::string::npos) << ended.err;
  };
  place_.write("t.csv", "a,b,kind\n1,x,ant\n");
  refused(predict + "-", 3, "standard input, line 2, column 'b': found 'x'");
  refused(predict + "idx:-", 2, "standard input (-) is for the sources csv and libsvm only");
  refused(predict + "csv:t.csv,test=-", 2, "data.test cannot be standard input");
  refused(Place::program() + " data info csv:-", 2, "only `mokume predict` reads standard input");
}

TEST_F(Columns, HaveDifferentNamesWhateverTheClassesAreCalled) {
  train({"a", "b_vs_c", "a_vs_b", "c"}, "model = \"svc\"\nmodel_options.multiclass = \"ovo\"\n");
  std::vector<std::string> names = predicted().names;
  EXPECT_NE(std::find(names.begin(), names.end(), "decision_a_vs_b_vs_c_0_2"), names.end());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

// The shell writes the third row only after the answer to the second.
TEST_F(Columns, OfAStreamAreAnsweredAsTheyArrive) {
  train(kThree, "model = \"svc\"\n");
  const std::string file = output();
  const std::string predict =
      Place::program() + " predict " + place_.run("c").string() + " --devices host --stream --data ";
  const Ended ended = place_.shell(
      "touch answers; (sed -n 1,3p t.csv; for i in $(seq 600); do [ $(wc -l < answers) -ge 3 ] && break; sleep 0.1; "
      "done; [ $(wc -l < answers) -ge 3 ] && sed '1,3d' t.csv) | " +
      predict + "csv:- > answers; cat answers");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, file);
  const auto refused = [&](const std::string& line, int code, const std::string& phrase) {
    const Ended refusal = place_.shell(line);
    EXPECT_EQ(refusal.code, code) << line;
    EXPECT_NE(refusal.err.find(phrase), std::string::npos) << refusal.err;
  };
  refused(predict + "csv:t.csv", 2, "write --data csv:-");
  refused("cat t.csv | " + predict + "csv:-,missing=drop", 2, "--stream answers every row");
  refused("gzip -c t.csv | " + predict + "csv:-", 3, "is compressed; send it through gunzip");
}

}  // namespace
}  // namespace mokume::cli_test

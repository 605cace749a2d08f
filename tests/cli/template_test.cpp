// Tests that the template model fulfils the requirements of docs/extend/add-model.md.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

std::string experiment() {
  return "name = \"t\"\nmodel = \"template\"\nseed = 7\ndata = { source = \"digits\", limit = 600, standardize = { "
         "mean = 127.5, scale = 73.61 } }\nvalidation.folds = 3\n[search]\nmethod = \"grid\"\n[search.params]\n"
         "shrink = [0.0, 0.5, 0.9]\n";
}

TEST(Template, LearnsPredictsAndIsProfiled) {
  const Place place;
  place.write("e.toml", experiment());
  const Ended run = place.mokume("run e.toml --devices host --profile");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("\ntrain "), std::string::npos) << run.err;
  const auto summary = nlohmann::json::parse(slurp(place.run("t") / "summary.json"));
  EXPECT_LT(summary["test"]["error"], 0.35);  // guessing gives 0.9
  EXPECT_GT(summary["test"]["error"], 0.0);
  const std::string path = place.run("t").string();
  const Ended predicted = place.mokume("predict " + path + " --data digits,limit=50 --devices host");
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(std::count(predicted.out.begin(), predicted.out.end(), '\n'), 51);
  place.write("other.csv", "a,b,label\n1,2,0\n");
  EXPECT_EQ(place.mokume("predict " + path + " --data csv:./other.csv --devices host").code, 3);
}

TEST(Template, OneDeviceAndTwoWriteTheSameBytes) {
  if (!have("mpirun")) GTEST_SKIP() << "mpirun is missing: install openmpi-bin";
  const Place one, two;
  one.write("e.toml", experiment());
  two.write("e.toml", experiment());
  ASSERT_EQ(one.mokume("run e.toml --devices host").code, 0);
  const Ended both = two.shell(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -np "
      "2 " +
      Place::program() + " run e.toml --devices host");
  ASSERT_EQ(both.code, 0) << both.err;
  for (const char* file : {"results.csv", "models/best/model.json"})
    EXPECT_EQ(slurp(one.run("t") / file), slurp(two.run("t") / file)) << file;
}

TEST(Template, ErrorsAreReportedInSentences) {
  const Place place;
  place.write("e.toml", experiment());
  EXPECT_EQ(place.mokume("run e.toml --set search.params.shrink=[2]").code, 2);
  ASSERT_EQ(place.mokume("run e.toml --devices host").code, 0);
  const fs::path model = place.run("t") / "models/best/model.json";
  for (const char* bad : {"", "{}", "[1", R"({"features":3,"classes":["a"],"means":[1,2],"scaling":[[],[]]})",
                          R"({"features":-3,"classes":[],"means":[],"scaling":[[],[]]})",
                          R"({"features":2,"classes":["a"],"means":[1,2],"scaling":[[1,2,3],[1]]})"}) {
    std::ofstream(model, std::ios::binary) << bad;
    const Ended ended = place.mokume("predict " + place.run("t").string() + " --data digits --devices host");
    EXPECT_EQ(ended.code, 3) << bad << ended.err;
    EXPECT_NE(ended.err.find("model.json is damaged"), std::string::npos) << bad << ended.err;
  }
}

}  // namespace
}  // namespace mokume::cli_test

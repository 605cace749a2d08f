// Tests that a model predicts without its run, because its directory holds all that predictions need.
#include <gtest/gtest.h>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

constexpr const char* kAlone = R"(name = "a"
model = "svc"
devices.use = "host"
validation.folds = 0
[data]
source = "csv"
path = "./t.csv"
target = "kind"
categorical = ["town"]
ignore = ["id"]
missing = "mean"
standardize = "features"
)";

std::string table_with_gaps() {
  std::string csv = "id,x,town,kind\n";
  for (int r = 0; r < 40; ++r)
    csv += std::to_string(r) + "," + (r % 7 == 0 ? "" : std::to_string(r % 2 == 0 ? r : 100 + r)) + "," +
           (r % 3 == 0 ? "rome" : "oslo") + (r % 2 == 0 ? ",low\n" : ",high\n");
  return csv;
}

TEST(ModelAlone, PredictsWhatItsRunPredicts) {
  const Place place, elsewhere;
  place.write("t.csv", table_with_gaps());
  place.write("e.toml", kAlone);
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  const fs::path run = place.run("a");
  place.write("new.csv", "town,x,id\nrome,3,1\noslo,,2\nparis,130,3\n");
  elsewhere.write("new.csv", slurp(place.path() / "new.csv"));
  const Ended with = place.mokume("predict " + run.string() + " --data csv:new.csv --devices host");
  ASSERT_EQ(with.code, 0) << with.err;
  fs::copy(run / "models/best", elsewhere.path() / "model", fs::copy_options::recursive);
  const Ended alone = elsewhere.mokume("predict model --data csv:new.csv --devices host");
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(alone.out, with.out);
}

TEST(ModelAlone, DamageIsNamed) {
  const Place place;
  place.write("t.csv", table_with_gaps());
  place.write("e.toml", kAlone);
  ASSERT_EQ(place.mokume("run e.toml").code, 0);
  fs::copy(place.run("a") / "models/best", place.path() / "model", fs::copy_options::recursive);
  const std::string inputs = slurp(place.path() / "model/inputs.json");
  place.write("model/inputs.json", "x" + inputs);
  const Ended damaged = place.mokume("predict model --data csv:t.csv --devices host");
  EXPECT_EQ(damaged.code, 3);
  EXPECT_NE(damaged.err.find("inputs.json is damaged"), std::string::npos) << damaged.err;
  place.write("model/inputs.json", inputs);
  place.write("model/manifest.json", "{}");
  const Ended cut = place.mokume("predict model --data csv:t.csv --devices host");
  EXPECT_EQ(cut.code, 3);
  EXPECT_NE(cut.err.find("restore the model's files"), std::string::npos) << cut.err;
}

}  // namespace
}  // namespace mokume::cli_test

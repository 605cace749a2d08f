// Tests networks that learn vectors for columns of codes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"

namespace mokume::cli_test {
namespace {

// Returns rows whose class depends on a pair of codes, and not on the number in the first column.
std::string coded_rows(int rows, const std::string& last = "") {
  std::string text = "x,shop,product,sold\n";
  for (int r = 0; r < rows; ++r) {
    const int shop = r * 7 % 5, product = r / 5 % 4;
    text += std::to_string(r % 3) + "," + std::to_string(shop) + "," + std::to_string(product) + "," +
            ((shop + product) % 2 == 0 ? "yes" : "no") + "\n";
  }
  return text + last;
}

std::string coded(const std::string& layer, const std::string& data = "path = \"./rows.csv\"") {
  return "name = \"coded\"\nmodel = \"cnn\"\nseed = 1\ndevices.use = \"host\"\nvalidation.share = 0.25\n"
         "data = { source = \"csv\", " +
         data +
         " }\n[model_options]\nepochs = 30\nbatch_size = 20\noptimizer = { type = \"adam\", lr = 0.02 }\n"
         "layers = [{ type = \"embedding\", " +
         layer +
         " }, { type = \"linear\", out_features = 16 }, { type = \"relu\" }, { type = \"linear\", out_features = 2 "
         "}]\n";
}

TEST(Embedding, LearnsFromCodes) {
  const Place place;
  place.write("rows.csv", coded_rows(400));
  place.write("e.toml", coded("vocabulary = 5, size = 3, first = 1"));
  const Ended dry = place.mokume("run e.toml --dry-run");
  EXPECT_TRUE(has(dry.err, "[0] embedding             7                 30")) << dry.err;
  const Ended run = place.mokume("run e.toml");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto best = nlohmann::json::parse(slurp(place.run("coded") / "summary.json"))["best"];
  EXPECT_LT(best["mean"], 0.05);
  // A new row with an unknown code is refused, and not answered.
  place.write("new.csv", coded_rows(3, "0,5,1,yes\n"));
  const Ended predicted =
      place.mokume("predict " + place.run("coded").string() + " --data csv:./new.csv --devices host");
  EXPECT_EQ(predicted.code, 3);
  EXPECT_TRUE(has(predicted.err,
                  "layer 0 (embedding) reads 5 in column 1 of row 3, and its codes are whole numbers from "
                  "0 to 4"))
      << predicted.err;
  const Ended exported = place.mokume("export " + place.run("coded").string() + " --onnx coded.onnx");
  EXPECT_EQ(exported.code, 0) << exported.err;
}

TEST(Embedding, RefusesWhatIsNoCodeBeforeTheTraining) {
  const Place place;
  place.write("rows.csv", coded_rows(100));
  const auto refused = [&](const std::string& text, int code, const std::string& why) {
    place.write("e.toml", text);
    const Ended run = place.mokume("run e.toml");
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_TRUE(has(run.err, why)) << run.err;
  };
  refused(coded("vocabulary = 4, size = 3, first = 1"), 3,
          "layer 0 (embedding) reads 4 in column 1 of row 2, and its codes are whole numbers from 0 to 3: raise "
          "vocabulary, or set data.standardize to none");
  refused(coded("vocabulary = 5, size = 3, first = 1", "path = \"./rows.csv\", standardize = \"features\""), 3,
          "(embedding) reads -1.41421 in column 1 of row 0");
  refused(coded("vocabulary = 5, size = 3, first = 2, columns = 2"), 2,
          "layers[0] (embedding): its input has 3 columns, but the codes end with column 3; lower first or columns");
  std::string second = coded("vocabulary = 5, size = 3, first = 1");
  second.replace(second.find("[{"), 1, "[{ type = \"batch_norm\" }, ");
  refused(second, 2,
          "layers[1] (embedding): it needs the codes of the data, but another layer comes before; put it first");
}

}  // namespace
}  // namespace mokume::cli_test

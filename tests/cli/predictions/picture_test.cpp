// Tests the output of `mokume predict RUN IMAGE` and of ensembles, for one picture and for rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "data/dataset.hpp"
#include "data/load.hpp"
#include "data/pictures.hpp"

namespace mokume::cli_test {
namespace {

using data::Canvas;
using nlohmann::json;

std::string svm_experiment() {
  return "name = \"svm\"\nmodel = \"svc\"\ndata = { source = \"digits\", standardize = { mean = 127.5, scale = 73.61 } "
         "}\n"
         "validation.folds = 0\n[model_options]\nC = 10\ngamma = 0.00316\n[devices]\nuse = \"host\"\n";
}

std::string net_experiment(int seed) {
  return "name = \"net" + std::to_string(seed) + "\"\nmodel = \"cnn\"\nseed = " + std::to_string(seed) +
         R"(
data = { source = "digits", standardize = { mean = 0, scale = 255 } }
validation.folds = 0
devices.use = "host"
[model_options]
epochs = 3
batch_size = 25
optimizer = { type = "adam", lr = 0.005 }
[[model_options.layers]]
type = "flatten"
[[model_options.layers]]
type = "linear"
out_features = 40
[[model_options.layers]]
type = "relu"
[[model_options.layers]]
type = "linear"
out_features = 10
)";
}

const data::Dataset& digits() {
  static const data::Dataset kDigits = [] {
    data::DataSpec spec;
    spec.source = "digits";
    return data::load(spec);
  }();
  return kDigits;
}

// Draws a row of the test set like a person: dark on white, each pixel as a 12 x 12 square, on a larger page.
Canvas drawn(size_t row) {
  Canvas page(500, 420, 255);
  for (uint32_t y = 0; y < 28; ++y)
    for (uint32_t x = 0; x < 28; ++x)
      page.fill(110 + 12 * x, 20 + 12 * y, 12, 12, 255 - static_cast<int>(digits().test.x[row * 784 + y * 28 + x]));
  return page;
}

std::string label_of(size_t row) { return digits().class_names[static_cast<size_t>(digits().test.labels[row])]; }

class PictureRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    runs_ = new Place;
    runs_->write("svm.toml", svm_experiment());
    ASSERT_EQ(runs_->mokume("run svm.toml").code, 0);
    for (const int seed : {1, 2, 3}) {
      runs_->write("net.toml", net_experiment(seed));
      ASSERT_EQ(runs_->mokume("run net.toml").code, 0);
    }
    // Like a bagging run, the ensemble has three members and no best model.
    ensemble_ = runs_->path() / "ensemble";
    fs::copy(runs_->run("net1"), ensemble_, fs::copy_options::recursive);
    fs::remove_all(ensemble_ / "models/best");
    for (const int seed : {1, 2, 3})
      fs::copy(runs_->run("net" + std::to_string(seed)) / "models/best",
               ensemble_ / "models" / ("member-00" + std::to_string(seed - 1)), fs::copy_options::recursive);
  }
  static void TearDownTestSuite() {
    delete runs_;
    runs_ = nullptr;
  }
  static std::string run(const std::string& name) { return runs_->run(name).string(); }
  Ended predict(const std::string& run, const std::string& arguments) const {
    return place_.mokume("predict " + run + " --devices host " + arguments);
  }
  void expect(const Ended& ended, int code, const std::vector<std::string>& phrases) const {
    EXPECT_EQ(ended.code, code) << ended.err;
    for (const std::string& phrase : phrases) EXPECT_NE(ended.err.find(phrase), std::string::npos) << ended.err;
  }

  Place place_;
  static Place* runs_;
  static fs::path ensemble_;
};
Place* PictureRun::runs_ = nullptr;
fs::path PictureRun::ensemble_;

TEST_F(PictureRun, ADrawnDigitGetsItsLabel) {
  for (const size_t row : {0U, 1U, 2U}) {
    place_.write("a.png", drawn(row).png_file());
    const Ended ended = predict(run("svm"), "a.png --svg a.svg");
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out.find("vote: " + label_of(row) + "\n"), 0U) << row << ended.out << ended.err;
    EXPECT_NE(ended.err.find("a.png: 500 x 420 grey; inverted, cropped to "), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("the model's 784 features are interpreted as 28 x 28 pixels"), std::string::npos)
        << ended.err;
    EXPECT_NE(ended.err.find("@"), std::string::npos) << "the preview" << ended.err;
    EXPECT_NE(slurp(place_.path() / "a.svg").find("vote: " + label_of(row)), std::string::npos);
  }
}

TEST_F(PictureRun, AnEnsembleShowsVotesSpreadAndDisagreement) {
  place_.write("a.jpg", data::jpeg(500, 420, 1, drawn(0).bytes));
  const Ended text = predict(ensemble_, "a.jpg");
  ASSERT_EQ(text.code, 0) << text.err;
  for (const char* phrase :
       {" of 3 members)\n", "mean certainty: 0.", "(sd 0.", "entropy of the mean: ", "mutual information: ", "\n> "})
    EXPECT_NE(text.out.find(phrase), std::string::npos) << phrase << text.out;
  EXPECT_EQ(text.err.find("are interpreted as"), std::string::npos) << "the network knows its input" << text.err;
  const json all = json::parse(predict(ensemble_, "a.jpg --json").out);
  EXPECT_EQ(all["members"], 3);
  EXPECT_EQ(all["certainty"].size(), 3U);
  double sum = 0;
  for (const json& p : all["certainty"][1]) {
    EXPECT_GT(p, 0) << "probabilities, not votes";
    sum += p.get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_NE(all["certainty"][0], all["certainty"][1]);
  EXPECT_GT(all["mutual_information"], 0);
  const json one = json::parse(predict(run("svm"), "a.jpg --json").out);
  EXPECT_EQ(one["certainty"][0][static_cast<size_t>(digits().test.labels[0])], 1) << "a vote counts as certain";
}

TEST_F(PictureRun, UncertaintyIsComparedWithTheTestRows) {
  place_.write("a.png", drawn(0).png_file());
  const fs::path run = place_.path() / "voted";
  fs::copy(ensemble_, run, fs::copy_options::recursive);
  const auto below = [&](int members, const std::string& doubt) -> json {
    place_.write("voted/models/vote.json", "{\"members\":" + std::to_string(members) +
                                               ",\"n\":4,\"errors\":1,\"classes\":[\"0\"],\"doubt\":" + doubt +
                                               ",\"exemplars\":[]}");
    const Ended ended = predict("voted", "a.png --json");
    EXPECT_EQ(ended.code, 0) << ended.err;
    const json all = json::parse(ended.out);
    return all.contains("test_rows_below") ? all["test_rows_below"] : json();
  };
  EXPECT_EQ(below(3, "[0,0,0,9]"), 0.75);
  const Ended text = predict("voted", "a.png");
  EXPECT_NE(text.out.find("\n  75 % of the test rows have less (median 0.000)\n"), std::string::npos) << text.out;
  EXPECT_EQ(below(2, "[0,0,0,9]"), json()) << "of other members";
  for (const char* odd : {"[]", "[9,0]", "7", "[\"a\"]"}) EXPECT_EQ(below(3, odd), json()) << odd;
}

TEST_F(PictureRun, APictureThatIsNotADigitGetsAnAnswerToo) {
  Canvas board(280, 280, 0);
  for (uint32_t i = 0; i < 64; ++i)
    if ((i / 8 + i % 8) % 2 == 0) board.fill(35 * (i % 8), 35 * (i / 8), 35, 35, 255);
  std::string noise;
  for (uint32_t i = 0; i < 90 * 70 * 3; ++i) noise += static_cast<char>(i * 2654435761U >> 24);
  for (const std::string& file :
       {board.png_file(), data::jpeg(90, 70, 3, noise), Canvas(1, 1, 7).png_file(), Canvas(300, 200, 255).png_file()}) {
    place_.write("a.png", file);
    const Ended ended = predict(ensemble_, "a.png --json");
    ASSERT_EQ(ended.code, 0) << ended.err;
    const json all = json::parse(ended.out);
    EXPECT_GE(all["entropy"], all["mutual_information"]);
    EXPECT_LE(all["entropy"], 2.3026) << "log(10)";
    EXPECT_GE(all["mutual_information"], 0);
  }
}

TEST_F(PictureRun, RowsArePredictedByMajority) {
  const std::string data = "--data digits,test=own,limit=200";
  std::vector<std::vector<std::string>> alone;
  for (const char* name : {"net1", "net2", "net3"}) {
    const Ended one = predict(run(name), data);
    ASSERT_EQ(one.code, 0) << one.err;
    EXPECT_TRUE(one.out.starts_with("row,predicted,label,probability_0,")) << one.out;
    alone.push_back(lines_of(one.out));
  }
  const Ended voted = predict(ensemble_, data);
  ASSERT_EQ(voted.code, 0) << voted.err;
  EXPECT_NE(voted.err.find("errors of the 3 individual members: "), std::string::npos) << voted.err;
  const auto lines = lines_of(voted.out);
  EXPECT_TRUE(lines[0].starts_with("row,predicted,label,votes,vote_share_0,")) << lines[0];
  size_t differ = 0, row = 1;
  for (; row < lines.size(); ++row) {
    const auto cells = cells_of(lines[row]);
    size_t votes = 0;
    for (const auto& one : alone) votes += cells_of(one[row])[1] == cells[1] ? 1 : 0;
    EXPECT_EQ(cells[3], std::to_string(votes)) << lines[row];
    const auto class_of = [&](size_t member) { return cells_of(alone[member][row])[1]; };
    EXPECT_GE(votes, class_of(0) == class_of(1) || class_of(1) == class_of(2) ? 2U : 1U) << lines[row];
    for (size_t c = 0; c < 10; ++c) {
      const auto says = [&](const auto& one) { return cells_of(one[row])[1] == std::to_string(c); };
      EXPECT_EQ(std::lround(3 * std::stof(cells[4 + c])), std::count_if(alone.begin(), alone.end(), says))
          << lines[row];
    }
    differ += votes < 3 ? 1 : 0;
  }
  EXPECT_EQ(row, 201U);
  EXPECT_GT(differ, 0U) << "the members are too alike for this test";
}

TEST_F(PictureRun, AMissingMemberIsReportedAndAnUnlikeOneRefused) {
  place_.write("a.png", drawn(0).png_file());
  const fs::path run = place_.path() / "some";
  fs::copy(ensemble_, run, fs::copy_options::recursive);
  fs::remove_all(run / "models/member-000");
  fs::create_directories(run / "models/member-001.new");
  rewrite(run / "run.json", "\"done\"", "\"stopped\"");
  const Ended two = predict("some", "a.png");
  expect(two, 0, {"some is not finished: using the 2 members that it has"});
  EXPECT_NE(two.out.find(" of 2 members)"), std::string::npos) << two.out;
  fs::remove(run / "models/member-002/SHA256SUMS");  // otherwise the program would report a changed file
  std::string manifest = slurp(run / "models/member-002/manifest.json");
  manifest.replace(manifest.find("255"), 3, "254");
  place_.write("some/models/member-002/manifest.json", manifest);
  expect(predict("some", "a.png"), 3, {"models/member-002 differ from those of", "member-001"});
  fs::remove(run / "models/member-002/manifest.json");
  expect(predict("some", "a.png"), 3, {"member-002", "trains the model again"});
}

TEST_F(PictureRun, BadPicturesAreReportedInSentences) {
  const std::string whole = drawn(0).png_file();
  place_.write("cut.png", whole.substr(0, whole.size() / 2));
  expect(predict(run("svm"), "cut.png"), 3, {"'cut.png' is a damaged or truncated PNG file"});
  place_.write("text.png", "hello");
  expect(predict(run("svm"), "text.png"), 3, {"'text.png' is neither a PNG nor a JPEG file"});
  expect(predict(run("svm"), "gone.png"), 3, {"'gone.png'"});
  expect(predict(run("svm"), ""), 2, {"name either an IMAGE (a PNG or JPEG file) or rows with --data SPEC"});
  EXPECT_EQ(predict(run("svm"), "a.png --data digits").code, 2);
  expect(predict("nowhere", "a.png"), 2, {"there is no such directory"});
  place_.write("a.png", whole);
  expect(predict(run("svm"), "a.png --svg no/such.svg"), 2, {"cannot write 'no/such.svg'"});
}

TEST_F(PictureRun, ManyPicturesAndFoldersGiveARowEach) {
  fs::create_directories(place_.path() / "many");
  place_.write("z.png", drawn(0).png_file());
  place_.write("many/b.JPG", data::jpeg(500, 420, 1, drawn(1).bytes));
  place_.write("many/a.png", drawn(2).png_file());
  place_.write("many/notes.txt", "no picture");
  const Ended ended = predict(run("net1"), "z.png many/");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("notes.txt"), std::string::npos) << ended.err;
  const auto lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), 4U) << ended.out;
  EXPECT_TRUE(lines[0].starts_with("file,predicted,probability_0,probability_1,")) << lines[0];
  const std::vector<std::pair<std::string, size_t>> wanted{{"z.png", 0}, {"many/a.png", 2}, {"many/b.JPG", 1}};
  for (size_t r = 0; r < wanted.size(); ++r) {
    const auto& [file, row] = wanted[r];
    const auto cells = cells_of(lines[r + 1]);
    EXPECT_EQ(cells[0], file);
    const json alone = json::parse(predict(run("net1"), file + " --json").out);
    EXPECT_EQ(cells[1], alone["vote"].get<std::string>());
    for (size_t c = 0; c < 10; ++c) EXPECT_NEAR(std::stod(cells[2 + c]), alone["mean"][c].get<double>(), 1e-6) << file;
  }
  const auto objects = lines_of(predict(run("net1"), "z.png many --json").out);
  ASSERT_EQ(objects.size(), 3U);
  EXPECT_EQ(json::parse(objects[1])["file"], "many/a.png");
  EXPECT_EQ(json::parse(objects[1])["predicted"], cells_of(lines[2])[1]);
  const auto votes = lines_of(predict(ensemble_, "many").out);
  EXPECT_TRUE(votes.at(0).starts_with("file,predicted,votes,vote_share_0,")) << votes.at(0);
  expect(predict(run("net1"), "many --svg a.svg"), 2, {"--svg draws one picture"});
}

TEST_F(PictureRun, PicturesThatCannotBeReadAreNamedAndTheOthersPredicted) {
  fs::create_directories(place_.path() / "many");
  fs::create_directories(place_.path() / "empty");
  const std::string whole = drawn(0).png_file();
  place_.write("many/a.png", whole.substr(0, whole.size() / 2));
  place_.write("many/b.png", whole);
  fs::create_symlink("nowhere.png", place_.path() / "many/c.png");
  place_.write("d.png", whole);
  const Ended ended = predict(run("svm"), "gone.png many empty d.png");
  expect(ended, 3,
         {"cannot read 'gone.png'", "'many/a.png' is a damaged or truncated PNG file", "cannot read 'many/c.png'",
          "'empty' holds no .png, .jpg or .jpeg files",
          "4 pictures or folders could not be read; 2 other pictures are predicted"});
  const auto lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), 3U) << ended.out;
  EXPECT_TRUE(lines[1].starts_with("many/b.png," + label_of(0) + ",")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("d.png," + label_of(0) + ",")) << lines[2];
}

TEST_F(PictureRun, RunsThatCannotReadPicturesAreReportedInSentences) {
  place_.write("a.png", drawn(0).png_file());
  place_.write("t.csv", "a,b,c,label\n1,2,3,x\n2,1,3,y\n1,2,4,x\n2,1,4,y\n");
  place_.write("e.toml",
               "name = \"t\"\nmodel = \"svc\"\ndata = { source = \"csv\", path = \"./t.csv\" }\n"
               "validation.folds = 0\ndevices.use = \"host\"\n");
  ASSERT_EQ(place_.mokume("run e.toml").code, 0);
  const std::string table = place_.run("t").string();
  expect(predict(table, "a.png"), 2,
         {"takes rows of 3 features, which are not an image: predict rows with --data SPEC"});
  fs::remove_all(place_.run("t") / "models/best");
  expect(predict(table, "a.png"), 2, {"holds no model yet: finish the run with `mokume resume "});
}

TEST(VoteOfABaggingRun, MatchesThePredictionsOfTheTestRows) {
  const Place place;
  place.write("e.toml",
              "name = \"bag\"\nmodel = \"svc\"\nseed = 3\ndata = { source = \"digits\", limit = 200, standardize = "
              "\"features\" }\nbagging.bootstraps = 4\nvalidation.folds = 0\ndevices.use = \"host\"\n"
              "model_options = { C = 10, gamma = 0.001 }\n");
  const Ended run = place.mokume("run e.toml");
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string path = place.run("bag").string();
  const Ended said = place.mokume("predict " + path + " --data digits,test=own --devices host");
  ASSERT_EQ(said.code, 0) << said.err;
  const json summary = json::parse(slurp(place.run("bag") / "summary.json"));
  EXPECT_EQ(said.err.find("errors: " + summary["test"]["errors"].dump() + " of 1000\n"), 0U) << said.err;
  place.write("a.png", drawn(0).png_file());
  const Ended picture = place.mokume("predict " + path + " a.png --devices host");
  EXPECT_NE(picture.out.find(" of 4 members)\n"), std::string::npos) << picture.out << picture.err;
}

TEST(NumbersOfAnEnsemble, AreTheMeanAndTheSpread) {
  const Place place;
  place.write("train.csv", "a,y\n1,5.0\n2,6.0\n3,5.5\n4,5.25\n5,5.75\n6,5.5\n");
  for (const char* shift : {"0", "1", "2"}) {
    place.write("e.toml", std::string("name = \"s") + shift + "\"\nmodel = \"mean\"\nplugins.directories = [\"" +
                              test_library() + "\"]\ndevices.use = \"host\"\nvalidation.folds = 0\n" +
                              "data = { source = \"csv\", path = \"./train.csv\" }\nmodel_options.shift = " + shift);
    ASSERT_EQ(place.mokume("run e.toml").code, 0);
  }
  const fs::path run = place.run("s0");
  for (const char* shift : {"0", "1", "2"})
    fs::copy(place.run(std::string("s") + shift) / "models/best", run / "models" / (std::string("member-00") + shift),
             fs::copy_options::recursive);
  place.write("new.csv", "a,y\n3,6.0\n9,8.0\n");
  const Ended said = place.mokume("predict --plugins " + test::shell_word(test_library()) + " " + run.string() +
                                  " --data csv:./new.csv --devices host");
  EXPECT_EQ(said.out, "row,predicted,target,sd\n0,6.5,6,1\n1,6.5,8,1\n") << said.err;
  EXPECT_NE(said.err.find("mse: 1.25 of 2"), std::string::npos) << said.err;
  place.write("a.png", Canvas(9, 9, 5).png_file());
  const Ended picture = place.mokume("predict --plugins " + test::shell_word(test_library()) + " " + run.string() +
                                     " a.png --devices host");
  EXPECT_EQ(picture.code, 2);
  EXPECT_NE(picture.err.find("predicts numbers, but a picture requires a classifier"), std::string::npos);
}

}  // namespace
}  // namespace mokume::cli_test

#include <cmath>

#include "base/files.hpp"
#include "data/input.hpp"
#include "data/load.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;
using Ints = std::vector<int32_t>;

class Load : public DataTest {
 protected:
  // Writes four IDX files with 2 + 1 one-pixel images.
  void write_idx_set(const std::string& directory) const {
    write(directory + "/train-images-idx3-ubyte", idx({2, 1, 1}, "\x05\x06"));
    write(directory + "/train-labels-idx1-ubyte", idx({2}, "\x04\x02"));
    write(directory + "/t10k-images-idx3-ubyte", idx({1, 1, 1}, "\x07"));
    write_gz(directory + "/t10k-labels-idx1-ubyte.gz", idx({1}, "\x02"));
  }
};

TEST_F(Load, WholeNumbersAreClassesInNumericOrder) {
  const Dataset data = load(spec("libsvm", write("wine.txt", "10 1:1\n-1 1:2\n9 1:3\n10 1:4\n")));
  EXPECT_EQ(data.name, "wine");
  EXPECT_EQ(data.class_names, (Names{"-1", "9", "10"}));
  EXPECT_EQ(data.train.labels, (Ints{2, 0, 1, 2}));
  EXPECT_TRUE(data.train.targets.empty());
  EXPECT_EQ(data.test.rows, 0);
  EXPECT_EQ(data.test.features, 1);
  EXPECT_EQ(data.sha256.size(), 64U);
}

TEST_F(Load, FractionsAndManyDistinctNumbersAreTargets) {
  const Dataset data = load(spec("libsvm", write("a", "1 1:1\n2.5 1:2\n")));
  EXPECT_TRUE(data.class_names.empty());
  EXPECT_TRUE(data.train.labels.empty());
  EXPECT_EQ(data.train.targets, (std::vector<float>{1, 2.5F}));
  std::string prices = "a,price\n";
  for (int i = 0; i < 1001; ++i) prices += "1," + std::to_string(1000 + i) + ".0\n";
  EXPECT_EQ(load(spec("csv", write("p.csv", prices))).train.targets.size(), 1001U);
  prices.resize(prices.rfind("1,"));
  const Dataset classes = load(spec("csv", write("p.csv", prices)));
  EXPECT_EQ(classes.class_names.size(), 1000U);
  EXPECT_EQ(classes.notes.back(),
            "the targets are 1000 classes (classification) of few rows each; if they are numbers to predict, set "
            "data.task to \"regression\"");
}

TEST_F(Load, RowsToAcceptMayBeTheOnlyTrainingRows) {
  DataSpec one = spec("libsvm", write("normal", "+1 1:1\n1 1:2\n"), write("both", "1 1:1\n-1 1:9\n"));
  one.task = "one_class";
  const Dataset data = load(one);
  EXPECT_EQ(data.class_names, (Names{"-1", "1"}));
  EXPECT_EQ(data.train.labels, (Ints{1, 1}));
  EXPECT_EQ(data.test.labels, (Ints{1, 0}));
  one.path = write("two", "1 1:1\n2 1:2\n");
  expect_error(MK_BAD_DATA, {"line 2: the label '2' is neither 1, for a row to accept, nor -1"}, [&] { load(one); });
  one.source = "csv";
  one.path = write("words.csv", "a,y\n1,normal\n2,1\n");
  one.test = "";
  expect_error(MK_BAD_DATA, {"the label 'normal' is neither 1"}, [&] { load(one); });
}

TEST_F(Load, TextLabelsAreClassesInOrder) {
  const Dataset data = load(spec("csv", write("a.csv", "a,y\n1,b\n2,a\n3,10\n"), write("t.csv", "y,a\n10,1\nb,2\n")));
  EXPECT_EQ(data.class_names, (Names{"10", "a", "b"}));
  EXPECT_EQ(data.train.labels, (Ints{2, 1, 0}));
  EXPECT_EQ(data.test.labels, (Ints{0, 2})) << "columns go by name";
  ASSERT_EQ(data.columns.size(), 1U);
  EXPECT_EQ(data.columns[0].name, "a");
}

TEST_F(Load, TheLimitDoesNotRenumberClasses) {
  DataSpec s = spec("libsvm", write("a", "3 1:1\n1 1:2\n2 1:3\n"), write("t", "2 1:1\n"));
  s.limit = 1;
  const Dataset data = load(s);
  EXPECT_EQ(data.class_names, (Names{"1", "2", "3"}));
  EXPECT_EQ(data.train.labels, Ints{2});
  EXPECT_EQ(data.test.labels, Ints{1});
  s.limit = 100;
  EXPECT_EQ(load(s).train.rows, 3);
  EXPECT_NE(load(s).sha256, data.sha256);
}

TEST_F(Load, TheTestSetMustFitTheTrainingSet) {
  const std::string train = write("a", "1 1:1\n2 2:2\n");
  expect_error(MK_BAD_DATA, {path("t"), "line 2", "label '3'", "training set"},
               [&] { load(spec("libsvm", train, write("t", "1 1:1\n3 1:1\n"))); });
  expect_error(MK_BAD_DATA, {path("t"), "line 2, column 7", "'3'", "2 features", "data.test"}, [&] {
    load_for_prediction(spec("libsvm", train, write("t", "1 1:1\n1 1:1 3:1\n")), {{"1", "2"}, {}, {}, 2});
  });
  expect_error(MK_BAD_DATA, {path("t"), "label '1.5'"}, [&] { load(spec("libsvm", train, write("t", "1.5 1:1\n"))); });
  const std::string prices = write("a.csv", "a,y\n1,0.5\n");
  expect_error(MK_BAD_DATA, {path("t.csv"), "line 3", "'cheap'", "not a number"},
               [&] { load(spec("csv", prices, write("t.csv", "a,y\n1,2\n1,cheap\n"))); });
  EXPECT_EQ(load(spec("libsvm", train, write("t", "1 1:3\n"))).test.x, (std::vector<float>{3, 0}));
}

TEST_F(Load, ScalingDoesNotChangeTheHash) {
  DataSpec s = spec("libsvm", write("a", "1 1:1\n2 1:3\n"), write("t", "2 1:5\n"));
  const Dataset plain = load(s);
  s.standardize.kind = Standardize::Kind::features;
  const Dataset scaled = load(s);
  EXPECT_EQ(scaled.train.x, (std::vector<float>{-1, 1}));
  EXPECT_EQ(scaled.test.x, std::vector<float>{3});
  EXPECT_EQ(scaled.mean, std::vector<double>{2});
  EXPECT_EQ(scaled.sha256, plain.sha256);
  s.limit = 1;
  EXPECT_EQ(load(s).mean, std::vector<double>{1}) << "of the rows kept";
}

TEST_F(Load, IdxTakesADirectoryOrItsFiles) {
  write_idx_set("shapes");
  for (const std::string& train : {path("shapes"), path("shapes/train-images-idx3-ubyte")}) {
    const Dataset data = load(spec("idx", train, path("shapes/t10k-images-idx3-ubyte")));
    EXPECT_EQ(data.class_names, (Names{"2", "4"}));
    EXPECT_EQ(data.train.labels, (Ints{1, 0}));
    EXPECT_EQ(data.test.x, std::vector<float>{7});
    EXPECT_EQ(data.test.labels, Ints{0});
  }
  EXPECT_EQ(load(spec("idx", path("shapes"))).name, "shapes");
  write("shapes/t10k-images-idx3-ubyte", idx({1, 1, 2}, "\x07\x07"));
  expect_error(MK_BAD_DATA, {"t10k-images", "2 features", "has 1"}, [&] { load(spec("idx", path("shapes"))); });
  fs::remove(path("shapes/t10k-images-idx3-ubyte"));
  expect_error(MK_BAD_DATA, {path("shapes"), "t10k-images-idx3-ubyte", "four IDX files"},
               [&] { load(spec("idx", path("shapes"))); });
  expect_error(MK_BAD_DATA, {path("odd"), "labels file cannot be inferred"}, [&] {
    load(spec("idx", write("odd", idx({1, 1, 1}, "a"))));
  });
  expect_error(MK_BAD_DATA, {"x-images-idx3", "'x-labels-idx1'", "next to it"}, [&] {
    load(spec("idx", write("x-images-idx3", idx({1, 1, 1}, "a"))));
  });
}

TEST_F(Load, ImagesKeepTheirShape) {
  write("train-images-idx3-ubyte", idx({1, 2, 3}, "abcdef"));
  write("train-labels-idx1-ubyte", idx({1}, "\x01"));
  write("wide/t10k-images-idx3-ubyte", idx({1, 3, 2}, "abcdef"));
  write("wide/t10k-labels-idx1-ubyte", idx({1}, "\x01"));
  const std::string images = write("train-images-idx3-ubyte", idx({1, 2, 3}, "abcdef"));
  EXPECT_EQ(load(spec("idx", images)).shape, (Shape{2, 3, 1}));
  EXPECT_EQ(load_for_prediction(spec("idx", images), {{"1"}}).shape, (Shape{2, 3, 1}));
  const std::string other = images.substr(0, images.rfind('/')) + "/wide";
  expect_error(MK_BAD_DATA, {"images of a different size"}, [&] { load(spec("idx", images, other)); });
  DataSpec digits;
  digits.source = "digits";
  EXPECT_EQ(load(digits).shape, (Shape{28, 28, 1}));
  EXPECT_EQ(load(spec("csv", write("a.csv", "a,b,y\n1,2,3\n"))).shape, (Shape{1, 1, 2}));
}

TEST_F(Load, NamesAreLookedUpInTheDataDirectories) {
  const Environment cache("XDG_CACHE_HOME", path("cache"));
  {
    const Environment data("MOKUME_DATA", path("data"));
    expect_error(MK_BAD_DATA,
                 {path("data/mnist"), path("cache/mokume/mnist"), "mokume data fetch mnist", "MOKUME_DATA"},
                 [] { load(spec("mnist", "")); });
    expect_error(MK_BAD_DATA, {path("data/none-such"), path("cache/mokume/none-such"), "MOKUME_DATA"},
                 [] { load(spec("idx", "none-such")); });
    write_idx_set("cache/mokume/mnist");
    EXPECT_EQ(load(spec("mnist", "")).train.rows, 2);
    fs::create_directories(path("data"));
    fs::rename(path("cache/mokume/mnist"), path("data/shapes"));
    EXPECT_EQ(load(spec("idx", "shapes")).train.rows, 2);
    EXPECT_EQ(load(spec("mnist", path("data/shapes"))).name, "shapes");
    write("data/towns/README.md", "about");
    write("data/towns/towns.csv", "a,y\n1,x\n");
    EXPECT_EQ(load(spec("csv", "towns")).name, "towns");
    write("data/towns/more.csv", "a,y\n1,x\n");
    expect_error(MK_BAD_DATA, {"towns", "2 files"}, [] { load(spec("csv", "towns")); });
  }
  const Environment data("MOKUME_DATA", std::nullopt);
  expect_error(MK_BAD_DATA, {"$MOKUME_DATA/mnist", path("cache/mokume/mnist")}, [] { load(spec("mnist", "")); });
}

TEST_F(Load, DigitsHaveATestSetAndTenClasses) {
  DataSpec s = spec("digits", "");
  s.limit = 10;
  const Dataset data = load(s);
  EXPECT_EQ(data.name, "digits");
  EXPECT_EQ(data.train.rows, 10);
  EXPECT_EQ(data.test.rows, 1000);
  EXPECT_EQ(data.class_names, (Names{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}));
}

TEST_F(Load, FriedmansTableIsARegressionWithNoiseOfVarianceOne) {
  DataSpec s = spec("friedman", "");
  s.limit = 3;
  const Dataset few = load(s);
  EXPECT_EQ(few.train.rows, 3);
  EXPECT_EQ(few.train.features, 4777);
  EXPECT_EQ(few.test.rows, 1024);
  EXPECT_TRUE(few.class_names.empty());
  s.limit = 0;
  const Dataset all = load(s);
  ASSERT_EQ(all.train.rows, 4096);
  EXPECT_TRUE(std::equal(few.train.x.begin(), few.train.x.end(), all.train.x.begin()))
      << "rows do not depend on others";
  EXPECT_EQ(few.train.targets[2], all.train.targets[2]);
  const auto moments = [](const auto& values, size_t from, size_t step) {
    double sum = 0, squares = 0, n = 0;
    for (size_t i = from; i < values.size(); i += step, ++n) {
      sum += static_cast<double>(values[i]);
      squares += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    return std::pair{sum / n, squares / n - sum / n * (sum / n)};
  };
  const auto [mean, variance] = moments(all.train.targets, 0, 1);
  EXPECT_NEAR(mean, 14.4, 0.3);      // 14.413
  EXPECT_NEAR(variance, 24.8, 1.5);  // 23.8 + 1
  const auto column = moments(all.train.x, 17, 4777);
  EXPECT_NEAR(column.first, 0, 0.1);   // factors and noise are centred
  EXPECT_GT(column.second, 1.0 / 12);  // the variance of the noise alone
  EXPECT_NE(all.train.x[0], all.test.x[0]);
}

TEST_F(Load, RefusesSpecsThatContradictThemselves) {
  DataSpec s = spec("digits", "");
  s.limit = -1;
  expect_error(MK_INVALID_ARGUMENT, {"data.limit"}, [&] { load(s); });
  expect_error(MK_INVALID_ARGUMENT, {"'scv'", "did you mean 'csv'?"}, [] { load(spec("scv", "a")); });
  expect_error(MK_INVALID_ARGUMENT, {"data.path"}, [] { load(spec("libsvm", "")); });
}

class Predict : public Load {};

TEST_F(Predict, MapsLabelsAndScalesWithTheGivenValues) {
  const DataSpec s = spec("libsvm", write("a", "7 1:4\n3 1:6\n5 2:1\n"));
  const Dataset data = load_for_prediction(s, {{"3", "7"}, {2, 1, 0}, {2, 1, 1}});
  EXPECT_EQ(data.train.labels, (Ints{1, 0, -1}));
  EXPECT_EQ(data.train.x, (std::vector<float>{1, -1, 0, 2, -1, 0, -1, 0, 0})) << "widened to the three features";
  EXPECT_EQ(data.class_names, (Names{"3", "7"}));
  EXPECT_EQ(data.test.rows, 0);
  EXPECT_EQ(load_for_prediction(s, {}).train.targets, (std::vector<float>{7, 3, 5}));
  EXPECT_EQ(load_for_prediction(s, {{"3"}, {1}, {2}, 4}).train.features, 4);
  EXPECT_EQ(load_for_prediction(s, {{"3"}, {1}, {2}, 4}).train.x[1], -0.5F);
}

TEST_F(Predict, RefusesScalingThatDoesNotFit) {
  const DataSpec s = spec("csv", write("a.csv", "a,b,y\n1,2,0\n"));
  expect_error(MK_BAD_DATA, {"2 features", "3"}, [&] { load_for_prediction(s, {{"0"}, {1, 2, 3}, {1, 2, 3}}); });
  expect_error(MK_BAD_DATA, {"2 features", "has 5"}, [&] { load_for_prediction(s, {{"0"}, {}, {}, 5}); });
  expect_error(MK_BAD_DATA, {"2 features", "scales 3"}, [&] {
    load_for_prediction(s, {{"0"}, {1, 2, 3}, {1, 2, 3}, 2});
  });
  expect_error(MK_INVALID_ARGUMENT, {"1 means", "0 scales"}, [&] { load_for_prediction(s, {{"0"}, {1}}); });
  expect_error(MK_INVALID_ARGUMENT, {"above 0"}, [&] { load_for_prediction(s, {{"0"}, {1}, {0}}); });
}

TEST_F(Predict, CsvNeedsTheTrainingColumnsForLevelsAndMeans) {
  DataSpec s = spec("csv", write("a.csv", "town,a,y\nrome,1,p\noslo,,q\noslo,3,p\n"));
  s.categorical = {"town"};
  s.missing = Missing::drop;
  const Dataset trained = load(s);
  s.path = write("new.csv", "a,town\n9,rome\n");
  expect_error(MK_INVALID_ARGUMENT, {"data.categorical"}, [&] { load_for_prediction(s, {trained.class_names}); });
  const Dataset data = load_for_prediction(s, {trained.class_names, {}, {}, 3, trained.columns});
  EXPECT_EQ(data.train.x, (std::vector<float>{0, 1, 9}));
  EXPECT_TRUE(data.train.labels.empty());
  s.path = write("new.csv", "a,town,y\n9,rome,q\n8,oslo,?\n");
  EXPECT_EQ(load_for_prediction(s, {{"p", "q"}, {}, {}, 3, trained.columns}).train.labels, (Ints{1, kNoLabel}));
}

TEST_F(Predict, TakesTheTestRowsOnRequest) {
  DataSpec s = spec("digits", "", kOwnTest);
  const Dataset digits = load_for_prediction(s, {{"0", "1"}});
  EXPECT_EQ(digits.train.rows, 1000);
  EXPECT_EQ(digits.train.x, load(spec("digits", "")).test.x);
  s.test = "mine";
  expect_error(MK_INVALID_ARGUMENT, {"test=own"}, [&] { load_for_prediction(s, {}); });
  s = spec("friedman", "", kOwnTest);
  EXPECT_EQ(load_for_prediction(s, {}).train.rows, 1024);

  write_idx_set("set");
  const Dataset set = load(spec("idx", path("set")));
  EXPECT_EQ(load_for_prediction(spec("idx", path("set"), kOwnTest), {set.class_names}).train.x, set.test.x);
  const std::string file = write("new-images-idx3-ubyte", idx({2, 1, 1}, "\x05\x06"));
  expect_error(MK_INVALID_ARGUMENT, {"'own'", file}, [&] { load_for_prediction(spec("idx", file, kOwnTest), {}); });

  const std::string rows = write("a.csv", "a,y\n1,2\n"), tested = write("b.csv", "a,y\n7,8\n");
  EXPECT_EQ(load_for_prediction(spec("csv", rows, tested), {}).train.x, std::vector<float>{7});
  EXPECT_EQ(load_for_prediction(spec("libsvm", write("a", "1 1:4\n"), write("b", "1 1:5\n")), {}).train.x,
            std::vector<float>{5});
}

TEST_F(Predict, ImagesNeedNoLabels) {
  const DataSpec s = spec("idx", write("new-images-idx3-ubyte", idx({2, 1, 1}, "\x05\x06")));
  EXPECT_TRUE(load_for_prediction(s, {{"0", "1"}}).train.labels.empty());
  write("new-labels-idx1-ubyte", idx({2}, std::string("\x01\x07", 2)));
  EXPECT_EQ(load_for_prediction(s, {{"0", "1"}}).train.labels, (Ints{1, -1}));
}

// Returns the number of times that this process has read from files.
int64_t reads_so_far() {
  const std::string io = base::read_file("/proc/self/io");
  return std::stoll(io.substr(io.find("syscr: ") + 7));
}

// Programs that stream rows load a table for each of them.
TEST(CheckedCount, ReadsNoFilesForALittleTable) {
  const int64_t before = reads_so_far();
  EXPECT_EQ(checked_count("a", 1, 784), 784U);
  const int64_t after = reads_so_far();
  EXPECT_EQ(after - before, reads_so_far() - after);
  EXPECT_THROW(checked_count("a", int64_t{1} << 40, 784), Error);
}

}  // namespace
}  // namespace mokume::data

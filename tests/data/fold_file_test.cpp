#include "data/fold_file.hpp"

#include "data/load.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

using Folds = std::vector<int32_t>;

class FoldFile : public DataTest {
 protected:
  void refuses(const std::vector<std::string>& words, const std::string& content, int64_t rows = 3) const {
    const std::string file = write("folds.txt", content);
    std::vector<std::string> all = {file};
    all.insert(all.end(), words.begin(), words.end());
    expect_error(MK_BAD_DATA, all, [&] { read_folds(file, rows); });
  }
};

TEST_F(FoldFile, ReadsOneNumberOnEachLine) {
  EXPECT_EQ(read_folds(write("f.csv", "0\n1\r\n -1 \n"), 3), (Folds{0, 1, -1}));
  EXPECT_EQ(read_folds(write("f.csv", "2\n0\n1"), 3), (Folds{2, 0, 1}));
}

TEST_F(FoldFile, ReadsAnArray) {
  std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }";
  header.append(127 - 10 - header.size(), ' ');
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() + 1) + '\0' + header + '\n';
  const int64_t folds[] = {1, -1, 0};
  bytes.append(reinterpret_cast<const char*>(&folds[0]), sizeof(folds));
  EXPECT_EQ(read_folds(write("f.npy", bytes), 3), (Folds{1, -1, 0}));
  bytes.replace(bytes.find("<i8"), 3, "<f8");
  expect_error(MK_BAD_DATA, {path("f.npy"), "whole number"}, [&] { read_folds(write("f.npy", bytes), 3); });
}

TEST_F(FoldFile, RefusesInvalidFolds) {
  refuses({"line 2", "'x'", "-1 for a row"}, "0\nx\n1\n");
  refuses({"line 2", "''"}, "0\n\n1\n");
  refuses({"line 3", "'0.5'"}, "0\n1\n0.5\n");
  refuses({"line 1", "'-2'"}, "-2\n1\n0\n");
  refuses({"line 1", "'1000'", "999"}, "1000\n1\n0\n");
  refuses({"2 rows", "3 training rows"}, "0\n1\n");
  refuses({"4 rows", "3 training rows"}, "0\n1\n0\n1\n");
  refuses({}, std::string(1000, '0'));
  expect_error(MK_BAD_DATA, {path("none")}, [&] { read_folds(path("none"), 3); });
}

TEST_F(FoldFile, EveryFoldNeedsRowsToValidateAndToTrainOn) {
  check_folds("f", {0, 1, -1}, 2);
  expect_error(MK_BAD_DATA, {"f", "up to 2", "validation.folds is 5", "set it to 3"}, [] {
    check_folds("f", {0, 1, 2}, 5);
  });
  expect_error(MK_BAD_DATA, {"f", "fold 1 no row"}, [] { check_folds("f", {0, 2, 2}, 3); });
  expect_error(MK_BAD_DATA, {"f", "fold 0 every row"}, [] { check_folds("f", {0, 0, 0}, 1); });
  expect_error(MK_BAD_DATA, {"f", "up to -1"}, [] { check_folds("f", {-1, -1}, 2); });
}

TEST_F(FoldFile, TheFoldsArePartOfTheData) {
  DataSpec s = spec("libsvm", write("a", "1 1:1\n2 1:2\n1 1:3\n"));
  const std::string before = load(s).sha256;
  s.folds_file = write("f", "0\n1\n0\n");
  const Dataset data = load(s);
  EXPECT_EQ(data.train.given_folds, (Folds{0, 1, 0}));
  EXPECT_NE(data.sha256, before);
  write("f", "0\n1\n1\n");
  EXPECT_NE(load(s).sha256, data.sha256);
}

}  // namespace
}  // namespace mokume::data

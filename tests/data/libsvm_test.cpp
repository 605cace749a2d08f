#include "data/libsvm.hpp"
#include "data/input.hpp"
#include "data/load.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

class Libsvm : public DataTest {};

DataSpec spec_of(const std::string& source, const std::string& path, const std::string& test = "") {
  DataSpec spec;
  spec.source = source;
  spec.path = path;
  spec.test = test;
  return spec;
}

TEST_F(Libsvm, ReadsSparseRows) {
  const RawTable part = read_libsvm(write("a", "+1 1:0.5 3:-2e1\n\n-1\r\n2 \t 2:+7 4:1e-60 \n"), 0, 0);
  EXPECT_EQ(part.table.rows, 3);
  EXPECT_EQ(part.table.features, 4);
  EXPECT_EQ(part.table.x, (std::vector<float>{0.5F, 0, -20, 0, 0, 0, 0, 0, 0, 7, 0, 0}));
  EXPECT_EQ(part.labels.values, (std::vector<double>{1, -1, 2}));
  EXPECT_EQ(part.labels.place(1), "line 3");
}

TEST_F(Libsvm, ReadsGzipAndSkipsAByteOrderMark) {
  EXPECT_EQ(read_libsvm(write_gz("a.gz", "1 1:3"), 0, 0).table.x, std::vector<float>{3});
  EXPECT_EQ(read_libsvm(write("a",
                              "\xEF\xBB\xBF"
                              "1 1:3\n"),
                        0, 0)
                .table.x,
            std::vector<float>{3});
}

TEST_F(Libsvm, TheLimitKeepsFeaturesAndLabelsOfTheWholeFile) {
  const RawTable part = read_libsvm(write("a", "1 1:1\n2 1:2\n3 5:1\n"), 2, 0);
  EXPECT_EQ(part.table.rows, 2);
  EXPECT_EQ(part.table.features, 5);
  EXPECT_EQ(part.labels.values.size(), 3U);
}

TEST_F(Libsvm, WidensToTheGivenNumberOfFeatures) {
  EXPECT_EQ(read_libsvm(write("a", "1 1:9\n"), 0, 3).table.x, (std::vector<float>{9, 0, 0}));
}

TEST_F(Libsvm, RefusesMalformedText) {
  const struct {
    std::string content;
    std::vector<std::string> words;
  } cases[] = {
      {"", {"has no rows"}},
      {"\n \r\n", {"has no rows"}},
      {"1\n2\n", {"no index:value pair"}},
      {"1 1:1\ncat 1:1\n", {"line 2, column 1", "'cat'"}},
      {"1,2 1:1\n", {"line 1, column 1", "'1,2'"}},
      {"nan 1:1\n", {"line 1, column 1", "'nan'"}},
      {"1 1:1 x\n", {"line 1, column 7", "'x'", "index:value"}},
      {"1 qid:x 1:1\n", {"line 1, column 3", "'qid:x'"}},
      {"1 1:1 qid:3\n", {"line 1, column 7", "'qid:3'"}},
      {"# only a comment\n", {"has no rows"}},
      {"1 1: # 2\n", {"line 1, column 5", "''"}},
      {"1 1=4\n", {"line 1, column 3", "'1=4'"}},
      {"1 7\n", {"line 1, column 3", "'7'"}},
      {"1 0:4\n", {"line 1, column 3", "'0'", "start at 1"}},
      {"1 -3:4\n", {"'-3'", "start at 1"}},
      {"1 2:4 2:5\n", {"line 1, column 7", "comes after index 2", "sort"}},
      {"1 3:4 2:5\n", {"line 1, column 7", "comes after index 3"}},
      {"1 16777217:1\n", {"'16777217'", "16777216"}},
      {"1 99999999999999999999:1\n", {"'99999999999999999999'", "16777216"}},
      {"1 1:\n", {"line 1, column 5", "''"}},
      {"1 1:abc\n", {"line 1, column 5", "'abc'"}},
      {"1 1:1x\n", {"line 1, column 5", "'1x'"}},
      {"1 1:NaN\n", {"line 1, column 5", "'NaN'", "finite"}},
      {"1 1:2 2:-inf\n", {"line 1, column 9", "'-inf'", "finite"}},
      {"1 1:1e39\n", {"line 1, column 5", "'1e39'", "float32"}},
      {"1 1:+-1\n", {"'+-1'"}},
      {std::string("1 1:1\0\n", 7), {"line 1, column 5", "'1?'"}},
  };
  for (const auto& c : cases) {
    const std::string file = write("bad", c.content);
    std::vector<std::string> words = c.words;
    words.push_back("'" + file + "'");
    expect_error(MK_BAD_DATA, words, [&] { read_libsvm(file, 0, 0); });
  }
}

TEST_F(Libsvm, SkipsCommentsAndQueries) {
  const RawTable part = read_libsvm(write("a", "# x:y\n1 qid:7 1:3 # 2:9\n2 qid:8 2:4#\n  # 3 3:1\n"), 0, 0);
  EXPECT_EQ(part.table.x, (std::vector<float>{3, 0, 0, 4}));
  EXPECT_EQ(part.labels.values, (std::vector<double>{1, 2}));
  EXPECT_EQ(part.labels.place(1), "line 3");
}

// The table would fit into the memory of this machine, so only the size of the file can justify a refusal.
TEST_F(Libsvm, RefusesAnIndexThatTheFileDoesNotJustify) {
  expect_error(
      MK_BAD_DATA,
      {"line 2", "index 16777216", "2 rows and 16777216 features", "128.0 MiB", "4096 times the 25 B", "without gaps"},
      [&] { read_libsvm(write("a", "1 1:1 # one\n1 16777216:1\n"), 0, 0); });
  EXPECT_EQ(read_libsvm(write("b", "1 2000000:1\n"), 0, 0).table.features, 2000000) << "8 MB are taken from any file";
  std::string text = "1 8000000:1 #" + std::string(8000, 'x') + "\n";
  EXPECT_EQ(read_libsvm(write("c", text), 0, 0).table.features, 8000000) << "a longer file may hold more";
  EXPECT_EQ(read_libsvm(path("b"), 0, 16777216).table.features, 16777216) << "the training file justified it";
}

TEST_F(Libsvm, RefusesRowsThatAreTooWideForMemory) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "1 16777216:1 #" + std::string(20000, 'x') + "\n";
  expect_error(MK_BAD_DATA, {"20000 rows of 16777216 features", "data.limit"},
               [&] { read_libsvm(write("wide", text), 0, 0); });
}

TEST_F(Libsvm, TheLengthOfUnpackedTextIsBounded) {
  const std::string text(3 << 20, ' ');
  EXPECT_EQ(read_text(write_gz("a.gz", text)), text);
  EXPECT_EQ(read_text(path("a.gz"), text.size()).size(), text.size());
  for (const std::string& file : {path("a.gz"), write("a", text)})
    expect_error(MK_BAD_DATA, {file, "more than 2.0 MiB"}, [&] { read_text(file, 2 << 20); });
}

TEST_F(Libsvm, ATestFileMayHaveMoreFeatures) {
  DataSpec s = spec("libsvm", write("a", "1 1:1\n2 2:3\n"));
  s.test = write("b", "2 4:5\n1 1:2\n");
  const Dataset data = load(s);
  EXPECT_EQ(data.train.x, (std::vector<float>{1, 0, 0, 0, 0, 3, 0, 0}));
  EXPECT_EQ(data.test.x, (std::vector<float>{0, 0, 0, 5, 2, 0, 0, 0}));
  EXPECT_EQ(data.shape.channels, 4);
  std::string many;
  for (int row = 0; row < 300; ++row) many += "1 1:" + std::to_string(row) + "\n";
  DataSpec wide = spec("libsvm", write("c", many));
  wide.test = write("d", "1 4000000:1\n");
  expect_error(MK_BAD_DATA, {path("d"), "index 4000000", "without gaps"}, [&] { load(wide); });
}

TEST_F(Libsvm, KeepsSparseRows) {
  const RawTable part = read_libsvm(write("a", "1 2:0.5 4:0 5:-2\n2\n3 1:1e-60 3:7\n4 9:1\n"), 3, 0, true, true);
  EXPECT_EQ(part.table.rows, 3);
  EXPECT_EQ(part.table.features, 9);
  EXPECT_EQ(part.table.starts, (std::vector<int64_t>{0, 2, 2, 4}));
  EXPECT_EQ(part.table.column, (std::vector<int32_t>{1, 4, 0, 2}));
  EXPECT_EQ(part.table.x, (std::vector<float>{0.5F, -2, 0, 7}));
  EXPECT_EQ(part.table.exact, (std::vector<double>{0.5, -2, 1e-60, 7}));
}

TEST_F(Libsvm, SparseRowsMayBeWide) {
  const std::string text = write("a", "1 1:1\n2 16000000:1\n"), test = write("b", "1 2:1\n2 16000001:1\n");
  DataSpec spec = spec_of("libsvm", text, test);
  expect_error(MK_BAD_DATA, {"line 2", "16000000"}, [&] { load(spec); });
  spec.storage = "sparse";
  const Dataset data = load(spec);
  EXPECT_EQ(data.train.features, 16000001);
  EXPECT_EQ(data.test.features, 16000001);
  EXPECT_EQ(data.train.x.size(), 2U);
  spec.limit = 1;
  EXPECT_NE(load(spec).sha256, data.sha256);
}

TEST_F(Libsvm, RefusesSparseRowsOutOfOrder) {
  for (const char* const row : {"1 2:1 1:1\n", "1 2:1 2:1\n"})
    expect_error(MK_BAD_DATA, {"line 1", "sort each line"}, [&] { read_libsvm(write("a", row), 0, 0, false, true); });
  expect_error(MK_BAD_DATA, {"above the model's 3"}, [&] { read_libsvm(write("a", "1 4:1\n"), 0, 3, false, true); });
  expect_error(MK_BAD_DATA, {"limit"}, [&] { read_libsvm(write("a", "1 99999999:1\n"), 0, 0, false, true); });
}

TEST_F(Libsvm, SparseRowsAreScaledWithoutMeans) {
  const std::string text = write("a", "1 1:3 3:0.3\n2 2:6\n1 3:9\n2 1:1\n");
  DataSpec spec = spec_of("libsvm", text);
  spec.storage = "sparse";
  spec.standardize = {Standardize::Kind::fixed, 0, 3};
  EXPECT_EQ(load(spec).train.x,
            (std::vector<float>{1, static_cast<float>(0.3 / 3), 2, 3, static_cast<float>(1.0 / 3)}));
  for (const Standardize& scaling :
       {Standardize{Standardize::Kind::features, 0, 1}, Standardize{Standardize::Kind::fixed, 1, 3}}) {
    spec.standardize = scaling;
    expect_error(MK_INVALID_ARGUMENT, {"data.storage", "fills the zeros"}, [&] { load(spec); });
  }
  spec.standardize = {};
  const TrainedOn trained{{"1", "2"}, {1}, {3}, 3, {}, {}};
  expect_error(MK_INVALID_ARGUMENT, {"data.storage", "fills the zeros"}, [&] { load_for_prediction(spec, trained); });
}

TEST_F(Libsvm, OuterFoldsKeepSparseRows) {
  DataSpec spec = spec_of("libsvm", write("a", "1 1:1\n2 2:2 3:3\n1\n2 3:4\n"));
  spec.storage = "sparse";
  spec.outer = {2, 2, false, false, 0};
  const Dataset data = load(spec);
  EXPECT_EQ(data.train.starts, (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(data.train.x, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(data.test.starts, (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(data.test.column, std::vector<int32_t>{2});
}

TEST_F(Libsvm, RowsMayHaveWeights) {
  DataSpec spec = spec_of("libsvm", write("a", "1 1:1\n2 2:2\n1 1:3\n"));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  header.resize(117, ' ');
  const float weights[] = {1, 0.5F, 3};
  spec.weight = write("w.npy", std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" +
                                   std::string(reinterpret_cast<const char*>(weights), sizeof(weights)));
  EXPECT_EQ(load(spec).train.weights, (std::vector<float>{1, 0.5F, 3}));
  spec.limit = 2;
  EXPECT_EQ(load(spec).train.weights, (std::vector<float>{1, 0.5F}));
}

Table sparse_table(int64_t rows, int64_t features, size_t values) {
  Table table;
  table.rows = rows;
  table.features = features;
  table.starts.assign(static_cast<size_t>(rows) + 1, 0);
  table.x.assign(values, 1);
  return table;
}

TEST(StorageChoice, LargeTablesOfFewValuesRemainSparse) {
  const StorageChoice choice = choose_storage(sparse_table(10'000, 20'000, 100'000), {});
  EXPECT_TRUE(choice.sparse);
  EXPECT_EQ(choice.sentence,
            "the rows remain sparse, because dense ones would take 762.9 MiB, more than 256.0 MiB, and 0.05 % of their "
            "values are not 0, less than 10 %");
}

TEST(StorageChoice, SmallTablesBecomeDense) {
  const StorageChoice choice = choose_storage(sparse_table(1024, 65'536, 1), {});
  EXPECT_FALSE(choice.sparse);
  EXPECT_EQ(choice.sentence, "the rows become dense, because they then take only 256.0 MiB, at most 256.0 MiB");
  const StorageChoice tested = choose_storage(sparse_table(1024, 65'536, 1), sparse_table(1, 65'536, 0));
  EXPECT_TRUE(tested.sparse) << "test rows count";
  EXPECT_NE(tested.sentence.find("under 0.01 % of their values"), std::string::npos) << tested.sentence;
}

TEST(StorageChoice, FilledTablesBecomeDense) {
  const StorageChoice choice = choose_storage(sparse_table(10'000, 7'000, 7'000'000), {});
  EXPECT_FALSE(choice.sparse);
  EXPECT_EQ(choice.sentence, "the rows become dense, because 10 % of their values are not 0, at least 10 %");
}

TEST_F(Libsvm, DenseRowsThatItChoosesAreThoseThatItReads) {
  DataSpec spec = spec_of("libsvm", write("a", "1 1:3 3:0.3\n2 2:6\n1\n2 1:1\n"), write("b", "1 4:1e-3\n2 2:1\n"));
  for (const Standardize& scaling :
       {Standardize{}, Standardize{Standardize::Kind::fixed, 0, 3}, Standardize{Standardize::Kind::features, 0, 1}}) {
    spec.standardize = scaling;
    spec.storage = "auto";
    const Dataset chosen = load(spec);
    spec.storage = "dense";
    const Dataset dense = load(spec);
    EXPECT_FALSE(chosen.train.sparse());
    EXPECT_EQ(chosen.train.x, dense.train.x);
    EXPECT_EQ(chosen.test.x, dense.test.x);
    EXPECT_EQ(chosen.sha256, dense.sha256);
    EXPECT_EQ(chosen.storage_note.find("data.storage is 'auto': the rows become dense, because "), 0U);
    EXPECT_EQ(dense.storage_note, "");
  }
}

TEST_F(Libsvm, SparseRowsThatItChoosesAreThoseThatItReads) {
  std::string text;
  for (int row = 0; row < 40; ++row) text += std::to_string(row % 2) + " 3:1 16000000:2\n";
  DataSpec spec = spec_of("libsvm", write("a", text));
  spec.storage = "auto";
  const Dataset chosen = load(spec);
  spec.storage = "sparse";
  const Dataset sparse = load(spec);
  EXPECT_EQ(chosen.train.starts, sparse.train.starts);
  EXPECT_EQ(chosen.train.x, sparse.train.x);
  EXPECT_EQ(chosen.sha256, sparse.sha256);
  spec.storage = "auto";
  spec.standardize = {Standardize::Kind::fixed, 1, 3};
  expect_error(MK_BAD_DATA, {"the index 16000000", "times the"}, [&] { load(spec); });
}

TEST_F(Libsvm, RowsToPredictHaveNoChoice) {
  DataSpec spec = spec_of("libsvm", write("a", "1 1:1\n"));
  spec.storage = "auto";
  const TrainedOn trained{{"1", "2"}, {}, {}, 3, {}, {}};
  expect_error(MK_INVALID_ARGUMENT, {"'auto'", "storage=sparse or storage=dense"},
               [&] { load_for_prediction(spec, trained); });
}

TEST_F(Libsvm, OnlyLibsvmHasAStorage) {
  DataSpec spec = spec_of("csv", write("a", "x,y\n1,2\n"));
  spec.storage = "sparse";
  expect_error(MK_INVALID_ARGUMENT, {"data.storage", "libsvm only"}, [&] { load(spec); });
}

}  // namespace
}  // namespace mokume::data

#include "data/libsvm.hpp"
#include "data/input.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

class Libsvm : public DataTest {};

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
      {"1 qid:3 1:1\n", {"line 1, column 3", "'qid:3'"}},
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

TEST_F(Libsvm, RefusesRowsThatAreTooWideForMemory) {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "1 16777216:1\n";
  expect_error(MK_BAD_DATA, {"200000 rows of 16777216 features", "data.limit"},
               [&] { read_libsvm(write("wide", text), 0, 0); });
}

TEST_F(Libsvm, TheLengthOfUnpackedTextIsBounded) {
  const std::string text(3 << 20, ' ');
  EXPECT_EQ(read_text(write_gz("a.gz", text)), text);
  EXPECT_EQ(read_text(path("a.gz"), text.size()).size(), text.size());
  for (const std::string& file : {path("a.gz"), write("a", text)})
    expect_error(MK_BAD_DATA, {file, "more than 2.0 MiB"}, [&] { read_text(file, 2 << 20); });
}

}  // namespace
}  // namespace mokume::data

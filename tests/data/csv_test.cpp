#include "data/csv.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

class Csv : public DataTest {
 protected:
  CsvTable read(const std::string& content, const CsvOptions& options = {}) const {
    return read_csv(write("a.csv", content), options);
  }
};

using Names = std::vector<std::string>;

TEST_F(Csv, ReadsNumbersAndTheLastColumnAsTarget) {
  const CsvTable part = read("a, b ,y\r\n1,2.5,cat\r\n\r\n-3,+4e1,dog\r\n");
  EXPECT_EQ(part.table.rows, 2);
  EXPECT_EQ(part.table.features, 2);
  EXPECT_EQ(part.table.x, (std::vector<float>{1, 2.5F, -3, 40}));
  EXPECT_EQ(part.target, "y");
  EXPECT_EQ(part.labels.texts, (Names{"cat", "dog"}));
  EXPECT_TRUE(part.labels.values.empty());
  EXPECT_EQ(part.labels.place(1), "line 4");
  EXPECT_EQ(part.columns[1].name, "b");
}

TEST_F(Csv, ReadsQuotedCells) {
  CsvOptions options;
  options.target = "the \"y\"";
  options.categorical = {"b,c"};
  const CsvTable part = read("\"the \"\"y\"\"\",\"b,c\",a\n\"x\ny\",\"p\"\"q\", 1\n z , \"\"\"\" ,\"2\"", options);
  EXPECT_EQ(part.labels.texts, (Names{"x\ny", "z"}));
  EXPECT_EQ(part.labels.place(1), "line 4");
  EXPECT_EQ(part.columns[0].levels, (Names{"\"", "p\"q"}));
  EXPECT_EQ(part.table.x, (std::vector<float>{0, 1, 1, 1, 0, 2}));
}

TEST_F(Csv, TurnsCategoricalColumnsIntoSortedLevels) {
  CsvOptions options;
  options.target = "y";
  options.categorical = {"town"};
  options.limit = 2;
  const CsvTable part = read("y,town,a\n1,rome,5\n2,oslo,6\n3,kyiv,7\n", options);
  EXPECT_EQ(part.columns[0].levels, (Names{"kyiv", "oslo", "rome"})) << "levels of the whole file";
  EXPECT_EQ(part.table.rows, 2);
  EXPECT_EQ(part.table.x, (std::vector<float>{0, 0, 1, 5, 0, 1, 0, 6}));
  EXPECT_EQ(part.labels.values, (std::vector<double>{1, 2, 3}));
}

TEST_F(Csv, DropsOrFillsEmptyCells) {
  const std::string text = "a,b,y\n1,,0\n2,5,1\n3,8,\n6,,1\n100,100,1\n";
  CsvOptions options;
  options.missing = Missing::drop;
  const CsvTable dropped = read(text, options);
  EXPECT_EQ(dropped.table.x, (std::vector<float>{2, 5, 100, 100}));
  EXPECT_EQ(dropped.labels.values, (std::vector<double>{1, 1}));
  EXPECT_EQ(dropped.labels.place(0), "line 3");
  options.missing = Missing::mean;
  options.limit = 3;
  const CsvTable filled = read("a,b,y\n1,,0\n2,5,1\n3,8,2\n100,100,1\n", options);
  EXPECT_EQ(filled.columns[1].fill, 6.5) << "of the rows kept";
  EXPECT_EQ(filled.table.x, (std::vector<float>{1, 6.5F, 2, 5, 3, 8}));
}

TEST_F(Csv, ReadsOtherFilesInTheTrainingFilesTerms) {
  const std::vector<Column> columns = {{"town", {"oslo", "rome"}, 0}, {"a", {}, 2.5}};
  CsvOptions options;
  options.target = "y";
  options.missing = Missing::mean;
  options.columns = &columns;
  EXPECT_EQ(read("a,y,town\n7,1,rome\n,0,oslo\n", options).table.x, (std::vector<float>{0, 1, 7, 1, 0, 2.5F}));
  const struct {
    std::string content;
    Names words;
  } cases[] = {
      {"a,y,town\n7,1,kyiv\n", {"line 2", "'town'", "'kyiv'", "does not occur in the training file"}},
      {"b,y,town\n7,1,rome\n", {"line 1", "no column 'a'"}},
      {"a,y,town,z\n7,1,rome,2\n", {"line 1", "'z'", "not in the training file"}},
      {"a,town\n7,rome\n", {"no column 'y'"}},
  };
  for (const auto& c : cases) expect_error(MK_BAD_DATA, c.words, [&] { read(c.content, options); });
  options.target_required = false;
  const CsvTable bare = read("a,town\n7,rome\n", options);
  EXPECT_EQ(bare.table.x, (std::vector<float>{0, 1, 7}));
  EXPECT_EQ(bare.labels.size(), 0U);
  options.target = "";
  EXPECT_EQ(read("town,a\nrome,7\n", options).labels.size(), 0U) << "the last column is a feature";
  EXPECT_EQ(read("town,a,y\nrome,7,3\n", options).labels.values, std::vector<double>{3});
}

TEST_F(Csv, RefusesMalformedText) {
  CsvOptions plain, town, mean_town, nowhere, no_target, drop, own_target;
  town.categorical = {"town"};
  mean_town = town;
  mean_town.missing = drop.missing = Missing::mean;
  drop.missing = Missing::drop;
  nowhere.categorical = {"tonw"};
  no_target.target = "price";
  own_target.categorical = {"y"};
  const struct {
    std::string content;
    CsvOptions options;
    Names words;
  } cases[] = {
      {"", plain, {"is empty"}},
      {"\r\n\n", plain, {"is empty"}},
      {"a,y\n", plain, {"has no usable rows"}},
      {"a,y\n,1\n", drop, {"has no usable rows"}},
      {"y\n1\n", plain, {"only the target column"}},
      {"a,,y\n1,2,3\n", plain, {"line 1", "column 2 has no name"}},
      {"a,a,y\n1,2,3\n", plain, {"line 1", "two columns are named 'a'"}},
      {"a,y\n1,2\n1,2,3\n", plain, {"line 3", "3 cells", "header has 2"}},
      {"a,y\n1\n", plain, {"line 2", "1 cells"}},
      {"a,y\nx,1\n", plain, {"line 2, column 'a'", "'x'", "data.categorical"}},
      {"a,y\nNaN,1\n", plain, {"line 2, column 'a'", "'NaN'", "finite"}},
      {"a,y\ninf,1\n", plain, {"line 2, column 'a'", "'inf'", "finite"}},
      {"a,y\n1e99,1\n", plain, {"line 2, column 'a'", "'1e99'", "float32"}},
      {"a,y\n,1\n", plain, {"line 2, column 'a'", "empty", "data.missing"}},
      {"a,y\n1,\n", plain, {"line 2, column 'y'", "target is empty"}},
      {"a,y\n1,\n", mean_town, {"no column 'town' for data.categorical"}},
      {"town,y\n,1\n", mean_town, {"line 2, column 'town'", "mean cannot fill"}},
      {"a,b,y\n1,,1\n2,,1\n", {"", {}, Missing::mean, 0, nullptr, true}, {"'b' has no values"}},
      {"town,y\n1,2\n", nowhere, {"no column 'tonw'", "did you mean 'town'?"}},
      {"a,y\n1,2\n", no_target, {"no column 'price' for data.target", "'a', 'y'"}},
      {"a,y\n1,2\n", own_target, {"target 'y'", "data.categorical"}},
      {"a,y\n1\"2,3\n", plain, {"line 2", "quote inside the cell"}},
      {"a,y\n\"1\"2,3\n", plain, {"line 2", "'2'", "after a closing quote"}},
      {"a,y\n1,2\n\"1,3\n4,5\n", plain, {"line 3", "never closed"}},
  };
  for (const auto& c : cases) {
    Names words = c.words;
    words.push_back("'" + path("a.csv") + "'");
    expect_error(MK_BAD_DATA, words, [&] { read(c.content, c.options); });
  }
}

}  // namespace
}  // namespace mokume::data

#include "data/csv.hpp"

#include <algorithm>

#include "data/csv_format.hpp"
#include "data/load.hpp"
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

CsvOptions with_categorical(const std::string& name) {
  CsvOptions options;
  options.categorical = {name};
  return options;
}

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

TEST_F(Csv, CopiesCellsOfTheRowsThatItKeeps) {
  CsvOptions options;
  options.ignore = {"id"};
  options.copy = {"id", "y"};
  options.missing = Missing::drop;
  options.limit = 2;
  const CsvTable part = read("id,a,y\np 1,1,cat\nq,,dog\n\"r,\",2,dog\ns,3,cat\n", options);
  EXPECT_EQ(part.copied, (Names{"p 1", "cat", "r,", "dog"}));
  EXPECT_EQ(part.table.features, 1);
  options.copy = {"ids"};
  expect_error(MK_BAD_DATA, {"no column 'ids' to copy", "did you mean 'id'?"},
               [&] { read("id,a,y\n1,2,3\n", options); });
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

TEST_F(Csv, RowsWithoutATargetAreLeftOutAndCounted) {
  CsvOptions options;
  options.missing = Missing::mean;
  const CsvTable filled = read("a,y\n1,0\n5,\n,1\n3,1\n", options);
  EXPECT_EQ(filled.table.x, (std::vector<float>{1, 2, 3})) << "the row without a target has no part in the mean";
  EXPECT_EQ(filled.labels.values, (std::vector<double>{0, 1, 1}));
  ASSERT_EQ(filled.notes.size(), 1U);
  EXPECT_NE(filled.notes[0].find("1 row without a value of 'y' left out"), std::string::npos) << filled.notes[0];
}

TEST_F(Csv, ReadsOtherFilesWithTheTrainingFilesLevelsAndMeans) {
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
      {"b,y,town\n7,1,rome\n", {"line 1", "no column 'a'"}},
      {"a,town\n7,rome\n", {"no column 'y'"}},
      {"a,y,town\n7,1,NA\n", {"line 2, column 'town'", "did not record the most frequent value"}},
  };
  for (const auto& c : cases) expect_error(MK_BAD_DATA, c.words, [&] { read(c.content, options); });
  const CsvTable stranger = read("a,y,town,z\n7,1,kyiv,2\n", options);
  EXPECT_EQ(stranger.table.x, (std::vector<float>{0, 0, 7})) << "no level is known";
  ASSERT_EQ(stranger.notes.size(), 2U);
  EXPECT_NE(stranger.notes[0].find("the training file lacks 'z', which is not used"), std::string::npos);
  EXPECT_NE(
      stranger.notes[1].find("column 'town' holds levels that the training file lacks (1 cells, the first 'kyiv'"),
      std::string::npos);
  options.target_required = false;
  const CsvTable bare = read("a,town\n7,rome\n", options);
  EXPECT_EQ(bare.table.x, (std::vector<float>{0, 1, 7}));
  EXPECT_EQ(bare.labels.size(), 0U);
  options.target = "";
  EXPECT_EQ(read("town,a\nrome,7\n", options).labels.size(), 0U) << "the last column is a feature";
  EXPECT_EQ(read("town,a,y\nrome,7,3\n", options).labels.values, std::vector<double>{3});
}

TEST_F(Csv, FillsMissingWordsWithTheMostFrequentOne) {
  CsvOptions options;
  options.categorical = {"town"};
  options.missing = Missing::mean;
  const CsvTable part = read("town,a,y\nrome,1,0\nNA,2,0\noslo,null,1\nrome,?,1\n", options);
  EXPECT_EQ(part.columns[0].mode, "rome");
  EXPECT_EQ(part.table.x, (std::vector<float>{0, 1, 1, 0, 1, 2, 1, 0, 1.5F, 0, 1, 1.5F}));
  options.columns = &part.columns;
  EXPECT_EQ(read("town,a,y\n,3,0\n", options).table.x, (std::vector<float>{0, 1, 3}));
}

TEST_F(Csv, IgnoresColumnsAndSuggestsWhichToIgnore) {
  std::string text = "id,a,y\n";
  for (int row = 0; row < 12; ++row) text += std::to_string(row + 7) + "," + std::to_string(row % 3) + ",1\n";
  const CsvTable all = read(text);
  EXPECT_EQ(all.table.features, 2);
  ASSERT_EQ(all.notes.size(), 1U);
  EXPECT_NE(all.notes[0].find("column 'id' numbers the rows"), std::string::npos);
  CsvOptions options;
  options.ignore = {"id"};
  EXPECT_EQ(read(text, options).table.features, 1);
  EXPECT_TRUE(read(text, options).notes.empty());
  options.ignore = {"di"};
  expect_error(MK_BAD_DATA, {"no column 'di' for data.ignore"}, [&] { read(text, options); });
  options.ignore = {"y"};
  expect_error(MK_BAD_DATA, {"target 'y'", "data.ignore"}, [&] { read(text, options); });
}

TEST_F(Csv, FindsOutHowTheFileIsWritten) {
  const struct {
    const char* content;
    CsvFormat format;
  } cases[] = {
      {"a,b,y\n1,2,x\n", {',', false, true}},
      {"a;b;y\n1,5;2;x\n2,5;3;x\n", {';', true, true}},
      {"a;b;y\n1.5;2;\"x,y\"\n", {';', false, true}},
      {"a\tb\ty\n1\t\tx\n", {'\t', false, true}},
      {"a|b\n1|2\n", {'|', false, true}},
      {"1,2,0\n3,4,1\n", {',', false, false}},
      {"0,1,2\n3,4,1\n", {',', false, true}},  // names from pandas for columns without names
      {"1;2,5\n3;4\n", {';', true, false}},
      {"a,b\n1,2\n3\n", {',', false, true}},
  };
  for (const auto& c : cases) EXPECT_EQ(detect_csv("a.csv", c.content), c.format) << c.content;
  const CsvTable german = read("Breite;Höhe;Art\n1,5;2;x\n-0,25;1e1;z\n");
  EXPECT_EQ(german.table.x, (std::vector<float>{1.5F, 2, -0.25F, 10}));
  ASSERT_EQ(german.notes.size(), 1U);
  EXPECT_NE(german.notes[0].find("separated by semicolons, 1,5 is a number"), std::string::npos);
  const CsvTable bare = read("1,2,0\n3,4,1\n");
  EXPECT_EQ(bare.table.rows, 2);
  EXPECT_EQ(bare.target, "column 3");
  EXPECT_EQ(bare.columns[1].name, "column 2");
  EXPECT_EQ(read(",a,y\n0,5,1\n").columns[0].name, "column 1") << "the name that pandas leaves out";
}

TEST_F(Csv, KeepsTheFirstRowOfAFileWithoutAHeader) {
  const std::string rows = "4.5, 1, plant-a\n2.5, 3, plant-b\n1, 0.5, plant-a\n";
  const CsvTable part = read(rows);
  EXPECT_EQ(part.table.x, (std::vector<float>{4.5F, 1, 2.5F, 3, 1, 0.5F}));
  EXPECT_EQ(part.target, "column 3");
  CsvOptions other;
  other.columns = &part.columns;
  other.target_required = false;
  EXPECT_EQ(read("4.5,1,plant-x\n", other).table.x, (std::vector<float>{4.5F, 1})) << "one row to predict";
  EXPECT_EQ(read("1,2\n", other).table.x, (std::vector<float>{1, 2}));
  ASSERT_EQ(part.notes.size(), 1U);
  EXPECT_NE(part.notes[0].find("the first row holds data"), std::string::npos);
  EXPECT_EQ(read("1,2,3\n5,3,4\n1,2,4\n3,1,3\n").table.rows, 4) << "each cell of the first row occurs again";
  CsvOptions options;
  options.ignore = {"country"};
  EXPECT_EQ(read("country,2019,2020\na,1,2\nb,3,4\n", options).table.rows, 2);
  EXPECT_EQ(read("a,b,a b\n1,2,a b\n3,4,c\n").table.rows, 2) << "a word over numbers is a name";
  expect_error(MK_BAD_DATA, {"line 3, column 'x': found 'x'"}, [&] { read("x,y\n1,2\nx,y\n3,4\n"); });
}

TEST_F(Csv, ReadsTablesWithBlanksBetweenCells) {
  const CsvTable aligned = read("    3.5   -0.5   1\n    0.5    3.5   2\n  -12.5    1e1   1  \n   \n");
  EXPECT_EQ(aligned.table.x, (std::vector<float>{3.5F, -0.5F, 0.5F, 3.5F, -12.5F, 10}));
  EXPECT_EQ(aligned.labels.values, (std::vector<double>{1, 2, 1}));
  const CsvTable named = read("len kind\r\n3.5 a\r\n0.5 \"b c\"\r\n");
  EXPECT_EQ(named.table.x, (std::vector<float>{3.5F, 0.5F}));
  EXPECT_EQ(named.labels.texts, (Names{"a", "b c"}));
  const CsvTable from_r = read("\"len\" \"kind\"\n\"one\" 3.5 \"a\"\n\"two\" 0.5 \"b\"\n");
  EXPECT_EQ(from_r.columns.size(), 1U);
  EXPECT_EQ(from_r.columns[0].name, "len");
  EXPECT_EQ(from_r.table.x, (std::vector<float>{3.5F, 0.5F}));
  expect_error(MK_BAD_DATA, {"has 3 cells, but the header has 2"}, [&] { read("a,y\n1,5,x\n2,7,z\n"); });
  const CsvTable town = read("home town,y\nnew york,1\nlos angeles,2\n", with_categorical("home town"));
  CsvOptions rows;
  rows.columns = &town.columns;
  rows.target_required = false;
  EXPECT_EQ(read("home town\nnew york\nlos angeles\n", rows).table.x, (std::vector<float>{0, 1, 1, 0}));
}

TEST_F(Csv, SkipsCommentsAtTheStart) {
  const CsvTable part = read("# made by a program\n#\na,y\n1,x\n# between \"rows\"\n2,z\n");
  EXPECT_EQ(part.table.x, (std::vector<float>{1, 2}));
  EXPECT_EQ(part.labels.place(1), "line 6");
  const CsvTable named = read("# numbers\n# a b y\n1.5 2 0\n3 4 1\n");
  EXPECT_EQ(named.columns[1].name, "b");
  EXPECT_EQ(named.table.rows, 2);
  EXPECT_EQ(read("a,y\n1,#1\n2,#2\n").labels.texts, (Names{"#1", "#2"})) << "no comment";
  EXPECT_EQ(read("# x,y\n0,1\n1,3\n2,5\n").table.x, (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(read("# x,y\n1,2\n1,3\n").columns[0].name, "x");
  EXPECT_EQ(read("#a,b,y\n1,2,cat\n3,4,dog\n").columns[0].name, "a");
  EXPECT_EQ(read("# by me, today\na,y\n1,x\n2,z\n").columns[0].name, "a") << "the comment is no header";
  CsvOptions ignored;
  ignored.ignore = {"#"};
  EXPECT_EQ(read("#,a,y\n7,1,x\n9,2,z\n", ignored).table.x, (std::vector<float>{1, 2}));
}

TEST_F(Csv, ReadsArff) {
  const std::string text =
      "% iris\n@RELATION 'a b'\n\n@attribute 'sepal length' NUMERIC\n@attribute town {oslo, 'new york'}\n"
      "@attribute class {a,b}\n@data\n5.5,'new york',a\n% between\n?,oslo,b\n";
  CsvOptions options;
  options.missing = Missing::mean;
  const CsvTable part = read(text, options);
  EXPECT_EQ(part.columns[0].name, "sepal length");
  EXPECT_EQ(part.columns[1].levels, (Names{"new york", "oslo"}));
  EXPECT_EQ(part.table.x, (std::vector<float>{5.5F, 1, 0, 5.5F, 0, 1}));
  EXPECT_EQ(part.labels.place(1), "line 10");
  expect_error(MK_BAD_DATA, {"line 10, column 'sepal length'", "data.missing"}, [&] { read(text); });
  expect_error(MK_BAD_DATA, {"line 4", "sparse row"}, [&] { read("@relation r\n@attribute a real\n@data\n{0 1}\n"); });
  expect_error(MK_BAD_DATA, {"line 4", "the weight of the row"},
               [&] { read("@relation r\n@attribute a real\n@data\n1, {5}\n"); });
  const CsvTable spectra =
      read("@relation r\n@attribute 400 real\n@attribute 450 real\n@attribute y {0,1}\n@data\n1,2,0\n3,4,1\n");
  EXPECT_EQ(spectra.columns[0].name, "400");
  EXPECT_EQ(spectra.table.rows, 2);
  expect_error(MK_BAD_DATA, {"no line @data"}, [&] { read("@relation r\n@attribute a real\n"); });
}

TEST_F(Csv, RefusesCommasThatMayMeanThousands) {
  expect_error(MK_BAD_DATA, {"line 2", "column 'people'", "2288 or 2.288"},
               [&] { read("people\ty\n2,288\ta\n5,100\tb\n"); });
  expect_error(MK_BAD_DATA, {"line 2", "column 'y'", "2288 or 2.288"}, [&] { read("a\ty\n1\t2,288\n2\t5,100\n"); });
  const CsvTable decimal = read("people\ty\n2,288\ta\n5,1\tb\n");
  EXPECT_EQ(decimal.table.x, (std::vector<float>{2.288F, 5.1F}));
  CsvOptions other, ignored;
  other.columns = &decimal.columns;
  EXPECT_EQ(read("people\ty\n2,288\ta\n", other).table.x, (std::vector<float>{2.288F})) << "as in the training file";
  ignored.ignore = {"people"};
  EXPECT_EQ(read("people\tb\ty\n2,288\t1\ta\n5,100\t2\tb\n", ignored).table.x, (std::vector<float>{1, 2}));
  EXPECT_EQ(read("x\ty\n0,288\ta\n").table.x, (std::vector<float>{0.288F}));
  expect_error(MK_BAD_DATA, {"'5,846'", "without commas between thousands"},
               [&] { read("people,y\n\"5,846\",a\n\"6,101\",b\n"); });
  for (const char* cell : {"0,288", "1,5", "1234,567", "12,34", "1,2345", "", "12", "a,123", "1,234,56"})
    EXPECT_FALSE(may_hold_thousands(cell)) << cell;
  for (const char* cell : {"2,288", "-12,345,678", "+999,999"}) EXPECT_TRUE(may_hold_thousands(cell)) << cell;
}

TEST_F(Csv, LongNumbersStayDifferentClasses) {
  const auto classes = [&](const std::string& text) { return load(spec("csv", write("l.csv", text))).class_names; };
  EXPECT_EQ(classes("a,y\n1,1152921504606846976\n2,1152921504606846977\n"),
            (Names{"1152921504606846976", "1152921504606846977"}));
  EXPECT_TRUE(classes("a,y\n1,1e16\n2,2e16\n").empty()) << "measurements";
}

TEST_F(Csv, HintsAtClassesThatDifferInCaseOnly) {
  const std::vector<std::string> notes =
      load(spec("csv", write("l.csv", "a,y\n1,Malignant\n2,malignant\n3,benign\n"))).notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("the classes 'Malignant' and 'malignant' differ only in case") == 0;
  }));
}

TEST_F(Csv, HintsAtLevelsThatDifferInCaseOnly) {
  DataSpec towns = spec("csv", write("l.csv", "town,y\nOslo,a\noslo,b\nRome,a\n"));
  towns.categorical = {"town"};
  const std::vector<std::string> notes = load(towns).notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note ==
           "the values 'Oslo' and 'oslo' of column 'town' differ only in case or blanks; if they are one "
           "value, write them alike";
  }));
}

TEST_F(Csv, NamesValuesFarOutsideTheTrainingRows) {
  const CsvTable part = read("age,y\n18,a\n94,b\n");
  CsvOptions options;
  options.columns = &part.columns;
  options.target_required = false;
  EXPECT_TRUE(read("age\n0\n170\n", options).notes.empty());
  const CsvTable far = read("age\n20\n380\n-999\n", options);
  ASSERT_EQ(far.notes.size(), 1U);
  EXPECT_NE(far.notes[0].find("column 'age' has 2 values far outside the training rows, which run from 18 to 94 (the "
                              "first, '380', in line 3)"),
            std::string::npos)
      << far.notes[0];
}

TEST_F(Csv, SaysHowToCureEachKindOfColumn) {
  std::string text = "day,share,patient,town,sample,y\n";
  for (int row = 0; row < 240; ++row)
    text += "2026-11-" + std::to_string(10 + row % 20) + "," + std::to_string(row) + ".5%,p" + std::to_string(row / 3) +
            "," + (row % 2 == 0 ? "oslo" : "rome") + ",s" + std::to_string(row) + ",1\n";
  expect_error(MK_BAD_DATA,
               {"the dates of 'day'", "the numbers of 'share' without units", "'patient', whose values name groups",
                "list 'town' in data.categorical", "'sample', whose values name single rows"},
               [&] { read(text); });
}

TEST_F(Csv, LeavesOutANamelessColumnThatCountsTheRows) {
  for (const std::string name : {"", "Unnamed: 0"}) {
    std::string text = name + ",a,y\n";
    for (int row = 0; row < 12; ++row) text += std::to_string(row) + "," + std::to_string(row % 3) + ",1\n";
    const CsvTable part = read(text);
    ASSERT_EQ(part.table.features, 1) << name;
    EXPECT_EQ(part.table.x[4], 1);
    ASSERT_EQ(part.notes.size(), 1U);
    EXPECT_NE(part.notes[0].find("numbers the rows, so it is no feature"), std::string::npos);
    CsvOptions options;
    options.columns = &part.columns;
    EXPECT_EQ(read(text, options).table.x, part.table.x);
    EXPECT_TRUE(read(text, options).notes.empty());
  }
  std::string gap = ",a,y\n";
  for (int row = 0; row < 14; ++row) gap += std::to_string(row) + (row == 5 ? ",,1\n" : ",2,1\n");
  CsvOptions drop;
  drop.missing = Missing::drop;
  EXPECT_EQ(read(gap, drop).table.features, 1) << "a dropped row leaves a gap";
}

TEST_F(Csv, RefusesMalformedText) {
  CsvOptions plain, town, mean, mean_town, nowhere, no_target, drop, own_target;
  town.categorical = {"town"};
  mean_town = town;
  mean.missing = mean_town.missing = Missing::mean;
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
      {"a,y\n1,m\xFC"
       "de\n",
       plain,
       {"line 2", "is not UTF-8", "iconv -f WINDOWS-1252"}},
      {"gr\xF6\xDF"
       "e,y\n1,2\n",
       plain,
       {"line 1", "is not UTF-8"}},
      {std::string("\xFF\xFE"
                   "a\0,\0y\0",
                   9),
       plain,
       {"is UTF-16"}},
      {std::string("a\0,\0y\0\n\0", 8), plain, {"is UTF-16 or no text"}},
      {"PK\x03\x04 and more", plain, {"is a spreadsheet"}},
      {"\r\n\n", plain, {"is empty"}},
      {"a,y\n", plain, {"has no rows that can be used"}},
      {"a,y\n,1\n", drop, {"has no rows that can be used"}},
      {"y\n1\n", plain, {"only the target column"}},
      {"a,a,y\n1,2,3\n", plain, {"line 1", "two columns are named 'a'"}},
      {"a,y\n1,2\n1,2,3\n", plain, {"line 3", "3 cells", "header has 2"}},
      {"a,y\n1\n", plain, {"line 2", "1 cells"}},
      {"a,y\nx,1\n", plain, {"line 2, column 'a'", "'x'", "data.categorical"}},
      {"a,y\nNaN,1\n", plain, {"line 2, column 'a'", "'NaN', which means that it is missing", "data.missing"}},
      {"a,b,name,y\nx,1,p,1\nx,2,q,1\nx,3z,r,1\n",
       plain,
       {"line 2, column 'a': found 'x'", "(3 of 3 cells, 1 different)", "line 4, column 'b': found '3z'",
        "column 'name': found 'p'", "correct such cells of 'b' or leave them empty", "list 'a' in data.categorical",
        "list 'name', whose values name single rows, in data.ignore"}},
      {"a,y\ninf,1\n", plain, {"line 2, column 'a'", "'inf'", "finite"}},
      {"a,y\n1e99,1\n", plain, {"line 2, column 'a'", "'1e99'", "float32"}},
      {"a,y\n,1\n", plain, {"line 2, column 'a'", "empty", "data.missing"}},
      {"a,y\n1,\n", plain, {"line 2, column 'y'", "target is empty"}},
      {"a,y\n1,\n", mean_town, {"no column 'town' for data.categorical"}},
      {"town,y\n,1\n", mean_town, {"'town' is all empty"}},
      {"a,b,y\n1,,1\n2,,1\n", mean, {"'b' is all empty"}},
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

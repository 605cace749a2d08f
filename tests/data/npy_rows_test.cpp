#include <cstring>
#include <limits>

#include "data/load.hpp"
#include "data/npy/npy_rows.hpp"
#include "support.hpp"

namespace mokume::data {
namespace {

using Floats = std::vector<float>;

// Returns a file of version 1.0 with the given type and shape.
template <class T>
std::string npy(const std::string& type, const std::string& shape, const std::vector<T>& values,
                const std::string& fortran = "False") {
  std::string header = "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  header.append(127 - 10 - header.size(), ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return bytes;
}

class NpyRowsTest : public DataTest {
 protected:
  RawTable rows(const std::string& content, Layout layout = Layout::none) const {
    return read_npy_rows({write("x.npy", content), "", layout}, 0);
  }
  void refuses(const std::vector<std::string>& words, const std::string& content, Layout layout = Layout::none) const {
    std::vector<std::string> all = {path("x.npy")};
    all.insert(all.end(), words.begin(), words.end());
    expect_error(MK_BAD_DATA, all, [&] { rows(content, layout); });
  }
};

TEST_F(NpyRowsTest, ReadsNumbersOfEveryType) {
  const Floats expected = {1, 2, 3, 4, 5, 6};
  const auto read = [&](const std::string& content) {
    const RawTable part = rows(content);
    EXPECT_EQ(part.table.rows, 3);
    EXPECT_EQ(part.table.features, 2);
    EXPECT_EQ(part.shape.channels, 0) << "not an image";
    return part.table.x;
  };
  EXPECT_EQ(read(npy<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6})), expected);
  EXPECT_EQ(read(npy<double>("<f8", "(3, 2)", {1, 2, 3, 4, 5, 6})), expected);
  EXPECT_EQ(read(npy<uint8_t>("|u1", "(3, 2)", {1, 2, 3, 4, 5, 6})), expected);
  EXPECT_EQ(read(npy<int64_t>("<i8", "(3, 2)", {1, 2, 3, 4, 5, 6})), expected);
  EXPECT_EQ(read(npy<int32_t>("<i4", "(3, 2)", {1, 2, 3, 4, 5, 6})), expected);
  EXPECT_EQ(rows(npy<int16_t>("<i2", "(1, 2)", {-3, 4})).table.x, (Floats{-3, 4}));
  EXPECT_EQ(rows(npy<uint8_t>("|b1", "(1, 2)", {0, 1})).table.x, (Floats{0, 1}));
}

TEST_F(NpyRowsTest, ReadsEitherOrderAndByteOrder) {
  const Floats expected = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(rows(npy<float>("<f4", "(3, 2)", {1, 3, 5, 2, 4, 6}, "True")).table.x, expected);
  EXPECT_EQ(rows(npy<float>("<f4", "(1, 3, 2)", {1, 3, 5, 2, 4, 6}, "True")).table.x, expected);
  EXPECT_EQ(rows(npy<float>("<f4", "(3, 2, 1)", {1, 3, 5, 2, 4, 6}, "True")).table.x, expected);
  EXPECT_EQ(rows(npy<uint16_t>(">u2", "(1, 2)", {0x0100, 0x0203})).table.x, (Floats{1, 0x0302}));
  EXPECT_EQ(rows(npy<uint16_t>("<f2", "(1, 6)", {0x3C00, 0xC000, 0x0001, 0x7BFF, 0x8000, 0x3555})).table.x,
            (Floats{1, -2, 0x1p-24F, 65504, -0.0F, 0.333251953125F}));
  refuses({"row 1, element 1", "not a finite number"}, npy<uint16_t>("<f2", "(1, 1)", {0x7C00}));
  std::string second = npy<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6});
  second[6] = 2;
  second.insert(10, 2, '\0');
  EXPECT_EQ(rows(second).table.x, expected);
  second[6] = 4;
  refuses({"version 4"}, second);
}

TEST_F(NpyRowsTest, AFileHoldsTheWeightsOfTheTrainingRows) {
  DataSpec s = spec("npy", write("x.npy", npy<float>("<f4", "(3, 1)", {1, 2, 3})));
  s.labels = write("y.npy", npy<int64_t>("<i8", "(3,)", {0, 1, 0}));
  s.weight = write("w.npy", npy<double>("<f8", "(3,)", {1, 0, 2.5}));
  s.limit = 2;
  EXPECT_EQ(load(s).train.weights, (Floats{1, 0}));
  s.weight = write("w.npy", npy<double>("<f8", "(3,)", {1, -1, 2.5}));
  expect_error(MK_BAD_DATA, {path("w.npy"), "row 2"}, [&] { load(s); });
  s.weight = write("w.npy", npy<double>("<f8", "(2,)", {1, 1}));
  expect_error(MK_BAD_DATA, {path("w.npy"), "3 training rows"}, [&] { load(s); });
}

TEST_F(NpyRowsTest, LabelsBeyondDoubleAreRefused) {
  DataSpec s = spec("npy", write("x.npy", npy<float>("<f4", "(2, 1)", {1, 2})));
  s.labels = write("y.npy", npy<int64_t>("<i8", "(2,)", {1LL << 60, (1LL << 60) + 1}));
  expect_error(MK_BAD_DATA, {"2^53", "number the classes"}, [&] { load(s); });
}

TEST_F(NpyRowsTest, ChannelsBecomeInnermost) {
  // The file holds two pictures of 1 x 2 pixels with three channels.
  const std::string outer = npy<float>("<f4", "(2, 3, 1, 2)", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const RawTable part = rows(outer, Layout::nchw);
  EXPECT_EQ(part.table.x, (Floats{1, 3, 5, 2, 4, 6, 7, 9, 11, 8, 10, 12}));
  EXPECT_EQ(part.shape, (Shape{1, 2, 3}));
  const std::string inner = npy<float>("<f4", "(2, 1, 2, 3)", {1, 3, 5, 2, 4, 6, 7, 9, 11, 8, 10, 12});
  const RawTable same = rows(inner, Layout::nhwc);
  EXPECT_EQ(same.table.x, part.table.x);
  EXPECT_EQ(same.shape, part.shape);
  EXPECT_EQ(rows(npy<float>("<f4", "(1, 2, 3)", {1, 2, 3, 4, 5, 6})).shape, (Shape{2, 3, 1}));
  const std::string five = npy<float>("<f4", "(1, 5, 1, 4)", Floats(20, 1));
  EXPECT_EQ(rows(five, Layout::nchw).shape, (Shape{1, 4, 5}))
      << "imported networks may read more channels than pictures have";
}

TEST_F(NpyRowsTest, SaysWhereChannelsMustBeNamed) {
  const std::string four = npy<float>("<f4", "(1, 1, 1, 2)", {1, 2});
  refuses({"(1, 1, 1, 2)", "data.layout"}, four);
  refuses({"remove data.layout"}, npy<float>("<f4", "(1, 2)", {1, 2}), Layout::nchw);
  refuses({"4 channels", "data.layout"}, npy<float>("<f4", "(1, 1, 1, 4)", {1, 2, 3, 4}), Layout::nhwc);
}

TEST_F(NpyRowsTest, RefusesArraysThatAreNotTables) {
  refuses({"(3,)"}, npy<float>("<f4", "(3,)", {1, 2, 3}));
  refuses({"dimensions"}, npy<float>("<f4", "()", {1}));
  refuses({"no rows"}, npy<float>("<f4", "(0, 2)", {}));
  refuses({"'<U3'"}, npy<float>("<U3", "(1, 1)", {1}));
  refuses({"'<c8'", "astype"}, npy<double>("<c8", "(1, 1)", {1}));
  refuses({"order"}, npy<float>("<f4", "(1, 2)", {1, 2}, "None"));
  refuses({"row 2, element 1", "not a finite number"},
          npy<float>("<f4", "(2, 2)", {1, 2, std::numeric_limits<float>::quiet_NaN(), 4}));
  refuses({"row 1, element 2", "float32"}, npy<double>("<f8", "(1, 2)", {1, 1e300}));
}

TEST_F(NpyRowsTest, RefusesAShapeThatTheFileCannotHold) {
  refuses({"more elements than the file can hold"}, npy<float>("<f4", "(2147483647, 2147483647, 3)", {1}));
  refuses({"more elements than the file can hold"}, npy<float>("<f4", "(1000, 1000)", {1}));
  refuses({"damaged"}, npy<float>("<f4", "(1, 3)", {1, 2}));
  refuses({"damaged"}, npy<float>("<f4", "(1, 1)", {1, 2}));
  const std::string good = npy<float>("<f4", "(1, 2)", {1, 2});
  for (size_t length = 0; length < good.size(); ++length) refuses({}, good.substr(0, length));
}

TEST_F(NpyRowsTest, LabelsAreClassesOrTargets) {
  DataSpec s = spec("npy", write("x.npy", npy<float>("<f4", "(3, 1)", {1, 2, 3})));
  s.labels = write("y.npy", npy<int64_t>("<i8", "(3,)", {7, -1, 7}));
  const Dataset data = load(s);
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"-1", "7"}));
  EXPECT_EQ(data.train.labels, (std::vector<int32_t>{1, 0, 1}));
  s.limit = 1;
  EXPECT_EQ(load(s).train.rows, 1);
  s.task = "regression";
  EXPECT_EQ(load(s).train.targets, Floats{7});
  s.labels = write("y.npy", npy<double>("<f8", "(3, 1)", {0.5, 1, 2}));
  s.task = "";
  EXPECT_TRUE(load(s).class_names.empty());
  s.labels = write("y.npy", npy<double>("<f8", "(2,)", {1, 2}));
  expect_error(MK_BAD_DATA, {path("y.npy"), "2 labels", "3 rows"}, [&] { load(s); });
  s.labels = write("y.npy", npy<double>("<f8", "(3, 2)", {1, 2, 3, 4, 5, 6}));
  expect_error(MK_BAD_DATA, {path("y.npy"), "(3, 2)", "one number for each row"}, [&] { load(s); });
  s.labels = "";
  expect_error(MK_INVALID_ARGUMENT, {"data.labels"}, [&] { load(s); });
}

TEST_F(NpyRowsTest, TheTestSetHasItsOwnLabels) {
  DataSpec s = spec("npy", write("x.npy", npy<float>("<f4", "(2, 1)", {1, 2})));
  s.labels = write("y.npy", npy<int64_t>("<i8", "(2,)", {0, 1}));
  s.test = write("t.npy", npy<float>("<f4", "(1, 1)", {5}));
  expect_error(MK_INVALID_ARGUMENT, {"data.test_labels"}, [&] { load(s); });
  s.test_labels = write("ty.npy", npy<int64_t>("<i8", "(1,)", {1}));
  EXPECT_EQ(load(s).test.labels, std::vector<int32_t>{1});
  const Dataset unlabelled = load_for_prediction(spec("npy", s.test), {{"0", "1"}, {}, {}, 1});
  EXPECT_EQ(unlabelled.train.x, Floats{5});
  EXPECT_TRUE(unlabelled.train.labels.empty());
  s.test = write("t.npy", npy<float>("<f4", "(1, 2)", {5, 6}));
  expect_error(MK_BAD_DATA, {path("t.npy"), "2 features", "has 1"}, [&] { load(s); });
}

}  // namespace
}  // namespace mokume::data

#include "data/npy/npy.hpp"

#include <cmath>
#include <limits>

#include "data/support.hpp"

namespace mokume::data {
namespace {

class Npy : public DataTest {
 protected:
  std::string bytes() const {
    std::ifstream in(path("a.npy"), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& content) const { std::ofstream(path("a.npy"), std::ios::binary) << content; }
  std::string failure() const {
    try {
      read_npy(path("a.npy"));
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), MK_BAD_DATA);
      return e.what();
    }
  }
};

TEST_F(Npy, KeepsEveryBit) {
  const FloatTable table{2, 3, {0.1F, -0.0F, std::numeric_limits<float>::infinity(), 1e-45F, 3, 4}};
  write_npy(path("a.npy"), table);
  const FloatTable back = read_npy(path("a.npy"));
  EXPECT_EQ(back.rows, 2);
  EXPECT_EQ(back.columns, 3);
  EXPECT_EQ(back.values, table.values);
  EXPECT_TRUE(std::signbit(back.values[1]));
  write_npy(path("a.npy"), {0, 10, {}});
  EXPECT_EQ(read_npy(path("a.npy")).columns, 10);
}

// numpy.lib.format describes this layout for version 1.0: magic, version, length, and a literal that ends in a newline
// at a 64-byte boundary.
TEST_F(Npy, WritesFilesThatNumPyReads) {
  write_npy(path("a.npy"), {1, 2, {1, 2}});
  const std::string all = bytes();
  EXPECT_EQ(all.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const size_t header = static_cast<unsigned char>(all[8]) + 256U * static_cast<unsigned char>(all[9]);
  EXPECT_EQ((10 + header) % 64, 0U);
  EXPECT_EQ(all[10 + header - 1], '\n');
  EXPECT_EQ(all.substr(10, 61), "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }  ");
  EXPECT_EQ(all.size(), 10 + header + 8);
}

TEST_F(Npy, RefusesDamagedFiles) {
  write_npy(path("a.npy"), {2, 2, {1, 2, 3, 4}});
  const std::string good = bytes();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    write(text);
    return failure();
  };
  EXPECT_NE(with("NUMPY", "NUMBY").find("not a NumPy array"), std::string::npos);
  EXPECT_NE(with("<f4", "<f8").find("float32"), std::string::npos);
  EXPECT_NE(with("False", "Fals_").find("order"), std::string::npos);
  EXPECT_NE(with("(2, 2)", "(2, 9)").find("damaged"), std::string::npos);
  EXPECT_NE(with("(2, 2)", "(2,-2)").find("shape"), std::string::npos);
  EXPECT_NE(with("(2, 2)", "(2, ) ").find("shape"), std::string::npos);
  EXPECT_NE(with("2, 2), ", "2,1,2),").find("dimensions"), std::string::npos);
  for (size_t length = 0; length < good.size(); ++length) {
    write(good.substr(0, length));
    EXPECT_NE(failure(), "") << length;
  }
}

}  // namespace
}  // namespace mokume::data

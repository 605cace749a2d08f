// Reads one file in NumPy's array format (NEP 1, versions 1.0 to 3.0), in either order and byte order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/input.hpp"

namespace mokume::data {

class NpyFile {
 public:
  // Reads the header. Throws Error(MK_BAD_DATA), with the file, the problem and the cure, if the file holds no such
  // array, the type is neither a real number nor a boolean, or the shape claims more numbers than the file can hold.
  explicit NpyFile(const std::string& path);

  const std::string& path() const { return path_; }
  const std::string& type() const { return type_; }             // in NumPy's notation, e.g. "<f4" or ">i2"
  const std::vector<int64_t>& shape() const { return shape_; }  // one or more dimensions, each below 2^31
  bool may_round() const { return bytes_each_ >= 4 && !type_.ends_with("f4"); }  // float32 may not hold all numbers
  bool whole() const { return type_[1] != 'f'; }  // whether the numbers are integers or booleans
  uint64_t count() const { return count_; }       // product of the shape

  // Calls take(numbers, count) with consecutive parts of the array in row-major order. An array in Fortran order is
  // read as a whole first. Throws Error(MK_BAD_DATA) if anything follows it.
  void read(const std::function<void(const double*, size_t)>& take);

 private:
  void read_in_file_order(const std::function<void(const double*, size_t)>& take);
  void parse(const std::string& header);
  void parse_shape(const std::string& header);

  std::string path_;
  Input input_;
  std::string type_;
  std::vector<int64_t> shape_;
  uint64_t count_ = 1;
  size_t bytes_each_ = 0;
  bool fortran_ = false;  // the first dimension varies fastest
};

}  // namespace mokume::data

// Reads rows of a CSV file that arrive over time, such as the output of another program.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "data/csv.hpp"

namespace mokume::data {

// Reads a file descriptor, usually standard input, without waiting for its end. Only one thread may use an object.
class CsvStream {
 public:
  // Does not own `fd`.
  explicit CsvStream(int fd, CsvExpected expected = {}) : fd_(fd), expected_(std::move(expected)) {}

  // Waits for at least one row, and sets `piece` to the header, if any, and all complete rows. The piece stays valid
  // until the next call. Returns false at the end. Throws Error(MK_BAD_DATA) if a row has more than kMostRowBytes, if
  // the stream cannot be read, or if it is compressed.
  bool next(CsvPiece& piece);

  static constexpr size_t kMostRowBytes = size_t{64} << 20;

 private:
  void fill();             // reads at least one byte unless the stream has ended
  size_t complete_rows();  // returns the size of all complete rows
  std::string take(size_t bytes);

  int fd_;
  CsvExpected expected_;
  CsvFormat format_ = {};
  bool ended_ = false, quoted_ = false;
  std::string waiting_;   // bytes read but not returned yet
  size_t looked_at_ = 0;  // size of the part of `waiting_` that was scanned
  size_t complete_ = 0;   // size of the part of `waiting_` that ends with a row
  std::string header_, text_;
  int64_t lines_ = 0, start_ = 0;  // number of lines before `waiting_`, and before the first piece
  bool first_ = true;
};

}  // namespace mokume::data

// Rows of a CSV file that arrive over time, such as those of another program's output.
#pragma once

#include <cstdint>
#include <string>

#include "data/csv.hpp"

namespace mokume::data {

// Reads a file descriptor, usually standard input, without waiting for its end. Used by one thread.
class CsvStream {
 public:
  explicit CsvStream(int fd) : fd_(fd) {}  // does not own it

  // Waits for a row and gets all that have arrived, under the header that the first piece has; the piece is valid until
  // the next call. Returns false at the end. Throws Error(MK_BAD_DATA) if a row has more than kMostRowBytes, if the
  // stream cannot be read, or if it is compressed.
  bool next(CsvPiece& piece);

  static constexpr size_t kMostRowBytes = size_t{64} << 20;

 private:
  void fill();             // reads what has arrived, at least one byte, unless the stream has ended
  size_t complete_rows();  // bytes
  std::string take(size_t bytes);

  int fd_;
  bool ended_ = false, quoted_ = false;
  std::string waiting_;   // read and not returned
  size_t looked_at_ = 0;  // bytes of it
  size_t complete_ = 0;   // bytes of it that end with a row
  std::string header_, text_;
  int64_t lines_ = 0, start_ = 0;  // before `waiting_`, and before the first piece
  bool first_ = true;
};

}  // namespace mokume::data

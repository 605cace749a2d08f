// Input files for the readers: bounded, decompressed if gzipped, with errors that quote the offending text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

struct gzFile_s;

namespace mokume::data {

inline constexpr uint64_t kMaxFileBytes = uint64_t{8} << 30;  // after decompression
inline constexpr int64_t kMaxFeatures = int64_t{1} << 24;
inline constexpr const char* kStandardInput = "-";  // as a path; a file of this name is ./-

// A regular file or standard input, read sequentially. What starts with gzip's magic number is decompressed.
class Input {
 public:
  explicit Input(const std::string& path);  // Error(MK_BAD_DATA)
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  size_t read(void* to, size_t size);  // returns fewer bytes than requested only at the end
  // The maximum content size: the file size, or the file size times the best possible ratio of deflate; of standard
  // input UINT64_MAX.
  uint64_t most_bytes() const { return most_bytes_; }
  bool size_known() const { return !compressed_ && most_bytes_ != UINT64_MAX; }

 private:
  std::string path_;
  gzFile_s* file_ = nullptr;
  uint64_t most_bytes_ = 0;
  bool compressed_ = false;
};

// Returns the whole file without a UTF-8 byte order mark. Error(MK_BAD_DATA) if it has more than `max_bytes`.
std::string read_text(const std::string& path, uint64_t max_bytes = kMaxFileBytes);

// Returns rows * features if that many floats fit into the remaining memory; else Error(MK_BAD_DATA).
size_t checked_count(const std::string& path, int64_t rows, int64_t features);

// Text from a file, for a message: in quotes, short, printable.
struct Quoted {
  std::string operator()(std::string_view text) const;
};
inline constexpr Quoted quoted;  // not a function: for a std::string, lookup would find std::quoted as well

// "'path'", or "standard input".
std::string shown_path(const std::string& path);

// Throws Error(MK_BAD_DATA) "'path', place: what"; an empty place is left out.
[[noreturn]] void bad_data(const std::string& path, const std::string& place, const std::string& what);

}  // namespace mokume::data

// Opens files with a size limit, decompresses them if gzipped, and reports errors that quote the offending text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

struct gzFile_s;  // NOLINT(readability-identifier-naming): the name is zlib's

namespace mokume::data {

inline constexpr uint64_t kMaxFileBytes = uint64_t{8} << 30;  // limit after decompression
inline constexpr int64_t kMaxFeatures = int64_t{1} << 24;
inline constexpr const char* kStandardInput = "-";  // path of standard input; ./- names a file called -

// Reads a regular file or standard input sequentially. Decompresses content that starts with gzip's magic number.
class Input {
 public:
  explicit Input(const std::string& path);  // throws Error(MK_BAD_DATA)
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  size_t read(void* to, size_t size);  // returns fewer bytes than requested only at the end
  // Returns an upper bound of the content size: the file size, for gzip multiplied by the best possible ratio of
  // deflate, or UINT64_MAX for standard input.
  uint64_t most_bytes() const { return most_bytes_; }
  bool size_known() const { return !compressed_ && most_bytes_ != UINT64_MAX; }

 private:
  std::string path_;
  gzFile_s* file_ = nullptr;
  uint64_t most_bytes_ = 0;
  bool compressed_ = false;
};

// Returns the whole file without a UTF-8 byte order mark. Throws Error(MK_BAD_DATA) if it has more than `max_bytes`.
std::string read_text(const std::string& path, uint64_t max_bytes = kMaxFileBytes);

// Throws Error(MK_BAD_DATA) if the text of a table is not UTF-8, and names the kind of file if it is another known one.
// `lines_before` is the number of lines of the file before the text.
void check_utf8(const std::string& path, std::string_view text, int64_t lines_before = 0);

// Returns rows * features. Throws Error(MK_BAD_DATA) if so many values take more than half of the free memory.
size_t checked_count(const std::string& path, int64_t rows, int64_t features, size_t bytes_each = sizeof(float));

// Shortens and quotes text from a file for a message, and makes it printable.
struct Quoted {
  std::string operator()(std::string_view text) const;
};
// This is an object, because calls of a function quoted(string) would be ambiguous with std::quoted.
inline constexpr Quoted quoted;

// Returns "'path'" or "standard input".
std::string shown_path(const std::string& path);

// Throws Error(MK_BAD_DATA) with the message "'path', place: what", or "'path' what" if `place` is empty.
[[noreturn]] void bad_data(const std::string& path, const std::string& place, const std::string& what);

}  // namespace mokume::data

// Files as the readers see them: bounded, gunzipped where needed, and errors that quote what they found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

struct gzFile_s;

namespace mokume::data {

inline constexpr uint64_t kMaxFileBytes = uint64_t{8} << 30;  // after gunzipping
inline constexpr int64_t kMaxFeatures = int64_t{1} << 24;

// A regular file read in order; one that starts with gzip's magic number is gunzipped on the way.
class Input {
 public:
  explicit Input(const std::string& path);  // Error(MK_BAD_DATA)
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  size_t read(void* to, size_t size);  // fewer bytes than asked for only at the end
  // The most that the file can hold: its size, or the size times the best ratio deflate reaches.
  uint64_t most_bytes() const { return most_bytes_; }
  bool compressed() const { return compressed_; }

 private:
  std::string path_;
  gzFile_s* file_ = nullptr;
  uint64_t most_bytes_ = 0;
  bool compressed_ = false;
};

// The whole file without a UTF-8 byte order mark. Error(MK_BAD_DATA) if it holds more than `max_bytes`.
std::string read_text(const std::string& path, uint64_t max_bytes = kMaxFileBytes);

// rows * features, if that many floats fit into the memory that is left here; else Error(MK_BAD_DATA).
size_t checked_count(const std::string& path, int64_t rows, int64_t features);

// Text from a file for a message: in quotes, short, printable.
struct Quoted {
  std::string operator()(std::string_view text) const;
};
inline constexpr Quoted quoted;  // no function: beside one, std::quoted would be found for a std::string

// Error(MK_BAD_DATA) "'path', place: what"; an empty place is left out.
[[noreturn]] void bad_data(const std::string& path, const std::string& place, const std::string& what);

}  // namespace mokume::data

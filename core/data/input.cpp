#include "data/input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/memory.hpp"
#include "base/missing.hpp"
#include "base/text.hpp"
#include "sdk/error.hpp"

namespace mokume::data {
namespace {

// Deflate codes at most 258 bytes in two bits; the zlib documentation states a limit of 1032:1.
constexpr uint64_t kDeflateRatio = 1032;

constexpr size_t kFirstBytes = 1000;  // a table in UTF-16 has a zero byte among them

std::string cause(int code) { return std::generic_category().message(code); }

}  // namespace

Input::Input(const std::string& path) : path_(path) {
  // Opens without blocking, so that a pipe in place of a file cannot hang the program.
  const bool standard = path == kStandardInput;
  const int fd =
      standard ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) bad_data(path, "", "cannot be opened: " + base::open_failure(path, errno) + "; check the path");
  struct stat status {};
  const bool regular = standard || (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode));
  if (regular) file_ = ::gzdopen(fd, "rb");
  if (file_ == nullptr) {
    ::close(fd);
    bad_data(path, "", regular ? "cannot be opened: out of memory" : "is not a regular file; name a file");
  }
  ::gzbuffer(file_, 1U << 17);
  compressed_ = ::gzdirect(file_) == 0;
  const uint64_t size = standard ? UINT64_MAX : static_cast<uint64_t>(status.st_size);
  most_bytes_ = !compressed_ || standard ? size : std::min(size, UINT64_MAX / kDeflateRatio) * kDeflateRatio;
}

Input::~Input() { ::gzclose(file_); }

size_t Input::read(void* to, size_t size) {
  size_t used = 0;
  while (used < size) {
    const auto want = static_cast<unsigned>(std::min<size_t>(size - used, 1U << 30));
    const int got = ::gzread(file_, static_cast<char*>(to) + used, want);
    if (got > 0) used += static_cast<size_t>(got);
    if (got == static_cast<int>(want)) continue;
    int code = Z_OK;
    ::gzerror(file_, &code);
    if (code == Z_BUF_ERROR) bad_data(path_, "", "ends in the middle of its gzip stream; fetch it again");
    if (code == Z_ERRNO) bad_data(path_, "", "cannot be read: " + cause(errno));
    if (got < 0 || code != Z_OK) bad_data(path_, "", "has a damaged gzip stream; fetch it again");
    break;
  }
  return used;
}

std::string read_text(const std::string& path, uint64_t max_bytes) {
  Input input(path);
  std::string text;
  size_t used = 0;
  // The buffer grows as bytes arrive, so that the claimed size of a file does not determine the memory used.
  size_t room =
      input.size_known() ? static_cast<size_t>(std::min<uint64_t>(input.most_bytes(), max_bytes)) + 1 : size_t{1} << 20;
  for (;;) {
    text.resize(room);
    const size_t got = input.read(text.data() + used, room - used);
    used += got;
    if (used > max_bytes)
      bad_data(path, "", "holds more than " + base::human_bytes(max_bytes) + "; split it into smaller files");
    if (used < room) break;
    room = static_cast<size_t>(std::min<uint64_t>(uint64_t{room} * 2, max_bytes + 1));
  }
  text.resize(used);
  if (text.compare(0, 3, "\xEF\xBB\xBF") == 0) text.erase(0, 3);
  return text;
}

void check_utf8(const std::string& path, std::string_view text, int64_t lines_before) {
  using namespace std::string_view_literals;
  if (text.starts_with("PK\x03\x04"sv)) bad_data(path, "", "is a spreadsheet or a zip archive; save the table as CSV");
  const bool marked = text.starts_with("\xFF\xFE"sv) || text.starts_with("\xFE\xFF"sv);
  if (marked || text.substr(0, kFirstBytes).find('\0') != std::string_view::npos)
    bad_data(path, "", "is UTF-16 or no text; save it as UTF-8, for example with iconv -f UTF-16 -t UTF-8");
  for (size_t at = 0; at < text.size();) {
    uint64_t eight = 0;
    if (at + sizeof(eight) <= text.size()) std::memcpy(&eight, text.data() + at, sizeof(eight));
    const bool ascii = at + sizeof(eight) <= text.size() && (eight & 0x8080808080808080U) == 0;
    const size_t length = ascii ? sizeof(eight) : base::utf8_length(text.substr(at, 4));
    if (length == 0)
      bad_data(
          path,
          "line " +
              std::to_string(lines_before + 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n')),
          "holds a byte that is not UTF-8; save the table as UTF-8, for example with iconv -f WINDOWS-1252 -t UTF-8");
    at += length;
  }
}

size_t checked_count(const std::string& path, int64_t rows, int64_t features, size_t bytes_each) {
  const auto r = static_cast<uint64_t>(rows);
  const auto f = static_cast<uint64_t>(features);
  // Asking for the free memory reads several files, which would take longer than a row of a stream.
  constexpr uint64_t kLittle = uint64_t{16} << 20;
  if (f == 0 || r <= kLittle / bytes_each / f) return static_cast<size_t>(r * f);
  const uint64_t free = base::host_available_bytes();
  if (free != 0 && r > free / 2 / bytes_each / f)
    bad_data(path, "",
             "gives " + std::to_string(rows) + " rows of " + std::to_string(features) + " features, which take " +
                 std::to_string(r * f * bytes_each) + " bytes, more than half of the " + base::human_bytes(free) +
                 " of free memory; set data.limit");
  return static_cast<size_t>(r * f);
}

std::string Quoted::operator()(std::string_view text) const {
  constexpr size_t kMost = 40;
  return "'" + base::without_controls(text.substr(0, kMost)) + (text.size() > kMost ? "...'" : "'");
}

std::string shown_path(const std::string& path) {
  if (path == kStandardInput) return "standard input";
  return "'" + base::without_controls(path) + "'";
}

void bad_data(const std::string& path, const std::string& place, const std::string& what) {
  throw Error(MK_BAD_DATA, shown_path(path) + (place.empty() ? " " : ", " + place + ": ") + what);
}

}  // namespace mokume::data

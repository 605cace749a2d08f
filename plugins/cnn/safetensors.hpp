// The safetensors format: named tensors and texts in one file.
//
// A file is an unsigned 64-bit little-endian length, a JSON object of that many bytes
// ({"NAME":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...}, with texts under "__metadata__"), and the data,
// row-major and little endian, that the offsets (from the end of the header) cover without gap or overlap.
// https://github.com/huggingface/safetensors
//
// A file may carry a checksum of itself: the metadata "mokume_crc32" is CRC-32 (zlib) in 8 hexadecimal digits of the
// whole file, with zeros for these digits. Other readers of the format take it for a text.
//
// A user of this header links nlohmann_json and zlib.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "sdk/error.hpp"

namespace mokume::sdk::safetensors {

static_assert(std::endian::native == std::endian::little, "data are written as they stand in memory");

// The types of mokume's tensors, from the first to the last in a file: no element is ever misaligned.
enum class Dtype { i64, f32, i32 };

inline const char* to_text(Dtype dtype) { return dtype == Dtype::i64 ? "I64" : dtype == Dtype::f32 ? "F32" : "I32"; }
inline uint64_t element_bytes(Dtype dtype) { return dtype == Dtype::i64 ? 8 : 4; }

using Shape = std::vector<int64_t>;  // no entry: one number; an entry of 0: no numbers
using Metadata = std::map<std::string, std::string>;

// Far more than any network needs; a longer header is refused before it is read.
inline constexpr uint64_t kMaxHeaderBytes = uint64_t{1} << 24;

namespace detail {

inline constexpr const char* kMetadata = "__metadata__";
inline constexpr const char* kChecksum = "mokume_crc32";
inline constexpr uint64_t kChecksumDigits = 8;

// Where a header's text has the digits of the checksum; npos without one. Quotes within a text are escaped, so that
// none passes for the key.
inline size_t checksum_place(std::string_view header) {
  const std::string key = '"' + std::string(kChecksum) + "\":\"";
  const size_t at = header.find(key);
  return at == std::string_view::npos ? at : at + key.size();
}

class Crc32 {
 public:
  void add(const void* data, uint64_t bytes) {
    if (bytes > 0) crc_ = crc32_z(crc_, static_cast<const Bytef*>(data), bytes);  // null would begin anew
  }
  std::string text() const {
    std::array<char, kChecksumDigits + 1> digits{};
    std::snprintf(digits.data(), digits.size(), "%08lx", crc_);
    return digits.data();
  }

 private:
  uLong crc_ = 0;
};

inline std::string to_text(const Shape& shape) {
  std::string out;
  for (const int64_t size : shape) out += (out.empty() ? "[" : ", ") + std::to_string(size);
  return out.empty() ? "[]" : out + "]";
}

// A name from a file as a message may show it.
inline std::string quoted(std::string_view name) {
  std::string out = "'";
  for (const char c : name.substr(0, 80)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (name.size() > 80 ? "...'" : "'");
}

// False if a size is negative or the bytes do not fit into 63 bits.
inline bool count_bytes(Dtype dtype, const Shape& shape, uint64_t* bytes) {
  int64_t product = static_cast<int64_t>(element_bytes(dtype));
  for (const int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(product, size, &product)) return false;
  *bytes = static_cast<uint64_t>(product);
  return true;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  int close() {
    const int fd = std::exchange(fd_, -1);
    return fd >= 0 ? ::close(fd) : 0;
  }

 private:
  int fd_;
};

}  // namespace detail

// Collects tensors and writes them. Same content, same bytes, whatever the order of the calls: tensors stand by type,
// then by name, as in files of the format's own library.
class Writer {
 public:
  // Takes the next bytes of a tensor, and keeps no pointer to them.
  using Put = std::function<void(const void* data, uint64_t bytes)>;
  // Gives all bytes of a tensor, row-major, in as many pieces as it likes: memory need not hold the whole tensor.
  using Source = std::function<void(const Put& put)>;

  // write() calls `source`, and passes on what it throws. Error(MK_INVALID_ARGUMENT) for a name that is taken, reserved
  // or no UTF-8, and for sizes that are negative or overflow.
  void add(const std::string& name, Dtype dtype, const Shape& shape, Source source) {
    Entry entry{dtype, shape, std::move(source), 0};
    if (name == detail::kMetadata) refuse(name, "has a reserved name: rename it");
    if (!detail::count_bytes(dtype, shape, &entry.bytes))
      refuse(name, "has the impossible shape " + detail::to_text(shape) + ": sizes must not be negative or overflow");
    text_of(name);
    if (!tensors_.emplace(name, std::move(entry)).second) refuse(name, "was added before: names must differ");
  }
  // `data` holds the product of `shape` elements, is not copied and must live until write().
  void add(const std::string& name, Dtype dtype, const Shape& shape, const void* data) {
    uint64_t bytes = 0;
    if (detail::count_bytes(dtype, shape, &bytes) && bytes > 0 && data == nullptr)
      refuse(name, "has no data: pass a pointer to its elements");
    add(name, dtype, shape, [data, bytes](const Put& put) { put(data, bytes); });
  }
  void add(const std::string& name, const Shape& shape, const float* data) { add(name, Dtype::f32, shape, data); }
  void add(const std::string& name, const Shape& shape, const int32_t* data) { add(name, Dtype::i32, shape, data); }
  void add(const std::string& name, const Shape& shape, const int64_t* data) { add(name, Dtype::i64, shape, data); }

  // The file carries a checksum.
  void checksum() { metadata_[detail::kChecksum] = std::string(detail::kChecksumDigits, '0'); }

  // Replaces an earlier text of that key. Error(MK_INVALID_ARGUMENT) if one of them is no UTF-8.
  void metadata(const std::string& key, const std::string& value) {
    if (key == detail::kChecksum) throw Error(MK_INVALID_ARGUMENT, "safetensors: " + key + " is set by checksum()");
    text_of(key);
    text_of(value);
    metadata_[key] = value;
  }

  // Writes another file beside it, fsyncs and renames: a reader sees the old or the new file, whoever else writes to
  // the same path; a kill leaves at most PATH.tmp-.... Error(MK_STORAGE) names the path and the cause.
  void write(const std::string& path) const {
    std::string temporary;
    const auto check = [&](bool good) {
      if (good) return;
      const std::string cause = std::generic_category().message(errno);
      throw Error(MK_STORAGE, "cannot write " + path + ": " + cause + "; check free space and permissions");
    };
    detail::Descriptor file = [&] {
      constexpr int kMost = 1000;  // left by killed processes of that number
      for (int attempt = 0;; ++attempt) {
        temporary = path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
        const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        check(fd >= 0 || (errno == EEXIST && attempt < kMost));
        if (fd >= 0) return detail::Descriptor(fd);
      }
    }();
    try {
      const std::string head = header();
      detail::Crc32 crc;
      const auto append = [&](const void* data, uint64_t bytes) {
        crc.add(data, bytes);
        check(put(file.get(), data, bytes));
      };
      append(head.data(), head.size());
      for (const auto& [name, entry] : in_order()) {
        uint64_t left = entry->bytes;
        const auto give_wrong = [&tensor = name] {
          refuse(tensor, "was given more or fewer bytes than its shape has: mend its source");
        };
        entry->source([&](const void* data, uint64_t bytes) {
          if (bytes > left) give_wrong();
          left -= bytes;
          append(data, bytes);
        });
        if (left != 0) give_wrong();
      }
      const std::string digits = crc.text();
      check(metadata_.count(detail::kChecksum) == 0 ||
            ::pwrite(file.get(), digits.data(), digits.size(), static_cast<off_t>(detail::checksum_place(head))) ==
                static_cast<ssize_t>(digits.size()));
      check(::fsync(file.get()) == 0 && file.close() == 0 && ::rename(temporary.c_str(), path.c_str()) == 0);
    } catch (...) {
      ::unlink(temporary.c_str());
      throw;
    }
    // The new name must survive a power cut too. Not every file system can sync a directory: no error then.
    const size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const detail::Descriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.get() >= 0) ::fsync(directory.get());
  }

 private:
  struct Entry {
    Dtype dtype;
    Shape shape;
    Source source;
    uint64_t bytes;
  };
  using Ordered = std::vector<std::pair<std::string, const Entry*>>;

  [[noreturn]] static void refuse(const std::string& name, const std::string& why) {
    throw Error(MK_INVALID_ARGUMENT, "safetensors: tensor " + detail::quoted(name) + " " + why);
  }

  static std::string text_of(const std::string& text) {
    try {
      return nlohmann::json(text).dump();
    } catch (const nlohmann::json::exception&) {
      throw Error(MK_INVALID_ARGUMENT, "safetensors: " + detail::quoted(text) + " is not UTF-8: pass plain text");
    }
  }

  Ordered in_order() const {
    Ordered order;
    for (const auto& [name, entry] : tensors_) order.emplace_back(name, &entry);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second->dtype < b.second->dtype; });
    return order;
  }

  // Length and JSON, filled with spaces so that the data start at a multiple of 8.
  std::string header() const {
    std::string json;
    for (const auto& [key, value] : metadata_) json += (json.empty() ? "" : ",") + text_of(key) + ":" + text_of(value);
    if (!json.empty()) json = text_of(detail::kMetadata) + ":{" + json + "}";
    uint64_t at = 0;
    for (const auto& [name, entry] : in_order()) {
      std::string shape;
      for (const int64_t size : entry->shape) shape += (shape.empty() ? "" : ",") + std::to_string(size);
      json += (json.empty() ? "" : ",") + text_of(name) + R"(:{"dtype":")" + to_text(entry->dtype) + R"(","shape":[)" +
              shape + R"(],"data_offsets":[)" + std::to_string(at) + "," + std::to_string(at + entry->bytes) + "]}";
      at += entry->bytes;
    }
    json = "{" + json + "}";
    json.append((8 - json.size() % 8) % 8, ' ');
    const uint64_t length = json.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + json;
  }

  static bool put(int fd, const void* data, uint64_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t n = ::write(fd, from, static_cast<size_t>(std::min(bytes, uint64_t{1} << 30)));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      from += n;
      bytes -= static_cast<uint64_t>(n);
    }
    return true;
  }

  std::map<std::string, Entry> tensors_;
  Metadata metadata_;
};

struct Tensor {
  std::string name;
  Dtype dtype = Dtype::f32;
  Shape shape;
  uint64_t begin = 0;  // bytes from the start of the data
  uint64_t bytes = 0;
};

// A file that may hold anything: the constructor checks all but the tensors' data, which are read one tensor at a time
// straight into the caller's memory. const functions may be called from several threads. Every failure is an
// Error(MK_BAD_DATA) that names the file, the tensor and the cure.
class Reader {
 public:
  explicit Reader(const std::string& path)
      // Non-blocking, so that a pipe put in the file's place cannot hang the program.
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (file_.get() < 0) refuse("cannot be opened (" + std::generic_category().message(errno) + "): check the path");
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) refuse("is no regular file: check the path");
    const auto size = static_cast<uint64_t>(status.st_size);
    uint64_t length = 0;
    if (size < sizeof(length)) damaged("is too short for a header");
    get(0, &length, sizeof(length), "the header");
    if (length > size - sizeof(length)) damaged("ends inside its header");
    if (length > kMaxHeaderBytes) damaged("has a header of " + std::to_string(length) + " bytes");
    header_.resize(static_cast<size_t>(length));
    get(sizeof(length), header_.data(), length, "the header");
    data_begin_ = sizeof(length) + length;
    data_bytes_ = size - data_begin_;
    parse(header_);
    check_offsets(data_bytes_);
  }

  const Metadata& metadata() const { return metadata_; }  // without the checksum

  // Reads the whole file once. Fails if it has no checksum, or is not as it was written with it.
  void verify() const {
    const size_t place = detail::checksum_place(header_);
    if (checksum_.empty() || place == std::string::npos)
      refuse("has no checksum: an older version wrote it, or another program");
    detail::Crc32 crc;
    const uint64_t length = header_.size();
    crc.add(&length, sizeof(length));
    std::string blank = header_;
    blank.replace(place, detail::kChecksumDigits, detail::kChecksumDigits, '0');
    crc.add(blank.data(), length);
    std::vector<char> piece(static_cast<size_t>(std::min(data_bytes_, uint64_t{1} << 20)));
    for (uint64_t at = 0; at < data_bytes_; at += piece.size()) {
      const uint64_t bytes = std::min<uint64_t>(piece.size(), data_bytes_ - at);
      get(data_begin_ + at, piece.data(), bytes, "the data");
      crc.add(piece.data(), bytes);
    }
    if (crc.text() != checksum_ || header_.compare(place, detail::kChecksumDigits, checksum_) != 0)
      refuse("is not as it was written (its checksum differs)");
  }

  const std::vector<Tensor>& tensors() const { return tensors_; }  // in the order of their data

  // Null if there is none of that name.
  const Tensor* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &tensors_[found->second];
  }

  // Fills `into`, which holds tensor.bytes bytes; `tensor` is one of tensors().
  void read(const Tensor& tensor, void* into) const { read(tensor, 0, tensor.bytes, into); }

  // The same for bytes [first, first + bytes) of it, which it must have.
  void read(const Tensor& tensor, uint64_t first, uint64_t bytes, void* into) const {
    get(data_begin_ + tensor.begin + first, into, bytes, "tensor " + detail::quoted(tensor.name));
  }

  // The same for a tensor that must have this type and shape.
  void read(std::string_view name, Dtype dtype, const Shape& shape, void* into) const {
    const Tensor* tensor = find(name);
    if (tensor == nullptr) refuse("has no tensor " + detail::quoted(name) + ": was it saved by another model?");
    if (tensor->dtype != dtype || tensor->shape != shape)
      refuse("has a tensor " + detail::quoted(name) + " of " + safetensors::to_text(tensor->dtype) +
             detail::to_text(tensor->shape) + " where " + safetensors::to_text(dtype) + detail::to_text(shape) +
             " is needed: was it saved by another model?");
    read(*tensor, into);
  }
  void read(std::string_view name, const Shape& shape, float* into) const { read(name, Dtype::f32, shape, into); }
  void read(std::string_view name, const Shape& shape, int32_t* into) const { read(name, Dtype::i32, shape, into); }
  void read(std::string_view name, const Shape& shape, int64_t* into) const { read(name, Dtype::i64, shape, into); }

 private:
  using json = nlohmann::json;

  [[noreturn]] void refuse(const std::string& why) const { throw Error(MK_BAD_DATA, path_ + " " + why); }
  [[noreturn]] void damaged(const std::string& why) const {
    refuse(why + ": it is no safetensors file, or cut or damaged; copy or save it again");
  }

  void get(uint64_t offset, void* into, uint64_t bytes, const std::string& what) const {
    char* to = static_cast<char*>(into);
    while (bytes > 0) {
      const ssize_t n =
          ::pread(file_.get(), to, static_cast<size_t>(std::min(bytes, uint64_t{1} << 30)), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) refuse("cannot be read (" + std::generic_category().message(errno) + "): check the disk");
      if (n == 0) damaged("ends inside " + what);
      to += n;
      offset += static_cast<uint64_t>(n);
      bytes -= static_cast<uint64_t>(n);
    }
  }

  void parse(const std::string& text) {
    // The format wants the first byte to be a brace; spaces may follow the last.
    if (text.empty() || text[0] != '{') damaged("has a header that is no JSON object");
    std::vector<std::set<std::string>> keys;  // of the objects that are open: JSON would let the last of two win
    const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
      using Event = json::parse_event_t;
      const bool opens = event == Event::object_start || event == Event::array_start;
      if (opens && depth > 2) damaged("has a header that is nested too deeply");
      if (event == Event::object_start) keys.emplace_back();
      if (event == Event::object_end) keys.pop_back();
      if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second)
        damaged("names " + detail::quoted(parsed.get_ref<const std::string&>()) + " twice");
      return true;
    };
    json header;
    try {
      header = json::parse(text, watch);
    } catch (const json::exception&) {
      damaged("has a header that is no JSON");
    }
    for (const auto& [name, value] : header.items()) {
      if (name == detail::kMetadata)
        parse_metadata(value);
      else
        parse_tensor(name, value);
    }
  }

  void parse_metadata(const json& object) {
    if (!object.is_object()) damaged("has metadata that are no texts");
    for (const auto& [key, value] : object.items()) {
      if (!value.is_string()) damaged("has metadata that are no texts");
      (key == detail::kChecksum ? checksum_ : metadata_[key]) = value.get<std::string>();
    }
  }

  void parse_tensor(const std::string& name, const json& object) {
    const auto bad = [&](const std::string& why) { damaged("has a tensor " + detail::quoted(name) + " " + why); };
    const auto field = [&](const char* key) -> const json& {
      const auto found = object.find(key);
      if (found == object.end()) bad(std::string("without '") + key + "'");
      return *found;
    };
    if (!object.is_object()) bad("that is no object");
    Tensor tensor;
    tensor.name = name;
    const json& dtype = field("dtype");
    if (dtype == "F32") {
      tensor.dtype = Dtype::f32;
    } else if (dtype == "I32") {
      tensor.dtype = Dtype::i32;
    } else if (dtype == "I64") {
      tensor.dtype = Dtype::i64;
    } else {
      refuse("has a tensor " + detail::quoted(name) + " of dtype " +
             detail::quoted(dtype.is_string() ? dtype.get_ref<const std::string&>() : "?") +
             ": only F32, I32 and I64 are read; convert it");
    }
    const json& shape = field("shape");
    const json& offsets = field("data_offsets");
    if (!shape.is_array()) bad("whose shape is no list");
    for (const json& size : shape) tensor.shape.push_back(whole(size, name));
    if (!offsets.is_array() || offsets.size() != 2) bad("whose offsets are no pair");
    const int64_t begin = whole(offsets[0], name), end = whole(offsets[1], name);
    if (begin > end) bad("that ends before it begins");
    tensor.begin = static_cast<uint64_t>(begin);
    if (!detail::count_bytes(tensor.dtype, tensor.shape, &tensor.bytes)) bad("whose shape overflows");
    if (tensor.bytes != static_cast<uint64_t>(end - begin)) bad("whose shape and offsets disagree");
    tensors_.push_back(std::move(tensor));
  }

  int64_t whole(const json& value, const std::string& name) const {
    constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (!value.is_number_unsigned() || value.get<uint64_t>() > kMax)
      damaged("has a tensor " + detail::quoted(name) + " with a size or offset that is no whole number in range");
    return value.get<int64_t>();
  }

  void check_offsets(uint64_t data_bytes) {
    std::sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) {
      return std::tie(a.begin, a.bytes, a.name) < std::tie(b.begin, b.bytes, b.name);
    });
    uint64_t at = 0;
    for (const Tensor& tensor : tensors_) {
      const std::string name = detail::quoted(tensor.name);
      if (tensor.begin < at) damaged("has a tensor " + name + " that overlaps another");
      if (tensor.begin > at) damaged("has a gap before tensor " + name);
      if (tensor.bytes > data_bytes - at) damaged("ends inside tensor " + name);
      at += tensor.bytes;
      by_name_.emplace(tensor.name, static_cast<size_t>(&tensor - tensors_.data()));
    }
    if (at < data_bytes) damaged("has bytes behind its last tensor");
  }

  std::string path_;
  detail::Descriptor file_;
  std::string header_;
  std::string checksum_;  // the digits; "": none
  uint64_t data_begin_ = 0, data_bytes_ = 0;
  std::vector<Tensor> tensors_;
  std::map<std::string, size_t, std::less<>> by_name_;
  Metadata metadata_;
};

}  // namespace mokume::sdk::safetensors

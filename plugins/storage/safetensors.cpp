#include "storage/safetensors.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <tuple>

#include "sdk/storage.hpp"

namespace mokume::safetensors {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "data are written as they are in memory");

constexpr const char* kMetadata = "__metadata__";
constexpr const char* kChecksum = "mokume_crc32";
constexpr uint64_t kChecksumDigits = 8;
constexpr const char* kDtypeNames[] = {"I64", "F32", "I32"};

const char* name_of(Dtype dtype) { return kDtypeNames[int(dtype)]; }

std::string cause() { return std::generic_category().message(errno); }

// Returns the position of the checksum's digits in a header, or npos if it has none. Quotes within a string are
// escaped, so no string can imitate the key.
size_t checksum_place(const std::string& header) {
  const std::string key = '"' + std::string(kChecksum) + "\":\"";
  const size_t at = header.find(key);
  return at == std::string::npos ? at : at + key.size();
}

// Continues the checksum `crc` with `data`.
uLong crc_of(uLong crc, const void* data, uint64_t bytes) {
  return bytes == 0 ? crc : crc32_z(crc, static_cast<const Bytef*>(data), bytes);  // null would restart the checksum
}

std::string digits_of(uLong crc) {
  std::array<char, kChecksumDigits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%08lx", crc);
  return digits.data();
}

std::string text(const Shape& shape) {
  std::string out;
  for (const int64_t size : shape) out += (out.empty() ? "" : ", ") + std::to_string(size);
  return "[" + out + "]";
}

// Quotes a name from a file so that a message can show it safely.
std::string quote(std::string_view name) {
  std::string out = "'";
  for (const char c : name.substr(0, 80)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (name.size() > 80 ? "...'" : "'");
}

// Returns false if a size is negative or the number of bytes does not fit into 63 bits.
bool count_bytes(Dtype dtype, const Shape& shape, uint64_t* bytes) {
  int64_t product = dtype == Dtype::i64 ? 8 : 4;
  for (const int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(product, size, &product)) return false;
  *bytes = product;
  return true;
}

[[noreturn]] void refuse_tensor(const std::string& name, const std::string& why) {
  throw Error(MK_INVALID_ARGUMENT, "safetensors: tensor " + quote(name) + " " + why);
}

void check_utf8(const std::string& text) {
  try {
    json(text).dump();
  } catch (const json::exception&) {
    throw Error(MK_INVALID_ARGUMENT, "safetensors: " + quote(text) + " is not UTF-8: pass plain text");
  }
}

// Writes a file that receives its name only when it is complete.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path) : path_(path) {
    constexpr int kMost = 1000;  // limit for names that killed processes with the same id may have left
    for (int attempt = 0; fd_ < 0; ++attempt) {
      name_ = path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
      fd_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
      check(fd_ >= 0 || (errno == EEXIST && attempt < kMost));
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(name_.c_str());
  }

  void append(const void* data, uint64_t bytes) {
    crc_ = crc_of(crc_, data, bytes);
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t n = ::write(fd_, from, std::min(bytes, uint64_t{1} << 30));
      if (n < 0 && errno == EINTR) continue;
      check(n >= 0);
      from += n;
      bytes -= n;
    }
  }
  void put_checksum(uint64_t at) {
    const std::string digits = digits_of(crc_);
    check(::pwrite(fd_, digits.data(), digits.size(), at) == ssize_t(digits.size()));
  }
  void finish() {
    check(::fsync(fd_) == 0 && ::rename(name_.c_str(), path_.c_str()) == 0);
    check(::close(std::exchange(fd_, -1)) == 0);
    // Makes the new name survive a power failure. Ignores failures, because not all file systems support this.
    const size_t slash = path_.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    const int directory = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    ::fsync(directory);
    ::close(directory);
  }

 private:
  void check(bool good) const {
    if (!good) throw sdk::storage_error("write '" + path_ + "'", errno);
  }

  std::string path_, name_;
  int fd_ = -1;
  uLong crc_ = 0;
};

}  // namespace

void Writer::add(const std::string& name, Dtype dtype, const Shape& shape, Source source) {
  Entry entry{shape, std::move(source), 0};
  if (name == kMetadata) refuse_tensor(name, "has a reserved name: rename it");
  if (!count_bytes(dtype, shape, &entry.bytes))
    refuse_tensor(name, "has the impossible shape " + text(shape) + ": sizes must not be negative or overflow");
  check_utf8(name);
  if (std::any_of(tensors_.begin(), tensors_.end(), [&](const auto& t) { return t.first.second == name; }))
    refuse_tensor(name, "was already added: names must be unique");
  tensors_.emplace(std::pair(dtype, name), std::move(entry));
}

void Writer::add(const std::string& name, Dtype dtype, const Shape& shape, const void* data) {
  uint64_t bytes = 0;
  if (count_bytes(dtype, shape, &bytes) && bytes > 0 && data == nullptr)
    refuse_tensor(name, "has no data: pass a pointer to its elements");
  add(name, dtype, shape, Source([data, bytes](const Put& put) { put(data, bytes); }));
}

void Writer::checksum() { metadata_[kChecksum] = std::string(kChecksumDigits, '0'); }

void Writer::metadata(const std::string& key, const std::string& value) {
  if (key == kChecksum) throw Error(MK_INVALID_ARGUMENT, "safetensors: " + key + " is set by checksum()");
  check_utf8(key);
  check_utf8(value);
  metadata_[key] = value;
}

void Writer::write(const std::string& path) const {
  TemporaryFile file(path);
  const std::string head = header();
  file.append(head.data(), head.size());
  for (const auto& [key, entry] : tensors_) {
    uint64_t left = entry.bytes;
    const auto check = [&name = key.second](bool good) {
      if (!good) refuse_tensor(name, "received more or fewer bytes than its shape requires: fix its source");
    };
    entry.source([&](const void* data, uint64_t bytes) {
      check(bytes <= left);
      left -= bytes;
      file.append(data, bytes);
    });
    check(left == 0);
  }
  if (metadata_.count(kChecksum) != 0) file.put_checksum(checksum_place(head));
  file.finish();
}

// Returns the length and the JSON, padded with spaces so that the data start at a multiple of 8.
std::string Writer::header() const {
  auto all = nlohmann::ordered_json::object();
  if (!metadata_.empty()) all[kMetadata] = metadata_;
  uint64_t at = 0;
  for (const auto& [key, entry] : tensors_) {
    const uint64_t begin = std::exchange(at, at + entry.bytes);
    all[key.second] = {{"dtype", name_of(key.first)}, {"shape", entry.shape}, {"data_offsets", {begin, at}}};
  }
  std::string text = all.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + text;
}

Reader::Reader(const std::string& path) : path_(path) {
  std::error_code failed;
  // Checks the type before opening, because a pipe in place of the file would block the program.
  const auto status = std::filesystem::status(path, failed);
  if (!std::filesystem::exists(status)) refuse("cannot be opened (" + failed.message() + "): check the path");
  if (!std::filesystem::is_regular_file(status)) refuse("is not a regular file: check the path");
  const uint64_t size = std::filesystem::file_size(path, failed);
  file_.rdbuf()->pubsetbuf(nullptr, 0);
  file_.open(path, std::ios::binary);
  if (!file_) refuse("cannot be opened (" + cause() + "): check the path");
  read_header(size);
}

Reader::Reader(const std::string& path, std::string_view bytes) : path_(path), memory_(bytes) {
  read_header(bytes.size());
}

void Reader::read_header(uint64_t size) {
  uint64_t length = 0;
  if (size < sizeof(length)) damaged("is too short for a header");
  get(0, &length, sizeof(length), "the header");
  if (length > size - sizeof(length)) damaged("ends inside its header");
  if (length > kMaxHeaderBytes) damaged("has a header of " + std::to_string(length) + " bytes");
  header_.resize(length);
  get(sizeof(length), header_.data(), length, "the header");
  data_begin_ = sizeof(length) + length;
  data_bytes_ = size - data_begin_;
  parse();
  check_offsets();
}

void Reader::verify() const {
  const size_t place = checksum_place(header_);
  if (checksum_.empty() || place == std::string::npos)
    refuse("has no checksum: it was written by an older version or by another program");
  const uint64_t length = header_.size();
  std::string blank = header_;
  blank.replace(place, kChecksumDigits, kChecksumDigits, '0');
  uLong crc = crc_of(crc_of(0, &length, sizeof(length)), blank.data(), length);
  std::vector<char> chunk(std::min(data_bytes_, uint64_t{1} << 20));
  for (uint64_t at = 0; at < data_bytes_; at += chunk.size()) {
    const uint64_t bytes = std::min<uint64_t>(chunk.size(), data_bytes_ - at);
    get(data_begin_ + at, chunk.data(), bytes, "the data");
    crc = crc_of(crc, chunk.data(), bytes);
  }
  if (digits_of(crc) != checksum_ || header_.compare(place, kChecksumDigits, checksum_) != 0)
    refuse("has changed since it was written (its checksum differs)");
}

const Tensor* Reader::find(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(), [&](const Tensor& t) { return t.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

void Reader::read(const Tensor& tensor, uint64_t first, uint64_t bytes, void* into) const {
  get(data_begin_ + tensor.begin + first, into, bytes, "tensor " + quote(tensor.name));
}

const Tensor& Reader::expect(std::string_view name, Dtype dtype, const Shape& shape) const {
  const Tensor* tensor = find(name);
  if (tensor == nullptr) refuse("has no tensor " + quote(name) + ": was it saved by another model?");
  if (tensor->dtype != dtype || tensor->shape != shape)
    refuse("has a tensor " + quote(name) + " of " + name_of(tensor->dtype) + text(tensor->shape) + " where " +
           name_of(dtype) + text(shape) + " is needed: was it saved by another model?");
  return *tensor;
}

void Reader::refuse(const std::string& why) const { throw Error(MK_BAD_DATA, path_ + " " + why); }

void Reader::damaged(const std::string& why) const {
  refuse(why + ": it is not a safetensors file, or is truncated or damaged; copy or save it again");
}

void Reader::get(uint64_t offset, void* into, uint64_t bytes, const std::string& what) const {
  if (memory_.data() != nullptr) {
    if (offset > memory_.size() || bytes > memory_.size() - offset) damaged("ends inside " + what);
    std::copy_n(memory_.data() + offset, bytes, static_cast<char*>(into));
    return;
  }
  file_.clear();
  file_.seekg(offset);
  file_.read(static_cast<char*>(into), bytes);
  if (file_.bad()) refuse("cannot be read (" + cause() + "): check the disk");
  if (uint64_t(file_.gcount()) != bytes) damaged("ends inside " + what);
}

void Reader::parse() {
  // The format requires the first byte to be a brace; spaces may follow the closing brace.
  if (header_.empty() || header_[0] != '{') damaged("has a header that is not a JSON object");
  std::vector<std::set<std::string>> keys;  // keys of the open objects, because JSON lets the last duplicate win
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    using Event = json::parse_event_t;
    const bool opens = event == Event::object_start || event == Event::array_start;
    if (opens && depth > 2) damaged("has a header that is nested too deeply");
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second)
      damaged("names " + quote(parsed.get_ref<const std::string&>()) + " twice");
    return true;
  };
  json header;
  try {
    header = json::parse(header_, watch);
  } catch (const json::exception&) {
    damaged("has a header that is not JSON");
  }
  for (const auto& [name, value] : header.items()) {
    if (name != kMetadata) {
      parse_tensor(name, value);
      continue;
    }
    const auto is_text = [](const json& text) { return text.is_string(); };
    if (!value.is_object() || !std::all_of(value.begin(), value.end(), is_text))
      damaged("has metadata values that are not strings");
    metadata_ = value.get<Metadata>();
    if (const auto digits = metadata_.extract(kChecksum)) checksum_ = digits.mapped();
  }
}

void Reader::parse_tensor(const std::string& name, const json& object) {
  const auto check = [&](bool good, const char* why) {
    if (!good) damaged("has a tensor " + quote(name) + " " + why);
  };
  check(object.is_object(), "that is not an object");
  const auto field = [&](const char* key) -> const json& {
    check(object.contains(key), (std::string("without '") + key + "'").c_str());
    return object[key];
  };
  const auto whole = [&](const json& value) {
    check(value.is_number_unsigned() && value.get<uint64_t>() <= INT64_MAX,
          "with a size or offset that is not an integer in range");
    return value.get<int64_t>();
  };
  Tensor tensor;
  tensor.name = name;
  const json& dtype = field("dtype");
  const auto* known = std::find(std::begin(kDtypeNames), std::end(kDtypeNames), dtype);
  if (known == std::end(kDtypeNames))
    refuse("has a tensor " + quote(name) + " of dtype " + quote(dtype.is_string() ? dtype.get<std::string>() : "?") +
           ": only F32, I32 and I64 are read; convert it");
  tensor.dtype = Dtype(known - kDtypeNames);
  const json &shape = field("shape"), &offsets = field("data_offsets");
  check(shape.is_array(), "whose shape is not a list");
  for (const json& size : shape) tensor.shape.push_back(whole(size));
  check(offsets.is_array() && offsets.size() == 2, "whose offsets are not a pair");
  tensor.begin = whole(offsets[0]);
  const uint64_t end = whole(offsets[1]);
  check(tensor.begin <= end, "that ends before it begins");
  check(count_bytes(tensor.dtype, tensor.shape, &tensor.bytes), "whose shape overflows");
  check(tensor.bytes == end - tensor.begin, "whose shape and offsets disagree");
  tensors_.push_back(std::move(tensor));
}

void Reader::check_offsets() {
  std::sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) {
    return std::tie(a.begin, a.bytes, a.name) < std::tie(b.begin, b.bytes, b.name);
  });
  uint64_t at = 0;
  for (const Tensor& tensor : tensors_) {
    const std::string name = quote(tensor.name);
    if (tensor.begin < at) damaged("has a tensor " + name + " that overlaps another");
    if (tensor.begin > at) damaged("has a gap before tensor " + name);
    if (tensor.bytes > data_bytes_ - at) damaged("ends inside tensor " + name);
    at += tensor.bytes;
  }
  if (at < data_bytes_) damaged("has bytes after its last tensor");
}

}  // namespace mokume::safetensors

#include "safetensors.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <tuple>

namespace mokume::cnn::safetensors {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "data are written as they are in memory");

constexpr const char* kMetadata = "__metadata__";
constexpr const char* kChecksum = "mokume_crc32";
constexpr uint64_t kChecksumDigits = 8;
constexpr const char* kDtypeNames[] = {"I64", "F32", "I32"};

const char* name_of(Dtype dtype) { return kDtypeNames[int(dtype)]; }

std::string cause() { return std::generic_category().message(errno); }

// Where a header's text has the digits of the checksum; npos without one. Quotes within a text are escaped, so that
// none passes for the key.
size_t checksum_place(const std::string& header) {
  const std::string key = '"' + std::string(kChecksum) + "\":\"";
  const size_t at = header.find(key);
  return at == std::string::npos ? at : at + key.size();
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

std::string text(const Shape& shape, const char* separator) {
  std::string out;
  for (const int64_t size : shape) out += (out.empty() ? "" : separator) + std::to_string(size);
  return "[" + out + "]";
}

std::string type_text(Dtype dtype, const Shape& shape) { return name_of(dtype) + text(shape, ", "); }

// A name from a file as a message may show it.
std::string quote(std::string_view name) {
  std::string out = "'";
  for (const char c : name.substr(0, 80)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (name.size() > 80 ? "...'" : "'");
}

// False if a size is negative or the bytes do not fit into 63 bits.
bool count_bytes(Dtype dtype, const Shape& shape, uint64_t* bytes) {
  int64_t product = dtype == Dtype::i64 ? 8 : 4;
  for (const int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(product, size, &product)) return false;
  *bytes = product;
  return true;
}

// body(pointer to the rest, its bytes) until all bytes are done; it returns how many it has done, or what is below 1.
// Returns the last.
template <class Pointer, class Body>
ssize_t transfer(Pointer data, uint64_t bytes, const Body& body) {
  ssize_t n = 1;
  while (bytes > 0) {
    n = body(data, std::min(bytes, uint64_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    data += n;
    bytes -= n;
  }
  return n;
}

[[noreturn]] void refuse_tensor(const std::string& name, const std::string& why) {
  throw Error(MK_INVALID_ARGUMENT, "safetensors: tensor " + quote(name) + " " + why);
}

std::string json_text(const std::string& text) {
  try {
    return json(text).dump();
  } catch (const json::exception&) {
    throw Error(MK_INVALID_ARGUMENT, "safetensors: " + quote(text) + " is not UTF-8: pass plain text");
  }
}

// A file that gets its name when it is whole.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path) : path_(path) {
    constexpr int kMost = 1000;  // left by killed processes of that number
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
    crc_.add(data, bytes);
    check(transfer(static_cast<const char*>(data), bytes,
                   [&](const char* from, uint64_t size) { return ::write(fd_, from, size); }) > 0);
  }
  void put_checksum(uint64_t at) {
    const std::string digits = crc_.text();
    check(::pwrite(fd_, digits.data(), digits.size(), at) == ssize_t(digits.size()));
  }
  void finish() {
    check(::fsync(fd_) == 0 && ::rename(name_.c_str(), path_.c_str()) == 0);
    check(::close(std::exchange(fd_, -1)) == 0);
    // The new name must survive a power cut too. Not every file system can sync a directory: no error then.
    const size_t slash = path_.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    const int directory = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    ::fsync(directory);
    ::close(directory);
  }

 private:
  void check(bool good) const {
    if (!good) throw Error(MK_STORAGE, "cannot write " + path_ + ": " + cause() + "; check free space and permissions");
  }

  std::string path_, name_;
  int fd_ = -1;
  Crc32 crc_;
};

}  // namespace

void Writer::add(const std::string& name, Dtype dtype, const Shape& shape, Source source) {
  Entry entry{dtype, shape, std::move(source), 0};
  if (name == kMetadata) refuse_tensor(name, "has a reserved name: rename it");
  if (!count_bytes(dtype, shape, &entry.bytes))
    refuse_tensor(name,
                  "has the impossible shape " + text(shape, ", ") + ": sizes must not be negative or overflow");
  json_text(name);
  if (!tensors_.emplace(name, std::move(entry)).second) refuse_tensor(name, "was added before: names must differ");
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
  json_text(key);
  json_text(value);
  metadata_[key] = value;
}

void Writer::write(const std::string& path) const {
  TemporaryFile file(path);
  const std::string head = header();
  file.append(head.data(), head.size());
  for (const auto& [name, entry] : in_order()) {
    uint64_t left = entry->bytes;
    const auto check = [&tensor = name](bool good) {
      if (!good) refuse_tensor(tensor, "was given more or fewer bytes than its shape has: mend its source");
    };
    entry->source([&](const void* data, uint64_t bytes) {
      check(bytes <= left);
      left -= bytes;
      file.append(data, bytes);
    });
    check(left == 0);
  }
  if (metadata_.count(kChecksum) != 0) file.put_checksum(checksum_place(head));
  file.finish();
}

Writer::Ordered Writer::in_order() const {
  Ordered order;
  for (const auto& [name, entry] : tensors_) order.emplace_back(name, &entry);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second->dtype < b.second->dtype; });
  return order;
}

// Length and JSON, filled with spaces so that the data start at a multiple of 8.
std::string Writer::header() const {
  std::string all;
  const auto add = [](std::string& list, const std::string& key, const std::string& value) {
    list += (list.empty() ? "" : ",") + json_text(key) + ":" + value;
  };
  for (const auto& [key, value] : metadata_) add(all, key, json_text(value));
  if (!all.empty()) all = json_text(kMetadata) + ":{" + all + "}";
  uint64_t at = 0;
  for (const auto& [name, entry] : in_order()) {
    const uint64_t begin = std::exchange(at, at + entry->bytes);
    add(all, name,
        std::string(R"({"dtype":")") + name_of(entry->dtype) + R"(","shape":)" + text(entry->shape, ",") +
            R"(,"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(at) + "]}");
  }
  all = "{" + all + "}";
  all.append((8 - all.size() % 8) % 8, ' ');
  const uint64_t length = all.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + all;
}

Reader::Reader(const std::string& path)
    // Non-blocking, so that a pipe put in the file's place cannot hang the program.
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0) refuse("cannot be opened (" + cause() + "): check the path");
  try {
    struct stat status {};
    if (::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) refuse("is no regular file: check the path");
    const uint64_t size = status.st_size;
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
  } catch (...) {
    ::close(file_);
    throw;
  }
}

Reader::Reader(Reader&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      header_(std::move(other.header_)),
      checksum_(std::move(other.checksum_)),
      data_begin_(other.data_begin_),
      data_bytes_(other.data_bytes_),
      tensors_(std::move(other.tensors_)),
      by_name_(std::move(other.by_name_)),
      metadata_(std::move(other.metadata_)) {}

Reader::~Reader() {
  if (file_ >= 0) ::close(file_);
}

void Reader::verify() const {
  const size_t place = checksum_place(header_);
  if (checksum_.empty() || place == std::string::npos)
    refuse("has no checksum: an older version wrote it, or another program");
  Crc32 crc;
  const uint64_t length = header_.size();
  crc.add(&length, sizeof(length));
  std::string blank = header_;
  blank.replace(place, kChecksumDigits, kChecksumDigits, '0');
  crc.add(blank.data(), length);
  std::vector<char> chunk(std::min(data_bytes_, uint64_t{1} << 20));
  for (uint64_t at = 0; at < data_bytes_; at += chunk.size()) {
    const uint64_t bytes = std::min<uint64_t>(chunk.size(), data_bytes_ - at);
    get(data_begin_ + at, chunk.data(), bytes, "the data");
    crc.add(chunk.data(), bytes);
  }
  if (crc.text() != checksum_ || header_.compare(place, kChecksumDigits, checksum_) != 0)
    refuse("is not as it was written (its checksum differs)");
}

const Tensor* Reader::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

void Reader::read(const Tensor& tensor, uint64_t first, uint64_t bytes, void* into) const {
  get(data_begin_ + tensor.begin + first, into, bytes, "tensor " + quote(tensor.name));
}

const Tensor& Reader::expect(std::string_view name, Dtype dtype, const Shape& shape) const {
  const Tensor* tensor = find(name);
  if (tensor == nullptr) refuse("has no tensor " + quote(name) + ": was it saved by another model?");
  if (tensor->dtype != dtype || tensor->shape != shape)
    refuse("has a tensor " + quote(name) + " of " + type_text(tensor->dtype, tensor->shape) + " where " +
           type_text(dtype, shape) + " is needed: was it saved by another model?");
  return *tensor;
}

void Reader::refuse(const std::string& why) const { throw Error(MK_BAD_DATA, path_ + " " + why); }

void Reader::damaged(const std::string& why) const {
  refuse(why + ": it is no safetensors file, or cut or damaged; copy or save it again");
}

void Reader::get(uint64_t offset, void* into, uint64_t bytes, const std::string& what) const {
  const ssize_t n = transfer(static_cast<char*>(into), bytes, [&](char* to, uint64_t size) {
    const ssize_t done = ::pread(file_, to, size, offset);
    if (done > 0) offset += done;
    return done;
  });
  if (n < 0) refuse("cannot be read (" + cause() + "): check the disk");
  if (n == 0) damaged("ends inside " + what);
}

void Reader::parse() {
  // The format wants the first byte to be a brace; spaces may follow the last.
  if (header_.empty() || header_[0] != '{') damaged("has a header that is no JSON object");
  std::vector<std::set<std::string>> keys;  // of the objects that are open: JSON would let the last of two win
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
    damaged("has a header that is no JSON");
  }
  for (const auto& [name, value] : header.items()) {
    if (name != kMetadata) {
      parse_tensor(name, value);
      continue;
    }
    const auto is_text = [](const json& text) { return text.is_string(); };
    if (!value.is_object() || !std::all_of(value.begin(), value.end(), is_text))
      damaged("has metadata that are no texts");
    metadata_ = value.get<Metadata>();
    if (const auto digits = metadata_.extract(kChecksum)) checksum_ = digits.mapped();
  }
}

void Reader::parse_tensor(const std::string& name, const json& object) {
  const auto check = [&](bool good, const char* why) {
    if (!good) damaged("has a tensor " + quote(name) + " " + why);
  };
  check(object.is_object(), "that is no object");
  const auto field = [&](const char* key) -> const json& {
    check(object.contains(key), (std::string("without '") + key + "'").c_str());
    return object[key];
  };
  const auto whole = [&](const json& value) {
    check(value.is_number_unsigned() && value.get<uint64_t>() <= INT64_MAX,
          "with a size or offset that is no whole number in range");
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
  check(shape.is_array(), "whose shape is no list");
  for (const json& size : shape) tensor.shape.push_back(whole(size));
  check(offsets.is_array() && offsets.size() == 2, "whose offsets are no pair");
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
    by_name_.emplace(tensor.name, &tensor - tensors_.data());
  }
  if (at < data_bytes_) damaged("has bytes behind its last tensor");
}

}  // namespace mokume::cnn::safetensors

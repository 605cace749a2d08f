#include "data/npy/npy_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

namespace mokume::data {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers in files are little-endian");

constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr size_t kMostHeader = size_t{1} << 20;
constexpr size_t kMostDimensions = 8;

template <class From>
void widen(const char* bytes, size_t count, double* to) {
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, bytes + i * sizeof(From), sizeof(From));
    to[i] = static_cast<double>(value);
  }
}

// Decodes IEEE 754's binary16.
void widen_half(const char* bytes, size_t count, double* to) {
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, bytes + i * sizeof(bits), sizeof(bits));
    const int exponent = bits >> 10 & 0x1F;
    const int fraction = bits & 0x3FF;
    double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 0x400, exponent - 25);
    if (exponent == 0x1F) value = std::numeric_limits<double>::quiet_NaN();  // infinite values are refused alike
    to[i] = bits >> 15 != 0 ? -value : value;
  }
}

// Reverses the bytes of each number.
void swap_bytes(std::vector<char>& bytes, size_t each) {
  for (auto at = bytes.begin(); at != bytes.end(); at += static_cast<ptrdiff_t>(each))
    std::reverse(at, at + static_cast<ptrdiff_t>(each));
}

struct NumberType {
  std::string_view name;
  size_t bytes;
  void (*convert)(const char*, size_t, double*);
};

constexpr std::array kNumberTypes = {
    NumberType{"f2", 2, widen_half},      NumberType{"f4", 4, widen<float>},    NumberType{"f8", 8, widen<double>},
    NumberType{"b1", 1, widen<uint8_t>},  NumberType{"u1", 1, widen<uint8_t>},  NumberType{"i1", 1, widen<int8_t>},
    NumberType{"u2", 2, widen<uint16_t>}, NumberType{"i2", 2, widen<int16_t>},  NumberType{"u4", 4, widen<uint32_t>},
    NumberType{"i4", 4, widen<int32_t>},  NumberType{"u8", 8, widen<uint64_t>}, NumberType{"i8", 8, widen<int64_t>},
};

// Finds the type without its byte order.
const NumberType* find_type(std::string_view name) {
  if (name.size() != 3 || std::string_view("<>|=").find(name[0]) == std::string_view::npos) return nullptr;
  name.remove_prefix(1);
  const auto* found =
      std::find_if(kNumberTypes.begin(), kNumberTypes.end(), [&](const NumberType& t) { return t.name == name; });
  return found == kNumberTypes.end() ? nullptr : found;
}

// Returns the text after `'key': `, or "" if the header lacks the key.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::string quoted_key = "'" + std::string(key) + "': ";
  const size_t at = header.find(quoted_key);
  return at == std::string_view::npos ? std::string_view() : header.substr(at + quoted_key.size());
}

// Returns the type as the header writes it, without its quotes if it has any.
std::string shown_type(std::string_view type) {
  type = type.substr(0, type.find(", "));
  if (type.size() > 1 && type.front() == '\'' && type.back() == '\'') type = type.substr(1, type.size() - 2);
  return quoted(type);
}

}  // namespace

NpyFile::NpyFile(const std::string& path) : path_(path), input_(path) {
  std::array<unsigned char, kNpyMagic.size() + 2> start{};
  if (input_.read(start.data(), start.size()) != start.size() ||
      std::memcmp(start.data(), kNpyMagic.data(), kNpyMagic.size()) != 0)
    bad_data(path, "", "is not a NumPy array; save the array with numpy.save");
  const unsigned version = start[kNpyMagic.size()];
  if (version < 1 || version > 3)
    bad_data(path, "", "is a NumPy array of version " + std::to_string(version) + ", not 1 to 3; save it anew");
  std::array<unsigned char, 4> length{};
  const size_t bytes = version == 1 ? 2 : 4;
  if (input_.read(length.data(), bytes) != bytes) bad_data(path, "", "ends inside its header: it is damaged");
  const size_t size = length[0] | size_t{length[1]} << 8 | size_t{length[2]} << 16 | size_t{length[3]} << 24;
  if (size > kMostHeader) bad_data(path, "", "has a header of " + std::to_string(size) + " bytes: it is damaged");
  std::string header(size, '\0');
  if (input_.read(header.data(), header.size()) != header.size())
    bad_data(path, "", "ends inside its header: it is damaged");
  parse(header);
}

void NpyFile::parse(const std::string& header) {
  const std::string_view type = value_of(header, "descr");
  if (type.size() >= 5 && type[0] == '\'' && type[4] == '\'') type_ = type.substr(1, 3);
  const NumberType* const known = find_type(type_);
  if (known == nullptr)
    bad_data(
        path_, "",
        "holds elements of the type " + shown_type(type) + ", not real numbers of at most 64 bits; " +
            (type.find('U') != std::string_view::npos ? "number the words with np.unique(array, return_inverse=True)[1]"
                                                      : "convert it with np.save(path, np.load(path).astype('<f8'))"));
  bytes_each_ = known->bytes;
  const std::string_view order = value_of(header, "fortran_order");
  fortran_ = order.starts_with("True");
  if (!fortran_ && !order.starts_with("False")) bad_data(path_, "", "has no order: it is damaged");
  parse_shape(header);
  const uint64_t most = std::min(input_.most_bytes(), kMaxFileBytes) / bytes_each_;
  for (const int64_t edge : shape_) {
    // Both factors are at most 2^33, so the product does not overflow.
    count_ *= static_cast<uint64_t>(edge);
    if (count_ > most) bad_data(path_, "", "has a shape of more elements than the file can hold: it is damaged");
  }
}

void NpyFile::parse_shape(const std::string& header) {
  std::string_view text = value_of(header, "shape");
  const size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string_view::npos) bad_data(path_, "", "has no shape");
  text = text.substr(1, close - 1);
  const auto skip = [&](std::string_view these) {
    text.remove_prefix(std::min(text.find_first_not_of(these), text.size()));
  };
  for (skip(" "); !text.empty(); skip(", ")) {
    int64_t edge = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), edge);
    if (fault != std::errc() || edge < 0 || edge > INT32_MAX || shape_.size() == kMostDimensions)
      bad_data(path_, "", "has a shape that is not one to eight whole numbers below 2^31");
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    shape_.push_back(edge);
  }
  if (shape_.empty()) bad_data(path_, "", "has a shape without dimensions; save an array, not a single number");
}

void NpyFile::read(const std::function<void(const double*, size_t)>& take) {
  if (!fortran_ || shape_.size() == 1) return read_in_file_order(take);
  std::vector<double> all;
  all.reserve(checked_count(path_, static_cast<int64_t>(count_), 1, sizeof(double)));
  read_in_file_order([&](const double* numbers, size_t count) { all.insert(all.end(), numbers, numbers + count); });
  std::vector<size_t> step(shape_.size(), 1);  // distance in the file between neighbours along each dimension
  for (size_t d = 1; d < shape_.size(); ++d) step[d] = step[d - 1] * static_cast<size_t>(shape_[d - 1]);
  std::vector<double> row(count_ == 0 ? 0 : count_ / static_cast<size_t>(shape_[0]));
  for (int64_t r = 0; r < shape_[0]; ++r) {
    for (size_t i = 0; i < row.size(); ++i) {
      size_t at = static_cast<size_t>(r), rest = i;
      for (size_t d = shape_.size() - 1; d > 0; --d) {
        at += rest % static_cast<size_t>(shape_[d]) * step[d];
        rest /= static_cast<size_t>(shape_[d]);
      }
      row[i] = all[at];
    }
    take(row.data(), row.size());
  }
}

void NpyFile::read_in_file_order(const std::function<void(const double*, size_t)>& take) {
  constexpr size_t kPiece = 8192;
  std::vector<char> bytes(kPiece * bytes_each_);
  std::vector<double> numbers(kPiece);
  const auto convert = find_type(type_)->convert;
  for (uint64_t left = count_; left > 0;) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(left, kPiece));
    if (input_.read(bytes.data(), count * bytes_each_) != count * bytes_each_)
      bad_data(path_, "", "ends before the last element of its shape: it is damaged");
    if (type_[0] == '>') swap_bytes(bytes, bytes_each_);
    convert(bytes.data(), count, numbers.data());
    take(numbers.data(), count);
    left -= count;
  }
  if (input_.read(bytes.data(), 1) != 0) bad_data(path_, "", "has a size that does not match its shape: it is damaged");
}

}  // namespace mokume::data

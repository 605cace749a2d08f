#include "data/idx.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/passed.hpp"
#include "data/input.hpp"

namespace mokume::data {
namespace {

constexpr uint64_t kMuch = uint64_t{1} << 20;  // values that take longer to read than to look up

struct Header {
  int64_t rows = 0;
  int64_t features = 0;  // features per row; 1 for labels
  uint64_t bytes = 0;    // size of the values after the header
  Shape shape;           // set for three or four dimensions
};

uint32_t big_endian(const unsigned char* p) {
  return (uint32_t{p[0]} << 24) | (uint32_t{p[1]} << 16) | (uint32_t{p[2]} << 8) | p[3];
}

// Reads two zero bytes, the element type, the number of dimensions, and each dimension as a 32-bit big-endian number.
Header read_header(Input& input, const std::string& path, bool labels) {
  const std::string expected = labels ? "an IDX file of labels (IDX1)" : "an IDX file of images (IDX2 to IDX4)";
  unsigned char magic[4];
  if (input.read(magic, 4) != 4) bad_data(path, "offset 0", "ends inside the header; fetch it again");
  if (magic[0] != 0 || magic[1] != 0) bad_data(path, "offset 0", "is not " + expected + "; check the path");
  if (magic[2] != 0x08)
    bad_data(path, "offset 2",
             "has element type " + std::to_string(magic[2]) + " instead of 8 (unsigned byte); convert it to bytes");
  const unsigned dimensions = magic[3];
  if (labels ? dimensions != 1 : dimensions < 2 || dimensions > 4)
    bad_data(path, "offset 3",
             "has " + std::to_string(dimensions) + " dimensions, which is not " + expected +
                 "; check that images and labels are not swapped");
  Header header;
  header.features = 1;
  int64_t edges[3] = {0, 0, 1};
  for (unsigned d = 0; d < dimensions; ++d) {
    unsigned char bytes[4];
    const std::string place = "offset " + std::to_string(4 + 4 * d);
    if (input.read(bytes, 4) != 4) bad_data(path, place, "ends inside the header; fetch it again");
    const int64_t size = big_endian(bytes);
    if (size == 0) bad_data(path, place, "has a dimension of 0; a data set needs at least one row and one feature");
    if (d == 0) {
      header.rows = size;
    } else {
      // This cannot overflow, because `size` is below 2^32 and the product is at most 2^24.
      header.features *= size;
      if (header.features > kMaxFeatures)
        bad_data(path, place, "gives more than " + std::to_string(kMaxFeatures) + " features; the header is damaged");
      edges[d - 1] = size;
    }
  }
  if (dimensions >= 3)
    header.shape = {static_cast<int32_t>(edges[0]), static_cast<int32_t>(edges[1]), static_cast<int32_t>(edges[2])};
  header.bytes = static_cast<uint64_t>(header.rows) * static_cast<uint64_t>(header.features);
  const uint64_t most = std::min(input.most_bytes(), kMaxFileBytes);
  if (header.bytes > most)
    bad_data(path, "offset 4",
             "declares " + std::to_string(header.bytes) + " values, more than the file can hold (" +
                 std::to_string(most) + " bytes); it is truncated or damaged, fetch it again");
  return header;
}

// Calls take(bytes, count) with consecutive pieces of the first `wanted` values.
template <class Take>
void read_values(Input& input, const std::string& path, const Header& header, uint64_t wanted, Take&& take) {
  std::vector<unsigned char> piece(size_t{1} << 16);
  for (uint64_t left = wanted; left > 0;) {
    const auto want = static_cast<size_t>(std::min<uint64_t>(left, piece.size()));
    const size_t got = input.read(piece.data(), want);
    take(piece.data(), got);
    left -= got;
    if (got < want)
      bad_data(path, "value " + std::to_string(wanted - left),
               "ends early: the header declares " + std::to_string(header.bytes) + " values; fetch it again");
  }
}

// Calls take() with all values, and checks that their number matches the header.
template <class Take>
void read_all_values(Input& input, const std::string& path, const Header& header, Take&& take) {
  read_values(input, path, header, header.bytes, take);
  unsigned char more = 0;
  if (input.read(&more, 1) != 0)
    bad_data(path, "", "continues after the " + std::to_string(header.bytes) + " values of its header; fetch it again");
}

}  // namespace

RawTable read_idx(const std::string& images, const std::string& labels, int64_t limit, const std::string& cache) {
  RawTable part;
  part.path = images;
  Input input(images);
  const Header header = read_header(input, images, false);
  part.table.rows = limit > 0 ? std::min(limit, header.rows) : header.rows;
  part.table.features = header.features;
  part.shape = header.shape;
  const size_t kept = checked_count(images, part.table.rows, part.table.features);
  std::vector<float>& x = part.table.x;
  x.reserve(kept);  // does not touch the memory until values arrive, because a header may claim too much
  const auto keep = [&](const unsigned char* bytes, size_t count) {
    x.insert(x.end(), bytes, bytes + std::min(count, kept - x.size()));
  };
  const bool leaves_much = header.bytes - kept >= kMuch;
  std::error_code none;
  const std::vector<std::string> file{std::filesystem::absolute(images, none).string()};
  const base::Passed passed(leaves_much ? cache : "", "data", file[0]);
  if (passed.known()) {
    read_values(input, images, header, kept, keep);
  } else {
    const std::vector<std::string> states = base::states_of(file);
    read_all_values(input, images, header, keep);
    passed.remember(file, states);
  }
  if (labels.empty()) return part;

  Input label_input(labels);
  const Header label_header = read_header(label_input, labels, true);
  if (label_header.rows != header.rows)
    bad_data(labels, "offset 4",
             "holds " + std::to_string(label_header.rows) + " labels for the " + std::to_string(header.rows) +
                 " images of '" + images + "'; use the two files of one set");
  read_all_values(label_input, labels, label_header, [&](const unsigned char* bytes, size_t count) {
    part.labels.values.insert(part.labels.values.end(), bytes, bytes + count);
  });
  return part;
}

}  // namespace mokume::data

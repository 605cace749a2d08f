#include "data/images/image_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "data/images/image_files.hpp"
#include "data/images/picture.hpp"
#include "data/images/picture_cache.hpp"
#include "data/images/picture_image.hpp"
#include "data/input.hpp"
#include "data/labels.hpp"
#include "data/locate.hpp"

namespace mokume::data {
namespace {

using Size = std::pair<int32_t, int32_t>;  // height, width

Size size_of(const Picture& picture) { return {picture.height, picture.width}; }

bool is_coloured(const Picture& picture) {
  if (picture.channels == 1) return false;
  for (size_t i = 0; i + 2 < picture.pixels.size(); i += 3)
    if (picture.pixels[i] != picture.pixels[i + 1] || picture.pixels[i] != picture.pixels[i + 2]) return true;
  return false;
}

size_t kept_files(const ImageFolder& folder, int64_t limit) {
  return limit > 0 ? std::min(folder.files.size(), static_cast<size_t>(limit)) : folder.files.size();
}

[[noreturn]] void sizes_differ(const ImageFolder& folder, const std::map<Size, size_t>& sizes) {
  const auto most =
      std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto [height, width] = most->first;
  bad_data(folder.path, "",
           fmt::format("holds pictures of {} sizes, most of them {} x {} (width x height); set data.size, such as "
                       "size = {}, and every picture is cropped to the square in its middle and scaled",
                       sizes.size(), width, height, std::min(height, width)));
}

// Fills in the unset (0) values of `shape` from the first `count` pictures.
Shape settle_shape(const ImageFolder& folder, size_t count, Shape shape) {
  std::map<Size, size_t> sizes;
  bool coloured = false;
  for (size_t i = 0; i < count; ++i) {
    if (shape.height > 0 && (shape.channels > 0 || coloured)) break;
    const Picture picture = read_picture(folder.path_of(folder.files[i]));
    ++sizes[size_of(picture)];
    coloured = coloured || is_coloured(picture);
  }
  if (shape.height == 0 && sizes.size() > 1) sizes_differ(folder, sizes);
  if (shape.height == 0) std::tie(shape.height, shape.width) = sizes.begin()->first;
  if (shape.channels == 0) shape.channels = coloured ? 3 : 1;
  return shape;
}

Shape shape_in(const DataSpec& spec) {
  const auto size = static_cast<int32_t>(spec.size);
  return {size, size, static_cast<int32_t>(spec.channels)};
}

// Labels all files, so that a limit does not remove a class.
Labels labels_of(const ImageFolder& folder) {
  Labels labels;
  if (folder.classes.empty()) return labels;
  const bool numeric = label_map(folder.classes).numeric;
  for (const ImageFile& file : folder.files) {
    labels.texts.push_back(folder.classes[file.label]);
    if (numeric) parse_number(labels.texts.back(), labels.values.emplace_back());
  }
  return labels;
}

DecodedPictures decode(const ImageFolder& folder, size_t count, const Shape& shape, bool same_size) {
  if (shape.values() > kMaxFeatures)
    bad_data(folder.path, "",
             fmt::format("holds pictures of {} x {} pixels, more than {} features; set data.size to a smaller size",
                         shape.width, shape.height, kMaxFeatures));
  DecodedPictures decoded{shape, static_cast<int64_t>(count)};
  decoded.x.reserve(checked_count(folder.path, decoded.rows, shape.values()));
  for (size_t i = 0; i < count; ++i) {
    const std::string path = folder.path_of(folder.files[i]);
    const Picture picture = read_picture(path);
    const bool same = picture.height == shape.height && picture.width == shape.width;
    if (same_size && !same)
      bad_data(path, "",
               fmt::format("is {} x {} pixels, but the training pictures are {} x {}; set data.size", picture.width,
                           picture.height, shape.width, shape.height));
    decoded.changed += same ? 0 : 1;
    const std::vector<float> values = to_plain_image(picture, shape).values;
    decoded.x.insert(decoded.x.end(), values.begin(), values.end());
  }
  return decoded;
}

// Reads the first `count` pictures in the shape `wanted`; the pictures determine its unset (0) values. If `same_size`,
// all pictures must have the size of the shape. `kind` is "training ", "test " or "", and appears in the note.
RawTable read_rows(const ImageFolder& folder, size_t count, const Shape& wanted, bool same_size, const char* kind,
                   std::vector<std::string>& notes) {
  const std::string key = picture_key(folder, count, wanted, same_size);
  std::optional<DecodedPictures> decoded = cached_pictures(key, notes);
  if (!decoded) {
    decoded = decode(folder, count, settle_shape(folder, count, wanted), same_size);
    cache_pictures(key, *decoded);
  }
  RawTable part;
  part.path = folder.path;
  part.shape = decoded->shape;
  part.table.rows = decoded->rows;
  part.table.features = part.shape.values();
  part.table.x = std::move(decoded->x);
  notes.push_back(fmt::format(
      "{} {}picture{} of {} x {} pixels in {}{}", count, kind, count == 1 ? "" : "s", part.shape.width,
      part.shape.height, part.shape.channels == 1 ? "grey" : "colour",
      decoded->changed == 0 ? "" : fmt::format(", {} of them after cropping or scaling", decoded->changed)));
  part.labels = labels_of(folder);
  return part;
}

void check_classes(const ImageFolder& train, const ImageFolder& test) {
  for (const std::string& name : test.classes)
    if (std::find(train.classes.begin(), train.classes.end(), name) == train.classes.end())
      bad_data(test.path + "/" + name, "",
               "is a class without training pictures in '" + train.path + "'; add some or remove it");
}

// Adds a note about each unused folder next to train and test.
void tell_of_others(const std::string& path, std::vector<std::string>& notes) {
  for (const std::string& name : folders_in(path))
    if (name != "train" && name != "test")
      notes.push_back(fmt::format("{}: the folder {} is not used", quoted(stem(path)), quoted(name)));
}

bool is_split(const std::string& path) { return is_directory(path + "/train") && !folders_in(path + "/train").empty(); }

}  // namespace

std::string image_set_path(const std::string& path, bool test) {
  if (!is_split(path)) {
    if (test) bad_data(path, "", "has no folders train and test; name the folder of the test pictures in data.test");
    return path;
  }
  return path + (test ? "/test" : "/train");
}

Parts read_image_sets(const DataSpec& spec) {
  const std::string path = locate(spec.path);
  Parts parts;
  parts.name = stem(path);
  if (is_split(path)) tell_of_others(path, parts.notes);
  const ImageFolder train = list_classes(image_set_path(path, false));
  if (train.classes.size() == 1)
    bad_data(train.path, "", "holds one folder, " + quoted(train.classes[0]) + "; a classifier needs two classes");
  parts.notes.insert(parts.notes.end(), train.notes.begin(), train.notes.end());
  const size_t count = kept_files(train, spec.limit);
  const bool same_size = spec.size == 0;
  const std::string own = is_split(path) && is_directory(path + "/test") ? path + "/test" : "";
  const std::string test_path = spec.test.empty() ? own : spec.test;
  ImageFolder test;
  if (!test_path.empty()) {
    test = list_classes(test_path);
    check_classes(train, test);
    parts.notes.insert(parts.notes.end(), test.notes.begin(), test.notes.end());
  }
  parts.train = read_rows(train, count, shape_in(spec), same_size, "training ", parts.notes);
  if (!test_path.empty())
    parts.test = read_rows(test, test.files.size(), parts.train.shape, same_size, "test ", parts.notes);
  return parts;
}

Parts read_images_to_predict(const DataSpec& spec, const std::string& path, const Shape& shape) {
  const ImageFolder folder = folders_in(path).empty() ? list_pictures(path) : list_classes(path);
  Parts parts;
  parts.name = stem(path);
  parts.notes = folder.notes;
  Shape wanted = shape_in(spec);
  const bool known = shape.channels > 0;
  if (known && spec.size == 0) wanted.height = shape.height, wanted.width = shape.width;
  if (known && spec.channels == 0) wanted.channels = shape.channels;
  const size_t count = kept_files(folder, spec.limit);
  parts.train = read_rows(folder, count, wanted, false, "", parts.notes);
  return parts;
}

}  // namespace mokume::data

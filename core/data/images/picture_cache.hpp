// Caches the decoded pictures of a folder in one file, because decoding takes longer than the first epochs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/images/image_files.hpp"

namespace mokume::data {

struct DecodedPictures {
  Shape shape;                // shape of each picture
  int64_t rows = 0;           // number of pictures
  int64_t changed = 0;        // number of pictures that were cropped or scaled
  std::vector<float> x = {};  // rows * shape.values() values

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("shape", self.shape);
    field("rows", self.rows, int64_t{1}, INT64_MAX);
    field("changed", self.changed, int64_t{0}, INT64_MAX);
  }
};

// Identifies the first `count` pictures by the names, sizes and modification times of their files, and by the requested
// shape. Returns "" if the status of a file cannot be read.
std::string picture_key(const ImageFolder& folder, size_t count, const Shape& wanted, bool same_size);

// Both functions do nothing without a cache directory or key. cached_pictures() sets a damaged file aside with a note,
// and cache_pictures() ignores failures; pictures that are not cached are decoded again.
std::optional<DecodedPictures> cached_pictures(const std::string& key, std::vector<std::string>& notes);
void cache_pictures(const std::string& key, const DecodedPictures& pictures);

}  // namespace mokume::data

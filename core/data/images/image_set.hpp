// The rows of source "images": pictures in folders, one folder per class.
#pragma once

#include <string>

#include "data/dataset.hpp"
#include "data/raw_table.hpp"

namespace mokume::data {

// Training rows from `path`, or from its folder train if that holds folders; test rows from spec.test, or from the
// folder test next to train. A row is a picture of spec.size x spec.size pixels, or without a size as large as all
// pictures are; it has spec.channels channels, or without them three if any training picture has a pixel that is not
// grey, else one. Only the training pictures that spec.limit keeps decide; the classes are those of all folders.
// Error(MK_BAD_DATA): see list_classes() and read_picture(); also fewer than two classes, sizes that differ, and a test
// class without training pictures.
Parts read_image_sets(const DataSpec& spec);

// Rows to predict from the folder `path`, which holds folders of classes or just pictures. They get `shape`, which is
// that of the model's rows (channels 0: unknown, to be found as above), except for what spec.size and spec.channels
// say.
Parts read_images_to_predict(const DataSpec& spec, const std::string& path, const Shape& shape);

// Where the pictures of spec.path are: the folder train or test (`set`) in it, or `path` itself for training pictures
// without such folders. Error(MK_BAD_DATA) if there is no folder test.
std::string image_set_path(const std::string& path, bool test);

}  // namespace mokume::data

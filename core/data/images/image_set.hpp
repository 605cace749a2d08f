// Reads the rows of source "images": pictures in folders, one folder per class.
#pragma once

#include <string>

#include "data/dataset.hpp"
#include "data/raw_table.hpp"

namespace mokume::data {

// Reads training rows from `path`, or from its folder train if that contains folders, and test rows from spec.test, or
// from the folder test next to train. Without spec.size, all pictures must have the same size, which becomes the size
// of the rows. Without spec.channels, a row has three channels if any training picture has a pixel that is not grey,
// else one. Only the training pictures within spec.limit count for this; the classes are the names of all folders.
// Throws Error(MK_BAD_DATA) like list_classes() and read_picture(), and also for fewer than two classes, for sizes that
// differ, and for a test class without training pictures.
Parts read_image_sets(const DataSpec& spec);

// Reads rows to predict from the folder `path`, which contains one folder per class or only pictures. Rows get the
// shape of the model's rows, `shape` (if it has no channels, as above), unless spec.size or spec.channels override it.
Parts read_images_to_predict(const DataSpec& spec, const std::string& path, const Shape& shape);

// Returns the folder with the pictures of spec.path: its folder train or test, or, for training pictures, `path` itself
// if there are no such folders. Throws Error(MK_BAD_DATA) if the folder test is missing.
std::string image_set_path(const std::string& path, bool test);

}  // namespace mokume::data

// One function per file format. Each reads one file whole, checks all of it and keeps the first `limit` rows (0 = all).
// Every failure is Error(MK_BAD_DATA) that names file, place and cure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/labels.hpp"

namespace mokume::data {

struct Part {
  std::string path;
  Table table;  // without labels and targets
  Labels labels;
  Shape shape;  // of an image; channels 0: no image
};

// IDX (LeCun, Cortes, Burges: the MNIST database): images of unsigned bytes with 2 to 4 dimensions, the first being
// the rows (with 3 they are images: rows, height, width); labels of unsigned bytes with one. Plain or gzip. An empty
// `labels` gives a part without labels.
Part read_idx(const std::string& images, const std::string& labels, int64_t limit);

// `label index:value ...` per row, indices from 1 and ascending; what is absent is 0. `features` 0: as many as the
// highest index of the file; else that many, and a higher index is an error.
Part read_libsvm(const std::string& path, int64_t limit, int64_t features);

// RFC 4180 with a header row. Cells lose the blanks around them.
struct CsvOptions {
  std::string target;                    // "" = the last column, or the last that is not in `columns`
  std::vector<std::string> categorical;  // ignored if `columns` is given
  Missing missing = Missing::error;
  int64_t limit = 0;
  const std::vector<Column>* columns = nullptr;  // the training file's
  bool target_required = true;
};
struct CsvPart : Part {
  std::vector<Column> columns;
  std::string target;
};
CsvPart read_csv(const std::string& path, const CsvOptions& options);

// Hand-drawn-like digits, 28 x 28 grey values 0..255, 10 classes: 2,000 rows to train on and 1,000 to test on.
// Image i of a set is a pure function of (set, i), the same on every platform.
enum class DigitSet : uint32_t { train = 0, test = 1 };
Part draw_digits(DigitSet set, int64_t limit);

// 4,096 rows to train on, or 1,024 to test on, of 4,777 columns: column = mixture of ten hidden factors, uniform in
// [0, 1), + noise; targets follow from the first five by Friedman's function + noise of variance 1. Row i of a set is a
// pure function of (set, i).
Part draw_friedman(bool test, int64_t limit);

}  // namespace mokume::data

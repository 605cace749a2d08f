// Defines targets for the readers of data files.
#include "base/files.hpp"
#include "data/csv.hpp"
#include "data/fold_file.hpp"
#include "data/idx.hpp"
#include "data/images/picture.hpp"
#include "data/images/picture_cache.hpp"
#include "data/images/picture_image.hpp"
#include "data/input.hpp"
#include "data/libsvm.hpp"
#include "data/npy/npy.hpp"
#include "data/npy/npy_rows.hpp"
#include "fuzz.hpp"

namespace mokume::fuzz {
namespace {

using namespace data;

void check(const RawTable& read) {
  const Table& table = read.table;
  require(table.rows >= 0 && table.features >= 0, "a negative size");
  require(table.x.size() == static_cast<size_t>(table.rows) * static_cast<size_t>(table.features),
          "rows of unequal size");
  require(read.labels.size() == 0 || read.labels.size() >= static_cast<size_t>(table.rows), "rows without labels");
}

// Requires that two readings of one file agree bit for bit and contain no NaN.
void require_same(const RawTable& a, const RawTable& b) {
  require(a.table.rows == b.table.rows && a.table.features == b.table.features && a.table.x == b.table.x,
          "another reading of the file gives other rows");
}

// The first byte chooses the options.
FUZZ_TARGET(csv) {
  if (bytes.empty()) return;
  const auto first = static_cast<unsigned char>(bytes[0]);
  const std::string path = file("a.csv", bytes.substr(1));
  CsvOptions options;
  options.missing = static_cast<Missing>((first & 3) % 3);
  if ((first & 4) != 0) options.limit = 2;
  if ((first & 8) != 0) options.target = "y";
  if ((first & 16) != 0) options.categorical = {"c"};
  if ((first & 32) != 0) options.ignore = {"i"};
  if ((first & 64) != 0) options.group = "g";
  if ((first & 128) != 0) options.copy = {"i"};
  accepts([&] {
    const CsvTable read = read_csv(path, options);
    check(read);
    CsvOptions more = options;
    more.columns = &read.columns;
    more.group.clear();
    // The program reads rows to predict like the training rows.
    const CsvTable again = read_csv(path, more);
    check(again);
    if (options.missing == Missing::error) require_same(read, again);
  });
}

void check_sparse(const Table& table) {
  require(table.starts.size() == static_cast<size_t>(table.rows) + 1 && table.starts.front() == 0, "rows without ends");
  require(table.starts.back() == static_cast<int64_t>(table.column.size()) && table.x.size() == table.column.size(),
          "values without columns");
  for (size_t row = 0; row < static_cast<size_t>(table.rows); ++row) {
    require(table.starts[row] <= table.starts[row + 1], "a row that ends before it begins");
    for (auto at = static_cast<size_t>(table.starts[row]); at < static_cast<size_t>(table.starts[row + 1]); ++at) {
      const bool first = at == static_cast<size_t>(table.starts[row]);
      require(table.column[at] < table.features && table.column[at] > (first ? -1 : table.column[at - 1]),
              "columns out of order");
    }
  }
}

FUZZ_TARGET(libsvm_data) {
  const std::string path = file("a.libsvm", bytes);
  accepts([&] {
    const RawTable read = read_libsvm(path, 0, 0);
    check(read);
    require_same(read, read_libsvm(path, 0, read.table.features));
  });
  // A table that is too wide to be dense may still be sparse.
  accepts([&] {
    RawTable sparse = read_libsvm(path, 0, 0, false, true);
    check_sparse(sparse.table);
    constexpr int64_t kFewCells = 1 << 20;
    if (sparse.table.rows * sparse.table.features > kFewCells) return;
    make_dense(sparse);
    require_same(sparse, read_libsvm(path, 0, 0));
  });
}

FUZZ_TARGET(idx) {
  const auto two = parts(bytes, 2);
  const std::string images = file("images", two[0]), labels = two[1].empty() ? "" : file("labels", two[1]);
  accepts([&] { check(read_idx(images, labels, 0)); });
  accepts([&] { check(read_idx(images, "", 1)); });
}

FUZZ_TARGET(npy) {
  const std::string path = file("a.npy", bytes), again = scratch() + "/b.npy";
  accepts([&] {
    const FloatTable read = read_npy(path);
    write_npy(again, read);
    const std::string first = contents(again);
    write_npy(again, read_npy(again));
    require(contents(again) == first, "an array reads back differently");
  });
}

// Reads rows and labels; the first byte is the layout.
FUZZ_TARGET(npy_rows) {
  if (bytes.empty()) return;
  const auto two = parts(bytes.substr(1), 2);
  NpyRows files{file("x.npy", two[0]), two[1].empty() ? "" : file("y.npy", two[1]), static_cast<Layout>(bytes[0] & 3)};
  if (files.layout > Layout::nchw) files.layout = Layout::none;
  accepts([&] { check(read_npy_rows(files, 0)); });
  accepts([&] { check(read_npy_rows(files, 1)); });
}

// The first byte is the number of rows. A data set has at least one row.
FUZZ_TARGET(folds) {
  if (bytes.empty() || bytes[0] == '\0') return;
  const int64_t rows = static_cast<unsigned char>(bytes[0]);
  const std::string_view rest = bytes.substr(1);
  const std::string path = file(rest.starts_with("\x93NUMPY") ? "folds.npy" : "folds.txt", rest);
  accepts([&] {
    const std::vector<int32_t> read = read_folds(path, rows);
    require(read.size() == static_cast<size_t>(rows), "a row without a fold");
    check_folds(path, read, 3);
  });
}

FUZZ_TARGET(gzip) {
  const std::string path = file("a.gz", bytes);
  accepts([&] { require(read_text(path, 1 << 20).size() <= 1 << 20, "more than was allowed"); });
}

// Reads both kinds of pictures, and the rows that models of both kinds get.
FUZZ_TARGET(picture) {
  const std::string path = file("a.png", bytes);
  accepts([&] {
    const Picture read = read_picture(path);
    require(read.pixels.size() ==
                static_cast<size_t>(read.width) * static_cast<size_t>(read.height) * static_cast<size_t>(read.channels),
            "a picture of another size");
    for (const Shape& shape : {Shape{28, 28, 1}, Shape{5, 7, 3}}) {
      require(to_plain_image(read, shape).values.size() == static_cast<size_t>(shape.values()), "another shape");
      if (shape.channels == 1) preview(to_model_image(read, shape).values, shape);
    }
  });
}

// Corrects the checksum in the first line, which covers the line's other field and the values.
std::string mend_cache(std::string_view bytes) {
  constexpr std::string_view kField = "\"sha256\":\"";
  const size_t line = bytes.find('\n'), field = bytes.find(kField);
  std::string mended(bytes);
  if (line == std::string_view::npos || field == std::string_view::npos || field + kField.size() + 64 >= line)
    return mended;
  try {
    const auto header = base::parse_json(bytes.substr(0, line));
    const std::string about = base::to_json(base::from_json<DecodedPictures>(header.at("pictures")));
    mended.replace(field + kField.size(), 64, base::sha256(about + std::string(bytes.substr(line + 1))));
  } catch (const std::exception&) {  // the file stays damaged
  }
  return mended;
}

FUZZ_TARGET(picture_cache, mend_cache) {
  static const bool once = ::setenv("XDG_CACHE_HOME", scratch().c_str(), 1) == 0;
  require(once && !base::cache_directory().empty(), "no cache");
  file("mokume/pictures/key", bytes);
  std::vector<std::string> notes;
  const auto read = cached_pictures("key", notes);
  require(read.has_value() == notes.empty(), "neither pictures nor a reason, or both");
  if (read)
    require(read->x.size() == static_cast<size_t>(read->rows) * static_cast<size_t>(read->shape.values()),
            "pictures of another size");
}

}  // namespace
}  // namespace mokume::fuzz

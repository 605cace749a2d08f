#include "data/images/picture_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "base/files.hpp"
#include "base/json.hpp"
#include "sdk/error.hpp"

namespace mokume::data {
namespace {

namespace fs = std::filesystem;

// This must change whenever decoding the same file yields different values.
constexpr const char* kDecoder = "mokume pictures 2";
// Few pictures are decoded quickly, and many do not fit into memory twice.
constexpr size_t kFewestBytes = size_t{1} << 20, kMostBytes = size_t{1} << 30;

// Holds the first line of a cached file. The values follow this line.
struct PicturesHeader {
  DecodedPictures pictures;
  std::string sha256;  // hash of the JSON of `pictures` and of the values

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("pictures", self.pictures);
    field("sha256", self.sha256);
  }
};

std::string sums_of(const DecodedPictures& pictures, std::string_view bytes) {
  base::Sha256 hash;
  const std::string about = base::to_json(pictures);
  hash.update(about.data(), about.size());
  hash.update(bytes.data(), bytes.size());
  return hash.hex();
}

std::string path_of(const std::string& key) {
  const std::string cache = key.empty() ? "" : base::cache_directory();
  return cache.empty() ? "" : cache + "/pictures/" + key;
}

DecodedPictures pictures_in(const std::string& file) {
  const size_t end = file.find('\n');
  if (end == std::string::npos) throw Error(MK_BAD_DATA, "it was cut");
  auto header = base::from_json<PicturesHeader>(std::string_view(file).substr(0, end));
  const std::string_view bytes = std::string_view(file).substr(end + 1);
  DecodedPictures& pictures = header.pictures;
  const int64_t each = pictures.shape.values();
  if (each < 1 || pictures.rows > static_cast<int64_t>(kMostBytes) ||
      bytes.size() != static_cast<uint64_t>(pictures.rows) * static_cast<uint64_t>(each) * sizeof(float))
    throw Error(MK_BAD_DATA, "its size is not that of its pictures");
  if (sums_of(pictures, bytes) != header.sha256) throw Error(MK_BAD_DATA, "its SHA-256 differs");
  pictures.x.resize(bytes.size() / sizeof(float));
  std::memcpy(pictures.x.data(), bytes.data(), bytes.size());
  return std::move(pictures);
}

}  // namespace

std::string picture_key(const ImageFolder& folder, size_t count, const Shape& wanted, bool same_size) {
  std::error_code error;
  std::string text = fmt::format("{}\n{}\n{} {} {} {} {}\n", kDecoder, fs::canonical(folder.path, error).string(),
                                 count, wanted.height, wanted.width, wanted.channels, same_size);
  if (error) return "";
  for (size_t i = 0; i < count; ++i) {
    struct stat about {};
    if (::stat(folder.path_of(folder.files[i]).c_str(), &about) != 0) return "";
    text += fmt::format("{} {} {}.{:09}\n", folder.files[i].name, about.st_size, about.st_mtim.tv_sec,
                        about.st_mtim.tv_nsec);
  }
  return base::sha256(text);
}

std::optional<DecodedPictures> cached_pictures(const std::string& key, std::vector<std::string>& notes) {
  const std::string path = path_of(key);
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return std::nullopt;
  try {
    return pictures_in(base::read_file(path));
  } catch (const std::exception& e) {
    notes.push_back(base::set_aside(path, e.what()));
    return std::nullopt;
  }
}

void cache_pictures(const std::string& key, const DecodedPictures& pictures) {
  const std::string path = path_of(key);
  const std::string_view bytes(reinterpret_cast<const char*>(pictures.x.data()), pictures.x.size() * sizeof(float));
  if (path.empty() || bytes.size() < kFewestBytes || bytes.size() > kMostBytes) return;
  try {
    fs::create_directories(fs::path(path).parent_path());
    base::write_file(path,
                     base::to_json(PicturesHeader{pictures, sums_of(pictures, bytes)}) + '\n' + std::string(bytes));
  } catch (const std::exception&) {  // the cache may be read-only or full
  }
}

}  // namespace mokume::data

// The commands data list, data info and data fetch.
#ifdef MOKUME_NETWORK
#include <curl/curl.h>
#endif
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/files.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "data/dataset.hpp"
#include "data/load.hpp"
#include "data/spec.hpp"
#include "sdk/error.hpp"

namespace mokume::app {
namespace {

namespace fs = std::filesystem;

struct Download {
  const char* file;
  const char* sha256;
};

constexpr const char* kMnistUrl = "https://storage.googleapis.com/cvdf-datasets/mnist";
constexpr std::array<Download, 4> kMnist = {{
    {"train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
    {"train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
    {"t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
    {"t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
}};

#ifdef MOKUME_NETWORK
constexpr size_t kMaxDownload = size_t{1} << 30;

size_t take(char* bytes, size_t size, size_t count, void* into) {
  auto& text = *static_cast<std::string*>(into);
  if (text.size() + size * count > kMaxDownload) return 0;
  text.append(bytes, size * count);
  return size * count;
}

std::string download(const std::string& url) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
  if (!curl) throw Error(MK_INTERNAL, "cannot start libcurl");
  std::string text;
  std::array<char, CURL_ERROR_SIZE> why{};
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https,file");
  curl_easy_setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, 20L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 100L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, 60L);
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, why.data());
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &text);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK)
    throw Error(MK_BAD_DATA, fmt::format("cannot download {}: {}; try another mirror with --from URL", url,
                                         why[0] != '\0' ? why.data() : curl_easy_strerror(code)));
  return text;
}
#else
std::string download(const std::string& url) {
  throw Error(MK_UNSUPPORTED, "this mokume was built without downloads: fetch " + url +
                                  " with another program, into $MOKUME_DATA/mnist or the cache directory");
}
#endif

}  // namespace

int list_data() {
  std::printf("digits   built in\nfriedman built in\n");
  const char* set = std::getenv("MOKUME_DATA");
  for (const std::string& root : {set != nullptr ? std::string(set) : std::string(), base::cache_directory()}) {
    if (root.empty()) continue;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root, error))
      if (entry.is_directory(error) && fs::exists(entry.path() / "train-images-idx3-ubyte.gz", error))
        std::printf("%-8s %s\n", entry.path().filename().c_str(), entry.path().c_str());
  }
  std::printf("mnist can be fetched: mokume data fetch mnist\n");
  return kDone;
}

int data_info(const std::string& spec) {
  const data::Dataset d = data::load(data::parse_spec(spec));
  std::string text = fmt::format(
      "{}\n{} training rows, {} test rows, {} features, {}\nsha256 {}\n", d.name, d.train.rows, d.test.rows,
      d.train.features, d.class_names.empty() ? "numeric targets" : fmt::format("{} classes", d.class_names.size()),
      d.sha256);
  for (const std::string& note : d.notes) text += note + "\n";
  if (!d.train.labels.empty()) {
    std::vector<int64_t> counts(d.class_names.size(), 0);
    for (const int32_t label : d.train.labels) ++counts[static_cast<size_t>(label)];
    for (size_t c = 0; c < counts.size(); ++c) text += fmt::format("  {:<12} {}\n", d.class_names[c], counts[c]);
  }
  std::fputs(shown_lines(text).c_str(), stdout);
  return kDone;
}

int fetch_data(const std::string& name, const std::string& from) {
  if (name != "mnist")
    throw Error(MK_INVALID_ARGUMENT, "there is no data set '" + name + "' to fetch; mnist is available");
  const std::string cache = base::cache_directory();
  if (cache.empty()) throw Error(MK_DEVICE_ERROR, "no cache directory: set HOME or XDG_CACHE_HOME");
  const std::string directory = cache + "/" + name;
  fs::create_directories(directory);
  const std::string base_url = from.empty() ? kMnistUrl : from;
  for (const Download& d : kMnist) {
    const std::string path = directory + "/" + d.file;
    if (fs::exists(path) && base::sha256(base::read_file(path)) == d.sha256) {
      std::fprintf(stderr, "%s: already present\n", path.c_str());
      continue;
    }
    std::fprintf(stderr, "downloading %s/%s\n", base_url.c_str(), d.file);
    const std::string bytes = download(base_url + "/" + d.file);
    if (base::sha256(bytes) != d.sha256)
      throw Error(MK_BAD_DATA, base_url + "/" + d.file +
                                   " has a wrong SHA-256 and was not kept: try another mirror with --from URL");
    base::write_file(path, bytes);
  }
  std::fprintf(stderr, "mnist is in %s\n", directory.c_str());
  return kDone;
}

}  // namespace mokume::app

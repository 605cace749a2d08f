// Implements the command data fetch, which downloads a data set into the cache.
#ifdef MOKUME_DOWNLOADS
#include <curl/curl.h>
#endif
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "commands.hpp"
#include "sdk/error.hpp"
#include "sdk/storage.hpp"

namespace mokume::app {
#ifdef MOKUME_DOWNLOADS
namespace {

namespace fs = std::filesystem;

struct Download {
  const char* file;
  const char* sha256;
};

// The first mirror that delivers a file with the right SHA-256 wins.
constexpr std::array kMnistMirrors = {"https://storage.googleapis.com/cvdf-datasets/mnist",
                                      "https://ossci-datasets.s3.amazonaws.com/mnist",
                                      "https://azureopendatastorage.blob.core.windows.net/mnist"};
constexpr std::array<Download, 4> kMnist = {{
    {"train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
    {"train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
    {"t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
    {"t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
}};

constexpr curl_off_t kMaxDownload = curl_off_t{1} << 30;

struct Failure {
  std::string why;
  bool can_continue = false;  // the received bytes may begin the right file
};

// Returns the certificate file of this distribution if this libcurl, which a portable package may contain, looks in
// another distribution's place. Returns "" if libcurl looks in the right place, or no place is known.
std::string certificates(CURL* curl) {
  const char* usual = nullptr;
  std::error_code none;
  if (curl_easy_getinfo(curl, CURLINFO_CAINFO, &usual) != CURLE_OK || usual == nullptr || fs::exists(usual, none))
    return "";
  for (const char* other : {"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"})
    if (fs::exists(other, none)) return other;
  return "";
}

// Writes what arrives to a file, and keeps the errno of a failure.
struct Sink {
  std::FILE* file;
  int fault = 0;

  static size_t take(const char* bytes, size_t size, size_t count, void* self) {
    auto& sink = *static_cast<Sink*>(self);
    const size_t written = std::fwrite(bytes, size, count, sink.file);
    if (written < count) sink.fault = errno;
    return written * size;
  }
};

// Downloads `url` into `part`, and continues where an earlier transfer was cut. Returns the failure, or nothing.
std::optional<Failure> transfer(const std::string& url, const fs::path& part) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
  if (!curl) throw Error(MK_INTERNAL, "cannot start libcurl");
  std::error_code none;
  const uintmax_t have = fs::exists(part, none) ? fs::file_size(part, none) : 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(part.c_str(), "ab"), std::fclose);
  if (!file) throw sdk::storage_error("write '" + part.string() + "'", errno);
  Sink sink{file.get()};
  std::array<char, CURL_ERROR_SIZE> why{};
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https,file");
  curl_easy_setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, 20L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 100L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, 60L);
  curl_easy_setopt(curl.get(), CURLOPT_MAXFILESIZE_LARGE, kMaxDownload);
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, why.data());
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &Sink::take);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &sink);
  curl_easy_setopt(curl.get(), CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(have));
  if (const std::string trusted = certificates(curl.get()); !trusted.empty())
    curl_easy_setopt(curl.get(), CURLOPT_CAINFO, trusted.c_str());
  const CURLcode code = curl_easy_perform(curl.get());
  if (sink.fault == 0 && std::fflush(file.get()) != 0) sink.fault = errno;
  if (sink.fault != 0) throw sdk::storage_error("write '" + part.string() + "'", sink.fault);
  if (code == CURLE_OK) return std::nullopt;
  const bool refused = code == CURLE_BAD_DOWNLOAD_RESUME || code == CURLE_RANGE_ERROR ||
                       code == CURLE_HTTP_RETURNED_ERROR || code == CURLE_FILESIZE_EXCEEDED;
  return Failure{why[0] != '\0' ? why.data() : curl_easy_strerror(code), !refused};
}

// Downloads one file. Keeps the bytes only if their SHA-256 is right, or if the transfer was cut and can continue.
// Returns the reason for a failure, or nothing.
std::optional<std::string> fetch(const std::string& url, const fs::path& path, const std::string& sha256) {
  const fs::path part = path.string() + ".part";
  std::error_code none;
  const auto begun = [&] { return fs::exists(part, none) && fs::file_size(part, none) > 0; };
  for (;;) {
    const bool continued = begun();
    const std::optional<Failure> failure = transfer(url, part);
    if (!failure && base::sha256(base::read_file(part.string())) == sha256) {
      fs::rename(part, path, none);
      if (none) throw sdk::storage_error("write '" + path.string() + "'", none.value());
      return std::nullopt;
    }
    if (failure && failure->can_continue && begun()) return failure->why;
    fs::remove(part, none);
    // The existing bytes may have been the beginning of another file.
    if (!continued) return failure ? failure->why : "it has a wrong SHA-256, so it was not kept";
  }
}

void fetch_from(const std::vector<std::string>& mirrors, const Download& d, const std::string& directory) {
  const std::string path = directory + "/" + d.file;
  if (fs::exists(path) && base::sha256(base::read_file(path)) == d.sha256) {
    std::fprintf(stderr, "%s: already present\n", path.c_str());
    return;
  }
  std::vector<std::string> failures;
  for (const std::string& mirror : mirrors) {
    const std::string url = mirror + "/" + d.file;
    std::fprintf(stderr, "downloading %s\n", url.c_str());
    const auto why = fetch(url, path, d.sha256);
    if (!why) return;
    failures.push_back(fmt::format("cannot download {}: {}", url, *why));
  }
  throw Error(MK_BAD_DATA, fmt::format("{}; name another mirror with --from URL", fmt::join(failures, "; ")));
}

}  // namespace

int fetch_data(const std::string& name, const std::string& from) {
  if (name != "mnist")
    throw Error(MK_INVALID_ARGUMENT, "there is no data set '" + name + "' to fetch; mnist is available");
  const std::string cache = base::cache_directory();
  if (cache.empty())
    throw Error(MK_INVALID_ARGUMENT,
                "there is no cache directory to write to: set XDG_CACHE_HOME to a directory of yours");
  const std::string directory = cache + "/" + name;
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) throw sdk::storage_error("create " + directory, failed.value());
  std::vector<std::string> mirrors{from};
  if (from.empty()) mirrors.assign(kMnistMirrors.begin(), kMnistMirrors.end());
  try {
    for (const Download& d : kMnist) fetch_from(mirrors, d, directory);
  } catch (...) {
    std::error_code none;
    fs::remove(directory, none);  // only if it is empty
    throw;
  }
  std::fprintf(stderr, "mnist is in %s\n", directory.c_str());
  return kDone;
}
#else

int fetch_data(const std::string&, const std::string&) {
  throw Error(
      MK_UNSUPPORTED,
      "this mokume was built without downloads: fetch the files with another program, into $MOKUME_DATA/mnist or "
      "the cache directory");
}

#endif

}  // namespace mokume::app

#include "registry/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "base/program.hpp"
#include "base/text.hpp"
#include "registry/candidate.hpp"
#include "registry/permissions.hpp"
#include "sdk/error.hpp"

namespace mokume::registry {
namespace {

namespace fs = std::filesystem;

// Restricts names, because they come from configs and become parts of paths.
bool is_name(const std::string& name) {
  constexpr size_t kLongest = 64;
  return !name.empty() && name.size() <= kLongest && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string installed_directory() {
  const fs::path program = base::program_path();
  if (program.empty()) return "";
  return (program.parent_path() / ".." / "lib" / "mokume").lexically_normal().string();
}

}  // namespace

struct Registry::State {
  const mk_host* host = nullptr;
  Prober prober;
  std::vector<std::string> directories;
  bool trust_groups = false;
  mutable std::mutex mutex;
  std::vector<LoadEntry> entries;
  std::vector<std::unique_ptr<Library>> started;                    // in the order of starts
  std::map<std::pair<int32_t, std::string>, const Library*> known;  // null if rejected: see `why`
  std::map<std::pair<int32_t, std::string>, std::string> why;
  std::set<std::string> tried;  // real paths; the registry starts a library at most once

  void add_directory(const std::string& directory, const char* source);
  void read_environment();
  const Library* find(mk_plugin_kind kind, const std::string& name);
  const Library* find_anew(mk_plugin_kind kind, const std::string& name, std::vector<std::string>& reasons);
  const Library* consider(mk_plugin_kind kind, const std::string& name, const std::string& path,
                          std::vector<std::string>& reasons);
  std::vector<std::string> names(mk_plugin_kind kind) const;
};

void Registry::State::add_directory(const std::string& directory, const char* source) {
  if (directory.empty() || directory.front() != '/') {
    entries.push_back({"", "", directory, "find", false,
                       fmt::format("'{}' in {} is not an absolute directory and is not searched: write it in full, "
                                   "from /",
                                   directory, source),
                       ""});
    return;
  }
  if (std::find(directories.begin(), directories.end(), directory) == directories.end())
    directories.push_back(directory);
}

void Registry::State::read_environment() {
  const char* trust = ::secure_getenv(kTrustGroupVariable);
  trust_groups = trust != nullptr && std::string(trust) == "1";
  const char* path = ::secure_getenv("MOKUME_PLUGIN_PATH");
  if (path == nullptr || path[0] == '\0') return;
  for (const std::string& part : base::split(path, ':')) add_directory(part, "MOKUME_PLUGIN_PATH");
}

std::vector<std::string> Registry::State::names(mk_plugin_kind kind) const {
  std::set<std::string> found;
  for (const std::string& directory : directories) {
    std::error_code code;
    fs::directory_iterator files(fs::path(directory) / kind_directory(kind), code);
    for (; !code && files != fs::directory_iterator(); files.increment(code)) {
      const fs::path file = files->path();
      if (file.extension() == ".so" && is_name(file.stem().string())) found.insert(file.stem().string());
    }
  }
  return {found.begin(), found.end()};
}

const Library* Registry::State::consider(mk_plugin_kind kind, const std::string& name, const std::string& path,
                                         std::vector<std::string>& reasons) {
  LoadEntry entry{kind_name(kind), name, path, "loaded", false, "", ""};
  const Library* result = nullptr;
  try {
    const Checked checked = check_permissions(path, trust_groups);
    const std::string& real = checked.real_path;
    if (!tried.insert(real).second)
      throw Refused("find", fmt::format("it is '{}', which was tried before and is started once only", real));
    if (prober && kind != MK_PLUGIN_TRANSPORT) prober(kind, name, real);
    started.push_back(std::make_unique<Library>(start_library(kind, name, real, host)));
    result = started.back().get();
    entry.loaded = true;
    entry.warning = checked.warning;
    entry.text = fmt::format("version {}: {}", result->version, result->description);
  } catch (const Refused& refused) {
    entry.stage = refused.stage();
    entry.text = refused.what();
    reasons.push_back(fmt::format("{}: {}", path, refused.what()));
  }
  entries.push_back(std::move(entry));
  return result;
}

const Library* Registry::State::find_anew(mk_plugin_kind kind, const std::string& name,
                                          std::vector<std::string>& reasons) {
  const auto refuse = [&](const std::string& text) {
    entries.push_back({kind_name(kind), name, "", "find", false, text, ""});
    reasons.push_back(text);
    return nullptr;
  };
  if (!is_name(name)) return refuse("it is not a valid name: use up to 64 of a-z, 0-9, '-' and '_'");
  for (const std::string& directory : directories) {
    const std::string path = fmt::format("{}/{}/{}.so", directory, kind_directory(kind), name);
    std::error_code code;
    // A dangling link is a candidate, too, so that the report gives the reason for its rejection.
    if (fs::symlink_status(path, code).type() == fs::file_type::not_found) continue;
    if (const Library* library = consider(kind, name, path, reasons)) return library;
  }
  if (!reasons.empty()) return nullptr;
  return refuse(fmt::format("there is no {}/{}.so in {}: install it there or name its directory in MOKUME_PLUGIN_PATH",
                            kind_directory(kind), name, fmt::join(directories, ", ")));
}

const Library* Registry::State::find(mk_plugin_kind kind, const std::string& name) {
  const auto key = std::make_pair(static_cast<int32_t>(kind), name);
  if (const auto at = known.find(key); at != known.end()) return at->second;
  std::vector<std::string> reasons;
  const Library* library = find_anew(kind, name, reasons);
  known[key] = library;
  why[key] = fmt::format("{}", fmt::join(reasons, "; "));
  return library;
}

Registry::Registry(const mk_host* host, const std::vector<std::string>& directories, Prober prober)
    : state_(std::make_unique<State>()) {
  state_->host = host;
  state_->prober = std::move(prober);
  for (const std::string& directory : directories) state_->add_directory(directory, "the list of plugin directories");
  state_->read_environment();
  if (const std::string installed = installed_directory(); !installed.empty())
    state_->add_directory(installed, "the program's own directory");
}

Registry::~Registry() {
  for (auto library = state_->started.rbegin(); library != state_->started.rend(); ++library) shut_down(**library);
}

const Library& Registry::load(mk_plugin_kind kind, const std::string& name) {
  const std::lock_guard lock(state_->mutex);
  if (const Library* library = state_->find(kind, name)) return *library;
  const std::vector<std::string> names = state_->names(kind);
  const std::string close = base::closest(name, names);
  throw Error(
      MK_DEVICE_ERROR,
      fmt::format("the {} '{}' cannot be loaded{} ({}): {}", kind_name(kind), name,
                  close.empty() || close == name ? "" : fmt::format("; did you mean '{}'?", close),
                  names.empty() ? "there are none of its kind" : fmt::format("there are: {}", fmt::join(names, ", ")),
                  state_->why[{kind, name}]));
}

const Library* Registry::try_load(mk_plugin_kind kind, const std::string& name) {
  const std::lock_guard lock(state_->mutex);
  return state_->find(kind, name);
}

std::vector<std::string> Registry::available(mk_plugin_kind kind) const { return state_->names(kind); }

std::vector<LoadEntry> Registry::report() const {
  const std::lock_guard lock(state_->mutex);
  return state_->entries;
}

const std::vector<std::string>& Registry::directories() const { return state_->directories; }

}  // namespace mokume::registry

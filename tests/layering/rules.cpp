#include "layering/rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

namespace mokume::layering {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxLines = 600;
constexpr size_t kMaxSources = 24;  // in a folder of core

// Lists the layers from low to high. A folder may include itself and the folders before it.
constexpr std::array<std::string_view, 17> kLayers = {"abi",     "sdk",       "base",   "registry", "data",   "search",
                                                      "journal", "scheduler", "config", "cluster",  "device", "results",
                                                      "node",    "team",      "run",    "inspect",  "apps"};

// Describes headers of a library that one folder wraps for the rest, by the beginning of their names.
struct Fence {
  const char* headers;
  const char* folder;
  const char* what;
};
constexpr std::array kFences = {
    Fence{"tbb/", "core/scheduler/", "TBB"},        Fence{"oneapi/tbb", "core/scheduler/", "TBB"},
    Fence{"mpi.h", "transports/mpi/", "MPI"},       Fence{"CL/", "backends/opencl/", "OpenCL"},
    Fence{"clblast", "backends/opencl/", "OpenCL"},
};

// Describe names that are forbidden, or allowed only in a few places, with the reason.
struct Allowed {
  const char* path;  // a file or, ending in '/', a folder
  const char* reason;
};
struct Ban {
  std::vector<const char*> names;
  const char* scope;  // "" for everywhere, otherwise a folder
  const char* cure;
  std::vector<Allowed> allowed;
};

std::vector<Ban> bans() {
  return {
      {{"getenv", "secure_getenv"},
       "",
       "pass the value down from main(), or add the file to tests/layering with its reason",
       {{"core/base/files.cpp", "XDG_CACHE_HOME and HOME name the cache"},
        {"core/sdk/variable.hpp", "the one strict reader of variables that hold seconds"},
        {"core/registry/registry.cpp", "MOKUME_PLUGIN_PATH"},
        {"core/sdk/isa.hpp", "MOKUME_ISA limits the instruction set"},
        {"core/data/", "MOKUME_DATA and the cache name data sets"},
        {"core/cluster/", "an MPI launcher announces itself by variables"},
        {"transports/mpi/", "variables limit the start and select a network"},
        {"backends/opencl/", "drivers and the ICD loader are steered by variables"},
        {"apps/", "main() may look at its terminal and environment"},
        {"tests/", "tests put back what they change"},
        {"bench/", "MOKUME_DATA"}}},
      {{"cout"}, "core/", "standard output belongs to apps/: return the text or use base::Log", {}},
      {{"rand", "srand", "random_device"}, "", "use sdk/philox.hpp: numbers are a function of the seed", {}},
      {{"dlopen"},
       "",
       "load libraries through core/registry",
       {{"core/registry/", "the one place that loads plugins"},
        {"core/device/nvidia_energy.cpp", "the counters of NVIDIA's driver, which most machines lack"},
        {"bench/", "measures a backend through the bare boundary"},
        {"tests/faults/", "stands in front of another backend"},
        {"tests/gpu/counts_test.cpp", "asks the layer that the loader has loaded"},
        {"tests/gpu/cuda/driver.cpp", "an OpenCL driver opens another driver"},
        {"tests/gpu/cuda_test.cpp", "puts a stand-in before that driver"},
        {"tests/predictions/counted.cpp", "stands in front of OpenCL's loader"},
        {"tests/processors/older_cpu.cpp", "stands in front of LLVM"},
        {"backends/opencl/platforms/probe_main.cpp", "meets a driver before the program does"},
        {"backends/opencl/gemm/clblast.cpp", "a system library, optional and slow to map: only when a probe asks"}}},
      {{"dlclose"}, "", "libraries stay loaded: drivers do not survive being unloaded", {}},
  };
}

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }
bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns whether `line` uses `name` on its own, not as part of a longer word or as a member.
bool uses(const std::string& line, const std::string& name) {
  for (size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
    const char before = at == 0 ? ' ' : line[at - 1];
    const size_t end = at + name.size();
    const bool member = before == '.' || (before == '>' && at > 1 && line[at - 2] == '-');
    if (!is_word(before) && !member && (end == line.size() || !is_word(line[end]))) return true;
  }
  return false;
}

// Returns the first `n` parts of a path, with the slash: "backends/opencl/".
std::string first_parts(const std::string& path, int n) {
  size_t at = 0;
  for (int i = 0; i < n && at != std::string::npos; ++i) at = path.find('/', at == 0 ? 0 : at + 1);
  return at == std::string::npos ? folder_of(path) : path.substr(0, at + 1);
}

int layer(std::string_view name) {
  const auto at = std::find(kLayers.begin(), kLayers.end(), name);
  return at == kLayers.end() ? -1 : static_cast<int>(at - kLayers.begin());
}

bool is_c_family(const std::string& path) {
  for (const char* suffix : {".cpp", ".hpp", ".c", ".h"})
    if (ends_with(path, suffix)) return true;
  return false;
}

size_t lines_of(const Source& source) {
  return static_cast<size_t>(std::count(source.text.begin(), source.text.end(), '\n'));
}

struct Include {
  size_t line;
  std::string name;  // "" if the line is not an include
  bool quoted;
};

Include parse_include(size_t number, std::string_view line) {
  const auto skip = [&](std::string_view word) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const bool there = starts_with(line, word);
    if (there) line.remove_prefix(word.size());
    return there;
  };
  if (!skip("#") || !skip("include")) return {number, "", false};
  const bool quoted = skip("\"");
  if (!quoted && !skip("<")) return {number, "", false};
  return {number, std::string(line.substr(0, line.find(quoted ? '"' : '>'))), quoted};
}

// Returns the position after the comment or literal that starts at `i`, or `i` if none starts there.
size_t end_of_span(const std::string& text, size_t i) {
  const auto after = [&](const std::string& end) {
    const size_t at = text.find(end, i + 2);
    return at == std::string::npos ? text.size() : at + end.size();
  };
  if (text.compare(i, 2, "//") == 0) return text.find('\n', i);
  if (text.compare(i, 2, "/*") == 0) return after("*/");
  if (text.compare(i, 2, "R\"") == 0) return after(")" + text.substr(i + 2, text.find('(', i) - i - 2) + "\"");
  const char quote = text[i];
  // A single quote after a letter or digit separates digits, as in 1'000.
  const bool separator = quote == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0;
  if ((quote != '"' && quote != '\'') || separator) return i;
  for (++i; i < text.size() && text[i] != quote && text[i] != '\n'; ++i)
    if (text[i] == '\\') ++i;
  return i + 1;
}

class Checker {
 public:
  explicit Checker(const std::vector<Source>& tree) : tree_(tree) {
    for (const Source& source : tree) {
      paths_.insert(source.path);
      names_.insert(source.path.substr(folder_of(source.path).size()));
    }
  }

  std::vector<std::string> run() {
    for (const Source& source : tree_) {
      source_ = &source;
      check_length();
      check_header();
      if (!is_c_family(source.path)) continue;
      check_includes();
      check_names();
    }
    check_folders();
    return found_;
  }

 private:
  void report(size_t line, const std::string& text) {
    found_.push_back(source_->path + ":" + std::to_string(line) + ": " + text);
  }

  void check_length() {
    const size_t lines = lines_of(*source_);
    if (lines > kMaxLines)
      report(lines, "more than " + std::to_string(kMaxLines) + " lines: cut it where a reader would");
  }

  // Checks that a source of core has a header of its name, or continues a large class and shares its header, like
  // policy_next.cpp and policy.hpp.
  void check_header() {
    const std::string& path = source_->path;
    if (!starts_with(path, "core/") || !ends_with(path, ".cpp")) return;
    const std::string stem = path.substr(0, path.size() - 4);
    const size_t mark = stem.rfind('_');
    const bool continues = mark > folder_of(path).size() && paths_.count(stem.substr(0, mark) + ".hpp") != 0;
    if (paths_.count(stem + ".hpp") == 0 && !continues) report(1, "it has no header of its name: " + stem + ".hpp");
  }

  void check_folders() {
    std::map<std::string, size_t> sources;
    for (const Source& source : tree_)
      if (starts_with(source.path, "core/") && ends_with(source.path, ".cpp")) ++sources[folder_of(source.path)];
    for (const auto& [folder, count] : sources)
      if (count > kMaxSources)
        found_.push_back(folder + ": " + std::to_string(count) + " sources: more than " + std::to_string(kMaxSources) +
                         " are no room with one purpose");
  }

  void check_includes() {
    std::istringstream lines(source_->text);
    std::string line;
    for (size_t number = 1; std::getline(lines, line); ++number)
      if (const Include include = parse_include(number, line); !include.name.empty()) check_include(include);
  }

  void check_include(const Include& include) {
    if (include.name.find("..") != std::string::npos)
      return report(include.line, "'" + include.name + "': include by the path from core/ or the module's folder");
    for (const Fence& fence : kFences)
      if (starts_with(include.name, fence.headers) && !starts_with(source_->path, fence.folder) && !is_layer())
        report(include.line, std::string("only ") + fence.folder + " includes " + fence.what);
    const bool library = starts_with(source_->path, "backends/") || starts_with(source_->path, "plugins/") ||
                         starts_with(source_->path, "transports/");
    if (library)
      check_library_include(include);
    else if (starts_with(source_->path, "core/"))
      check_core_include(include);
    else if (starts_with(source_->path, "apps/report/"))
      check_report_include(include);
  }

  // Returns whether this source is a layer between a program and its OpenCL driver, or a driver.
  bool is_layer() const {
    return starts_with(source_->path, "tests/gpu/pose") || starts_with(source_->path, "tests/gpu/cuda") ||
           starts_with(source_->path, "tests/predictions/counted") || starts_with(source_->path, "bench/gpu/");
  }

  bool is_own(const Include& include, const std::string& module) const {
    return ends_with(include.name, ".embed.hpp") || paths_.count(folder_of(source_->path) + include.name) != 0 ||
           paths_.count(module + include.name) != 0;
  }

  // A library that is loaded at run time may include the ABI, the SDK above it, and itself. Models share one folder,
  // and backends share another.
  void check_library_include(const Include& include) {
    const std::string first = include.name.substr(0, include.name.find('/'));
    if (first == "abi" || first == "sdk") return;
    if (first == "storage" && paths_.count("plugins/" + include.name) != 0 && starts_with(source_->path, "plugins/"))
      return;
    if (first == "formulas" && paths_.count("backends/" + include.name) != 0 && starts_with(source_->path, "backends/"))
      return;
    const std::string module = first_parts(source_->path, 2);
    // The module's own build generates a bare name without a file in the tree.
    const bool generated = include.name.find('/') == std::string::npos && names_.count(include.name) == 0;
    const bool foreign = include.quoted ? !generated && !is_own(include, module) : in_tree(include.name);
    if (foreign)
      report(include.line,
             "'" + include.name + "': a backend, model or transport includes abi/, sdk/ and its own headers only");
  }

  void check_core_include(const Include& include) {
    const std::string own = source_->path.substr(5, source_->path.find('/', 5) - 5);
    const std::string first = include.name.substr(0, include.name.find('/'));
    const int other = layer(first);
    if (!include.quoted && !in_tree(include.name)) return;
    if (other < 0 && !is_own(include, "core/" + own + "/"))
      report(include.line, "'" + include.name + "' is in no folder of core: include by the path from core/");
    if (layer(own) < 0)
      return report(include.line, "core/" + own + " has no place in the order of layers: see kLayers");
    if (other > layer(own))
      report(include.line,
             "core/" + own + " must not include '" + include.name + "', which is higher: move what is shared down");
  }

  // Charts and pages draw results, so they know neither runs nor the program.
  void check_report_include(const Include& include) {
    const std::string first = include.name.substr(0, include.name.find('/'));
    const bool own = first == "report" || ends_with(include.name, ".embed.hpp");
    if (include.quoted && !own && (layer(first) < 0 || layer(first) > layer("results")))
      report(include.line, "'" + include.name + "': charts and pages include core/results and the folders below it");
  }

  bool in_tree(const std::string& name) const { return paths_.count("core/" + name) != 0; }

  void check_names() {
    std::istringstream lines(code_only(source_->text));
    std::string line;
    for (size_t number = 1; std::getline(lines, line); ++number)
      for (const Ban& ban : bans_)
        for (const char* name : ban.names)
          if (starts_with(source_->path, ban.scope) && uses(line, name) && !is_allowed(ban))
            report(number, std::string("'") + name + "' is banned here: " + ban.cure);
  }

  bool is_allowed(const Ban& ban) const {
    return std::any_of(ban.allowed.begin(), ban.allowed.end(), [&](const Allowed& place) {
      return ends_with(place.path, "/") ? starts_with(source_->path, place.path) : source_->path == place.path;
    });
  }

  const std::vector<Source>& tree_;
  const std::vector<Ban> bans_ = bans();
  std::set<std::string> paths_, names_;
  const Source* source_ = nullptr;
  std::vector<std::string> found_;
};

}  // namespace

std::string code_only(const std::string& text) {
  std::string code = text;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(end_of_span(text, i), text.size());
    for (size_t j = i; j < end; ++j)
      if (code[j] != '\n') code[j] = ' ';
    i = std::max(end, i + 1);
  }
  return code;
}

std::vector<std::string> violations(const std::vector<Source>& tree) { return Checker(tree).run(); }

size_t core_lines(const std::vector<Source>& tree) {
  size_t lines = 0;
  for (const Source& source : tree)
    if (starts_with(source.path, "core/") && is_c_family(source.path)) lines += lines_of(source);
  return lines;
}

size_t reached_lines(const std::vector<Source>& tree, const std::string& path) {
  std::map<std::string, const Source*> core;
  for (const Source& source : tree)
    if (starts_with(source.path, "core/") && is_c_family(source.path)) core[source.path] = &source;
  const auto stem = [](const std::string& name) { return name.substr(0, name.rfind('.')); };
  std::set<std::string> reached;
  std::vector<std::string> next{path};
  size_t lines = 0;
  while (!next.empty()) {
    const std::string at = next.back();
    next.pop_back();
    const auto found = core.find(at);
    if (found == core.end() || !reached.insert(at).second) continue;
    lines += lines_of(*found->second);
    std::istringstream text(found->second->text);
    for (std::string line; std::getline(text, line);) {
      const Include include = parse_include(0, line);
      next.push_back("core/" + include.name);
      next.push_back(folder_of(at) + include.name);
    }
    if (ends_with(at, ".cpp")) continue;
    next.push_back(stem(at) + ".cpp");
    for (auto more = core.lower_bound(stem(at) + "_"); more != core.end(); ++more) {
      if (!starts_with(more->first, stem(at) + "_")) break;
      if (ends_with(more->first, ".cpp") && core.count(stem(more->first) + ".hpp") == 0) next.push_back(more->first);
    }
  }
  return lines;
}

std::vector<Source> read_tree(const std::string& root) {
  std::vector<Source> tree;
  for (const char* top : {"core", "backends", "plugins", "transports", "apps", "tests", "bench", "scripts", "cmake"}) {
    if (!fs::exists(fs::path(root) / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / top)) {
      const std::string suffix = entry.path().extension().string();
      static const std::set<std::string> kSuffixes = {".cpp", ".hpp",   ".c",   ".h", ".cl",
                                                      ".py",  ".cmake", ".txt", ".sh"};
      if (!entry.is_regular_file() || kSuffixes.count(suffix) == 0) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      tree.push_back({entry.path().lexically_relative(root).generic_string(),
                      std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>())});
    }
  }
  std::sort(tree.begin(), tree.end(), [](const Source& a, const Source& b) { return a.path < b.path; });
  return tree;
}

}  // namespace mokume::layering

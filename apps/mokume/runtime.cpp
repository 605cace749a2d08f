#include "runtime.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/files.hpp"
#include "base/missing.hpp"
#include "base/text.hpp"
#include "cluster/transport/launcher.hpp"
#include "config/diagnostics.hpp"
#include "node/experiment.hpp"
#include "registry/probe.hpp"
#include "sdk/variable.hpp"

namespace mokume::app {
namespace {

constexpr uint32_t kPartMs = 30000;

// Returns a unique absolute spelling of a directory.
std::string normal(const std::string& directory) {
  std::string text = std::filesystem::absolute(directory).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

bool has_control(const std::string& text) { return base::without_controls(text) != text; }

}  // namespace

std::string shell_quoted(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  const bool control = has_control(word);
  std::string escaped;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (control && (byte < ' ' || byte > '~'))
      escaped += fmt::format("\\x{:02x}", byte);
    else if (control && (c == '\'' || c == '\\'))
      escaped += std::string("\\") + c;
    else
      escaped += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return (control ? "$'" : "'") + escaped + "'";
}

std::string shown(const std::string& path) { return has_control(path) ? shell_quoted(path) : path; }

std::string CommandLine::with_plugins(const std::vector<std::string>& directories) const {
  std::string text;
  for (size_t k = 0; k < words.size(); ++k) {
    text += (k == 0 ? "" : " ") + shell_quoted(words[k]);
    // The options follow the command's name, so that a "--" among the words has no effect on them.
    for (size_t d = 0; k == 1 && d < directories.size(); ++d) text += " --plugins " + shell_quoted(directories[d]);
  }
  return text;
}

Runtime::Runtime(CommandLine command) : command_(std::move(command)), host_(log_, 0, base::cache_directory()) {
  search_also(command_.plugins);
}

registry::Registry& Runtime::registry() {
  if (!registry_) registry_.emplace(host_.table(), named_, prober());
  return *registry_;
}

registry::Prober Runtime::prober() {
  if (!probes_) return {};
  registry::ProbeSetup setup;
  setup.cache_directory = base::cache_directory();
  setup.limit_s = sdk::seconds_variable("MOKUME_PROBE_SECONDS", setup.limit_s);  // for tests and slow drivers
  setup.tell = [this](const std::string& text) { log_.warn("registry", text); };
  setup.stopped = [this] { return stop_ != nullptr && *stop_; };
  return registry::Probe(std::move(setup));
}

void Runtime::search_also(const std::vector<std::string>& directories) {
  if (registry_) return;
  for (const std::string& directory : directories) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(directory, ignored))
      throw Error(MK_INVALID_ARGUMENT,
                  fmt::format("there is no plugin directory {}{}: name one with backends/ or plugins/",
                              shown(directory), base::relative_to(directory)));
    if (const std::string one = normal(directory); std::find(named_.begin(), named_.end(), one) == named_.end())
      named_.push_back(one);
  }
}

std::string Runtime::with_libraries(const std::string& verb, const std::string& run) const {
  if (named_.empty()) return "";
  return CommandLine{{command_.words.empty() ? "mokume" : command_.words.front(), verb, run}, {}}.with_plugins(named_);
}

config::SchemaLookup Runtime::trusting_lookup() {
  return [this](const std::string& model, const std::vector<std::string>& directories, std::string& why) {
    search_also(directories);
    return node::schema_lookup(registry())(model, directories, why);
  };
}

std::vector<std::string> Runtime::unsearched(const std::vector<std::string>& directories) {
  std::vector<std::string> searched;
  for (const std::string& directory : registry().directories()) searched.push_back(normal(directory));
  std::vector<std::string> rest;
  for (const std::string& directory : directories)
    if (std::find(searched.begin(), searched.end(), normal(directory)) == searched.end()) rest.push_back(directory);
  return rest;
}

const mk_transport* Runtime::load_transport() {
  const std::string name = cluster::transport_of_launcher(registry().available(MK_PLUGIN_TRANSPORT));
  return registry().load(MK_PLUGIN_TRANSPORT, name).transport();
}

cluster::Transport& Runtime::transport() {
  if (!transport_) {
    transport_.emplace(cluster::mpi_launched() ? load_transport() : cluster::self_transport());
    cluster::check_launcher(transport_->size());
  }
  return *transport_;
}

void Runtime::part(int exit_code) {
  std::fflush(nullptr);
  bool usual = !hung_;
  if (transport_ && transport_->size() > 1) {
    // MPI's own shutdown hangs forever if a node dies during it.
    std::thread([exit_code] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2 * kPartMs));
      _exit(exit_code);
    }).detach();
    usual = transport_->leave(kPartMs) && usual;
  }
  if (!usual) _exit(exit_code);
}

}  // namespace mokume::app

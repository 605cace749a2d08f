#include "registry/probe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "base/child.hpp"
#include "base/clock.hpp"
#include "base/frames.hpp"
#include "base/passed.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "registry/candidate.hpp"
#include "registry/devices_of.hpp"
#include "sdk/error.hpp"

namespace mokume::registry {
namespace {

// The child's messages consist of a word and the lines that follow it.
constexpr const char* kAt = "at";            // followed by the next stage
constexpr const char* kRefused = "refused";  // followed by stage and reason
constexpr const char* kPassed = "passed";    // followed by the mapped files

constexpr std::chrono::milliseconds kGlanceAtStop(50);

std::string place_of(const std::string& stage) {
  return stage == "open" ? "while it was loaded" : fmt::format("in its {} function", stage);
}

std::string cure_of(const std::string& stage) {
  return stage == "open" ? "build or install it again, or remove it"
                         : "report this to its author, and remove it meanwhile";
}

// Reports the end of a child that gave no answer.
[[noreturn]] void refuse_end(const std::string& stage, const std::string& end) {
  throw Refused(stage, fmt::format("the process that tried it {} {}: {}", end, place_of(stage), cure_of(stage)));
}

class Trial {
 public:
  Trial(const ProbeSetup& setup, mk_plugin_kind kind, const std::string& name, const std::string& path)
      : setup_(setup),
        what_(fmt::format("the {} '{}' ({})", kind_name(kind), name, path)),
        child_({setup.program,
                {"mokume", kProbeCommand, std::to_string(::getpid()), std::to_string(kind), name, path},
                base::environment_without_launcher(),
                [](const std::string&) {}}) {}

  // Returns the files that the child had mapped.
  std::vector<std::string> run() {
    for (;;) {
      const std::optional<std::string> message = next();
      if (!message) refuse_end(stage_, child_.wait());
      std::vector<std::string> lines = base::split(*message, '\n');
      const std::string word = lines.front();
      lines.erase(lines.begin());
      if (word == kPassed) return lines;
      if (lines.empty()) continue;
      stage_ = lines.front();
      if (word == kRefused) throw Refused(stage_, message->substr(word.size() + stage_.size() + 2));
    }
  }

 private:
  // Returns the next message, or no value if the child has ended.
  std::optional<std::string> next() {
    while (!base::frame_waits(child_.socket(), kGlanceAtStop)) {
      const double waited = base::steady_s() - start_;
      if (setup_.stopped && setup_.stopped())
        throw Error(MK_CANCELLED, fmt::format("stopped while {} was tried", what_));
      if (waited >= setup_.limit_s) {
        child_.kill();
        refuse_end(stage_, fmt::format("was ended after {:g} s", setup_.limit_s));
      }
      if (!told_ && waited >= setup_.patience_s && setup_.tell)
        setup_.tell(fmt::format("{} is being tried and has not answered for {:g} s; it is left out after {:g} s", what_,
                                setup_.patience_s, setup_.limit_s));
      told_ = told_ || waited >= setup_.patience_s;
    }
    try {
      return base::receive_frame(child_.socket());
    } catch (const Error&) {
      return std::nullopt;  // the library wrote to the socket, or the child died during the write
    }
  }

  const ProbeSetup& setup_;
  const std::string what_;
  base::Child child_;
  const double start_ = base::steady_s();
  std::string stage_ = "open";
  bool told_ = false;
};

// Returns the variables that determine which libraries are mapped.
std::vector<std::string> loader_variables() {
  std::vector<std::string> variables = base::environment_without_launcher();
  std::erase_if(variables, [](const std::string& one) { return !one.starts_with("LD_"); });
  std::sort(variables.begin(), variables.end());
  return variables;
}

// Returns the paths of the program and of every mapped library.
std::vector<std::string> mapped_files() {
  std::vector<std::string> paths{base::program_path()};
  const auto add = [](dl_phdr_info* info, size_t, void* to) {
    if (info->dlpi_name[0] == '/') static_cast<std::vector<std::string>*>(to)->emplace_back(info->dlpi_name);
    return 0;
  };
  ::dl_iterate_phdr(add, &paths);
  return paths;
}

}  // namespace

void Probe::operator()(mk_plugin_kind kind, const std::string& name, const std::string& real_path) const {
  const auto tell = [&](const std::string& text) {
    if (setup_.tell) setup_.tell(text);
  };
  const base::Passed passed(setup_.cache_directory, "libraries", real_path, loader_variables());
  if (passed.known()) return;
  if (passed.damaged()) tell(passed.file() + " is damaged and is written again");
  try {
    const std::vector<std::string> mapped = Trial(setup_, kind, name, real_path).run();
    passed.remember(mapped, base::states_of(mapped));
  } catch (const Error& e) {
    if (e.status() == MK_CANCELLED) throw;
    // The system may refuse to start another process, and the library is probably good.
    tell(fmt::format("the {} '{}' ({}) is loaded without a trial: {}", kind_name(kind), name, real_path, e.what()));
  }
}

void serve_probe(mk_plugin_kind kind, const std::string& name, const std::string& real_path, const mk_host* host) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);  // prevents a core file, because a crash is no surprise here
  const auto tell = [](const std::string& text) { base::send_frame(base::kChildSocket, text); };
  std::string stage;
  const auto begin = [&](const char* next) {
    stage = next;
    tell(fmt::format("{}\n{}", kAt, stage));
  };
  const auto refuse = [&](const std::string& text) { tell(fmt::format("{}\n{}\n{}", kRefused, stage, text)); };
  try {
    try {
      const Library library = start_library(kind, name, real_path, host, begin);
      if (kind == MK_PLUGIN_BACKEND) {
        begin("enumerate");
        devices_of(*library.backend());
      }
      const std::vector<std::string> mapped = mapped_files();
      begin("shutdown");
      shut_down(library);
      tell(fmt::format("{}\n{}", kPassed, fmt::join(mapped, "\n")));
    } catch (const Refused& refused) {
      stage = refused.stage();
      refuse(refused.what());
    } catch (const Error& error) {
      refuse(error.what());
    } catch (const std::exception& error) {  // a constructor threw it
      refuse(fmt::format("it threw \"{}\" {}: {}", error.what(), place_of(stage), cure_of(stage)));
    }
  } catch (const std::exception&) {
    // The parent has ended.
  }
  ::_exit(0);  // skips the exit handlers of libraries
}

}  // namespace mokume::registry

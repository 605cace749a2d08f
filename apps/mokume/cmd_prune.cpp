// Implements the command prune, which removes old runs and checkpoints and, with --cache, built kernels.
#include <cstdio>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "inspect/prune.hpp"
#include "results/format.hpp"
#include "sdk/error.hpp"

namespace mokume::app {
namespace {

inspect::PruneRule rule_of(const PruneOptions& options) {
  inspect::PruneRule rule;
  rule.unfinished = options.unfinished;
  rule.keep = options.keep;
  if (options.cache && options.keep)
    throw Error(MK_INVALID_ARGUMENT, "--cache needs --older-than or --larger-than: --keep counts runs");
  if (options.older_than) {
    rule.older_than_s = base::parse_duration(*options.older_than);
    if (!rule.older_than_s)
      throw Error(MK_INVALID_ARGUMENT, "--older-than " + *options.older_than + " is not a duration: write 30d or 12h");
  }
  if (options.larger_than) {
    rule.larger_than = base::parse_bytes(*options.larger_than);
    if (!rule.larger_than) rule.larger_than = base::parse_bytes(*options.larger_than + "B");  // accepts "10G"
    if (!rule.larger_than)
      throw Error(MK_INVALID_ARGUMENT,
                  "--larger-than " + *options.larger_than + " is not a size: write 10G or 500 MiB");
  }
  return rule;
}

}  // namespace

int prune(Runtime& runtime, const PruneOptions& options) {
  const inspect::PruneRule rule = rule_of(options);
  const auto runs = inspect::list_runs(runtime.registry(), options.directory);
  const auto all = inspect::removals(runs, rule, options.cache ? base::cache_directory() : "", base::wall_s());
  uint64_t bytes = 0;
  int code = kDone;
  for (const inspect::Removal& one : all) {
    const auto [why, passes] = options.yes ? inspect::remove(one) : inspect::Kept{};
    say(stdout, "{} {} ({}, {}){}\n", why.empty() ? options.yes ? "removed" : "would remove" : "kept", shown(one.path),
        one.what, base::human_bytes(one.bytes), why.empty() ? "" : ": " + why);
    if (why.empty())
      bytes += one.bytes;
    else
      code = !passes ? kUsage : code == kDone ? kStopped : code;
  }
  for (const auto& run : runs)
    if (run.state == inspect::ListedRun::RunState::damaged)
      say(stderr, "{} is damaged and stays: remove it yourself if you do not need it\n", shown(run.directory));
  if (all.empty())
    say(stderr, "there is nothing to remove\n");
  else if (options.yes)
    say(stderr, "freed {}\n", base::human_bytes(bytes));
  else
    say(stderr, "this would free {}; nothing was removed: add --yes to remove {}\n", base::human_bytes(bytes),
        all.size() == 1 ? "it" : "them");
  return code;
}

}  // namespace mokume::app

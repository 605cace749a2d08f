// Implements the command list, which shows the runs below a directory.
#include <cstdio>

#include "base/clock.hpp"
#include "commands.hpp"
#include "inspect/list.hpp"

namespace mokume::app {

int list_runs(Runtime& runtime, const std::string& directory, bool json) {
  const auto runs = inspect::list_runs(runtime.registry(), directory);
  if (json) {
    const auto list = inspect::list_json(runs, base::wall_s());
    say(stdout, "{}\n", list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return kDone;
  }
  if (runs.empty())
    say(stderr, "{} holds no runs\n", shown(directory));
  else
    show(stdout, inspect::list_text(runs, base::wall_s()));
  return kDone;
}

}  // namespace mokume::app

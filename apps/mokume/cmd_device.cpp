// The command device-child: the process of one device of a run with isolation = "process". Started by mokume run, never
// by hand.
#include "base/child.hpp"
#include "commands.hpp"
#include "node/child.hpp"

namespace mokume::app {

int device_child(int parent) {
  base::join_parent(parent);
  Runtime runtime;  // the experiment that the parent sends names the directories that the parent searches
  runtime.log().set_level(MK_LOG_INFO);  // the parent decides what is shown
  node::serve_device({runtime.log(),
                      [&runtime](const std::vector<std::string>& directories) -> registry::Registry& {
                        runtime.search_also(directories);
                        return runtime.registry();
                      },
                      runtime.trusting_lookup()},
                     base::kChildSocket);
}

}  // namespace mokume::app

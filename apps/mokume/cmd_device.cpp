// Implements two hidden commands, which the program itself starts: device-child, the process of one device of a run
// with isolation = "process", and library-probe, the process that tries a library.
#include "base/child.hpp"
#include "commands.hpp"
#include "node/child.hpp"
#include "registry/probe.hpp"

namespace mokume::app {

int device_child(int parent) {
  base::join_parent(parent);
  // This process tries no libraries: the parent has tried them, and survives this process.
  Runtime runtime;                       // the parent sends the experiment, which names the parent's directories
  runtime.log().set_level(MK_LOG_INFO);  // the parent filters what is shown
  node::serve_device({runtime.log(),
                      [&runtime](const std::vector<std::string>& directories) -> registry::Registry& {
                        runtime.search_also(directories);
                        return runtime.registry();
                      },
                      runtime.trusting_lookup()},
                     base::kChildSocket);
}

int library_probe(const ProbeOptions& options) {
  base::join_parent(options.parent);
  Runtime runtime;
  runtime.log().set_level(MK_LOG_ERROR);  // the parent's own copy of the library repeats its warnings
  registry::serve_probe(static_cast<mk_plugin_kind>(options.kind), options.name, options.path, runtime.host());
}

}  // namespace mokume::app

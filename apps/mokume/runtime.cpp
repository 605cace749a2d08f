#include "runtime.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "base/files.hpp"
#include "cluster/launcher.hpp"
#include "experiment/prepared.hpp"

namespace mokume::app {
namespace {

constexpr uint32_t k_part_ms = 30000;

}  // namespace

Runtime::Runtime() : host_(log_, 0, base::cache_directory()) {}

registry::Registry& Runtime::registry(const std::vector<std::string>& directories) {
  if (!registry_) registry_.emplace(host_.table(), directories);
  return *registry_;
}

experiment::SchemaLookup Runtime::schema_lookup() {
  return [this](const std::string& model, const std::vector<std::string>& directories, std::string& why) {
    return experiment::schema_lookup(registry(directories))(model, directories, why);
  };
}

cluster::Transport& Runtime::transport() {
  if (!transport_) {
    transport_.emplace(cluster::mpi_launched() ? registry().load(MK_PLUGIN_TRANSPORT, "mpi").transport()
                                               : cluster::self_transport());
    cluster::check_launcher(transport_->size());
  }
  return *transport_;
}

void Runtime::part(int exit_code) {
  std::fflush(nullptr);
  bool usual = !hung_;
  if (transport_ && transport_->size() > 1) {
    // MPI's own parting hangs for ever if a node dies in the middle of it.
    std::thread([exit_code] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2 * k_part_ms));
      _exit(exit_code);
    }).detach();
    usual = transport_->leave(k_part_ms) && usual;
  }
  if (!usual) _exit(exit_code);
}

}  // namespace mokume::app

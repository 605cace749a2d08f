#include "runtime.hpp"

#include "base/files.hpp"
#include "experiment/prepared.hpp"

namespace mokume::app {

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

}  // namespace mokume::app

#include "node/device_session.hpp"

#include <algorithm>

namespace mokume::node {

bool follows(const device::Choices& have, const device::Choices& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& choice) {
    const auto found = have.find(choice.first);
    return found != have.end() && found->second == choice.second;
  });
}

std::string device_title(const device::Listed& listed) { return listed.id() + " (" + listed.info.name + "): "; }

}  // namespace mokume::node

// Target for the text with which rank 0 invites the others.
#include "fuzz.hpp"
#include "invitation.hpp"

namespace mokume::fuzz {
namespace {

FUZZ_TARGET(invitation) {
  accepts([&] {
    const std::string first = mpi::Invitation::parse(std::string(bytes)).text();
    require(mpi::Invitation::parse(first).text() == first, "an invitation reads back differently");
  });
}

}  // namespace
}  // namespace mokume::fuzz

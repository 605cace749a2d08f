// Defines a target for the text with which the other ranks reach rank 0.
#include "fuzz.hpp"
#include "rendezvous.hpp"

namespace mokume::fuzz {
namespace {

FUZZ_TARGET(rendezvous) {
  accepts([&] {
    const std::string first = mpi::Rendezvous::parse(std::string(bytes)).text();
    require(mpi::Rendezvous::parse(first).text() == first, "a rendezvous reads back differently");
  });
}

}  // namespace
}  // namespace mokume::fuzz

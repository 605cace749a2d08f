// Under which addresses others may reach this host.
#pragma once

#include <asio/ip/address.hpp>
#include <string>
#include <vector>

namespace mokume::mpi {

// The addresses of the interfaces that are up, without loopback and what is valid on one link only; in the kernel's
// order. `network`: the name of an interface, or a network as "10.0.0.0/8" or "fd00::/64", to have those of it only.
// Error(MK_INVALID_ARGUMENT) if there are none of it.
std::vector<asio::ip::address> addresses(const std::string& network);

}  // namespace mokume::mpi

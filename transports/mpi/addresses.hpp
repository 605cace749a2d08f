// Finds the addresses under which other hosts may reach this host.
#pragma once

#include <asio/ip/address.hpp>
#include <string>
#include <vector>

namespace mokume::mpi {

// Returns the addresses of the interfaces that are up, without loopback and link-local addresses, in the kernel's
// order. `network` restricts them to an interface name, or to a network such as "10.0.0.0/8" or "fd00::/64". Throws
// Error(MK_INVALID_ARGUMENT) if this host has no address in `network`.
std::vector<asio::ip::address> addresses(const std::string& network);

}  // namespace mokume::mpi

#include "addresses.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <asio/ip/network_v4.hpp>
#include <asio/ip/network_v6.hpp>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "sdk/error.hpp"

namespace mokume::mpi {
namespace {

constexpr uint32_t kLinkLocal = 169U << 8 | 254U;  // 169.254.0.0/16

std::optional<asio::ip::address> address_of(const sockaddr* raw) {
  if (raw == nullptr) return std::nullopt;
  if (raw->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, raw, sizeof(v4));
    const asio::ip::address_v4 address(ntohl(v4.sin_addr.s_addr));
    if ((address.to_uint() >> 16) != kLinkLocal) return address;
  }
  if (raw->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, raw, sizeof(v6));
    asio::ip::address_v6::bytes_type bytes;
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    const asio::ip::address_v6 address(bytes);
    if (!address.is_link_local()) return address;
  }
  return std::nullopt;
}

bool lies_in(const asio::ip::address& address, const std::string& network) {
  asio::error_code error;
  if (address.is_v4()) {
    const auto net = asio::ip::make_network_v4(network, error);
    return !error && asio::ip::network_v4(address.to_v4(), net.prefix_length()).canonical() == net.canonical();
  }
  const auto net = asio::ip::make_network_v6(network, error);
  return !error && asio::ip::network_v6(address.to_v6(), net.prefix_length()).canonical() == net.canonical();
}

}  // namespace

std::vector<asio::ip::address> addresses(const std::string& network) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0)
    throw Error(MK_INTERNAL, fmt::format("cannot list network addresses: {}", strerror(errno)));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  std::vector<asio::ip::address> found;
  std::set<std::string> names;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    constexpr unsigned kAtWork = IFF_UP | IFF_RUNNING;
    if ((one->ifa_flags & kAtWork) != kAtWork || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const auto address = address_of(one->ifa_addr);
    if (!address) continue;
    names.insert(fmt::format("{} ({})", one->ifa_name, address->to_string()));
    if (network.empty() || network == one->ifa_name || lies_in(*address, network)) found.push_back(*address);
  }
  if (found.empty() && !network.empty()) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    throw Error(MK_INVALID_ARGUMENT, fmt::format("MOKUME_MPI_NETWORK={}: this host has no such network; it has {}",
                                                 network, all.empty() ? "none" : all));
  }
  return found;
}

}  // namespace mokume::mpi

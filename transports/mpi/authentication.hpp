// Lets two ranks prove to each other that they know the key of the run without sending it: each answers the other's
// nonce with an HMAC (RFC 2104) of both nonces. An eavesdropper cannot use an answer for another connection. Later
// messages are neither encrypted nor authenticated (docs/trust.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace mokume::mpi {

using Key = std::array<unsigned char, 32>;
using Nonce = std::array<unsigned char, 16>;  // used once
using Mac = std::array<unsigned char, 32>;    // HMAC-SHA256

enum class Side : unsigned char { acceptor = 0, connector = 1 };  // acceptor is rank 0, connector another rank

// The handshake has three messages: another rank's hello, rank 0's challenge with its own MAC, and the other rank's
// MAC.
struct Hello {
  Nonce nonce{};
  uint32_t rank = 0;
};
struct Challenge {
  Nonce nonce{};
  Mac mac{};
};

// Fills `bytes` with random bytes from the kernel. Throws Error(MK_INTERNAL) if the kernel provides none.
void fill_random(unsigned char* bytes, size_t n);

// Returns the MAC that only a holder of the key can compute in this handshake. The MAC depends on the side, so that a
// peer cannot send a MAC back to its author.
Mac mac_of(const Key& key, Side side, const Hello& hello, const Nonce& acceptor_nonce);
bool equal(const Mac& a, const Mac& b);  // runs in constant time

std::string hex(const unsigned char* bytes, size_t n);
bool unhex(const std::string& text, unsigned char* bytes, size_t n);

}  // namespace mokume::mpi

// How two ranks show each other that they know the key of the run without sending it: each answers the other's nonce
// with an HMAC (RFC 2104) of both nonces. Who listens to this learns nothing that opens another connection. What
// follows is neither encrypted nor authenticated (docs/trust.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace mokume::mpi {

using Key = std::array<unsigned char, 32>;
using Nonce = std::array<unsigned char, 16>;  // used once
using Proof = std::array<unsigned char, 32>;  // HMAC-SHA256

enum class Side : unsigned char { host = 0, guest = 1 };  // rank 0, another rank

// The first message, from a rank to rank 0, and the answer. The last message is the rank's own proof.
struct Greeting {
  Nonce nonce{};
  uint32_t rank = 0;
};
struct Challenge {
  Nonce nonce{};
  Proof proof{};  // of the host
};

// Fills `bytes` with random ones from the kernel. Throws Error(MK_INTERNAL) if it has none.
void fill_random(unsigned char* bytes, size_t n);

// Proves that `side` of this exchange knows the key. The side is part of the proof, so that a peer cannot send a proof
// back to the rank that made it.
Proof prove(const Key& key, Side side, const Greeting& greeting, const Nonce& host_nonce);
bool same(const Proof& one, const Proof& other);  // takes the same time wherever they differ

std::string hex(const unsigned char* bytes, size_t n);
bool unhex(const std::string& text, unsigned char* bytes, size_t n);

}  // namespace mokume::mpi

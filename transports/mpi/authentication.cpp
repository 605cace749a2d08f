#include "authentication.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "sdk/error.hpp"

namespace mokume::mpi {

void fill_random(unsigned char* bytes, size_t n) {
  if (getentropy(bytes, n) != 0) throw Error(MK_INTERNAL, "the kernel provides no random numbers");
}

Mac mac_of(const Key& key, Side side, const Hello& hello, const Nonce& acceptor_nonce) {
  constexpr std::string_view kPurpose = "mokume joins 2";
  std::array<unsigned char, kPurpose.size() + 1 + 2 * sizeof(Nonce) + sizeof(uint32_t)> text{};
  unsigned char* at = text.data();
  const auto put = [&](const void* bytes, size_t n) {
    std::memcpy(at, bytes, n);
    at += n;
  };
  put(kPurpose.data(), kPurpose.size());
  put(&side, 1);
  put(hello.nonce.data(), sizeof(Nonce));
  put(acceptor_nonce.data(), sizeof(Nonce));
  put(&hello.rank, sizeof(uint32_t));
  Mac mac{};
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), text.data(), text.size(), mac.data(), nullptr) ==
      nullptr)
    throw Error(MK_INTERNAL, "OpenSSL cannot compute an HMAC with SHA-256");
  return mac;
}

bool equal(const Mac& a, const Mac& b) { return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

std::string hex(const unsigned char* bytes, size_t n) {
  std::string text;
  for (size_t i = 0; i < n; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

bool unhex(const std::string& text, unsigned char* bytes, size_t n) {
  if (text.size() != 2 * n || text.find_first_not_of("0123456789abcdef") != std::string::npos) return false;
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return true;
}

}  // namespace mokume::mpi

#include "cluster/handshake.hpp"

#include <fmt/format.h>

#include <optional>
#include <thread>

namespace mokume::cluster {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_nap(2);
constexpr std::chrono::milliseconds k_beat(500);
constexpr uint32_t k_flush_ms = 10000;

[[noreturn]] void throw_stop(const Stop& stop) { throw Error(static_cast<mk_status>(stop.code), stop.reason); }

void check_hello(const Hello& own, const Hello& other, uint32_t node) {
  if (other.version != own.version) {
    throw Error(MK_INVALID_ARGUMENT, fmt::format("node {} runs mokume {}, node 0 runs {}; install the same version on "
                                                 "every node",
                                                 node, other.version, own.version));
  }
  if (!other.plan_hash.empty() && !own.plan_hash.empty() && other.plan_hash != own.plan_hash) {
    throw Error(MK_INVALID_ARGUMENT,
                fmt::format("node {} derives another plan (hash {}) than node 0 ({}); give every node the same "
                            "experiment file, --set options and data",
                            node, other.plan_hash, own.plan_hash));
  }
}

// What a node says of itself is kept where nothing is known yet.
void merge(ClassChoices& choices, const ClassChoices& more) {
  for (const auto& [name, values] : more) choices[name].insert(values.begin(), values.end());
}

// The next message, decoded; waits at most until `deadline`.
std::optional<std::pair<uint32_t, Message>> wait_message(Transport& transport, const std::atomic<bool>& stop,
                                                         std::optional<Clock::time_point> deadline) {
  while (true) {
    if (stop.load()) throw Error(MK_CANCELLED, "stopped before the first fit");
    if (const auto received = transport.poll()) return std::pair(received->from, decode(received->text));
    if (deadline && Clock::now() >= *deadline) return std::nullopt;
    std::this_thread::sleep_for(k_nap);
  }
}

std::vector<Hello> gather(Transport& transport, const Hello& own, const std::atomic<bool>& stop,
                          std::chrono::seconds timeout) {
  std::vector<std::optional<Hello>> heard(transport.size());
  heard[0] = own;
  const auto deadline = Clock::now() + timeout;
  for (uint32_t missing = transport.size() - 1; missing > 0; --missing) {
    const auto message = wait_message(transport, stop, deadline);
    if (!message) {
      uint32_t silent = 0;
      while (heard[silent]) ++silent;
      throw Error(MK_INTERNAL, fmt::format("node {} has not come forward within {} s ({} of {} nodes missing); look at "
                                           "its output, and whether the launcher reaches its host",
                                           silent, timeout.count(), missing, transport.size()));
    }
    const auto& [from, content] = *message;
    if (const Stop* gave_up = std::get_if<Stop>(&content)) {
      throw_stop({gave_up->code, fmt::format("node {}: {}", from, gave_up->reason)});
    }
    const Hello* hello = std::get_if<Hello>(&content);
    if (hello == nullptr || heard[from]) throw Error(MK_INTERNAL, fmt::format("node {} spoke out of turn", from));
    check_hello(own, *hello, from);
    heard[from] = *hello;
  }
  std::vector<Hello> hellos;
  for (std::optional<Hello>& one : heard) hellos.push_back(std::move(*one));
  return hellos;
}

Handshake lead(Transport& transport, const Hello& own, const Leader& leader, const std::atomic<bool>& stop,
               std::chrono::seconds timeout) {
  Handshake result{leader.run_directory, own.plan_hash, leader.recorded, {}};
  for (const Hello& hello : gather(transport, own, stop, timeout)) {
    merge(result.choices, hello.choices);
    result.nodes.push_back(hello.devices);
  }
  const std::string welcome = encode(Welcome{result.run_directory, result.plan_hash, result.choices});
  for (uint32_t to = 1; to < transport.size(); ++to) transport.send(to, welcome);
  return result;
}

Handshake follow(Transport& transport, const Hello& own, const std::atomic<bool>& stop) {
  transport.send(0, encode(own));
  const auto message = wait_message(transport, stop, std::nullopt);
  if (const Stop* refused = std::get_if<Stop>(&message->second)) throw_stop(*refused);
  const Welcome* welcome = std::get_if<Welcome>(&message->second);
  if (welcome == nullptr) throw Error(MK_INTERNAL, "node 0 spoke out of turn");
  return {welcome->run_directory, welcome->plan_hash, welcome->choices, {}};
}

void send_to_others(Transport& transport, const Message& message) {
  const std::string text = encode(message);
  if (transport.rank() != 0) return transport.send(0, text);
  for (uint32_t to = 1; to < transport.size(); ++to) transport.send(to, text);
}

// Tells the others that this node fails. Nothing more can be done if even that fails.
void give_up(Transport& transport, int32_t code, const char* text) noexcept {
  try {
    send_to_others(transport, Stop{code, text});
    // Rank 0 counts the goodbyes of the nodes it stops; this one has no agent left to say it.
    if (transport.rank() != 0) send_to_others(transport, Bye{});
  } catch (const std::exception&) {
  }
}

void part(Transport& transport) {
  if (transport.rank() == 0) {
    send_to_others(transport, Bye{});
  } else {
    // Rank 0 may refit for hours: its answers to these show that it lives.
    for (auto next_beat = Clock::now();;) {
      if (Clock::now() >= next_beat) {
        next_beat = Clock::now() + k_beat;
        transport.send(0, encode(Beat{}));
      }
      const auto received = transport.poll();
      if (!received) {
        std::this_thread::sleep_for(5 * k_nap);
      } else if (std::holds_alternative<Bye>(decode(received->text))) {
        break;
      }
    }
  }
  transport.flush(k_flush_ms);
}

}  // namespace

Handshake handshake(Transport& transport, const Hello& own, const Leader* leader, const std::atomic<bool>& stop,
                    std::chrono::seconds timeout) {
  if ((transport.rank() == 0) != (leader != nullptr)) throw Error(MK_INTERNAL, "rank 0 and only rank 0 leads");
  return leader != nullptr ? lead(transport, own, *leader, stop, timeout) : follow(transport, own, stop);
}

void participate(Transport& transport, const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    const Error* known = dynamic_cast<const Error*>(&error);
    const bool valid = known != nullptr && known->status() > MK_OK && known->status() <= MK_CANCELLED;
    give_up(transport, valid ? known->status() : MK_INTERNAL, error.what());
    try {
      part(transport);
    } catch (const std::exception&) {
      // The first error is the one that counts.
    }
    throw;
  }
  part(transport);
}

}  // namespace mokume::cluster

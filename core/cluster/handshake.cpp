#include "cluster/handshake.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/text.hpp"
#include "cluster/directory.hpp"
#include "cluster/protocol/codec.hpp"
#include "cluster/protocol/silence.hpp"
#include "cluster/share.hpp"

namespace mokume::cluster {
namespace {

constexpr std::chrono::milliseconds kLookAgain(20);
constexpr uint32_t kFlushMs = 10000;
constexpr double kPatienceSeconds = 2 * Limits().lease_s;  // node 0 answers even while it writes for minutes

[[noreturn]] void throw_stop(const Stop& stop) { throw Error(static_cast<mk_status>(stop.code), stop.reason); }

void check_version(const std::string& own, const std::string& other, uint32_t node) {
  if (other == own) return;
  throw Error(MK_INVALID_ARGUMENT, fmt::format("node {} runs mokume {}, node 0 runs {}; install the same version on "
                                               "every node",
                                               node, other, own));
}

void check_hello(const Hello& own, const Hello& other, uint32_t node) {
  check_version(own.version, other.version, node);
  if (!other.plan_hash.empty() && !own.plan_hash.empty() && other.plan_hash != own.plan_hash) {
    throw Error(
        MK_INVALID_ARGUMENT,
        fmt::format("node {} derives a plan (hash {}) that differs from that of node 0 ({}); give every node the same "
                    "experiment file, --set options and data",
                    node, other.plan_hash, own.plan_hash));
  }
}

// Adds a node's choices for keys that have no value yet.
void merge(ClassChoices& choices, const ClassChoices& more) {
  for (const auto& [name, values] : more) choices[name].insert(values.begin(), values.end());
}

// Throws if any node that this node talks to has died, because none may be missing before the first fit.
void check_present(const Transport& transport) {
  const uint32_t end = transport.rank() == 0 ? transport.size() : 1;
  for (uint32_t peer = 0; peer < end; ++peer) {
    if (!transport.lost(peer) || transport.absent(peer)) continue;
    const std::string text = fmt::format("node {} died before the first fit", peer);
    if (peer == 0) throw LeaderLost(LeaderLost::How::died, text);
    throw Error(MK_CANCELLED, text);
  }
}

// Returns the next message and its sender, or nothing if none arrives before the transport's clock reads `deadline_s`.
std::optional<std::pair<uint32_t, Message>> wait_message(Transport& transport, const std::atomic<bool>& stop,
                                                         double deadline_s) {
  while (true) {
    if (stop.load()) throw Error(MK_CANCELLED, "stopped before the first fit");
    if (const auto received = transport.poll())
      return std::pair(received->from, decode(received->text, received->owner));
    check_present(transport);
    if (transport.clock().steady_s() >= deadline_s) return std::nullopt;
    transport.wait(kLookAgain);
  }
}

double in_seconds(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

std::string in_words(std::chrono::milliseconds time) { return base::human_seconds(in_seconds(time)); }

// Receives, on rank 0, a `Wanted` from every other rank. Returns them indexed by rank, with `own` for rank 0 and an
// empty one for absent ranks.
template <class Wanted>
std::vector<Wanted> gather(Transport& transport, const Wanted& own, const std::atomic<bool>& stop,
                           std::chrono::milliseconds patience, const char* late) {
  std::vector<std::optional<Wanted>> heard(transport.size());
  heard[0] = own;
  const double deadline_s = transport.clock().steady_s() + in_seconds(patience);
  uint32_t missing = transport.size() - 1;
  for (uint32_t node = 1; node < transport.size(); ++node) {
    if (!transport.absent(node)) continue;
    heard[node].emplace();
    --missing;
  }
  while (missing > 0) {
    const auto message = wait_message(transport, stop, deadline_s);
    if (!message) {
      uint32_t silent = 0;
      while (heard[silent]) ++silent;
      throw Error(MK_INTERNAL, fmt::format("node {} has not {} within {} ({} of {} nodes missing); check its output, "
                                           "and whether the launcher reaches its host",
                                           silent, late, in_words(patience), missing, transport.size()));
    }
    const auto& [from, content] = *message;
    if (std::holds_alternative<Heartbeat>(content)) continue;  // it waited for the end of an earlier run
    if (const Stop* gave_up = std::get_if<Stop>(&content)) {
      throw_stop({gave_up->code, fmt::format("node {}: {}", from, gave_up->reason)});
    }
    const Wanted* wanted = std::get_if<Wanted>(&content);
    if (wanted == nullptr || heard[from])
      throw Error(MK_INTERNAL, fmt::format("node {} sent a message out of turn", from));
    heard[from] = *wanted;
    --missing;
  }
  std::vector<Wanted> all;
  for (std::optional<Wanted>& one : heard) all.push_back(std::move(*one));
  return all;
}

// Receives, on another rank, the next message of rank 0. Throws the error of rank 0 if it is a STOP.
Message hear(Transport& transport, const std::atomic<bool>& stop, std::chrono::milliseconds patience) {
  auto message = wait_message(transport, stop, transport.clock().steady_s() + in_seconds(patience));
  if (!message)
    throw Error(MK_INTERNAL, fmt::format("node 0 has not answered within {}; check its output", in_words(patience)));
  if (const Stop* refused = std::get_if<Stop>(&message->second)) throw_stop(*refused);
  return std::move(message->second);
}

template <class Wanted>
const Wanted& expect(const Message& message) {
  const Wanted* wanted = std::get_if<Wanted>(&message);
  if (wanted == nullptr) throw Error(MK_INTERNAL, "node 0 sent a message out of turn");
  return *wanted;
}

void tell_others(Transport& transport, const Message& message) {
  const std::string text = encode(message);
  for (uint32_t to = 1; to < transport.size(); ++to) transport.send(to, text);
}

Seen answer(const Look& look, const std::atomic<bool>& stop, const Patience& patience) {
  const bool seen = sees_mark(look.directory, look.mark, patience.see_directory, stop);
  return {seen, host_name(), file_system_of(look.directory), 0};
}

std::vector<Seen> show(Transport& transport, const std::string& directory, const Seen& own,
                       const std::atomic<bool>& stop, const Patience& patience) {
  const Mark mark(directory);
  tell_others(transport, Look{directory, mark.name()});
  return gather(transport, own, stop, patience.meet + patience.see_directory, "looked at the run directory");
}

void check_seen(const Transport& transport, const std::vector<Seen>& all, const std::string& directory) {
  std::string blind;
  for (uint32_t node = 0; node < all.size(); ++node)
    if (!all[node].seen && !transport.absent(node))
      blind += fmt::format("{}node {} on {}", blind.empty() ? "" : ", ", node, all[node].host);
  if (blind.empty()) return;
  throw Error(MK_BAD_DATA,
              fmt::format("the run directory {} of node 0 is not visible to {}: choose one with --out on a "
                          "file system that all nodes share",
                          directory, blind));
}

// Returns how long other ranks wait for rank 0, which first hears from every rank and opens its own devices.
std::chrono::milliseconds whole(const Patience& patience) {
  return patience.meet + patience.open + patience.see_directory;
}

Handshake lead(Transport& transport, const Hello& own, const Leader& leader, const std::atomic<bool>& stop,
               const Patience& patience) {
  Handshake result{leader.run_directory, own.plan_hash, leader.recorded, {}, leader.finished};
  const std::vector<Hello> hellos = gather(transport, own, stop, patience.open, "reported");
  for (uint32_t node = 0; node < hellos.size(); ++node) {
    if (!transport.absent(node)) check_hello(own, hellos[node], node);
    merge(result.choices, hellos[node].choices);
    result.nodes.push_back(hellos[node].devices);
  }
  if (leader.finished) {
    tell_others(transport, Finish{});
    return result;
  }
  if (leader.shared_directory && transport.size() > 1) {
    const Seen own_view{true, host_name(), "", 0};
    check_seen(transport, show(transport, result.run_directory, own_view, stop, patience), result.run_directory);
  }
  tell_others(transport, Welcome{result.run_directory, result.plan_hash, result.choices});
  return result;
}

Handshake follow(Transport& transport, const Hello& own, const std::atomic<bool>& stop, const Patience& patience) {
  transport.send(0, encode(own));
  Message message = hear(transport, stop, whole(patience));
  if (const Look* look = std::get_if<Look>(&message)) {
    transport.send(0, encode(answer(*look, stop, patience)));
    message = hear(transport, stop, whole(patience));
  }
  if (std::holds_alternative<Finish>(message)) return {{}, {}, {}, {}, true};
  const auto& welcome = expect<Welcome>(message);
  return {welcome.run_directory, welcome.plan_hash, welcome.choices, {}, false};
}

void send_to_others(Transport& transport, const Message& message) {
  const std::string text = encode(message);
  if (transport.rank() != 0) return transport.send(0, text);
  for (uint32_t to = 1; to < transport.size(); ++to) transport.send(to, text);
}

// Tells the other nodes that this node fails. Ignores errors, because nothing more can be done.
void give_up(Transport& transport, int32_t code, const char* text) noexcept {
  try {
    send_to_others(transport, Stop{code, text});
    // Rank 0 waits for the BYE of every node that it stops, and this node has no agent left to send it.
    if (transport.rank() != 0) send_to_others(transport, Bye{});
  } catch (const std::exception&) {
  }
}

// Waits for the BYE of rank 0, whose answers to heartbeats show that it is alive.
void wait_for_bye(Transport& transport) {
  Listening listening;
  double heard = 0, next_beat = 0;
  while (listening.seconds() - heard <= kPatienceSeconds) {
    const double now = transport.clock().steady_s();
    listening.turn(now);
    if (now >= next_beat) {
      next_beat = now + kHeartbeatSeconds;
      transport.send(0, encode(Heartbeat{}));
    }
    const auto received = transport.poll();
    if (received && std::holds_alternative<Bye>(decode(received->text, received->owner))) return;
    if (received) {
      heard = listening.seconds();
    } else {
      if (transport.lost(0)) throw LeaderLost(LeaderLost::How::died, "node 0 died before the run was over");
      transport.wait(kLookAgain);
    }
  }
  throw LeaderLost(LeaderLost::How::silent, fmt::format("node 0 did not respond for {:.0f} s", kPatienceSeconds));
}

void part(Transport& transport) {
  if (transport.rank() == 0) {
    send_to_others(transport, Bye{});
  } else {
    wait_for_bye(transport);
  }
  transport.flush(kFlushMs);
}

}  // namespace

Meeting meet(Transport& transport, const HostView& own, const std::string& version, const std::atomic<bool>& stop,
             const Patience& patience) {
  if (transport.rank() != 0) {
    transport.send(0, encode(Present{version, own}));
    return {expect<Assign>(hear(transport, stop, whole(patience))).share, {}, {}, {}};
  }
  Meeting meeting;
  const auto all = gather(transport, Present{version, own}, stop, patience.meet, "reported");
  for (uint32_t node = 0; node < all.size(); ++node) {
    if (!transport.absent(node)) check_version(version, all[node].version, node);
    meeting.ranks.push_back(all[node].view);
  }
  Shares shares = share(meeting.ranks);
  for (uint32_t to = 1; to < all.size(); ++to) transport.send(to, encode(Assign{shares.shares[to]}));
  meeting.share = shares.shares[0];
  meeting.shares = std::move(shares.shares);
  meeting.notices = std::move(shares.notices);
  return meeting;
}

Handshake handshake(Transport& transport, const Hello& own, const Leader* leader, const std::atomic<bool>& stop,
                    const Patience& patience) {
  if ((transport.rank() == 0) != (leader != nullptr)) throw Error(MK_INTERNAL, "rank 0 and only rank 0 leads");
  return leader != nullptr ? lead(transport, own, *leader, stop, patience) : follow(transport, own, stop, patience);
}

std::vector<Seen> look_at(Transport& transport, const std::string& directory, const std::atomic<bool>& stop,
                          const Patience& patience) {
  const auto with_sync = [](Seen seen, const std::string& place) {
    try {
      if (seen.seen) seen.sync_s = sync_seconds(place);
    } catch (const Error&) {
      // The directory may be read-only on this host; an unmeasured time is 0.
    }
    return seen;
  };
  if (transport.rank() == 0)
    return show(transport, directory, with_sync({true, host_name(), file_system_of(directory), 0}, directory), stop,
                patience);
  const Message message = hear(transport, stop, whole(patience));
  const auto& look = expect<Look>(message);
  transport.send(0, encode(with_sync(answer(look, stop, patience), look.directory)));
  return {};
}

void participate(Transport& transport, const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    const Error* known = dynamic_cast<const Error*>(&error);
    const bool valid = known != nullptr && known->status() > MK_OK && known->status() <= MK_STORAGE;
    give_up(transport, valid ? known->status() : MK_INTERNAL, error.what());
    try {
      part(transport);
    } catch (const std::exception&) {
      // The first error counts.
    }
    throw;
  }
  part(transport);
}

}  // namespace mokume::cluster

// Exchanges messages with rank 0 over the bare transport until one of the ranks dies. mpirun_test.cpp starts several
// ranks.
//
//   peers VICTIM HOW
//
// HOW is the moment of the victim's death: before MPI has started (starting), between two messages (idle), while a
// large message to the other ranks is in transit (sending), while a large message to the victim is in transit (owed),
// in the middle of several messages (receiving), or instead of its shutdown message (parting). With "away", the victim
// is only silent for a while. Every rank prints its process id and, at its end, its observations.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "cluster/transport/launcher.hpp"
#include "cluster/transport/transport.hpp"
#include "registry/registry.hpp"
#include "scheduler/host_services.hpp"
#include "sdk/error.hpp"

namespace mokume::cluster {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kRounds = 20;
constexpr size_t kLarge = 8U << 20;
constexpr std::chrono::seconds kPatience(60);

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

class Rank {
 public:
  Rank(Transport& transport, uint32_t victim, std::string how)
      : transport_(transport), victim_(victim), how_(std::move(how)), pongs_(transport.size(), 0) {}

  void run() {
    if (transport_.rank() == 0) {
      answer();
    } else {
      ask();
    }
    if (is_victim() && how_ == "parting") die();
  }

 private:
  bool is_victim() const { return transport_.rank() == victim_; }

  [[noreturn]] static void die() {
    raise(SIGKILL);
    std::abort();
  }

  // Ends the victim if HOW is idle, sending, owed or receiving.
  void meet_fate() {
    if (how_ == "idle") die();
    if (how_ == "sending") {
      for (uint32_t to = 0; to < transport_.size(); ++to) {
        if (to != transport_.rank() && (victim_ == 0 || to == 0)) transport_.send(to, std::string(kLarge, 'x'));
      }
      die();
    }
    if (how_ == "owed") {
      // The other ranks' large messages begin to arrive within this time, or never.
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      die();
    }
    if (how_ == "receiving") {
      const auto deadline = Clock::now() + std::chrono::milliseconds(20);
      while (Clock::now() < deadline) (void)transport_.poll();
      die();
    }
  }

  // Answers every "ping" on rank 0 until all other ranks are done or lost.
  void answer() {
    std::vector<bool> done(transport_.size(), false);
    done[0] = true;
    bool forgotten = false;
    const auto deadline = Clock::now() + kPatience;
    while (Clock::now() < deadline) {
      if (const auto received = transport_.poll()) {
        take(*received, done);
        if (is_victim() && pongs_[1] == kRounds) meet_fate();
        continue;
      }
      bool all = true;
      for (uint32_t peer = 1; peer < transport_.size(); ++peer) all = all && (done[peer] || gone(peer));
      if (all) return;
      if (how_ == "away" && pongs_[victim_] == kRounds && !forgotten) {
        transport_.forget(victim_);
        forgotten = true;
        std::printf("forgot %u: lost %d\n", victim_, transport_.lost(victim_) ? 1 : 0);
      }
      nap();
    }
    std::printf("rank 0 waits for ever\n");
  }

  bool gone(uint32_t peer) const { return how_ != "away" && transport_.lost(peer); }

  void take(const Transport::Received& received, std::vector<bool>& done) {
    if (received.text == "ping") {
      if (how_ == "owed" && received.from == victim_ && pongs_[victim_] + 1 == kRounds) {
        transport_.send(victim_, std::string(kLarge, 'x'));
      }
      ++pongs_[received.from];
      transport_.send(received.from, "pong");
    } else if (received.text == "done") {
      done[received.from] = true;
      if (how_ == "away" && received.from == victim_)
        std::printf("heard %u: lost %d\n", victim_, transport_.lost(victim_) ? 1 : 0);
    }
  }

  // Sends some rounds of "ping" to rank 0, and as many again after the victim's end.
  void ask() {
    const uint32_t rounds = victim_ == 0 && how_ != "parting" ? 1000000 : 2 * kRounds;
    for (uint32_t round = 0; round < rounds; ++round) {
      if (is_victim() && round == kRounds) {
        if (how_ == "away") std::this_thread::sleep_for(std::chrono::milliseconds(300));
        meet_fate();
      }
      if (victim_ == 0 && round == kRounds) {
        const int large = how_ == "owed" ? 1 : how_ == "receiving" ? 16 : 0;
        for (int i = 0; i < large; ++i) transport_.send(0, std::string(kLarge, 'x'));
      }
      transport_.send(0, "ping");
      if (!wait_for_pong()) return;
    }
    transport_.send(0, "done");
  }

  bool wait_for_pong() {
    const auto deadline = Clock::now() + kPatience;
    while (Clock::now() < deadline) {
      const auto received = transport_.poll();
      if (received && received->text == "pong") return true;
      if (transport_.lost(0)) return false;
      if (!received) nap();
    }
    std::printf("rank %u waits for ever\n", transport_.rank());
    return false;
  }

  Transport& transport_;
  const uint32_t victim_;
  const std::string how_;
  std::vector<uint32_t> pongs_;  // number of answers to each rank, on rank 0
};

int run_program(uint32_t victim, const std::string& how) {
  std::printf("pid %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  if (how == "starting" && std::getenv("OMPI_COMM_WORLD_RANK") == std::to_string(victim)) raise(SIGKILL);
  base::Log log;
  const scheduler::HostServices host(log, 1, "");
  registry::Registry registry(host.table(), {});
  Transport transport(
      registry.load(MK_PLUGIN_TRANSPORT, transport_of_launcher(registry.available(MK_PLUGIN_TRANSPORT))).transport());
  const uint32_t rank = transport.rank();
  Rank(transport, victim, how).run();
  const bool lost = victim != rank && transport.lost(victim);
  const bool together = transport.leave(30000);
  std::printf("rank %u: lost %d together %d\n", rank, lost ? 1 : 0, together ? 1 : 0);
  std::fflush(stdout);
  // A launcher may lose the latest output after the death of a rank.
  if (lost) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  if (!together) _exit(0);
  return 0;
}

}  // namespace
}  // namespace mokume::cluster

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    return mokume::cluster::run_program(static_cast<uint32_t>(std::stoul(argv[1])), argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

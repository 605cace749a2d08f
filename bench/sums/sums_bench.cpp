// Measures sums of floats over the ranks of an MPI job, one subtree per rank, as the gradients of a team.
//
//   mpirun -n RANKS sums_bench slices|star FLOATS ROUNDS
//
// "slices" adds up by owner slices over MPI (core/team/slices.hpp) and "star" in rank 0 over the sockets of the
// transport (core/team/sums.hpp), both in buckets of 65,536 floats, all of which are on their way at once. Rank 0
// prints the median time as a JSON line.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/log.hpp"
#include "cluster/protocol/codec.hpp"
#include "cluster/transport/launcher.hpp"
#include "cluster/transport/transport.hpp"
#include "registry/registry.hpp"
#include "scheduler/host_services.hpp"
#include "sdk/error.hpp"
#include "team/slices.hpp"

namespace {

using namespace mokume;

constexpr uint64_t kBucket = 65536;
constexpr int kLeast = 5;  // rounds

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Each value of rank r is r + 1, so each sum is ranks * (ranks + 1) / 2.
class Rank {
 public:
  Rank(cluster::Transport& transport, uint64_t floats, bool slices)
      : transport_(transport),
        floats_(floats),
        values_(floats, static_cast<float>(transport.rank() + 1)),
        fabric_(transport),
        slices_(slices) {
    for (uint32_t r = 0; r < transport.size(); ++r) nodes_.push_back(r);
    const auto made = [this](uint64_t, const base::Floats& sum) { take(sum); };
    const auto failed = [](const std::string& why) { std::fprintf(stderr, "%s\n", why.c_str()), std::abort(); };
    if (slices)
      sums_ = std::make_unique<team::SliceSums>(fabric_, nodes_, transport.rank(), 0,
                                                team::SliceSums::Results{made, failed});
  }

  void sum() {
    left_ = (floats_ + kBucket - 1) / kBucket;
    for (uint64_t first = 0; first < floats_; first += kBucket) {
      const uint64_t count = std::min(kBucket, floats_ - first);
      const std::span<const float> values = std::span(values_).subspan(first, count);
      std::vector<cluster::Block> blocks{{transport_.rank(), 1, base::Floats(values)}};  // copies, as TeamSums does
      if (slices_)
        sums_->add(number_, count, std::move(blocks));
      else
        contribute({0, transport_.rank(), number_, count, std::move(blocks)});
      ++number_;
    }
    while (left_ > 0) {
      while (auto received = transport_.poll()) arrived(*received);
      if (left_ > 0) transport_.wait(std::chrono::milliseconds(1));
    }
  }

 private:
  void contribute(cluster::TeamContribution contribution) {
    if (transport_.rank() != 0)
      return transport_.send(0, std::make_shared<const std::string>(cluster::encode(contribution)));
    std::vector<cluster::Block>& all = open_[contribution.number];
    for (cluster::Block& b : contribution.blocks) all.push_back(std::move(b));
    if (all.size() < transport_.size()) return;
    const base::Floats sum = team::add_up(std::move(all), contribution.count);
    open_.erase(contribution.number);
    const auto bytes =
        std::make_shared<const std::string>(cluster::encode(cluster::TeamSum{0, contribution.number, sum}));
    for (uint32_t r = 1; r < transport_.size(); ++r) transport_.send(r, bytes);
    take(sum);
  }

  void arrived(const cluster::Transport::Received& received) {
    cluster::Message message = cluster::decode(received.text, received.owner);
    if (auto* contribution = std::get_if<cluster::TeamContribution>(&message))
      return contribute(std::move(*contribution));
    take(std::get<cluster::TeamSum>(message).sum);
  }

  void take(const base::Floats& sum) {
    const auto ranks = static_cast<float>(transport_.size());
    const float expected = ranks * (ranks + 1) / 2;
    if (sum.span().front() != expected || sum.span().back() != expected) throw Error(MK_INTERNAL, "a sum is wrong");
    --left_;
  }

  cluster::Transport& transport_;
  const uint64_t floats_;
  const std::vector<float> values_;
  team::TransportFabric fabric_;
  const bool slices_;
  std::vector<uint32_t> nodes_;
  std::unique_ptr<team::SliceSums> sums_;
  std::map<uint64_t, std::vector<cluster::Block>> open_;
  uint64_t number_ = 0, left_ = 0;
};

template <class Sum>
double median_of(Sum&& sum, int rounds) {
  std::vector<double> times;
  for (int k = 0; k < rounds; ++k) {
    const double start = now_s();
    sum();
    times.push_back(now_s() - start);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void print(const std::string& what, uint32_t ranks, uint64_t floats, double seconds) {
  std::printf("{\"what\": \"%s\", \"ranks\": %u, \"floats\": %llu, \"ms\": %.3f, \"mb_s\": %.1f}\n", what.c_str(),
              ranks, static_cast<unsigned long long>(floats), 1e3 * seconds,
              4e-6 * static_cast<double>(floats) / seconds);
}

int run(int argc, char** argv) {
  if (argc != 4) throw Error(MK_INVALID_ARGUMENT, "usage: sums_bench slices|star FLOATS ROUNDS");
  const std::string what = argv[1];
  const uint64_t floats = std::stoull(argv[2]);
  const int rounds = std::max(kLeast, std::stoi(argv[3]));
  mallopt(M_MMAP_THRESHOLD, 1 << 30);  // as in TeamNode
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  base::Log log;
  scheduler::HostServices host(log, 1, base::cache_directory());
  registry::Registry registry(host.table(), {});
  cluster::Transport transport(
      registry.load(MK_PLUGIN_TRANSPORT, cluster::transport_of_launcher(registry.available(MK_PLUGIN_TRANSPORT)))
          .transport());
  {
    Rank rank(transport, floats, what == "slices");
    rank.sum();
    const double seconds = median_of([&] { rank.sum(); }, rounds);
    if (transport.rank() == 0) print(what, transport.size(), floats, seconds);
  }
  return transport.leave(10000) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sums_bench: %s\n", e.what());
    return 1;
  }
}

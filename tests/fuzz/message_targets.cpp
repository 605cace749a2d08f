// Defines targets for the messages between the processes of a run.
#include <sys/socket.h>
#include <unistd.h>

#include "base/frames.hpp"
#include "cluster/coordinator/coordinator.hpp"
#include "cluster/protocol/codec.hpp"
#include "fuzz.hpp"
#include "team/sums.hpp"

namespace mokume::fuzz {
namespace {

using namespace cluster;

// A message reads back the same in another process of the same version.
FUZZ_TARGET(message) {
  accepts([&] {
    const std::string first = encode(decode_frame(std::string(bytes)));
    require(encode(decode_frame(first)) == first, "a message reads back differently");
  });
}

// Reads a stream of framed messages from a device's process.
FUZZ_TARGET(device_messages) {
  int ends[2];
  require(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "no socket");
  const int most = 1 << 20;
  ::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &most, sizeof(most));
  const ssize_t sent = ::send(ends[0], bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::close(ends[0]);
  if (sent >= 0 || bytes.empty())
    accepts([&] {
      while (auto frame = base::receive_frame(ends[1])) decode_frame(std::move(*frame));
    });
  ::close(ends[1]);
}

class Rules : public SearchRules {
 public:
  Refit choose(uint32_t, const std::vector<journal::FitRecord>& fits) override {
    Refit refit;
    refit.candidate = refit.like = fits.back().fit;
    refit.cost = 1;
    refit.bytes = 100;
    return refit;
  }
  std::optional<double> loss(const journal::FitRecord& fit) const override {
    return fit.values.empty() ? std::nullopt : std::optional(fit.values[0]);
  }
};

LocalDevice device(const std::string& id) { return {id, "host", id, "Vendor", "class of " + id, 1000}; }

PlannedWork work() {
  PlannedWork work;
  work.n_fits = 6;
  for (uint32_t fit = 0; fit < work.n_fits; fit += 2)
    work.bundles.bundles.push_back({{fit, fit + 1}, 1.0 + fit, 100, fit / 2});
  work.refit_after = {{0, 1, 2, 3, 4, 5}};
  return work;
}

// Three nodes send messages to the coordinator, which never throws because of their content. The first byte of each
// message gives its sender and the time that has passed.
FUZZ_TARGET(cluster_messages) {
  Rules rules;
  Coordinator coordinator(work(), {{device("host:0"), device("host:1")}, {device("host:0")}, {device("host:0")}}, rules,
                          {});
  double now = 1000;
  coordinator.tick(now);
  size_t count = 0;
  for (std::string_view left = bytes; !left.empty() && count < 200 && !coordinator.over(); ++count) {
    const auto two = parts(left, 2);
    left = two[1];
    if (two[0].empty()) continue;
    const auto first = static_cast<unsigned char>(two[0][0]);
    now += (first & 15) < 8 ? 0.01 : (first & 15) * 2.0;
    std::optional<Message> message;
    if (!accepts([&] { message = decode_frame(std::string(two[0].substr(1))); })) continue;
    coordinator.handle((first >> 4) % 3U, *message, now);
    coordinator.tick(now);
  }
  for (const journal::FitRecord& record : coordinator.records())
    require(record.fit < 7, "a fit that is not in the plan");
}

// Reads contributions and parcels of the other members of a team.
FUZZ_TARGET(team_messages) {
  uint64_t sums = 0;
  team::TeamSums::Setup setup;
  setup.speeds = {1, 1, 1};
  setup.local = {0};
  setup.gathered = {0, 1, 2};
  setup.publish = [&](uint64_t, const base::Floats& sum) { sums += sum.size(); };
  team::TeamSums team(std::move(setup));
  for (std::string_view left = bytes; !left.empty();) {
    const auto two = parts(left, 2);
    left = two[1];
    accepts([&] {
      Message message = decode_frame(std::string(two[0]));
      if (auto* given = std::get_if<TeamContribution>(&message)) team.take_contribution(std::move(*given));
      if (auto* sum = std::get_if<TeamSum>(&message)) team.take_sum(sum->number, sum->sum);
      if (auto* parcel = std::get_if<TeamParcel>(&message)) team.take_parcel(*parcel);
      if (auto* end = std::get_if<TeamBreak>(&message)) team.break_up(end->why);
    });
  }
}

}  // namespace
}  // namespace mokume::fuzz

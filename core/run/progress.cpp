#include "run/progress.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace mokume::run {

Progress::Progress(Frontend& frontend, const std::string& run_directory,
                   std::vector<std::vector<cluster::LocalDevice>> nodes, const search::Plan& plan,
                   const std::vector<journal::FitRecord>& done)
    : frontend_(frontend),
      nodes_(std::move(nodes)),
      status_(run_directory, nodes_, plan.n_slots(), done, base::wall_s) {
  const auto refits = static_cast<uint64_t>(
      std::count_if(done.begin(), done.end(), [&](const journal::FitRecord& one) { return plan.is_refit(one.fit); }));
  frontend_.begin_fits({plan.n_fits(), plan.n_slots() - plan.n_fits()}, {done.size() - refits, refits});
}

void Progress::phase(const std::string& text) {
  status_.phase(text);
  frontend_.phase(text);
}

void Progress::fit_done(const journal::FitRecord& record) {
  status_.record(record);
  frontend_.fit_done(record);
}

void Progress::event(const journal::EventRecord& event) { status_.event(event); }

void Progress::device_state(uint32_t node, uint32_t device, const std::string& what, double share) {
  if (node >= nodes_.size() || device >= nodes_[node].size()) return;
  const cluster::LocalDevice& info = nodes_[node][device];
  status_.device_state(node, device, what, share);
  frontend_.device_state(node, info.id, info.name, what, share);
}

}  // namespace mokume::run

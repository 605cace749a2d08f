#include "run/progress.hpp"

#include <utility>

#include "base/clock.hpp"

namespace mokume::run {

Progress::Progress(Frontend& frontend, const Run& run, std::vector<std::vector<cluster::LocalDevice>> nodes,
                   const std::vector<journal::FitRecord>& done)
    : frontend_(frontend),
      nodes_(std::move(nodes)),
      status_(run.directory, nodes_, run.plan.n_slots(), done, base::wall_s, run.costs),
      metrics_(run.metrics),
      best_(run.plan, metrics_) {
  uint64_t refits = 0;
  for (const journal::FitRecord& one : done) {
    refits += run.plan.is_refit(one.fit) ? 1 : 0;
    best_.add(one);
  }
  const uint64_t fits = run.plan.n_fits();
  frontend_.begin_fits({run.directory,
                        run.resumed,
                        run.plan,
                        metrics_,
                        nodes_,
                        {fits, run.plan.n_slots() - fits},
                        {done.size() - refits, refits}});
  if (best_.best()) frontend_.best_so_far(best_);
}

void Progress::phase(const std::string& text) {
  status_.phase(text);
  frontend_.phase(text);
}

void Progress::fit_done(const journal::FitRecord& record) {
  status_.record(record);
  frontend_.fit_done(record);
  frontend_.time_left(status_.seconds_left());
  if (best_.add(record)) frontend_.best_so_far(best_);
}

void Progress::event(const journal::EventRecord& event) { status_.event(event); }

void Progress::device_state(uint32_t node, uint32_t device, const std::string& what, double share) {
  if (node >= nodes_.size() || device >= nodes_[node].size()) return;
  const cluster::LocalDevice& info = nodes_[node][device];
  status_.device_state(node, device, what, share);
  frontend_.device_state(node, info.id, info.name, what, share);
  frontend_.time_left(status_.seconds_left());
}

}  // namespace mokume::run

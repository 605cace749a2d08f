// Reports the progress of a run on node 0 to the frontend and to logs/status.json.
#pragma once

#include <string>
#include <vector>

#include "cluster/coordinator/observer.hpp"
#include "run/frontend.hpp"
#include "run/status_file.hpp"
#include "search/plan.hpp"

namespace mokume::run {

class Progress : public cluster::Observer {
 public:
  struct Run {
    const std::string& directory;
    bool resumed = false;
    const search::Plan& plan;
    std::vector<results::Metric> metrics;
    std::vector<double> costs = {};  // of Eta
  };
  // `nodes` holds the devices of each node. `frontend` and the plan must outlive this object.
  Progress(Frontend& frontend, const Run& run, std::vector<std::vector<cluster::LocalDevice>> nodes,
           const std::vector<journal::FitRecord>& done);

  void phase(const std::string& text);

  void fit_done(const journal::FitRecord& record) override;
  void event(const journal::EventRecord& event) override;
  void device_state(uint32_t node, uint32_t device, const std::string& what, double share) override;

 private:
  Frontend& frontend_;
  const std::vector<std::vector<cluster::LocalDevice>> nodes_;
  StatusFile status_;
  const std::vector<results::Metric> metrics_;
  results::BestSoFar best_;
};

}  // namespace mokume::run

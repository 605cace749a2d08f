// Tells the frontend and logs/status.json what happens in a run, on node 0.
#pragma once

#include <string>
#include <vector>

#include "cluster/coordinator/observer.hpp"
#include "run/frontend.hpp"
#include "run/status_file.hpp"

namespace mokume::run {

class Progress : public cluster::Observer {
 public:
  // `nodes`: the devices of each node. `frontend` outlives it.
  Progress(Frontend& frontend, const std::string& run_directory, std::vector<std::vector<cluster::LocalDevice>> nodes,
           uint64_t fits, const std::vector<journal::FitRecord>& done);

  void phase(const std::string& text);

  void fit_done(const journal::FitRecord& record) override;
  void event(const journal::EventRecord& event) override;
  void device_state(uint32_t node, uint32_t device, const std::string& what, double share) override;

 private:
  Frontend& frontend_;
  const std::vector<std::vector<cluster::LocalDevice>> nodes_;
  StatusFile status_;
};

}  // namespace mokume::run

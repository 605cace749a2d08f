// Which candidate the refit of a bootstrap trains, and which refits of earlier sessions still stand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/protocol/types.hpp"
#include "journal/read.hpp"
#include "node/prepared.hpp"
#include "report/tables/stats.hpp"
#include "scheduler/policy.hpp"

namespace mokume::run {

// The best candidate of a bootstrap, if its fits are there; without validation its only one.
std::optional<report::CandidateRow> best_row(const node::Prepared& prepared,
                                             const std::vector<journal::FitRecord>& records, uint32_t bootstrap);

// What best_row() compares candidates by, of one fit; infinite if it has none.
double loss_of(const node::Prepared& prepared, const journal::FitRecord& fit);

// The fits that a refit waits for, by bootstrap.
std::vector<std::vector<uint32_t>> fits_by_bootstrap(const search::Plan& plan);

// `pieces` of the workload say what the refit costs; `fits` are those of the bootstrap, all done.
cluster::Refit choose_refit(const node::Prepared& prepared, const std::vector<scheduler::Piece>& pieces,
                            uint32_t bootstrap, const std::vector<journal::FitRecord>& fits);

struct Before {
  // What need not be computed again: all fits, and the refits of what is still the best, with their models.
  std::vector<journal::FitRecord> done;
  std::vector<journal::FitRecord> to_redo;  // refits, which those that follow supersede
  std::map<uint32_t, uint32_t> attempts;    // by slot, the last of all records and events
};
Before done_before(const node::Prepared& prepared, const std::string& run_directory, journal::Contents contents);

}  // namespace mokume::run

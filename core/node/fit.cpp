#include "node/fit.hpp"

#include "device/profile.hpp"
#include "node/fit_sink.hpp"
#include "node/scratch.hpp"
#include "sdk/error.hpp"

namespace mokume::node {

std::string OpenModel::scratch(const cluster::Attempt& attempt, uint32_t fit) const {
  return run_directory.empty() || attempt.backup ? "" : Scratch(run_directory).fit(fit);
}

void fit(const OpenModel& model, const cluster::Attempt& attempt, cluster::Reporter& reporter) {
  std::vector<mk_fit> fits;
  std::vector<uint32_t> ids;
  std::vector<std::string> scratch;
  for (const uint32_t id : attempt.fits) scratch.push_back(model.scratch(attempt, id));
  const auto add = [&](uint32_t id, const char* note, const char* directory) {
    const search::FitKey key = model.experiment.plan().key(id);
    const Splits::Place place = model.experiment.splits().place_of({key.bootstrap, key.fold});
    fits.push_back({key.candidate, place.fold, note != nullptr ? 1 : 0, place.sample, note, directory});
    ids.push_back(id);
  };
  for (size_t k = 0; k < attempt.fits.size(); ++k) add(attempt.fits[k], nullptr, scratch[k].c_str());
  for (size_t k = 0; k < attempt.done_fits.size(); ++k) add(attempt.done_fits[k], attempt.done_notes[k].c_str(), "");
  const mk_model& table = model.experiment.model();
  FitSink sink(reporter, std::move(ids), model.experiment, model.leads, {model.run_directory, attempt});
  const sdk::Scope phase = model.phase(device::kOtherPhase);
  sdk::call(table.fit, model.session, static_cast<const mk_fit*>(fits.data()), static_cast<uint32_t>(fits.size()),
            sink.table());
}

}  // namespace mokume::node

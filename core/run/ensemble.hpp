// The trained models of a run and what they say together: models/member-000, models/member-001, ... where a run has
// several, else models/best, an ensemble of one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "abi/model.h"
#include "data/dataset.hpp"
#include "report/view.hpp"

namespace mokume::run {

// A trained model in host memory, read back from its files. Owns it; any thread, one at a time.
class Trained {
 public:
  // `directory`: what mk_model.save wrote, below the run directory `run`. Error(MK_BAD_DATA) says how to have a damaged
  // one again.
  Trained(const mk_model& model, const std::string& directory, const std::string& run);

  const mk_fitted* get() const { return fitted_.get(); }

  std::vector<std::string> classes;  // in label order; empty for regression
  int64_t features = 0;
  data::Shape shape;                // of a row as the model saw it; channels 0: it keeps no record
  std::vector<double> mean, scale;  // x' = (x - mean) / scale: one value, one per feature, or none
  bool checked = false;             // against SHA256SUMS, which models of older versions lack

 private:
  std::unique_ptr<mk_fitted, void (*)(mk_fitted*)> fitted_;
};

// The directories of a run's models in ascending order; a member that could not be trained is left out.
// Error(MK_INVALID_ARGUMENT) if there is none yet.
std::vector<std::string> model_directories(const std::string& run);

inline bool is_error(int32_t said, int32_t label) { return label != data::kNoLabel && said != label; }

class Ensemble {
 public:
  // Reads the first member. `model` outlives it. Errors as above.
  Ensemble(const mk_model& model, const std::string& run);

  size_t size() const { return directories_.size(); }
  const Trained& first() const { return first_; }  // speaks for all: they have the same classes, features and scaling
  // Calls body(member) for each in turn, with one beside the first in memory. Error(MK_BAD_DATA) for a member that
  // differs from the first in what describes it.
  void for_each(const std::function<void(const Trained&)>& body) const;

 private:
  const mk_model& model_;
  std::string run_;
  std::vector<std::string> directories_;
  Trained first_;
};

// The members' certainty of row 0.
report::Certainty certainty_of(const mk_model& model, const Ensemble& ensemble, const mk_device_services* device,
                               const data::Table& rows);

// The predictions of an ensemble for rows; of one member its own labels or numbers.
struct Combined {
  std::vector<int32_t> labels;  // classification: rows; see report::majority
  std::vector<uint32_t> votes;  // for that label
  std::vector<double> numbers;  // regression: rows; the mean over members
  std::vector<double> sd;       // sample standard deviation over members, 0 for one
  std::vector<int64_t> errors;  // classification of labelled rows: per member
};
Combined combine(const mk_model& model, const Ensemble& ensemble, const mk_device_services* device,
                 const data::Table& rows);

}  // namespace mokume::run

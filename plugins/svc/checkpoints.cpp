#include "checkpoints.hpp"

#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace mokume::svc {
namespace {

constexpr int kVersion = 1;

class Sum {
 public:
  template <class T>
  void add(const T* values, int64_t count) {
    if (values != nullptr && count > 0)
      sum_ = crc32_z(sum_, reinterpret_cast<const Bytef*>(values), static_cast<size_t>(count) * sizeof(T));
  }
  uint64_t sum() const { return sum_; }

 private:
  uLong sum_ = crc32_z(0, nullptr, 0);
};

uint64_t sum_of(const mk_data& data, const mk_sample& sample) {
  Sum sum;
  if (data.starts != nullptr) {
    const int64_t first = data.starts[0], stored = data.starts[data.rows] - first;
    sum.add(data.starts, data.rows + 1);
    sum.add(data.column + first, stored);
    sum.add(data.x + first, stored);
  } else {
    sum.add(data.x, data.rows * data.features);
  }
  sum.add(data.labels, data.rows);
  sum.add(data.targets, data.rows);
  sum.add(data.weights, data.rows);
  sum.add(sample.row, sample.places);
  sum.add(sample.fold_of, sample.places);
  return sum.sum();
}

}  // namespace

void Checkpoints::begin(const std::string& storage) {
  storage_ = storage;
  waiting_.clear();
  timer_.begin();
}

storage::CheckpointFile Checkpoints::file_of(const FitName& fit) const {
  return {host_, "svc", fit.directory, "checkpoint-" + std::to_string(fit.pass)};
}

std::string Checkpoints::identity_of(const FitName& fit) {
  const auto [data, fresh] = data_.try_emplace(fit.bootstrap, 0);
  if (fresh) data->second = sum_of(*experiment_.train, experiment_.samples[fit.bootstrap]);
  const Settings& s = fit.settings;
  const nlohmann::json parts = {kVersion,
                                storage_,
                                device_.name,
                                device_.platform,
                                device_.driver,
                                device_.isa,
                                data->second,
                                fit.bootstrap,
                                fit.fold,
                                s.kind,
                                s.c,
                                s.nu,
                                s.kernel.kind,
                                s.kernel.pairs,
                                s.kernel.gamma,
                                s.kernel.coef0,
                                s.kernel.degree,
                                s.multiclass,
                                s.precomputed,
                                s.tol,
                                s.max_iterations,
                                s.solver,
                                s.storage,
                                s.epsilon,
                                s.class_weights,
                                s.standardise_target,
                                experiment_.train->rows,
                                experiment_.train->features};
  return parts.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::optional<SavedSolve> Checkpoints::take(const FitName& fit, int64_t problem, double c) {
  if (fit.directory.empty()) return std::nullopt;
  const auto [at, fresh] = waiting_.try_emplace({fit.directory, fit.pass});
  std::vector<SavedSolve>& solves = at->second;
  const storage::CheckpointFile file = file_of(fit);
  if (fresh && file.exists()) {
    file.remove_remains();
    solves = file.read(identity_of(fit), get_solves);
  }
  const auto found = std::find_if(solves.begin(), solves.end(),
                                  [&](const SavedSolve& solve) { return solve.problem == problem && solve.c == c; });
  if (found == solves.end()) return std::nullopt;
  SavedSolve solve = std::move(*found);
  solves.erase(found);
  return solve;
}

void Checkpoints::save(const FitName& fit, std::vector<SavedSolve> solves) {
  if (fit.directory.empty()) return;
  std::erase_if(solves, [](const SavedSolve& solve) { return !is_finite(solve); });
  std::vector<SavedSolve>& others = waiting_[{fit.directory, fit.pass}];
  const size_t own = solves.size();
  for (SavedSolve& other : others) solves.push_back(std::move(other));
  if (!solves.empty()) {
    safetensors::Writer writer;
    put_solves(solves, writer);
    file_of(fit).write(writer, identity_of(fit));
  }
  std::move(solves.begin() + static_cast<ptrdiff_t>(own), solves.end(), others.begin());
}

}  // namespace mokume::svc

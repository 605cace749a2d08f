#include "run/ensemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/files.hpp"
#include "node/model_inputs.hpp"
#include "node/prediction.hpp"
#include "run/run_directory.hpp"
#include "run/score_names.hpp"
#include "run/tally.hpp"
#include "sdk/error.hpp"

namespace mokume::run {
namespace {

constexpr const char* kMember = "member-";

// Returns the number in "member-012", and nothing for other names ("member-012.new" is still being written).
std::optional<uint32_t> member_number(const std::string& name) {
  if (!name.starts_with(kMember)) return std::nullopt;
  const std::string digits = name.substr(std::string_view(kMember).size());
  if (digits.size() < 3 || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return static_cast<uint32_t>(std::stoul(digits));
}

node::Classified say(const mk_model& model, const Trained& member, const mk_device_services* device,
                     const data::Table& rows, bool certain) {
  return node::classify(model, member.get(), device, member.classes.size(), node::input_rows(rows, 0, rows.rows),
                        certain, member.calibration ? &*member.calibration : nullptr);
}

int64_t errors_of(const std::vector<int32_t>& labels, const std::vector<int32_t>& truth) {
  int64_t errors = 0;
  for (size_t r = 0; r < labels.size(); ++r) errors += is_error(labels[r], truth[r]) ? 1 : 0;
  return errors;
}

// Returns the probabilities in double precision: the certainties, or NaN where a score is NaN.
std::vector<double> probabilities_of(node::Classified said) {
  for (size_t i = 0; i < said.scores.size(); ++i)
    if (std::isnan(said.scores[i])) said.certainty[i] = NAN;
  return std::move(said.certainty);
}

void combine_classes(const mk_model& model, const Ensemble& ensemble, const mk_device_services* device,
                     const data::Table& rows, Combined& combined) {
  const bool several = ensemble.size() > 1;
  const auto n = static_cast<size_t>(rows.rows);
  Tally tally(several ? n : 0, ensemble.first().classes.size());
  ensemble.for_each([&](const Trained& member) {
    node::Classified said = say(model, member, device, rows, true);
    if (!rows.labels.empty()) combined.errors.push_back(errors_of(said.labels, rows.labels));
    if (several) return tally.add(said);
    combined.labels = std::move(said.labels);
    combined.votes.assign(n, 1);
    combined.score_names = score_names(said.kind, member.classes);
    if (said.kind == MK_SCORES_LOG_PROBABILITIES)
      combined.probabilities = probabilities_of(std::move(said));
    else if (said.kind != MK_SCORES_UNKNOWN)
      combined.scores = std::move(said.scores);
  });
  if (!several) return;
  combined.score_names = vote_share_names(ensemble.first().classes);
  for (size_t r = 0; r < n; ++r) {
    combined.labels.push_back(static_cast<int32_t>(tally.winner(r)));
    combined.votes.push_back(tally.votes(r));
    for (size_t c = 0; c < combined.score_names.size(); ++c)
      combined.scores.push_back(tally.share(r, c, ensemble.size()));
  }
}

// Updates means and squared deviations member by member, as in Welford, Note on a method for calculating corrected sums
// of squares and products, Technometrics 4(3), 1962.
void combine_numbers(const mk_model& model, const Ensemble& ensemble, const mk_device_services* device,
                     const data::Table& rows, Combined& combined) {
  combined.numbers.assign(static_cast<size_t>(rows.rows), 0);
  combined.sd.assign(static_cast<size_t>(rows.rows), 0);
  double seen = 0;
  ensemble.for_each([&](const Trained& member) {
    const std::vector<float> said = node::predict_targets(model, member.get(), device, rows);
    seen += 1;
    for (size_t r = 0; r < said.size(); ++r) {
      const auto value = static_cast<double>(said[r]);
      const double off = value - combined.numbers[r];
      combined.numbers[r] = seen == 1 ? value : combined.numbers[r] + off / seen;
      combined.sd[r] += off * (value - combined.numbers[r]);
    }
  });
  for (double& sd : combined.sd) sd = seen > 1 ? std::sqrt(sd / (seen - 1)) : 0;
}

}  // namespace

Trained::Trained(const mk_model& model, const std::string& directory, const std::string& run)
    : fitted_(nullptr, model.fitted_destroy) {
  const std::string below = directory == run ? "" : directory.substr(run.size() + 1);
  base::refuse_links({run, below});  // the model opens its files by path
  try {
    mk_fitted* loaded = nullptr;
    try {
      sdk::call(model.load, model.self, directory.c_str(), &loaded);
    } catch (const Error& e) {
      if (e.status() != MK_BAD_DATA) base::check_sums(directory);  // damage to a file can cause any other error
      throw;
    }
    fitted_.reset(loaded);
    calibration = node::read_calibration(directory, model.scores_per_row(get()));
    static_cast<void>(node::read_inputs(directory));  // throws an error that names a damaged file
    checked = base::check_sums(directory, "",
                               base::cache_directory());  // last, because the errors of the model are more specific
  } catch (const Error& e) {
    if (e.status() != MK_BAD_DATA) throw;
    if (directory == run) throw Error(MK_BAD_DATA, std::string(e.what()) + " (restore the model's files)");
    throw Error(MK_BAD_DATA,
                fmt::format("{} (remove {}, and `mokume resume {}` trains the model again)", e.what(), directory, run));
  }
  mk_data about{};
  const double *mean_values = nullptr, *scale_values = nullptr;
  uint32_t n_scaling = 0;
  if (model.describe(get(), &about, &mean_values, &scale_values, &n_scaling) != MK_OK)
    throw Error(MK_INTERNAL, "the model cannot describe itself");
  classes.assign(about.class_names, about.class_names + about.n_classes);
  features = about.features;
  shape = {about.height, about.width, about.channels};
  mean.assign(mean_values, mean_values + n_scaling);
  scale.assign(scale_values, scale_values + n_scaling);
}

std::vector<std::string> model_directories(const std::string& run) {
  if (node::read_inputs(run)) return {run};  // a single model
  std::map<uint32_t, std::string> members;
  for (const std::string& name : base::names_in({run, "models"}))
    if (const auto number = member_number(name)) members[*number] = run + "/models/" + name;
  std::vector<std::string> directories;
  for (const auto& [number, path] : members) directories.push_back(path);
  if (!directories.empty()) return directories;
  const std::string best = run + "/models/best";
  if (!base::exists({run, "models/best"}))
    throw Error(MK_INVALID_ARGUMENT,
                read_run_record(run).state == "failed fits"
                    ? fmt::format("{0} holds no model, since its training failed: `mokume explain {0}` shows why", run)
                    : fmt::format("{0} holds no model yet: finish the run with `mokume resume {0}`", run));
  return {best};
}

Ensemble::Ensemble(const mk_model& model, const std::string& run)
    : model_(model), run_(run), directories_(model_directories(run)), first_(model, directories_.front(), run) {}

void Ensemble::for_each(const std::function<void(const Trained&)>& body) const {
  body(first_);
  for (size_t k = 1; k < directories_.size(); ++k) {
    const Trained member(model_, directories_[k], run_);
    if (member.classes != first_.classes || member.features != first_.features || member.mean != first_.mean ||
        member.scale != first_.scale)
      throw Error(MK_BAD_DATA,
                  fmt::format("the classes, features or scaling of {} differ from those of {}: remove it, and `mokume "
                              "resume {}` trains the model again",
                              directories_[k], directories_.front(), run_));
    body(member);
  }
}

results::Certainty certainty_of(const mk_model& model, const Ensemble& ensemble, const mk_device_services* device,
                                const data::Table& rows) {
  results::Certainty certainty{ensemble.first().classes, {}};
  ensemble.for_each([&](const Trained& member) {
    node::Classified said = say(model, member, device, rows, true);
    certainty.probable = certainty.probable && said.kind == MK_SCORES_LOG_PROBABILITIES;
    said.certainty.resize(certainty.classes.size());
    certainty.members.push_back(std::move(said.certainty));
  });
  return certainty;
}

Combined combine(const mk_model& model, const Ensemble& ensemble, const mk_device_services* device,
                 const data::Table& rows) {
  Combined combined;
  if (ensemble.first().classes.empty())
    combine_numbers(model, ensemble, device, rows, combined);
  else
    combine_classes(model, ensemble, device, rows, combined);
  return combined;
}

}  // namespace mokume::run

#include "run/vote.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/sealed.hpp"
#include "data/npy/npy.hpp"
#include "node/models.hpp"
#include "node/validated.hpp"
#include "run/exemplars.hpp"
#include "run/tally.hpp"
#include "sdk/error.hpp"

namespace mokume::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVote = "models/vote.json";
constexpr const char* kCure = "remove its directory, and `mokume resume` trains the member again";

// Holds the content of models/vote.json.
struct VoteFile {
  results::Vote vote;
  std::optional<int64_t> errors;  // no value if the members predict numbers
  std::vector<std::string> classes;
  std::vector<int64_t> confusion;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& field) {
    field("members", self.vote.members);
    field("n", self.vote.test.n, int64_t{0}, INT64_MAX);
    field("mse", self.vote.test.mse);
    field("errors", self.errors);
    field.optional("classes", self.classes);
    field.optional("confusion", self.confusion);  // older runs lack this field and the next three
    field.optional("measures", self.vote.test.measures);
    field.optional("doubt", self.vote.doubt);
    field.optional("exemplars", self.vote.exemplars);
  }
  void check() const {
    if (vote.test.mse) return;
    if (!errors || *errors < 0 || *errors > vote.test.n) base::bad_field("errors", "a number of test rows");
    if (classes.empty()) base::bad_field("classes", "a list of names");
    if (!std::is_sorted(vote.doubt.begin(), vote.doubt.end())) base::bad_field("doubt", "ascending");
    for (const results::Exemplar& exemplar : vote.exemplars) run::check(exemplar, classes.size());
  }
};

// Returns a member's predictions. Checks them, because they come from a file.
node::Classified classified(const std::string& path, const data::FloatTable& member, size_t classes) {
  node::Classified said;
  for (size_t row = 0; row < member.values.size(); row += classes + 1) {
    const float label = member.values[row];
    if (!(label >= 0 && label < static_cast<float>(classes)))
      throw Error(MK_BAD_DATA, path + " holds a vote for an unknown class: " + kCure);
    said.labels.push_back(static_cast<int32_t>(label));
    for (size_t c = 0; c < classes; ++c) {
      const float certainty = member.values[row + 1 + c];
      if (!(certainty >= 0 && certainty <= 1))
        throw Error(MK_BAD_DATA, path + " holds a certainty outside [0, 1]: " + kCure);
      said.certainty.push_back(static_cast<double>(certainty));
    }
  }
  return said;
}

std::vector<std::string> predictions_of(const std::string& run_directory, const node::Experiment& experiment,
                                        const std::vector<journal::FitRecord>& refits) {
  std::vector<std::string> paths;
  for (const journal::FitRecord& refit : refits) {
    if (refit.status == journal::FitStatus::failed) continue;
    const base::Below model = node::model_place(run_directory, experiment.plan(), refit.fit);
    base::refuse_links(model);
    paths.push_back(model.path() + node::kTestPredictions);
  }
  return paths;
}

void check_member(const std::string& path) {
  try {
    base::check_sums(fs::path(path).parent_path().string(), fs::path(path).filename().string());
  } catch (const Error& e) {
    if (e.status() != MK_BAD_DATA) throw;
    throw Error(MK_BAD_DATA, std::string(e.what()) + ", or " + kCure);
  }
}

// Calls body(path, predictions) for every member.
template <class Body>
void for_each_member(const std::vector<std::string>& paths, const node::Experiment& experiment, size_t columns,
                     const Body& body) {
  for (const std::string& path : paths) {
    check_member(path);
    const data::FloatTable member = data::read_npy(path);
    if (member.rows != experiment.data().test.rows || member.columns != static_cast<int64_t>(columns))
      throw Error(MK_BAD_DATA, path + " holds predictions for rows other than those of this test set: " + kCure);
    body(path, member);
  }
}

// Returns percentiles 0 to 100 of at least one value.
std::vector<double> percentiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<double> found;
  for (size_t percent = 0; percent <= 100; ++percent) found.push_back(values[percent * (values.size() - 1) / 100]);
  return found;
}

results::Vote vote_of_classes(const std::vector<std::string>& paths, const node::Experiment& experiment) {
  const data::Table& test = experiment.data().test;
  const size_t classes = experiment.data().class_names.size();
  Tally tally(static_cast<size_t>(test.rows), classes);
  const auto add = [&](const std::string& path, const data::FloatTable& member) {
    tally.add(classified(path, member, classes));
  };
  for_each_member(paths, experiment, classes + 1, add);
  std::vector<size_t> winners;
  std::vector<int32_t> predicted;
  results::Vote vote{{0, test.rows, std::nullopt}, static_cast<uint32_t>(paths.size()), {}};
  for (size_t r = 0; r < test.labels.size(); ++r) {
    winners.push_back(tally.winner(r));
    predicted.push_back(static_cast<int32_t>(winners.back()));
    vote.test.errors += predicted.back() != test.labels[r] ? 1 : 0;
  }
  vote.test.confusion = data::count_confusion(test.labels, predicted, classes);
  // Without probabilities, a member's mean certainty is a share of votes, so there is no log loss.
  vote.test.measures = node::all_measured(test.labels, *vote.test.confusion, MK_SCORES_UNKNOWN, tally.certainty());
  vote.exemplars = choose_exemplars(experiment.data(), tally.certainty(), winners);
  vote.doubt = percentiles(doubts(tally.certainty(), classes));
  const auto look = [&](const std::string&, const data::FloatTable& member) {
    for (results::Exemplar& one : vote.exemplars) {
      const auto row = member.values.begin() + static_cast<ptrdiff_t>(one.row * member.columns) + 1;
      one.certainty.members.emplace_back(row, row + static_cast<ptrdiff_t>(classes));
    }
  };
  for_each_member(paths, experiment, classes + 1, look);
  return vote;
}

results::Vote mean_of_numbers(const std::vector<std::string>& paths, const node::Experiment& experiment) {
  const data::Table& test = experiment.data().test;
  std::vector<double> sums(test.targets.size());
  const auto add = [&](const std::string&, const data::FloatTable& member) {
    for (size_t r = 0; r < sums.size(); ++r) sums[r] += static_cast<double>(member.values[r]);
  };
  for_each_member(paths, experiment, 1, add);
  double squares = 0;
  for (size_t r = 0; r < sums.size(); ++r) {
    const double off = sums[r] / static_cast<double>(paths.size()) - static_cast<double>(test.targets[r]);
    squares += off * off;
  }
  return {{0, test.rows, squares / static_cast<double>(sums.size())}, static_cast<uint32_t>(paths.size()), {}};
}

}  // namespace

void write_vote(const std::string& run_directory, const node::Experiment& experiment,
                const std::vector<journal::FitRecord>& refits) {
  const data::Table& test = experiment.data().test;
  base::remove({run_directory, kVote});
  if (test.rows == 0 || (test.labels.empty() && test.targets.empty())) return;
  const std::vector<std::string> paths = predictions_of(run_directory, experiment, refits);
  const auto exists = [](const std::string& path) { return fs::exists(path); };
  if (paths.empty() || !std::all_of(paths.begin(), paths.end(), exists)) return;
  VoteFile file;
  if (test.labels.empty()) {
    file.vote = mean_of_numbers(paths, experiment);
  } else {
    file.vote = vote_of_classes(paths, experiment);
    file.errors = file.vote.test.errors;
    if (const auto& confusion = file.vote.test.confusion; confusion->classes <= data::kMostConfusedClasses)
      file.confusion = confusion->counts;
    file.classes = experiment.data().class_names;
  }
  base::write_file(base::Below{run_directory, kVote}, base::seal(base::to_json(file)));
}

std::optional<results::Vote> read_vote(const std::string& run_directory) {
  const base::Below place{run_directory, kVote};
  const std::string path = place.path();
  if (!base::exists(place)) return std::nullopt;
  const auto text = base::unseal_file(base::read_file(place, 1U << 28));
  if (!text)
    throw Error(MK_BAD_DATA, path + " is damaged (its checksum differs): restore it, or `mokume resume " +
                                 run_directory + "` writes it again");
  try {
    auto file = base::from_json<VoteFile>(text->object);
    results::TestResult& test = file.vote.test;
    test.errors = file.errors.value_or(0);
    test.confusion = data::checked_confusion(file.confusion, static_cast<int64_t>(file.classes.size()), test.n);
    for (results::Exemplar& exemplar : file.vote.exemplars) exemplar.certainty.classes = file.classes;
    return std::move(file.vote);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace mokume::run

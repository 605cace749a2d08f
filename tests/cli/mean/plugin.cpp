// Implements a model for tests, which predicts the mean of its training targets, or the most frequent class, plus
// `shift`. Its summary describes its rows and candidates. With `epochs`, it pretends to learn, with curves. With
// `die_in`, it kills its process in that epoch, once in each fit and in the refit; files in its scratch directory show
// an earlier attempt. With `reports`, it reports no validated rows, or an error that is not a number.
#include <array>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <memory>
#include <string>
#include <vector>

#include "sdk/model.hpp"

namespace {

using mokume::Error;
namespace sdk = mokume::sdk;

enum Param { kShift, kLayers, kEpochs, kDieIn, kReports };

constexpr std::array<mk_param, 1> kLinear = {{
    {"size", MK_PARAM_INTEGER, 0, 1, 100, "", "", "number of outputs", nullptr, 0, 0},
}};
constexpr std::array<mk_form, 1> kForms = {{{"linear", "every input to every output", kLinear.data(), 1, 0}}};
constexpr std::array<mk_param, 5> kParams = {{
    {"shift", MK_PARAM_REAL, 0, -100, 100, "0.0", "", "added to what is predicted", nullptr, 0, 0},
    {"layers", MK_PARAM_FORMS, 0, 0, 0, "[]", "", "only shown", kForms.data(), 1, 0},
    {"epochs", MK_PARAM_INTEGER, 0, 0, 1000, "0", "", "with a curve of the loss each", nullptr, 0, 0},
    {"die_in", MK_PARAM_INTEGER, 0, 0, 1000, "0", "", "epoch", nullptr, 0, 0},
    {"reports", MK_PARAM_TEXT, 0, 0, 0, "\"all\"", "all|no rows|nan", "what it says", nullptr, 0, 0},
}};
constexpr std::array<mk_metric, 2> kMetrics = {{{"errors", 1, 0}, {"error", 0, 1}}};
constexpr std::array<mk_metric, 1> kRegressionMetrics = {{{"mse", 0, 1}}};

struct Fitted {
  double value = 0;  // the predicted number or class
  int64_t features = 0;
  std::vector<std::string> class_names;
  std::vector<double> mean, scale;

  void predict(const sdk::Device&, const float*, int64_t rows, int32_t* labels, float* scores) const {
    for (int64_t r = 0; r < rows; ++r) {
      if (labels != nullptr) labels[r] = static_cast<int32_t>(value);
      if (scores != nullptr) scores[r] = static_cast<float>(value);
    }
  }
  void save(const std::string& directory) const {
    std::ofstream file(directory + "/mean.txt");
    file << value << ' ' << features << '\n';
    for (const std::string& name : class_names) file << name << '\n';
  }
  static Fitted load(const std::string& directory) {
    Fitted made;
    std::ifstream file(directory + "/mean.txt");
    if (!(file >> made.value >> made.features)) throw Error(MK_BAD_DATA, directory + "/mean.txt holds no numbers");
    for (std::string name; file >> name;) made.class_names.push_back(name);
    return made;
  }
};

const mk_value& value(const mk_experiment& e, uint32_t candidate, Param p) {
  return e.values[candidate * kParams.size() + p];
}

double train(const mk_experiment& e, const mk_fit& fit) {
  const mk_data& data = *e.train;
  const mk_sample& sample = e.samples[fit.bootstrap];
  double sum = 0, n = 0;
  std::vector<int64_t> counts(static_cast<size_t>(data.n_classes) + 1);
  for (int64_t i = 0; i < sample.places; ++i) {
    if (mokume::sdk::is_held_out(sample, i, fit.fold)) continue;
    const int64_t r = sample.row[i];
    n += 1;
    if (data.targets != nullptr) sum += static_cast<double>(data.targets[r]);
    if (data.labels != nullptr) ++counts[static_cast<size_t>(data.labels[r])];
  }
  if (data.targets != nullptr) return sum / n + value(e, fit.candidate, kShift).real;
  return static_cast<double>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

// Holds the losses of the epochs. Reads the losses of an earlier attempt from the scratch directory.
struct Course {
  std::vector<double> losses;
  mk_curve curve{};

  Course(const mk_experiment& e, const mk_fit& fit) {
    const int64_t epochs = value(e, fit.candidate, kEpochs).integer, die_in = value(e, fit.candidate, kDieIn).integer;
    const std::string state = std::string(fit.scratch) + "/losses.txt";
    std::ifstream left(state);
    for (double loss = 0; left >> loss;) losses.push_back(loss);
    const bool went_on = !losses.empty();
    if (epochs > 0) std::filesystem::create_directories(fit.scratch);
    while (static_cast<int64_t>(losses.size()) < epochs) {
      losses.push_back(1.0 / static_cast<double>(losses.size() + 2));
      std::ofstream(state, std::ios::app) << std::setprecision(17) << losses.back() << '\n';
      if (!went_on && static_cast<int64_t>(losses.size()) == die_in) raise(SIGKILL);
    }
    curve = {"train_loss", static_cast<uint32_t>(losses.size()), 0, losses.data()};
  }

  void report_in(mk_fit_result& result) const {
    result.curves = &curve;
    result.n_curves = losses.empty() ? 0 : 1;
  }
};

class Session {
 public:
  Session(const sdk::Host&, const mk_experiment& experiment, const mk_device_services*) : experiment_(experiment) {}

  void fit(std::span<const mk_fit> fits, const mk_fit_sink& sink) {
    const mk_experiment& e = experiment_;
    for (uint32_t i = 0; i < fits.size(); ++i) {
      if (fits[i].done != 0) continue;
      const double predicted = train(e, fits[i]);
      double n = 0, errors = 0, squares = 0;
      const mk_sample& sample = e.samples[fits[i].bootstrap];
      for (int64_t place = 0; place < sample.places; ++place) {
        if (sample.fold_of[place] != fits[i].fold) continue;
        const int64_t r = sample.row[place];
        n += 1;
        if (e.train->labels != nullptr) errors += e.train->labels[r] != static_cast<int32_t>(predicted) ? 1 : 0;
        if (e.train->targets == nullptr) continue;
        const double off = predicted - static_cast<double>(e.train->targets[r]);
        squares += off * off;
      }
      const bool numbers = e.train->targets != nullptr;
      double values[2] = {numbers ? squares / n : errors, errors / n};
      const std::string reports = value(e, fits[i].candidate, kReports).text;
      if (reports == "nan") values[0] = values[1] = std::nan("");
      if (reports == "no rows") n = 0;
      const Course course(e, fits[i]);
      mk_fit_result result{};
      course.report_in(result);
      result.index = i;
      result.n = static_cast<int64_t>(n);
      result.n_values = numbers ? 1 : 2;
      result.values = &values[0];
      result.note = "";
      sdk::call(sink.report, sink.self, &result);
    }
  }

  std::unique_ptr<Fitted> refit(const mk_fit& fit, const mk_fit_sink& sink) {
    auto made = std::make_unique<Fitted>();
    made->value = train(experiment_, fit);
    made->features = experiment_.train->features;
    sdk::take_description(experiment_, *made);
    const Course course(experiment_, fit);
    mk_fit_result result{};
    course.report_in(result);
    result.note = "refitted";
    sdk::call(sink.report, sink.self, &result);
    return made;
  }

 private:
  const mk_experiment& experiment_;
};

struct Model {
  using Session = ::Session;
  using Fitted = ::Fitted;
  static constexpr const auto& params = kParams;
  static constexpr const auto& metrics = kMetrics;
  static constexpr const auto& regression_metrics = kRegressionMetrics;

  static void check(const mk_experiment&) {}
  static void bundle(const mk_experiment& e, uint32_t, const mk_bundle_sink& sink) {
    for (uint32_t c = 0; c < e.n_candidates; ++c)
      for (uint32_t b = 0; b < e.n_bootstraps; ++b)
        for (uint32_t f = 0; sdk::has(e, c, b) && f < e.n_folds; ++f) {
          const mk_fit fit{c, static_cast<int32_t>(f), 0, b, nullptr, ""};
          const mk_bundle one{&fit, 1, 0, 1, 1};
          sdk::call(sink.add, sink.self, &one);
        }
  }
  static std::string summary(const mk_experiment& e, uint32_t candidate) {
    const mk_data& d = *e.train;
    return "rows of " + std::to_string(d.height) + "x" + std::to_string(d.width) + "x" + std::to_string(d.channels) +
           ", layers " + value(e, candidate, kLayers).text;
  }
  static int64_t features(const Fitted& fitted) { return fitted.features; }
  static int64_t scores_per_row(const Fitted&) { return 1; }
};

}  // namespace

MOKUME_MODEL(Model, "mean", "predicts the mean, for tests")

// A model for tests: predicts the mean of its training targets, or the most frequent class, plus `shift`. Its summary
// says what kind of rows it sees and what its candidates have. It can pretend to learn for `epochs`, with curves, and
// to be killed in epoch `die_in` of each fit and of the refit, once: what it left in its scratch directory tells.
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <memory>
#include <string>
#include <vector>

#include "abi/model.h"
#include "sdk/error.hpp"
#include "sdk/plugin.hpp"

namespace {

using mokume::Error;
using mokume::sdk::guard;

enum Param { kShift, kLayers, kEpochs, kDieIn };

constexpr std::array<mk_param, 1> kLinear = {{
    {"size", MK_PARAM_INTEGER, 0, 1, 100, "", "", "number of outputs", nullptr, 0, 0},
}};
constexpr std::array<mk_form, 1> kForms = {{{"linear", "every input to every output", kLinear.data(), 1, 0}}};
constexpr std::array<mk_param, 4> kParams = {{
    {"shift", MK_PARAM_REAL, 0, -100, 100, "0.0", "", "added to what is predicted", nullptr, 0, 0},
    {"layers", MK_PARAM_FORMS, 0, 0, 0, "[]", "", "only shown", kForms.data(), 1, 0},
    {"epochs", MK_PARAM_INTEGER, 0, 0, 1000, "0", "", "with a curve of the loss each", nullptr, 0, 0},
    {"die_in", MK_PARAM_INTEGER, 0, 0, 1000, "0", "", "epoch", nullptr, 0, 0},
}};
constexpr std::array<mk_metric, 2> kMetrics = {{{"errors", 1, 0}, {"error", 0, 1}}};
constexpr std::array<mk_metric, 1> kRegressionMetrics = {{{"mse", 0, 1}}};

struct Fitted {
  double value = 0;  // the predicted number, or the class
  std::vector<std::string> classes;
  std::vector<const char*> names;

  void point() {
    for (const std::string& name : classes) names.push_back(name.c_str());
  }
};

struct Session {
  const mk_experiment* experiment;
};

Session* session(mk_session* s) { return reinterpret_cast<Session*>(s); }
const Fitted& fitted_of(const mk_fitted* f) { return *reinterpret_cast<const Fitted*>(f); }

const mk_value& value(const mk_experiment& e, uint32_t candidate, Param p) {
  return e.values[candidate * kParams.size() + p];
}

double train(const mk_experiment& e, uint32_t candidate, int32_t fold) {
  const mk_data& data = *e.train;
  double sum = 0, n = 0;
  std::vector<int64_t> counts(static_cast<size_t>(data.n_classes) + 1);
  for (int64_t r = 0; r < data.rows; ++r) {
    if (fold != MK_ALL_ROWS && e.fold_of[r] == fold) continue;
    n += 1;
    if (data.targets != nullptr) sum += static_cast<double>(data.targets[r]);
    if (data.labels != nullptr) ++counts[static_cast<size_t>(data.labels[r])];
  }
  if (data.targets != nullptr) return sum / n + value(e, candidate, kShift).real;
  return static_cast<double>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

// The losses of the epochs, those of an earlier attempt read back from the scratch directory.
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

int32_t check(void*, const mk_experiment*, mk_error*) { return MK_OK; }

int32_t bundle(void*, const mk_experiment* e, uint32_t, const mk_bundle_sink* sink, mk_error* error) {
  return guard(error, [&] {
    for (uint32_t c = 0; c < e->n_candidates; ++c)
      for (uint32_t f = 0; f < e->n_folds; ++f) {
        const mk_fit fit{c, static_cast<int32_t>(f), 0, 0, nullptr, ""};
        const mk_bundle one{&fit, 1, 0, 1, 1};
        mokume::sdk::call(sink->add, sink->self, &one);
      }
  });
}

int32_t summary(void*, const mk_experiment* e, uint32_t candidate, void* taker, void (*take)(void*, const char*),
                mk_error*) {
  const mk_data& d = *e->train;
  const std::string text = "rows of " + std::to_string(d.height) + "x" + std::to_string(d.width) + "x" +
                           std::to_string(d.channels) + ", layers " + value(*e, candidate, kLayers).text;
  take(taker, text.c_str());
  return MK_OK;
}

int32_t session_create(void*, const mk_experiment* e, const mk_device_services*, mk_session** out, mk_error*) {
  *out = reinterpret_cast<mk_session*>(new Session{e});
  return MK_OK;
}
void session_destroy(mk_session* s) { delete session(s); }

int32_t fit(mk_session* s, const mk_fit* fits, uint32_t n_fits, const mk_fit_sink* sink, mk_error* error) {
  return guard(error, [&] {
    const mk_experiment& e = *session(s)->experiment;
    for (uint32_t i = 0; i < n_fits; ++i) {
      if (fits[i].done != 0) continue;
      const double predicted = train(e, fits[i].candidate, fits[i].fold);
      double n = 0, errors = 0, squares = 0;
      for (int64_t r = 0; r < e.train->rows; ++r) {
        if (e.fold_of[r] != fits[i].fold) continue;
        n += 1;
        if (e.train->labels != nullptr) errors += e.train->labels[r] != static_cast<int32_t>(predicted) ? 1 : 0;
        if (e.train->targets == nullptr) continue;
        const double off = predicted - static_cast<double>(e.train->targets[r]);
        squares += off * off;
      }
      const bool numbers = e.train->targets != nullptr;
      const double values[2] = {numbers ? squares / n : errors, errors / n};
      const Course course(e, fits[i]);
      mk_fit_result result{};
      course.report_in(result);
      result.index = i;
      result.n = static_cast<int64_t>(n);
      result.n_values = numbers ? 1 : 2;
      result.values = &values[0];
      result.note = "";
      mokume::sdk::call(sink->report, sink->self, &result);
    }
  });
}

int32_t refit(mk_session* s, const mk_fit* fit, const mk_fit_sink* sink, mk_fitted** out, mk_error* error) {
  return guard(error, [&] {
    const mk_experiment& e = *session(s)->experiment;
    auto made = std::make_unique<Fitted>();
    made->value = train(e, fit->candidate, MK_ALL_ROWS);
    for (int32_t c = 0; c < e.train->n_classes; ++c) made->classes.emplace_back(e.train->class_names[c]);
    made->point();
    const Course course(e, *fit);
    mk_fit_result result{};
    course.report_in(result);
    result.note = "refitted";
    mokume::sdk::call(sink->report, sink->self, &result);
    *out = reinterpret_cast<mk_fitted*>(made.release());
  });
}

int32_t predict(void*, const mk_fitted* f, const mk_device_services*, const float*, int64_t rows, int64_t,
                int32_t* labels, float* scores, mk_error*) {
  for (int64_t r = 0; r < rows; ++r) {
    if (labels != nullptr) labels[r] = static_cast<int32_t>(fitted_of(f).value);
    if (scores != nullptr) scores[r] = static_cast<float>(fitted_of(f).value);
  }
  return MK_OK;
}

uint32_t scores_per_row(const mk_fitted*) { return 1; }

int32_t save(const mk_fitted* f, const char* directory, mk_error*) {
  std::ofstream file(std::string(directory) + "/mean.txt");
  file << fitted_of(f).value << '\n';
  for (const std::string& name : fitted_of(f).classes) file << name << '\n';
  return MK_OK;
}

int32_t load(void*, const char* directory, mk_fitted** out, mk_error* error) {
  return guard(error, [&] {
    auto made = std::make_unique<Fitted>();
    std::ifstream file(std::string(directory) + "/mean.txt");
    if (!(file >> made->value)) throw Error(MK_BAD_DATA, std::string(directory) + "/mean.txt holds no number");
    for (std::string name; file >> name;) made->classes.push_back(name);
    made->point();
    *out = reinterpret_cast<mk_fitted*>(made.release());
  });
}

int32_t describe(const mk_fitted* f, mk_data* out, const double** mean, const double** scale, uint32_t* n) {
  *out = {};
  out->n_classes = static_cast<int32_t>(fitted_of(f).classes.size());
  out->class_names = fitted_of(f).names.data();
  *mean = *scale = nullptr;
  *n = 0;
  return MK_OK;
}

void fitted_destroy(mk_fitted* f) { delete reinterpret_cast<Fitted*>(f); }
void shutdown(void*) {}

int32_t start(const mk_host*, const void** out, mk_error*) {
  static const mk_model table = {sizeof(mk_model),
                                 MK_ABI_MAJOR,
                                 MK_ABI_MINOR,
                                 nullptr,
                                 kParams.data(),
                                 kParams.size(),
                                 kMetrics.size(),
                                 kMetrics.data(),
                                 kRegressionMetrics.data(),
                                 kRegressionMetrics.size(),
                                 0,
                                 check,
                                 bundle,
                                 summary,
                                 session_create,
                                 session_destroy,
                                 fit,
                                 refit,
                                 predict,
                                 scores_per_row,
                                 save,
                                 load,
                                 describe,
                                 fitted_destroy,
                                 shutdown};
  *out = &table;
  return MK_OK;
}

}  // namespace

MOKUME_PLUGIN(MK_PLUGIN_MODEL, "mean", "predicts the mean, for tests", start)

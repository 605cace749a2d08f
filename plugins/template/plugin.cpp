// Implements the smallest complete model, meant to be copied. It assigns a row to the class with the nearest mean;
// `shrink` draws the class means towards the mean of all rows. README.md describes what to change first.
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sdk/json.hpp"
#include "sdk/model.hpp"
#include "sdk/ops.hpp"
#include "sdk/storage.hpp"

namespace {

using mokume::Error;
namespace ops = mokume::ops;
namespace sdk = mokume::sdk;

// ---- parameters and metrics

enum Param { kShrink };
constexpr std::array<mk_param, 1> kParams = {{
    {"shrink", MK_PARAM_REAL, 0, 0, 0.99, "0.0", "", "how far class means are drawn towards the mean of all rows",
     nullptr, 0, 0},
}};
constexpr std::array<mk_metric, 2> kMetrics = {{{"errors", 1, 0}, {"error", 0, 1}}};

// ---- trained model in host memory

struct Fitted {
  int64_t features = 0;
  std::vector<float> means;              // classes x features
  std::vector<std::string> class_names;  // sdk::take_description fills this and the scaling of the training rows
  std::vector<double> mean, scale;

  int64_t classes() const { return static_cast<int64_t>(class_names.size()); }
  bool finite() const {
    return std::all_of(means.begin(), means.end(), [](float m) { return std::isfinite(m); });
  }

  // The nearest mean has the largest score x.m - |m|^2 / 2. Blocks of a fixed size limit the memory.
  void predict(const sdk::Device& device, const float* x, int64_t rows, int32_t* labels, float* scores) const {
    const int64_t block = std::min<int64_t>(rows, 1024), c = classes();
    if (rows == 0) return;
    std::vector<float> half_norms;
    for (int64_t k = 0; k < c; ++k) {
      double sum = 0;
      for (int64_t f = 0; f < features; ++f) sum += std::pow(static_cast<double>(means[index(k, f)]), 2);
      half_norms.push_back(static_cast<float>(-sum / 2));
    }
    const sdk::Buffer centres = device.upload(means), bias = device.upload(half_norms);
    const sdk::Buffer input = device.buffer<float>(static_cast<uint64_t>(block * features));
    const sdk::Buffer output = device.buffer<float>(static_cast<uint64_t>(block * c));
    std::vector<float> values(static_cast<size_t>(block * c));
    for (int64_t first = 0; first < rows; first += block) {
      const int64_t count = std::min(block, rows - first);
      const mk_tensor out = sdk::matrix(output.get(), count, c);
      device.write(input, x + first * features, static_cast<uint64_t>(count * features));
      device.submit(ops::gemm(sdk::matrix(input.get(), count, features), false, sdk::matrix(centres.get(), c, features),
                              true, out));
      device.submit(ops::bias_act(out, sdk::vector(bias.get(), c), ops::Activation::none, out));
      device.read(output, values.data(), static_cast<uint64_t>(count * c));
      for (int64_t r = 0; r < count; ++r) {
        const float* row = values.data() + r * c;
        labels[first + r] = static_cast<int32_t>(std::max_element(row, row + c) - row);
        if (scores != nullptr) std::copy_n(row, c, scores + (first + r) * c);
      }
    }
  }

  void save(const std::string& directory) const {
    const nlohmann::ordered_json all = {
        {"features", features}, {"classes", class_names}, {"means", means}, {"scaling", {mean, scale}}};
    sdk::OutputFile out(directory + "/model.json");
    out.append(all.dump() + "\n");
    out.close();
  }

  // Checks all values, because the file may contain anything.
  static Fitted load(const std::string& directory) {
    const std::string path = directory + "/model.json";
    Fitted f;
    try {
      std::ifstream in(path, std::ios::binary);
      if (!in) throw Error(MK_BAD_DATA, "cannot open " + path + ": is this the model of a finished run?");
      const auto all = sdk::parse_json<nlohmann::json>(in);
      f.features = all.at("features").get<int64_t>();
      f.class_names = all.at("classes").get<std::vector<std::string>>();
      f.means = all.at("means").get<std::vector<float>>();
      f.mean = all.at("scaling").at(0).get<std::vector<double>>();
      f.scale = all.at("scaling").at(1).get<std::vector<double>>();
    } catch (const nlohmann::json::exception& e) {
      throw Error(MK_BAD_DATA, path + " is damaged: " + e.what());
    }
    const size_t classes = f.class_names.size(), d = static_cast<size_t>(std::max<int64_t>(1, f.features));
    if (f.features < 1 || classes < 1 || f.means.size() % d != 0 || f.means.size() / d != classes ||
        f.mean.size() != f.scale.size() || (f.mean.size() > 1 && f.mean.size() != d))
      throw Error(MK_BAD_DATA, path + " is damaged: its sizes are inconsistent; restore the model's files");
    return f;
  }

  size_t index(int64_t k, int64_t f) const { return static_cast<size_t>(k * features + f); }
};

// ---- training

double shrink_of(const mk_experiment& experiment, uint32_t candidate) {
  return experiment.values[candidate * kParams.size() + kShrink].real;
}

// Computes the means of all rows of the sample except those of the fold. Sums in double, in the order of the sample, so
// that the bits are the same everywhere.
Fitted train(const mk_experiment& experiment, const mk_fit& fit) {
  const mk_data& data = *experiment.train;
  const mk_sample& sample = experiment.samples[fit.bootstrap];
  Fitted f;
  f.features = data.features;
  sdk::take_description(experiment, f);
  std::vector<double> sums(static_cast<size_t>(f.classes() * f.features)), all(static_cast<size_t>(f.features));
  std::vector<double> counts(static_cast<size_t>(f.classes()));
  double n = 0;
  for (int64_t i = 0; i < sample.places; ++i) {
    if (sdk::is_held_out(sample, i, fit.fold)) continue;
    const int64_t r = sample.row[i];
    n += 1;
    counts[static_cast<size_t>(data.labels[r])] += 1;
    for (int64_t k = 0; k < f.features; ++k) {
      const auto value = static_cast<double>(data.x[r * f.features + k]);
      sums[f.index(data.labels[r], k)] += value;
      all[static_cast<size_t>(k)] += value;
    }
  }
  const double shrink = shrink_of(experiment, fit.candidate);
  for (int64_t c = 0; c < f.classes(); ++c)
    for (int64_t k = 0; k < f.features; ++k) {
      const double overall = all[static_cast<size_t>(k)] / n, count = counts[static_cast<size_t>(c)];
      const double own = count > 0 ? sums[f.index(c, k)] / count : overall;  // class may be in the held-out fold only
      f.means.push_back(static_cast<float>((1 - shrink) * own + shrink * overall));
    }
  return f;
}

// Runs one experiment on one device. Other models keep here what all fits share, such as resident rows.
class Session {
 public:
  Session(const sdk::Host&, const mk_experiment& experiment, const mk_device_services* device)
      : experiment_(experiment), device_(device) {}

  void fit(std::span<const mk_fit> fits, const mk_fit_sink& sink) {
    for (uint32_t k = 0; k < fits.size(); ++k) {
      if (fits[k].done != 0) continue;
      if (sink.cancelled(sink.self) != 0) throw Error(MK_CANCELLED, "stopped");
      fit_one(k, fits[k], sink);
      sink.progress(sink.self, "fits", static_cast<double>(k + 1) / static_cast<double>(fits.size()));
    }
  }

  std::unique_ptr<Fitted> refit(const mk_fit& fit, const mk_fit_sink& sink) {
    auto fitted = std::make_unique<Fitted>(timed_train(fit));
    if (!fitted->finite()) throw Error(MK_INVALID_ARGUMENT, "the class means overflow: scale the data");
    mk_fit_result result{};
    result.note = "";
    sdk::call(sink.report, sink.self, &result);
    return fitted;
  }

 private:
  Fitted timed_train(const mk_fit& fit) const {
    const auto phase = device_.phase("train");  // appears as a line of --profile
    return train(experiment_, fit);
  }

  void fit_one(uint32_t index, const mk_fit& fit, const mk_fit_sink& sink) const {
    const Fitted fitted = timed_train(fit);
    const auto phase = device_.phase("validate");
    const mk_data& data = *experiment_.train;
    const mk_sample& sample = experiment_.samples[fit.bootstrap];
    std::vector<float> x;
    std::vector<int32_t> labels;
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < sample.places; ++i) {
      if (!sdk::is_held_out(sample, i, fit.fold)) continue;
      const int64_t r = sample.row[i];
      x.insert(x.end(), data.x + r * data.features, data.x + (r + 1) * data.features);
      labels.push_back(data.labels[r]);
      rows.push_back(r);
    }
    std::vector<int32_t> predicted(labels.size());
    fitted.predict(device_, x.data(), static_cast<int64_t>(labels.size()), predicted.data(), nullptr);
    double errors = 0;
    for (size_t r = 0; r < labels.size(); ++r) errors += predicted[r] != labels[r] ? 1 : 0;
    const auto n = static_cast<double>(labels.size());
    const std::array<double, 2> values = {errors, n == 0 ? 0 : errors / n};
    const mk_validated validated{labels.data(), predicted.data(), nullptr, 0, MK_SCORES_UNKNOWN, rows.data(), nullptr};
    mk_fit_result result{};
    result.index = index;
    result.n = static_cast<int64_t>(labels.size());
    result.validated = sink.wants_validated != 0 ? &validated : nullptr;
    result.status = fitted.finite() ? MK_FIT_OK : MK_FIT_FAILED;
    result.n_values = fitted.finite() ? 2 : 0;
    result.values = values.data();
    result.note = fitted.finite() ? "" : "the class means overflow: scale the data";
    sdk::call(sink.report, sink.self, &result);
  }

  const mk_experiment& experiment_;
  sdk::Device device_;
};

struct Model {
  using Session = ::Session;
  using Fitted = ::Fitted;
  static constexpr const auto& params = kParams;
  static constexpr const auto& metrics = kMetrics;
  static constexpr bool seedless = true;
  static constexpr mk_validated_kind validated = MK_VALIDATED_CLASSES;

  // Checks what the schema cannot express.
  static void check(const mk_experiment& experiment) {
    if (experiment.train->labels == nullptr || experiment.train->n_classes == 0)
      throw Error(MK_BAD_DATA, "template classifies, but this data set has no classes");
  }

  // Makes each fit a bundle, because fits share nothing here. Cost is in arbitrary units; bytes are device memory.
  static void bundle(const mk_experiment& experiment, uint32_t, const mk_bundle_sink& sink) {
    const mk_data& data = *experiment.train;
    const auto bytes =
        static_cast<uint64_t>((1024 + data.n_classes) * (data.features + data.n_classes)) * sizeof(float);
    for (uint32_t c = 0; c < experiment.n_candidates; ++c)
      for (uint32_t b = 0; b < experiment.n_bootstraps; ++b)
        for (uint32_t f = 0; sdk::has(experiment, c, b) && f < experiment.n_folds; ++f) {
          const mk_fit fit{c, static_cast<int32_t>(f), 0, b, nullptr, ""};
          const mk_bundle one{&fit, 1, 0, 1, bytes};
          sdk::call(sink.add, sink.self, &one);
        }
  }

  static int64_t features(const Fitted& fitted) { return fitted.features; }
  static int64_t scores_per_row(const Fitted& fitted) { return fitted.classes(); }
};

}  // namespace

MOKUME_MODEL(Model, "template", "nearest class mean: the smallest model, to copy")

// Provides small pictures with classes that networks learn quickly, and settings and sinks for training on them.
#pragma once

#include <unistd.h>

#include <filesystem>

#include "harness.hpp"
#include "train/stacked.hpp"
#include "train/training.hpp"

namespace mokume::cnn_test {

using namespace cnn;

inline constexpr int64_t kRows = 300;

// Generates noisy 6 x 6 images; the position of an image's bright quarter is its class.
struct Pictures {
  std::vector<float> x = random_floats(static_cast<size_t>(kRows) * 36, 9);
  std::vector<int32_t> labels;
  std::vector<float> targets;
  mk_data data{};

  explicit Pictures(bool regression = false) {
    for (int64_t r = 0; r < kRows; ++r) {
      const auto label = static_cast<int32_t>(r * 7 % 4);
      labels.push_back(label);
      targets.push_back(static_cast<float>(label) - 1.5F);
      for (int64_t p = 0; p < 9; ++p) {
        const int64_t row = p / 3 + 3 * (label / 2), column = p % 3 + 3 * (label % 2);
        x[static_cast<size_t>(r * 36 + row * 6 + column)] += 1;
      }
    }
    data.rows = kRows;
    data.features = 36;
    data.x = x.data();
    data.labels = regression ? nullptr : labels.data();
    data.targets = regression ? targets.data() : nullptr;
    data.n_classes = regression ? 0 : 4;
  }
};

// Holds the results of training.
struct Outcome {
  std::vector<float> parameters, result;  // parameters after the last step, and parameters of the fitted network
  std::vector<double> train_loss, validation_loss, train_accuracy;
  bool operator==(const Outcome&) const = default;
};

inline Outcome outcome_of(const Training& t) {
  const History& h = t.record().history;
  const bool best = t.record().rule.restore_best;
  return {t.engine().parameters().all(), (best ? t.engine().best() : t.engine().predicting()).all(), h.train_loss,
          h.validation_loss, h.train_accuracy};
}

inline std::ostream& operator<<(std::ostream& to, const Outcome& o) {
  const auto list = [&](const char* name, const auto& values) {
    to << " " << name;
    for (size_t k = 0; k < std::min<size_t>(values.size(), 4); ++k) to << " " << values[k];
  };
  list("parameters", o.parameters);
  list("losses", o.train_loss);
  list("validated", o.validation_loss);
  list("right", o.train_accuracy);
  return to;
}

inline Settings small_settings() {
  Settings s;
  s.layers = layers({conv2d(4, 3, 1, 1, true), relu(), max_pool2d(2, 2, 0), dropout(0.2), flatten(), linear(4, true)});
  s.epochs = 6;
  s.batch_size = 8;
  s.optimizer = {ops::Optimizer::adam, 0.01, 0, 0.9, 0.999, 1e-8};
  return s;
}

// Returns a residual network with every normalisation, and with branches that are joined.
inline Settings graph_settings() {
  Settings s = small_settings();
  s.layers = layers({called("stem", conv2d(4, 3, 1, 1, false)), batch_norm(), relu(), conv2d(4, 3, 1, 1, false),
                     called("main", batch_norm()), reading({"main", "stem"}, add()), called("sum", relu()),
                     called("pooled", max_pool2d(2, 2, 0)), called("small", reading({"sum"}, conv2d(3, 2, 2, 0, true))),
                     group_norm(3), reading({"pooled", "9"}, concat()), dropout(0.1), flatten(), layer_norm(),
                     linear(4, true)});
  return s;
}

inline TrainingTask task_of(const std::string& scratch = "") {
  TrainingTask t;
  t.seed = 11;
  for (int32_t r = 0; r < kRows; ++r) (r % 5 == 0 ? t.validate : t.train).push_back(r);
  t.scratch = scratch;
  t.fingerprint = "the fit";
  return t;
}

// Cancels after `patience` checks.
struct Sink {
  int patience;
  int signs = 0;  // number of progress reports
  std::vector<std::string> said = {};
  mk_fit_sink table() {
    return {this,
            [](void*, const mk_fit_result*, mk_error*) -> int32_t { return MK_OK; },
            [](void* self, const char* text, double) {
              ++static_cast<Sink*>(self)->signs;
              static_cast<Sink*>(self)->said.emplace_back(text);
            },
            [](void* self) -> int32_t { return static_cast<Sink*>(self)->patience-- == 0 ? 1 : 0; },
            0,
            0};
  }
};
inline constexpr int kNever = -1;

class Scratch {
 public:
  Scratch() : path_(std::filesystem::temp_directory_path() / ("mokume-cnn-training-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  std::string str() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace mokume::cnn_test

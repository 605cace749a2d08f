// Drives the svc plugin through its boundary, on a real device.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "device/device.hpp"
#include "registry/registry.hpp"
#include "scheduler/host_services.hpp"
#include "sdk/error.hpp"
#include "sdk/philox.hpp"
#include "support/cache.hpp"
#include "support/paths.hpp"

namespace mokume::svc_test {

// Counts C, gamma, kernel, degree, coef0, multiclass, tol, max_iterations, gamma_unit, class_weight, solver, epsilon,
// standardise_target, tighten, kind, nu, approximation, landmarks, landmark_seed and kernel_storage.
inline constexpr int kParams = 20;

inline const char* default_solver = "libsvm";

// Names a backend and a solver.
struct Way {
  const char* backend;
  const char* solver;
};
inline constexpr Way kWays[] = {{"host", "libsvm"}, {"opencl", "libsvm"}, {"host", "blocked"}, {"opencl", "blocked"}};
inline void PrintTo(const Way& way, std::ostream* out) { *out << way.solver << " on " << way.backend; }
inline std::string name_of_way(const testing::TestParamInfo<Way>& i) {
  return std::string(i.param.backend) + "_" + i.param.solver;
}

#define REQUIRE_DEVICE(world) \
  if (!(world).present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd"

struct Candidate {
  double c = 1, gamma = 0.1;
  const char* kernel = "rbf";
  int64_t degree = 3;
  double coef0 = 0;
  const char* multiclass = "ovr";
  double tol = 1e-3;
  int64_t max_iterations = 10'000'000;
  const char* gamma_unit = "one";
  const char* class_weight = "";
  const char* solver = default_solver;
  double epsilon = 0.1;
  bool standardise_target = false;
  bool tighten = false;
  const char* kind = "auto";
  double nu = 0.5;
  const char* approximation = "none";
  int64_t landmarks = 1000, landmark_seed = 0;
  const char* kernel_storage = "fp32";
};

// Generates overlapping blobs of `classes` classes. Each row has the next class, and folds are contiguous.
struct Blobs {
  int64_t rows, features;
  int32_t classes;
  std::vector<float> x;
  std::vector<int32_t> labels, fold_of;
  std::vector<float> targets, weights;  // with targets, the task is a regression
  std::vector<std::string> names;       // class names, in the order of the labels

  Blobs(int64_t n, int64_t d, int32_t k, uint32_t folds, double spread = 1.3) : rows(n), features(d), classes(k) {
    for (int64_t r = 0; r < n; ++r) {
      const auto label = static_cast<int32_t>(r % k);
      labels.push_back(label);
      if (r < k) names.push_back(std::to_string(10 * r + 1));
      fold_of.push_back(static_cast<int32_t>(r * folds / n));
      const sdk::Random centre(7, sdk::Purpose::digits, static_cast<uint32_t>(label));
      const sdk::Random noise(8, sdk::Purpose::digits, static_cast<uint32_t>(r));
      for (int64_t f = 0; f < d; ++f) {
        const auto i = static_cast<uint32_t>(f);
        double sum = 0;
        for (uint32_t t = 0; t < 4; ++t) sum += noise.uniform(4 * i + t) - 0.5;
        x.push_back(static_cast<float>(2 * centre.uniform(i) - 1 + spread * sum));
      }
    }
  }
};

// Returns the rows with the values of an RBF kernel between them as their features.
inline Blobs kernel_values(const Blobs& blobs, double gamma) {
  Blobs given = blobs;
  given.features = blobs.rows;
  given.x.clear();
  const auto row = [&](int64_t r) { return blobs.x.data() + r * blobs.features; };
  for (int64_t r = 0; r < blobs.rows; ++r)
    for (int64_t c = 0; c < blobs.rows; ++c) {
      const double distance = std::transform_reduce(row(r), row(r) + blobs.features, row(c), 0.0, std::plus<>(),
                                                    [](double a, double b) { return (a - b) * (a - b); });
      given.x.push_back(static_cast<float>(std::exp(-gamma * distance)));
    }
  return given;
}

struct Result {
  int32_t status = -1;
  int64_t n = 0;
  int64_t errors = -1;
  double value = -1;  // first metric
  std::string note;

  bool operator==(const Result&) const = default;
};
inline void PrintTo(const Result& r, std::ostream* out) {
  *out << "status " << r.status << ", " << r.errors << " of " << r.n << " wrong, '" << r.note << "'";
}
using Key = std::pair<uint32_t, int32_t>;  // candidate, fold
using Results = std::map<Key, Result>;

// Returns the choices from MOKUME_TEST_CHOICES, "key=value,key=value", overridden by the choices of a test.
inline device::Choices with_choices_to_test(device::Choices choices) {
  const char* given = std::getenv("MOKUME_TEST_CHOICES");
  std::istringstream text(given == nullptr ? "" : given);
  for (std::string one; std::getline(text, one, ',');)
    choices.emplace(one.substr(0, one.find('=')), one.substr(one.find('=') + 1));
  return choices;
}

// Holds the libraries and one open device.
class World {
 public:
  explicit World(const std::string& backend, uint32_t index = 0, uint64_t budget = uint64_t{2} << 30,
                 const device::Choices& choices = {})
      : host_(log_, 2, cache_.path()), registry_(host_.table(), {test::libraries()}) {
    log_.set_level(MK_LOG_ERROR);
    model_ = registry_.load(MK_PLUGIN_MODEL, "svc").model();
    const mk_backend* table = registry_.load(MK_PLUGIN_BACKEND, backend).backend();
    uint32_t count = 0;
    sdk::call(table->enumerate, table->self, static_cast<mk_device_info*>(nullptr), 0U, &count);
    std::vector<mk_device_info> infos(count);
    if (count > 0) sdk::call(table->enumerate, table->self, infos.data(), count, &count);
    if (index >= count) return;
    device_ =
        device::Device::open({backend, index, table, infos[index]}, with_choices_to_test(choices), budget, nullptr);
  }

  bool present() const { return device_ != nullptr; }
  // Adds all further warnings to `heard`, or all messages of another level and above.
  void hear_warnings(std::string& heard, mk_log_level level = MK_LOG_WARNING) {
    log_.set_level(level);
    log_.set_listener([&heard](mk_log_level, const std::string& line) { heard += line; });
  }
  const mk_model& model() const { return *model_; }
  device::Device& device() { return *device_; }

 private:
  test::CacheDirectory cache_;
  base::Log log_;
  scheduler::HostServices host_;
  registry::Registry registry_;
  const mk_model* model_ = nullptr;
  std::unique_ptr<device::Device> device_;
};

// Builds an experiment over blobs, as the program passes it to the model.
class Experiment {
 public:
  Experiment(const Blobs& blobs, const std::vector<Candidate>& candidates, uint32_t folds) {
    for (const Candidate& c : candidates) {
      mk_value v[kParams];
      v[0].real = c.c;
      v[1].real = c.gamma;
      v[2].text = c.kernel;
      v[3].integer = c.degree;
      v[4].real = c.coef0;
      v[5].text = c.multiclass;
      v[6].real = c.tol;
      v[7].integer = c.max_iterations;
      v[8].text = c.gamma_unit;
      v[9].text = c.class_weight;
      v[10].text = c.solver;
      v[11].real = c.epsilon;
      v[12].integer = c.standardise_target ? 1 : 0;
      v[13].integer = c.tighten ? 1 : 0;
      v[14].text = c.kind;
      v[15].real = c.nu;
      v[16].text = c.approximation;
      v[17].integer = c.landmarks;
      v[18].integer = c.landmark_seed;
      v[19].text = c.kernel_storage;
      values_.insert(values_.end(), v, v + kParams);
    }
    const bool regression = !blobs.targets.empty();
    if (!regression) names_ = blobs.names;
    for (const std::string& name : names_) name_pointers_.push_back(name.c_str());
    data_.rows = blobs.rows;
    data_.features = blobs.features;
    data_.x = blobs.x.data();
    data_.labels = regression ? nullptr : blobs.labels.data();
    data_.targets = regression ? blobs.targets.data() : nullptr;
    data_.weights = blobs.weights.empty() ? nullptr : blobs.weights.data();
    data_.n_classes = static_cast<int32_t>(names_.size());
    data_.class_names = name_pointers_.data();
    experiment_.struct_size = sizeof(mk_experiment);
    experiment_.n_candidates = static_cast<uint32_t>(candidates.size());
    experiment_.values = values_.data();
    experiment_.train = &data_;
    for (int64_t r = 0; r < blobs.rows; ++r) rows_.push_back(static_cast<uint32_t>(r));
    sample_ = {blobs.rows, rows_.data(), blobs.fold_of.data()};
    experiment_.samples = &sample_;
    experiment_.n_bootstraps = 1;
    experiment_.n_folds = folds;
  }
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  // Replaces the inputs by sparse rows, which must outlive this object.
  void use_sparse(const mk_data& rows) {
    data_.features = rows.features;
    data_.x = rows.x;
    data_.starts = rows.starts;
    data_.column = rows.column;
  }

  // Adds the inputs of test rows, which must outlive this object.
  void use_test(const Blobs& blobs) {
    test_.rows = blobs.rows;
    test_.features = blobs.features;
    test_.x = blobs.x.data();
    experiment_.test = &test_;
  }

  const mk_experiment* get() const { return &experiment_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<mk_value> values_;
  std::vector<std::string> names_;
  std::vector<const char*> name_pointers_;
  mk_data data_{}, test_{};
  std::vector<uint32_t> rows_;
  mk_sample sample_{};
  mk_experiment experiment_{};
};

// Holds a session and its reports.
class Session {
 public:
  // Sets the directories of the fits, DIRECTORY/CANDIDATE-FOLD, and what happens before each piece of work of a fit or
  // refit. The piece is the last one if `poll` returns true.
  std::string scratch;
  std::function<bool()> poll = [] { return false; };
  Results reported;  // reports of the last call of fit()

  Session(World& world, const Experiment& experiment) : Session(world, experiment, world.device().services()) {}
  Session(World& world, const Experiment& experiment, const mk_device_services* services) : world_(world) {
    const mk_model& m = world.model();
    sdk::call(m.session_create, m.self, experiment.get(), services, &session_);
  }
  ~Session() { world_.model().session_destroy(session_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Runs these fits; `done` contains the notes of finished fits.
  Results fit(const std::vector<Key>& keys, const std::map<Key, std::string>& done = {}) {
    std::vector<mk_fit> fits;
    std::vector<std::string> directories;
    for (const Key& k : keys) directories.push_back(directory_of(k));
    for (const Key& k : keys) {
      const auto found = done.find(k);
      fits.push_back({k.first, k.second, found != done.end() ? 1 : 0, 0,
                      found != done.end() ? found->second.c_str() : nullptr, directories[fits.size()].c_str()});
    }
    reported.clear();
    struct Context {
      const std::vector<Key>& keys;
      Session& session;
    } context{keys, *this};
    const mk_fit_sink sink{&context,
                           [](void* self, const mk_fit_result* r, mk_error* error) -> int32_t {
                             return sdk::guard(error, [&] {
                               auto& c = *static_cast<Context*>(self);
                               const Key key = c.keys.at(r->index);
                               Results& results = c.session.reported;
                               if (results.count(key) != 0) throw Error(MK_INTERNAL, "reported twice");
                               results[key] = {r->status, r->n,
                                               r->n_values > 0 ? static_cast<int64_t>(r->values[0]) : -1,
                                               r->n_values > 0 ? r->values[0] : -1, r->note};
                             });
                           },
                           [](void*, const char*, double) {},
                           [](void* self) -> int32_t { return static_cast<Context*>(self)->session.poll() ? 1 : 0; },
                           0,
                           0};
    sdk::call(world_.model().fit, session_, static_cast<const mk_fit*>(fits.data()), static_cast<uint32_t>(fits.size()),
              &sink);
    return reported;
  }

  mk_fitted* refit(uint32_t candidate) {
    const mk_fit_sink sink{this,
                           [](void*, const mk_fit_result*, mk_error*) -> int32_t { return MK_OK; },
                           [](void*, const char*, double) {},
                           [](void* self) -> int32_t { return static_cast<Session*>(self)->poll() ? 1 : 0; },
                           0,
                           0};
    mk_fitted* fitted = nullptr;
    const std::string directory = directory_of({candidate, MK_ALL_ROWS});
    const mk_fit fit{candidate, MK_ALL_ROWS, 0, 0, nullptr, directory.c_str()};
    sdk::call(world_.model().refit, session_, &fit, &sink, &fitted);
    return fitted;
  }

 private:
  std::string directory_of(const Key& key) const {
    return scratch.empty() ? "" : scratch + "/" + std::to_string(key.first) + "-" + std::to_string(key.second);
  }

  World& world_;
  mk_session* session_ = nullptr;
};

// Returns the files of a saved model. Reading their numbers gives the same bits.
inline std::string saved(World& world, const mk_fitted* fitted) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("mokume-svc-bits-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  sdk::call(world.model().save, fitted, folder.c_str());
  std::ostringstream all;
  for (const auto& file : std::set<std::filesystem::path>(std::filesystem::directory_iterator(folder),
                                                          std::filesystem::directory_iterator()))
    all << file.filename() << "\n" << std::ifstream(file).rdbuf();
  std::filesystem::remove_all(folder);
  return all.str();
}

inline std::vector<Key> all_fits(size_t candidates, uint32_t folds) {
  std::vector<Key> keys;
  for (uint32_t c = 0; c < candidates; ++c)
    for (uint32_t f = 0; f < folds; ++f) keys.emplace_back(c, static_cast<int32_t>(f));
  return keys;
}

}  // namespace mokume::svc_test

// Compares gradients and losses with PyTorch's for the same weights and batches: data/torch.safetensors, written by
// bench/peers/cnn_vectors.py.
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "forms.hpp"
#include "harness.hpp"
#include "sdk/ops.hpp"
#include "storage/safetensors.hpp"
#include "train/stacked.hpp"

namespace mokume::cnn_test {
namespace {

using namespace cnn;
namespace st = safetensors;

constexpr int64_t kTorchRows = 400, kBatch = 16, kEpochs = 4;

const st::Reader& vectors() {
  static const st::Reader reader(test::source_directory() + "/tests/cnn/data/torch.safetensors");
  return reader;
}

template <class T>
std::vector<T> read(const std::string& name) {
  const st::Tensor* tensor = vectors().find(name);
  EXPECT_NE(tensor, nullptr) << name;
  std::vector<T> values(tensor->bytes / sizeof(T));
  vectors().read(*tensor, values.data());
  return values;
}

nlohmann::json runs() { return nlohmann::json::parse(vectors().metadata().at("runs")); }

// Returns the parameters that PyTorch stored under `prefix`.
std::vector<float> parameters(const Network& network, const std::string& prefix) {
  std::vector<float> all(static_cast<size_t>(network.n_parameters));
  for (const Parameter& p : network.parameters) from_torch(p, read<float>(prefix + p.name).data(), 0, p.outputs, all);
  return all;
}

// Compares the gradients of the first batch, computed by a separate engine.
void compare_gradients(const sdk::Device& device, const ResidentData& resident, const Network& network,
                       const std::string& net) {
  std::vector<int32_t> order(kBatch);
  std::iota(order.begin(), order.end(), 0);
  const Engine engine(device, network, kBatch, true);
  engine.parameters().write(0, parameters(network, net + "/initial/"));
  engine.write_input(resident.host.x, kBatch);
  const ops::DropoutPlace place{};
  const mk_tensor out = engine.forward(kBatch, &place);
  const sdk::Buffer index = device.upload(order);
  const sdk::Buffer results = device.buffer<float>(2 * kBatch);
  const mk_tensor which = sdk::vector(index.get(), kBatch, 0, MK_I32), rows = sdk::matrix(results.get(), kBatch, 2);
  const Loss loss = resident.classifies ? Loss::cross_entropy : Loss::mse;
  device.submit(loss_op(loss, out, resident.targets(), which, 1.0 / kBatch, rows, engine.output_gradient(kBatch)));
  engine.backward(kBatch, place);
  const std::vector<float> gradient = engine.gradients().all();
  for (const Parameter& p : network.parameters) {
    if (!p.learned()) continue;
    const std::vector<float> theirs = read<float>(net + "/gradient/" + p.name);
    std::vector<float> ours(theirs.size());
    to_torch(p, gradient, 0, p.outputs, ours.data());
    double largest = 0;
    for (const float g : theirs) largest = std::max(largest, std::fabs(static_cast<double>(g)));
    for (size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], theirs[i], 1e-5 * largest) << p.name << " " << i;
  }
}

// Applies the script's settings of a run other than its network, optimizer and schedule.
void set_more(const nlohmann::json& more, bool regression, Settings& settings) {
  constexpr LossNumbers kNumbers{0, 2, 0.7, 0.3};
  LossNumbers numbers = kNumbers;
  numbers.label_smoothing = more.value("label_smoothing", 0.0);
  settings.loss_form = loss_form(more.value("loss", "auto"), numbers, !regression);
  settings.weighted = more.contains("weights") || more.contains("class_weight");
  settings.optimizer.clip = more.value("clip_grad_norm", 0.0);
  settings.ema_decay = more.value("ema_decay", 0.0);
  settings.accumulate = more.value("gradient_accumulation_steps", 1);
}

std::vector<float> row_weights(const nlohmann::json& more, const std::vector<int32_t>& labels) {
  std::vector<float> weights(kTorchRows, 1);
  if (more.contains("weights")) weights = read<float>("weights");
  if (more.contains("class_weight"))
    for (size_t r = 0; r < weights.size(); ++r)
      weights[r] *= more.at("class_weight").at(static_cast<size_t>(labels[r])).get<float>();
  return weights;
}

constexpr double kClose = 1e-4;

// Holds the course of 100 steps: the loss of each batch before its step, the parameters, and their average.
struct Course {
  std::vector<double> losses;
  std::vector<float> parameters, average;
};

// Holds the distance between courses from neighbouring starts: the relative distance of the losses up to each step, and
// of the moments at the end.
struct Spread {
  std::vector<double> losses = std::vector<double>(kEpochs * (kTorchRows / kBatch));
  double moments = 0;
};

class Comparison {
 public:
  Comparison(const World& world, const sdk::Device& device, const ResidentData& resident, const Network& network,
             const Settings& settings, const TrainingTask& task)
      : world_(world), device_(device), resident_(resident), network_(network), settings_(settings), task_(task) {}

  Course from(const std::vector<float>& start) const {
    Training training(world_.host(), device_, resident_, network_, settings_, task_);
    training.engine().parameters().write(0, start);
    Course course;
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
      run_epoch(training);
      for (int64_t b = 0; b < kTorchRows / kBatch; ++b)
        course.losses.push_back(training.score(b * kBatch, kBatch).loss);
    }
    course.parameters = training.engine().parameters().all();
    course.average = training.engine().predicting().all();
    return course;
  }

  // Trains three times, from weights that differ from `start` in their last bits. Training amplifies these differences
  // just as it amplifies the different roundings of two processors.
  Spread spread(const std::vector<float>& start, const Course& course) const {
    Spread result;
    for (size_t k = 0; k < 3; ++k) {
      std::vector<float> near = start;
      for (size_t i = 0; i < near.size(); ++i) near[i] = std::nextafter(near[i], (i >> k) % 2 == 0 ? 10.0F : -10.0F);
      const Course other = from(near);
      double largest = 0;
      for (size_t t = 0; t < course.losses.size(); ++t) {
        largest = std::max(largest, std::fabs(other.losses[t] - course.losses[t]) / course.losses[t]);
        result.losses[t] = std::max(result.losses[t], largest);
      }
      for (const Parameter& p : network_.parameters)
        for (size_t i = 0; !p.learned() && i < static_cast<size_t>(p.rows() * p.outputs); ++i) {
          const size_t at = static_cast<size_t>(p.offset) + i;
          const double moved = std::fabs(other.parameters[at] - course.parameters[at]);
          result.moments = std::max(result.moments, moved / std::max(1.0F, std::fabs(course.parameters[at])));
        }
    }
    return result;
  }

 private:
  const World& world_;
  const sdk::Device& device_;
  const ResidentData& resident_;
  const Network& network_;
  const Settings& settings_;
  const TrainingTask& task_;
};

void compare_average(const Network& network, const Course& course, const std::string& prefix) {
  const std::vector<float> theirs = parameters(network, prefix);
  EXPECT_NE(course.average, course.parameters);
  for (size_t i = 0; i < theirs.size(); ++i) ASSERT_NEAR(course.average[i], theirs[i], 2e-5) << i;
}

void compare_running_moments(const Network& network, const Course& course, const std::string& prefix, double allowed) {
  for (const Parameter& p : network.parameters) {
    if (p.learned()) continue;
    const std::vector<float> theirs = read<float>(prefix + p.name);
    std::vector<float> ours(theirs.size());
    to_torch(p, course.parameters, 0, p.outputs, ours.data());
    for (size_t i = 0; i < ours.size(); ++i)
      ASSERT_NEAR(ours[i], theirs[i], allowed * std::max(1.0F, std::fabs(theirs[i]))) << p.name << " " << i;
  }
}

// Returns the largest relative difference between two series, in units of the tolerance at each step.
double worst_step(const std::vector<double>& ours, const std::vector<float>& theirs, const Spread& spread) {
  double worst = 0;
  for (size_t t = 0; t < ours.size(); ++t) {
    const auto want = static_cast<double>(theirs[t]);
    worst = std::max(worst, std::fabs(ours[t] - want) / want / std::max(kClose, 10 * spread.losses[t]));
  }
  return worst;
}

// Losses and running moments agree within 1e-4 or, where training amplifies roundings beyond that, within ten times the
// distance that neighbouring starts have reached. Within the first tenth of the steps, that distance must stay below
// 1e-4.
void compare_course(const Comparison& comparison, const Network& network, const std::vector<float>& start,
                    const std::string& name, bool averages) {
  const std::vector<float> losses = read<float>("losses/" + name);
  const Course course = comparison.from(start);
  ASSERT_EQ(losses.size(), course.losses.size());
  Spread spread;
  if (worst_step(course.losses, losses, spread) >= 1) spread = comparison.spread(start, course);
  EXPECT_LT(spread.losses[losses.size() / 10], kClose) << "roundings grow too soon for a comparison";
  EXPECT_LT(worst_step(course.losses, losses, spread), 1);
  compare_running_moments(network, course, "running/" + name + "/", std::max(kClose, 10 * spread.moments));
  if (averages) compare_average(network, course, "average/" + name + "/");
}

class LikeTorch : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, LikeTorch, testing::Values("host", "opencl"),
                         [](const auto& i) { return std::string(i.param); });

TEST_P(LikeTorch, LossesOf100StepsAndTheFirstGradientsAgree) {
  const World world(GetParam());
  if (!world.present()) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd";
  const sdk::Device device = world.device();
  const std::vector<float> x = read<float>("x"), targets = read<float>("targets");
  const std::vector<int32_t> labels = read<int32_t>("labels");
  for (const nlohmann::json& run : runs()) {
    SCOPED_TRACE(run.at("name").get<std::string>());
    const std::string net = run.at("net");
    const bool regression = net == "regression";
    Settings settings;
    settings.layers = run.at("layers").dump();
    settings.loss = regression ? Loss::mse : Loss::cross_entropy;
    settings.epochs = kEpochs;
    settings.batch_size = kBatch;
    settings.shuffle = false;
    const OptimizerForm optimizer = optimizers().read(run.at("optimizer").dump());
    settings.optimizer = optimizer;
    settings.muon = optimizer.muon();
    settings.schedule = schedules().read(run.at("scheduler").dump());
    const nlohmann::json& more = run.at("more");
    set_more(more, regression, settings);
    const Shape shape = regression ? Shape{1, 1, 64, true} : Shape{8, 8, 1, false};
    const Network network = make_network(settings, shape, regression ? 1 : 3);

    mk_data data{};
    data.rows = kTorchRows;
    data.features = 64;
    data.x = x.data();
    data.labels = regression ? nullptr : labels.data();
    data.targets = regression ? targets.data() : nullptr;
    data.n_classes = regression ? 0 : 3;
    const ResidentData resident(device, data);
    TrainingTask task;
    for (int32_t r = 0; r < kTorchRows; ++r) task.train.push_back(r);
    if (settings.weighted) task.weights = row_weights(more, labels);
    compare_course(Comparison(world, device, resident, network, settings, task), network,
                   parameters(network, net + "/initial/"), run.at("name"), settings.ema_decay > 0);
    compare_gradients(device, resident, network, net);
  }
}

}  // namespace
}  // namespace mokume::cnn_test

// Measures images per second of training and inference of the published networks on one device, and prints one JSON
// line. bench/peers/cnn_torch.py alternates this program with PyTorch.
//
//   cnn_bench NETWORK BATCH train|epochs|infer|floor|together:N SECONDS [DEVICE [NUMERICS]]
//       NETWORK: guide, lightning or N,KERNEL,HIDDEN (see networks.hpp), or a file NAME.json with "input": [height,
//           width, channels] ([features] for rows), "layers" and "optimizer" with all their keys
//       floor: alternates training with passes over other memory that do only the minimum of every step: they read each
//           weight once, and then read and write the weight and its momentum. Prints the share of this minimum in a
//           step. The two alternate because the bandwidth of shared memory may double from one second to the next.
//       together: trains N networks in one stack, and counts the images of all networks
//       NUMERICS: fast (the default) or strict
//
// The images are generated and resident. Timing starts after a warm-up that builds the kernels.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bandwidth.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "device/device.hpp"
#include "forms.hpp"
#include "network/initial.hpp"
#include "networks.hpp"
#include "registry/registry.hpp"
#include "scheduler/host_services.hpp"
#include "sdk/error.hpp"
#include "sdk/ops.hpp"
#include "sdk/philox.hpp"
#include "train/stacked.hpp"

namespace {

using namespace mokume;
using namespace mokume::cnn;

constexpr int64_t kImages = 4096;

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Runs batches of each network, epoch after epoch.
int64_t run_in_epochs(std::span<Training* const> members, int64_t most) {
  const int64_t done = run_batches(members, most);
  for (Training* m : members)
    if (m->position().at_end_of_epoch()) m->end_epoch();
  return done;
}

// Returns the batches of each network per second, after a warm-up, with a wait about every 50 ms, as in training.
double batches_per_s(std::span<Training* const> members, double seconds) {
  constexpr double kWaitSeconds = 0.05;
  int64_t most = 4, batches = 0;
  double start = now_s(), warm = start + std::min(1.0, seconds / 2);
  bool warming = true;
  for (;;) {
    const double before = now_s();
    batches += run_in_epochs(members, most);
    const double now = now_s();
    if (now - before < kWaitSeconds) most = std::min(2 * most, kImages);
    if (warming && now > warm) warming = false, batches = 0, start = now;
    if (!warming && now - start > seconds) return static_cast<double>(batches) / (now - start);
  }
}

double train(const sdk::Host& host, const sdk::Device& device, const Network& network, const Settings& settings,
             const mk_data& data, double seconds) {
  const ResidentData resident(device, data);
  TrainingTask task;
  for (int32_t r = 0; r < kImages; ++r) task.train.push_back(r);
  Training training(host, device, resident, network, settings, task);
  Training* const alone[] = {&training};
  return static_cast<double>(settings.batch_size) * batches_per_s(alone, seconds);
}

double stacked(const sdk::Host& host, const sdk::Device& device, const Network& network, const Settings& settings,
               const mk_data& data, double seconds, int64_t count) {
  const ResidentData resident(device, data);
  StackMemory memory(device, count);
  std::vector<std::unique_ptr<Training>> trainings;
  std::vector<Training*> members;
  for (int64_t m = 0; m < count; ++m) {
    TrainingTask task;
    task.stream = static_cast<uint32_t>(m);
    for (int32_t r = 0; r < kImages; ++r) task.train.push_back(r);
    trainings.push_back(std::make_unique<Training>(host, device, resident, network, settings, task, &memory));
    memory.next_network();
    members.push_back(trainings.back().get());
  }
  return static_cast<double>(count * settings.batch_size) * batches_per_s(members, seconds);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Share {
  double step_s, floor_s;  // both are medians
  double share;            // median over the rounds
  bench::Bandwidth bandwidth;
};

Share share_of_floor(const sdk::Host& host, const sdk::Device& device, const Network& network, const Settings& settings,
                     const mk_data& data, double seconds) {
  constexpr double kProbeBytes = 2e9, kTurn_s = 0.25;
  bench::BandwidthProbe probe(kProbeBytes);
  const ResidentData resident(device, data);
  TrainingTask task;
  for (int32_t r = 0; r < kImages; ++r) task.train.push_back(r);
  Training training(host, device, resident, network, settings, task);
  Training* const alone[] = {&training};
  run_in_epochs(alone, 2);
  device.finish();
  const double bytes = 4 * static_cast<double>(network.n_parameters);
  std::vector<double> steps, floors, shares, reads, updates;
  bench::Bandwidth before = probe.pass();
  const double start = now_s();
  do {
    const double from = now_s();
    int64_t batches = 0;
    while (now_s() - from < kTurn_s) {
      batches += run_in_epochs(alone, 1);
      device.finish();
    }
    steps.push_back((now_s() - from) / static_cast<double>(batches));
    const bench::Bandwidth after = probe.pass();
    const auto floor_at = [bytes](const bench::Bandwidth& b) { return bytes / b.read + 4 * bytes / b.update; };
    floors.push_back((floor_at(before) + floor_at(after)) / 2);
    shares.push_back(floors.back() / steps.back());
    reads.push_back(after.read);
    updates.push_back(after.update);
    before = after;
  } while (now_s() - start < seconds);
  return {median(steps), median(floors), median(shares), {median(reads), median(updates)}};
}

// Measures whole epochs. Each epoch copies all images from host memory to the device again.
double epochs(const sdk::Host& host, const sdk::Device& device, const Network& network, const Settings& settings,
              const mk_data& data, double seconds) {
  const ResidentData resident(device, data);
  TrainingTask task;
  for (int32_t r = 0; r < kImages; ++r) task.train.push_back(r);
  Training training(host, device, resident, network, settings, task);
  Training* const alone[] = {&training};
  const int64_t batches = (kImages + settings.batch_size - 1) / settings.batch_size;
  double start = 0;
  int64_t images = 0;
  for (int turn = 0; turn < 2 || now_s() - start < seconds; ++turn) {
    if (turn == 1) start = now_s(), images = 0;
    resident.write_inputs();
    run_in_epochs(alone, batches);
    images += kImages;
  }
  return static_cast<double>(images) / (now_s() - start);
}

double infer(const sdk::Host& host, const sdk::Device& device, const Network& network, const Settings& settings,
             const mk_data& data, double seconds) {
  Engine engine(device, network, settings.batch_size, false);
  write_initial_values(host, network.parameters, 1, 0, engine.parameters());
  std::vector<float> out(static_cast<size_t>(settings.batch_size * network.outputs()));
  double start = 0;
  int64_t images = 0;
  for (int turn = 0; turn < 4 || now_s() - start < seconds; ++turn) {
    if (turn == 3) start = now_s(), images = 0;
    engine.write_input(data.x, settings.batch_size);
    engine.read(engine.predict(settings.batch_size), out.data());
    images += settings.batch_size;
  }
  return static_cast<double>(images) / (now_s() - start);
}

struct Case {
  Settings settings;
  Shape input;
};

Case published_or_file(const std::string& name) {
  if (!name.ends_with(".json")) return {settings_of(name), {28, 28, 1, false}};
  const auto file = nlohmann::json::parse(base::read_file(name));
  const auto sides = file.at("input").get<std::vector<int64_t>>();
  Case c;
  c.settings.layers = file.at("layers").dump();
  c.settings.optimizer = optimizers().read(file.at("optimizer").dump());
  c.input = sides.size() == 1 ? Shape{1, 1, sides[0], true} : Shape{sides.at(0), sides.at(1), sides.at(2), false};
  return c;
}

int run(int argc, char** argv) {
  if (argc < 5)
    throw Error(MK_INVALID_ARGUMENT,
                "usage: cnn_bench NETWORK BATCH train|epochs|infer|floor|together:N SECONDS [DEVICE [NUMERICS]]");
  auto [settings, input] = published_or_file(argv[1]);
  settings.batch_size = std::stoll(argv[2]);
  settings.epochs = 1'000'000;
  const Network network = make_network(settings, input, 10);
  base::Log log;
  scheduler::HostServices host(log, 2, base::cache_directory());
  registry::Registry registry(host.table(), {});
  const std::string backend = argc > 5 ? argv[5] : "opencl";
  const mk_backend* table = registry.load(MK_PLUGIN_BACKEND, backend).backend();
  mk_device_info info[8];
  uint32_t count = 0;
  sdk::call(table->enumerate, table->self, &info[0], 8U, &count);
  if (count == 0) throw Error(MK_DEVICE_ERROR, "no device of " + backend);
  // Uses, from the first step on, the variants to which long training switches.
  device::Choices choices = backend == "opencl" ? device::Choices{{"sequence", "always"}} : device::Choices{};
  if (argc > 6) choices["numerics"] = argv[6];
  const auto opened = device::Device::open({backend, 0, table, info[0]}, choices, uint64_t{20} << 30, nullptr);
  const sdk::Device device(opened->services());

  const sdk::Random random(7, sdk::Purpose::weights, 1);
  std::vector<float> x(static_cast<size_t>(kImages * input.elements()));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(random.uniform(static_cast<uint32_t>(i)) - 0.5);
  std::vector<int32_t> labels;
  for (int32_t r = 0; r < kImages; ++r) labels.push_back(r % 10);
  mk_data data{};
  data.rows = kImages;
  data.features = input.elements();
  data.x = x.data();
  data.labels = labels.data();
  data.n_classes = 10;
  const std::string what = argv[3];
  if (what == "floor") {
    const Share s = share_of_floor(sdk::Host(host.table()), device, network, settings, data, std::stod(argv[4]));
    std::printf(
        "{\"network\": \"%s\", \"batch\": %s, \"what\": \"floor\", \"parameters\": %lld, \"step_ms\": %.2f, "
        "\"floor_ms\": %.2f, \"share\": %.3f, \"read_gb_s\": %.1f, \"update_gb_s\": %.1f}\n",
        argv[1], argv[2], static_cast<long long>(network.n_parameters), 1e3 * s.step_s, 1e3 * s.floor_s, s.share,
        s.bandwidth.read / 1e9, s.bandwidth.update / 1e9);
    return 0;
  }
  const bool many = what.rfind("together:", 0) == 0;
  if (what != "train" && what != "epochs" && what != "infer" && !many)
    throw Error(MK_INVALID_ARGUMENT, "unknown work " + what);
  const auto measure = what == "train" ? train : what == "epochs" ? epochs : infer;
  const sdk::Host services(host.table());
  const double seconds = std::stod(argv[4]);
  const double rate = many ? stacked(services, device, network, settings, data, seconds,
                                     std::stoll(what.substr(sizeof("together:") - 1)))
                           : measure(services, device, network, settings, data, seconds);
  std::printf(
      "{\"network\": \"%s\", \"batch\": %s, \"what\": \"%s\", \"device\": \"%s\", \"parameters\": %lld, "
      "\"images_per_s\": %.1f}\n",
      argv[1], argv[2], argv[3], info[0].name, static_cast<long long>(network.n_parameters), rate);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

#include "nystrom/ascent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "ascent.embed.hpp"
#include "ascent_group.embed.hpp"
#include "ascent_vector.embed.hpp"
#include "native_loop.hpp"
#include "nystrom/ascent_native.hpp"
#include "sdk/ops.hpp"
#include "sdk/philox.hpp"
#include "shared_memory.hpp"
#include "solver.hpp"

namespace mokume::svc {
namespace {

constexpr int kMostPartial = 20;       // passes over active rows between two over all rows
constexpr float kPartialShare = 0.1F;  // such passes end at this share of the violation in all rows

// Returns the turns of a pass per launch: few enough that a launch on a card takes a fraction of a second, that native
// code finds the features of these rows in the cache for every machine, and that software that limits the iterations of
// a work-item (MK_DEVICE_SOFTWARE) finishes.
int32_t turns_per_launch(const mk_device_info& device, bool compiles, int64_t width) {
  if ((device.flags & MK_DEVICE_SOFTWARE) != 0)
    return static_cast<int32_t>(std::max<int64_t>(kFeatureUnit, 60'000 / (3 * width / kFeatureUnit + 16)));
  if (compiles && device.kind == MK_DEVICE_GPU) return 65'536;
  return 1024;
}

// Returns the number of weights that a work-item of a group owns. PoCL 3.1 gives wrong sums with a single one.
int64_t weights_each(int64_t width) { return std::max<int64_t>(2, width / kFeatureUnit); }

}  // namespace

uint64_t Ascent::bytes_of_place(int64_t rows, int64_t width) {
  return static_cast<uint64_t>(rows) * (sizeof(float) + sizeof(int8_t)) + static_cast<uint64_t>(width) * sizeof(float) +
         sizeof(AscentInts) + sizeof(AscentFloats) + sizeof(int32_t);
}

uint64_t Ascent::shared_bytes(int64_t rows, int64_t kinds) {
  return static_cast<uint64_t>(rows) * (2 * sizeof(float) + static_cast<uint64_t>(kinds) * sizeof(int8_t));
}

Ascent::Ascent(const sdk::Host& host, const sdk::Device& device, const RowOrder& order, const Features& features,
               int64_t problems, int64_t kinds, uint64_t reserve)
    : host_(host),
      device_(device),
      order_(order),
      features_(features),
      groups_(solves_in_groups(device, "svc.ascent")),
      program_(sdk::Program::build(
          device, "ascent", (std::string(kAscent) + (groups_ ? kAscent_group : kAscent_vector)).c_str(),
          (groups_ ? "-DEACH=" + std::to_string(weights_each(features.width())) : std::string()) +
              (order.regression() ? " -DREGRESSION=1" : ""))) {
  const int64_t n = order.rows(), width = features.width();
  const uint64_t used =
      Features::bytes(n, order.features(), features.most_landmarks()) + shared_bytes(n, kinds) + reserve;
  const uint64_t left = device.budget_bytes() - std::min(device.budget_bytes(), used);
  const auto in_memory = static_cast<int64_t>(left / bytes_of_place(n, width));
  const auto in_buffer = static_cast<int64_t>(device.info().max_buffer_bytes / sizeof(float)) / std::max(n, width);
  const auto count = static_cast<size_t>(std::max<int64_t>(1, std::min({problems, in_memory, in_buffer})));
  places_.resize(count);
  ints_.resize(count);
  floats_.resize(count);
  order_buffer_ = device.buffer<int32_t>(count);
  ints_buffer_ = device.buffer<AscentInts>(count);
  floats_buffer_ = device.buffer<AscentFloats>(count);
  signs_ = device.buffer<int8_t>(static_cast<uint64_t>(kinds * n));
  target_ = device.upload(order.padded(order.targets(), 0));
  weight_ = device.upload(order.padded(order.weights(), 1));
  multipliers_ = device.buffer<float>(count * static_cast<uint64_t>(n));
  active_ = device.buffer<int8_t>(count * static_cast<uint64_t>(n));
  weights_ = device.buffer<float>(count * static_cast<uint64_t>(width));
}

const Ascent::Signs& Ascent::signs_of(const BinaryProblem& problem) {
  const auto [known, fresh] = signs_of_.try_emplace({problem.positive, problem.negative});
  Signs& signs = known->second;
  if (!fresh) return signs;
  std::vector<int8_t> sign(static_cast<size_t>(order_.stride()));
  std::vector<int32_t> spans(2 * kMaxSpans, -1);
  mark_rows(order_, problem, sign.data(), spans.data());
  signs.row = static_cast<int32_t>(signs_of_.size()) - 1;
  signs.positive = std::count(sign.begin(), sign.end(), int8_t{1});
  signs.negative = std::count(sign.begin(), sign.end(), int8_t{-1});
  const auto n = static_cast<uint64_t>(order_.rows());
  device_.write(signs_, sign.data(), n, static_cast<uint64_t>(signs.row) * n);
  return signs;
}

// The bias of a machine with few or small multipliers would hardly move if it moved by their sum alone.
float Ascent::elastic_of(const AscentProblem& problem, const Signs& signs) const {
  const double diagonal = features_.basis().mean_diagonal > 0 ? features_.basis().mean_diagonal : 1;
  double most = problem.c * static_cast<double>(signs.positive);
  if (!order_.regression()) most = std::min(most, problem.c_minus * static_cast<double>(signs.negative));
  return static_cast<float>(most > 0 ? std::max(diagonal, 1 / most) : diagonal);
}

void Ascent::begin(size_t place, size_t number, const AscentProblem& problem) {
  const Signs& signs = signs_of(problem.rows);
  places_[place] = {number, 0, 0, 0, 0, true};
  ints_[place] = {signs.row, 1, 0, 1, 0};
  floats_[place] = {};
  floats_[place].c = static_cast<float>(problem.c);
  floats_[place].c_minus = static_cast<float>(problem.c_minus);
  floats_[place].epsilon = static_cast<float>(problem.epsilon);
  floats_[place].elastic = elastic_of(problem, signs);
  const auto at = static_cast<int64_t>(place);
  device_.submit(ops::fill(sdk::matrix(multipliers_.get(), 1, order_.rows(), 0, at * order_.rows()), 0.0F));
  device_.submit(ops::fill(sdk::matrix(weights_.get(), 1, features_.width(), 0, at * features_.width()), 0.0F));
}

// A pass visits the rows in steps of a number without a common divisor with their number, from a random row on.
void Ascent::draw_order(size_t place, int64_t seed) {
  const auto n = static_cast<uint64_t>(order_.rows());
  const auto pass = static_cast<uint64_t>(places_[place].pass);
  const sdk::Random random(static_cast<uint64_t>(seed), sdk::Purpose::batches);
  uint64_t step = 1 + random.below(2 * pass, n);
  while (std::gcd(step, n) != 1) ++step;
  ints_[place].step = static_cast<int32_t>(step);
  ints_[place].start = static_cast<int32_t>(random.below(2 * pass + 1, n));
}

void Ascent::solve(const std::vector<AscentProblem>& problems, int64_t seed,
                   const std::function<void(size_t, LinearMachine)>& done, const std::function<void()>& idle) {
  const auto phase = device_.phase("solve");
  size_t next = 0;
  while (true) {
    std::vector<int32_t> running;
    for (size_t place = 0; place < places_.size(); ++place) {
      if (!places_[place].used && next < problems.size()) {
        begin(place, next, problems[next]);
        ++next;
      }
      if (!places_[place].used) continue;
      draw_order(place, seed);
      running.push_back(static_cast<int32_t>(place));
    }
    if (running.empty()) return;
    run_pass(running, idle);
    for (const int32_t k : running) {
      const auto place = static_cast<size_t>(k);
      const size_t problem = places_[place].problem;
      if (auto machine = after_pass(place, problems[problem])) done(problem, std::move(*machine));
    }
  }
}

void Ascent::run_pass(const std::vector<int32_t>& running, const std::function<void()>& idle) {
  device_.write(order_buffer_, running.data(), running.size());
  device_.write(ints_buffer_, ints_.data(), ints_.size());
  device_.write(floats_buffer_, floats_.data(), floats_.size());
  const auto n = static_cast<int32_t>(order_.rows());
  const int32_t most = turns_per_launch(device_.info(), program_.has_value(), features_.width());
  for (int32_t first = 0; first < n; first += most) {
    idle();
    const int32_t count = std::min(most, n - first);
    if (!program_) {
      run_natively(running, first, count);
      continue;
    }
    const uint64_t local = groups_ ? kFeatureUnit : 1;
    program_->launch(groups_ ? "ascent_group" : "ascent_vector", running.size() * local, local, order_buffer_,
                     ints_buffer_, floats_buffer_, signs_, target_, weight_, features_.norms(), multipliers_, active_,
                     weights_, order_.rows(), features_.width(), first, count, features_.panel(0), features_.panel(1),
                     features_.panel(2), features_.panel(3), features_.panel(4), features_.panel(5), features_.panel(6),
                     features_.panel(7), static_cast<int32_t>(features_.panel_rows()));
  }
  device_.read(ints_buffer_, ints_.data(), ints_.size());
  device_.read(floats_buffer_, floats_.data(), floats_.size());
}

void Ascent::run_natively(const std::vector<int32_t>& running, int32_t first, int32_t count) {
  device_.finish();
  AscentArrays arrays{};
  arrays.ints = shared_memory<AscentInts>(device_, ints_buffer_.get());
  arrays.floats = device_.host_pointer<AscentFloats>(floats_buffer_);
  arrays.signs = device_.host_pointer<int8_t>(signs_);
  arrays.target = device_.host_pointer<float>(target_);
  arrays.weight = device_.host_pointer<float>(weight_);
  arrays.norms = device_.host_pointer<float>(features_.norms());
  arrays.multipliers = device_.host_pointer<float>(multipliers_);
  arrays.active = device_.host_pointer<int8_t>(active_);
  arrays.weights = device_.host_pointer<float>(weights_);
  for (int k = 0; k < kFeaturePanels; ++k) arrays.panels[k] = device_.host_pointer<float>(features_.panel(k));
  arrays.panel_rows = features_.panel_rows();
  arrays.rows = order_.rows();
  arrays.width = features_.width();
  const AscentFunction ascend = ascent_native(order_.regression());
  native_loop(host_, device_, "ascent_native", running.size(),
              [&](uint64_t k) { ascend(arrays, running[k], first, count); });
}

// The violations of LIBSVM's stopping rule lie in an interval of the length tol, whose middle is the bias, so half of
// it bounds the violation of each row here. The sum of the multipliers must be zero, up to what moves the bias as
// little.
std::optional<LinearMachine> Ascent::after_pass(size_t k, const AscentProblem& problem) {
  Place& place = places_[k];
  AscentInts& ints = ints_[k];
  AscentFloats& floats = floats_[k];
  ++place.pass;
  place.moves += ints.moved;
  const bool moved = std::exchange(ints.moved, 0) != 0;
  const auto open = static_cast<float>(problem.tol / 2);
  const float drift = floats.elastic * floats.sum, violation = floats.violation;
  const bool converged = ints.all != 0 && violation <= open && std::fabs(drift) <= open;
  const bool stuck = ints.all != 0 && !moved && floats.centre + drift == floats.centre;  // beyond float32
  const bool capped = !converged && (stuck || place.moves >= problem.most_moves);
  if (converged || capped || !std::isfinite(drift)) {
    LinearMachine machine;
    machine.bias = floats.centre + drift;
    machine.moves = place.moves;
    machine.capped = capped;
    machine.weights.resize(static_cast<size_t>(features_.width()));
    device_.read(weights_, machine.weights.data(), machine.weights.size(), k * machine.weights.size());
    place.used = false;
    return machine;
  }
  floats.centre += drift;
  floats.violation = 0;
  if (ints.all != 0) {
    place.target = std::max(open / 2, kPartialShare * violation);
    place.partial = 0;
    ints.all = 0;
  } else if (violation <= place.target || ++place.partial >= kMostPartial) {
    ints.all = 1;
  }
  return std::nullopt;
}

}  // namespace mokume::svc

#include "train/pipeline.hpp"

#include <algorithm>
#include <utility>

#include "train/clock.hpp"

namespace mokume::cnn {

void submit_queue(Training& training) {
  for (const mk_op& op : training.queue()) training.device().submit(op);
  training.clear_queue();
}

Pipeline::Pipeline(const sdk::Team& team, Training& training, const Placement& placement)
    : team_(team),
      training_(training),
      device_(training.device()),
      in_flight_(placement.parts[team.member()].in_flight) {
  const std::vector<uint32_t> members = placement.pipeline();
  const auto own = std::find(members.begin(), members.end(), team.member());
  has_layers_ = own != members.end();
  if (!has_layers_) return;
  followers_ = members.end() - own - 1;
  if (own != members.begin()) before_ = *(own - 1);
  if (followers_ > 0) after_ = *(own + 1);
}

double Pipeline::take_waited() { return std::exchange(waited_s_, 0); }

void Pipeline::run(const std::vector<ShardPass>& passes) {
  if (!has_layers_) return;
  const auto n = int64_t(passes.size()), ahead = std::min(n, followers_);
  for (int64_t k = 0; k < n + ahead; ++k) {
    if (k < n) {
      training_.engine().select(k % in_flight_);
      forward(passes[k]);
    }
    if (k < ahead) continue;
    training_.engine().select((k - ahead) % in_flight_);
    backward(passes[k - ahead]);
  }
}

void Pipeline::put(Training::Phase phase, const RowRange& rows) {
  const auto scope = device_.phase(Training::name(phase));
  training_.put(phase, rows);
  submit_queue(training_);
}

// Receives floats into room_.
void Pipeline::receive(uint32_t from, int64_t count) {
  const auto scope = device_.phase("wait");
  const double start = now_s();
  team_.receive(from, room_.room(device_.table(), count));
  waited_s_ += now_s() - start;
}

void Pipeline::take_input(int64_t rows) {
  receive(before_, rows * training_.engine().input_elements());
  training_.engine().write_input(room_.data(), rows);
}

void Pipeline::send_output(int64_t rows) {
  const auto scope = device_.phase("transfer");
  const std::span<float> values = room_.room(device_.table(), rows * training_.engine().output_elements());
  training_.engine().read_output(values.data(), rows);
  team_.send(after_, values);
}

void Pipeline::forward(const ShardPass& pass) {
  if (training_.engine().has_input())
    put(Training::Phase::load, pass.rows);
  else
    take_input(pass.rows.rows);
  put(Training::Phase::forward, pass.rows);
  if (!is_last()) send_output(pass.rows.rows);
}

void Pipeline::backward(const ShardPass& pass) {
  const Engine& engine = training_.engine();
  const int64_t rows = pass.rows.rows;
  if (!is_last() && engine.wants_output_gradient()) {
    receive(after_, rows * engine.output_elements());
    engine.write_output_gradient(room_.data(), rows);
  }
  {
    const auto scope = device_.phase(Training::name(Training::Phase::backward));
    training_.backward(pass.rows, *pass.to, pass.adds, [](const Layer&) {});
  }
  if (!engine.has_input_gradient()) return;
  const auto scope = device_.phase("transfer");
  const std::span<float> gradient = room_.room(device_.table(), rows * engine.input_elements());
  engine.read_input_gradient(gradient.data(), rows);
  team_.send(before_, gradient);
}

void Pipeline::meet() {
  const double start = now_s();
  float nothing = 0;
  team_.sum({&nothing, 1}, true);
  waited_s_ += now_s() - start;
}

void Pipeline::validate() {
  constexpr int64_t kBetweenMeetings = 32;
  const int64_t n = training_.validation_batches();
  for (int64_t first = 0; first < n; first += kBetweenMeetings) {
    if (has_layers_) validate(first, std::min(first + kBetweenMeetings, n));
    meet();
  }
}

void Pipeline::validate(int64_t begin, int64_t end) {
  // No member is further ahead of the next one, so that what waits for that one has a bound.
  constexpr int64_t kAhead = 4;
  const bool first = training_.engine().has_input();
  training_.engine().select(0);
  float done = 0;
  const auto wait_for_next = [&] {
    const double start = now_s();
    team_.receive(after_, {&done, 1});
    waited_s_ += now_s() - start;
  };
  for (int64_t k = begin; k < end; ++k) {
    const int64_t rows = training_.validation_range(k).rows;
    if (first)
      training_.load_validation(k);
    else
      take_input(rows);
    training_.validate(k);
    submit_queue(training_);
    if (!first) team_.send(before_, {&done, 1});
    if (is_last()) continue;
    if (k >= begin + kAhead) wait_for_next();
    send_output(rows);
  }
  for (int64_t k = begin; k < std::min(end, begin + kAhead) && !is_last(); ++k) wait_for_next();
}

}  // namespace mokume::cnn

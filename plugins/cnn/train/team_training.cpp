#include "train/team_training.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <numeric>
#include <utility>

#include "train/checkpoint.hpp"

namespace mokume::cnn {
namespace {

constexpr int64_t kStepsPerMeeting = 8;

// Lists the leader's instructions to the other members at a meeting.
enum class Order { proceed = 0, save = 1, stop = 2 };

// Splits shards [first, end) of a batch into the fewest subtrees of the tree over all shards.
std::vector<Subtree> subtrees(int64_t first, int64_t end) {
  std::vector<Subtree> all;
  while (first < end) {
    const int64_t fits = std::bit_floor(uint64_t(end - first)),
                  size = first == 0 ? fits : std::min(fits, first & -first);
    all.push_back({first, size});
    first += size;
  }
  return all;
}

// Formats the shares of a step, each member's computing time per step, and the time for sums, when all members wait.
std::string times_text(const Shares& shares, double elapsed_s, const std::vector<double>& busy_s, int64_t steps) {
  constexpr size_t kShown = 8;
  const auto ms = [&](double seconds) {
    std::array<char, 32> text{};
    const double value = 1000 * seconds / std::max<int64_t>(1, steps);
    std::snprintf(text.data(), text.size(), value < 100 ? "%.3g" : "%.0f", value);
    return std::string(text.data());
  };
  std::string each;
  for (size_t m = 0; m < std::min(kShown, busy_s.size()); ++m) each += (m == 0 ? "" : "+") + ms(busy_s[m]);
  if (busy_s.size() > kShown) each += "+...";
  const std::string computed = ", shares " + text_of(shares) + " in " + each + " ms";
  if (busy_s.size() == 1) return computed;
  return computed + ", sums " + ms(std::max(0.0, elapsed_s - *std::max_element(busy_s.begin(), busy_s.end()))) + " ms";
}

// Calls body(first, count) for each sum that belongs to the gradients of a layer. A frozen layer has no sums.
template <class Body>
void in_buckets(const Layer& layer, Body&& body) {
  if (layer.frozen) return;
  sdk::Team::in_buckets(layer.first_parameter, layer.n_parameters, body);
}

// Does the same for all layers, from the last to the first.
template <class Body>
void in_buckets(const Network& network, Body&& body) {
  std::for_each(network.stages.rbegin(), network.stages.rend(), [&](const Layer* s) { in_buckets(*s, body); });
}

std::vector<double> speeds_of(const sdk::Team& team) {
  std::vector<double> speeds;
  for (uint32_t m = 0; m < team.members(); ++m) speeds.push_back(team.speed(m));
  return speeds;
}

}  // namespace

Settings settings_for(Settings settings, const sdk::Team& team, int64_t begun_with) {
  const Parallel& p = settings.parallel;
  if (!team.alone() && p.kind == Parallel::Kind::none)
    throw Error(MK_INVALID_ARGUMENT, "a team of " + std::to_string(team.members()) +
                                         " devices cannot train this network: set model_options.parallel to "
                                         "synchronous or local_sgd, or [devices] team to false");
  if (p.kind != Parallel::Kind::synchronous || !p.per_device()) return settings;
  const int64_t members = begun_with > 0 ? begun_with : team.members();
  settings.batch_size *= members;
  if (p.scale_lr)
    for (double* rate : {&settings.optimizer.lr, &settings.muon.lr, &settings.schedule.max_lr,
                         &settings.schedule.eta_min, &settings.schedule.min_lr})
      *rate *= members;
  return settings;
}

int64_t begun_with(const sdk::Host& host, const Settings& given, const sdk::Team& team, const TrainingTask& task) {
  if (given.parallel.kind != Parallel::Kind::synchronous || !given.parallel.per_device()) return 0;
  const int64_t batch = team.leads() ? checkpoint_batch(host, task.scratch, task.fingerprint) : 0;
  const bool possible = batch % given.batch_size == 0 && batch <= int64_t(task.train.size());
  return from_leader(team, possible ? batch / given.batch_size : 0);
}

TeamTraining::TeamTraining(const sdk::Team& team, Training& training, const mk_fit_sink& sink)
    : team_(team),
      training_(training),
      device_(training.device()),
      parallel_(training.settings().parallel),
      sink_(sink),
      network_(training.network()),
      position_(training.position()),
      speeds_(speeds_of(team)),
      backoff_(team.members()),
      recorded_(team),
      shares_(split(parallel_.shards, speeds_.now())) {
  if (local()) position_.workers = team_.members();
}

void TeamTraining::run() {
  restore();
  // Saves the batch size, which resumed training needs.
  if (parallel_.per_device() && team_.leads() && !team_.alone() && position_.batches_begun() == 0) training_.save();
  save_timer_.begin();
  met_at_ = now_s();
  if (!training_.at_end()) training_.begin_epoch();
  note_shares();
  while (!training_.at_end()) {
    repeat_shares();
    local() ? local_round() : synchronous_step();
    if (position_.at_end_of_epoch()) {
      end_epoch();
      if (!training_.at_end()) training_.begin_epoch();  // checkpoints are never between epochs
    }
    if (++since_meeting_ < (local() ? 1 : kStepsPerMeeting) && !training_.at_end()) continue;
    since_meeting_ = 0;
    device_.finish();
    meet();
  }
}

// Starts the period that the next account covers.
void TeamTraining::note_shares() {
  since_ = "epoch " + std::to_string(position_.epoch + 1) + ", batch " + std::to_string(position_.batch + 1);
  split_ = text_of(shares());
}

// Applies the shares of the recorded run.
void TeamTraining::repeat_shares() {
  const Shares* recorded = recorded_.at(position_.epoch, position_.batch);
  if (recorded == nullptr || *recorded == shares_) return;
  const int64_t units = std::accumulate(recorded->begin(), recorded->end(), int64_t{0});
  if (!local() && units != parallel_.shards)
    throw Error(MK_INVALID_ARGUMENT, "the split to be repeated, " + text_of(*recorded) + ", has " +
                                         std::to_string(units) + " shards, but this training has " +
                                         std::to_string(parallel_.shards));
  shares_ = *recorded;
  note_shares();
}

// Returns each member's number of shards in a batch, or of batches in a round.
Shares TeamTraining::shares() const {
  if (!local() || recorded_.any()) return shares_;
  return split(parallel_.period_of(position_.epoch) * team_.members(), speeds_.now());
}

RowRange TeamTraining::share_of(const Shares& shares) const {
  const auto mine = shares.begin() + team_.member();
  return {std::accumulate(shares.begin(), mine, int64_t{0}), *mine};
}

// Distributes another number of units in the same proportions. Uses shares, because speeds are not recorded.
RowRange TeamTraining::share_of(const Shares& shares, int64_t units) const {
  return share_of(split(units, {shares.begin(), shares.end()}));
}

// Continues from the leader's checkpoint on all members.
void TeamTraining::restore() {
  training_.restore();
  position_.epoch = from_leader(team_, position_.epoch);
  position_.batch = from_leader(team_, position_.batch);
  if (position_.batches_begun() == 0) return;  // all members start with the same weights
  share_reductions();
  share_state();
  if (team_.leads()) mine_ = {{0, position_.rows_done()}};
}

// Sends the leader's number, because only the leader may have the losses that lower the rate.
void TeamTraining::share_reductions() {
  if (training_.settings().schedule.kind == Schedule::Kind::reduce_on_plateau)
    position_.reductions = from_leader(team_, position_.reductions);
}

template <class Body>
void TeamTraining::for_each_state(const Body& body) {
  if (team_.alone()) return;
  for (const auto& [name, vector] : training_.engine().state())
    for_each_chunk(vector->layout().elements(), [&, &all = *vector](int64_t first, int64_t count) {
      body(all, first, room_.room(device_.table(), count));
    });
}

// Sends the leader's weights and states to all members, because only the leader has a checkpoint, and because rounding
// differences between unequal devices would accumulate. Devices of one class have equal values anyway.
void TeamTraining::share_state() {
  for_each_state([&](const ParameterVector& all, int64_t first, std::span<float> room) {
    if (team_.leads()) all.read(first, room);
    team_.from_leader(room);
    if (!team_.leads()) all.write(first, room);
  });
}

// Averages the weights and the optimizer's states, so that a checkpoint describes one network for any devices.
void TeamTraining::average(double weight) {
  const auto scope = device_.phase("reduce");
  for_each_state([&](const ParameterVector& all, int64_t first, std::span<float> room) {
    if (&all == &training_.engine().best()) return;  // equal on all members
    if (weight > 0) all.read(first, room);
    for (float& v : room) v *= weight;
    team_.sum(room, weight == 0);
    all.write_moving(first, room);  // rounding would change frozen parameters
  });
}

void TeamTraining::flush() {
  for (const mk_op& op : training_.queue()) device_.submit(op);
  training_.clear_queue();
}

void TeamTraining::put(Training::Phase phase, const RowRange& rows) {
  const auto scope = device_.phase(Training::name(phase));
  training_.put(phase, rows);
  flush();
}

// Describes a pass over one shard as part of the sum over a subtree. Each shard has its own forward and backward pass,
// so the bits of a shard do not depend on which members compute the others.
struct TeamTraining::Pass {
  RowRange rows;
  const ParameterVector* to;
  std::vector<Engine::Add> adds;  // applied after the pass
};

// Plans the passes that sum up the gradients of shards in `to`. Returns whether the shards have any rows.
bool TeamTraining::plan_passes(std::span<const RowRange> shards, const ParameterVector& to,
                               std::vector<Pass>& passes) const {
  if (shards.size() == 1) {
    if (shards.front().rows > 0) passes.push_back({shards.front(), &to, {}});
    return shards.front().rows > 0;
  }
  const auto first = shards.first(shards.size() / 2), second = shards.subspan(shards.size() / 2);
  if (!plan_passes(first, to, passes)) return plan_passes(second, to, passes);
  const ParameterVector& half = training_.engine().half(std::countr_zero(second.size()));
  if (plan_passes(second, half, passes)) passes.back().adds.push_back({&half, &to});
  return true;
}

void TeamTraining::run_pass(const Pass& pass, const Engine::Summed& summed) {
  put(Training::Phase::load, pass.rows);
  put(Training::Phase::forward, pass.rows);
  const auto scope = device_.phase(Training::name(Training::Phase::backward));
  training_.backward(pass.rows, *pass.to, pass.adds, summed);
}

void TeamTraining::synchronous_step() {
  const double start = now_s();
  const RowRange mine = share_of(shares_), batch = position_.range();
  compute_shards(mine.first, mine.first + mine.rows);
  busy_s_ += now_s() - start;
  units_ += mine.rows;
  ++steps_;
  rows_to_show_ += batch.rows;
  if (!team_.alone()) take_gradients();
  put(Training::Phase::step, {0, batch.rows});
  ++position_.batch;
}

// Computes the gradients of these shards and gives their sums to the team.
void TeamTraining::compute_shards(int64_t begin, int64_t end) {
  const RowRange batch = position_.range();
  const auto first_row = [&](int64_t shard) { return batch.rows * shard / parallel_.shards; };
  // Skips subtrees without rows. The gradients of all subtrees except the last wait in host memory until the member
  // gives each layer with all its blocks.
  std::vector<Subtree> given;
  std::vector<std::vector<Pass>> plans;
  const ParameterVector& gradients = training_.engine().gradients();
  for (const Subtree& tree : subtrees(begin, end)) {
    std::vector<RowRange> leaves;
    for (int64_t s = tree.first; s < tree.first + tree.size; ++s)
      leaves.push_back({first_row(s), first_row(s + 1) - first_row(s)});
    std::vector<Pass> passes;
    if (!plan_passes(leaves, gradients, passes)) continue;
    given.push_back(tree);
    plans.push_back(std::move(passes));
  }
  if (staged_.size() < given.size()) staged_.resize(given.size());
  for (size_t b = 0; b < plans.size(); ++b)
    for (const Pass& pass : plans[b]) {
      const bool whole = !team_.alone() && &pass == &plans[b].back();
      run_pass(pass, [&](const Layer& layer) {
        if (!whole) return;
        const std::span<float> all = staged_[b].room(device_.table(), network_.n_parameters);
        in_buckets(layer, [&](uint64_t first, uint64_t count) {
          gradients.read(first, all.subspan(first, count));
          if (b + 1 == plans.size()) give(first, count, given);
        });
      });
    }
  if (plans.empty() && !team_.alone()) in_buckets(network_, [&](uint64_t, uint64_t count) { team_.give(count, {}); });
  if (end > begin) mine_.push_back({batch.first + first_row(begin), first_row(end) - first_row(begin)});
}

void TeamTraining::give(int64_t first, int64_t count, const std::vector<Subtree>& trees) const {
  std::vector<mk_block> blocks;
  for (const Subtree& tree : trees)
    blocks.push_back({uint32_t(tree.first), uint32_t(tree.size), staged_[blocks.size()].data() + first});
  team_.give(count, blocks);
}

void TeamTraining::take_gradients() {
  const auto scope = device_.phase("reduce");
  in_buckets(network_, [&](uint64_t first, uint64_t count) {
    const std::span<float> room = room_.room(device_.table(), count);
    team_.take(room);
    training_.engine().gradients().write(first, room);
  });
}

void TeamTraining::local_round() {
  const double start = now_s();
  const int64_t first = position_.batch, most = parallel_.period_of(position_.epoch) * team_.members();
  const int64_t batches = std::min(position_.batches() - first, most);
  const RowRange mine = share_of(shares(), batches);
  int64_t rows = 0, all = 0;
  for (int64_t b = 0; b < batches; ++b) {
    position_.batch = first + b;
    const RowRange batch = position_.range();
    all += batch.rows;
    if (b < mine.first || b >= mine.first + mine.rows) continue;
    if (rows == 0) mine_.push_back({batch.first, 0});
    position_.step_of_epoch = first / team_.members() + b - mine.first;
    for (const Training::Phase phase : Training::kPhases) put(phase, {0, batch.rows});
    rows += batch.rows;
    mine_.back().rows = rows;
  }
  position_.batch = first + batches;
  device_.finish();
  busy_s_ += now_s() - start;
  units_ += mine.rows;
  ++steps_;
  rows_to_show_ += all;
  if (!team_.alone()) average(double(rows) / all);
}

// Sends the results of the first `rows` rows to all members. `mine` lists the rows whose results this member has.
void TeamTraining::gather(const Slice& results, int64_t rows, std::vector<RowRange>& mine) {
  if (team_.alone() || rows == 0) return;
  std::vector<float> values(2 * rows);
  for (const RowRange& r : mine) results.read(device_, values.data() + 2 * r.first, 2 * r.rows, 2 * r.first);
  team_.sum(values, mine.empty());
  results.write(device_, values.data(), values.size());
  mine.clear();
  if (team_.leads()) mine = {{0, rows}};  // exactly one member supplies these rows next time
}

void TeamTraining::end_epoch() {
  device_.finish();
  gather(training_.results(), position_.rows_done(), mine_);
  mine_.clear();
  const Shares shares = this->shares();  // must precede the end of the epoch, which may change them
  training_.end_epoch();
  const int64_t n = training_.validation_batches();
  const RowRange mine = share_of(shares, n);
  std::vector<RowRange> validated;
  {
    const auto scope = device_.phase("validate");
    const double start = now_s();
    for (int64_t k = mine.first; k < mine.first + mine.rows; ++k) {
      training_.put_validation(k);
      flush();
      validated.push_back(training_.validation_range(k));
    }
    device_.finish();
    busy_s_ += now_s() - start;
  }
  if (n > 0) gather(training_.validation_results(), training_.validation_rows(), validated);
  training_.end_validation();
  bool& stopped = training_.record().stopped;
  stopped = from_leader(team_, stopped) != 0;  // only the leader may have the history of earlier epochs
  if (training_.record().rule.restore_best && from_leader(team_, training_.record().is_best()) != 0)
    training_.keep_best();
  share_reductions();
  if (!training_.at_end()) share_state();
}

// Exchanges the busy times of all members and the order of the leader. All members draw the same conclusions, because
// they have the same numbers.
void TeamTraining::meet() {
  const size_t n = team_.members();
  std::vector<float> table(2 * n + 1);
  float* const row = table.data() + 2 * team_.member();
  const double start = now_s();
  // A single device never waits, so all of the time counts as its own.
  row[0] = n == 1 ? start - met_at_ : busy_s_;
  row[1] = units_;
  if (team_.leads() && !training_.at_end()) {
    const bool cancelled = sink_.cancelled(sink_.self) != 0;
    table.back() = float(cancelled ? Order::stop : save_timer_.due() ? Order::save : Order::proceed);
  }
  team_.sum(table);
  std::vector<double> seconds, units;
  for (size_t m = 0; m < n; ++m) {
    seconds.push_back(table[2 * m]);
    units.push_back(table[2 * m + 1]);
  }
  const double elapsed = now_s() - met_at_;
  const int64_t steps = std::exchange(steps_, 0);
  busy_s_ = 0, units_ = 0;
  // The account must precede the checkpoint: a run that repeats this one needs the shares used before the checkpoint.
  if (team_.leads()) team_.account(elapsed, seconds, units, split_, since_);
  const auto order = Order(int(table.back()));
  if (order != Order::proceed) {
    gather(training_.results(), position_.rows_done(), mine_);
    training_.save();
    save_timer_.saved(start);
  }
  if (order == Order::stop) throw Error(MK_CANCELLED, "stopped");
  met_at_ = now_s();
  if (parallel_.adapt && !recorded_.any()) adapt(units, seconds);
  if (training_.at_end()) return;
  note_shares();
  show(elapsed, seconds, steps);
}

void TeamTraining::adapt(const std::vector<double>& units, const std::vector<double>& seconds) {
  speeds_.measure(units, seconds);
  if (local() || team_.alone()) return;
  Shares next = split(parallel_.shards, speeds_.now());
  const auto tried = backoff_.next(shares_);
  if (tried && next[*tried] == 0) {
    --*std::max_element(next.begin(), next.end());
    next[*tried] = 1;
  }
  if (tried || is_better(next, shares_, speeds_.now())) shares_ = next;
}

void TeamTraining::show(double elapsed, const std::vector<double>& busy, int64_t steps) {
  const double now = now_s(), seconds = now - shown_at_;
  if (seconds < kShowSeconds || !team_.leads()) return;
  const bool first = std::exchange(shown_at_, now) == 0;
  Score recent;
  double loss = 0;
  for (auto r = mine_.rbegin(); r != mine_.rend() && recent.rows < 1024; ++r) {
    const Score s = training_.score(r->first, std::min<int64_t>(r->rows, 1024));
    loss += s.loss * s.rows;
    recent.hits += s.hits;
    recent.rows += s.rows;
  }
  const Record& record = training_.record();
  recent.loss = recent.rows > 0 ? loss / recent.rows : record.last_loss();
  const std::string text = progress_text(position_.epoch + 1, training_.settings().last_epoch(), recent,
                                         record.classifies, first ? 0 : std::exchange(rows_to_show_, 0) / seconds) +
                           "; " + std::to_string(team_.members()) + " devices" +
                           times_text(shares(), elapsed, busy, steps);
  sink_.progress(sink_.self, text.c_str(), training_.share_done());
}

}  // namespace mokume::cnn

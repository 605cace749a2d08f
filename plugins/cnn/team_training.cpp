#include "team_training.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <numeric>
#include <utility>

namespace mokume::cnn {
namespace {

constexpr int64_t kStepsPerLook = 8;  // at what the others and the user want

// What the leader tells the others at a look.
enum class Word { go_on = 0, save = 1, stop = 2 };

// Shards [first, end) of a batch as the fewest subtrees of the tree over all of them.
std::vector<Subtree> subtrees(int64_t first, int64_t end) {
  std::vector<Subtree> all;
  while (first < end) {
    const auto fits = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(end - first)));
    const int64_t size = first == 0 ? fits : std::min(fits, first & -first);
    all.push_back({first, size});
    first += size;
  }
  return all;
}

// The first unit of each member's share, and the end of the last.
std::vector<int64_t> bounds(const std::vector<int64_t>& shares) {
  std::vector<int64_t> at(shares.size() + 1);
  std::partial_sum(shares.begin(), shares.end(), at.begin() + 1);
  return at;
}

std::string text_of(const std::vector<int64_t>& shares) {
  std::string text;
  for (const int64_t s : shares) text += (text.empty() ? "" : "+") + std::to_string(s);
  return text;
}

// Who does how much of a step, and how long each computes in it: what is left of the step all wait for sums, if they
// are several.
std::string times_text(const std::vector<int64_t>& shares, double elapsed_s, const std::vector<double>& busy_s,
                       int64_t steps) {
  constexpr size_t kShown = 8;
  const auto ms = [&](double seconds) {
    std::array<char, 32> text{};
    const double value = 1000 * seconds / static_cast<double>(std::max<int64_t>(1, steps));
    std::snprintf(text.data(), text.size(), value < 100 ? "%.3g" : "%.0f", value);
    return std::string(text.data());
  };
  std::string each;
  for (size_t m = 0; m < std::min(kShown, busy_s.size()); ++m) each += (m == 0 ? "" : "+") + ms(busy_s[m]);
  if (busy_s.size() > kShown) each += "+...";
  const std::string computed = ", shares " + text_of(shares) + " in " + each + " ms";
  if (busy_s.size() == 1) return computed;
  const double busiest = *std::max_element(busy_s.begin(), busy_s.end());
  return computed + ", sums " + ms(std::max(0.0, elapsed_s - busiest)) + " ms";
}

// The bounds of something else in the same proportions: from shares, since they are what is recorded.
std::vector<int64_t> bounds_like(const std::vector<int64_t>& shares, int64_t units) {
  return bounds(split(units, {shares.begin(), shares.end()}));
}

// body(first, count) for each of the sums that the gradients of a stage go through.
template <class Body>
void in_buckets(const Stage& stage, Body&& body) {
  sdk::Team::in_buckets(
      static_cast<uint64_t>(stage.weight), static_cast<uint64_t>(stage.n_parameters),
      [&](uint64_t first, uint64_t count) { body(static_cast<int64_t>(first), static_cast<int64_t>(count)); });
}

}  // namespace

Settings settings_for(Settings settings, const sdk::Team& team, int64_t begun_with) {
  const Parallel& p = settings.parallel;
  if (!team.alone() && p.kind == Parallel::Kind::none)
    throw Error(MK_INVALID_ARGUMENT, "a team of " + std::to_string(team.members()) +
                                         " devices cannot train this network: set model_options.parallel to "
                                         "synchronous or local_sgd, or [devices] team to false");
  if (p.kind != Parallel::Kind::synchronous || !p.per_device) return settings;
  const int64_t members = begun_with > 0 ? begun_with : team.members();
  settings.batch_size *= members;
  if (p.scale_lr)
    for (double* rate : {&settings.optimizer.lr, &settings.schedule.max_lr, &settings.schedule.eta_min})
      *rate *= static_cast<double>(members);
  return settings;
}

int64_t begun_with(const sdk::Host& host, const Settings& given, const sdk::Team& team, const TrainingTask& task) {
  if (given.parallel.kind != Parallel::Kind::synchronous || !given.parallel.per_device) return 0;
  std::array<float, 1> members = {0};
  if (team.leads()) {
    const int64_t batch = checkpoint_batch(host, task.scratch, task.fingerprint);
    const bool possible = batch % given.batch_size == 0 && batch <= static_cast<int64_t>(task.train.size());
    members[0] = possible ? static_cast<float>(batch / given.batch_size) : 0;
  }
  team.from_leader(members);
  return static_cast<int64_t>(members[0]);
}

TeamTraining::TeamTraining(const sdk::Device& device, const sdk::Team& team, const Parallel& parallel,
                           Training& training, const mk_fit_sink& sink)
    : device_(device),
      team_(team),
      parallel_(parallel),
      training_(training),
      sink_(sink),
      network_(training.network()),
      speeds_([&] {
        std::vector<double> speeds;
        for (uint32_t m = 0; m < team.members(); ++m) speeds.push_back(team.speed(m));
        return speeds;
      }()),
      chances_(team.members()),
      recorded_(team) {
  if (parallel_.kind == Parallel::Kind::local_sgd) training_.share_steps(team_.members());
  shares_ = split(parallel_.shards, speeds_.now());
}

void TeamTraining::run() {
  const bool local = parallel_.kind == Parallel::Kind::local_sgd;
  restore();
  // So that whoever goes on knows its batch.
  if (parallel_.per_device && team_.leads() && !team_.alone() && training_.epoch() == 0 && training_.batch() == 0)
    training_.save();
  pace_.begin();
  heeded_at_ = now_s();
  if (!training_.at_end()) training_.begin_epoch();
  note_split();
  while (!training_.at_end()) {
    repeat_split();
    local ? local_round() : synchronous_step();
    if (training_.at_end_of_epoch()) {
      end_epoch();
      if (!training_.at_end()) training_.begin_epoch();  // a checkpoint lies within an epoch
    }
    if (++unheeded_ < (local ? 1 : kStepsPerLook) && !training_.at_end()) continue;
    unheeded_ = 0;
    device_.finish();
    heed();
  }
}

// What the next account is of.
void TeamTraining::note_split() {
  since_ = "epoch " + std::to_string(training_.epoch() + 1) + ", batch " + std::to_string(training_.batch() + 1);
  split_ = text_of(shares());
}

// Takes the split of the training that is repeated.
void TeamTraining::repeat_split() {
  const std::vector<int64_t>* recorded = recorded_.at(training_.epoch(), training_.batch());
  if (recorded == nullptr || *recorded == shares_) return;
  const int64_t units = std::accumulate(recorded->begin(), recorded->end(), int64_t{0});
  if (parallel_.kind == Parallel::Kind::synchronous && units != parallel_.shards)
    throw Error(MK_INVALID_ARGUMENT, "the split that is to be repeated, " + text_of(*recorded) + ", is of " +
                                         std::to_string(units) + " shards, and this training has " +
                                         std::to_string(parallel_.shards));
  shares_ = *recorded;
  note_split();
}

// Whose shards of a batch, or batches of a round, are whose.
std::vector<int64_t> TeamTraining::shares() const {
  if (parallel_.kind == Parallel::Kind::synchronous || recorded_.any()) return shares_;
  return split(parallel_.period_of(training_.epoch()) * team_.members(), speeds_.now());
}

// The leader's checkpoint is everybody's.
void TeamTraining::restore() {
  training_.restore();
  const auto low = [](int64_t n) { return static_cast<float>(n & 0xFFFFF); };
  const auto high = [](int64_t n) { return static_cast<float>(n >> 20); };
  std::array<float, 4> at = {high(training_.epoch()), low(training_.epoch()), high(training_.batch()),
                             low(training_.batch())};
  team_.from_leader(at);
  const auto number = [](float h, float l) { return (static_cast<int64_t>(h) << 20) + static_cast<int64_t>(l); };
  training_.go_to(number(at[0], at[1]), number(at[2], at[3]));
  if (training_.epoch() == 0 && training_.batch() == 0) return;  // all have begun with the same weights
  share_state();
  if (team_.leads()) mine_ = {{0, training_.rows_done()}};
}

// The leader's weights and states for everybody: after a restart, and so that roundings of unequal devices do not add
// up. Of one class all have the same.
void TeamTraining::share_state() {
  if (team_.alone()) return;
  for (const ParameterVector* vector : training_.engine().parameters_and_states())
    in_pieces(vector->layout().elements(), [&](int64_t first, int64_t count) {
      const std::span<float> room = room_.room(device_.table(), static_cast<uint64_t>(count));
      if (team_.leads()) vector->read(first, room);
      team_.from_leader(room);
      if (!team_.leads()) vector->write(first, room);
    });
}

void TeamTraining::flush() {
  for (const mk_op& op : training_.queue()) device_.submit(op);
  training_.clear_queue();
}

// What sums the shards of a subtree, shard by shard: each goes through forward and backward by itself, so that its bits
// do not depend on who computes the others.
struct TeamTraining::Pass {
  RowRange rows;
  const ParameterVector* to;
  std::vector<Engine::Add> adds;  // behind it
};

// Whether there are any rows.
bool TeamTraining::plan_passes(std::span<const RowRange> shards, const ParameterVector& to,
                               std::vector<Pass>& passes) const {
  if (shards.size() == 1) {
    if (shards.front().rows > 0) passes.push_back({shards.front(), &to, {}});
    return shards.front().rows > 0;
  }
  const auto first = shards.first(shards.size() / 2), second = shards.subspan(shards.size() / 2);
  if (!plan_passes(first, to, passes)) return plan_passes(second, to, passes);
  const ParameterVector& half = training_.engine().half(static_cast<size_t>(std::countr_zero(second.size())));
  if (plan_passes(second, half, passes)) passes.back().adds.push_back({&half, &to});
  return true;
}

void TeamTraining::run_pass(const Pass& pass, const std::function<void(const Stage&)>& summed) {
  for (const Training::Phase phase : {Training::Phase::load, Training::Phase::forward}) {
    const auto scope = device_.phase(Training::name(phase));
    training_.put(phase, pass.rows);
    flush();
  }
  const auto scope = device_.phase(Training::name(Training::Phase::backward));
  training_.backward(pass.rows, *pass.to, pass.adds, summed);
}

void TeamTraining::synchronous_step() {
  const double start = now_s();
  const int64_t rows = training_.rows_of_batch(), shards = parallel_.shards;
  const std::vector<int64_t> at = bounds(shares_);
  const int64_t begin = at[team_.member()], end = at[team_.member() + 1];
  const auto first_row = [&](int64_t shard) { return rows * shard / shards; };
  // Of subtrees with rows; all but the last wait in host memory until their stages can be given together.
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
      run_pass(pass, [&](const Stage& stage) {
        if (!whole) return;
        const std::span<float> all = staged_[b].room(device_.table(), static_cast<uint64_t>(network_.n_parameters));
        in_buckets(stage, [&](int64_t first, int64_t count) {
          gradients.read(first, all.subspan(static_cast<size_t>(first), static_cast<size_t>(count)));
          if (b + 1 == plans.size()) give(first, count, given);
        });
      });
    }
  if (plans.empty() && !team_.alone()) give_nothing();
  if (end > begin)
    mine_.push_back({training_.batch() * training_.batch_size() + first_row(begin), first_row(end) - first_row(begin)});
  meter_.busy_s += now_s() - start;
  meter_.units += end - begin;
  ++steps_;
  rows_to_show_ += rows;
  if (!team_.alone()) take_gradients();
  const auto scope = device_.phase(Training::name(Training::Phase::step));
  training_.put(Training::Phase::step);
  flush();
  training_.end_batch();
}

void TeamTraining::give(int64_t first, int64_t count, const std::vector<Subtree>& trees) const {
  std::vector<mk_block> blocks(trees.size());
  for (size_t k = 0; k < trees.size(); ++k)
    blocks[k] = {static_cast<uint32_t>(trees[k].first), static_cast<uint32_t>(trees[k].size),
                 staged_[k].data() + first};
  team_.give(static_cast<uint64_t>(count), blocks);
}

void TeamTraining::give_nothing() const {
  for (size_t k = network_.stages.size(); k-- > 0;)
    if (network_.stages[k].has_parameters())
      in_buckets(network_.stages[k], [&](int64_t, int64_t count) { team_.give(static_cast<uint64_t>(count), {}); });
}

void TeamTraining::take_gradients() {
  const auto scope = device_.phase("reduce");
  for (size_t k = network_.stages.size(); k-- > 0;) {
    if (!network_.stages[k].has_parameters()) continue;
    in_buckets(network_.stages[k], [&](int64_t first, int64_t count) {
      const std::span<float> room = room_.room(device_.table(), static_cast<uint64_t>(count));
      team_.take(room);
      training_.engine().gradients().write(first, room);
    });
  }
}

void TeamTraining::local_round() {
  const double start = now_s();
  const int64_t left = training_.batches() - training_.batch();
  const int64_t most = parallel_.period_of(training_.epoch()) * team_.members();
  const int64_t first = training_.batch(), batches = std::min(left, most);
  const std::vector<int64_t> at = bounds_like(shares(), batches);
  int64_t rows = 0, all = 0;
  for (int64_t b = 0; b < batches; ++b) {
    training_.go_to(training_.epoch(), first + b);
    all += training_.rows_of_batch();
    if (b < at[team_.member()] || b >= at[team_.member() + 1]) continue;
    training_.set_step(first / team_.members() + b - at[team_.member()]);
    for (const Training::Phase phase : Training::kPhases) {
      const auto scope = device_.phase(Training::name(phase));
      training_.put(phase);
      flush();
    }
    rows += training_.rows_of_batch();
  }
  if (rows > 0) mine_.push_back({(first + at[team_.member()]) * training_.batch_size(), rows});
  device_.finish();
  meter_.busy_s += now_s() - start;
  meter_.units += at[team_.member() + 1] - at[team_.member()];
  ++steps_;
  training_.go_to(training_.epoch(), first + batches);
  rows_to_show_ += all;
  if (!team_.alone()) average(static_cast<double>(rows) / static_cast<double>(all));
}

// The optimizer's states too: so a checkpoint is that of one network, and a restart may have other devices.
void TeamTraining::average(double weight) {
  const auto scope = device_.phase("reduce");
  for (const ParameterVector* vector : training_.engine().parameters_and_states())
    in_pieces(vector->layout().elements(), [&](int64_t first, int64_t count) {
      const std::span<float> room = room_.room(device_.table(), static_cast<uint64_t>(count));
      if (weight > 0) vector->read(first, room);
      for (float& v : room) v = static_cast<float>(weight * static_cast<double>(v));
      team_.sum(room, weight == 0);
      vector->write(first, room);
    });
}

// Every member's results of the places below `rows` for everybody; `mine`: those that are this member's.
void TeamTraining::gather(const Slice& results, int64_t rows, std::vector<RowRange>& mine) {
  if (team_.alone() || rows == 0) return;
  std::vector<float> values(static_cast<size_t>(2 * rows));
  for (const RowRange& r : mine)
    results.read(device_, values.data() + 2 * r.first, static_cast<uint64_t>(2 * r.rows),
                 static_cast<uint64_t>(2 * r.first));
  team_.sum(values, mine.empty());
  results.write(device_, values.data(), values.size());
  mine.clear();
  if (team_.leads()) mine = {{0, rows}};  // of what is gathered again later, one must give it
}

void TeamTraining::end_epoch() {
  device_.finish();
  gather(training_.results(), training_.rows_done(), mine_);
  mine_.clear();
  const std::vector<int64_t> shares = this->shares();  // of the epoch that ends
  training_.end_epoch();
  const int64_t n = training_.validation_batches();
  const std::vector<int64_t> at = bounds_like(shares, n);
  std::vector<RowRange> validated;
  {
    const auto scope = device_.phase("validate");
    const double start = now_s();
    for (int64_t k = at[team_.member()]; k < at[team_.member() + 1]; ++k) {
      training_.put_validation(k);
      flush();
      validated.push_back(training_.validation_range(k));
    }
    device_.finish();
    meter_.busy_s += now_s() - start;
  }
  if (n > 0) gather(training_.validation_results(), training_.validation_rows(), validated);
  training_.end_validation();
  std::array<float, 1> stopped = {training_.stopped() ? 1.0F : 0.0F};  // only the leader may know the epochs before
  team_.from_leader(stopped);
  training_.set_stopped(stopped[0] > 0);
  if (!training_.at_end()) share_state();
}

// Everybody learns how busy the others were and what the leader wants: from the same numbers all draw the same
// conclusions.
void TeamTraining::heed() {
  const size_t n = team_.members();
  std::vector<float> table(2 * n + 1);
  float* const row = table.data() + size_t{2} * team_.member();
  const double start = now_s();
  // Alone nothing is waited for, not even the device: all of the time is its own.
  row[0] = static_cast<float>(n == 1 ? start - heeded_at_ : meter_.busy_s);
  row[1] = static_cast<float>(meter_.units);
  if (team_.leads() && !training_.at_end()) {
    const bool cancelled = sink_.cancelled(sink_.self) != 0;
    table.back() = static_cast<float>(cancelled ? Word::stop : pace_.due() ? Word::save : Word::go_on);
  }
  team_.sum(table);
  std::vector<int64_t> units;
  std::vector<double> seconds, done;
  for (size_t m = 0; m < n; ++m) {
    seconds.push_back(static_cast<double>(table[2 * m]));
    done.push_back(static_cast<double>(table[2 * m + 1]));
    units.push_back(static_cast<int64_t>(done.back()));
  }
  const double elapsed = now_s() - heeded_at_;
  const int64_t steps = std::exchange(steps_, 0);
  meter_ = {};
  // Before the checkpoint: what lies before it must be known to whoever repeats it.
  if (team_.leads()) team_.account(elapsed, seconds, done, split_, since_);
  const auto word = static_cast<Word>(static_cast<int>(table.back()));
  if (word != Word::go_on) {
    gather(training_.results(), training_.rows_done(), mine_);
    training_.save();
    pace_.saved(start);
  }
  if (word == Word::stop) throw Error(MK_CANCELLED, "stopped");
  heeded_at_ = now_s();
  if (parallel_.adapt && !recorded_.any()) adapt(units, seconds);
  if (training_.at_end()) return;
  note_split();
  show(elapsed, seconds, steps);
}

void TeamTraining::adapt(const std::vector<int64_t>& units, const std::vector<double>& seconds) {
  speeds_.measure(units, seconds);
  if (parallel_.kind != Parallel::Kind::synchronous || team_.alone()) return;
  std::vector<int64_t> next = split(parallel_.shards, speeds_.now());
  const auto tried = chances_.next(shares_);
  if (tried && next[*tried] == 0) {
    --*std::max_element(next.begin(), next.end());
    next[*tried] = 1;
  }
  if (tried || is_better(next, shares_, speeds_.now())) shares_ = next;
}

void TeamTraining::show(double elapsed, const std::vector<double>& busy, int64_t steps) {
  const double now = now_s();
  if (now - shown_at_ < kShowSeconds || !team_.leads()) return;
  const double seconds = now - shown_at_;
  const bool first = shown_at_ == 0;
  shown_at_ = now;
  Score recent;
  double loss = 0;
  for (auto r = mine_.rbegin(); r != mine_.rend() && recent.rows < 1024; ++r) {
    const Score s = training_.score(r->first, std::min<int64_t>(r->rows, 1024));
    loss += s.loss * static_cast<double>(s.rows);
    recent.hits += s.hits;
    recent.rows += s.rows;
  }
  const std::vector<double>& before = training_.history().train_loss;
  double shown_loss = before.empty() ? 0 : before.back();
  std::array<char, 32> right{};
  if (recent.rows > 0) shown_loss = loss / static_cast<double>(recent.rows);
  if (recent.rows > 0 && training_.classifies())
    std::snprintf(right.data(), right.size(), ", %.1f %% right", 100 * recent.accuracy());
  std::array<char, 200> text{};
  const double rate = first ? 0 : static_cast<double>(std::exchange(rows_to_show_, 0)) / seconds;
  std::snprintf(text.data(), text.size(), "epoch %lld/%lld: loss %.4g%s, %.0f rows/s; %u devices",
                static_cast<long long>(training_.epoch() + 1), static_cast<long long>(training_.epochs()), shown_loss,
                right.data(), rate, team_.members());
  const std::string all = text.data() + times_text(shares(), elapsed, busy, steps);
  sink_.progress(sink_.self, all.c_str(), training_.share_done());
}

}  // namespace mokume::cnn

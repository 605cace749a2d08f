#include "train/team_training.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <utility>

#include "train/checkpoint.hpp"
#include "train/clock.hpp"

namespace mokume::cnn {
namespace {

constexpr int64_t kStepsPerMeeting = 8;

// Lists the leader's instructions to the other members at a meeting.
enum class Order { proceed = 0, save = 1, stop = 2 };

constexpr float kMore = 1;  // the leader's word to a member whose next piece of the state it wants

// Formats the split of a step, each member's computing time per step, and the time for sums, when all members wait.
std::string times_text(const std::string& split, double elapsed_s, const std::vector<double>& busy_s, int64_t steps) {
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
  const std::string computed = ", " + split + " in " + each + " ms";
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

TeamTraining::TeamTraining(const sdk::Team& team, Training& training, const Placement& placement, const Cut& cut,
                           const mk_fit_sink& sink)
    : team_(team),
      training_(training),
      device_(training.device()),
      placement_(placement),
      parallel_(training.settings().parallel),
      sink_(sink),
      network_(training.network()),
      position_(training.position()),
      pipeline_(team, training, placement),
      speeds_(cut.speeds.empty() ? speeds_of(team) : cut.speeds),
      backoff_(team.members()),
      recorded_(team),
      shares_(split(parallel_.shards, speeds_.now())),
      patience_(cut.patience) {
  if (local()) position_.workers = team_.members();
  if (placement_.in_layers() && placement_.pipeline().size() > 1)
    training_.engine().share_norm([this](std::span<float> values) { team_.sum(values); });
}

std::optional<Cut> TeamTraining::run() {
  restore();
  // Saves the batch size, which resumed training needs.
  if (parallel_.per_device() && !team_.alone() && position_.batches_begun() == 0) save();
  save_timer_.begin();
  met_at_ = now_s();
  if (!training_.at_end()) training_.begin_epoch();
  note_shares();
  while (!training_.at_end()) {
    repeat_shares();
    if (next_) return next_;
    local() ? local_round() : synchronous_step();
    if (position_.at_end_of_epoch()) {
      end_epoch();
      if (!training_.at_end()) training_.begin_epoch();  // checkpoints are never between epochs
    }
    if (++since_meeting_ < (local() ? 1 : kStepsPerMeeting) && !training_.at_end()) continue;
    since_meeting_ = 0;
    device_.finish();
    meet();
    if (next_) return next_;
  }
  if (placement_.in_layers()) collect_result();
  return {};
}

// Makes run() return for another cut. All members must call this function at once.
void TeamTraining::cut_anew(Cut next) {
  gather(training_.results(), {0, position_.rows_done()}, mine_);
  save();
  next_ = std::move(next);
}

// Starts the period that the next account covers.
void TeamTraining::note_shares() {
  since_ = "epoch " + std::to_string(position_.epoch + 1) + ", batch " + std::to_string(position_.batch + 1);
  split_ = placement_.in_layers() ? placement_.text() : text_of(shares());
}

// Applies the shares of the recorded run.
void TeamTraining::repeat_shares() {
  const Shares* recorded = recorded_.at(position_.epoch, position_.batch);
  if (placement_.in_layers()) {
    if (recorded != nullptr && *recorded != placement_.stages() && saves_) cut_anew({{}, *recorded});
    return;
  }
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
  const auto found = training_.find();
  saves_ = from_leader(team_, training_.keeps_checkpoints()) != 0;
  position_.epoch = from_leader(team_, position_.epoch);
  position_.batch = from_leader(team_, position_.batch);
  if (position_.batches_begun() == 0) return;  // all members start with the same weights
  share_reductions();
  for_each_state(training_.engine(),
                 [&](const std::string& name, const ParameterVector& to, int64_t first, int64_t count) {
                   const std::span<float> chunk = room_.room(device_.table(), count);
                   if (team_.leads()) found->read(name, first, chunk);
                   deliver(name, to, first, chunk);
                 });
  if (team_.leads()) mine_ = {{0, position_.rows_done()}};
  gathered_ = position_.rows_done();
}

// Writes the leader's chunk of a vector to the members that keep it.
void TeamTraining::deliver(const std::string& name, const ParameterVector& to, int64_t first, std::span<float> values) {
  if (placement_.is_shared(name)) {
    team_.from_leader(values);
    return to.write(first, values);
  }
  for (const Placement::Piece& piece : placement_.pieces(name, first, values.size())) {
    const std::span<float> part = values.subspan(piece.first - first, piece.count);
    float done = 0;
    if (team_.leads() && piece.member != 0) {
      team_.send(piece.member, part);
      team_.receive(piece.member, {&done, 1});  // so that no more than a piece waits in memory
    }
    if (piece.member != team_.member()) continue;
    if (!team_.leads()) team_.receive(0, part);
    to.write(piece.first, part);
    if (!team_.leads()) team_.send(0, {&done, 1});
  }
}

// Copies a piece of a vector to the leader, when the leader asks for it. Returns false if the leader wants no more.
bool TeamTraining::collect(const Placement::Piece& piece, const ParameterVector& from, std::span<float> to) {
  if (piece.member == 0) {
    from.read(piece.first, to);
  } else if (team_.leads()) {
    team_.send(piece.member, {&kMore, 1});
    team_.receive(piece.member, to);
  } else {
    float more = 0;
    team_.receive(0, {&more, 1});
    if (more != kMore) return false;
    from.read(piece.first, to);
    team_.send(0, to);
  }
  return true;
}

// Every member calls this function. The leader may need less than all pieces, if the checkpoint's directory is gone.
void TeamTraining::save() {
  if (!saves_) return;
  if (team_.leads()) {
    training_.save([&](const std::string& name, const ParameterVector& from, int64_t first, std::span<float> chunk) {
      for (const Placement::Piece& piece : placement_.pieces(name, first, chunk.size()))
        collect(piece, from, chunk.subspan(piece.first - first, piece.count));
    });
    const float enough = 0;
    for (uint32_t m = 1; m < team_.members(); ++m)
      if (placement_.has_pieces(m)) team_.send(m, {&enough, 1});
    return;
  }
  bool wanted = placement_.has_pieces(team_.member());
  for_each_state(training_.engine(),
                 [&](const std::string& name, const ParameterVector& from, int64_t first, int64_t count) {
                   for (const Placement::Piece& piece : placement_.pieces(name, first, count))
                     if (wanted && piece.member == team_.member())
                       wanted = collect(piece, from, room_.room(device_.table(), piece.count));
                 });
  float enough = 0;
  if (wanted) team_.receive(0, {&enough, 1});
}

// Gives the leader the parameters of all layers.
void TeamTraining::collect_result() {
  const auto scope = device_.phase("transfer");
  training_.engine().end_training();
  const ParameterVector& result = training_.result();
  std::vector<float> all(team_.leads() ? network_.n_parameters : 0);
  for_each_chunk(network_.n_parameters, [&](int64_t first, int64_t count) {
    for (const Placement::Piece& piece : placement_.pieces("parameters", first, count))
      if (team_.leads())
        collect(piece, result, std::span(all).subspan(piece.first, piece.count));
      else if (piece.member == team_.member())
        collect(piece, result, room_.room(device_.table(), piece.count));
  });
  training_.set_parameters(std::move(all));
}

// Sends the leader's number, because only the leader may have the losses that lower the rate.
void TeamTraining::share_reductions() {
  if (training_.settings().schedule.kind == Schedule::Kind::reduce_on_plateau)
    position_.reductions = from_leader(team_, position_.reductions);
}

template <class Body>
void TeamTraining::for_each_shared(const Body& body) {
  if (team_.alone()) return;
  for (const auto& [name, vector] : training_.engine().state()) {
    if (!placement_.is_shared(name)) continue;
    for_each_chunk(vector->layout().elements(), [&, &all = *vector](int64_t first, int64_t count) {
      body(all, first, room_.room(device_.table(), count));
    });
  }
}

// Sends the leader's weights and states to all members, because rounding differences between unequal devices would
// accumulate. Devices of one class have equal values anyway.
void TeamTraining::share_state() {
  for_each_shared([&](const ParameterVector& all, int64_t first, std::span<float> room) {
    if (team_.leads()) all.read(first, room);
    team_.from_leader(room);
    if (!team_.leads()) all.write(first, room);
  });
}

// Averages the weights and the optimizer's states, so that a checkpoint describes one network for any devices.
void TeamTraining::average(double weight) {
  const auto scope = device_.phase("reduce");
  for_each_shared([&](const ParameterVector& all, int64_t first, std::span<float> room) {
    if (&all == &training_.engine().best()) return;  // equal on all members
    if (weight > 0) all.read(first, room);
    for (float& v : room) v *= weight;
    team_.sum(room, weight == 0);
    all.write_moving(first, room);  // rounding would change frozen parameters
  });
}

void TeamTraining::put(Training::Phase phase, const RowRange& rows) {
  const auto scope = device_.phase(Training::name(phase));
  training_.put(phase, rows);
  submit_queue(training_);
}

void TeamTraining::run_pass(const ShardPass& pass, const Engine::Summed& summed) {
  put(Training::Phase::load, pass.rows);
  put(Training::Phase::forward, pass.rows);
  const auto scope = device_.phase(Training::name(Training::Phase::backward));
  training_.backward(pass.rows, *pass.to, pass.adds, summed);
}

void TeamTraining::synchronous_step() {
  const double start = now_s();
  const RowRange batch = position_.range();
  if (placement_.in_layers()) {
    pass_layers();
  } else {
    const RowRange mine = share_of(shares_);
    compute_shards(mine.first, mine.first + mine.rows);
    units_ += mine.rows;
  }
  busy_s_ += now_s() - start - pipeline_.take_waited();
  ++steps_;
  rows_to_show_ += batch.rows;
  if (!team_.alone() && !placement_.in_layers()) take_gradients();
  put(Training::Phase::step, {0, batch.rows});
  if (placement_.split == MK_SPLIT_STATES && position_.ends_step()) exchange_weights();
  ++position_.batch;
}

// Passes the shards of the batch through the layers of all members.
void TeamTraining::pass_layers() {
  const RowRange batch = position_.range();
  std::vector<ShardPass> passes;
  const Engine& engine = training_.engine();
  const std::vector<RowRange> shards = rows_of(Subtree{0, parallel_.shards}, batch.rows, parallel_.shards);
  plan_passes(engine, shards, engine.gradients(), passes);
  pipeline_.run(passes);
  pipeline_.meet();
  if (pipeline_.has_layers()) units_ += parallel_.shards;
  if (pipeline_.is_last()) mine_.push_back(batch);
}

// Sends the weights that this member has stepped to all members.
void TeamTraining::exchange_weights() {
  const auto scope = device_.phase("reduce");
  submit_queue(training_);
  const ParameterVector& weights = training_.engine().parameters();
  const auto in_pieces = [&](auto&& body) {
    for (uint32_t m = 0; m < team_.members(); ++m)
      sdk::Team::in_buckets(placement_.bounds[m], placement_.bounds[m + 1] - placement_.bounds[m],
                            [&](uint64_t first, uint64_t count) {
                              body(first, room_.room(device_.table(), count), m == team_.member());
                            });
  };
  in_pieces([&](int64_t first, std::span<float> room, bool mine) {
    if (mine) weights.read(first, room);
    const mk_block block{0, 1, room.data()};
    team_.give(room.size(), std::span(&block, mine ? 1 : 0));
  });
  in_pieces([&](int64_t first, std::span<float> room, bool mine) {
    team_.take(room);
    if (!mine) weights.write(first, room);
  });
  training_.engine().follow(position_.step() + 1);
  submit_queue(training_);
}

// Computes the gradients of these shards and gives their sums to the team.
void TeamTraining::compute_shards(int64_t begin, int64_t end) {
  const RowRange batch = position_.range();
  const auto first_row = [&](int64_t shard) { return batch.rows * shard / parallel_.shards; };
  // Skips subtrees without rows. The gradients of all subtrees except the last wait in host memory until the member
  // gives each layer with all its blocks.
  std::vector<Subtree> given;
  std::vector<std::vector<ShardPass>> plans;
  const ParameterVector& gradients = training_.engine().gradients();
  for (const Subtree& tree : subtrees(begin, end)) {
    std::vector<ShardPass> passes;
    if (!plan_passes(training_.engine(), rows_of(tree, batch.rows, parallel_.shards), gradients, passes)) continue;
    given.push_back(tree);
    plans.push_back(std::move(passes));
  }
  if (staged_.size() < given.size()) staged_.resize(given.size());
  for (size_t b = 0; b < plans.size(); ++b)
    for (const ShardPass& pass : plans[b]) {
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

// Sends the results of these rows to all members. `mine` lists the rows whose results this member has; it then lists
// the rows up to the last one on the leader, so that exactly one member supplies these rows next time.
void TeamTraining::gather(const Slice& results, const RowRange& rows, std::vector<RowRange>& mine) {
  const int64_t end = rows.first + rows.rows;
  if (team_.alone() || end == 0) return;
  if (rows.rows > 0) {
    std::vector<float> values(2 * rows.rows);
    for (const RowRange& r : mine) {
      const int64_t first = std::max(r.first, rows.first), count = std::min(r.first + r.rows, end) - first;
      if (count > 0) results.read(device_, values.data() + 2 * (first - rows.first), 2 * count, 2 * first);
    }
    team_.sum(values, mine.empty());
    results.write(device_, values.data(), values.size(), 2 * rows.first);
  }
  mine.clear();
  if (team_.leads()) mine = {{0, end}};
}

// Computes the losses of the validation rows, and sends them to all members.
void TeamTraining::validate(const Shares& shares) {
  const auto scope = device_.phase("validate");
  const double start = now_s();
  const int64_t n = training_.validation_batches(), rows = training_.validation_rows();
  std::vector<RowRange> validated;
  if (placement_.in_layers()) {
    pipeline_.validate();
    if (pipeline_.is_last()) validated = {{0, rows}};
  } else {
    const RowRange mine = share_of(shares, n);
    for (int64_t k = mine.first; k < mine.first + mine.rows; ++k) {
      training_.put_validation(k);
      submit_queue(training_);
      validated.push_back(training_.validation_range(k));
    }
  }
  device_.finish();
  busy_s_ += now_s() - start - pipeline_.take_waited();
  if (n > 0) gather(training_.validation_results(), {0, rows}, validated);
}

void TeamTraining::end_epoch() {
  device_.finish();
  gather(training_.results(), {0, position_.rows_done()}, mine_);
  mine_.clear();
  gathered_ = 0;
  const Shares shares = this->shares();  // must precede the end of the epoch, which may change them
  training_.end_epoch();
  validate(shares);
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
  if (placement_.in_layers()) {
    gather(training_.results(), {gathered_, position_.rows_done() - gathered_}, mine_);
    gathered_ = position_.rows_done();
  }
  if (order != Order::proceed) {
    gather(training_.results(), {0, position_.rows_done()}, mine_);
    save();
    save_timer_.saved(start);
  }
  if (order == Order::stop) throw Error(MK_CANCELLED, "stopped");
  met_at_ = now_s();
  for (size_t m = 0; placement_.in_layers() && m < n && !placement_.costs.empty(); ++m)
    units[m] = placement_.costs[m] * double(parallel_.shards * steps);
  if (parallel_.adapt && !recorded_.any()) adapt(units, seconds);
  if (training_.at_end() || next_) return;
  note_shares();
  show(elapsed, seconds, steps);
}

void TeamTraining::adapt(const std::vector<double>& units, const std::vector<double>& seconds) {
  speeds_.measure(units, seconds);
  if (placement_.in_layers()) {
    if (++meetings_ < patience_ || !saves_ || training_.at_end()) return;
    patience_ *= 2;
    if (has_better_cut(placement_, speeds_.now(), network_, training_.settings()))
      cut_anew({speeds_.now(), {}, patience_});
    return;
  }
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
    const int64_t rows = std::min<int64_t>(r->rows, 1024);
    const Score s = training_.score(r->first + r->rows - rows, rows);
    loss += s.loss * s.rows;
    recent.hits += s.hits;
    recent.rows += s.rows;
  }
  const Record& record = training_.record();
  recent.loss = recent.rows > 0 ? loss / recent.rows : record.last_loss();
  const std::string text =
      progress_text(position_.epoch + 1, training_.settings().last_epoch(), recent, record.classifies,
                    first ? 0 : std::exchange(rows_to_show_, 0) / seconds) +
      "; " + std::to_string(team_.members()) + " devices" +
      times_text(placement_.in_layers() ? split_ : "shares " + text_of(shares()), elapsed, busy, steps);
  sink_.progress(sink_.self, text.c_str(), training_.share_done());
}

}  // namespace mokume::cnn

// Divides the launches of a sequence among the work-items of one launch (group/sequence.cpp). A work-item of one thread
// leads: it goes from launch to launch and publishes those of several work-items, from which the other threads, too,
// take work-items. The leader waits only for work-items that a running thread has taken. So the sequence ends even if
// the driver runs the threads one after the other: the first one leads and does everything, and the others do nothing.
#define LEADER_OF 0  // The turn that has a leader is here.
#define ENDED 16     // The turn that has ended is here.
#define DONE 32      // The number of finished work-items of the published launch is here.
#define PLACE 48     // The place of the published launch in the table is here.
#define LEFT(share) (64 + 16 * (share))

#if defined(__x86_64__)
#define PAUSE __builtin_ia32_pause()
#else
#define PAUSE
#endif

typedef struct {
  long first;   // place of the members in the table
  int turn;     // differs from that of the launch before
  int threads;  // number of threads that share the work of one member, or 1 for a thread for each member
} SequenceArgs;

typedef struct {
  __global const long* launch;
  long first, end;  // work-items; `end` is 0 before the first ones
  bool leads, shared;
} work_t;

static long items_of(__global const long* launch) { return launch[2] * launch[3] * launch[4]; }

// Takes a work-item of the published launch, if one is left. A thread begins with its own share, the same part of the
// range in every launch, so that it reads mostly what it wrote.
static bool take(work_t* work, const SequenceArgs args, __global const long* table, volatile __global int* state) {
  for (int k = 0; k < args.threads; ++k) {
    const int share = ((int)get_global_id(0) + k) % args.threads;
    if (state[LEFT(share)] <= 0) continue;
    const int left = atomic_dec(&state[LEFT(share)]);
    if (left <= 0) continue;
    work->launch = table + state[PLACE];
    work->first = items_of(work->launch) * (share + 1) / args.threads - left;
    work->end = work->first + 1;
    return true;
  }
  return false;
}

static void publish(const work_t* work, const SequenceArgs args, __global const long* table,
                    volatile __global int* state) {
  const long count = items_of(work->launch);
  state[PLACE] = (int)(work->launch - table);
  atomic_xchg(&state[DONE], 0);
  for (int share = 0; share < args.threads; ++share)
    atomic_xchg(&state[LEFT(share)],
                (int)(count * (share + 1) / args.threads - count * share / args.threads));
}

// Finds the leader's next work.
static bool lead(work_t* work, const SequenceArgs args, __global const long* table, volatile __global int* state) {
  for (;;) {
    if (work->shared) {
      if (take(work, args, table, state)) return true;
      while (state[DONE] < items_of(work->launch)) PAUSE;
      atomic_or(&state[DONE], 0);  // orders the reads that follow
    }
    if (work->end > 0) work->launch += work->launch[1];
    if (work->launch[0] == 0) {
      atomic_xchg(&state[ENDED], args.turn);
      return false;
    }
    work->first = 0;
    work->end = items_of(work->launch);
    work->shared = args.threads > 1 && work->end > 1;
    if (!work->shared) return true;
    publish(work, args, table, state);
  }
}

// Finds work for a thread that does not lead. It leaves after a long wait, since the leader can do without it.
static bool help(work_t* work, const SequenceArgs args, __global const long* table, volatile __global int* state) {
  const int longest = 10000;
  for (int waited = 0; waited < longest && state[ENDED] != args.turn; ++waited) {
    if (take(work, args, table, state)) return true;
    PAUSE;
  }
  return false;
}

static work_t start(const SequenceArgs args, __global const long* table, volatile __global int* state) {
  __global const long* const members = table + args.first;
  work_t work = {members + members[args.threads > 1 ? 0 : get_global_id(0)], 0, 0, true, false};
  if (args.threads > 1) work.leads = atomic_xchg(&state[LEADER_OF], args.turn) != args.turn;
  return work;
}

// Notes that the work is done, and returns whether there is more.
static bool next(work_t* work, const SequenceArgs args, __global const long* table, volatile __global int* state) {
  if (work->end > 0 && (work->shared || !work->leads)) atomic_inc(&state[DONE]);
  return work->leads ? lead(work, args, table, state) : help(work, args, table, state);
}

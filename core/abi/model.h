/* What a model implements: a parameter schema, how fits share work, fitting, predicting, saving and loading.
 *
 * Threads: describe, check, bundle, save and load may be called from any thread. A session is bound to one device and
 * used by one thread at a time; sessions on different devices run concurrently.
 */
#ifndef MOKUME_ABI_MODEL_H
#define MOKUME_ABI_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "abi/backend.h"
#include "abi/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- schema ---------------------------------------------------------------------------------------------------- */

typedef enum mk_param_type {
  MK_PARAM_REAL = 1,
  MK_PARAM_INTEGER = 2,
  MK_PARAM_TEXT = 3,
  MK_PARAM_BOOL = 4,
  MK_PARAM_FORM = 5, /* a table of one of the param's forms, told apart by its key "type": an optimizer */
  MK_PARAM_FORMS = 6 /* a list of such tables: the layers of a network */
} mk_param_type;

#define MK_PARAM_EXCLUSIVE_MIN 1u /* real: value > minimum instead of >= */

typedef struct mk_form mk_form;

/* One key of [search.params] and [model_options]: every parameter may stand in either, in one at a time. A FORM or
 * FORMS stands in [model_options] alone. There, and inside forms, "$name" stands for the searched parameter `name`,
 * which then need not be a parameter of the model. */
typedef struct mk_param {
  const char* name;
  int32_t type;   /* a mk_param_type */
  uint32_t flags; /* MK_PARAM_* */
  double minimum; /* REAL, INTEGER: the range, both ends included unless flagged */
  double maximum;
  const char* fallback; /* default as TOML text (e.g. "1.0", "\"rbf\"", "true") */
  const char* choices;  /* TEXT: allowed words, separated by '|'; "" for any */
  const char* doc;      /* one line */
  const mk_form* forms; /* FORM, FORMS: what the table may be; else NULL */
  uint32_t n_forms;
  uint32_t reserved;
} mk_param;

/* One kind of table: { type = name, ... }. Its params are REAL, INTEGER, TEXT or BOOL; one whose fallback is "" must be
 * given. */
struct mk_form {
  const char* name;
  const char* doc; /* one line */
  const mk_param* params;
  uint32_t n_params;
  uint32_t reserved;
};

/* One column of results.csv after n: "errors" and "error" (a share) of classifiers, "loss", "mse". The first metric
 * whose `selects` is set picks the best candidate (smaller mean wins, ties go to the lower index). */
typedef struct mk_metric {
  const char* name;
  int32_t integer; /* printed as an integer */
  int32_t selects;
} mk_metric;

/* ---- what is fitted ---------------------------------------------------------------------------------------------- */

typedef union mk_value {
  double real;
  int64_t integer; /* INTEGER and BOOL */
  /* TEXT; FORM and FORMS as JSON: an object with "type" and every param of the form, or a list of such objects, with
   * defaults filled in and "$name" replaced by the candidate's value. */
  const char* text;
} mk_value;

/* Labelled rows, row-major float32, in host memory that outlives every session. Classifiers see labels 0..n_classes-1;
 * class_names[i] is what the data set calls class i. */
typedef struct mk_data {
  int64_t rows;
  int64_t features;
  const float* x;        /* rows * features */
  const int32_t* labels; /* rows; NULL if there are none */
  const float* targets;  /* rows; regression; NULL for classification */
  int32_t n_classes;     /* 0 for regression */
  /* Images: features = height * width * channels, channels innermost. Otherwise 1, 1 and the number of features. */
  int32_t channels;
  int32_t height;
  int32_t width;
  const char* const* class_names;
} mk_data;

/* The rows that the fits of one bootstrap learn from, place after place in the order of training; without bagging every
 * row once. row[i] is the row of `train` at place i: rows may repeat, and some may be missing. fold_of[i] is the fold
 * in which place i is validated; -1: in none, it is always trained on. */
typedef struct mk_sample {
  int64_t places;
  const uint32_t* row;
  const int32_t* fold_of;
} mk_sample;

/* One experiment as a model sees it. Everything outlives the sessions made for it. values[c * n_params + p] is
 * parameter p of candidate c, defaults filled in. */
typedef struct mk_experiment {
  uint32_t struct_size;
  uint32_t n_candidates;
  const mk_value* values;
  const mk_data* train;
  const mk_sample* samples; /* one for each bootstrap */
  uint32_t n_folds;         /* 0: no validation, refits only */
  uint32_t n_bootstraps;    /* 1 without bagging */
  uint64_t seed;
  /* How an input was scaled: x' = (x - mean) / scale; for manifests of saved models. NULL: as given. One value or one
   * per feature. */
  const double* scaling_mean;
  const double* scaling_scale;
  uint32_t n_scaling;
  /* Above 0: so many candidates belong to each bootstrap, those of bootstrap 0 first. 0: all are fitted in all. */
  uint32_t own_candidates;
} mk_experiment;

/* fold == MK_ALL_ROWS: train on every place of the bootstrap's sample (a refit); nothing is validated. */
#define MK_ALL_ROWS (-1)

typedef enum mk_fit_status {
  MK_FIT_OK = 0,
  MK_FIT_COPIED = 1, /* the exact solution of another fit is also this one's */
  MK_FIT_CAPPED = 2, /* stopped at the iteration cap; the metrics are of that model */
  MK_FIT_FAILED = 3  /* no model; the note says why */
} mk_fit_status;

typedef struct mk_fit {
  uint32_t candidate;
  int32_t fold;
  int32_t done; /* already in the journal: do not report it again */
  uint32_t bootstrap;
  const char* note; /* done: the note it was reported with, so that work can go on behind it; else NULL */
  /* A directory of this fit's own for what it needs to go on after a kill, made by the model with its parents when it
   * is needed (it may hold what an earlier attempt left; anything in it is hostile until checked); removed once the fit
   * is reported. "" if there is none. */
  const char* scratch;
} mk_fit;

/* How a number went from epoch to epoch: "train_loss", "validation_loss", "train_accuracy", ... */
typedef struct mk_curve {
  const char* name;
  uint32_t n_values;
  uint32_t reserved;
  const double* values;
} mk_curve;

typedef struct mk_fit_result {
  uint32_t index; /* into the fits given */
  int32_t status; /* a mk_fit_status */
  int64_t n;      /* rows validated on */
  uint32_t n_values;
  uint32_t reserved;
  const double* values;   /* in the order of the model's metrics; may be NULL if failed */
  const char* note;       /* kept in the journal and handed back on resume; "" if none; pure function of the fit */
  const mk_curve* curves; /* kept in the journal and drawn; pure functions of the fit */
  uint32_t n_curves;
  uint32_t reserved2;
} mk_fit_result;

/* ---- what a session is given ---------------------------------------------------------------------------------------
 */

/* What a stretch of a session's time is for: a phase ("load", "forward", "solve"), or one kernel of the model's own,
 * which the program cannot see. Phases lie inside phases, and a kernel inside a phase. */
typedef enum mk_scope { MK_SCOPE_PHASE = 1, MK_SCOPE_KERNEL = 2 } mk_scope;

/* What a member of a team gives to a sum: `count` floats for the leaves [first, first + size) of a binary tree, added
 * up over these as that tree has it: halves of halves, first + second. `size` is a power of two that divides `first`. A
 * leaf for which nobody gives anything is left out, so that a half without any is no addition. */
typedef struct mk_block {
  uint32_t first;
  uint32_t size;
  const float* values;
} mk_block;

/* Devices that train one model together: each runs the same call of the model on the same fits, in a session and a
 * thread of its own, maybe in another process. All members give to the same sums in the same order, and take them in
 * that order. What comes out depends on the blocks, not on who gave them or when: element by element and level by level
 * the same additions, in float. */
typedef struct mk_team {
  uint32_t struct_size; /* sizeof(mk_team) */
  uint32_t n_members;   /* 2 or more */
  uint32_t member;      /* this one, from 0. Member 0 leads: what it reports counts, and it alone has a scratch */
  uint32_t reserved;
  void* self;
  /* Of each member, measured before: only their ratios mean anything. 0: unknown. */
  const double* speeds;
  /* This member's blocks of the next sum, of `count` floats each; none is allowed. Copies them and returns at once, so
   * that the sum is made beside other work. */
  int32_t (*give)(void* self, uint64_t count, const mk_block* blocks, uint32_t n_blocks, mk_error* error);
  /* Waits for the oldest sum that this member gave to and has not taken, of as many floats; zeros if nobody gave a
   * block. MK_CANCELLED: another member is gone, or has failed. The call of the model must end with it. */
  int32_t (*take)(void* self, float* sum, uint64_t count, mk_error* error);
  /* The leader says now and then how it went since it said so last: `elapsed_s` of wall time, in which member m
   * computed for busy_s[m] and did units[m] units of work; what is left is waiting. `shares`: how work was split
   * meanwhile ("5+3"), and `at` where that began ("epoch 2, batch 17"). For the report. */
  void (*account)(void* self, double elapsed_s, const double* busy_s, const double* units, const char* shares,
                  const char* at);
  /* For member 0: how work was split in a run that is to be repeated, a line for each `at` and `shares` that account()
   * was told there ("epoch 2, batch 17: 5+3"), in that order. Speeds decide nothing then. NULL: they do. */
  const char* splits;
} mk_team;

/* Device services: the program's own view of an open device. submit() falls back to the host backend for ops the
 * device does not support and counts it. Memory is counted against the device's budget. */
typedef struct mk_device_services {
  uint32_t struct_size;
  uint32_t reserved;
  void* self; /* first argument below */
  const mk_device_info* (*info)(void* self);
  uint64_t (*budget_bytes)(void* self); /* what all buffers together may take */
  int32_t (*buffer_create)(void* self, uint64_t bytes, mk_buffer** buffer, mk_error* error);
  void (*buffer_destroy)(void* self, mk_buffer* buffer);
  int32_t (*write)(void* self, mk_buffer* to, uint64_t offset, const void* from, uint64_t bytes, mk_error* error);
  int32_t (*read)(void* self, mk_buffer* from, uint64_t offset, void* to, uint64_t bytes, mk_error* error);
  int32_t (*copy)(void* self, mk_buffer* from, uint64_t from_offset, mk_buffer* to, uint64_t to_offset, uint64_t bytes,
                  mk_error* error);
  int32_t (*submit)(void* self, const mk_op* op, mk_error* error);
  /* The ops of several members, ops[m][k] with k < each: in order for each member, and no member writes to what another
   * one reads or writes. The bits of submit() one after the other, in fewer launches where the backend can (mk_group).
   * It can best where members differ only in where operands are and in attributes, and where there are many ops at
   * once: a core may then do all those of one member. */
  int32_t (*submit_group)(void* self, const mk_op* const* ops, uint32_t members, uint32_t each, mk_error* error);
  int32_t (*finish)(void* self, mk_error* error);
  /* The backend's kernel_source extension with this device and its queue, or NULL where there is none. */
  const mk_kernel_source* (*kernel_source)(void* self, mk_device** device, mk_queue** queue);
  /* Direct access to a buffer's memory where host and device share it (the host backend), else NULL. */
  void* (*host_pointer)(void* self, mk_buffer* buffer);
  /* A choice recorded for this device class: returns 1 and fills `value` if there is one. set_choice records one that
   * the model measured itself. */
  int32_t (*get_choice)(void* self, const char* key, char value[80]);
  void (*set_choice)(void* self, const char* key, const char* value);
  /* NULL, both, unless the run is profiled: a mk_scope begins, with a name that is copied; the one begun last ends.
   * What is done meanwhile counts to the innermost scope. Both wait for the device around a kernel. */
  void (*scope_begin)(void* self, int32_t kind, const char* name);
  void (*scope_end)(void* self);
  /* Host memory of `bytes` > 0, undefined contents, from which write() and to which read() are as fast as they get
   * (page-locked where the backend can; any other memory will do). For what is copied again and again: it cannot be
   * swapped out. */
  int32_t (*host_memory_create)(void* self, uint64_t bytes, void** memory, mk_error* error);
  void (*host_memory_destroy)(void* self, void* memory);
  /* Those with whom this device runs the call of fit() or refit() that is under way; NULL: it works alone. */
  const mk_team* team;
} mk_device_services;

/* How a running bundle talks back. All may be called from the session's thread at any time. */
typedef struct mk_fit_sink {
  void* self;
  /* A finished fit; written to the journal. Strings and values are copied. */
  int32_t (*report)(void* self, const mk_fit_result* result, mk_error* error);
  /* For the progress line: what is being done, and the share of this bundle in [0, 1]. Cheap. */
  void (*progress)(void* self, const char* what, double share);
  /* Non-zero: stop soon and return MK_CANCELLED. */
  int32_t (*cancelled)(void* self);
} mk_fit_sink;

/* A bundle as the model proposes it. cost is in any unit that is the same for all bundles; bytes is what the device
 * must hold at least. */
typedef struct mk_bundle {
  const mk_fit* fits;
  uint32_t n_fits;
  uint32_t reserved;
  double cost;
  uint64_t bytes;
} mk_bundle;

typedef struct mk_bundle_sink {
  void* self;
  int32_t (*add)(void* self, const mk_bundle* bundle, mk_error* error); /* copies */
} mk_bundle_sink;

typedef struct mk_session mk_session;
typedef struct mk_fitted mk_fitted; /* a trained model in host memory, bound to no device */

typedef struct mk_model {
  uint32_t struct_size; /* sizeof(mk_model) */
  uint16_t abi_major;
  uint16_t abi_minor;
  void* self;

  const mk_param* params;
  uint32_t n_params;
  uint32_t n_metrics;
  const mk_metric* metrics;            /* where there are classes; n_metrics == 0: the model does not classify */
  const mk_metric* regression_metrics; /* where there are targets; their number is 0 if the model does not do that */
  uint32_t n_regression_metrics;
  /* Non-zero: the scores of a classifier are the log-probabilities of its classes, in label order. */
  uint32_t probabilities;
  /* Non-zero: fit() and refit() work with the others of mk_device_services.team, where there are any. */
  uint32_t teams;
  uint32_t reserved;

  /* Refuses what the schema cannot express (combinations, data the model cannot use) with MK_INVALID_ARGUMENT or
   * MK_BAD_DATA. */
  int32_t (*check)(void* self, const mk_experiment* experiment, mk_error* error);

  /* Groups every fit, of each candidate in its bootstraps and folds, into bundles, cut into about `parts` pieces or
   * more if that is possible. Deterministic. */
  int32_t (*bundle)(void* self, const mk_experiment* experiment, uint32_t parts, const mk_bundle_sink* sink,
                    mk_error* error);

  /* What the program shows of a candidate before a run: a text of lines (the layers of a network with shapes and
   * numbers of parameters) passed to `take`, which copies it. May be NULL. */
  int32_t (*summary)(void* self, const mk_experiment* experiment, uint32_t candidate, void* taker,
                     void (*take)(void* taker, const char* text), mk_error* error);

  /* State that the bundles of one experiment share on one device (resident data, a Gram matrix). */
  int32_t (*session_create)(void* self, const mk_experiment* experiment, const mk_device_services* device,
                            mk_session** session, mk_error* error);
  void (*session_destroy)(mk_session* session);

  /* Fits and validates; reports each fit that is not `done` once. A fit that cannot be trained is reported as failed,
   * not returned as an error; an error means the device or the program. */
  int32_t (*fit)(mk_session* session, const mk_fit* fits, uint32_t n_fits, const mk_fit_sink* sink, mk_error* error);

  /* Trains one candidate on every row; `fit` is {candidate, MK_ALL_ROWS}, with bootstrap and scratch. Reports once to
   * the sink, without values, for the note and the curves. MK_INVALID_ARGUMENT: this candidate cannot be trained. */
  int32_t (*refit)(mk_session* session, const mk_fit* fit, const mk_fit_sink* sink, mk_fitted** fitted,
                   mk_error* error);

  /* Predicts `rows` rows of x (already scaled): labels[rows] (NULL for regression), and, if not NULL,
   * scores[rows * scores_per_row]: decision values, log-probabilities, or for regression the predictions. */
  int32_t (*predict)(void* self, const mk_fitted* fitted, const mk_device_services* device, const float* x,
                     int64_t rows, int64_t features, int32_t* labels, float* scores, mk_error* error);
  uint32_t (*scores_per_row)(const mk_fitted* fitted);

  /* Writes into an existing empty directory; reads from one that may hold anything. */
  int32_t (*save)(const mk_fitted* fitted, const char* directory, mk_error* error);
  int32_t (*load)(void* self, const char* directory, mk_fitted** fitted, mk_error* error);
  /* What a caller of load() needs: classes in label order, the number of features, height, width and channels of a row
   * as the model saw them (0, all three, where it keeps no record), and the scaling of the training data. Owned by
   * fitted. */
  int32_t (*describe)(const mk_fitted* fitted, mk_data* classes_and_features, const double** mean, const double** scale,
                      uint32_t* n_scaling);
  void (*fitted_destroy)(mk_fitted* fitted);

  void (*shutdown)(void* self);
} mk_model;

#ifdef __cplusplus
}
#endif
#endif

/* Defines the interface of a model: a parameter schema, bundling of fits, fitting, predicting, saving and loading.
 *
 * Threads: Any thread may call describe, check, bundle, save, load and export_onnx. A session is bound to one device
 * and used by one thread at a time. Sessions on different devices run concurrently.
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
  MK_PARAM_FORM = 5, /* a table of one of the forms in `forms`, identified by its key "type", e.g. an optimizer */
  MK_PARAM_FORMS = 6 /* a list of such tables, e.g. the layers of a network */
} mk_param_type;

#define MK_PARAM_EXCLUSIVE_MIN 1u /* the value must be above the minimum, not equal to it */
/* The parameter is newer than some runs. Its default, or the choice `before`, preserves the earlier behaviour. Plans
 * with that value keep the hash that they had without the parameter, so that these runs can be resumed. */
#define MK_PARAM_YOUNGER 2u
/* Only for FORMS. mk_model.expand makes the list from the tables in the file, before the program reads them by their
 * forms. `choices` names further tables of [model_options], separated by '|', that only expand() reads. */
#define MK_PARAM_EXPANDED 4u
/* Only for TEXT, which is the path of a file, like data.path, or "" for none. The program reads the file, and includes
 * its content in the plan's hash and in mk_experiment.files. */
#define MK_PARAM_FILE 8u
/* Only for TEXT. The value is a list of texts without commas; the model receives one text, joined by commas. */
#define MK_PARAM_LIST 16u
/* Only inside forms. Every form of the list has this parameter, so `mokume init` describes it once. */
#define MK_PARAM_COMMON 32u
/* Only inside forms. mk_model.expand adds the key. It can be in the resolved file of a run, but in no other. */
#define MK_PARAM_WRITTEN 64u

typedef struct mk_form mk_form;

/* Describes one key of [search.params] and [model_options]. A parameter may appear in either table, but not in both; a
 * FORM or FORMS only in [model_options]. There, and inside forms, "$name" stands for the searched parameter `name`,
 * which then need not be a parameter of the model. */
typedef struct mk_param {
  const char* name;
  int32_t type;   /* an mk_param_type */
  uint32_t flags; /* MK_PARAM_* */
  double minimum; /* range of REAL and INTEGER; both ends are included unless flagged */
  double maximum;
  const char* fallback; /* default as TOML text (e.g. "1.0", "\"rbf\"", "true") */
  const char* choices;  /* allowed words of a TEXT, separated by '|', or "" for any; otherwise see EXPANDED */
  const char* doc;      /* one line */
  const mk_form* forms; /* possible tables of FORM and FORMS; else NULL */
  uint32_t n_forms;
  /* For a YOUNGER text with choices: runs that are older than the parameter behave as with this choice, counted from 1,
   * or as with the fallback if this is 0. */
  uint32_t before;
} mk_param;

#define MK_FORM_EXPANDED 1u /* expand() replaces tables of this form, which may have further keys */

/* Describes one kind of table, { type = name, ... }. Its parameters are REAL, INTEGER, TEXT or BOOL. A parameter whose
 * fallback is "" is required. The JSON leaves out a YOUNGER parameter that has its default. */
struct mk_form {
  const char* name;
  const char* doc; /* one line */
  const mk_param* params;
  uint32_t n_params;
  uint32_t flags; /* MK_FORM_* */
};

/* Describes one column of results.csv after n, e.g. "errors", "error" (a share), "loss" or "mse". The first metric with
 * `selects` set chooses the best candidate (the smaller mean wins; ties go to the lower index). */
typedef struct mk_metric {
  const char* name;
  int32_t integer; /* non-zero if values are printed as integers */
  int32_t selects;
} mk_metric;

/* ---- data and fits ----------------------------------------------------------------------------------------------- */

typedef union mk_value {
  double real;
  int64_t integer; /* INTEGER and BOOL */
  /* A TEXT, or a FORM or FORMS as JSON: an object with "type" and every parameter of the form that is not left out, or
   * a list of such objects. Defaults are filled in, and the candidate's values replace "$name". */
  const char* text;
} mk_value;

/* Holds labelled rows as float32, dense and row-major or sparse, in host memory that outlives every session.
 * Classifiers receive labels 0..n_classes-1; class_names[i] is the name of class i in the data set. */
typedef struct mk_data {
  int64_t rows;
  int64_t features;
  const float* x;        /* rows * features values, or those that sparse rows store */
  const int32_t* labels; /* one per row; NULL if there are none */
  const float* targets;  /* one per row for regression; NULL for classification */
  int32_t n_classes;     /* 0 for regression */
  /* An image has features = height * width * channels values, channels innermost. Other rows have height and width
   * 1. */
  int32_t channels;
  int32_t height;
  int32_t width;
  const char* const* class_names;
  /* One per row: the relative cost of an error on the row, at least 0. A row with weight 0 has no effect. NULL means
   * that all weights are 1. Only for models with `weighs`. */
  const float* weights;
  /* Both are NULL if the rows are dense, as they are for models without predict_sparse. The values of row r are
   * x[i] in the column column[i], for i in [starts[r], starts[r + 1]); its other values are 0. The columns of a row
   * ascend and are below `features`. starts[0] need not be 0. */
  const int64_t* starts; /* rows + 1 */
  const int32_t* column;
} mk_data;

/* Lists the rows that the fits of one bootstrap learn from, one per place, in training order. Without bagging, every
 * row occurs once. row[i] is the row of `train` at place i. Rows may repeat, and some may be missing. fold_of[i] is the
 * fold that validates place i, or -1 if no fold does and the place is always trained on. */
typedef struct mk_sample {
  int64_t places;
  const uint32_t* row;
  const int32_t* fold_of;
} mk_sample;

/* Holds a file that a parameter names (MK_PARAM_FILE). The file may contain anything. */
typedef struct mk_file {
  const char* path; /* as the parameter's value */
  const void* bytes;
  uint64_t size;
} mk_file;

/* Describes one experiment to a model. Everything here outlives the sessions of the experiment. values[c * n_params +
 * p] is parameter p of candidate c, with defaults filled in. */
typedef struct mk_experiment {
  uint32_t struct_size;
  uint32_t n_candidates;
  const mk_value* values;
  const mk_data* train;
  const mk_sample* samples; /* one for each bootstrap */
  uint32_t n_folds;         /* 0 means no validation, only refits */
  uint32_t n_bootstraps;    /* 1 without bagging */
  uint64_t seed;
  /* The scaling of the inputs is x' = (x - mean) / scale, with one value or one per feature. Manifests of saved models
   * record it. NULL means that the inputs are not scaled. */
  const double* scaling_mean;
  const double* scaling_scale;
  uint32_t n_scaling;
  /* Number of candidates of each bootstrap, those of bootstrap 0 first, or 0 if every bootstrap fits all candidates. */
  uint32_t own_candidates;
  uint32_t n_files;
  const mk_file* files; /* one for each path */
  /* Inputs of the test rows, scaled like those of `train` and without labels, targets and weights, or NULL if there are
   * none. check() refuses rows here that predict() would refuse after all fits. It is NULL in sessions that scale the
   * inputs of a fold. */
  const mk_data* test;
} mk_experiment;

/* A fit with fold == MK_ALL_ROWS (a refit) trains on every place of the bootstrap's sample and validates nothing. */
#define MK_ALL_ROWS (-1)

typedef enum mk_fit_status {
  MK_FIT_OK = 0,
  MK_FIT_COPIED = 1, /* the exact solution of another fit also solves this fit */
  MK_FIT_CAPPED = 2, /* stopped at the iteration cap; the metrics describe the unfinished model */
  MK_FIT_FAILED = 3  /* no model; the note gives the reason */
} mk_fit_status;

typedef struct mk_fit {
  uint32_t candidate;
  int32_t fold;
  int32_t done; /* non-zero if the journal has the fit, which must not be reported again */
  uint32_t bootstrap;
  /* For a fit that is `done`, the note from its report, so that later work can build on it. For a refit, the notes of
   * the fits of its candidate and bootstrap, one on each line, in the order of the folds. NULL if there are none. */
  const char* note;
  /* A directory private to this fit, for the state that it needs to resume after a kill. The model creates the
   * directory, with its parents, when needed. It may hold files of an earlier attempt; treat anything in it as hostile
   * until checked. The program removes it once the fit is reported. "" if there is none. */
  const char* scratch;
} mk_fit;

/* Holds the values of a number by epoch, e.g. "train_loss", "validation_loss" or "train_accuracy". */
typedef struct mk_curve {
  const char* name;
  uint32_t n_values;
  uint32_t reserved;
  const double* values;
} mk_curve;

/* Tells the meaning of a classifier's scores. */
typedef enum mk_score_kind {
  MK_SCORES_UNKNOWN = 0,
  MK_SCORES_LOG_PROBABILITIES = 1, /* one per class, in label order */
  MK_SCORES_ONE_VS_REST = 2,       /* decision values, one per class, in label order; the largest wins */
  /* Decision values of the pairs (0,1), (0,2), ..., (1,2), ..., positive if the first class of the pair wins. */
  MK_SCORES_ONE_VS_ONE = 3
} mk_score_kind;

/* Holds the predictions for the rows that a fit validates, in any order. A regression sets `rows` and `numbers` only.
 */
typedef struct mk_validated {
  const int32_t* labels;    /* true class of each row */
  const int32_t* predicted; /* predicted class of each row */
  const float* scores;      /* rows * scores_per_row, as predict() writes them; NULL if their kind is unknown */
  uint32_t scores_per_row;
  int32_t score_kind;   /* an mk_score_kind */
  const int64_t* rows;  /* row of the training data, for each row */
  const float* numbers; /* regression: predicted target of each row, in the units of mk_data.targets; else NULL */
} mk_validated;

/* Maps a decision value s to the probability of the first class, or of the class against all others:
 * 1 / (1 + exp(a * s + b)). */
typedef struct mk_sigmoid {
  double a;
  double b;
} mk_sigmoid;

/* Tells which predictions fit() can report. A regression reports numbers for all kinds but the first. */
typedef enum mk_validated_kind {
  MK_VALIDATED_NOTHING = 0,
  MK_VALIDATED_CLASSES = 1,
  MK_VALIDATED_SCORES = 2,       /* also scores of a known kind */
  MK_VALIDATED_PROBABILITIES = 3 /* also MK_SCORES_LOG_PROBABILITIES */
} mk_validated_kind;

typedef struct mk_fit_result {
  uint32_t index; /* index into the given fits */
  int32_t status; /* an mk_fit_status */
  int64_t n;      /* number of validated rows */
  uint32_t n_values;
  uint32_t reserved;
  const double* values; /* in the order of the model's metrics; may be NULL if the fit failed */
  /* Words that the journal keeps and returns on resume, or ""; a pure function of the fit. Reports read the word
   * "unsure=K": the solver's tolerance leaves the class of K of the n rows open. */
  const char* note;
  const mk_curve* curves; /* for the journal and plots; pure functions of the fit */
  uint32_t n_curves;
  uint32_t reserved2;
  const mk_validated* validated; /* predictions for the n rows, if the sink wants them; else NULL */
} mk_fit_result;

/* ---- services of a session ------------------------------------------------------------------------------------- */

/* Tells how a session uses a span of time: for a phase ("load", "forward", "solve"), or for a kernel of the model,
 * which the program cannot see otherwise. Phases nest, and a kernel lies inside a phase. */
typedef enum mk_scope { MK_SCOPE_PHASE = 1, MK_SCOPE_KERNEL = 2 } mk_scope;

/* Holds a member's contribution to a sum: `count` floats for the leaves [first, first + size) of a binary tree, already
 * added up in the order of the tree, pairwise by halves, first + second. `size` is a power of two that divides `first`.
 * A half without contributions causes no addition. */
typedef struct mk_block {
  uint32_t first;
  uint32_t size;
  const float* values;
} mk_block;

/* Tells which part of a model each member of a team keeps in memory. The results are the same. */
typedef enum mk_team_split {
  MK_SPLIT_AUTO = 0,   /* the first of the following that fits into the members' memory */
  MK_SPLIT_BATCH = 1,  /* each member has the whole model, and trains it on a part of each batch */
  MK_SPLIT_STATES = 2, /* the same, but each member has the optimizer's states of a part of the parameters only */
  MK_SPLIT_LAYERS = 3  /* each member has some consecutive layers: a pipeline */
} mk_team_split;

/* Connects devices that train one model together. Each makes the same call of the model on the same fits, in its own
 * session and thread, possibly in another process. All members contribute to the same sums in the same order, and take
 * them in that order. The result depends on the blocks, not on who gave them or when, because the float additions are
 * the same, element by element and level by level. */
typedef struct mk_team {
  uint32_t struct_size; /* sizeof(mk_team) */
  uint32_t n_members;   /* 2 or more */
  uint32_t member;      /* this member, from 0; member 0 leads: only it has a scratch, and only its reports count */
  uint32_t reserved;
  void* self;
  /* One speed per member, measured before the call, or 0 if unknown. Only their ratios matter. */
  const double* speeds;
  /* Gives this member's blocks of the next sum, of `count` floats each; n_blocks may be 0. Copies them and returns at
   * once, so that other work overlaps the sum. */
  int32_t (*give)(void* self, uint64_t count, const mk_block* blocks, uint32_t n_blocks, mk_error* error);
  /* Waits for the oldest sum that this member gave to and has not taken; `count` must match. The sum is zero if nobody
   * gave a block. MK_CANCELLED means that another member is gone or has failed; the model must return it. */
  int32_t (*take)(void* self, float* sum, uint64_t count, mk_error* error);
  /* Reports, from time to time, on the interval since the leader's last report: `elapsed_s` of wall time, in which
   * member m computed for busy_s[m] seconds, did units[m] units of work, and waited otherwise. `shares` is the split of
   * work in the interval ("5+3"), and `at` is its start ("epoch 2, batch 17"). The report of the run shows them. */
  void (*account)(void* self, double elapsed_s, const double* busy_s, const double* units, const char* shares,
                  const char* at);
  /* For member 0, the splits of a run to repeat, one line per `at` and `shares` of account() ("epoch 2, batch 17:
   * 5+3"), in their order. They replace the speeds. NULL if the speeds decide. */
  const char* splits;
  int32_t split; /* the mk_team_split that the user asks for */
  uint32_t reserved2;
  /* Sends floats to another member. Copies them and returns at once. */
  int32_t (*send)(void* self, uint32_t to, const float* values, uint64_t count, mk_error* error);
  /* Waits for the oldest floats that `from` has sent to this member and that it has not received; `count` must match.
   * MK_CANCELLED has the same meaning as for take(). */
  int32_t (*receive)(void* self, uint32_t from, float* values, uint64_t count, mk_error* error);
} mk_team;

/* Gives a model access to an open device. submit() falls back to the host backend for ops that the device does not
 * support, and counts the fallbacks. Buffers count against the device's budget. */
typedef struct mk_device_services {
  uint32_t struct_size;
  uint32_t reserved;
  void* self; /* first argument of the functions below */
  const mk_device_info* (*info)(void* self);
  uint64_t (*budget_bytes)(void* self); /* upper limit for all buffers together */
  int32_t (*buffer_create)(void* self, uint64_t bytes, mk_buffer** buffer, mk_error* error);
  void (*buffer_destroy)(void* self, mk_buffer* buffer);
  int32_t (*write)(void* self, mk_buffer* to, uint64_t offset, const void* from, uint64_t bytes, mk_error* error);
  int32_t (*read)(void* self, mk_buffer* from, uint64_t offset, void* to, uint64_t bytes, mk_error* error);
  int32_t (*copy)(void* self, mk_buffer* from, uint64_t from_offset, mk_buffer* to, uint64_t to_offset, uint64_t bytes,
                  mk_error* error);
  int32_t (*submit)(void* self, const mk_op* op, mk_error* error);
  /* Submits the ops of several members, ops[m][k] with k < each. The ops of a member execute in order, and no member
   * writes to memory that another member reads or writes. The bits are those of calling submit() one by one, but with
   * fewer launches if the backend supports this (mk_group). This works best if members differ only in operand locations
   * and in attributes, and if a call has many ops, because one core may then execute all ops of one member. */
  int32_t (*submit_group)(void* self, const mk_op* const* ops, uint32_t members, uint32_t each, mk_error* error);
  int32_t (*finish)(void* self, mk_error* error);
  /* Returns the backend's kernel_source extension with this device and its queue, or NULL if there is none. */
  const mk_kernel_source* (*kernel_source)(void* self, mk_device** device, mk_queue** queue);
  /* Returns the memory of a buffer if host and device share it (the host backend), else NULL. */
  void* (*host_pointer)(void* self, mk_buffer* buffer);
  /* get_choice returns 1 and fills `value` if a choice is recorded for this device class. set_choice records a choice
   * that the model measured itself. */
  int32_t (*get_choice)(void* self, const char* key, char value[80]);
  void (*set_choice)(void* self, const char* key, const char* value);
  /* Both are NULL unless the run is profiled. scope_begin starts an mk_scope and copies its name; scope_end ends the
   * innermost scope. Time counts to the innermost scope. Around a kernel, both functions wait for the device. */
  void (*scope_begin)(void* self, int32_t kind, const char* name);
  void (*scope_end)(void* self);
  /* Creates host memory of `bytes` > 0 with undefined contents, the fastest source for write() and destination for
   * read() (page-locked if the backend supports this; any other memory works too). Use it only for memory that is
   * copied repeatedly, because it cannot be swapped out. */
  int32_t (*host_memory_create)(void* self, uint64_t bytes, void** memory, mk_error* error);
  void (*host_memory_destroy)(void* self, void* memory);
  /* The team that runs the current call of fit() or refit(), or NULL if this device works alone. */
  const mk_team* team;
} mk_device_services;

/* Holds the callbacks of a running bundle. The session's thread may call all of them at any time. */
typedef struct mk_fit_sink {
  void* self;
  /* Writes a finished fit to the journal. Copies strings and values. */
  int32_t (*report)(void* self, const mk_fit_result* result, mk_error* error);
  /* Shows the activity and the completed share of this bundle, in [0, 1], on the progress line. The call is cheap. */
  void (*progress)(void* self, const char* what, double share);
  /* Returns non-zero if the model must stop soon and return MK_CANCELLED. */
  int32_t (*cancelled)(void* self);
  /* Tells whether reports of fits that did not fail carry mk_fit_result.validated: 0 no, 1 yes, 2 if the device has the
   * memory for it. */
  int32_t wants_validated;
  uint32_t reserved;
} mk_fit_sink;

/* Describes a bundle that the model proposes. `cost` is in any unit that all bundles share. `bytes` is the least memory
 * that the device must have. */
typedef struct mk_bundle {
  const mk_fit* fits;
  uint32_t n_fits;
  uint32_t reserved;
  double cost;
  uint64_t bytes;
} mk_bundle;

typedef struct mk_bundle_sink {
  void* self;
  int32_t (*add)(void* self, const mk_bundle* bundle, mk_error* error); /* copies the bundle */
} mk_bundle_sink;

/* Describes a network from another program. */
typedef struct mk_imported {
  const char* options;    /* the lines of [model_options], and the tables below it */
  const mk_data* trained; /* classes and the shape of a row, as describe() returns them; without classes for a
                             regression, and for classes that the file does not name */
  uint32_t n_outputs;
  uint32_t n_scaling; /* 0 if the rows are not scaled, or 1 for one mean and one scale for all features */
  double mean;
  double scale;
} mk_imported;

typedef struct mk_session mk_session;
/* Describes a step of a candidate's computation, such as a layer of a network. */
typedef struct mk_step {
  const char* name;
  const char* kind;   /* such as "conv2d" */
  const char* output; /* shape of a row of the output, for people */
  int64_t parameters;
  const uint32_t* inputs; /* numbers of earlier steps, from 0 */
  uint32_t n_inputs;      /* 0 for the input of the model */
  uint32_t reserved;
} mk_step;

typedef struct mk_fitted mk_fitted; /* a trained model in host memory, bound to no device */

typedef struct mk_model {
  uint32_t struct_size; /* sizeof(mk_model) */
  uint16_t abi_major;
  uint16_t abi_minor;
  void* self;

  const mk_param* params;
  uint32_t n_params;
  uint32_t n_metrics;
  const mk_metric* metrics;            /* for data with classes; none if the model does not classify */
  const mk_metric* regression_metrics; /* for data with targets; none if the model has no regression */
  uint32_t n_regression_metrics;
  /* Non-zero if fit() and refit() can use mk_device_services.team. */
  uint32_t teams;
  uint32_t validated; /* an mk_validated_kind */
  /* Non-zero if only its parameters, its rows and the device determine a fit. Otherwise the seed, candidate, fold and
   * n_folds may do so too and, except in bootstrap 0, the bootstrap and n_candidates. Reuse of fits relies on this. */
  uint32_t seedless;

  /* Makes the list of a parameter with MK_PARAM_EXPANDED; NULL if there is none. `options` is [model_options] as JSON,
   * in which each value is an object: "at" is the number of the value, and "text", "integer", "list" (values) or
   * "table" (pairs of a key and a value) is its content; numbers with a fraction, booleans and dates have none. Next
   * to the content of [model_options], "searched" is [search.params] in this form, if there are any, and "resolved" is
   * true for the resolved file of a run. The answer is
   * {"value": ...} in the same form, where "at" is the number of a value in the file: messages name its place, and its
   * content replaces a missing content. Or it is {"problems": [...]} of objects with "at", "message", "hint" and
   * "note". A problem may have a "key" of that table, at which it then points; "word" and "known", so that the hint is
   * the closest known word; and "place", the value whose place ends the note. */
  int32_t (*expand)(const char* param, const char* options, void* taker, void (*take)(void* taker, const char* answer),
                    mk_error* error);

  /* Returns MK_INVALID_ARGUMENT or MK_BAD_DATA for errors that the schema cannot express (combinations, data that the
   * model cannot use), and MK_UNSUPPORTED if the rows are sparse and the parameters need dense rows. */
  int32_t (*check)(void* self, const mk_experiment* experiment, mk_error* error);

  /* Groups all fits (each candidate in its bootstraps and folds) into about `parts` bundles, or more if possible. The
   * result is deterministic. */
  int32_t (*bundle)(void* self, const mk_experiment* experiment, uint32_t parts, const mk_bundle_sink* sink,
                    mk_error* error);

  /* Passes the text that the program shows for a candidate before a run (the layers of a network with shapes and
   * parameter counts) to `take`, which copies it. May be NULL. */
  int32_t (*summary)(void* self, const mk_experiment* experiment, uint32_t candidate, void* taker,
                     void (*take)(void* taker, const char* text), mk_error* error);

  /* A session holds the state that the bundles of one experiment share on one device (resident data, a Gram matrix). */
  int32_t (*session_create)(void* self, const mk_experiment* experiment, const mk_device_services* device,
                            mk_session** session, mk_error* error);
  void (*session_destroy)(mk_session* session);

  /* Fits and validates, and reports each fit that is not `done` once. Reports a fit that cannot be trained as failed;
   * an error means that the device or the program failed. */
  int32_t (*fit)(mk_session* session, const mk_fit* fits, uint32_t n_fits, const mk_fit_sink* sink, mk_error* error);

  /* Trains one candidate on every row; `fit` is {candidate, MK_ALL_ROWS}, with bootstrap and scratch. Reports once to
   * the sink, without values, to deliver the note and the curves. Returns MK_INVALID_ARGUMENT if this candidate cannot
   * be trained. */
  int32_t (*refit)(mk_session* session, const mk_fit* fit, const mk_fit_sink* sink, mk_fitted** fitted,
                   mk_error* error);

  /* Predicts `rows` rows of x (already scaled) into labels[rows] (NULL for regression) and, if not NULL, scores[rows *
   * scores_per_row]: decision values, log-probabilities, or the predictions of a regression. */
  int32_t (*predict)(void* self, const mk_fitted* fitted, const mk_device_services* device, const float* x,
                     int64_t rows, int64_t features, int32_t* labels, float* scores, mk_error* error);
  uint32_t (*scores_per_row)(const mk_fitted* fitted);
  /* Returns an mk_score_kind. Not called for a regression. */
  int32_t (*score_kind)(const mk_fitted* fitted);

  /* save() writes into an existing empty directory. load() must expect any content. */
  int32_t (*save)(const mk_fitted* fitted, const char* directory, mk_error* error);
  int32_t (*load)(void* self, const char* directory, mk_fitted** fitted, mk_error* error);
  /* Describes a loaded model: the classes in label order, the number of features, the height, width and channels of a
   * row as the model saw them (all 0 if unknown), and the scaling of the training data. `fitted` owns the results. */
  int32_t (*describe)(const mk_fitted* fitted, mk_data* classes_and_features, const double** mean, const double** scale,
                      uint32_t* n_scaling);
  void (*fitted_destroy)(mk_fitted* fitted);

  void (*shutdown)(void* self);

  /* Writes the model with its scaling as an ONNX file to `path`, which does not exist (sdk/onnx.hpp). NULL if models of
   * this kind have no such form. Returns MK_UNSUPPORTED, with the reason, if this model has none. */
  int32_t (*export_onnx)(const mk_fitted* fitted, const char* path, mk_error* error);

  /* Non-zero if fit() and refit() use mk_data.weights. */
  uint32_t weighs;
  /* Non-zero if devices may round the operands of products as [devices] precision asks. */
  uint32_t rounds;

  /* Reads an ONNX file, which may contain anything, and writes files with its weights into `directory`, which exists
   * and is empty. `take` copies its argument: [model_options] as TOML, in which paths begin with `directory` as given,
   * and the results of describe(). NULL if the model reads no such files. Returns MK_UNSUPPORTED, with the reason, if
   * this file has no equivalent, and MK_BAD_DATA if it is damaged. */
  int32_t (*import_onnx)(void* self, const char* path, const char* directory, void* taker,
                         void (*take)(void* taker, const mk_imported* imported), mk_error* error);

  /* Both are NULL if the model cannot turn decision values into probabilities. calibrate() learns a sigmoid for each
   * decision value of a row from `n` rows of known classes, whose `predicted` may be NULL. probabilities() writes one
   * number per row and class; those of a row sum to 1. The program keeps the sigmoids with the trained model. */
  int32_t (*calibrate)(void* self, const mk_validated* rows, int64_t n, int32_t n_classes, mk_sigmoid* sigmoids,
                       mk_error* error);
  int32_t (*probabilities)(void* self, const mk_sigmoid* sigmoids, uint32_t n_sigmoids, int32_t score_kind,
                           const float* scores, int64_t rows, int32_t n_classes, double* to, mk_error* error);

  /* Passes the steps of a candidate in order to `take`, which copies them: the report draws them. May be NULL. */
  int32_t (*steps)(void* self, const mk_experiment* experiment, uint32_t candidate, void* taker,
                   void (*take)(void* taker, const mk_step* step), mk_error* error);

  /* Predicts sparse rows (mk_data.starts), of which it reads no labels, targets and weights; see predict(). NULL if the
   * model takes dense rows only. */
  int32_t (*predict_sparse)(void* self, const mk_fitted* fitted, const mk_device_services* device, const mk_data* rows,
                            int32_t* labels, float* scores, mk_error* error);
} mk_model;

#ifdef __cplusplus
}
#endif
#endif

// Declares the commands. Each returns an exit code, or throws an Error, which main() converts to an exit code.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "results/view.hpp"
#include "runtime.hpp"

namespace mokume::app {

// Prints a text for people, without characters that control a terminal. Ignores errors, because main() checks once
// whether all of stdout was written.
inline void show(std::FILE* to, const std::string& text) {
  std::fputs(base::without_controls(text, "\n\t").c_str(), to);
}
template <class... Args>
void say(std::FILE* to, fmt::format_string<Args...> format, Args&&... args) {
  show(to, fmt::format(format, std::forward<Args>(args)...));
}

// Warns of skipped lines of a journal. Callers leave out live runs, whose last line may be incomplete.
void warn_of_skipped(Runtime& runtime, const results::RunView& view);

enum ExitCode : int {
  kDone = 0,
  kInternal = 1,
  kDiffers = 1,  // from compare and verify, like diff
  kUsage = 2,
  kData = 3,
  kDevice = 4,
  kFailedFits = 5,
  kStopped = 75
};

// Selects the output: progress and result, only errors and warnings, everything that the log file gets, or events.
enum class Verbosity { usual, quiet, verbose, json };

struct RunOptions {
  std::string config;             // path of the experiment file
  std::vector<std::string> sets;  // texts of --set
  std::optional<std::string> devices, out, seed, max_time, formations;
  bool dry_run = false, fresh = false, profile = false;
  bool json = false, quiet = false, verbose = false;  // at most one is true
  std::string command;                                // as typed, for the report

  Verbosity verbosity() const {
    return json ? Verbosity::json : quiet ? Verbosity::quiet : verbose ? Verbosity::verbose : Verbosity::usual;
  }
};
int run_experiment(Runtime& runtime, const RunOptions& options);
int resume_run(Runtime& runtime, const std::string& directory, const RunOptions& options);

struct CurveOptions {
  std::string run;      // directory
  uint32_t points = 0;  // 0 stands for the usual number
  std::optional<std::string> devices, max_time;
  bool json = false, quiet = false;
  std::string command;  // as typed, for the report
};
// Measures the best candidate of a run on growing parts of the rows.
int measure_curve(Runtime& runtime, const CurveOptions& options);

int check_config(Runtime& runtime, const RunOptions& options);

int list_runs(Runtime& runtime, const std::string& directory, bool json);

struct PruneOptions {
  std::string directory = "runs";
  std::optional<std::string> older_than, larger_than;  // exactly one of these and `keep` is set
  std::optional<uint64_t> keep;
  bool unfinished = false, cache = false, yes = false;
};
int prune(Runtime& runtime, const PruneOptions& options);

int show_status(Runtime& runtime, const std::string& directory, bool json);
int explain(Runtime& runtime, const std::string& directory, const std::string& fit);  // "" explains the whole run
int compare(Runtime& runtime, const std::string& a, const std::string& b);            // a and b are directories
// Writes the report of a run again and, with `watch`, repeats this until the run ends.
int rebuild_report(Runtime& runtime, const std::string& directory, bool watch);

struct VerifyOptions {
  std::string run;                            // directory
  std::optional<std::string> fits, fit;       // number of fits or "all"; or one fit as for explain
  std::optional<std::string> devices;         // "all" by default
  std::vector<std::string> sets;              // texts of --set
  std::optional<std::string> trace, against;  // files for a trace of one fit, and with another trace of it
  uint64_t trace_steps = 100000;              // limit of a trace
};
// Computes results of a run again and compares them.
int verify(Runtime& runtime, const VerifyOptions& options);

struct PredictOptions {
  std::string run;                     // directory
  std::vector<std::string> images;     // pictures and folders of pictures; empty if `spec` is set
  std::string spec;                    // source of rows, or ""
  std::vector<std::string> columns;    // columns of a CSV file, copied to the left of the predictions
  std::optional<std::string> devices;  // "all" by default, but the host predicts few values
  std::string svg;                     // file for the picture's plot, or ""
  bool json = false;                   // prints JSON; for rows, one object per line
  bool stream = false;                 // answers each row of standard input as it arrives
};
int predict(Runtime& runtime, const PredictOptions& options);
// Explains which columns matter. Uses run, spec, devices and json of the options.
int explain_columns(Runtime& runtime, const PredictOptions& options, uint32_t repeats);

struct ExportOptions {
  std::string run;         // directory
  std::string onnx;        // file; "" stands for NAME.onnx
  std::string provenance;  // directory of an RO-Crate; "" exports models instead
  std::string key;         // key that signs the crate, or ""
};
int export_models(Runtime& runtime, const ExportOptions& options);
// Writes an RO-Crate: the results and models of a finished run with a description of their origin.
int export_provenance(Runtime& runtime, const ExportOptions& options);

struct ImportOptions {
  std::string file;           // ONNX
  std::string out;            // folder; "" stands for the name of the file
  std::string model = "cnn";  // model that imports the file
};
int import_model(Runtime& runtime, const ImportOptions& options);

int list_devices(Runtime& runtime, bool json, bool probe);
// `out` contains the run directories. Under an MPI launcher, every rank takes part, and rank 0 prints.
int doctor(Runtime& runtime, const std::string& out);

int device_child(int parent);  // `parent` is the process id of the run; never returns normally

struct ProbeOptions {
  int parent = 0, kind = 0;
  std::string name, path;  // name and path of the library
};
int library_probe(const ProbeOptions& options);  // never returns normally

int print_schema(Runtime& runtime);
int init_config(Runtime& runtime, const std::string& model);

int list_data();
int data_info(const std::string& spec);
int fetch_data(const std::string& name, const std::string& from);

// Reads and checks an experiment file with the texts of --set. If there are errors, prints all and returns nothing.
std::optional<config::Config> read_config(const config::SchemaLookup& lookup, const std::string& path,
                                          const RunOptions& options, std::string& text,
                                          config::Origin origin = config::Origin::experiment);

}  // namespace mokume::app

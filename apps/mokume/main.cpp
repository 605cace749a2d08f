// Parses the command line and runs a command.
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "commands.hpp"
#include "registry/probe.hpp"
#include "run/learning_curve.hpp"
#include "sdk/error.hpp"
#include "sdk/storage.hpp"
#include "texts/command_table.hpp"
#include "unknown_word.hpp"
#include "version.hpp"

namespace {

using namespace mokume::app;
namespace registry = mokume::registry;

int exit_code(mk_status status) {
  switch (status) {
    case MK_OK:
      return kDone;
    case MK_INVALID_ARGUMENT:
      return kUsage;
    case MK_BAD_DATA:
      return kData;
    case MK_DEVICE_ERROR:
    case MK_OUT_OF_MEMORY:
    case MK_UNSUPPORTED:
      return kDevice;
    case MK_CANCELLED:
    case MK_STORAGE:
      return kStopped;
    case MK_INTERNAL:
      break;
  }
  return kInternal;
}

constexpr const char* kExitCodes = R"(Exit codes:
   0  done
   1  internal fault; from compare: the runs differ; from verify: a result differs
   2  mistake in the command line or in the experiment file
   3  faulty data or a damaged file
   4  failure of a device, backend or model
   5  finished, but some fits failed
  75  stopped early: the same command resumes the run; or another process is
      working on the run: the same command succeeds later)";

std::string quoted_command(int argc, char** argv) {
  std::string text = "mokume";
  for (int k = 1; k < argc; ++k) text += " " + shell_quoted(argv[k]);
  return text;
}

// Names the values of options for --help. A positional argument needs no further name.
void name_values(CLI::App* command) {
  static const std::map<std::string, std::string> names = {
      {"--against", "FILE"}, {"--data", "SPEC"},     {"--devices", "SEL"},   {"--fit", "FIT"},
      {"--fits", "N"},       {"--trace", "FILE"},    {"--trace-steps", "N"}, {"--formations", "LIST"},
      {"--from", "URL"},     {"--max-time", "TIME"}, {"--out", "DIR"},       {"--plugins", "DIR"},
      {"--seed", "N"},       {"--set", "KEY=VALUE"}, {"--svg", "FILE"}};
  for (CLI::Option* option : command->get_options()) {
    if (!option->nonpositional()) option->type_name("");
    const auto found = names.find(option->get_name());
    if (found != names.end()) option->type_name(found->second);
  }
  for (CLI::App* inner : command->get_subcommands([](const CLI::App*) { return true; })) name_values(inner);
}

// Adds --plugins to a command that may load a user's library.
void add_plugins_option(CLI::App* command, std::vector<std::string>& directories) {
  command
      ->add_option("--plugins", directories,
                   "a directory with further backends and models in backends/ and plugins/; may be repeated")
      ->take_all()
      ->allow_extra_args(false);
}

void add_run_options(CLI::App* command, RunOptions& options, bool all) {
  command->add_option("--devices", options.devices,
                      "devices to use: all, every, opencl, opencl:gpu, opencl:0, pocl, host, ...");
  command->add_option("--max-time", options.max_time, "stop cleanly after this time, e.g. 11h30m; run again to resume");
  CLI::Option* json =
      command->add_flag("--json", options.json, "print events as lines of JSON on stdout; the last one is the summary");
  CLI::Option* quiet = command->add_flag("--quiet", options.quiet, "print only errors and warnings")->excludes(json);
  command->add_flag("--verbose", options.verbose, "also print the messages of the log file")
      ->excludes(json)
      ->excludes(quiet);
  if (!all) return;
  command->add_option("--set", options.sets, "replace a key of the file, e.g. data.limit=5000; may be repeated")
      ->take_all();
  command->add_option("--out", options.out, "directory for run directories (default: runs)");
  command->add_option("--seed", options.seed, "replace the seed of the file");
}

void add_predict_options(CLI::App* command, PredictOptions& options) {
  command->add_option("RUN", options.run, "run directory")->required();
  CLI::Option* image = command->add_option(
      "IMAGE", options.images, "PNG or JPEG files of any size, or folders of them; several give a row each");
  CLI::Option* data =
      command->add_option("--data", options.spec, "rows to predict: source[:path][,key=value]...; - is standard input")
          ->excludes(image);
  command
      ->add_option("--columns", options.columns,
                   "columns of a CSV file to copy to the left of the predictions, such as id,name")
      ->delimiter(',')
      ->take_all()
      ->allow_extra_args(false)
      ->needs(data);
  command->add_flag("--stream", options.stream, "answer each row of --data csv:- as soon as it arrives")->needs(data);
  command->add_option("--svg", options.svg, "write the box plot of the members' certainty to this file")->needs(image);
  command->add_flag("--json", options.json, "print JSON: the result for one picture, or an object per row");
  command->add_option("--devices", options.devices, "device to use (the first match)");
}

void add_verify_options(CLI::App* command, VerifyOptions& options) {
  command->add_option("RUN", options.run, "run directory")->required();
  CLI::Option* fits = command->add_option("--fits", options.fits,
                                          "number of results, spread evenly over the plan, or all (default: 10)");
  command->add_option("--fit", options.fit, "only this fit: id, candidate,fold, refit, ... as for explain")
      ->excludes(fits);
  command->add_option("--devices", options.devices,
                      "devices to use, as for run (default: all); one of each class computes");
  command->add_option("--set", options.sets, "replace a key of the run's file, e.g. data.path=FILE; may be repeated")
      ->take_all();
  command->add_option("--trace", options.trace, "write digests of every step of one fit to this file")->excludes(fits);
  command
      ->add_option("--against", options.against,
                   "compare with a trace that another site has written, and name the first step that differs")
      ->excludes(fits);
  command->add_option("--trace-steps", options.trace_steps, "limit of the steps in a trace (default: 100000)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{100000000}).description(""));
}

// Holds every command with its options, and the values of these options.
class Commands {
 public:
  Commands(int argc, char** argv) : line_{{argv, argv + argc}, {}} {
    cli_.require_subcommand(1);
    cli_.set_version_flag("--version", std::string("mokume ") + kVersion);
    options_.command = quoted_command(argc, argv);
    add_runs();
    add_readers();
    add_prune();
    add_machine();
    add_data();
    add_texts();
    for (CLI::App* command : {run_, resume_, curve_, check_, list_, prune_, status_, explain_, report_, compare_,
                              verify_, predict_, export_, import_, devices_, doctor_, schema_, init_})
      add_plugins_option(command, line_.plugins);
    name_values(&cli_);
    cli_.footer(kExitCodes);  // last, because commands added later would inherit it
  }

  int run(int argc, char** argv, std::optional<Runtime>& made) {
    try {
      cli_.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      return refuse(e);
    }
    if (data_list_->parsed()) return list_data();
    if (data_info_->parsed()) return data_info(spec_);
    if (data_fetch_->parsed()) return fetch_data(name_, from_);
    if (completion_->parsed()) return print(completion(command_table(cli_), name_));
    if (manual_->parsed()) return print(manual(command_table(cli_), kVersion, kExitCodes));
    if (child_->parsed()) return device_child(parent_);
    if (probe_library_->parsed()) return library_probe(tried_);
    made.emplace(line_);
    if (options_.verbose) made->log().set_level(MK_LOG_INFO);
    made->probe_libraries();
    return run_with(*made);
  }

 private:
  // Prints help, or the error in the command line.
  int refuse(const CLI::ParseError& error) {
    const std::string unknown = error.get_exit_code() == 0 ? "" : unknown_word(cli_);
    if (unknown.empty()) return cli_.exit(error) == 0 ? kDone : kUsage;
    say(stderr, "error: {}\nRun with --help for more information.\n", unknown);
    return kUsage;
  }

  static int print(const std::string& text) {
    show(stdout, text);
    return kDone;
  }

  int run_with(Runtime& runtime) {
    if (run_->parsed()) return run_experiment(runtime, options_);
    if (resume_->parsed()) return resume_run(runtime, path_, options_);
    if (curve_->parsed()) {
      curve_options_.command = options_.command;
      return measure_curve(runtime, curve_options_);
    }
    if (check_->parsed()) return check_config(runtime, options_);
    if (list_->parsed()) return list_runs(runtime, out_, json_);
    if (prune_->parsed()) return prune(runtime, pruned_);
    if (status_->parsed()) return show_status(runtime, path_, json_);
    if (explain_->parsed()) return explain_run(runtime);
    if (compare_->parsed()) return compare(runtime, path_, other_);
    if (verify_->parsed()) return verify(runtime, verified_);
    if (report_->parsed()) return rebuild_report(runtime, path_, watch_);
    if (predict_->parsed()) return predict(runtime, asked_);
    if (export_->parsed())
      return exported_.provenance.empty() ? export_models(runtime, exported_) : export_provenance(runtime, exported_);
    if (import_->parsed()) return import_model(runtime, imported_);
    if (devices_->parsed()) return list_devices(runtime, json_, probe_);
    if (doctor_->parsed()) return doctor(runtime, out_);
    if (schema_->parsed()) return print_schema(runtime);
    if (init_->parsed()) return init_config(runtime, name_);
    return kUsage;
  }

  int explain_run(Runtime& runtime) {
    if (!columns_) return explain(runtime, path_, name_);
    asked_.run = path_;
    return explain_columns(runtime, asked_, repeats_);
  }

  CLI::App* add(const char* name, const char* help) { return cli_.add_subcommand(name, help); }
  CLI::App* add_for_run(const char* name, const char* help) {
    CLI::App* command = add(name, help);
    command->add_option("RUN", path_, "run directory")->required();
    return command;
  }

  void add_runs() {
    run_ = add("run", "run an experiment, resume its unfinished run, or show the result of its finished run");
    run_->add_option("CONFIG", options_.config, "experiment file")->required();
    add_run_options(run_, options_, true);
    run_->add_flag("--dry-run", options_.dry_run, "show the plan, memory and devices without running anything")
        ->excludes(run_->get_option("--json"));
    run_->add_option("--formations", options_.formations,
                     "with --dry-run: predict hours and efficiency for nodes x devices, e.g. 1x3,3x1,4x3");
    run_->add_flag("--profile", options_.profile, "time every op and transfer, and show where the time goes");
    run_->add_flag("--fresh", options_.fresh, "start a new run even if a run of the same plan exists");
    resume_ = add_for_run("resume", "resume a run");
    add_run_options(resume_, options_, false);
    curve_ = add("curve", "measure how the score of a run's best candidate depends on the number of rows");
    curve_->add_option("RUN", curve_options_.run, "run directory")->required();
    curve_
        ->add_option("--points", curve_options_.points,
                     "number of points, each with about twice the rows of the one before (default: up to 6)")
        ->check(CLI::Range(2U, mokume::run::kMostCurvePoints));
    curve_->add_option("--devices", curve_options_.devices, "devices to use, as for run");
    curve_->add_option("--max-time", curve_options_.max_time, "stop cleanly after this time; repeat to resume");
    CLI::Option* json = curve_->add_flag("--json", curve_options_.json, "print the curve as JSON, without progress");
    curve_->add_flag("--quiet", curve_options_.quiet, "print only the curve, errors and warnings")->excludes(json);
    check_ = add("check", "check an experiment file, and whether its run would start on this machine");
    check_->add_option("CONFIG", options_.config, "experiment file")->required();
    check_->add_option("--set", options_.sets, "replace a key of the file; may be repeated")->take_all();
    child_ = add("device-child", "one device of a run")->group("");  // hidden
    child_->add_option("PARENT", parent_)->required();
    probe_library_ = add(registry::kProbeCommand, "try a library")->group("");  // hidden
    probe_library_->add_option("PARENT", tried_.parent)->required();
    probe_library_->add_option("KIND", tried_.kind)->required();
    probe_library_->add_option("NAME", tried_.name)->required();
    probe_library_->add_option("PATH", tried_.path)->required();
  }

  void add_readers() {
    list_ = add("list", "list runs with state, best value, age and size, the newest first");
    list_->add_option("DIR", out_, "directory for run directories (default: runs)");
    list_->add_flag("--json", json_, "as JSON");
    status_ = add_for_run("status", "show the progress of a run, and whether it is alive");
    status_->add_flag("--json", json_, "as JSON");
    explain_ = add_for_run(
        "explain", "explain why a fit waits, moved or failed, what went wrong in a run, or which columns matter");
    CLI::Option* fit = explain_->add_option(
        "FIT", name_,
        "id, candidate,fold, candidate,bootstrap,fold, refit or refit,bootstrap (default: the whole run)");
    CLI::Option* columns = explain_->add_flag(
        "--columns", columns_,
        "show how much the error rises if the cells of a column are shuffled, instead of explaining fits");
    columns->excludes(fit);
    explain_->add_option("--data", asked_.spec, "rows for --columns: source[:path][,key=value]... (default: the run's)")
        ->needs(columns);
    explain_->add_option("--repeats", repeats_, "number of shuffles of each column (default: 5)")
        ->check(CLI::Range(1U, 1000U))
        ->needs(columns);
    explain_->add_option("--devices", asked_.devices, "device to use (the first match)")->needs(columns);
    explain_->add_flag("--json", asked_.json, "the columns as JSON")->needs(columns);
    report_ = add_for_run("report", "rewrite tables, plots and report.html of a run");
    report_->add_flag("--watch", watch_, "repeat this every 30 s until the run ends; the page reloads itself");
    compare_ = add("compare", "show how two runs differ; the exit code is 1 if their fits differ");
    compare_->add_option("A", path_, "run directory")->required();
    compare_->add_option("B", other_, "run directory to compare with")->required();
    verify_ = add("verify", "compute results of a run again on the devices at hand, and say whether they are equal");
    add_verify_options(verify_, verified_);
    predict_ = add("predict", "predict pictures, or rows of a table, with a run's models");
    add_predict_options(predict_, asked_);
    export_ = add("export", "write a run's models as ONNX files, or its results with their origin as an RO-Crate");
    export_->add_option("RUN", exported_.run, "run directory")->required();
    CLI::Option* onnx = export_->add_option(
        "--onnx", exported_.onnx, "file to write (default: NAME.onnx); the members of an ensemble are numbered");
    CLI::Option* provenance = export_->add_option(
        "--provenance", exported_.provenance,
        "new directory for an RO-Crate: experiment, results, models, their hashes, versions and devices");
    provenance->excludes(onnx);
    export_->add_option("--sign", exported_.key, "SSH key that signs the SHA256SUMS of the RO-Crate")
        ->needs(provenance);
    import_ = add("import", "write an experiment file and weights from an ONNX file");
    import_->add_option("MODEL", imported_.file, "ONNX file of a network")->required();
    import_->add_option("--out", imported_.out, "folder to write (default: the name of the file)");
  }

  void add_prune() {
    prune_ = add("prune", "show which old runs and checkpoints in a directory can go; --yes removes them");
    prune_->add_option("DIR", pruned_.directory, "directory for run directories (default: runs)");
    CLI::Option_group* rule = prune_->add_option_group("Which", "one of");
    rule->add_option("--older-than", pruned_.older_than, "finished runs older than e.g. 30d or 12h");
    rule->add_option("--larger-than", pruned_.larger_than, "finished runs with more than e.g. 10G or 500 MiB");
    rule->add_option("--keep", pruned_.keep, "all finished runs of each experiment except this many of the newest");
    rule->get_option("--keep")->check(CLI::NonNegativeNumber.description(""));  // "-1" would be a huge number
    rule->require_option(1);
    prune_->add_flag("--unfinished", pruned_.unfinished, "also remove unfinished runs, but never a running one");
    prune_->add_flag(
        "--cache", pruned_.cache,
        "with --older-than or --larger-than: also remove built kernels and decoded pictures, which all runs share");
    prune_->add_flag("--yes", pruned_.yes, "remove what is shown");
  }

  void add_machine() {
    devices_ = add("devices", "list the devices of this machine");
    devices_->add_flag("--json", json_, "as JSON");
    devices_->add_flag("--probe", probe_,
                       "measure the speed of each device by itself; takes about a second per device");
    doctor_ =
        add("doctor", "show libraries, devices and problems with them; under mpirun also whether the nodes match");
    doctor_->add_option("--out", out_, "directory for run directories, which all nodes must see (default: runs)");
    schema_ = add("schema", "print the JSON Schema of experiment files");
    init_ = add("init", "print a commented experiment file to start from");
    init_->add_option("MODEL", name_, "model, e.g. svc")->required();
  }

  void add_data() {
    CLI::App* data = add("data", "list, describe and download data sets");
    data->require_subcommand(1);
    data_list_ = data->add_subcommand("list", "list data sets and where they are");
    data_info_ = data->add_subcommand("info", "load a data set and describe it");
    data_info_->add_option("SPEC", spec_, "source[:path][,key=value]...")->required();
    data_fetch_ = data->add_subcommand("fetch", "download a data set into the cache and check it");
    data_fetch_->add_option("NAME", name_, "data set, e.g. mnist")->required();
    data_fetch_->add_option("--from", from_, "base URL of a mirror (http, https or file)");
  }

  // Adds commands for the build, which installs their output.
  void add_texts() {
    completion_ = add("completion", "print a script that completes mokume's command lines")->group("");
    completion_->add_option("SHELL", name_, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    manual_ = add("manual", "print the manual page")->group("");
  }

  CLI::App cli_{"mokume runs machine-learning experiments described in TOML on every available device.", "mokume"};
  CLI::App *run_, *resume_, *curve_, *check_, *list_, *prune_, *status_, *explain_, *report_, *compare_, *verify_,
      *predict_, *export_, *import_, *devices_, *doctor_, *schema_, *init_, *data_list_, *data_info_, *data_fetch_,
      *child_, *probe_library_, *completion_, *manual_;
  CommandLine line_;
  RunOptions options_;
  VerifyOptions verified_;
  PredictOptions asked_;
  ExportOptions exported_;
  ImportOptions imported_;
  PruneOptions pruned_;
  ProbeOptions tried_;
  std::string path_, other_, spec_, name_, from_, out_ = "runs";
  bool json_ = false, probe_ = false, watch_ = false, columns_ = false;
  uint32_t repeats_ = 5;
  CurveOptions curve_options_;
  int parent_ = 0;
};

// Writes the rest of stdout and returns the exit code: a truncated table must not pass for a complete one. A reader
// that has closed its pipe or socket does not need the rest.
int after_output(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const int fault = errno;
  const std::string cause = fault == 0 ? "part of it was lost" : mokume::sdk::cause_of(fault);
  struct stat status {};
  if (::fstat(STDOUT_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))) return code;
  std::fprintf(stderr, "error: cannot write the output: %s; free disk space, or redirect it elsewhere\n",
               cause.c_str());
  return code != kDone ? code : fault == 0 || mokume::sdk::may_pass(fault) ? kStopped : kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // turns a file size limit into an error of write(), as on a full disk
  std::optional<Runtime> runtime;
  int code = kInternal;
  try {
    code = Commands(argc, argv).run(argc, argv, runtime);
  } catch (const mokume::Error& e) {
    say(stderr, "error: {}\n", e.what());
    if (runtime) runtime->log().place("mokume", e);
    code = exit_code(e.status());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "error: out of host memory\n");
    code = kDevice;
  } catch (const std::exception& e) {
    say(stderr, "internal error: {}\n", e.what());
  }
  code = after_output(code);
  if (runtime) runtime->part(code);
  return code;
}

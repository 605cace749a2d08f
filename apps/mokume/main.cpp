// The command line.
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "commands.hpp"
#include "sdk/error.hpp"

namespace {

using namespace mokume::app;

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

// What a shell would need to repeat the call.
std::string quoted_command(int argc, char** argv) {
  std::string text = "mokume";
  for (int k = 1; k < argc; ++k) text += " " + shell_quoted(argv[k]);
  return text;
}

// The commands that may load a library of the user's.
void add_plugins_option(CLI::App* command, std::vector<std::string>& directories) {
  command
      ->add_option("--plugins", directories,
                   "a directory with further backends and models in backends/ and plugins/; may be given again")
      ->take_all()
      ->allow_extra_args(false);
}

void add_run_options(CLI::App* command, RunOptions& options, bool all) {
  command->add_option("--devices", options.devices,
                      "devices to use: all, every, opencl, opencl:gpu, opencl:0, pocl, host, ...");
  command->add_option("--max-time", options.max_time,
                      "stop in good order after this time, e.g. 11h30m; run again to go on");
  if (!all) return;
  command->add_option("--set", options.sets, "KEY=VALUE replaces a key of the file, e.g. data.limit=5000")->take_all();
  command->add_option("--out", options.out, "directory for run directories (default: runs)");
  command->add_option("--seed", options.seed, "replaces the seed of the file");
}

void add_predict_options(CLI::App* command, PredictOptions& options) {
  command->add_option("RUN", options.run, "run directory")->required();
  CLI::Option* image = command->add_option("IMAGE", options.image, "PNG or JPEG file of any size");
  command->add_option("--data", options.spec, "rows instead: source[:path][,key=value]...")->excludes(image);
  command->add_option("--svg", options.svg, "writes the box plot of the members' certainty to this file")->needs(image);
  command->add_flag("--json", options.json, "what is known of the picture as JSON")->needs(image);
  command->add_option("--devices", options.devices, "device to use (the first of them)");
}

int run(int argc, char** argv, std::optional<Runtime>& made) {
  CLI::App cli{"mokume runs machine-learning experiments described in TOML on every device at hand."};
  cli.require_subcommand(1);
  cli.set_version_flag("--version", std::string("mokume ") + MOKUME_VERSION);
  RunOptions options;
  options.command = quoted_command(argc, argv);
  std::string path, other, spec, name, from;
  bool json = false, probe = false;

  CLI::App* run = cli.add_subcommand("run", "run an experiment, or go on with its unfinished run");
  run->add_option("CONFIG", options.config, "experiment file")->required();
  add_run_options(run, options, true);
  run->add_flag("--dry-run", options.dry_run, "show plan, memory and devices, and stop");
  run->add_option("--formations", options.formations,
                  "with --dry-run: hours and efficiency on nodes x devices of each, e.g. 1x3,3x1,4x3");
  run->add_flag("--profile", options.profile, "time every op and transfer, and show where the time goes");
  run->add_flag("--fresh", options.fresh, "start a new run even if one is unfinished");
  CLI::App* resume = cli.add_subcommand("resume", "go on with a run directory");
  resume->add_option("RUN", path, "run directory")->required();
  add_run_options(resume, options, false);
  CLI::App* check = cli.add_subcommand("check", "check an experiment file");
  check->add_option("CONFIG", options.config, "experiment file")->required();
  check->add_option("--set", options.sets, "KEY=VALUE replaces a key of the file")->take_all();
  CLI::App* status = cli.add_subcommand("status", "show how far a run is, and whether it is alive");
  status->add_option("RUN", path, "run directory")->required();
  status->add_flag("--json", json, "as JSON");
  CLI::App* explain =
      cli.add_subcommand("explain", "say why a fit waits, moved or failed, or what went wrong in a run");
  explain->add_option("RUN", path, "run directory")->required();
  explain->add_option(
      "FIT", name, "id, candidate,fold, candidate,bootstrap,fold, refit or refit,bootstrap (default: the whole run)");
  CLI::App* report = cli.add_subcommand("report", "write tables, plots and report.html of a run again");
  report->add_option("RUN", path, "run directory")->required();
  CLI::App* compare = cli.add_subcommand("compare", "say in what two runs differ, and whether their fits do");
  compare->add_option("A", path, "run directory")->required();
  compare->add_option("B", other, "another")->required();
  PredictOptions asked;
  CLI::App* predict = cli.add_subcommand("predict", "predict a picture, or rows as CSV, with a run's models");
  add_predict_options(predict, asked);
  CLI::App* list = cli.add_subcommand("devices", "list devices");
  list->add_flag("--json", json, "as JSON");
  list->add_flag("--probe", probe, "measure how fast each one is, alone; takes about a second each");
  CLI::App* doctor_command = cli.add_subcommand(
      "doctor",
      "show libraries, devices and what is wrong with them; under mpirun also whether the nodes fit together");
  std::string out = "runs";
  doctor_command->add_option("--out", out, "directory for run directories, which all nodes must see (default: runs)");
  CLI::App* schema = cli.add_subcommand("schema", "print the JSON Schema of experiment files");
  CLI::App* init = cli.add_subcommand("init", "print a commented experiment file to start from");
  init->add_option("MODEL", name, "model, e.g. svc")->required();
  CLI::App* data = cli.add_subcommand("data", "data sets");
  data->require_subcommand(1);
  CLI::App* data_list = data->add_subcommand("list", "what there is and where");
  CLI::App* data_show = data->add_subcommand("info", "load a data set and describe it");
  data_show->add_option("SPEC", spec, "source[:path][,key=value]...")->required();
  CLI::App* data_fetch = data->add_subcommand("fetch", "download a data set into the cache and check it");
  data_fetch->add_option("NAME", name, "data set, e.g. mnist")->required();
  data_fetch->add_option("--from", from, "base URL of a mirror (http, https or file)");

  std::vector<std::string> plugins;
  for (CLI::App* command :
       {run, resume, check, status, explain, report, compare, predict, list, doctor_command, schema, init})
    add_plugins_option(command, plugins);

  int parent = 0;
  CLI::App* child = cli.add_subcommand("device-child", "one device of a run")->group("");  // not shown
  child->add_option("PARENT", parent)->required();

  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = cli.exit(e);
    return code == 0 ? kDone : kUsage;
  }
  if (data_list->parsed()) return list_data();
  if (data_show->parsed()) return data_info(spec);
  if (data_fetch->parsed()) return fetch_data(name, from);

  if (child->parsed()) return device_child(parent);

  Runtime& runtime = made.emplace(CommandLine{{argv, argv + argc}, plugins});
  if (run->parsed()) return run_experiment(runtime, options);
  if (resume->parsed()) return resume_run(runtime, path, options);
  if (check->parsed()) return check_config(runtime, options);
  if (status->parsed()) return show_status(runtime, path, json);
  if (explain->parsed()) return mokume::app::explain(runtime, path, name);
  if (compare->parsed()) return mokume::app::compare(runtime, path, other);
  if (report->parsed()) return rebuild_report(runtime, path);
  if (predict->parsed()) return mokume::app::predict(runtime, asked);
  if (list->parsed()) return list_devices(runtime, json, probe);
  if (doctor_command->parsed()) return doctor(runtime, out);
  if (schema->parsed()) return print_schema(runtime);
  if (init->parsed()) return init_config(runtime, name);
  return kUsage;
}

int guarded_run(int argc, char** argv, std::optional<Runtime>& runtime) {
  try {
    return run(argc, argv, runtime);
  } catch (const mokume::Error& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return exit_code(e.status());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "error: out of host memory\n");
    return kDevice;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "internal error: %s\n", e.what());
    return kInternal;
  }
}

// The exit code once stdout is written: a table that was cut must not pass for a whole one. A reader of a pipe or
// socket that has left wanted no more.
int after_output(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const std::string cause = errno == 0 ? "a part is lost" : std::strerror(errno);
  struct stat status {};
  if (::fstat(STDOUT_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))) return code;
  std::fprintf(stderr, "error: cannot write the output: %s; make room, or send it elsewhere\n", cause.c_str());
  return code == kDone ? kStopped : code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write(), as on a full disk
  std::optional<Runtime> runtime;
  const int code = after_output(guarded_run(argc, argv, runtime));
  if (runtime) runtime->part(code);
  return code;
}

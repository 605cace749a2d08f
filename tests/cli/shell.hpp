// Runs the program from a shell.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/sealed.hpp"
#include "support/paths.hpp"

namespace mokume::cli_test {

namespace fs = std::filesystem;

struct Ended {
  int code = -1;
  std::string out, err;
};

inline std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

// Return the directories with libraries for tests: the model `mean`, the backend `fault`, and copies of both that
// record when they are loaded.
inline std::string test_library() { return test::build_directory() + "/tests/cli/library"; }
inline std::string fault_library() { return test::build_directory() + "/tests/faults/library"; }
inline std::string marked_library() { return test::build_directory() + "/tests/cli/marked"; }

// Owns a scratch directory, in which all commands run.
class Place {
 public:
  Place() {
    std::string pattern = (fs::temp_directory_path() / "mokume-cli-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Place() { fs::remove_all(path_); }

  const fs::path& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

  static std::string program_path() { return test::build_directory() + "/bin/mokume"; }
  static std::string program() { return test::shell_word(program_path()); }

  Ended shell(const std::string& command) const {
    const std::string line = "cd " + path_.string() + " && { " + command + "; } >out.txt 2>err.txt </dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(path_ / "out.txt"),
            slurp(path_ / "err.txt")};
  }
  Ended mokume(const std::string& arguments) const { return shell(program() + " " + arguments); }

  // Starts the program and returns its process id; wait() waits for it.
  pid_t start(const std::vector<std::string>& arguments) const {
    const pid_t pid = fork();
    if (pid == 0) {
      std::vector<char*> argv;
      std::string name = program_path();
      argv.push_back(name.data());
      for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
      argv.push_back(nullptr);
      if (chdir(path_.c_str()) != 0 || freopen("child.txt", "w", stderr) == nullptr) _exit(99);
      execv(name.c_str(), argv.data());
      _exit(99);
    }
    return pid;
  }
  static int wait(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  fs::path run(const std::string& name) const {
    for (const auto& entry : fs::directory_iterator(path_ / "runs" / name)) return entry.path();
    return {};
  }

 private:
  fs::path path_;
};

// Returns a small but real experiment of 12 candidates and 36 fits. 500 digits take well under a second; 3000 leave
// time to interfere.
inline std::string small_experiment(const std::string& devices, int digits = 500) {
  return "name = \"small\"\nmodel = \"svc\"\nseed = 7\n[data]\nsource = \"digits\"\nlimit = " + std::to_string(digits) +
         "\nstandardize = { mean = 127.5, scale = 73.61 }\n[validation]\nfolds = 3\n[search]\nmethod = \"grid\"\n"
         "[search.params]\nC = { log10 = [-1, 4], n = 6 }\ngamma = [0.001, 0.01]\n[devices]\nuse = \"" +
         devices + "\"\n";
}

inline bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells{""};
  for (const char c : row) {
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

// Holds the content of files that must not depend on the device that computed them.
struct Bytes {
  std::string results, model, curves;
  bool operator==(const Bytes&) const = default;
};

inline Bytes bytes_of(const fs::path& run) {
  return {slurp(run / "results.csv"), slurp(run / "models/best/model.safetensors"),
          slurp(run / "plots/curves-loss.svg")};
}

// Replaces a part of the text of a sealed file and writes the file with a new checksum.
inline void rewrite(const fs::path& file, const std::string& part, const std::string& by) {
  std::string object = base::unseal_file(slurp(file)).value().object;
  object.replace(object.find(part), part.size(), by);
  std::ofstream(file, std::ios::binary) << base::seal(object);
}

inline bool have(const char* command) {
  return std::system((std::string("command -v ") + command + " >/dev/null").c_str()) == 0;
}

// Returns mpirun's arguments for different commands on rank 0 and rank 1. The mpirun of Open MPI 5.0.7 in Debian 13
// crashes on `COMMAND : COMMAND` (open-mpi/ompi issue 13303).
inline std::string by_rank(const std::string& rank_0, const std::string& rank_1) {
  return "-np 2 sh -c " +
         test::shell_word("if [ $OMPI_COMM_WORLD_RANK = 0 ]; then exec " + rank_0 + "; else exec " + rank_1 + "; fi");
}

}  // namespace mokume::cli_test

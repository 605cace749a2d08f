// Defines targets for the files of support vector machines.
#include <cmath>
#include <numeric>
#include <vector>

#include "calibration.hpp"
#include "fitted.hpp"
#include "fuzz.hpp"
#include "libsvm_file.hpp"
#include "node/calibration.hpp"
#include "saved_solves.hpp"
#include "storage/checkpoint_file.hpp"

namespace mokume::fuzz {
namespace {

// Reads one file of LIBSVM. The first byte is the number of features less 1.
FUZZ_TARGET(svc_file) {
  if (bytes.empty()) return;
  const int64_t features = static_cast<unsigned char>(bytes[0]) + 1;
  const std::string path = file("a.libsvm", bytes.substr(1)), again = scratch() + "/b.libsvm";
  accepts([&] {
    svc::write_libsvm(again, svc::read_libsvm(path, features));
    const std::string first = contents(again);
    svc::write_libsvm(again, svc::read_libsvm(again, features));
    require(contents(again) == first, "a model reads back differently");
  });
}

// Reads the manifest, and the file of each class, of each pair or of all classes.
FUZZ_TARGET(svc_model) {
  const auto all = parts(bytes, 4);
  file("svc/manifest.json", all[0]);
  file("svc/model.libsvm", all[1]);
  for (size_t k = 0; k < 3; ++k)
    for (const char* of : {"class-", "pair-"}) file("svc/" + (of + std::to_string(k)) + ".libsvm", all[k + 1]);
  accepts([] {
    const svc::Fitted read = svc::Fitted::load(scratch() + "/svc");
    require(read.keeps_sparse ? read.sparse.rows() == read.n_vectors()
                              : read.vectors.size() == static_cast<size_t>(read.n_vectors() * read.features),
            "vectors of another size");
    require(read.coefficients.size() == static_cast<size_t>(read.n_vectors() * read.problems()),
            "coefficients of another size");
    for (const auto* numbers : {&read.vectors, &read.sparse.x, &read.coefficients, &read.rho})
      for (const float number : *numbers) require(std::isfinite(number), "a model with infinities");
    file("svc-again/manifest.json", "");
    read.save(scratch() + "/svc-again");
    svc::Fitted::load(scratch() + "/svc-again");
  });
}

// Reads the solves of an unfinished fit. Those that the program takes are written again.
FUZZ_TARGET(svc_checkpoint, summed) {
  mk_host table{};
  table.log = [](void*, int32_t, const char*, const char* text) { require(*text != '\0', "a warning says nothing"); };
  const storage::CheckpointFile kept(sdk::Host(&table), "svc", scratch() + "/fit", "checkpoint-1");
  file("fit/checkpoint-1.safetensors", bytes);
  const std::vector<svc::SavedSolve> solves = kept.read("fit", svc::get_solves);
  if (solves.empty()) return;
  const auto write = [&](const std::vector<svc::SavedSolve>& all) {
    for (const svc::SavedSolve& solve : all) require(svc::is_finite(solve), "a solve with infinities");
    safetensors::Writer writer;
    svc::put_solves(all, writer);
    kept.write(writer, "fit");
    return contents(scratch() + "/fit/checkpoint-1.safetensors");
  };
  const std::string first = write(solves);
  require(write(kept.read("fit", svc::get_solves)) == first, "solves read back differently");
}

// Reads calibrations of three classes, so that both kinds of decisions have three decision values.
FUZZ_TARGET(calibration) {
  const std::string directory = scratch() + "/model";
  file("model/calibration.json", bytes);
  accepts([&] {
    const node::Calibration read = node::read_calibration(directory, 3).value();
    node::write_calibration(directory, read);
    require(base::to_json(node::read_calibration(directory, 3).value()) == base::to_json(read),
            "a calibration reads back differently");
    const std::vector<mk_sigmoid> sigmoids(read.sigmoids.begin(), read.sigmoids.end());
    const mk_score_kind kind =
        read.decisions == node::Decisions::one_vs_one ? MK_SCORES_ONE_VS_ONE : MK_SCORES_ONE_VS_REST;
    for (const std::vector<float>& row : {std::vector<float>{0.5F, -1, 2}, {-1e30F, 1e30F, 0}}) {
      double probabilities[3];
      svc::probabilities(sigmoids, kind, row.data(), 3, &probabilities[0]);
      const double sum = std::accumulate(std::begin(probabilities), std::end(probabilities), 0.0);
      require(std::abs(sum - 1) < 1e-6, "probabilities that do not sum to 1: " + base::to_json(read));
    }
  });
}

}  // namespace
}  // namespace mokume::fuzz

// Targets for the files of support vector machines.
#include <cmath>

#include "fitted.hpp"
#include "fuzz.hpp"
#include "libsvm_file.hpp"

namespace mokume::fuzz {
namespace {

// Reads one file of LIBSVM; the first byte is the number of features.
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

// Reads the manifest, and the file of each class or of all classes.
FUZZ_TARGET(svc_model) {
  const auto all = parts(bytes, 4);
  file("svc/manifest.json", all[0]);
  file("svc/model.libsvm", all[1]);
  for (size_t k = 0; k < 3; ++k) file("svc/class-" + std::to_string(k) + ".libsvm", all[k + 1]);
  accepts([] {
    const svc::Fitted read = svc::Fitted::load(scratch() + "/svc");
    require(read.vectors.size() == static_cast<size_t>(read.n_vectors() * read.features), "vectors of another size");
    require(read.coefficients.size() == static_cast<size_t>(read.n_vectors() * read.problems()),
            "coefficients of another size");
    for (const auto* numbers : {&read.vectors, &read.coefficients, &read.rho})
      for (const float number : *numbers) require(std::isfinite(number), "a model with infinities");
    file("svc-again/manifest.json", "");
    read.save(scratch() + "/svc-again");
    svc::Fitted::load(scratch() + "/svc-again");
  });
}

}  // namespace
}  // namespace mokume::fuzz

// Keeps the numbers of a large model in one more file, vectors.safetensors, which loads faster than LIBSVM's texts.
//
// The file names the texts from which it was made with their SHA-256, and counts only while SHA256SUMS lists the same.
// The program checks the texts against SHA256SUMS, so the file and the texts have the same numbers.
#pragma once

#include <string>
#include <vector>

#include "fitted.hpp"

namespace mokume::svc {

// Returns whether the texts are so large that the file is worth its space.
bool worth_vectors(const std::string& directory, const std::vector<std::string>& texts);

// Writes the vectors, coefficients and rho of a model that was loaded from these texts.
void write_vectors(const std::string& directory, const std::vector<std::string>& texts, const Fitted& loaded);

// Reads what write_vectors() wrote into a model that has its manifest already, with one rho for each of `problems`.
// Returns false if there is no file, or if it is not that of these texts. Throws Error(MK_BAD_DATA) if it is damaged.
bool read_vectors(const std::string& directory, const std::vector<std::string>& texts, int64_t problems, Fitted& to);

}  // namespace mokume::svc

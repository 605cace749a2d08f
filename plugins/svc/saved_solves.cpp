#include "saved_solves.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "sdk/error.hpp"
#include "sdk/json.hpp"

namespace mokume::svc {
namespace {

using nlohmann::json;
namespace st = safetensors;

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

template <class T>
void put(st::Writer& writer, const std::string& name, const std::vector<T>& values) {
  writer.add(name, {static_cast<int64_t>(values.size())}, values.data());
}

template <class T>
std::vector<T> get(const st::Reader& reader, const std::string& name) {
  const st::Tensor* const tensor = reader.find(name);
  if (tensor == nullptr || tensor->dtype != st::kDtype<T> || tensor->shape.size() != 1)
    throw std::out_of_range(name + " is missing");
  std::vector<T> values(static_cast<size_t>(tensor->shape.front()));
  reader.read(*tensor, values.data());
  return values;
}

int32_t small_number(const json& value) {
  const int64_t whole = sdk::whole_number(value);
  if (whole < INT32_MIN || whole > INT32_MAX) throw std::out_of_range("a number does not fit");
  return static_cast<int32_t>(whole);
}

int64_t count(const json& value) {
  const int64_t whole = sdk::whole_number(value);
  if (whole < 0) throw std::out_of_range("a count is negative");
  return whole;
}

json described(const SavedSolve& solve) {
  json text{{"problem", solve.problem}, {"c", solve.c}};
  if (solve.solution) {
    text["steps"] = solve.solution->steps;
    text["vectors"] = solve.solution->vectors;
    text["at_c"] = solve.solution->at_c;
    text["capped"] = solve.solution->capped;
  } else {
    text["steps"] = solve.state.steps;
    text["status"] = solve.state.status;
    text["best"] = solve.state.best;
    text["need"] = solve.state.need;
    text["steps_left"] = solve.state.steps_left;
    text["poor_rounds"] = solve.state.poor_rounds;
  }
  return text;
}

SavedSolve solve_of(const st::Reader& reader, const json& text, const std::string& key) {
  SavedSolve solve;
  solve.problem = count(text.at("problem"));
  solve.c = text.at("c").get<double>();
  const std::vector<float> numbers = get<float>(reader, key + "numbers");
  if (text.contains("vectors")) {
    solve.solution = {numbers.at(0), count(text.at("steps")), count(text.at("vectors")), count(text.at("at_c")),
                      text.at("capped").get<bool>()};
    solve.values = get<float>(reader, key + "values");
  } else {
    SolveState& s = solve.state;
    s.steps = count(text.at("steps"));
    s.status = small_number(text.at("status"));
    s.best = small_number(text.at("best"));
    s.need = small_number(text.at("need"));
    s.steps_left = small_number(text.at("steps_left"));
    s.poor_rounds = small_number(text.at("poor_rounds"));
    s.up = numbers.at(0);
    s.low = numbers.at(1);
    s.up_rest = numbers.at(2);
    s.rounding = numbers.at(3);
    s.flags = get<int32_t>(reader, key + "flags");
    s.f = get<float>(reader, key + "f");
    s.a = get<float>(reader, key + "a");
    s.members = get<int32_t>(reader, key + "members");
    s.inner = get<float>(reader, key + "inner");
  }
  if (!is_finite(solve)) throw std::out_of_range("a number is not finite");
  return solve;
}

std::string key_of(size_t k) { return std::to_string(k) + "."; }

}  // namespace

bool is_finite(const SavedSolve& solve) {
  const SolveState& s = solve.state;
  return std::isfinite(solve.c) && (!solve.solution || std::isfinite(solve.solution->rho)) &&
         all_finite(solve.values) && !std::isnan(s.up) && !std::isnan(s.low) && std::isfinite(s.up_rest) &&
         std::isfinite(s.rounding) && all_finite(s.f) && all_finite(s.a) && all_finite(s.inner);
}

void put_solves(const std::vector<SavedSolve>& solves, safetensors::Writer& writer) {
  json all = json::array();
  for (size_t k = 0; k < solves.size(); ++k) {
    const SavedSolve& solve = solves[k];
    const SolveState& s = solve.state;
    const std::string key = key_of(k);
    const std::vector<float> numbers =
        solve.solution ? std::vector{solve.solution->rho} : std::vector{s.up, s.low, s.up_rest, s.rounding};
    writer.add(key + "numbers", st::kDtype<float>, {static_cast<int64_t>(numbers.size())},
               [numbers](const st::Writer::Put& to) { to(numbers.data(), numbers.size() * sizeof(float)); });
    all.push_back(described(solve));
    if (solve.solution) {
      put(writer, key + "values", solve.values);
      continue;
    }
    put(writer, key + "flags", s.flags);
    put(writer, key + "f", s.f);
    put(writer, key + "a", s.a);
    put(writer, key + "members", s.members);
    put(writer, key + "inner", s.inner);
  }
  writer.metadata("solves", all.dump());
}

std::vector<SavedSolve> get_solves(const safetensors::Reader& reader) {
  std::vector<SavedSolve> solves;
  const json all = sdk::parse_json<json>(reader.metadata().at("solves"));
  for (const json& text : all) solves.push_back(solve_of(reader, text, key_of(solves.size())));
  return solves;
}

}  // namespace mokume::svc

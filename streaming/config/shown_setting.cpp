// The text of settings has numbers where a file has words, and poles where a file has ν. Here they are translated
// back.
#include "config/shown_setting.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/transform_names.h"
#include "nustream/base/units.h"
#include "nustream/noise/rational.h"

namespace nustream::config {
namespace {

/// A setting that the text holds as a number, and the names that a file has for its numbers.
struct Code {
  std::string_view setting;
  std::vector<const char*> names;
};
// The places in these lists are the numbers of the enumerations, which the text holds.
const std::vector<const char*> time_units{"none", "s", "ms", "us"};
const std::vector<const char*> schedules{"constant", "inverse-sqrt", "inverse", "warm-up", "piecewise", "cooldown"};
// A name that ends with the setting is meant, since a feature's lines begin with its own name.
const Code codes[] = {
    {"transform", {transform_names.begin(), transform_names.end()}},
    {"descent.schedule", schedules},
    {"first_stage.schedule", schedules},
    {"descent.projection", {"none", "ball", "box"}},
    {"descent.average", {"last", "tail", "exponential"}},
    {"noise.generator", {"automatic", "direct", "fft", "recurrent", "tree", "dense"}},
    {"privacy.adjacency", {"zero-out", "replace-one"}},
    {"stream.envelope", {"none", "debezium"}},
    {"model.intercept", {"false", "true"}},
    {"stream.time_unit", time_units},
    {"'.unit", time_units},
};

/// The ν of the rational correlation with these poles; "" where there is none.
std::string nu_of(const std::vector<std::string>& poles) {
  std::vector<double> wanted;  // follow the number of poles
  for (std::size_t i = 1; i < poles.size(); ++i) wanted.push_back(std::strtod(poles[i].c_str(), nullptr));
  if (wanted.empty() || wanted.size() > 64) return {};
  const double largest = *std::max_element(wanted.begin(), wanted.end());
  const auto pole_of = [&](double nu) {
    const auto q = noise::Rational::nu_ftrl(Damping{nu}, wanted.size()).q();
    return *std::max_element(q.begin(), q.end());
  };
  // The largest pole falls as ν grows. So bisection finds ν, and then all poles are compared.
  try {
    // The range of ν, halved in its logarithm a hundred times, which leaves no more than rounding.
    double low = 1e-10;
    double high = 0.25;
    for (int i = 0; i < 100; ++i) {
      const double middle = std::sqrt(low * high);
      (pole_of(middle) > largest ? low : high) = middle;
    }
    const auto found = noise::Rational::nu_ftrl(Damping{high}, wanted.size()).q();
    // Poles are written with all digits, but ν was found only up to rounding.
    const bool is_it = std::equal(wanted.begin(), wanted.end(), found.begin(), found.end(),
                                  [](double a, double b) { return std::abs(a - b) < 1e-7; });
    return is_it ? fmt::format("{:.6g}", high) : std::string();  // any other poles were set by hand
  } catch (const std::exception&) {
    return {};
  }
}

/// The numbers behind their count: "[0, 1]".
std::string vector_of(const std::vector<std::string>& values) {
  return fmt::format("[{}]", fmt::join(values.begin() + 1, values.end(), ", "));
}

}  // namespace

std::string shown_setting(const std::string& name, const std::vector<std::string>& values) {
  if (name == "noise.nu" && values.size() > 1) return nu_of(values);
  if (name.ends_with(".start")) return vector_of(values);
  // The text has sums in the place of ρ, and the length of batches in that of the steps before them.
  if (values.size() != 1 || name == "privacy.rho" || name == "intervals.burn_in") return {};
  // A horizon of 0 in the text stands for none.
  if (name == "noise.horizon" && values.front() == "0") return "none";
  for (const Code& code : codes) {
    if (!name.ends_with(code.setting)) continue;
    const std::size_t at = std::strtoul(values.front().c_str(), nullptr, 10);
    return at < code.names.size() ? code.names[at] : std::string();
  }
  return values.front();
}

}  // namespace nustream::config

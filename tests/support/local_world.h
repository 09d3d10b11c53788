// A folder with users' records, public rows and settings: what the tests of `nustream local` start from.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "temporary_folder.h"

namespace nustream::tests {

class LocalWorld {
 public:
  explicit LocalWorld(std::size_t users = 500) {
    folder_.write("records.csv", records(users));
    folder_.write("public.csv", public_rows(2000));
    config_ = folder_.write("local.toml", settings());
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] const std::string& config() const noexcept { return config_; }
  std::string write(const std::string& name, const std::string& text) const { return folder_.write(name, text); }

  /// Settings of a logistic model with two features and keys, with folders of its own.
  [[nodiscard]] std::string settings() const {
    return fmt::format(R"([stream]
name = "survey"
[target]
column = "y"
[[features]]
column = "a"
[[features]]
column = "b"
[local]
epsilon = 8
delta = 1e-5
x_l2_max = 1.0
label_centre = 0.5
record_key = "user"
public_rows = "public.csv"
reports_directory = "{}"
directory = "{}"
)",
                       path("reports"), path("sums"));
  }
  /// Settings of one feature, for what needs reports of two numbers.
  [[nodiscard]] std::string one_feature() const {
    return folder_.write("one.toml", R"([stream]
name = "one"
[target]
column = "y"
[[features]]
column = "a"
[local]
epsilon = 1
delta = 1e-5
x_l1_max = 1.0
)");
  }

  /// Records with P(y = 1) = 1/(1 + exp(−(2a − b))), where a and b are uniform in ±½.
  static std::string records(std::size_t users, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-0.5, 0.5);
    std::string text = "user,a,b,y\n";
    for (std::size_t i = 0; i < users; ++i) {
      const double a = uniform(random), b = uniform(random);
      const bool one = uniform(random) + 0.5 < 1 / (1 + std::exp(b - 2 * a));
      text += fmt::format("user-{},{:.5f},{:.5f},{}\n", i, a, b, one ? 1 : 0);
    }
    return text;
  }
  static std::string public_rows(std::size_t rows) {
    std::mt19937_64 random(99);
    std::uniform_real_distribution<double> uniform(-0.5, 0.5);
    std::string text = "b,a\n";
    for (std::size_t i = 0; i < rows; ++i) text += fmt::format("{:.5f},{:.5f}\n", uniform(random), uniform(random));
    return text;
  }

 private:
  TemporaryFolder folder_;
  std::string config_;
};

}  // namespace nustream::tests

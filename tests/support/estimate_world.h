// A folder with a small table, the configuration of an estimate over it and its state.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {

/// A table of 290 records, 100 a step: a pass has 3 steps, the last of which is filled up. The estimate takes 10
/// steps: three passes, and one step of a fourth. Every step is a commit.
class EstimateWorld {
 public:
  EstimateWorld() {
    folder_.write("rows.csv", csv(290));
    config_ = folder_.write("table.toml", R"([stream]
name = "table"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x"
[descent]
step_size = 0.3
clip_norm = 2.0
minibatch = 100
[privacy]
rho = 0.5
delta = 1e-6
[state]
commit_seconds = 1e-9
[estimate]
steps = 10
)");
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] const std::string& config() const noexcept { return config_; }
  std::string write(const std::string& name, const std::string& text) const { return folder_.write(name, text); }

  [[nodiscard]] std::vector<std::string> estimate(const std::vector<std::string>& more,
                                                  const std::string& state = "state") const {
    std::vector<std::string> arguments{"estimate", config_, "--quiet", "--set", "state.directory=" + path(state)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  [[nodiscard]] CommandResult run(const std::vector<std::string>& more, const std::string& state = "state") const {
    return run_command(NUSTREAM_COMMAND, estimate(more, state));
  }
  [[nodiscard]] bool has_state(const std::string& state) const {
    return std::filesystem::exists(path(state + "/state"));
  }
  /// The releases that are whole lines, since a kill may leave a torn one.
  [[nodiscard]] std::string releases(const std::string& state = "state") const {
    const std::string file = path(state + "/releases.jsonl");
    const std::string text = std::filesystem::exists(file) ? read_file(file) : "";
    return text.substr(0, text.rfind('\n') + 1);
  }
  [[nodiscard]] simdjson::dom::element inspect(simdjson::dom::parser& parser, const std::string& state = "state",
                                               const std::vector<std::string>& key = {}) const {
    std::vector<std::string> arguments{"inspect", path(state), "--json"};
    arguments.insert(arguments.end(), key.begin(), key.end());
    const CommandResult result = run_command(NUSTREAM_COMMAND, arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return parser.parse(result.out);
  }

  static std::string csv(std::size_t rows, std::uint64_t seed = 1) {
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> normal;
    std::string text = "x,y\n";
    for (std::size_t i = 0; i < rows; ++i) {
      const double x = normal(bits);
      text += fmt::format("{:.5f},{:.5f}\n", x, 1 - 0.5 * x + 0.3 * normal(bits));
    }
    return text;
  }

 private:
  TemporaryFolder folder_;
  std::string config_;
};

}  // namespace nustream::tests

// A folder with a small stream, its configuration and its state, from which tests of the replay command start.
#pragma once

#include <sys/stat.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {

class ReplayWorld {
 public:
  explicit ReplayWorld(std::size_t rows = 2000) {
    folder_.write("rows.csv", csv(rows));
    config_ = folder_.write("stream.toml", R"([stream]
name = "world"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x"
[descent]
step_size = 0.01
clip_norm = 1.0
average = "tail"
average_from = 500
[privacy]
rho = 0.5
delta = 1e-6
[noise]
nu = 0.01
[release]
every = 100
)");
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] const std::string& config() const noexcept { return config_; }
  std::string write(const std::string& name, const std::string& text) const { return folder_.write(name, text); }

  /// The arguments of `nustream replay CONFIG` with the state in `state`, and `more` of them.
  [[nodiscard]] std::vector<std::string> replay(std::vector<std::string> more,
                                                const std::string& state = "state") const {
    std::vector<std::string> arguments{"replay", config_, "--set", "state.directory=\"" + path(state) + "\""};
    for (std::string& argument : more) arguments.push_back(std::move(argument));
    return arguments;
  }
  [[nodiscard]] CommandResult run(std::vector<std::string> more, const std::string& state = "state",
                                  const std::string& program = NUSTREAM_COMMAND) const {
    return run_command(program, replay(std::move(more), state));
  }
  [[nodiscard]] std::string releases(const std::string& state = "state") const {
    return read_file(folder_.path() / state / "releases.jsonl");
  }

  /// Records with y = 1 − 0.5x + noise, below a header; every 97th is unusable.
  static std::string csv(std::size_t rows, std::uint64_t seed = 1) {
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> normal;
    std::string text = "x,y\n";
    for (std::size_t i = 0; i < rows; ++i) {
      const double x = normal(bits);
      const double y = 1 - 0.5 * x + 0.3 * normal(bits);
      text += i % 97 == 96 ? "unusable,row\n" : fmt::format("{:.5f},{:.5f}\n", x, y);
    }
    return text;
  }

 private:
  TemporaryFolder folder_;
  std::string config_;
};

}  // namespace nustream::tests

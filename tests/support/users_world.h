// A folder with a small stream whose records belong to users, and the settings of a run over it by user.
#pragma once

#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {

inline std::vector<std::string> with(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

/// The slope of every release, in order.
inline std::vector<double> slopes_of(const std::string& releases) {
  simdjson::dom::parser parser;
  std::istringstream lines(releases);
  std::vector<double> slopes;
  for (std::string line; std::getline(lines, line);) {
    slopes.push_back(parser.parse(line)["estimate"]["x"].get_double().value());
  }
  return slopes;
}

class UsersWorld {
 public:
  /// The settings of the stream's name, input and columns, with which every configuration over it begins.
  static constexpr const char* columns = R"([stream]
name = "users"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x"
)";

  /// `rows` records of `users` users, some of nobody. Minibatches have 20 records and a release each, and every 100
  /// records there is a commit.
  explicit UsersWorld(std::size_t rows = 2000, std::uint64_t users = 40, const std::string& limits = "") {
    folder_.write("rows.csv", csv(rows, users));
    config_ = folder_.write("users.toml", std::string(columns) + R"([descent]
step_size = 0.05
clip_norm = 1.0
minibatch = 20
[privacy]
unit = "user"
user = "who"
user_null = ["", "0"]
rho = 0.5
delta = 1e-6
[noise]
nu = 0.01
[release]
every = 1
[state]
commit_records = 100
commit_seconds = 1e9
[users]
)" + (limits.empty() ? "participations = 3\nseparation = 2\n" : limits));
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] const std::string& config() const noexcept { return config_; }
  std::string write(const std::string& name, const std::string& text) const { return folder_.write(name, text); }

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
    const std::string file = path(state + "/releases.jsonl");
    return std::filesystem::exists(file) ? read_file(file) : "";
  }

  /// Records with y = 1 − 0.5x + noise. User 1 has every third record, the others have some, and every 97th is
  /// unusable.
  static std::string csv(std::size_t rows, std::uint64_t users, std::uint64_t seed = 1) {
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> normal;
    std::string text = "x,who,y\n";
    for (std::size_t i = 0; i < rows; ++i) {
      const double x = normal(bits);
      const double y = 1 - 0.5 * x + 0.3 * normal(bits);
      const std::uint64_t who = i % 3 == 0 ? 1 : bits() % users;  // 0 is nobody
      text += i % 97 == 96 ? "unusable,1,row\n" : fmt::format("{:.5f},{},{:.5f}\n", x, who, y);
    }
    return text;
  }

 private:
  TemporaryFolder folder_;
  std::string config_;
};

}  // namespace nustream::tests

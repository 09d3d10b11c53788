// A replay whose key and witness lie in a folder of their own, beside the world's.
#pragma once

#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "replay_world.h"

namespace nustream::tests {

namespace fs = std::filesystem;

inline void copy_folder(const std::string& from, const std::string& to) {
  fs::remove_all(to);
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

inline std::vector<fs::path> files_in(const fs::path& folder, const std::string& ending) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ending) found.push_back(entry.path());
  }
  return found;
}

class Witnessed : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> with_keys(std::vector<std::string> more) const {
    more.insert(more.end(), {"--set", "state.key_directory=\"" + world.path("keys") + "\""});
    return more;
  }
  [[nodiscard]] CommandResult run(std::vector<std::string> more, const std::string& state = "state") const {
    return world.run(with_keys(std::move(more)), state);
  }
  [[nodiscard]] fs::path witness() const {
    const auto found = files_in(world.path("keys"), ".witness");
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? fs::path() : found.front();
  }
  [[nodiscard]] double total_rho(const std::string& state = "state") const {
    const CommandResult result = run_command(NUSTREAM_COMMAND, {"inspect", world.path(state), "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    simdjson::dom::parser parser;
    return parser.parse(result.out)["total_rho"].get_double().value();
  }
  static void expect_refused(const CommandResult& result, int code, const std::string& part) {
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  }
  static void expect_no_warning(const CommandResult& result) {
    EXPECT_EQ(result.err.find("warning"), std::string::npos) << result.err;
  }
  /// Runs until record 500, makes a copy, and goes on until record 1,000.
  void begin_copy_and_go_on() const {
    ASSERT_EQ(run({"--to", "500"}).code, 0);
    copy_folder(world.path("state"), world.path("copy"));
    ASSERT_EQ(run({"--resume", "--to", "1000"}).code, 0);
  }

  const ReplayWorld world;
};

}  // namespace nustream::tests

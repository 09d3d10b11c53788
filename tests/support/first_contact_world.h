// A newcomer's configuration, and commands over it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "command.h"
#include "temporary_folder.h"
#include "typed_look.h"

namespace nustream::tests {

using Words = std::vector<std::string>;

inline constexpr const char* door_settings = R"([stream]
name = "door"
input = "in.csv"
[target]
column = "y"
[[features]]
column = "x"
[descent]
step_size = 0.01
clip_norm = 2.0
[privacy]
rho = 0.5
delta = 1e-6
[noise]
nu = 0.01
)";

/// The same without its noise, to which another command's sections may be added.
inline std::string door_without_noise() {
  const std::string all = door_settings;
  return all.substr(0, all.find("[noise]"));
}

class FirstContact : public ::testing::Test {
 protected:
  FirstContact() : config_(folder_.write("door.toml", door_settings)) {}

  std::string write(const std::string& name, const std::string& text) const { return folder_.write(name, text); }
  CommandResult run(const std::string& command, Words more = {}) const {
    Words words{command, config_, "--set", "state.directory=" + (folder_.path() / "state").string()};
    words.insert(words.end(), more.begin(), more.end());
    CommandResult result = run_command(NUSTREAM_COMMAND, words);
    result.err = with_short_look(result.err);
    return result;
  }
  CommandResult check(Words more) const {
    more.insert(more.begin(), {"check", config_, "--data"});
    return run_command(NUSTREAM_COMMAND, more);
  }

  TemporaryFolder folder_;
  std::string config_;
};

inline std::string lines_of(int count, const std::function<std::string(int)>& line) {
  std::string text;
  for (int i = 0; i < count; ++i) text += line(i) + "\n";
  return text;
}

}  // namespace nustream::tests

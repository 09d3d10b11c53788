// A topic whose users count anew in every second of append time.
#pragma once

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "attach_users_world.h"

namespace nustream::tests {

class AttachWindowsWorld : public AttachUsersWorld {
 public:
  AttachWindowsWorld() {
    change_config({{"[users]\n", "[users]\nperiod = \"PT1S\"\n"}});
    alter_topic(direct(), name(), {{"message.timestamp.type", "LogAppendTime"}});
  }

  /// Writes the values in `parts` parts. Each part comes in one second of its own, or in two.
  void write_in_windows(const std::vector<std::string>& values, std::size_t parts) const {
    for (std::size_t part = 0; part < parts; ++part) {
      const auto at = [&](std::size_t i) {
        return values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / parts);
      };
      if (part > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1100));
      write({at(part), at(part + 1)});
    }
  }

  /// What a replay of the topic as it was recorded releases, as whole lines.
  [[nodiscard]] std::string replayed_as_recorded(const std::vector<std::string>& more = {}) const {
    const std::string recording = (folder().path() / "recorded").string();
    const CommandResult recorded =
        run_command(NUSTREAM_COMMAND, {"record", config(), "--to-folder", recording, "--until-end"});
    EXPECT_EQ(recorded.code, 0) << recorded.err;
    const std::string state = (folder().path() / "as_recorded").string();
    std::vector<std::string> arguments{"replay", config(), recording + "/partition-0.segment", "--insecure-seed",
                                       "7",      "--set",  "state.directory=\"" + state + "\""};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = run_command(NUSTREAM_COMMAND, arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return read_file(std::filesystem::path(state) / "releases.jsonl");
  }
};

}  // namespace nustream::tests

// What `nustream inspect --json` says of a folder of a replay's world.
#pragma once

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>
#include <vector>

#include "command.h"
#include "replay_world.h"

namespace nustream::tests {

inline simdjson::dom::element inspect(const ReplayWorld& world, simdjson::dom::parser& parser,
                                      const std::string& state, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"inspect", world.path(state), "--json"});
  const CommandResult result = run_command(NUSTREAM_COMMAND, more);
  EXPECT_EQ(result.code, 0) << result.err;
  return parser.parse(result.out);
}

}  // namespace nustream::tests

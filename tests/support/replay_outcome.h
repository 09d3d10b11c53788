// How a replay ended: its one line of error, or the counts that it told.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "replay_world.h"

namespace nustream::tests {

/// Expects one line of error, behind what a run that took steps tells its operator.
inline void expect_failure(const CommandResult& result, int code, const std::string& mentions) {
  EXPECT_EQ(result.code, code) << result.err;
  std::string said = result.err;
  while (said.starts_with("operator only, not private: ")) said.erase(0, said.find('\n') + 1);
  EXPECT_THAT(said, ::testing::AllOf(::testing::StartsWith("nustream: error: "), ::testing::HasSubstr(mentions),
                                     ::testing::EndsWith("\n")));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << "one line: " << result.err;
}

struct Counts {
  std::uint64_t steps = 0;
  std::uint64_t rejected = 0;
};

/// Arguments with which a run tells its counts: to everybody how many steps it took, and to the operator how many
/// records were unusable.
inline std::vector<std::string> with_counts(const ReplayWorld& world, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--json", "--operator-json", world.path("operator.json")});
  return more;
}

/// The steps and the unusable records of such a run, which has to end with `code`.
inline Counts counts_of(const ReplayWorld& world, const CommandResult& result, int code = 0) {
  EXPECT_EQ(result.code, code) << result.err;
  simdjson::dom::parser for_all;
  simdjson::dom::parser for_operators;
  const simdjson::dom::element json = for_all.parse(result.out);
  const simdjson::dom::element told = for_operators.load(world.path("operator.json"));
  return {json["steps"].get_uint64().value(), told["rejected"].get_uint64().value()};
}

}  // namespace nustream::tests

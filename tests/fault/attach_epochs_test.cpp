// Later epochs of attached lanes: each draws a key of its own from the system, as the first one does.
#include <gtest/gtest.h>

#include <set>

#include "attach_promise.h"
#include "drawn_keys.h"
#include "secrets/key_file.h"

namespace nustream::tests {
namespace {

// Two streams under one key file, with three epochs in each of their lanes.
TEST(AttachEpochs, LaterOnesOfTwoStreamsDrawTheirOwnKeys) {
  const AttachWorld one(2);
  const AttachWorld other(2);
  std::set<noise::KeyBytes> keys;
  int runs = 0;
  for (const char* const step_size : {"0.01", "0.02", "0.03"}) {
    for (const AttachWorld* const world : {&one, &other}) {
      world->write(AttachWorld::values(120, static_cast<std::uint64_t>(++runs)), 0);
      world->write(AttachWorld::values(120, static_cast<std::uint64_t>(runs) + 100), 1);
      const std::string handed_out = (one.folder().path() / ("handed-out-" + std::to_string(runs))).string();
      std::vector<std::string> arguments{"--until-end", "--set", "state.key_file=\"" + one.key() + "\"", "--set",
                                         std::string("descent.step_size=") + step_size};
      if (runs > 2) arguments.emplace_back("--new-epoch");
      const CommandResult result =
          run_command(NUSTREAM_COMMAND, world->attach(arguments), {}, with_own_source(handed_out, runs));
      ASSERT_EQ(result.code, 0) << result.err;
      for (const int lane : {0, 1}) {
        SCOPED_TRACE("run " + std::to_string(runs) + ", lane " + std::to_string(lane));
        const auto states = world->committed(world->name() + ".state", lane);
        ASSERT_FALSE(states.empty());
        const journal::State state =
            journal::open_state(secrets::load_key_file(one.key()), states.back().value.value_or(""));
        EXPECT_EQ(state.identity.epoch.value(), static_cast<std::uint32_t>((runs - 1) / 2));
        EXPECT_EQ(state.identity.steps.value(), 120U);
        const auto key = drawn_key_of(state, keys_handed_out(handed_out));
        ASSERT_TRUE(key) << "no draw of the system's";
        EXPECT_TRUE(keys.insert(*key).second) << "a key of another epoch";
      }
    }
  }
}

}  // namespace
}  // namespace nustream::tests

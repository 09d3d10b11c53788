// The published past of an attached lane. After a restart it is the same as before, read again from the release
// topic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "attach_world.h"
#include "free_port.h"
#include "operator_listener.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

TEST(AttachHistory, IsTheSameAfterARestart) {
  const AttachWorld world;
  const std::string address = loopback(free_port());
  const auto arguments = world.attach({"--set", "serve.public_address=\"" + address + "\""});
  world.write(AttachWorld::values(1000));
  const std::string path = "/api/v1/history/0";
  std::string before;
  {
    Command service(NUSTREAM_COMMAND, arguments);
    wait_until([&] {
      before = operator_page(address, path);
      return before.find("\"step\":1000,") != std::string::npos;
    });
    service.signal(SIGTERM);
    EXPECT_EQ(service.wait().code, 0);
  }
  EXPECT_THAT(before, HasSubstr("\"points\":[{\"step\":100,"));
  EXPECT_THAT(before, HasSubstr("{\"step\":500,"));
  // Whoever has the key can have the path drawn, from the same releases.
  const CommandResult drawn =
      run_command(NUSTREAM_COMMAND, {"inspect", world.config(), "--chart"}, std::nullopt, {"LC_ALL=C", "NO_COLOR=1"});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_THAT(drawn.out, HasSubstr("\n" + world.name() + ", lane 0: x over the steps\n"));
  EXPECT_THAT(drawn.out, HasSubstr("quoted estimate"));
  Command service(NUSTREAM_COMMAND, arguments);
  wait_until([&] { return operator_page(address, path) == before; });
  EXPECT_THAT(operator_page(address, "/"), HasSubstr("Linear regression of y on x."));
  EXPECT_THAT(operator_page(address, "/"), HasSubstr("As published at step 1,000."));
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().code, 0);
}

}  // namespace
}  // namespace nustream::tests

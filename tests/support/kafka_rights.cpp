// Rights to a secured broker's topics and groups. The client library changes the simple ones, a tool of Kafka's the
// rest.
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kafka_broker.h"
#include "kafka_client.h"
#include "kafka_topics.h"

namespace nustream::tests {
namespace {

using namespace std::chrono_literals;

/// A right to a topic or a group. The client library can change such a right, without a JVM for each change.
std::optional<AccessRight> simple_right(const std::vector<std::string>& words) {
  if (words.size() != 4 || words[0] != "--operation") return std::nullopt;
  if (words[2] == "--topic") return AccessRight{AccessRight::To::topic, words[3], words[1]};
  if (words[2] == "--group") return AccessRight{AccessRight::To::group, words[3], words[1]};
  return std::nullopt;
}

}  // namespace

void KafkaCluster::grant(const std::vector<std::string>& right) const {
  if (const auto simple = simple_right(right)) return grant_right(direct(), sasl_user, *simple);
  change_rights({"--add"}, right);
}

void KafkaCluster::take_away(const std::vector<std::string>& right) const {
  if (const auto simple = simple_right(right)) return take_right_away(direct(), sasl_user, *simple);
  change_rights({"--remove", "--force"}, right);
}

void KafkaCluster::change_rights(std::vector<std::string> how, const std::vector<std::string>& right) const {
  std::vector<std::string> arguments{"kafka.admin.AclCommand", "--bootstrap-server", direct(), "--allow-principal",
                                     std::string("User:") + sasl_user};
  arguments.insert(arguments.end(), how.begin(), how.end());
  arguments.insert(arguments.end(), right.begin(), right.end());
  run_tool(arguments);
  std::this_thread::sleep_for(500ms);  // the broker applies what its controller has written within this time
}

}  // namespace nustream::tests

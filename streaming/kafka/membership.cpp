// Whether the group's coordinator counts this client as a member, asked by DescribeConsumerGroups. The answer comes
// through the client's queue, so that the event loop does not wait for it.
#include "kafka/consumer_events.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "kafka/client.h"

namespace nustream::kafka {
namespace {

/// True where the group is stable and names this client's own member id.
bool counts_us(const Client& client, const rd_kafka_ConsumerGroupDescription_t& group) {
  // While the group rebalances, its list of members does not say who will be one of them.
  if (rd_kafka_ConsumerGroupDescription_state(&group) != RD_KAFKA_CONSUMER_GROUP_STATE_STABLE) return false;
  const auto destroy = [&client](char* id) { rd_kafka_mem_free(client.handle.get(), id); };
  const std::unique_ptr<char, decltype(destroy)> us(rd_kafka_memberid(client.handle.get()), destroy);
  if (!us) return false;
  for (std::size_t i = 0; i < rd_kafka_ConsumerGroupDescription_member_count(&group); ++i) {
    const rd_kafka_MemberDescription_t* member = rd_kafka_ConsumerGroupDescription_member(&group, i);
    if (std::string_view(us.get()) == rd_kafka_MemberDescription_consumer_id(member)) return true;
  }
  return false;
}

}  // namespace

void ask_for_group(const Client& client, const std::string& group, Deadline deadline) {
  rd_kafka_AdminOptions_t* options =
      rd_kafka_AdminOptions_new(client.handle.get(), RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS);
  std::array<char, 256> text{};
  rd_kafka_AdminOptions_set_request_timeout(options, std::max(1, milliseconds_until(deadline)), text.data(),
                                            text.size());
  const char* groups[] = {group.c_str()};
  rd_kafka_DescribeConsumerGroups(client.handle.get(), groups, 1, options, client.queue.get());
  rd_kafka_AdminOptions_destroy(options);
}

std::variant<Membership, ClientError> read_group(const Client& client, rd_kafka_op_s& answer) {
  if (const auto code = rd_kafka_event_error(&answer); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return ClientError{error_of(code, rd_kafka_event_error_string(&answer))};
  }
  std::size_t count = 0;
  const rd_kafka_ConsumerGroupDescription_t** groups =
      rd_kafka_DescribeConsumerGroups_result_groups(rd_kafka_event_DescribeConsumerGroups_result(&answer), &count);
  if (count != 1) return Membership{false};
  if (const rd_kafka_error_t* error = rd_kafka_ConsumerGroupDescription_error(groups[0])) {
    return ClientError{error_of(rd_kafka_error_code(error), rd_kafka_error_string(error))};
  }
  return Membership{counts_us(client, *groups[0])};
}

}  // namespace nustream::kafka

// One client of librdkafka and the queue of its events: what the parts of this room have in common.
#pragma once

#include <optional>
#include <string>

#include "kafka/client_error.h"
#include "kafka/client_settings.h"
#include "kafka/consumer_events.h"
#include "kafka/handles.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// A client for reading and for asking. Its queue gives records, ends of partitions, errors, rebalances and answers
/// alike, to whoever polls it.
struct Client {
  ClientHandle handle;
  QueueHandle queue;      // after the handle, so that it is gone before
  Properties properties;  // with_secrets(), which are blotted out of errors
  const std::atomic<bool>* cancelled = nullptr;
};

/// Throws Cancelled where nobody wants the client's answers any more.
void give_up_if_cancelled(const Client& client);

/// Failure(configuration) where librdkafka takes the properties one by one but not together.
[[nodiscard]] ClientHandle new_client(const ClientSettings& settings, Role role, ConfigurationHandle configuration);
/// A client that reads, as a member of a group or not, where `own` has a group.id; without one it can only ask.
[[nodiscard]] Client new_consumer(const ClientSettings& settings, Role role, const Properties& own);

/// The next event of the queue: waits for it for `milliseconds` at most. Null where none came.
[[nodiscard]] EventHandle poll(const Client& client, int milliseconds);

/// What an event of any client says; std::monostate for those that concern nobody.
[[nodiscard]] ReaderEvent read_event(const Client& client, EventHandle event);

/// What the connections complain about, of all that waits in the queue: the refusal to let us in before anything
/// else. For times when nobody reads records: they would be dropped.
[[nodiscard]] std::optional<Error> waiting_complaint(const Client& client);
/// Of two complaints the one that says more: that the password was refused explains that no broker is up.
[[nodiscard]] Error telling_more(std::optional<Error> earlier, Error later);

[[nodiscard]] PartitionListHandle new_partition_list();
void add_partition(rd_kafka_topic_partition_list_s& list, const std::string& topic, PartitionIndex partition,
                   std::int64_t offset);

/// Milliseconds until the deadline, from 0 to 1e9.
[[nodiscard]] int milliseconds_until(Deadline deadline);

}  // namespace nustream::kafka

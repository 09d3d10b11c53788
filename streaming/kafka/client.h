// One client of librdkafka with the queue of its events, and functions over both that several parts of this room use.
#pragma once

#include <optional>
#include <string>

#include "kafka/client_error.h"
#include "kafka/client_settings.h"
#include "kafka/consumer_events.h"
#include "kafka/handles.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// A client for reading and for asking. Records, ends of partitions, errors, rebalances and answers all come through
/// its one queue, which has to be polled.
struct Client {
  ClientHandle handle;
  QueueHandle queue;      // declared after the handle, and so destroyed before it
  Properties properties;  // as with_secrets() gave them; their secrets are blotted out of errors
  const std::atomic<bool>* cancelled = nullptr;  // may be null
};

/// Throws Cancelled once the client's `cancelled` is true.
void give_up_if_cancelled(const Client& client);

/// Makes a client. Throws Failure(configuration) where librdkafka accepts the properties one by one but not together.
[[nodiscard]] ClientHandle new_client(const ClientSettings& settings, Role role, ConfigurationHandle configuration);
/// Makes a client that reads, if `own` has a group.id; without one it can only ask questions.
[[nodiscard]] Client new_consumer(const ClientSettings& settings, Role role, const Properties& own);

/// The next event of the queue; null where none comes within `milliseconds`.
[[nodiscard]] EventHandle poll(const Client& client, int milliseconds);

/// What an event of any client says; std::monostate for events that nothing has to be done about.
[[nodiscard]] ReaderEvent read_event(const Client& client, EventHandle event);

/// Empties the queue, and returns what its connections complain about; a refusal to let the client in counts more
/// than other complaints. To be used only while no records are read, since they would be dropped.
[[nodiscard]] std::optional<Error> waiting_complaint(const Client& client);
/// Of two complaints the one that says more. That is the later one, unless the earlier one explains it: after a
/// refused password no broker counts as up.
[[nodiscard]] Error telling_more(std::optional<Error> earlier, Error later);

[[nodiscard]] PartitionListHandle new_partition_list();
void add_partition(rd_kafka_topic_partition_list_s& list, const std::string& topic, PartitionIndex partition,
                   std::int64_t offset);

/// Milliseconds until the deadline, from 0 to 1e9.
[[nodiscard]] int milliseconds_until(Deadline deadline);

}  // namespace nustream::kafka

// The Producer of production: calls that do not wait go to the client at once, and calls that wait go through a
// BackgroundCall, which is asked for its result slice by slice.
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <utility>

#include "kafka/background_call.h"
#include "kafka/client.h"
#include "kafka/producer.h"
#include "kafka/transactional_client.h"
#include "nustream/base/error.h"

namespace nustream::kafka {
namespace {

// How long send_offsets may take, a call that may never come back. It is long enough for a coordinator to move to
// another broker.
constexpr std::chrono::milliseconds send_offsets_max{15'000};

// A Producer whose waiting calls are made in the background. Each call owns what it uses, also the client. So a
// client lives as long as its call does, even where nobody waits for the call any more.
class TransactionalProducer final : public Producer {
 public:
  TransactionalProducer(const ClientSettings& settings, const std::string& transactional_id,
                        std::vector<std::string> topics)
      : client_(std::make_shared<TransactionalClient>(settings, transactional_id)), topics_(std::move(topics)) {}

  Progress init(Deadline deadline) override {
    return background("init_transactions", deadline, [&]() -> BackgroundCall::Call {
      return [client = client_, topics = topics_, deadline] { return client->init(topics, deadline); };
    });
  }

  std::optional<Error> begin() override {
    require_idle();
    return client_->begin();
  }

  std::optional<Error> produce(const OutgoingRecord& record) override {
    require_idle();
    return client_->produce(record);
  }

  Progress send_offsets(const std::string& topic, std::span<const PartitionOffset> offsets,
                        const GroupMetadata& member, Deadline deadline) override {
    NUSTREAM_REQUIRE(member != nullptr, "offsets are committed as a member of the group");
    // A deadline of its own, because this call may never come back (background_call.h).
    const Deadline sooner = std::min(deadline, in(send_offsets_max));
    return background("send_offsets_to_transaction", sooner, [&]() -> BackgroundCall::Call {
      // The call may outlive what it was given. So it gets copies of its own.
      PartitionListHandle handle = new_partition_list();
      for (const PartitionOffset& next : offsets) add_partition(*handle, topic, next.partition, next.offset.value());
      const std::shared_ptr<rd_kafka_topic_partition_list_t> list = std::move(handle);
      const std::shared_ptr<rd_kafka_consumer_group_metadata_t> copy = copy_of(*member);
      return [client = client_, list, copy, sooner] { return client->send_offsets(*list, *copy, sooner); };
    });
  }

  Progress arrive(Deadline deadline) override {
    return background("flush", deadline, [&]() -> BackgroundCall::Call {
      return [client = client_, deadline] { return client->arrive(deadline); };
    });
  }

  Progress commit(Deadline deadline) override {
    return background("commit_transaction", deadline, [&]() -> BackgroundCall::Call {
      return [client = client_, deadline] { return client->commit(deadline); };
    });
  }

  Progress abort(Deadline deadline) override {
    return background("abort_transaction", deadline, [&]() -> BackgroundCall::Call {
      return [client = client_, deadline] { return client->abort(deadline); };
    });
  }

  std::optional<Offset> last_offset(const std::string& topic) const override { return client_->last_offset(topic); }

  void abandon() noexcept override { call_.abandon(); }

  std::optional<Error> complaint() override { return client_->complaint(); }

 private:
  /// Waits a slice for the call `name`. Where none is under way it begins it first, with what `make_call` gives.
  template <class MakeCall>
  Progress background(std::string_view name, Deadline deadline, MakeCall make_call) {
    // The first slice begins the call. Later ones only wait for it, and their deadline does not count.
    if (call_.is_idle()) call_.start(name, make_call(), deadline);
    Progress progress = call_.wait(name, slice_max);
    if (progress.is_done()) client_->all_is_well();
    return progress;
  }

  void require_idle() const {
    NUSTREAM_REQUIRE(call_.is_idle(), "a transactional call is finished before another one begins");
  }

  std::shared_ptr<TransactionalClient> client_;
  std::vector<std::string> topics_;
  BackgroundCall call_;  // declared last, so that its thread ends first
};

}  // namespace

std::unique_ptr<Producer> transactional_producer(const ClientSettings& settings, const std::string& transactional_id,
                                                 std::vector<std::string> topics) {
  return std::make_unique<TransactionalProducer>(settings, transactional_id, std::move(topics));
}

}  // namespace nustream::kafka

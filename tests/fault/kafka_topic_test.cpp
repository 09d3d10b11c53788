// The settings of a topic, as a real broker tells them.
#include <gtest/gtest.h>

#include <string>

#include "kafka/topic_checks.h"
#include "kafka_broker.h"
#include "kafka_support.h"
#include "kafka_topics.h"

namespace nustream::tests {
namespace {

TEST(KafkaTopic, IsDescribedByItsShapeAndItsSettings) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = fresh_name("described");
  create_topic(broker, topic, 3,
               {{"cleanup.policy", "compact"},
                {"min.insync.replicas", "1"},
                {"max.message.bytes", "123456"},
                {"message.timestamp.type", "LogAppendTime"},
                {"retention.ms", "-1"},
                {"max.compaction.lag.ms", "60000"},
                {"segment.ms", "3600000"}});
  kafka::TopicChecks checks(settings_for(broker));
  const auto found = checks.describe(topic, soon());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->partitions, 3);
  EXPECT_EQ(found->replication_factor, 1);
  EXPECT_EQ(found->cleanup_policy, "compact");
  EXPECT_EQ(found->min_insync_replicas, 1);
  EXPECT_EQ(found->max_message_bytes, 123456);
  EXPECT_EQ(found->message_timestamp_type, "LogAppendTime");
  EXPECT_EQ(found->retention_ms, -1);
  EXPECT_EQ(found->max_compaction_lag_ms, 60000);
  EXPECT_EQ(found->segment_ms, 3600000);
}

// A setting that nobody set has the broker's default: Kafka's documentation, "Topic configs".
TEST(KafkaTopic, HasTheBrokersDefaults) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = fresh_name("defaults");
  create_topic(broker, topic);
  kafka::TopicChecks checks(settings_for(broker));
  const auto found = checks.describe(topic, soon());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->partitions, 1);
  EXPECT_EQ(found->cleanup_policy, "delete");
  EXPECT_EQ(found->max_message_bytes, 1048588);
  EXPECT_EQ(found->message_timestamp_type, "CreateTime");
  EXPECT_EQ(found->retention_ms, -1);  // the default of these tests' brokers
  EXPECT_EQ(found->max_compaction_lag_ms, 9223372036854775807);
}

TEST(KafkaTopic, ThatIsMissingIsNeitherFoundNorMade) {
  kafka::TopicChecks checks(settings_for(shared_broker().bootstrap()));
  EXPECT_FALSE(checks.describe("no-such-topic", soon()));
  EXPECT_FALSE(checks.partitions("no-such-topic", soon()));
  EXPECT_FALSE(checks.partitions("no-such-topic", soon()));
}

TEST(KafkaTopic, GrowsByPartitionsAndGoes) {
  const std::string broker = shared_broker().bootstrap();
  const std::string topic = fresh_name("growing");
  create_topic(broker, topic, 2);
  kafka::TopicChecks checks(settings_for(broker));
  EXPECT_EQ(checks.partitions(topic, soon()), 2);
  add_partitions(broker, topic, 5);
  EXPECT_EQ(checks.partitions(topic, soon()), 5);
  delete_topic(broker, topic);
  EXPECT_EQ(checks.partitions(topic, soon()), std::nullopt);
}

}  // namespace
}  // namespace nustream::tests

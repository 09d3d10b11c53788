// What an error of the client library means for the caller and for the exit code.
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <string>

#include "expect_failure.h"
#include "kafka/client.h"
#include "kafka/client_error.h"

namespace nustream::tests {
namespace {

using kafka::Cause;
using kafka::error_of;
using kafka::exit_code;
using kafka::KafkaFailure;
using kafka::Remedy;

struct Meaning {
  rd_kafka_resp_err_t code;
  Cause cause;
  Remedy remedy;
  Exit exit;
};

// docs/exit-codes.md: 69 is a broker's failure, 77 one of SASL or ACL, 78 a missing topic, 75 another run in our
// place, and 65 a log that contradicts the state.
TEST(KafkaError, MeansTheSameToCallerAndExitCode) {
  const Meaning meanings[] = {
      {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, Cause::unavailable, Remedy::call_again, Exit::unavailable},
      {RD_KAFKA_RESP_ERR_NOT_COORDINATOR, Cause::unavailable, Remedy::call_again, Exit::unavailable},
      {RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT, Cause::unavailable, Remedy::call_again, Exit::unavailable},
      {RD_KAFKA_RESP_ERR__TIMED_OUT, Cause::timed_out, Remedy::call_again, Exit::unavailable},
      {RD_KAFKA_RESP_ERR__FENCED, Cause::fenced, Remedy::new_client, Exit::locked},
      {RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, Cause::fenced, Remedy::new_client, Exit::locked},
      {RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, Cause::lost_membership, Remedy::none, Exit::internal},
      {RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, Cause::lost_membership, Remedy::none, Exit::internal},
      {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, Cause::fenced_member, Remedy::none, Exit::locked},
      {RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, Cause::authentication, Remedy::none, Exit::permission},
      {RD_KAFKA_RESP_ERR__AUTHENTICATION, Cause::authentication, Remedy::none, Exit::permission},
      {RD_KAFKA_RESP_ERR__SSL, Cause::authentication, Remedy::none, Exit::permission},
      {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, Cause::authorization, Remedy::none, Exit::permission},
      {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, Cause::unknown_topic, Remedy::none, Exit::configuration},
      {RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, Cause::offset_out_of_range, Remedy::none, Exit::data},
      {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, Cause::record_too_large, Remedy::none, Exit::configuration},
      {RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT, Cause::settings, Remedy::none, Exit::configuration},
      {RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT, Cause::settings, Remedy::none, Exit::configuration},
      {RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL, Cause::refused_for_now, Remedy::call_again, Exit::unavailable},
      {RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED, Cause::refused_for_now, Remedy::call_again, Exit::unavailable},
      {RD_KAFKA_RESP_ERR_POLICY_VIOLATION, Cause::refused_for_now, Remedy::call_again, Exit::unavailable},
      {RD_KAFKA_RESP_ERR__QUEUE_FULL, Cause::queue_full, Remedy::call_again, Exit::internal},
      {RD_KAFKA_RESP_ERR__BAD_MSG, Cause::other, Remedy::none, Exit::internal},
  };
  for (const Meaning& meaning : meanings) {
    const kafka::Error error = error_of(meaning.code);
    const char* name = rd_kafka_err2name(meaning.code);
    EXPECT_EQ(error.cause, meaning.cause) << name;
    EXPECT_EQ(error.remedy, meaning.remedy) << name;
    EXPECT_EQ(static_cast<int>(exit_code(error)), static_cast<int>(meaning.exit)) << name;
    EXPECT_EQ(error.text, rd_kafka_err2str(meaning.code)) << name;
  }
}

// After a refused password the library reports that no broker is up, which is true and explains nothing.
TEST(KafkaError, OfTwoComplaintsTheRefusalExplainsMore) {
  const kafka::Error refusal = error_of(RD_KAFKA_RESP_ERR__AUTHENTICATION);
  const kafka::Error down = error_of(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN);
  const kafka::Error timeout = error_of(RD_KAFKA_RESP_ERR__TIMED_OUT);
  EXPECT_EQ(kafka::telling_more(refusal, down).code, refusal.code);
  EXPECT_EQ(kafka::telling_more(down, refusal).code, refusal.code);
  EXPECT_EQ(kafka::telling_more(down, timeout).code, timeout.code);
  EXPECT_EQ(kafka::telling_more(std::nullopt, down).code, down.code);
}

TEST(KafkaError, KeepsToOneLineAndSaysWhatToDo) {
  const auto fail = [] {
    throw KafkaFailure("look up topic 'a'", error_of(RD_KAFKA_RESP_ERR__TRANSPORT, "no\nroute"));
  };
  expect_failure(Exit::unavailable, fail, "cannot look up topic 'a': no route; check kafka.brokers");
}

// A limit of the brokers is no outage: waiting never ends it, and the message names both sides of it.
TEST(KafkaError, NamesTheSettingThatABrokerDoesNotAllow) {
  const auto told = [](rd_kafka_resp_err_t code) {
    return std::string(KafkaFailure("join group g", error_of(code)).what());
  };
  EXPECT_NE(
      told(RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT)
          .find("; lower kafka.transaction_seconds (transaction.timeout.ms), or raise transaction.max.timeout.ms "),
      std::string::npos);
  EXPECT_NE(told(RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT).find("group.min.session.timeout.ms"), std::string::npos);
  EXPECT_NE(told(RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED).find("group.max.size"), std::string::npos);
}

}  // namespace
}  // namespace nustream::tests

#include "kafka/client_error.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <utility>

namespace nustream::kafka {
namespace {

Cause cause_of(int code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__WAIT_CACHE:
    case RD_KAFKA_RESP_ERR__NODE_UPDATE:
    case RD_KAFKA_RESP_ERR__UNKNOWN_BROKER:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_NOT_CONTROLLER:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT:
    case RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS:
    case RD_KAFKA_RESP_ERR_TRANSACTION_COORDINATOR_FENCED:
    case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS:
      return Cause::unavailable;
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
      return Cause::timed_out;
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
      return Cause::fenced;
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
    case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
      return Cause::lost_membership;
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
      return Cause::fenced_member;
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE:
    case RD_KAFKA_RESP_ERR_SECURITY_DISABLED:
      return Cause::authentication;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
      return Cause::authorization;
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
      return Cause::unknown_topic;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR__NO_OFFSET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
      return Cause::offset_out_of_range;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
      return Cause::record_too_large;
    case RD_KAFKA_RESP_ERR__QUEUE_FULL:
      return Cause::queue_full;
    case RD_KAFKA_RESP_ERR__STATE:
    case RD_KAFKA_RESP_ERR__CONFLICT:
    case RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_INVALID_TXN_STATE:
      return Cause::state;
    default:
      return Cause::other;
  }
}

Remedy remedy_of(Cause cause) {
  switch (cause) {
    case Cause::unavailable:
    case Cause::timed_out:
    case Cause::queue_full:
      return Remedy::call_again;
    case Cause::fenced:
      return Remedy::new_client;
    default:
      return Remedy::none;
  }
}

// What no new attempt mends: somebody has to change a right, a password or a topic first.
bool needs_somebody(Cause cause) {
  return cause == Cause::authentication || cause == Cause::authorization || cause == Cause::unknown_topic;
}

Remedy remedy_of(const rd_kafka_error_s& error, Cause cause) {
  if (rd_kafka_error_is_fatal(&error) == 0) {
    if (rd_kafka_error_txn_requires_abort(&error) != 0) return Remedy::abort_transaction;
    if (rd_kafka_error_is_retriable(&error) != 0) return Remedy::call_again;
  }
  return needs_somebody(cause) ? Remedy::none : Remedy::new_client;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

std::string advice(const Error& error) {
  switch (error.cause) {
    case Cause::unavailable:
    case Cause::timed_out:
      return "check kafka.brokers, and that a broker runs there";
    case Cause::fenced:
    case Cause::fenced_member:
      return "another run has taken this one's place; stop one of the two";
    case Cause::authentication:
      return "check the security.*, sasl.* and ssl.* properties under [kafka.librdkafka]";
    case Cause::authorization:
      return "grant this user the right (docs/kafka.md lists them)";
    case Cause::unknown_topic:
      return "create the topic, or correct its name under [kafka]";
    case Cause::offset_out_of_range:
      return "the log was cut, compacted or made anew below the position";
    case Cause::record_too_large:
      return "raise max.message.bytes of the topic and message.max.bytes, or make the record smaller";
    default:
      return "nothing is lost; start again";
  }
}

}  // namespace

Error error_of(int code, std::string_view text) {
  const auto known = static_cast<rd_kafka_resp_err_t>(code);
  const Cause cause = cause_of(code);
  return {code, cause, remedy_of(cause), one_line(text.empty() ? rd_kafka_err2str(known) : text), {}};
}

Error error_of(const rd_kafka_error_s& error) {
  const int code = rd_kafka_error_code(&error);
  const Cause cause = cause_of(code);
  return {code, cause, remedy_of(error, cause), one_line(rd_kafka_error_string(&error)), {}};
}

Exit exit_code(const Error& error) {
  switch (error.cause) {
    case Cause::unavailable:
    case Cause::timed_out:
      return Exit::unavailable;
    case Cause::fenced:
    case Cause::fenced_member:
      return Exit::locked;
    case Cause::authentication:
    case Cause::authorization:
      return Exit::permission;
    case Cause::unknown_topic:
    case Cause::record_too_large:
      return Exit::configuration;
    case Cause::offset_out_of_range:
      return Exit::data;
    default:
      return Exit::internal;
  }
}

KafkaFailure::KafkaFailure(const std::string& attempt, Error error)
    : Failure(exit_code(error), "cannot " + attempt + ": " + error.text + "; " + advice(error)),
      error_(std::move(error)) {}

}  // namespace nustream::kafka

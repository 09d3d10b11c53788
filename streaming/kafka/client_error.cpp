// Sorts the codes of librdkafka and of the Kafka protocol into the few causes that a caller treats differently, and
// says what follows from each: a remedy, an exit code, and a piece of advice. A code in no list is Cause::other.
#include "kafka/client_error.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace nustream::kafka {
namespace {

/// The codes of librdkafka and of the protocol for each cause that has a name here.
namespace codes_of {
// These pass by themselves, mostly in a moment: a leader that moves, a coordinator that loads, a broker that
// restarts.
constexpr int unavailable[] = {RD_KAFKA_RESP_ERR__TRANSPORT,
                               RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
                               RD_KAFKA_RESP_ERR__RESOLVE,
                               RD_KAFKA_RESP_ERR__WAIT_COORD,
                               RD_KAFKA_RESP_ERR__WAIT_CACHE,
                               RD_KAFKA_RESP_ERR__NODE_UPDATE,
                               RD_KAFKA_RESP_ERR__UNKNOWN_BROKER,
                               RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
                               RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                               RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE,
                               RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE,
                               RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION,
                               RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
                               RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
                               RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
                               RD_KAFKA_RESP_ERR_NOT_CONTROLLER,
                               RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
                               RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND,
                               RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
                               RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH,
                               RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH,
                               RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE,
                               RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT,
                               RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS,
                               RD_KAFKA_RESP_ERR_TRANSACTION_COORDINATOR_FENCED,
                               RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS};
// A deadline is over: the library's, a record's or a broker's.
constexpr int timed_out[] = {RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE,
                             RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT};
// A newer producer has the transactional id.
constexpr int fenced[] = {RD_KAFKA_RESP_ERR__FENCED, RD_KAFKA_RESP_ERR_PRODUCER_FENCED,
                          RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH};
// The group goes on without this member.
constexpr int lost_membership[] = {RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST, RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED,
                                   RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID};
constexpr int fenced_member[] = {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID};
// SASL or TLS failed, on either side.
constexpr int authentication[] = {RD_KAFKA_RESP_ERR__AUTHENTICATION,
                                  RD_KAFKA_RESP_ERR__SSL,
                                  RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
                                  RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM,
                                  RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE,
                                  RD_KAFKA_RESP_ERR_SECURITY_DISABLED};
constexpr int authorization[] = {
    RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
    RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED};
// The last code is that of a name which no topic may have.
constexpr int unknown_topic[] = {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
                                 RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION};
constexpr int offset_out_of_range[] = {RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, RD_KAFKA_RESP_ERR__NO_OFFSET,
                                       RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE};
constexpr int record_too_large[] = {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE,
                                    RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE};
// Somebody has to change a setting of the client or of the brokers; advice_on_refusal() says which.
constexpr int settings[] = {RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT, RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT,
                            RD_KAFKA_RESP_ERR_INVALID_GROUP_ID, RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE};
// A member of the group that crashed or leaves makes room, and a policy may be one of the moment, such as a quota.
constexpr int refused_for_now[] = {RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL,
                                   RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED, RD_KAFKA_RESP_ERR_POLICY_VIOLATION};
constexpr int queue_full[] = {RD_KAFKA_RESP_ERR__QUEUE_FULL};
constexpr int state[] = {RD_KAFKA_RESP_ERR__STATE, RD_KAFKA_RESP_ERR__CONFLICT, RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS,
                         RD_KAFKA_RESP_ERR_INVALID_TXN_STATE};
}  // namespace codes_of

struct Meaning {
  Cause cause;
  std::span<const int> codes;
};
constexpr Meaning meanings[] = {
    {Cause::unavailable, codes_of::unavailable},
    {Cause::timed_out, codes_of::timed_out},
    {Cause::fenced, codes_of::fenced},
    {Cause::lost_membership, codes_of::lost_membership},
    {Cause::fenced_member, codes_of::fenced_member},
    {Cause::authentication, codes_of::authentication},
    {Cause::authorization, codes_of::authorization},
    {Cause::unknown_topic, codes_of::unknown_topic},
    {Cause::offset_out_of_range, codes_of::offset_out_of_range},
    {Cause::record_too_large, codes_of::record_too_large},
    {Cause::settings, codes_of::settings},
    {Cause::refused_for_now, codes_of::refused_for_now},
    {Cause::queue_full, codes_of::queue_full},
    {Cause::state, codes_of::state},
};

/// The cause of a code; Cause::other for a code in no list.
Cause cause_of(int code) {
  const auto* const found = std::ranges::find_if(
      meanings, [code](const Meaning& meaning) { return std::ranges::count(meaning.codes, code) > 0; });
  return found == std::end(meanings) ? Cause::other : found->cause;
}

/// What to do after a plain code, from a call that is not transactional.
Remedy remedy_of(Cause cause) {
  switch (cause) {
    case Cause::unavailable:
    case Cause::timed_out:
    case Cause::refused_for_now:
    case Cause::queue_full:
      return Remedy::call_again;
    case Cause::fenced:
      return Remedy::new_client;
    default:
      return Remedy::none;
  }
}

// True for causes that no new attempt mends: somebody has to change a right, a password, a topic or a setting first.
bool needs_somebody(Cause cause) {
  return cause == Cause::authentication || cause == Cause::authorization || cause == Cause::unknown_topic ||
         cause == Cause::settings;
}

/// What to do after an error object, which librdkafka marks as fatal, abortable or retriable itself. Fatal goes
/// first: such a client can do nothing more, whatever else the error says.
Remedy remedy_of(const rd_kafka_error_s& error, Cause cause) {
  if (rd_kafka_error_is_fatal(&error) == 0) {
    if (rd_kafka_error_txn_requires_abort(&error) != 0) return Remedy::abort_transaction;
    if (rd_kafka_error_is_retriable(&error) != 0) return Remedy::call_again;
  }
  return needs_somebody(cause) ? Remedy::none : Remedy::new_client;
}

/// Texts of the library may have several lines, and an error is one entry of the log.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

/// What a broker does not allow, for now or for good, as the end of a sentence.
std::string advice_on_refusal(int code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT:
      return "lower kafka.transaction_seconds (transaction.timeout.ms), or raise transaction.max.timeout.ms of the "
             "brokers";
    case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
      return "set session.timeout.ms under [kafka.librdkafka] or behind -X to a time that the brokers allow: from "
             "their group.min.session.timeout.ms to their group.max.session.timeout.ms";
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
      return "set kafka.group to a name that the brokers allow";
    case RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
      return "another program is in this group: stop it, or name another group in kafka.group";
    case RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED:
      return "the group has as many members as group.max.size of the brokers allows: stop another instance";
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE:
      return "set compression.type under [kafka.librdkafka] or behind -X to one that the brokers know";
    default:
      return "change what the brokers or the topic do not allow";
  }
}

/// What an operator can do about the error, as the end of a sentence.
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
    case Cause::settings:
    case Cause::refused_for_now:
      return advice_on_refusal(error.code);
    default:
      return "this is an error of the client library; nothing is lost: start again, and report it if it comes back";
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
    case Cause::refused_for_now:
      return Exit::unavailable;
    case Cause::fenced:
    case Cause::fenced_member:
      return Exit::locked;
    case Cause::authentication:
    case Cause::authorization:
      return Exit::permission;
    case Cause::unknown_topic:
    case Cause::record_too_large:
    case Cause::settings:
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

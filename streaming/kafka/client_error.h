// Errors of clients and brokers: what went wrong, and what the caller has to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "error.h"
#include "kafka/handles.h"

namespace nustream::kafka {

/// What went wrong.
enum class Cause : std::uint8_t {
  unavailable,          ///< no broker, no leader or no coordinator answers at present
  timed_out,            ///< the caller's deadline has passed, or a broker's
  fenced,               ///< another producer has the transactional id, or the broker gave up this one's transaction
  lost_membership,      ///< the group goes on without this member (illegal generation, unknown member)
  fenced_member,        ///< another member has this group.instance.id
  authentication,       ///< the brokers did not let the client in, by SASL or TLS
  authorization,        ///< an access control list refuses the request
  unknown_topic,        ///< the topic or partition does not exist
  offset_out_of_range,  ///< the log does not hold the offset (any more)
  record_too_large,
  settings,  ///< a broker does not allow what the settings ask for, and never will until somebody changes either
  refused_for_now,  ///< a broker does not allow it at present: the group is full, or a policy is against it
  queue_full,       ///< the client's own queue is full; there is room once records were sent
  state,            ///< the call does not fit what the client is doing
  other,
};

/// What the caller has to do to go on.
enum class Remedy : std::uint8_t {
  none,               ///< there is nothing that a program could do
  call_again,         ///< make the same call again, after a pause
  abort_transaction,  ///< abort the transaction, then begin another one
  new_client,         ///< destroy this client, make a new one, and load the state again
};

/// One error. Its text is the client library's or the broker's, on one line. Secret properties are blotted out of it,
/// and it never holds a record's bytes.
struct Error {
  int code = 0;  ///< rd_kafka_resp_err_t: negative where the client library made it, positive where a broker did
  Cause cause = Cause::other;
  Remedy remedy = Remedy::none;
  std::string text;
  std::string topic;  ///< the topic that it is about; empty where none is known
};

/// The error for a call's result code. Without `text` it has the code's own description.
[[nodiscard]] Error error_of(int code, std::string_view text = {});
/// The error that a transactional or group call returned. Whether librdkafka calls it fatal, abortable or retriable
/// decides its remedy. An error that is none of the three leaves the client in an unknown state, so that its remedy
/// is new_client.
[[nodiscard]] Error error_of(const rd_kafka_error_s& error);

/// The documented exit code where the error ends the process: 77 for authentication and authorization, 78 for a
/// missing topic, a record that is too large or a setting that a broker does not allow, 75 for a fenced member or
/// producer, 65 for an offset out of range, 69 where nothing answered in time or brokers refuse for now, else 70.
[[nodiscard]] Exit exit_code(const Error& error);

/// Thrown by a call that cannot give its result: "cannot ATTEMPT: TEXT; ADVICE", with exit_code() of the error.
class KafkaFailure : public Failure {
 public:
  /// `attempt` completes "cannot …", and names topic and partition.
  KafkaFailure(const std::string& attempt, Error error);
  [[nodiscard]] const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

/// How far a call has come that is made in slices.
class Progress {
 public:
  [[nodiscard]] static Progress done() { return Progress(State::done, {}); }
  /// The call is not finished. To go on with it, make the same call again, with the same arguments.
  [[nodiscard]] static Progress again() { return Progress(State::again, {}); }
  [[nodiscard]] static Progress failed(Error error) { return Progress(State::failed, std::move(error)); }

  [[nodiscard]] bool is_done() const noexcept { return state_ == State::done; }
  [[nodiscard]] bool is_again() const noexcept { return state_ == State::again; }
  /// The error that the call failed with; null where it is done, or not finished.
  [[nodiscard]] const Error* error() const noexcept { return state_ == State::failed ? &error_ : nullptr; }

 private:
  enum class State : std::uint8_t { done, again, failed };
  Progress(State state, Error error) : state_(state), error_(std::move(error)) {}

  State state_;
  Error error_;
};

}  // namespace nustream::kafka

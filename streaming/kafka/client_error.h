// What went wrong between us and the brokers, and what the caller has to do about it.
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
  unavailable,      ///< no broker, no leader or no coordinator answers at present
  timed_out,        ///< the deadline passed, or a broker's own
  fenced,           ///< another producer has the transactional id, or the broker gave up on this one's transaction
  lost_membership,  ///< illegal generation, unknown member: the group has gone on without this member
  fenced_member,    ///< another member has this group.instance.id
  authentication,   ///< SASL or TLS: not let in
  authorization,    ///< an ACL refuses
  unknown_topic,    ///< topic or partition does not exist
  offset_out_of_range,  ///< the log does not hold the offset (any more)
  record_too_large,
  queue_full,  ///< the client's own queue; room comes as records are sent
  state,       ///< the call does not fit what the client is doing
  other,
};

/// What it takes to go on.
enum class Remedy : std::uint8_t {
  none,               ///< nothing that a program could do
  call_again,         ///< the same call, after a pause
  abort_transaction,  ///< abort, restore the state at the batch's start, compute again
  new_client,         ///< destroy this client, make a new one, reload the state
};

/// One error. The text is the client library's or the broker's, one line; secret properties are blotted out, and no
/// record's bytes are ever in it.
struct Error {
  int code = 0;  ///< rd_kafka_resp_err_t: negative where the client library made it, positive where a broker did
  Cause cause = Cause::other;
  Remedy remedy = Remedy::none;
  std::string text;
  std::string topic;  ///< that it is about, where there is one
};

/// Of a call's result code; `text` falls back to the code's own description.
[[nodiscard]] Error error_of(int code, std::string_view text = {});
/// Of what a transactional or group call returned: keeps fatal, abortable and retriable. An error that is none of the
/// three leaves the client in a state that nobody knows: Remedy::new_client.
[[nodiscard]] Error error_of(const rd_kafka_error_s& error);

/// The documented exit code when the error ends the process: 77 for authentication and authorization, 78 for a
/// missing topic or a record that is too large, 75 for a fenced member or producer, 65 for an offset out of range, 69
/// for what did not answer in time, else 70.
[[nodiscard]] Exit exit_code(const Error& error);

/// The end of a call that cannot give its result: "cannot ATTEMPT: TEXT; ADVICE", with exit_code() of the error.
class KafkaFailure : public Failure {
 public:
  /// `attempt` completes "cannot …", and names topic and partition.
  KafkaFailure(const std::string& attempt, Error error);
  [[nodiscard]] const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

/// Where a call stands that is made in slices.
class Progress {
 public:
  [[nodiscard]] static Progress done() { return Progress(State::done, {}); }
  /// Not finished: the same call again, with the same arguments, goes on with it.
  [[nodiscard]] static Progress again() { return Progress(State::again, {}); }
  [[nodiscard]] static Progress failed(Error error) { return Progress(State::failed, std::move(error)); }

  [[nodiscard]] bool is_done() const noexcept { return state_ == State::done; }
  [[nodiscard]] bool is_again() const noexcept { return state_ == State::again; }
  /// Null where it is done or goes on.
  [[nodiscard]] const Error* error() const noexcept { return state_ == State::failed ? &error_ : nullptr; }

 private:
  enum class State : std::uint8_t { done, again, failed };
  Progress(State state, Error error) : state_(state), error_(std::move(error)) {}

  State state_;
  Error error_;
};

}  // namespace nustream::kafka

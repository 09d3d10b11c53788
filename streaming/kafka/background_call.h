// Makes a call that may take long on a thread of its own. The caller waits for it in slices, and gives it up when it
// is overdue.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include "kafka/client_error.h"
#include "kafka/partition.h"

namespace nustream::kafka {

/// Has one thread, which makes one call at a time. librdkafka has its own way to resume a transactional call that
/// timed out, which is not used here, for two reasons. The late result of a first attempt can be taken for that of a
/// second one. And if a coordinator is missing at the wrong moment, send_offsets does not return until some
/// connection changes.
class BackgroundCall {
 public:
  /// A call returns nothing, or an error. It has to own what it uses, since it may outlive this object.
  using Call = std::function<std::optional<Error>()>;

  /// How long after its deadline a call is given up.
  static constexpr std::chrono::milliseconds grace{1000};

  BackgroundCall();
  /// Waits for the call under way until it is overdue; after abandon() not at all. A call that has not ended by then
  /// is left to its thread.
  ~BackgroundCall();
  BackgroundCall(const BackgroundCall&) = delete;
  BackgroundCall& operator=(const BackgroundCall&) = delete;

  // These may be called by one thread at a time.

  [[nodiscard]] bool is_idle() const noexcept { return name_.empty(); }
  /// Begins a call. Contract: is_idle(), and no call was given up. `name` is a literal.
  void start(std::string_view name, Call call, Deadline deadline);
  /// Says that nobody waits for the call under way any more. No other call may be begun.
  void abandon() noexcept { given_up_ = !is_idle() || given_up_; }
  /// Waits for the call `name`, for `slice` at most. Returns done, again, or failed with the call's error. An overdue
  /// call is given up and fails with Cause::timed_out and Remedy::new_client.
  [[nodiscard]] Progress wait(std::string_view name, std::chrono::milliseconds slice);

 private:
  struct Shared;
  static void work(Shared& shared);
  [[nodiscard]] bool has_ended(Deadline until) const;

  std::string_view name_;  // the name of the call under way; empty while there is none
  Deadline overdue_;
  bool given_up_ = false;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace nustream::kafka

// A call that may take long, on a thread of its own, waited for in slices and given up when it is overdue.
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

/// One thread for one call at a time. librdkafka's own way to come back to a transactional call that timed out is not
/// used: the result of a first attempt that comes late can be taken for that of a second; and send_offsets, where a
/// coordinator is missing at the wrong moment, does not return before some connection changes.
class BackgroundCall {
 public:
  /// Ends without an error, or with one. Owns what it uses: it may outlive this object.
  using Call = std::function<std::optional<Error>()>;

  /// How long after its deadline a call is given up.
  static constexpr std::chrono::milliseconds grace{1000};

  BackgroundCall();
  /// Waits for the call under way until it is overdue, or not at all after abandon(); then leaves it to itself.
  ~BackgroundCall();
  BackgroundCall(const BackgroundCall&) = delete;
  BackgroundCall& operator=(const BackgroundCall&) = delete;

  // One thread at a time calls these.

  [[nodiscard]] bool is_idle() const noexcept { return name_.empty(); }
  /// While idle, and not after a call that was given up. `name` is a literal.
  void start(std::string_view name, Call call, Deadline deadline);
  /// Nobody wants the end of the call under way any more; no other is made.
  void abandon() noexcept { given_up_ = !is_idle() || given_up_; }
  /// Waits for the call `name` for `slice` at most: done, again, or failed with its error. A call that is overdue is
  /// given up: Cause::timed_out, Remedy::new_client.
  [[nodiscard]] Progress wait(std::string_view name, std::chrono::milliseconds slice);

 private:
  struct Shared;
  static void work(Shared& shared);
  [[nodiscard]] bool has_ended(Deadline until) const;

  std::string_view name_;  // of the call under way
  Deadline overdue_;
  bool given_up_ = false;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace nustream::kafka

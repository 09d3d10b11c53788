// A broker in memory: logs, transactions, a consumer group, and everything that may go wrong with them, by a seed.
// The simulated clients of Kafka (simulated_kafka.h) carry out on it what the product asks of librdkafka.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/message.h"
#include "kafka/partition.h"
#include "simulated_disk.h"

namespace nustream::tests {

using Place = std::pair<std::string, std::int32_t>;  ///< topic and partition

/// One transaction of one producer.
struct SimulatedTransaction {
  enum class State { open, committing, aborting, committed, aborted };
  std::string id;
  std::uint64_t epoch = 0;
  State state = State::open;
  std::set<Place> unmarked;  ///< partitions that have no marker of its end yet
  std::optional<std::pair<Place, std::int64_t>> offset;
  [[nodiscard]] bool is_decided() const { return state != State::open; }
  [[nodiscard]] bool will_commit() const { return state == State::committing || state == State::committed; }
};

struct SimulatedEntry {
  std::shared_ptr<SimulatedTransaction> transaction;  ///< null where there is none
  bool is_control = false;
  std::optional<std::string> key{};
  std::optional<std::string> value{};
  std::int64_t milliseconds = 0;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers{};
  std::vector<decode::MessageHeader> views{};  ///< views of the headers, once they are in the log
};

/// How often each thing really happened.
using FaultCounts = std::map<std::string, std::uint64_t>;

/// The faults of one history; chances are for each call.
struct BrokerFaults {
  double again = 0;        ///< the call takes another slice
  double unavailable = 0;  ///< the call fails and had no effect
  double lost_answer = 0;  ///< the call fails, and nobody knows whether it had an effect
  double slow_marks = 0;   ///< a transaction's end takes its time
};

class SimulatedBroker {
 public:
  explicit SimulatedBroker(std::uint64_t seed) : random_(seed) {}

  BrokerFaults faults;
  std::int32_t lanes = 1;    ///< how many partitions each topic has
  bool gives_times = false;  ///< the time of a record is that at which the broker appended it, not its producer's
  /// A topic on a broker of its own, which takes at once whatever is sent to it. Writing to this topic counts no call
  /// and draws no chance, so that no other fault depends on it.
  std::string apart{};
  FaultCounts happened;
  FaultCounts stages;  ///< changes of the lanes' stages, "from --> to: event"
  /// Called when read_uncommitted can read the entry.
  std::function<void(const Place&, const SimulatedEntry&)> on_append;
  std::function<void(const SimulatedTransaction&)> on_decided;  ///< called when the transaction's end is durable

  // ---- logs
  void append(const Place& place, SimulatedEntry entry);
  [[nodiscard]] const std::deque<SimulatedEntry>& log(const Place& place) { return logs_[place]; }
  [[nodiscard]] std::int64_t end(const Place& place) { return static_cast<std::int64_t>(logs_[place].size()); }
  /// Takes the record at the offset away from every reader, or gives it back.
  void hide(const Place& place, std::size_t offset, bool hidden) { logs_[place][offset].is_control = hidden; }
  [[nodiscard]] std::int64_t last_stable(const Place& place);
  [[nodiscard]] std::vector<std::string> committed_values(const Place& place);

  // ---- transactions
  /// The next epoch of the id; empty while the end of the last transaction is still being marked.
  [[nodiscard]] std::optional<std::uint64_t> init(const std::string& id);
  [[nodiscard]] bool is_fenced(const std::string& id, std::uint64_t epoch) {
    return coordinators_[id].epoch != epoch;
  }
  /// False while the transaction before is still being marked.
  [[nodiscard]] bool may_begin(const std::string& id);
  [[nodiscard]] std::shared_ptr<SimulatedTransaction> transaction(const std::string& id, std::uint64_t epoch);
  void end_transaction(const std::shared_ptr<SimulatedTransaction>& transaction, bool commit);
  /// A request to commit that arrives at some time.
  void commit_later(std::shared_ptr<SimulatedTransaction> transaction) { late_.push_back(std::move(transaction)); }
  /// Makes the coordinator end one open transaction for its age, if there is one.
  void time_out_one();

  // ---- the brokers
  /// All brokers go, and come back some calls later with what they had: logs, transactions and the group. Until then
  /// no request has an answer, and nothing goes on.
  void restart();
  [[nodiscard]] bool is_away() const noexcept { return away_for_ > 0; }

  // ---- the group
  struct Member {
    std::int64_t generation = 0;
    std::set<std::int32_t> assigned;  ///< as the coordinator knows it
    /// 'a'ssigned, 'r'evoked or 'l'ost, which the member does not know yet.
    std::deque<std::pair<char, std::int32_t>> news;
    bool is_behind = false;  ///< it has lost its membership, and does not know yet
  };
  std::map<std::string, Member> members;
  std::int64_t generation = 1;
  void join(const std::string& member);
  /// Ends a membership without a word, as after a session is over. The member hears of it later, if it still exists.
  void lose(const std::string& member);
  /// Gives every partition that nobody has to some member.
  void share_out(std::int32_t partitions);
  void move_one();
  [[nodiscard]] std::optional<std::int64_t> committed_offset(const Place& place);
  [[nodiscard]] bool offset_is_stable(const Place& place);

  // ---- chance and time
  /// Lets one of the things that are under way go on a bit.
  void go_on();
  void settle();
  [[nodiscard]] bool chance(double probability) { return std::bernoulli_distribution(probability)(random_); }
  [[nodiscard]] std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  void count(const std::string& what) { ++happened[what]; }

  // ---- the process whose code runs
  struct Process {
    std::string name;
    std::uint64_t calls_left = 0;  ///< until it crashes; 0: it never does
    bool ended = false;
  };
  Process* process = nullptr;
  /// Counts a call. The process may end in it: in enter_call() before its effect, in leave_call() after it.
  void enter_call();
  void leave_call();

  static SimulatedBroker*& current();

 private:
  struct Coordinator {
    std::uint64_t epoch = 0;
    std::shared_ptr<SimulatedTransaction> last;
  };
  void mark(SimulatedTransaction& transaction, const Place& place);
  void come_back();

  std::mt19937_64 random_;
  std::uint64_t away_for_ = 0;                  // in calls
  std::chrono::milliseconds away_wait_max_{0};  // the longest wait in each of them
  std::map<Place, std::deque<SimulatedEntry>> logs_;
  std::map<std::string, Coordinator> coordinators_;
  std::map<Place, std::int64_t> offsets_;
  std::vector<std::shared_ptr<SimulatedTransaction>> marking_;
  std::vector<std::shared_ptr<SimulatedTransaction>> late_;
};

/// Moves this program's steady clock on. A program that links simulated_clock.cpp has no other, and a thread that
/// sleeps moves the time on. Any thread may call it.
void pass_time(std::chrono::nanoseconds time);

}  // namespace nustream::tests

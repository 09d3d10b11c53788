// The keys of attached lanes: what they are made of, where they lie, and how long they stay. Two lanes run in this
// very process, over the simulated broker, and the tests look through all of its memory. What the system's random
// source gives goes through this program, which takes note of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "attach/record_sizes.h"
#include "block_keys.h"
#include "config/mechanism.h"
#include "drawn_noise.h"
#include "simulated_service.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

/// Takes note of 256 bits that the system has handed out. Empty where nobody wants to know.
std::function<void(const noise::KeyBytes&)>& on_drawn_key() {
  static std::function<void(const noise::KeyBytes&)> told;
  return told;
}

}  // namespace
}  // namespace nustream::tests

/// The system's, in whose place this one is linked.
extern "C" ssize_t getrandom(void* buffer, std::size_t size, unsigned flags) {
  const ssize_t got = ::syscall(SYS_getrandom, buffer, size, flags);
  const auto& told = nustream::tests::on_drawn_key();
  nustream::noise::KeyBytes key{};
  if (!told || got != static_cast<ssize_t>(key.size()) || size != key.size()) return got;
  std::memcpy(key.data(), buffer, key.size());
  told(key);
  nustream::noise::wipe(key);
  return got;
}

namespace nustream::tests {
namespace {

using Names = std::vector<std::string>;

constexpr const char* stream = "attached";
constexpr std::int32_t lanes = 2;
constexpr std::uint64_t seed = 11;
constexpr std::uint64_t dimension = 2;

std::uint64_t block_steps() {
  return noise::steps_per_block(dimension);
}

/// Two lanes of a topic, and one process at a time that runs both.
class AttachedKeys : public ::testing::Test {
 protected:
  AttachedKeys() { broker_.lanes = lanes; }
  ~AttachedKeys() override {
    service_.reset();
    on_drawn_key() = nullptr;
  }

  void use(secrets::Keyring keys) {
    keys_.emplace(std::move(keys));
    const std::size_t release_bytes = attach::release_bytes(config_, mechanism_);
    config_.publishing.outbox_bytes_max = 8 * release_bytes;
    setup_.emplace(attach::Setup{config_, config::EpochDigests(config_, mechanism_, keys_->is_private()), *keys_,
                                 release_bytes, std::size_t{1} << 20, lanes});
  }
  void start() { service_ = std::make_unique<SimulatedService>(broker_, *setup_, mechanism_, lanes, ++processes_); }
  /// Lets the process end as SIGTERM does.
  void end() {
    service_->shut_down();
    live();
    EXPECT_TRUE(service_->is_drained());
    service_.reset();
  }
  /// So many more records for each lane.
  void write(std::uint64_t records) {
    for (std::uint64_t i = 0; i < records; ++i) {
      for (std::int32_t lane = 0; lane < lanes; ++lane) {
        SimulatedEntry entry;
        entry.value = std::to_string(0.1 * static_cast<double>(i % 7)) + ",1";
        broker_.append({config_.kafka.topics.input, lane}, std::move(entry));
      }
    }
    written_ += records;
  }
  /// Lets the process work until nothing has happened for half a minute: everything is committed by then.
  void live() {
    for (int idle = 0; idle < 60; ++idle) {
      broker_.share_out(lanes);
      while (service_->step()) idle = 0;
      broker_.go_on();
      ASSERT_FALSE(service_->failure()) << service_->failure()->reason;
      pass_time(std::chrono::milliseconds(500));
      service_->look_at_the_clock();
    }
  }
  /// Expects that every lane has committed all that was written.
  void expect_all_committed() const {
    const std::string shown = service_->shown().state();
    const std::string steps = "\"steps_committed\":" + std::to_string(written_) + ",";
    const std::size_t first = shown.find(steps);
    EXPECT_TRUE(first != std::string::npos && shown.find(steps, first + 1) != std::string::npos) << shown;
  }
  [[nodiscard]] std::vector<std::string> states(std::int32_t lane) {
    broker_.settle();
    return broker_.committed_values({config_.kafka.topics.state, lane});
  }
  [[nodiscard]] journal::State opened(const std::string& sealed) const { return journal::open_state(*keys_, sealed); }

  const TemporaryFolder folder_;
  config::Config config_ = config::read_config(folder_.write("attached.toml", R"([stream]
name = "attached"
header = false
columns = ["x", "y"]
[target]
column = "y"
[[features]]
column = "x"
[descent]
step_size = 0.01
clip_norm = 1.0
[privacy]
rho = 0.5
delta = 1e-6
[noise]
nu = 0.01
[release]
every = 10
[state]
commit_records = 5
commit_seconds = 1
[kafka]
brokers = "simulated"
topic = "input"
group = "group"
)"),
                                               {});
  config::Mechanism mechanism_ = config::make_mechanism(config_, privacy::Participation::once());
  SimulatedBroker broker_{7};
  std::optional<secrets::Keyring> keys_;
  std::optional<attach::Setup> setup_;
  std::uint64_t processes_ = 0;
  std::uint64_t written_ = 0;
  std::unique_ptr<SimulatedService> service_;
};

// A lane moves to another process in the middle of a block. Under an insecure seed no segment begins there, so that
// its keys are known in advance.
TEST_F(AttachedKeys, StayForTheBlockBeforeTheirOwnAtMost) {
  use(secrets::Keyring::insecure(seed));
  constexpr std::uint64_t blocks = 7;
  const auto of_blocks = [](std::uint64_t first, std::uint64_t last) {
    std::vector<KeysInMemory> keys;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      keys.push_back(keys_of_blocks(seed, stream, LaneId{lane}, first, last));
    }
    return keys;
  };
  const auto expect_gone = [&](std::uint64_t up_to) {
    for (const KeysInMemory& keys : of_blocks(0, up_to)) expect_none(keys, "once the process has ended");
  };
  start();
  for (std::uint64_t block = 0; block < blocks; ++block) {
    SCOPED_TRACE("block " + std::to_string(block));
    write(block == 0 ? block_steps() / 2 : block_steps());  // up to the middle of the block
    live();
    if (block == blocks / 2) {
      end();
      expect_gone(block + 3);
      start();
      live();
    }
    expect_all_committed();
    for (const KeysInMemory& keys : of_blocks(block, block + 1)) EXPECT_TRUE(finds(keys, chain_name(block)));
    if (block < 2) continue;
    for (const KeysInMemory& keys : of_blocks(0, block - 1)) expect_none(keys, "of earlier blocks");
  }
  end();
  expect_gone(blocks + 3);
}

// The key derivation of OpenSSL holds the key that it was given last, in ordinary memory (docs/privacy.md). That is
// the key of the next block, which is made ahead. The keys of the block in use, and of the one after the next, show
// where keys are kept.
TEST_F(AttachedKeys, LieInLockedMemoryAlone) {
  if (!KeysInMemory::tells_what_is_locked()) GTEST_SKIP() << "the system does not say which memory is locked";
  use(secrets::Keyring::insecure(seed));
  start();
  write(2 * block_steps() + block_steps() / 2);
  live();
  expect_all_committed();
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    SCOPED_TRACE("lane " + std::to_string(lane));
    secrets::LockedMemory locked;
    noise::KeyBytes epoch_key = secrets::Keyring::insecure(seed).epoch_key(stream);
    noise::Checkpoint checkpoint = noise::first_checkpoint(epoch_key, {LaneId{lane}, EpochId{0}, 0});
    noise::wipe(epoch_key);
    KeysInMemory kept;
    {
      noise::KeyRing ring(checkpoint.segments, 1, &locked);
      for (noise::Segment& segment : checkpoint.segments) noise::wipe(segment.chain_key);
      for (const std::uint64_t block : {2U, 4U}) {
        ring.advance_to(block);
        kept.add(chain_name(block), ring.chain_key(block));
      }
    }
    // A search calls some functions for the first time. Where these are bound only then, all registers are saved on
    // the stack meanwhile, and one of them may still hold a key that was derived above. So a second search is what
    // counts.
    static_cast<void>(kept.found_unlocked());
    write_over_the_stack();
    EXPECT_EQ(kept.found().size(), 2U);
    EXPECT_EQ(kept.found_unlocked(), Names{});
  }
}

// Neither what an epoch begins with nor what a segment mixes in is needed any more once a key was derived from it.
TEST_F(AttachedKeys, LeaveNothingBehindOfWhatWasDrawn) {
  use(secrets::Keyring::from_master(noise::KeyBytes{3}));
  KeysInMemory drawn;
  int count = 0;
  on_drawn_key() = [&](const noise::KeyBytes& key) { drawn.add("draw " + std::to_string(++count), key); };
  start();
  write(3 * block_steps() + block_steps() / 2);
  live();
  expect_all_committed();
  on_drawn_key() = nullptr;
  EXPECT_GE(count, lanes * (1 + 3)) << "an epoch's key, and what enters at each border of blocks";
  expect_none(drawn, "while the lanes run");
}

// Each lane's epoch begins with a draw of its own, and every later segment mixes in another one: at each border of
// blocks, and where the lane moves to another process.
TEST_F(AttachedKeys, AreExactlyWhatTheSystemGave) {
  use(secrets::Keyring::from_master(noise::KeyBytes{5}));
  std::vector<noise::KeyBytes> drawn;
  on_drawn_key() = [&](const noise::KeyBytes& key) { drawn.push_back(key); };
  const auto run = [&](std::uint64_t records) {
    drawn.clear();
    start();
    write(records);
    live();
    expect_all_committed();
    end();
    return drawn;
  };
  const std::uint64_t half = block_steps() / 2;
  const std::vector<noise::KeyBytes> first_drawn = run(2 * block_steps() + half);
  std::vector<std::size_t> states_of_first;
  for (std::int32_t lane = 0; lane < lanes; ++lane) states_of_first.push_back(states(lane).size());
  const std::vector<noise::KeyBytes> later_drawn = run(block_steps());
  std::set<noise::KeyBytes> used;
  for (std::int32_t lane = 0; lane < lanes; ++lane) {
    SCOPED_TRACE("lane " + std::to_string(lane));
    const std::vector<std::string> sealed = states(lane);
    const journal::State begun = opened(sealed.front());
    const journal::State between = opened(sealed.at(states_of_first[static_cast<std::size_t>(lane)] - 1));
    const journal::State last = opened(sealed.back());
    ASSERT_EQ(begun.identity.steps, StepCount{0});
    ASSERT_EQ(between.identity.steps, StepCount{2 * block_steps() + half});
    ASSERT_EQ(last.identity.steps, StepCount{3 * block_steps() + half});
    const auto key = drawn_key_of(begun, first_drawn);
    ASSERT_TRUE(key) << "the epoch's key is no draw of the system's";
    const auto of_first = mixed_in(mechanism_, begun, between, false, first_drawn);
    ASSERT_TRUE(of_first) << "a segment of the first process has mixed in something else";
    EXPECT_EQ(of_first->size(), 2U);
    const auto of_later = mixed_in(mechanism_, between, last, true, later_drawn);
    ASSERT_TRUE(of_later) << "a segment of the second process has mixed in something else";
    EXPECT_EQ(of_later->size(), 2U);
    EXPECT_TRUE(used.insert(*key).second) << "the key of another lane";
    for (const auto& mixed : {*of_first, *of_later}) {
      for (const noise::KeyBytes& bytes : mixed) EXPECT_TRUE(used.insert(bytes).second) << "drawn once, used twice";
    }
  }
}

}  // namespace
}  // namespace nustream::tests

// How long keys stay with those who use them: the tests look through all memory of the process, whoever holds it.
// This matters because the key of a block that no committed or in-flight state needs any more opens noise that is in
// releases already.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "block_keys.h"
#include "config/config.h"
#include "engine/noise_ahead.h"
#include "engine/noise_feed.h"
#include "engine/release_encoder.h"
#include "engine/stepper.h"
#include "folder/options.h"
#include "folder/session.h"
#include "folder/window.h"
#include "replay/record_loop.h"
#include "replay/stream_input.h"
#include "replay_world.h"
#include "secrets/key_file.h"
#include "secrets/keyring.h"
#include "secrets/locked_memory.h"

namespace nustream::tests {
namespace {

constexpr const char* stream = "world";
constexpr std::uint64_t seed = 11;
constexpr std::uint64_t dimension = 2;
constexpr std::uint64_t blocks = 6;

std::uint64_t block_steps() {
  return noise::steps_per_block(dimension);
}

/// The keys of lane 0, epoch 0, from block `first` up to `last`.
KeysInMemory keys_of(std::uint64_t first, std::uint64_t last) {
  return keys_of_blocks(seed, stream, LaneId{0}, first, last);
}

journal::NoiseCheckpoints first_checkpoints() {
  noise::KeyBytes key = secrets::Keyring::insecure(seed).epoch_key(stream);
  journal::NoiseCheckpoints first = journal::first_checkpoints(key, LaneId{0}, EpochId{0}, 1);
  noise::wipe(key);
  return first;
}

struct World {
  ReplayWorld files{(blocks + 1) * block_steps()};
  config::Config config = config::read_config(
      files.config(),
      {"state.directory=\"" + files.path("state") + "\"", "state.commit_records=1000", "state.commit_seconds=3600"});
  config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
};

TEST(KeysOfNoise, StayWithAFeedForTheBlockBeforeItsOwnAtMost) {
  const World world;
  {
    secrets::LockedMemory locked;
    engine::NoiseFeed feed(world.mechanism, first_checkpoints(), StepIndex{0}, &locked, {});
    for (std::uint64_t step = 0; step < (blocks - 1) * block_steps() + 1;) {
      step += engine::steps_in(feed.take(block_steps() / 4));
      static_cast<void>(feed.checkpoints());
    }
    EXPECT_TRUE(finds(keys_of(blocks - 1, blocks), chain_name(blocks - 1)));
    expect_none(keys_of(0, blocks - 2), "of earlier blocks");
  }
  expect_none(keys_of(0, blocks + 2), "once the feed is gone");
}

/// The other thread: a single one that does all pieces of work, as the service has it.
class Bench {
 public:
  Bench() : thread_([this](const std::stop_token& stop) { work(stop); }) {}
  engine::NoiseAhead::Run run() {
    return [this](std::function<void()> work) {
      const std::lock_guard hold(mutex_);
      work_ = std::move(work);
      changed_.notify_all();
    };
  }
  /// Waits until no work is under way.
  void rest() {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [this] { return !work_ && !busy_; });
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock hold(mutex_);
    while (changed_.wait(hold, stop, [this] { return work_ != nullptr; })) {
      busy_ = true;
      const std::function<void()> now = std::exchange(work_, nullptr);
      hold.unlock();
      now();
      hold.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<void()> work_;
  bool busy_ = false;
  std::jthread thread_;
};

// The stack of the other thread holds the last key that was derived there, until its next piece of work writes over
// it. This test does such a piece of work, as noise for another lane would.
TEST(KeysOfNoise, StayWithNoiseMadeAheadForTheBlockBeforeItsOwnAtMost) {
  const World world;
  Bench bench;
  {
    secrets::LockedMemory locked;
    engine::NoiseAhead ahead(world.mechanism, first_checkpoints(), StepIndex{0}, &locked, {}, bench.run(), [] {});
    for (std::uint64_t step = 0; step < (blocks - 1) * block_steps() + 1;) {
      const std::size_t taken = engine::steps_in(ahead.take(block_steps() / 4));
      if (taken == 0) bench.rest();
      step += taken;
      static_cast<void>(ahead.checkpoints());
    }
    bench.rest();
    EXPECT_TRUE(finds(keys_of(blocks - 1, blocks), chain_name(blocks - 1)));
    expect_none(keys_of(0, blocks - 2), "of earlier blocks");
  }
  bench.run()(write_over_the_stack);
  bench.rest();
  expect_none(keys_of(0, blocks + 2), "once it is gone");
}

/// Does what replay::run() does, and calls `look` after every batch.
void replay_and_look(const World& world, const std::function<void(std::uint64_t steps)>& look) {
  const folder::Window window{0, std::nullopt, 1};
  folder::Options options;
  options.insecure_seed = seed;
  std::atomic<int> stop{0};
  replay::StreamInput input(world.config, window, stop);
  folder::Session session(
      world.config, world.mechanism, window, options, [](std::string_view) {}, input);
  input.open(session.lane().position().value());
  publish::ReleaseEncoder encoder = engine::release_encoder(
      world.config, world.mechanism, {world.config.lane, session.epoch(), session.digest(), session.is_private()});
  engine::Stepper stepper(session.lane(), session.feed(), encoder, world.config.descent.minibatch,
                          session.step_limit(), session.released_at());
  replay::RecordLoop loop(
      stepper, input.reader(), world.config.descent,
      {world.config.state.commit_records, std::chrono::duration<double>(world.config.state.commit_seconds), false},
      replay::Pacer({}));
  static_cast<void>(loop.run(
      stop,
      [&](folder::BatchResult result) {
        session.commit(std::move(result), loop.counts().rejected, stepper.released_at());
        look(session.lane().steps().value());
      },
      [](std::uint64_t) {}));
  session.finish();
  look(session.lane().steps().value());
  EXPECT_EQ(session.lane().steps(), StepCount{(blocks + 1) * block_steps()});
  EXPECT_TRUE(finds(keys_of(blocks + 1, blocks + 2), chain_name(blocks + 1))) << "the next step's";
}

// One batch is in flight, behind the batch before it: both may need the block before the lane's own.
TEST(KeysOfNoise, StayWithASessionForTheBlockBeforeItsOwnAtMost) {
  const World world;
  std::uint64_t next_look = 2 * block_steps() + 2000;  // two batches into a block
  int looks = 0;
  replay_and_look(world, [&](std::uint64_t steps) {
    if (steps < next_look) return;
    next_look += block_steps();
    ++looks;
    const std::uint64_t block = steps / block_steps();
    SCOPED_TRACE("step " + std::to_string(steps));
    EXPECT_TRUE(finds(keys_of(block, block + 1), chain_name(block)));
    expect_none(keys_of(0, block - 1), "of earlier blocks");
  });
  EXPECT_GE(looks, 4);
  expect_none(keys_of(0, blocks + 3), "once the session is gone");
}

// Nobody but the keyring, in its own locked pages, keeps the bytes that it was made of, and those are wiped with its
// last copy.
TEST(KeysOfAKeyFile, GoWithTheKeyring) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "key").string();
  secrets::create_key_file(file);
  KeysInMemory master;
  KeysInMemory derived;
  {
    noise::KeyBytes bytes{};
    std::string text = read_file(file);
    std::copy(text.begin(), text.end(), bytes.begin());
    master.add("key file", bytes);
    noise::wipe(bytes);
    noise::wipe({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  }
  {
    const secrets::Keyring keys = secrets::load_key_file(file);
    const secrets::Keyring copy = keys.beside_nonprivate();
    for (const auto& [name, key] :
         {std::pair{"sealing key", copy.sealing_key()}, {"ledger key", copy.ledger_key()}}) {
      noise::KeyBytes bytes{};
      std::copy(key.begin(), key.end(), bytes.begin());
      derived.add(name, bytes);
      noise::wipe(bytes);
    }
    EXPECT_EQ(derived.found().size(), 2U);
    expect_none(master, "of a keyring that is made");
  }
  expect_none(derived, "of a keyring that is gone");
}

}  // namespace
}  // namespace nustream::tests

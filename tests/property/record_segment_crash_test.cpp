// Recordings over a disk that loses power, kills the process, tears writes and fails syncs. They are resumed until
// they are done: then every message has to be there once.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "error.h"
#include "random_messages.h"
#include "recording/segment_writer.h"
#include "segment_bytes.h"
#include "simulated_disk.h"

namespace nustream::recording {
namespace {

using tests::SimulatedCrash;
using tests::SimulatedDisk;
using tests::StoredMessage;
using State = decode::SegmentReader::State;

const journal::Disk::Path path = "/r/0.segment";

class History {
 public:
  explicit History(std::uint64_t seed) : random_(seed), disk_(seed ^ 0x9e3779b97f4a7c15U) {
    messages_ = tests::random_messages(random_, 10, 1 + random_() % 40, 50);
    stop_ = messages_.back().offset + 1 + random_() % 3;
  }

  void play() {
    for (int life = 0; life < 8; ++life) {
      live(random_faults());
      if (random_() % 2 == 0) {
        disk_.lose_power();
      } else {
        disk_.kill_process();
      }
      check_so_far();
      if (::testing::Test::HasFailure()) return;
    }
    live({});
    disk_.lose_power();
    const tests::SegmentContent content = tests::read_segment(disk_.seen(path));
    ASSERT_EQ(content.state, State::end);
    ASSERT_EQ(content.messages, messages_);
  }

 private:
  tests::Faults random_faults() {
    const std::uint64_t at = 1 + random_() % 30;
    switch (random_() % 4) {
      case 0:
        return {.fail_at = at};
      default:
        return {.crash_at = at};
    }
  }

  // One process: it goes on from wherever the recording is, to its stop or to the fault that ends it.
  void live(tests::Faults faults) {
    disk_.start_process(faults);
    try {
      SegmentWriter writer = disk_.open(path, journal::Access::read)
                                 ? SegmentWriter::resume(disk_, path)
                                 : SegmentWriter::create(disk_, path, tests::header_from(10, stop_));
      ASSERT_GE(writer.next(), durable_next_);
      if (writer.finished()) return;
      for (const StoredMessage& message : messages_) {
        if (message.offset < writer.next()) continue;
        tests::add(writer, message);
        if (random_() % 3 != 0) continue;
        writer.close_block();
        durable_next_ = writer.next();
      }
      writer.finish(*stop_);
      durable_next_ = *stop_;
    } catch (const SimulatedCrash&) {
    } catch (const Failure& failure) {
      ASSERT_EQ(failure.code(), Exit::io) << failure.what();
    }
  }

  // What is on the disk has to be a beginning of the messages, with everything that was synced.
  void check_so_far() {
    const std::string bytes = disk_.seen(path);
    if (bytes.empty()) return;
    const tests::SegmentContent content = tests::read_segment(bytes);
    ASSERT_TRUE(content.header);
    ASSERT_LE(content.messages.size(), messages_.size());
    for (std::size_t i = 0; i < content.messages.size(); ++i) ASSERT_EQ(content.messages[i], messages_[i]);
    const std::size_t kept = content.messages.size();
    ASSERT_TRUE(kept == messages_.size() || messages_[kept].offset >= durable_next_) << kept;
  }

  std::mt19937_64 random_;
  SimulatedDisk disk_;
  std::vector<StoredMessage> messages_;
  std::optional<std::uint64_t> stop_;
  std::uint64_t durable_next_ = 0;
};

TEST(RecordingCrash, WhateverHappensEveryMessageIsRecordedOnce) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    History(seed).play();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace nustream::recording

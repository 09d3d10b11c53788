// Recorded segments, and the records inside their blocks.
#include "decode/segment_reader.h"
#include "error.h"
#include "fuzz.h"
#include "stored_message.h"

namespace nustream::fuzz {
namespace {

class Bytes final : public decode::ByteSource {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  Result read(std::span<char> buffer) override {
    const std::size_t count = bytes_.copy(buffer.data(), buffer.size(), at_);
    at_ += count;
    return {.bytes = count, .end = count == 0};
  }
  [[nodiscard]] bool ready(int) override { return true; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return at_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

void check_file(std::string_view input) {
  try {
    decode::SegmentReader reader(std::make_unique<Bytes>(input), "memory");
    std::uint64_t next = reader.header().start;
    decode::SegmentReader::State state{};
    while ((state = reader.advance()) == decode::SegmentReader::State::block) {
      decode::MessageBatch batch;
      decode::RecordParser records = reader.records();
      while (!records.at_end()) {
        if (!records.next(batch)) throw reader.failure_in_block();
      }
      for (const decode::Message& message : batch.messages()) {
        require(message.offset >= next, "offsets increase");
        next = message.offset + 1;
      }
    }
    if (state == decode::SegmentReader::State::end) return;
    static_cast<void>(reader.failure());
    static_cast<void>(reader.is_torn_tail());
  } catch (const Failure& failure) {
    require(failure.code() == Exit::data || failure.code() == Exit::io, "a bad segment is a failure of input");
  }
}

void check_records(std::string_view content) {
  decode::MessageBatch batch;
  decode::RecordParser parser(content, 7);
  while (!parser.at_end()) {
    if (!parser.next(batch)) break;
  }
  std::string written;
  decode::RecordBefore before{7, 0};
  for (const decode::Message& message : batch.messages()) decode::append_record(message, before, written);
  decode::MessageBatch again;
  decode::RecordParser reread(written, 7);
  while (!reread.at_end()) require(reread.next(again), "what is written is read");
  require(again.count() == batch.count(), "record by record");
  for (std::size_t i = 0; i < batch.count(); ++i) {
    require(tests::stored(batch.messages()[i]) == tests::stored(again.messages()[i]), "as it was");
  }
}

void target(std::string_view input) {
  if (take_byte(input) % 2 == 0) return check_file(input);
  check_records(input);
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(segment)

// One loop for all formats: it reads stored bytes, hands them to the format's decompressor, and turns its states into
// the results and failures of a ByteSource.
#include "decode/decompressor.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "error.h"

namespace nustream::decode {
namespace {

// How many stored bytes are read at once.
constexpr std::size_t stored_buffer_bytes = std::size_t{1} << 17;

class DecompressedSource : public ByteSource {
 public:
  DecompressedSource(std::unique_ptr<ByteSource> stored, std::string path, std::unique_ptr<Decompressor> decompressor)
      : stored_(std::move(stored)),
        path_(std::move(path)),
        decompressor_(std::move(decompressor)),
        memory_(stored_buffer_bytes) {}

  Result read(std::span<char> buffer) override {
    while (true) {
      // A fault that came together with content is thrown by the next call, behind that content.
      refuse_unsound();
      // Stored bytes are read only where the decompressor has used up what it had. It may also hold content for
      // which there was no room.
      if (left_.empty() && !is_all_ && !may_hold_more_) {
        const Result result = stored_->read(memory_);
        if (result.interrupted) return result;
        left_ = {memory_.data(), result.bytes};
        is_all_ = result.end;
      }
      const Decompressor::Progress progress = decompressor_->decompress(left_, buffer, is_all_);
      left_ = left_.subspan(progress.stored);
      // All of the room was used, so that there may be more for which there was none.
      may_hold_more_ = progress.content == buffer.size();
      state_ = progress.state;
      if (progress.content != 0) return {.bytes = progress.content};
      if (left_.empty() && is_all_ && state_ == State::whole) return {.end = true};
      // The file ends inside a stream: it was cut.
      if (left_.empty() && is_all_ && state_ == State::open) fail("ends in the middle of its ");
      // No byte was used and none was made, so that the loop would not end: what is left is no stream of this format.
      if (!left_.empty() && progress.stored == 0) state_ = std::max(state_, State::damaged);
    }
  }

  [[nodiscard]] bool ready(int milliseconds) override {
    return !left_.empty() || is_all_ || stored_->ready(milliseconds);
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return stored_->bytes_read(); }

 private:
  using State = Decompressor::State;

  [[noreturn]] void fail(const char* what) const {
    throw Failure(Exit::io, "'" + path_ + "' " + what + decompressor_->format() + " data: fetch the file again");
  }

  // Throws for a state in which nothing more can come.
  void refuse_unsound() const {
    if (state_ == State::damaged) fail("is not sound ");
    if (state_ != State::too_large) return;
    throw Failure(Exit::io, "'" + path_ + "' needs more memory to be decompressed than is given to it (" +
                                decompressor_->format() +
                                " with a window above 128 MiB): compress it again with a "
                                "smaller one");
  }

  std::unique_ptr<ByteSource> stored_;
  std::string path_;
  std::unique_ptr<Decompressor> decompressor_;
  std::vector<char> memory_;
  std::span<char> left_;  // bytes that were read from `stored_` and not yet used
  bool is_all_ = false;
  bool may_hold_more_ = false;  // the decompressor may hold content for which there was no room
  State state_ = State::open;
};

}  // namespace

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> stored, std::string path,
                                         std::unique_ptr<Decompressor> decompressor) {
  return std::make_unique<DecompressedSource>(std::move(stored), std::move(path), std::move(decompressor));
}

void no_memory_to_decompress() {
  throw Failure(Exit::io, "there is no memory to decompress the input; free some");
}

}  // namespace nustream::decode

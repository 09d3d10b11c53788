// zstd by libzstd: RFC 8878, any number of frames.
#include <zstd.h>

#include <utility>
#include <vector>

#include "decode/byte_source.h"
#include "error.h"

namespace nustream::decode {
namespace {

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

class ZstdSource : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> stored, std::string path)
      : stored_(std::move(stored)),
        path_(std::move(path)),
        stream_(ZSTD_createDStream()),
        input_(ZSTD_DStreamInSize()) {
    if (!stream_) throw Failure(Exit::io, "cannot read '" + path_ + "': no memory to decompress it; free some");
  }

  Result read(std::span<char> buffer) override {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size && !input_ended_) {
        const Result result = fill();
        if (result.interrupted) return result;
      }
      const bool drained = in_.pos == in_.size && input_ended_;
      if (drained && frame_ended_) return {.end = true};
      decompress_some(out);
      if (drained && out.pos == 0) {
        throw Failure(Exit::io,
                      "'" + path_ +
                          "' ends in the middle of its zstd data: the records that arrived whole were used; "
                          "fetch the file again");
      }
    }
    return {.bytes = out.pos};
  }

  [[nodiscard]] bool ready(int milliseconds) override {
    return in_.pos != in_.size || input_ended_ || stored_->ready(milliseconds);
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return stored_->bytes_read(); }

 private:
  Result fill() {
    const Result result = stored_->read(input_);
    in_ = {input_.data(), result.bytes, 0};
    input_ended_ = result.end;
    return result;
  }

  void decompress_some(ZSTD_outBuffer& out) {
    const std::size_t hint = ZSTD_decompressStream(stream_.get(), &out, &in_);
    if (ZSTD_isError(hint) != 0) {
      throw Failure(Exit::io, "'" + path_ +
                                  "' is not sound zstd data: the records before it were used; "
                                  "fetch the file again");
    }
    frame_ended_ = hint == 0;
  }

  std::unique_ptr<ByteSource> stored_;
  std::string path_;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  std::vector<char> input_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool input_ended_ = false;
  bool frame_ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> unzstd(std::unique_ptr<ByteSource> stored, std::string path) {
  return std::make_unique<ZstdSource>(std::move(stored), std::move(path));
}

}  // namespace nustream::decode

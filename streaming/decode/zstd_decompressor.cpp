// zstd by libzstd: RFC 8878, any number of frames.
#include <zstd.h>
#include <zstd_errors.h>

#include "decode/decompressor.h"

namespace nustream::decode {
namespace {

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

class ZstdDecompressor : public Decompressor {
 public:
  ZstdDecompressor() : stream_(ZSTD_createDStream()) {
    if (!stream_) no_memory_to_decompress();
  }

  Progress decompress(std::span<char> stored, std::span<char> content, bool) override {
    // If libzstd were called without input here, it would begin another frame.
    if (stored.empty() && is_frame_ended_) return {0, 0, State::whole};
    ZSTD_inBuffer in{stored.data(), stored.size(), 0};
    ZSTD_outBuffer out{content.data(), content.size(), 0};
    const std::size_t hint = ZSTD_decompressStream(stream_.get(), &out, &in);
    if (ZSTD_isError(hint) != 0) {
      const bool is_large = ZSTD_getErrorCode(hint) == ZSTD_error_frameParameter_windowTooLarge;
      return {in.pos, out.pos, is_large ? State::too_large : State::damaged};
    }
    // 0 says that a frame is decompressed and given out wholly. Any other hint is how much input would be good next.
    is_frame_ended_ = hint == 0;
    return {in.pos, out.pos, is_frame_ended_ ? State::whole : State::open};
  }
  [[nodiscard]] const char* format() const noexcept override { return "zstd"; }

 private:
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  bool is_frame_ended_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> zstd_decompressor() {
  return std::make_unique<ZstdDecompressor>();
}

}  // namespace nustream::decode

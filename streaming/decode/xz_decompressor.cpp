// xz by liblzma: any number of streams, and zeros between them.
#include <lzma.h>

#include <cstdint>

#include "decode/decompressor.h"

namespace nustream::decode {
namespace {

// Room for a dictionary of 128 MiB, twice as much as the strongest preset takes.
constexpr std::uint64_t memory_max = std::uint64_t{136} << 20;

class XzDecompressor : public Decompressor {
 public:
  XzDecompressor() {
    if (::lzma_stream_decoder(&stream_, memory_max, LZMA_CONCATENATED) != LZMA_OK) no_memory_to_decompress();
  }
  ~XzDecompressor() override { ::lzma_end(&stream_); }
  XzDecompressor(const XzDecompressor&) = delete;
  XzDecompressor& operator=(const XzDecompressor&) = delete;

  Progress decompress(std::span<char> stored, std::span<char> content, bool is_all) override {
    // LZMA_STREAM_END comes only at the end of the whole file, since several streams are read as
    // one (LZMA_CONCATENATED).
    if (is_ended_) return {0, 0, State::whole};
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(stored.data());
    stream_.avail_in = stored.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(content.data());
    stream_.avail_out = content.size();
    // LZMA_FINISH tells liblzma that the file ends here. Without it the end of a stream would not be reported,
    // because another stream could follow.
    const lzma_ret status = ::lzma_code(&stream_, is_all ? LZMA_FINISH : LZMA_RUN);
    if (status == LZMA_MEM_ERROR) no_memory_to_decompress();
    is_ended_ = status == LZMA_STREAM_END;
    return {stored.size() - stream_.avail_in, content.size() - stream_.avail_out, state_of(status)};
  }
  [[nodiscard]] const char* format() const noexcept override { return "xz"; }

 private:
  static State state_of(lzma_ret status) noexcept {
    switch (status) {
      case LZMA_OK:
      case LZMA_BUF_ERROR:  // `stored` or the room in `content` is used up
        return State::open;
      case LZMA_STREAM_END:
        return State::whole;
      case LZMA_MEMLIMIT_ERROR:
        return State::too_large;
      default:
        return State::damaged;
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_ended_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> xz_decompressor() {
  return std::make_unique<XzDecompressor>();
}

}  // namespace nustream::decode

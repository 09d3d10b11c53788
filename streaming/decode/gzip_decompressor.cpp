// gzip by zlib: RFC 1952, any number of members.
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "decode/decompressor.h"

namespace nustream::decode {
namespace {

constexpr int window_bits = 15 + 16;  // the largest window; 16 more expects a gzip header and trailer

class GzipDecompressor : public Decompressor {
 public:
  GzipDecompressor() {
    if (::inflateInit2(&stream_, window_bits) != Z_OK) no_memory_to_decompress();
  }
  ~GzipDecompressor() override { ::inflateEnd(&stream_); }
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;

  Progress decompress(std::span<char> stored, std::span<char> content, bool) override {
    // zlib counts in unsigned int, in which the size of a large buffer may not fit.
    const std::size_t room = std::min<std::size_t>(content.size(), std::numeric_limits<uInt>::max());
    stream_.next_in = reinterpret_cast<Bytef*>(stored.data());
    stream_.avail_in = static_cast<uInt>(stored.size());
    stream_.next_out = reinterpret_cast<Bytef*>(content.data());
    stream_.avail_out = static_cast<uInt>(room);
    // What was left of `stored` was padding, or nothing.
    if (between_members_ && !begin_member()) return {stored.size(), 0, State::whole};
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    between_members_ = status == Z_STREAM_END;
    // Z_BUF_ERROR means that `stored` or the room in `content` is used up.
    const bool is_sound = status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
    return {stored.size() - stream_.avail_in, room - stream_.avail_out,
            !is_sound          ? State::damaged
            : between_members_ ? State::whole
                               : State::open};
  }
  [[nodiscard]] const char* format() const noexcept override { return "gzip"; }

 private:
  // Begins another member. Zero bytes may follow the last member, as padding of a tape or a disk. Returns false while
  // nothing else follows.
  bool begin_member() {
    while (stream_.avail_in != 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) return false;
    ::inflateReset(&stream_);
    between_members_ = false;
    return true;
  }

  z_stream stream_{};
  bool between_members_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> gzip_decompressor() {
  return std::make_unique<GzipDecompressor>();
}

}  // namespace nustream::decode

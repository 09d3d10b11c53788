// bzip2 by libbz2: any number of streams, as parallel compressors write them.
#include <bzlib.h>

#include <algorithm>
#include <limits>

#include "decode/decompressor.h"

namespace nustream::decode {
namespace {

class Bzip2Decompressor : public Decompressor {
 public:
  Bzip2Decompressor() = default;
  ~Bzip2Decompressor() override {
    if (is_begun_) ::BZ2_bzDecompressEnd(&stream_);
  }
  Bzip2Decompressor(const Bzip2Decompressor&) = delete;
  Bzip2Decompressor& operator=(const Bzip2Decompressor&) = delete;

  Progress decompress(std::span<char> stored, std::span<char> content, bool) override {
    // Between two streams libbz2 has no state, and an empty input must not begin another stream.
    if (!is_begun_ && stored.empty()) return {0, 0, State::whole};
    begin();
    const std::size_t room = std::min<std::size_t>(content.size(), std::numeric_limits<unsigned>::max());
    stream_.next_in = stored.data();
    stream_.avail_in = static_cast<unsigned>(stored.size());
    stream_.next_out = content.data();
    stream_.avail_out = static_cast<unsigned>(room);
    const int status = ::BZ2_bzDecompress(&stream_);
    if (status == BZ_MEM_ERROR) no_memory_to_decompress();
    // libbz2 reads one stream. The next one, if any, begins anew.
    if (status == BZ_STREAM_END) {
      ::BZ2_bzDecompressEnd(&stream_);
      is_begun_ = false;
    }
    return {stored.size() - stream_.avail_in, room - stream_.avail_out,
            status == BZ_OK           ? State::open
            : status == BZ_STREAM_END ? State::whole
                                      : State::damaged};
  }
  [[nodiscard]] const char* format() const noexcept override { return "bzip2"; }

 private:
  void begin() {
    if (is_begun_) return;
    stream_ = {};
    if (::BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) no_memory_to_decompress();
    is_begun_ = true;
  }

  bz_stream stream_{};
  bool is_begun_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> bzip2_decompressor() {
  return std::make_unique<Bzip2Decompressor>();
}

}  // namespace nustream::decode

// Decompresses files: one loop for all formats, and for each format an object that turns stored bytes into content.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "decode/byte_source.h"

namespace nustream::decode {

/// Decompresses one format. Several streams (members, frames) in a row are one content. To be used by one thread at a
/// time.
class Decompressor {
 public:
  virtual ~Decompressor() = default;

  enum class State {
    open,       ///< inside a stream: a file that ends here was cut
    whole,      ///< between two streams or after the last: the file may end here
    damaged,    ///< it cannot go on; what came before is sound as far as the format can tell
    too_large,  ///< the stream asks for more memory than is given to it
  };
  struct Progress {
    std::size_t stored;   ///< how many of the first bytes of `stored` were used
    std::size_t content;  ///< how many bytes were written to the front of `content`
    State state;
  };
  /// Goes on as far as `stored` and the room in `content` (> 0) allow. `is_all` says that nothing follows `stored`.
  virtual Progress decompress(std::span<char> stored, std::span<char> content, bool is_all) = 0;
  /// The name of the format, for messages.
  [[nodiscard]] virtual const char* format() const noexcept = 0;
};

[[nodiscard]] std::unique_ptr<Decompressor> gzip_decompressor();   ///< RFC 1952, by zlib
[[nodiscard]] std::unique_ptr<Decompressor> zstd_decompressor();   ///< RFC 8878, by libzstd
[[nodiscard]] std::unique_ptr<Decompressor> bzip2_decompressor();  ///< by libbz2
[[nodiscard]] std::unique_ptr<Decompressor> xz_decompressor();     ///< by liblzma

/// The decompressed content of `stored`, which are the stored bytes of `path` (for messages).
[[nodiscard]] std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> stored, std::string path,
                                                       std::unique_ptr<Decompressor> decompressor);

/// Throws that there is no memory for a decompressor.
[[noreturn]] void no_memory_to_decompress();

}  // namespace nustream::decode

// gzip by zlib: RFC 1952, any number of members.
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "decode/byte_source.h"
#include "error.h"

namespace nustream::decode {
namespace {

constexpr std::size_t stored_buffer_bytes = std::size_t{1} << 17;
constexpr int gzip_window_bits = 15 + 16;  // the largest window; 16: a gzip header and trailer are expected

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> stored, std::string path)
      : stored_(std::move(stored)), path_(std::move(path)), input_(stored_buffer_bytes) {
    if (::inflateInit2(&stream_, gzip_window_bits) != Z_OK) {
      throw Failure(Exit::io, "cannot read '" + path_ + "': no memory to decompress it; free some");
    }
  }
  ~GzipSource() override { ::inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result read(std::span<char> buffer) override {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(buffer.size(), std::numeric_limits<uInt>::max()));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0 && !input_ended_) {
        const Result result = fill();
        if (result.interrupted) return result;
      }
      if (between_members_) {
        if (!begin_member()) return {.end = input_ended_, .interrupted = !input_ended_};
      }
      inflate_some();
    }
    return {.bytes = room - stream_.avail_out};
  }

  [[nodiscard]] bool ready(int milliseconds) override {
    return stream_.avail_in != 0 || input_ended_ || stored_->ready(milliseconds);
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return stored_->bytes_read(); }

 private:
  Result fill() {
    const Result result = stored_->read(input_);
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(result.bytes);
    input_ended_ = result.end;
    return result;
  }

  // After a member: another one, or the end, or an interruption. Zero bytes may follow the last member (padding of a
  // tape or a disk).
  bool begin_member() {
    while (!input_ended_) {
      while (stream_.avail_in != 0 && *stream_.next_in == 0) {
        ++stream_.next_in;
        --stream_.avail_in;
      }
      if (stream_.avail_in != 0) {
        ::inflateReset(&stream_);
        between_members_ = false;
        return true;
      }
      if (fill().interrupted) return false;
    }
    return false;
  }

  void inflate_some() {
    if (stream_.avail_in == 0) {
      throw Failure(Exit::io, "'" + path_ +
                                  "' ends in the middle of its gzip data: the records that arrived whole were used; "
                                  "fetch the file again");
    }
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      between_members_ = true;
    } else if (status != Z_OK) {
      throw Failure(Exit::io, "'" + path_ +
                                  "' is not sound gzip data: the records before it were used; "
                                  "fetch the file again");
    }
  }

  std::unique_ptr<ByteSource> stored_;
  std::string path_;
  std::vector<char> input_;
  z_stream stream_{};
  bool input_ended_ = false;
  bool between_members_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> stored, std::string path) {
  return std::make_unique<GzipSource>(std::move(stored), std::move(path));
}

}  // namespace nustream::decode

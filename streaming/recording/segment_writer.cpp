// Writes the bytes of docs/formats/segment.md. Each write is one block, or the end marker, and is synced before the
// next one, so that a crash tears at most the last write. The running checksum covers the whole file, and a resume
// takes it over from the reader.
#include "recording/segment_writer.h"

#include <zstd.h>

#include <optional>
#include <utility>

#include "decode/byte_source.h"
#include "decode/segment_reader.h"
#include "error.h"

namespace nustream::recording {
namespace {

// A block of this size is closed. It is what a crash may cost, and what a reader has to hold.
constexpr std::size_t block_content_bytes = std::size_t{1} << 20;
// The lowest level writes and reads twice as fast as the default. Columns of numbers take the same space within a few
// percent.
constexpr int compression_level = 1;

/// Reads a file of a disk from its beginning.
class DiskSource final : public decode::ByteSource {
 public:
  explicit DiskSource(const journal::File& file) : file_(file) {}

  Result read(std::span<char> buffer) override {
    const std::size_t count = file_.read(offset_, buffer);
    offset_ += count;
    return {.bytes = count, .end = count == 0};
  }
  [[nodiscard]] bool ready(int) override { return true; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return offset_; }

 private:
  const journal::File& file_;
  std::uint64_t offset_ = 0;
};

std::string_view view(const decode::SegmentChecksum::Check& check) {
  return {check.data(), check.size()};
}

}  // namespace

struct SegmentWriter::Compressor {
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context{ZSTD_createCCtx(), ZSTD_freeCCtx};
  std::string stored;

  /// Compresses `content` into one frame, which is valid until the next call.
  std::string_view compress(const std::string& content) {
    stored.resize(ZSTD_compressBound(content.size()));
    // Without a context there was no memory for one, which is told in the same way as a failure to compress.
    const std::size_t size = context ? ZSTD_compressCCtx(context.get(), stored.data(), stored.size(), content.data(),
                                                         content.size(), compression_level)
                                     : 0;
    if (!context || ZSTD_isError(size) != 0) {
      throw Failure(Exit::internal,
                    "a block of the recording cannot be compressed: no memory; give the process more");
    }
    return std::string_view(stored).substr(0, size);
  }
};

struct SegmentWriter::Place {
  decode::SegmentChecksum checksum;
  std::uint64_t size;
  std::uint64_t next;
  decode::SegmentHeader header;
  decode::SegmentTally tally;
};

struct SegmentWriter::Resumed {
  journal::Disk& disk;
  journal::Disk::Path folder;
  std::uint64_t synced;  // all bytes below this are on the disk for certain

  /// Makes the file durably end after its first `size` bytes. Bytes that an earlier process wrote but could not sync
  /// can be read by everybody, yet may never reach the disk unless they are written again.
  void make_durable(journal::File& file, std::uint64_t size) const {
    std::string bytes(static_cast<std::size_t>(size - synced), '\0');
    if (file.read(synced, bytes) != bytes.size()) {
      throw Failure(Exit::io,
                    "the recording in " + folder.string() + " shrinks while it is read; nothing was written");
    }
    file.write(synced, bytes);
    file.truncate(size);
    file.sync();  // before anything else is written there: a mixture of old and new bytes would be neither
    disk.sync_folder(folder);
  }
};

SegmentWriter::SegmentWriter(std::unique_ptr<journal::File> file, Place place)
    : checksum_(place.checksum),
      file_(std::move(file)),
      size_(place.size),
      next_(place.next),
      header_(std::move(place.header)),
      tally_(place.tally),
      compressor_(std::make_unique<Compressor>()) {}

SegmentWriter::SegmentWriter(SegmentWriter&&) noexcept = default;
SegmentWriter::~SegmentWriter() = default;

SegmentWriter SegmentWriter::create(journal::Disk& disk, const journal::Disk::Path& path,
                                    const decode::SegmentHeader& header) {
  // A recording is never written over. The caller decides what becomes of an existing file.
  if (disk.open(path, journal::Access::read)) {
    throw Failure(Exit::data, path.string() +
                                  ": is there already; go on with it by --resume, or record to another "
                                  "folder");
  }
  std::string bytes = encode(header);
  decode::SegmentChecksum checksum;
  checksum.add(bytes);
  bytes += view(checksum.add_check());
  // The file gets its name once it holds a whole header, so that a crash leaves no file of that name without a
  // header.
  const journal::Disk::Path unnamed = path.string() + ".new";
  auto file = disk.create(unnamed, journal::Audience::operators);
  file->write(0, bytes);
  file->sync();
  disk.rename(unnamed, path);
  disk.sync_folder(path.parent_path());
  return {std::move(file), {checksum, bytes.size(), header.start, header, decode::SegmentTally(header)}};
}

SegmentWriter SegmentWriter::resume(journal::Disk& disk, const journal::Disk::Path& path) {
  auto file = disk.open(path, journal::Access::write);
  if (!file)
    throw Failure(
        Exit::data,
        path.string() + ": there is no such recording to go on with; leave out --resume, or name its folder");
  using State = decode::SegmentReader::State;
  decode::SegmentReader reader(std::make_unique<DiskSource>(*file), path.string());
  // The whole file is read: the checksum at its end is needed to go on with it.
  State state = State::block;
  while (state == State::block) state = reader.advance(UINT64_MAX);
  const bool ended = state == State::end;
  // A torn tail is what a crash may leave. Anything else is damage, and nothing is cut (docs/formats/segment.md).
  if (!ended && !reader.is_torn_tail()) throw reader.failure();

  const std::uint64_t next = ended ? reader.end().next : reader.tally().next();
  const std::optional<std::uint64_t> stop = reader.header().stop;
  // An end marker without a reached stop (the recorder was told to end) is cut with the first write.
  const bool finished = ended && stop && next >= *stop;
  const std::uint64_t size = finished ? file->size() : reader.whole_bytes();
  auto resumed = std::make_unique<Resumed>(Resumed{disk, path.parent_path(), reader.bytes_before_last_block()});
  SegmentWriter writer(std::move(file), {reader.checksum(), size, next, reader.header(), reader.tally()});
  writer.finished_ = finished;
  if (finished) {
    resumed->make_durable(*writer.file_, size);  // no write will follow that would do it
  } else {
    writer.resumed_ = std::move(resumed);
  }
  return writer;
}

void SegmentWriter::write(const std::string& bytes) {
  // Only now is anything cut, since a recording that cannot go on has to stay as it was.
  if (resumed_) resumed_->make_durable(*file_, size_);
  resumed_.reset();
  file_->write(size_, bytes);
  file_->sync();
  size_ += bytes.size();
}

void SegmentWriter::add(const decode::Message& message) {
  // Committed offsets only rise. One that does not is of another log, and would break the order of the file.
  if (finished_ || message.offset < next_ || (header_.stop && message.offset >= *header_.stop)) {
    throw Failure(Exit::data, "the log gave offset " + std::to_string(message.offset) + " where " +
                                  std::to_string(next_) + " was next; check whether the topic was made anew");
  }
  const std::size_t bytes = decode::record_bytes_bound(message);
  if (bytes > decode::segment_content_bytes_max) {
    // Refused here, since the format bounds a block's content, and a reader would refuse the file.
    throw Failure(Exit::data, "the record at offset " + std::to_string(message.offset) +
                                  " is too long to be recorded (" + std::to_string(bytes) +
                                  " bytes); begin behind it with --start");
  }
  if (content_.size() + bytes > block_content_bytes) close_block();
  if (block_.records == 0) {
    // Gaps and times of a block's first record count from its own offset and from 0, so that a block can be read
    // alone.
    block_.first = message.offset;
    before_ = {message.offset, 0};
  }
  decode::append_record(message, before_, content_);
  ++block_.records;
  block_.last = message.offset;
  next_ = message.offset + 1;
}

void SegmentWriter::close_block() {
  if (block_.records == 0) return;
  const std::string_view stored = compressor_->compress(content_);
  block_.content_bytes = static_cast<std::uint32_t>(content_.size());
  block_.stored_bytes = static_cast<std::uint32_t>(stored.size());
  written_ = encode(block_);
  // The header has a check of its own, so that its lengths are proven before the content is read by them.
  checksum_.add(written_);
  written_ += view(checksum_.add_check());
  written_ += stored;
  checksum_.add(stored);
  written_ += view(checksum_.add_check());
  write(written_);
  tally_.add(block_);
  block_ = {};
  content_.clear();
}

void SegmentWriter::finish(std::uint64_t next) {
  close_block();
  std::string bytes = encode(tally_.end(next));
  checksum_.add(bytes);
  bytes += view(checksum_.add_check());
  write(bytes);
  next_ = next;
  finished_ = true;
}

}  // namespace nustream::recording

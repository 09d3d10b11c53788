// Chooses the reader for an input, and answers questions about a whole input: how many records it has, and where a
// time begins. Such a question reads all files once, hence the refusal of pipes.
#include "decode/reader.h"

#include <algorithm>
#include <limits>

#include "decode/byte_source.h"
#include "decode/file_kind.h"
#include "decode/json_names.h"
#include "decode/line_decoder.h"
#include "decode/one_document.h"
#include "decode/recorded_reader.h"
#include "decode/segment_rows.h"
#include "error.h"

namespace nustream::decode {
namespace {

// How many rows are read at once where only their number or their times are wanted.
constexpr std::size_t scan_rows = 4096;

// Settings to read all of the files once, before a replay.
InputSettings whole_files(InputSettings settings, const char* purpose) {
  for (const std::string& path : settings.files) {
    if (stored_size(path)) continue;
    throw Failure(Exit::io, "'" + path + "' is a pipe, which cannot be read twice, as is needed to " + purpose +
                                "; record it to a file first");
  }
  settings.from = 0;
  settings.to.reset();
  return settings;
}

bool has_segment(const InputSettings& settings) {
  return std::any_of(settings.files.begin(), settings.files.end(), is_segment);
}

}  // namespace

void require_append_times(const InputSettings& settings) {
  if (!settings.append_times_only || has_segment(settings)) return;
  throw Failure(
      Exit::configuration,
      "users.period needs a time for each record, and a file of lines holds no append time: name the column of the "
      "records' times in stream.time, and set users.times = \"trusted\" if nobody can date records so that limits "
      "begin anew");
}

std::unique_ptr<Reader> open_reader(const InputSettings& settings, const record::Schema& schema,
                                    OtherKinds other_kinds) {
  if (has_segment(settings)) return std::make_unique<SegmentRows>(settings, schema);
  require_append_times(settings);
  auto reader = std::make_unique<RecordedReader>(settings, schema);
  // A header is public and may be refused at any time. Records may be refused only before any of them was used.
  const bool may_refuse = other_kinds == OtherKinds::refused || has_header(settings);
  if (may_refuse) {
    // First the document: its lines may look like records, or like another kind of file.
    refuse_one_document(settings, schema);
    refuse_other_kinds(settings);
  }
  reader->open(may_refuse ? std::optional(wanted_columns(settings, schema)) : std::nullopt);
  const record::RowBuilder builder(schema);
  // A decoder of its own, since begin_file() binds it to the columns of whichever file comes last.
  require_files_ahead(settings, *make_line_decoder(settings, builder.fields(), private_column(schema)));
  return reader;
}

Failure no_records(const InputSettings& settings) {
  const bool lines_have_header = has_header(settings) && !has_segment(settings);
  std::string files;
  for (const std::string& file : settings.files) files += (files.empty() ? "'" : ", '") + file + "'";
  return {Exit::data, files + (lines_have_header ? ": a header and no records" : ": no records") +
                          "; no step was taken: give it records"};
}

std::uint64_t first_position(const InputSettings& settings) {
  return has_segment(settings) ? segment_header(settings).start : 0;
}

PositionRange all_positions(const InputSettings& settings, const Between& between) {
  return has_segment(settings) ? contiguous_offsets(settings, between)
                               : PositionRange{0, count_records(settings, between)};
}

std::uint64_t count_records(const InputSettings& settings, const Between& between) {
  InputSettings all = whole_files(settings, "count its records");
  // All records are passed over, so that none is decoded: counting needs lines alone.
  all.from = std::numeric_limits<std::uint64_t>::max();
  all.time_column.clear();
  RecordedReader reader(all, record::Schema{});
  record::RowBatch batch;
  while (reader.read(batch, scan_rows)) {
    if (between) between();
  }
  return reader.ordinal();
}

std::uint64_t ordinal_at_or_after(const InputSettings& settings, double epoch_seconds, const Between& between) {
  if (has_segment(settings)) return offset_at_or_after(settings, epoch_seconds, between);
  if (settings.time_column.empty()) {
    throw Failure(Exit::configuration, "a start or stop by time needs the column of the records' times; name it");
  }
  if (!settings.times_public) {
    throw Failure(Exit::configuration,
                  "a start or stop by time shows the records' times: declare them public, or give an ordinal");
  }
  RecordedReader reader(whole_files(settings, "find a time in it"), record::Schema{});
  record::RowBatch batch;
  for (bool more = true; more;) {
    const std::uint64_t first = reader.ordinal();
    more = reader.read(batch, scan_rows);
    // A record whose time cannot be read has NaN, which compares as false.
    const auto found =
        std::find_if(batch.times.begin(), batch.times.end(), [&](double time) { return time >= epoch_seconds; });
    if (found != batch.times.end()) return first + static_cast<std::uint64_t>(found - batch.times.begin());
    batch.clear();
    if (between) between();
  }
  // No record is that late: the position behind the last one.
  return reader.ordinal();
}

}  // namespace nustream::decode

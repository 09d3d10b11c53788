// Encodes and decodes the record inside a sealed state (docs/formats/state.md#record-sealed). The record holds noise
// keys. So memory for them is reserved in full beforehand: a string or vector that grows would leave its old bytes,
// keys among them, in memory that nobody wipes.
#include "journal/state_record.h"

#include <string>
#include <utility>

#include "error.h"
#include "secrets/fields.h"
#include "secrets/sodium.h"

namespace nustream::journal {
namespace {

constexpr std::uint32_t format = 12;  // its fields are those of format 11, in which no lane had a trail yet
// The last format that lacked what the name says. A reader asks "found > format_without_x" before it reads x.
constexpr std::uint32_t format_without_windows = 10;
constexpr std::uint32_t format_without_release_head = 9;
constexpr std::uint32_t format_without_ranges = 8;
constexpr std::uint32_t format_without_users = 7;
constexpr std::uint32_t format_without_settings = 6;
constexpr std::uint32_t format_without_segments = 5;
constexpr std::uint32_t format_without_account = 4;
constexpr std::uint32_t format_without_seen_key = 3;
constexpr std::uint32_t format_without_stop_asked = 2;
constexpr const char* malformed = "the state's record is malformed; use the version that wrote it";

/// One stage's noise: the keys of the segments that its next step reads, and what the generator remembers.
void append_checkpoint(const noise::Checkpoint& checkpoint, std::string& out) {
  secrets::append_integer(static_cast<std::uint32_t>(checkpoint.segments.size()), out);
  for (const noise::Segment& segment : checkpoint.segments) {
    secrets::append_integer(segment.first.value(), out);
    secrets::append_bytes(segment.chain_key, out);
  }
  secrets::append_integer(static_cast<std::uint64_t>(checkpoint.memory.size()), out);
  for (const double value : checkpoint.memory) secrets::append_double(value, out);
}

/// Reads what append_checkpoint() wrote behind the number of segments, which states of earlier versions do not have.
void read_checkpoint(secrets::FieldReader& fields, std::uint32_t segments, noise::Checkpoint& checkpoint) {
  if (segments == 0 || segments > noise::segments_max) throw Failure(Exit::data, malformed);
  checkpoint.segments.resize(segments);  // at once, since a growing vector would leave copies of keys behind
  for (noise::Segment& segment : checkpoint.segments) {
    segment.first = StepIndex{fields.integer<std::uint64_t>()};
    fields.bytes(segment.chain_key);
  }
  // Each count is compared with the bytes that are left before anything is reserved by it. Otherwise a malformed
  // record could ask for any amount of memory.
  const auto count = fields.integer<std::uint64_t>();
  if (count > fields.rest().size() / sizeof(double)) throw Failure(Exit::data, malformed);
  checkpoint.memory.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) checkpoint.memory.push_back(fields.number());
}

/// The checkpoints of all stages. Up to format 5 each of them was one segment, counted in blocks.
void read_noise(secrets::FieldReader& fields, std::uint32_t found, NoiseCheckpoints& noise) {
  const auto stages = fields.integer<std::uint32_t>();
  // A stage takes more than one byte, so that this bound never refuses a genuine record.
  if (stages > fields.rest().size()) throw Failure(Exit::data, malformed);
  const bool has_segments = found > format_without_segments;
  const auto in_blocks = has_segments ? fields.integer<std::uint8_t>() : std::uint8_t{1};
  if (in_blocks > 1) throw Failure(Exit::data, malformed);
  noise.in_blocks = in_blocks == 1;
  noise.stages.resize(stages);
  for (noise::Checkpoint& stage : noise.stages) {
    read_checkpoint(fields, has_segments ? fields.integer<std::uint32_t>() : 1, stage);
  }
}

/// A time that may be missing, in 9 bytes: whether there is one, and then the time or zeros.
void append_time(const std::optional<std::int64_t>& time, std::string& out) {
  secrets::append_integer(static_cast<std::uint8_t>(time ? 1 : 0), out);
  secrets::append_integer(static_cast<std::uint64_t>(time.value_or(0)), out);
}

/// Reads what append_time() wrote.
std::optional<std::int64_t> read_time(secrets::FieldReader& fields) {
  const auto any = fields.integer<std::uint8_t>();
  const auto time = static_cast<std::int64_t>(fields.integer<std::uint64_t>());
  // One record has one encoding: what encode_record() never writes is refused.
  if (any > 1 || (any == 0 && time != 0)) throw Failure(Exit::data, malformed);
  return any == 1 ? std::optional(time) : std::nullopt;
}

/// What a state says of users, where it keeps any. Up to format 10 it has no clock of windows.
void read_users(secrets::FieldReader& fields, std::uint32_t found, std::optional<UsersOfState>& users) {
  const auto any = fields.integer<std::uint8_t>();
  if (any > 1) throw Failure(Exit::data, malformed);
  if (any == 0) return;
  users.emplace();
  fields.bytes(users->key);
  users->mark = fields.text();
  users->identity = fields.text();
  if (found <= format_without_windows) return;
  users->latest = read_time(fields);
  users->window = read_time(fields);
}

/// An upper bound on the bytes of the encoding. This much is reserved beforehand, so that no growing string leaves a
/// copy of a key behind.
std::size_t encoded_size(const StateRecord& record) {
  // 256, 128 and 64 are above what the fields of fixed size take: in all, of users, and of each stage.
  std::size_t size = 256 + record.lane.size() + record.outbox.size() + record.ledger_entry.size() +
                     record.bookmark.size() + record.ledger_epochs.size() + record.stop_asked.size() +
                     record.settings.size() + record.ranges.size() +
                     record.seen.size() * (sizeof(std::uint64_t) + sizeof(Hash)) +
                     (record.users ? 128 + record.users->mark.size() + record.users->identity.size() : 0);
  for (const noise::Checkpoint& stage : record.noise.stages) {
    size += 64 + sizeof(noise::Segment) * stage.segments.size() + sizeof(double) * stage.memory.size();
  }
  return size;
}

/// Overwrites the values, in a way that the compiler does not leave out as useless.
template <class T>
void wipe_values(std::vector<T>& values) noexcept {
  noise::wipe({reinterpret_cast<std::uint8_t*>(values.data()), values.size() * sizeof(T)});
}

}  // namespace

NoiseCheckpoints::NoiseCheckpoints(noise::Checkpoint only) {
  stages.push_back(std::move(only));
}

NoiseCheckpoints::NoiseCheckpoints(NoiseCheckpoints&& other) noexcept
    : stages(std::move(other.stages)), in_blocks(other.in_blocks) {}

NoiseCheckpoints& NoiseCheckpoints::operator=(NoiseCheckpoints&& other) noexcept {
  if (this == &other) return *this;
  // The keys that stood here before are overwritten before their memory is given back.
  wipe();
  stages = std::move(other.stages);
  in_blocks = other.in_blocks;
  return *this;
}

NoiseCheckpoints NoiseCheckpoints::clone() const {
  NoiseCheckpoints copy;
  // Both copies are wiped by themselves.
  copy.stages = stages;
  copy.in_blocks = in_blocks;
  return copy;
}

NoiseCheckpoints first_checkpoints(const noise::KeyBytes& epoch_key, LaneId lane, EpochId epoch, std::size_t count) {
  NoiseCheckpoints all;
  all.stages.reserve(count);  // at once: a growing vector would leave copies of keys behind
  for (std::uint32_t stage = 0; stage < count; ++stage) {
    all.stages.push_back(noise::first_checkpoint(epoch_key, {lane, epoch, stage}));
  }
  return all;
}

noise::Checkpoint in_steps(const NoiseCheckpoints& checkpoints, std::size_t stage, std::size_t dimension) {
  // Checkpoints of earlier versions count blocks of steps. How many steps a block has depends on the dimension.
  noise::Checkpoint checkpoint = checkpoints.stages.at(stage);
  if (!checkpoints.in_blocks) return checkpoint;
  const std::uint64_t steps = noise::steps_per_block(dimension);
  for (noise::Segment& segment : checkpoint.segments) segment.first = StepIndex{segment.first.value() * steps};
  return checkpoint;
}

void wipe(noise::Checkpoint& checkpoint) noexcept {
  for (noise::Segment& segment : checkpoint.segments) noise::wipe(segment.chain_key);
  wipe_values(checkpoint.memory);
}

void NoiseCheckpoints::wipe() noexcept {
  for (noise::Checkpoint& stage : stages) journal::wipe(stage);
  stages.clear();
}

// The order is that of the format page. A later format adds its fields at the end, apart from those that belong to a
// noise checkpoint or to users, so that a reader of several formats goes the same way through all of them.
std::string encode_record(const StateRecord& record) {
  std::string out;
  out.reserve(encoded_size(record));
  secrets::append_integer(format, out);
  secrets::append_integer(record.position.value(), out);
  secrets::append_integer(record.start.value(), out);
  // A place that may be missing takes as many bytes as one that is there: the value or zeros, and then which of the
  // two it is.
  secrets::append_integer(record.stop ? record.stop->value() : std::uint64_t{0}, out);
  secrets::append_integer(static_cast<std::uint8_t>(record.stop ? 1 : 0), out);
  secrets::append_integer(record.rejected, out);
  secrets::append_text(record.lane, out);
  secrets::append_integer(static_cast<std::uint32_t>(record.noise.stages.size()), out);
  secrets::append_integer(static_cast<std::uint8_t>(record.noise.in_blocks ? 1 : 0), out);
  for (const noise::Checkpoint& stage : record.noise.stages) append_checkpoint(stage, out);
  secrets::append_text(record.outbox, out);
  secrets::append_text(record.ledger_entry, out);
  secrets::append_text(record.bookmark, out);
  secrets::append_bytes(record.ledger_head, out);
  secrets::append_integer(record.released.value(), out);
  secrets::append_text(record.ledger_epochs, out);
  secrets::append_integer(record.partitions, out);
  // Counts stand before what they count, as lengths do before texts.
  secrets::append_integer(static_cast<std::uint32_t>(record.seen.size()), out);
  for (const SeenRecord& seen : record.seen) {
    secrets::append_integer(seen.position.value(), out);
    secrets::append_bytes(seen.mac, out);
  }
  secrets::append_text(record.stop_asked, out);
  secrets::append_bytes(record.seen_key, out);
  secrets::append_bytes(record.account, out);
  secrets::append_text(record.settings, out);
  secrets::append_integer(static_cast<std::uint8_t>(record.users ? 1 : 0), out);
  if (record.users) {
    secrets::append_bytes(record.users->key, out);
    secrets::append_text(record.users->mark, out);
    secrets::append_text(record.users->identity, out);
    append_time(record.users->latest, out);
    append_time(record.users->window, out);
  }
  secrets::append_text(record.ranges, out);
  secrets::append_bytes(record.release_head, out);
  return out;
}

namespace {

/// Where the lane ends; nothing where it has no end, which is written as a stop at 0.
std::optional<Position> read_stop(secrets::FieldReader& fields) {
  const Position stop{fields.integer<std::uint64_t>()};
  const auto has_stop = fields.integer<std::uint8_t>();
  if (has_stop > 1 || (has_stop == 0 && stop.value() != 0)) throw Failure(Exit::data, malformed);
  return has_stop == 1 ? std::optional(stop) : std::nullopt;
}

/// The marks of records. Their number is bounded by the bytes that are left.
void read_seen(secrets::FieldReader& fields, std::vector<SeenRecord>& seen) {
  const auto count = fields.integer<std::uint32_t>();
  if (count > fields.rest().size() / (sizeof(std::uint64_t) + sizeof(Hash))) throw Failure(Exit::data, malformed);
  for (std::uint32_t i = 0; i < count; ++i) {
    seen.push_back({Position{fields.integer<std::uint64_t>()}});
    fields.bytes(seen.back().mac);
  }
}

/// Fields that later formats have added. Those that an earlier version did not write keep their defaults.
void read_added(secrets::FieldReader& fields, std::uint32_t found, StateRecord& record) {
  if (found > format_without_stop_asked) record.stop_asked = fields.text();
  if (found > format_without_seen_key) fields.bytes(record.seen_key);
  if (found > format_without_account) fields.bytes(record.account);
  if (found > format_without_settings) record.settings = fields.text();
  if (found > format_without_users) read_users(fields, found, record.users);
  if (found > format_without_ranges) record.ranges = fields.text();
  if (found > format_without_release_head) fields.bytes(record.release_head);
}

}  // namespace

StateRecord decode_record(std::string_view bytes) {
  secrets::FieldReader fields(bytes, malformed);
  const auto found = fields.integer<std::uint32_t>();
  // Format 2 is the oldest that is read. It has all fields up to the marks.
  if (found < format_without_stop_asked || found > format) {
    throw Failure(Exit::data, "the state's record has format " + std::to_string(found) +
                                  ", this version reads formats " + std::to_string(format_without_stop_asked) +
                                  " to " + std::to_string(format) + "; use the version that wrote it");
  }
  StateRecord record;
  record.position = Position{fields.integer<std::uint64_t>()};
  record.start = Position{fields.integer<std::uint64_t>()};
  record.stop = read_stop(fields);
  record.rejected = fields.integer<std::uint64_t>();
  record.lane = fields.text();
  read_noise(fields, found, record.noise);
  record.outbox = fields.text();
  record.ledger_entry = fields.text();
  record.bookmark = fields.text();
  fields.bytes(record.ledger_head);
  record.released = StepCount{fields.integer<std::uint64_t>()};
  record.ledger_epochs = fields.text();
  record.partitions = fields.integer<std::uint32_t>();
  read_seen(fields, record.seen);
  read_added(fields, found, record);
  // Nothing may follow, or two records that differ there would decode to the same.
  if (!fields.rest().empty()) throw Failure(Exit::data, malformed);
  return record;
}

Hash record_mark(Position position, std::string_view bytes, std::span<const std::uint8_t, 32> key) {
  std::string text = "nustream seen record";  // no ledger line, hashed under the same key, begins like this
  secrets::append_integer(position.value(), text);
  text += bytes;
  Hash mark{};
  secrets::keyed_hash(key, text, mark);
  return mark;
}

void add_mark(const SeenRecord& mark, std::vector<SeenRecord>& marks) {
  // The positions of a state's marks increase strictly.
  if (!marks.empty() && mark.position <= marks.back().position) return;
  marks.push_back(mark);
  if (marks.size() <= marks_kept) return;
  const auto gap_without = [&](std::size_t i) {
    return marks[i + 1].position.value() - marks[i - 1].position.value();
  };
  // The first and the last mark are never candidates. If three marks were kept, then of 0, 10, 11, 20 the mark 11
  // would go: without it its neighbours are 10 apart, and without the mark 10 they would be 11 apart.
  std::size_t least = 1;
  for (std::size_t i = 2; i + 1 < marks.size(); ++i) {
    if (gap_without(i) < gap_without(least)) least = i;
  }
  marks.erase(marks.begin() + static_cast<std::ptrdiff_t>(least));
}

namespace {

/// Decodes an opened state. Its plain bytes, which hold noise keys, are wiped in any case.
State decode_and_wipe(secrets::OpenedState opened) {
  const secrets::WipeAtEnd wiped(opened.plain);
  StateRecord record = decode_record(opened.plain);
  return {std::move(opened.identity), std::move(record)};
}

}  // namespace

std::string seal_state(const secrets::Keyring& keys, const secrets::StateIdentity& identity,
                       const StateRecord& record) {
  // The encoding is handed over as a temporary and encrypted in place, so that no plain copy of it is left.
  return secrets::seal(keys, identity, encode_record(record));
}

State open_state(const secrets::Keyring& keys, std::string_view sealed, const secrets::ExpectedIdentity& expected) {
  return decode_and_wipe(secrets::open(keys, sealed, expected));
}

State open_state(const secrets::Keyring& keys, std::string_view sealed) {
  return decode_and_wipe(secrets::open(keys, sealed));
}

}  // namespace nustream::journal

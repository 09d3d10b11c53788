#include "simulated_disk.h"

#include <algorithm>
#include <utility>

#include "error.h"

namespace nustream::tests {
namespace {

void apply_change(const PendingChange& change, std::string& content) {
  if (change.truncated) {
    content.resize(*change.truncated, '\0');
    return;
  }
  const std::size_t end = change.offset + change.bytes.size();
  if (content.size() < end) content.resize(end, '\0');
  content.replace(change.offset, change.bytes.size(), change.bytes);
}

bool touch_the_same(const PendingChange& one, const PendingChange& two) {
  const auto end = [](const PendingChange& change) { return change.offset + change.bytes.size(); };
  if (one.truncated && two.truncated) return true;
  if (one.truncated) return end(two) > *one.truncated;
  if (two.truncated) return end(one) > *two.truncated;
  return one.offset < end(two) && two.offset < end(one);
}

class SimulatedLock final : public journal::Lock {};

}  // namespace

/// An open file of the simulated disk.
class SimulatedHandle final : public journal::File {
 public:
  SimulatedHandle(SimulatedDisk& disk, SimulatedDisk::Path path, std::shared_ptr<SimulatedFile> file)
      : disk_(disk), path_(std::move(path)), file_(std::move(file)) {}

  [[nodiscard]] std::uint64_t size() const override { return file_->seen.size(); }

  std::size_t read(std::uint64_t offset, std::span<char> out) const override {
    if (offset >= file_->seen.size()) return 0;
    const std::size_t count = std::min<std::size_t>(out.size(), file_->seen.size() - offset);
    std::copy_n(file_->seen.begin() + static_cast<std::ptrdiff_t>(offset), count, out.begin());
    return count;
  }

  void write(std::uint64_t offset, std::string_view bytes) override {
    disk_.refuse_if_broken(path_);
    if (disk_.is_apart(path_)) return disk_.change_apart(*file_, {offset, std::string(bytes), {}});
    const auto write_part = [&](std::size_t count) {
      disk_.change(*file_, {offset, std::string(bytes.substr(0, count)), {}});
    };
    disk_.count_call([&] { write_part(disk_.random_() % (bytes.size() + 1)); });
    write_part(bytes.size());
  }

  void truncate(std::uint64_t size) override {
    if (disk_.is_apart(path_)) return disk_.change_apart(*file_, {0, {}, size});
    disk_.count_call([] {});
    disk_.change(*file_, {0, {}, size});
  }

  void sync() override {
    if (!disk_.is_apart(path_)) disk_.sync_file(*file_);
  }

 private:
  SimulatedDisk& disk_;
  SimulatedDisk::Path path_;
  std::shared_ptr<SimulatedFile> file_;
};

void SimulatedDisk::refuse_if_broken(const Path& path) {
  if (faults_.broken.empty() || path.filename() != faults_.broken || ended_) return;
  ++losses_.failed_calls;
  ++failed_calls_;
  throw Failure(Exit::io, "cannot go on: simulated failure of the disk; none");
}

void SimulatedDisk::change_apart(SimulatedFile& file, const PendingChange& change) {
  if (ended_) throw SimulatedCrash{};
  apply_change(change, file.seen);
  file.durable = file.seen;
}

void SimulatedDisk::count_call(const std::function<void()>& half_of_it) {
  if (ended_) throw SimulatedCrash{};
  ++calls_;
  if (calls_ == faults_.crash_at) {
    half_of_it();
    ended_ = true;
    throw SimulatedCrash{};
  }
  if (fails_now()) {
    ++losses_.failed_calls;
    ++failed_calls_;
    half_of_it();
    throw Failure(Exit::io, "cannot go on: simulated failure of the disk; none");
  }
}

void SimulatedDisk::start_process(Faults faults) {
  faults_ = faults;
  calls_ = failed_calls_ = 0;
  ended_ = false;
}

void SimulatedDisk::change(SimulatedFile& file, PendingChange change) {
  apply_change(change, file.seen);
  file.pending.push_back(std::move(change));
  changed(file);
}

void SimulatedDisk::changed(const SimulatedFile& file) const {
  if (!on_change) return;
  for (const auto& [name, entry] : seen_names_) {
    if (entry.get() == &file) on_change(name);
  }
}

// Lets changes arrive out of order, unless they are to the same bytes: of those, the page cache hands the disk what
// it holds, which is the later one. What a sync ordered is no longer pending.
void SimulatedDisk::shuffle(std::vector<PendingChange>& changes) {
  for (std::size_t rounds = changes.size(); rounds > 1; --rounds) {
    for (std::size_t i = 1; i < changes.size(); ++i) {
      if ((keeps_order && touch_the_same(changes[i - 1], changes[i])) || chance(0.5)) continue;
      std::swap(changes[i - 1], changes[i]);
    }
  }
}

// Each change that was not synced may have reached the disk or not, in any order, whole or in blocks of 16 bytes. A
// block that did not, while the file's length did, reads as NUL.
void SimulatedDisk::apply_some(SimulatedFile& file) {
  const std::vector<PendingChange> issued = std::exchange(file.pending, {});
  std::vector<PendingChange> arrived;
  for (const PendingChange& change : issued) take_part(change, arrived);
  std::string in_order = file.durable;
  for (const PendingChange& change : arrived) apply_change(change, in_order);
  shuffle(arrived);
  for (const PendingChange& change : arrived) apply_change(change, file.durable);
  if (file.durable != in_order) ++losses_.reordered;
}

void SimulatedDisk::take_part(const PendingChange& change, std::vector<PendingChange>& arrived) {
  constexpr std::size_t block = 16;
  if (chance(0.4)) {
    ++losses_.lost;
    return;
  }
  if (change.truncated || chance(0.4)) return arrived.push_back(change);
  ++losses_.torn;
  const std::size_t reached = random_() % (change.bytes.size() + 1);
  for (std::size_t begin = 0; begin < reached; begin += block) {
    const std::string part = change.bytes.substr(begin, std::min(block, reached - begin));
    if (chance(0.7)) arrived.push_back({change.offset + begin, part, {}});
  }
  if (chance(0.5)) arrived.push_back({change.offset + reached, {}, {}});  // only the length arrives
}

void SimulatedDisk::sync_file(SimulatedFile& file) {
  const auto lose_some = [&] {
    if (!fails_now()) return;
    ++losses_.failed_syncs;
    // The kernel reports the failure once and drops the pages: readers still see them, but the disk never gets them.
    apply_some(file);
  };
  count_call(lose_some);
  for (const PendingChange& change : file.pending) apply_change(change, file.durable);
  file.pending.clear();
}

void SimulatedDisk::make_folder(const Path&) {}

std::unique_ptr<journal::File> SimulatedDisk::open(const Path& path, journal::Access) {
  if (ended_) throw SimulatedCrash{};
  const auto entry = seen_names_.find(path.string());
  if (entry == seen_names_.end()) return nullptr;
  return std::make_unique<SimulatedHandle>(*this, path, entry->second);
}

std::unique_ptr<journal::File> SimulatedDisk::create(const Path& path, journal::Audience) {
  const auto file = std::make_shared<SimulatedFile>();
  count_call([] {});
  seen_names_[path.string()] = file;
  pending_names_.emplace_back(path.string(), file);
  return std::make_unique<SimulatedHandle>(*this, path, file);
}

void SimulatedDisk::rename(const Path& from, const Path& to) {
  count_call([] {});
  const auto file = seen_names_.at(from.string());
  seen_names_.erase(from.string());
  seen_names_[to.string()] = file;
  pending_names_.emplace_back(to.string(), file);
  pending_names_.emplace_back(from.string(), nullptr);
}

void SimulatedDisk::sync_folder(const Path&) {
  count_call([&] {
    if (!fails_now()) return;
    reach_disk(random_() % (pending_names_.size() + 1));  // names are journalled in order; the rest stays pending
  });
  reach_disk(pending_names_.size());
}

void SimulatedDisk::reach_disk(std::size_t names) {
  const auto end = pending_names_.begin() + static_cast<std::ptrdiff_t>(names);
  for (auto entry = pending_names_.begin(); entry != end; ++entry) durable_names_[entry->first] = entry->second;
  pending_names_.erase(pending_names_.begin(), end);
}

std::unique_ptr<journal::Lock> SimulatedDisk::lock(const Path&) {
  return std::make_unique<SimulatedLock>();
}

void SimulatedDisk::lose_power() {
  // In order; a rename takes two, so that both names may be there.
  reach_disk(random_() % (pending_names_.size() + 1));
  pending_names_.clear();
  seen_names_.clear();
  for (auto entry = durable_names_.begin(); entry != durable_names_.end();) {
    entry = entry->second ? std::next(entry) : durable_names_.erase(entry);
  }
  for (const auto& [name, file] : durable_names_) {
    apply_some(*file);
    file->seen = file->durable;
    seen_names_[name] = file;
  }
  faults_ = {};
}

std::string SimulatedDisk::seen(const Path& path) const {
  const auto entry = seen_names_.find(path.string());
  return entry == seen_names_.end() ? std::string() : entry->second->seen;
}

std::string SimulatedDisk::durable(const Path& path) const {
  const auto entry = durable_names_.find(path.string());
  return entry == durable_names_.end() || !entry->second ? std::string() : entry->second->durable;
}

void SimulatedDisk::tamper(const Path& path, const std::string& bytes) {
  const auto file = std::make_shared<SimulatedFile>(SimulatedFile{bytes, bytes, {}});
  seen_names_[path.string()] = durable_names_[path.string()] = file;
}

void SimulatedDisk::remove(const Path& path) {
  seen_names_.erase(path.string());
  durable_names_.erase(path.string());
}

}  // namespace nustream::tests

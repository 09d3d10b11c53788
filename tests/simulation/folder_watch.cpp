#include "folder_watch.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "folder_case.h"
#include "journal/last_release.h"
#include "printed_path.h"
#include "secrets/seal.h"

namespace nustream::tests {

bool ByteWatcher::look(const std::string& content) {
  const std::size_t known = std::min(seen_.size(), content.size());
  if (std::memcmp(seen_.data(), content.data(), known) != 0) {
    for (std::size_t i = 0; i < known; ++i) {
      if (seen_[i] != content[i] && seen_[i] != '\0' && content[i] != '\0') return false;
      if (seen_[i] == '\0') seen_[i] = content[i];
    }
  }
  if (content.size() > known) seen_.append(content, known);
  return true;
}

void FolderWatch::changed(const std::string& path) {
  const bool is_releases = path == folder_paths::releases;
  if (!is_releases && path != folder_paths::ledger) return;
  const std::string content = disk_.seen(path);
  if (keeps_log_) {
    // The log does not say when: the journal writes on a thread of its own, while the clock goes on.
    log_ += fmt::format("{}: {} bytes, {:x}\n", path, content.size(), std::hash<std::string>{}(content));
  }
  if (!(is_releases ? releases_bytes_ : ledger_bytes_).look(content)) {
    return verdict_.violate(path + ": a byte is readable with two values");
  }
  if (is_releases) look_at_releases(content);
}

void FolderWatch::look_at_releases(const std::string& content) {
  const std::size_t end = content.rfind('\n');
  if (end == std::string::npos || end + 1 <= looked_to_) return;
  const std::uint64_t durable = durable_steps();
  for (const std::string& line : lines_of_text(content.substr(looked_to_, end + 1 - looked_to_))) {
    if (line.find('\0') != std::string::npos) return;  // a power failure left these bytes
    look_at_release(line, durable);
  }
  looked_to_ = end + 1;
}

void FolderWatch::look_at_release(const std::string& line, std::uint64_t durable) {
  if (!watcher_.look(line)) verdict_.violate("a step is readable with two values: " + line);
  if (watcher_.furthest() > durable) {
    verdict_.violate(
        fmt::format("step {} is readable before its state is durable (step {})", watcher_.furthest(), durable));
  }
  readable_.insert_or_assign(std::to_string(journal::parse_last_release(line).position.value()), line);
}

void FolderWatch::printed(std::string_view text) {
  if (keeps_log_) log_.append("printed:\n").append(text);
  const auto found = readable_.find(printed_position(text));
  if (found == readable_.end() || !shows_release(text, found->second)) {
    return verdict_.violate("something else is printed than what is readable:\n" + std::string(text));
  }
  if (disk_.seen(folder_paths::releases).find(found->second) == std::string::npos) {
    verdict_.violate("a release is printed that was lost: " + found->second);
  }
  if (journal::parse_last_release(found->second).steps.value() > durable_steps()) {
    verdict_.violate("a release is printed before its state is durable: " + found->second);
  }
}

std::uint64_t FolderWatch::durable_steps() const {
  const std::string state = disk_.durable(folder_paths::state);
  return state.empty() ? 0 : secrets::read_identity(state).steps.value();
}

}  // namespace nustream::tests

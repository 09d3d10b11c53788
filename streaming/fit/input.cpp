// From options to [stream], and from the file to its header. The options are read as changes of an empty
// configuration, so that a fit reads lines as every other command does; messages are then put back into the words of
// the options.
#include "fit/input.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "config/read_sections.h"
#include "console/signals.h"
#include "decode/byte_source.h"
#include "decode/csv_columns.h"
#include "decode/csv_line.h"
#include "decode/file_kind.h"
#include "decode/line_buffer.h"
#include "decode/segment_rows.h"
#include "error.h"
#include "publish/json_text.h"
#include "shell_word.h"

namespace nustream::fit {
namespace {

/// The name without the ending of its compression: sales.tsv.gz is a file of tabs.
std::string_view unpacked_name(const Options& options) {
  std::string_view name = options.file;
  for (const std::string_view packed : {".gz", ".zst", ".bz2", ".xz", ".zip"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  return name;
}

/// By --format, or by the name of the file.
bool is_json(const Options& options) {
  if (!options.layout.format.empty()) return options.layout.format == "jsonl";
  const std::string_view name = unpacked_name(options);
  return name.ends_with(".jsonl") || name.ends_with(".ndjson") || name.ends_with(".json");
}

std::string quoted(const std::string& text) {
  std::string out;
  publish::append_string(text, out);  // every basic string of JSON is one of TOML
  return out;
}

/// The options as changes of [stream].
std::vector<std::string> settings_of(const Options& options) {
  std::vector<std::string> settings;
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) settings.push_back(fmt::format("stream.{}={}", key, quoted(text)));
  };
  const bool has_tabs = unpacked_name(options).ends_with(".tsv") && options.layout.delimiter.empty();
  if (is_json(options)) add("format", "jsonl");
  add("delimiter", has_tabs ? "tab" : options.layout.delimiter);
  add("decimal", options.layout.decimal);
  add("comment", options.layout.comment);
  if (options.layout.skip_lines > 0)
    settings.push_back(fmt::format("stream.skip_lines={}", options.layout.skip_lines));
  if (!options.layout.columns.empty()) {
    std::string names;
    for (const std::string& name : split_list(options.layout.columns, {}, "--columns")) names += quoted(name) + ",";
    settings.push_back("stream.columns=[" + names + "]");
    // Who names the columns says that the file has no header.
    settings.emplace_back("stream.header=false");
  }
  return settings;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

/// Throws where a header line of one column holds a character that delimits fields in other files.
void require_delimiter(std::string_view line, const config::InputSettings& input) {
  constexpr std::array<std::pair<char, const char*>, 4> others{
      {{';', "';'"}, {'\t', "tab"}, {'|', "'|'"}, {',', "','"}}};
  for (const auto& [other, typed] : others) {
    if (other == input.delimiter || line.find(other) == std::string_view::npos) continue;
    throw Failure(Exit::configuration,
                  fmt::format("'{}': its header line has one column, and holds {}: add --delimiter {}",
                              input.files.front(), other == '\t' ? "tabs" : typed, typed));
  }
}

}  // namespace

config::InputSettings input_of(const Options& options) {
  if (decode::is_standard_input(options.file)) {
    throw Failure(Exit::usage,
                  "fit reads its file column by column, and standard input once: write it to a file, and name that");
  }
  config::InputSettings input;
  try {
    // There is no configuration file, so an empty one is read.
    const config::SettingsTree tree("/dev/null", settings_of(options));
    input = config::read_input(tree.root().section("stream"), "");
  } catch (const Failure& failure) {
    const std::string message = failure.what();
    // Follows the option, which appears here as a change of [stream].
    const std::size_t key = message.find(": stream.");
    throw Failure(failure.code(), in_options(key == std::string::npos ? message : message.substr(key + 2)));
  }
  input.files = {options.file};
  input.may_show_header = true;
  return input;
}

std::string first_line(const config::InputSettings& input) {
  const std::string& path = input.files.front();
  const auto source = decode::open_source(path);
  decode::LineBuffer lines(input.record_bytes_max);
  for (std::uint64_t skip = input.skip_lines;;) {
    console::require_no_signal();
    switch (lines.advance(*source)) {
      case decode::LineBuffer::State::lines:
        while (!lines.lines().empty()) {
          const std::string line(lines.lines().substr(0, lines.lines().find('\n')));
          lines.consume(line.size() + 1);
          // A byte order mark may stand before the first comment.
          const bool is_comment = !input.comment.empty() && decode::without_mark(line).starts_with(input.comment);
          if (skip == 0 && !is_comment) return line;
          skip -= skip > 0 ? 1 : 0;
        }
        continue;
      case decode::LineBuffer::State::interrupted:
        continue;
      case decode::LineBuffer::State::over_long:
      case decode::LineBuffer::State::end:
        throw Failure(
            Exit::data,
            fmt::format(
                "'{0}' has no header: it is empty, or its first line is too long; look at it: head -c 300 {1}", path,
                in_quotes(path)));
    }
  }
}

Names names_of(const config::InputSettings& input) {
  const std::string& path = input.files.front();
  if (!decode::stored_size(path)) {
    throw Failure(Exit::io, fmt::format("'{}' is a pipe, and fit reads its file several times, once for each column; "
                                        "record it to a file first",
                                        path));
  }
  // Segments and JSON lines have no header, so only names that were listed are public.
  if (decode::is_segment(path)) return input.columns;
  decode::refuse_other_kinds(input);
  if (!has_header(input)) return input.columns;
  const std::string line = first_line(input);
  Names names = decode::read_header(line, input.delimiter, path);
  // A header of one column may be one of several that was read with the wrong delimiter.
  if (names.size() == 1) require_delimiter(line, input);
  return names;
}

std::string in_options(std::string message) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> phrases{
      {// No option of fit lets a record go over several lines.
       {"set stream.framing = \"trusted\"",
        "take a configuration with stream.framing = \"trusted\" (nustream estimate)"},
       {"set stream.header = false and name the columns in stream.columns", "name the columns: --columns x,y"},
       {"set stream.", "give stream."},
       {"(is stream.delimiter right?)", "(is --delimiter right?)"},
       {" (nustream check CONFIG --data shows them)", ""},
       {" | nustream … -", " > unpacked, and fit that"}}};
  for (const auto& [what, by] : phrases) replace_all(message, what, by);
  for (const std::string_view key : {"format", "delimiter", "decimal", "comment", "skip_lines", "columns"}) {
    const std::string setting = fmt::format("stream.{}", key);
    std::string option = fmt::format("--{}", key);
    std::ranges::replace(option, '_', '-');
    for (std::size_t at = message.find(setting); at != std::string::npos; at = message.find(setting, at + 1)) {
      message.replace(at, setting.size(), option);
      const std::size_t equals = at + option.size();
      // What was stream.delimiter = ";" becomes --delimiter ';', in the quotes of a shell.
      if (message.compare(equals, 3, " = ") != 0) continue;
      message.erase(equals, 2);
      const std::size_t open = equals + 1;
      const std::size_t close = message.find('"', open + 1);
      if (open >= message.size() || message[open] != '"' || close == std::string::npos) continue;
      const std::string value = message.substr(open + 1, close - open - 1);
      message.replace(open, close + 1 - open, in_shell(value));
    }
  }
  return message;
}

}  // namespace nustream::fit

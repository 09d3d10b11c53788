// Recognises files of other programs by their first bytes, and writes what to type for each of them. What kind of
// text a file is otherwise is decided in text_kind.cpp.
#include "decode/file_kind.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "decode/byte_source.h"
#include "error.h"
#include "shell_word.h"

namespace nustream::decode {
namespace {

using std::string_view_literals::operator""sv;

/// A format of another program: the bytes that its files have at `at`, its name, and how to turn a file into CSV or
/// JSON lines. In its commands % stands for the path between two single quotes of a shell, and # for the path in a
/// text of SQL between two double quotes of a shell.
struct Kind {
  std::string_view magic;
  std::size_t at;
  const char* name;
  const char* remedy;
  bool is_word = false;  ///< the bytes are letters that might begin a header of CSV; then other bytes have to
                         ///< identify the file as well
};

constexpr const char* unpack = "unpack it and name what is in it: 7z x '%'";
constexpr const char* decompress_again = "decompress it, and name what comes out";
constexpr std::array kinds{
    Kind{"7z\xbc\xaf\x27\x1c"sv, 0, "a 7z archive", unpack},
    Kind{"Rar!\x1a\x07"sv, 0, "a rar archive", unpack},
    Kind{"ustar"sv, 257, "a tar archive", "unpack it and name what is in it: tar xf '%'"},
    Kind{"\x04\x22\x4d\x18"sv, 0, "compressed by lz4", "decompress it: lz4 -dc '%' > '%.out'"},
    Kind{"\x1f\x9d"sv, 0, "compressed by compress", "decompress it: gzip -dc < '%' > '%.out'"},
    Kind{"LZIP\x01"sv, 0, "compressed by lzip", "decompress it: lzip -dc '%' > '%.out'"},
    Kind{"\xff\x06\0\0sNaPpY"sv, 0, "compressed by snappy", "decompress it: snzip -dc '%' > '%.out'"},
    Kind{"\x5d\0\0"sv, 0, "compressed by lzma", "decompress it: xz -dc --format=lzma '%' > '%.out'"},
    Kind{"\x1f\x8b"sv, 0, "compressed twice", decompress_again},
    Kind{"\x28\xb5\x2f\xfd"sv, 0, "compressed twice", decompress_again},
    Kind{"\xfd\x37zXZ\0"sv, 0, "compressed twice", decompress_again},
    Kind{"PK\x03\x04"sv, 0, "compressed twice", decompress_again},
    Kind{"PAR1"sv, 0, "a Parquet file", "write it as CSV: duckdb -c \"COPY (FROM '#') TO '#.csv'\"", true},
    Kind{"Obj\x01"sv, 0, "an Avro file", "write it as JSON lines: avro-tools tojson '%' > '%.jsonl'"},
    Kind{"ARROW1\0\0"sv, 0, "an Arrow file",
         "write it as CSV: python3 -c \"import pandas, sys; pandas.read_feather(sys.argv[1]).to_csv(sys.argv[2], "
         "index=False)\" '%' '%.csv'"},
    Kind{"\xff\xff\xff\xff"sv, 0, "an Arrow stream",
         "write it as CSV: python3 -c \"import pyarrow, sys; "
         "pyarrow.ipc.open_stream(sys.argv[1]).read_pandas().to_csv(sys.argv[2], index=False)\" '%' '%.csv'"},
    Kind{"FEA1"sv, 0, "a Feather file",
         "write it as CSV: python3 -c \"import pandas, sys; pandas.read_feather(sys.argv[1]).to_csv(sys.argv[2], "
         "index=False)\" '%' '%.csv'",
         true},
    Kind{"ORC"sv, 0, "an ORC file", "write it as JSON lines: orc-contents '%' > '%.jsonl'", true},
    Kind{"SQLite format 3\0"sv, 0, "an SQLite database",
         "write a table of it as CSV: sqlite3 -header -csv '%' 'SELECT * FROM name_of_the_table' > '%.csv'"},
    Kind{"\x89HDF\r\n\x1a\n"sv, 0, "an HDF5 file", "write a table of it as CSV"},
    Kind{"\x93NUMPY"sv, 0, "an array of NumPy's",
         "write it as CSV: python3 -c \"import numpy, sys; numpy.savetxt(sys.argv[2], numpy.load(sys.argv[1]), "
         "delimiter=',')\" '%' '%.csv'"},
    Kind{"RDX"sv, 0, "a file of R's", "write its data frame as CSV: write.csv(…, row.names = FALSE)", true},
    Kind{"X\n\0\0\0"sv, 0, "a file of R's", "write its data frame as CSV: write.csv(…, row.names = FALSE)", true},
    Kind{"<stata_dta>"sv, 0, "a file of Stata's",
         "write it as CSV: python3 -c \"import pandas, sys; pandas.read_stata(sys.argv[1]).to_csv(sys.argv[2], "
         "index=False)\" '%' '%.csv'"},
    Kind{"\xc2\xea\x81\x60"sv, 12, "a file of SAS's",
         "write it as CSV: python3 -c \"import pandas, sys; pandas.read_sas(sys.argv[1]).to_csv(sys.argv[2], "
         "index=False)\" '%' '%.csv'"},
    Kind{"HEADER RECORD*******"sv, 0, "a transport file of SAS's",
         "write it as CSV: python3 -c \"import pandas, sys; pandas.read_sas(sys.argv[1]).to_csv(sys.argv[2], "
         "index=False)\" '%' '%.csv'"},
    Kind{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, 0, "an Office document, such as a workbook",
         "save its sheet as CSV, for example with: libreoffice --headless --convert-to csv '%'"},
    Kind{"$FL2@(#)"sv, 0, "a file of SPSS",
         "write it as CSV: python3 -c \"import pandas, sys; pandas.read_spss(sys.argv[1]).to_csv(sys.argv[2], "
         "index=False)\" '%' '%.csv'"},
    Kind{"\x80\x04\x95"sv, 0, "a pickle of Python's", "write what is in it as CSV, in the program that made it"},
    Kind{"\x80\x05\x95"sv, 0, "a pickle of Python's", "write what is in it as CSV, in the program that made it"},
    Kind{"\x7f"
         "ELF"sv,
         0, "a program", "give it a file of records"},
    Kind{"version https://git-lfs"sv, 0, "a pointer of Git LFS's", "fetch the file itself: git lfs pull"},
    Kind{"\x89PNG\r\n\x1a\n"sv, 0, "a picture", "give it a file of records"},
    Kind{"{\\rtf"sv, 0, "an RTF document", "give it a file of records"},
    Kind{"%PDF-"sv, 0, "a PDF document", "give it a file of records"},
    Kind{"<?xml"sv, 0, "an XML document", "write its records as CSV or JSON lines"},
    Kind{"<!DOCTYPE"sv, 0, "a web page, such as a server's error", "fetch the file again, and look at what came"},
    Kind{"<!doctype"sv, 0, "a web page, such as a server's error", "fetch the file again, and look at what came"},
    Kind{"<html"sv, 0, "a web page, such as a server's error", "fetch the file again, and look at what came"},
};

/// The path in a text of SQL, which stands between two double quotes of a shell.
std::string within_sql(const std::string& path) {
  std::string escaped;
  for (const char c : path) {
    if (c == '\'') escaped += '\'';  // SQL doubles a quote in a text
    if (std::string_view("\"\\$`").find(c) != std::string_view::npos) escaped += '\\';  // the shell would read it
    escaped += c;
  }
  return escaped;
}

/// Puts the path in its places, so that the commands can be typed whatever its name holds.
std::string with_path(std::string_view remedy, const std::string& path) {
  const std::string name = name_to_type(path);
  std::string out;
  for (const char c : remedy) {
    if (c == '%') {
      out += within_quotes(name);
    } else if (c == '#') {
      out += within_sql(name);
    } else {
      out += c;
    }
  }
  return out;
}

/// The whole sentence about a file of another program.
std::string sentence(const std::string& path, const std::string& what, std::string_view remedy) {
  return "'" + path + "' is " + what + ", and nustream reads CSV or JSON lines: " + with_path(remedy, path);
}

/// How much of a file's beginning is looked at for control bytes.
constexpr std::size_t words_bytes = 300;

/// Whether a CSV file may have these bytes at that place too: they are letters, which might begin a header or follow
/// other bytes. Control bytes distinguish such a file from CSV.
bool may_be_csv(const Kind& kind) {
  return kind.is_word || kind.at > 0;
}

/// Whether there are bytes that no text has.
bool holds_control_bytes(std::string_view first) {
  return std::any_of(first.begin(), first.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t';
  });
}

/// Whether the text has four bytes a character and its mark says so. The mark of little endian begins as UTF-16's
/// mark does.
bool is_utf32(std::string_view first) {
  return first.starts_with("\xff\xfe\0\0"sv) || first.starts_with("\0\0\xfe\xff"sv);
}

/// The name that iconv has for a text of two bytes a character: its mark says so, or every other one of its first
/// bytes is zero. Where there is no mark, the name tells the order of the bytes. Empty for other texts.
std::string_view name_of_utf16(std::string_view first) {
  if (first.starts_with("\xff\xfe") || first.starts_with("\xfe\xff")) return "UTF-16";
  constexpr std::size_t looked_at = 16;
  // Two characters at least: one alone could be a NUL byte beside a letter.
  if (first.size() < 4) return {};
  for (const std::size_t zero : {std::size_t{0}, std::size_t{1}}) {
    bool all = true;
    for (std::size_t i = 0; i < std::min(first.size(), looked_at); ++i) all &= (first[i] == '\0') == (i % 2 == zero);
    if (all) return zero == 0 ? "UTF-16BE" : "UTF-16LE";
  }
  return {};
}

/// The part of the file that may be looked at: the lines up to the header, or without a header all that is known.
std::string_view public_part(std::string_view first, const config::InputSettings& settings) {
  if (!has_header(settings)) return first;
  const std::string_view behind = behind_skipped(first, settings);
  return first.substr(0, first.size() - behind.size() + std::min(behind.find('\n'), behind.size()));
}

/// Whether `told` has the bytes of the kind in their place. Where `told` ends with a line in the middle of these
/// bytes, only those up to the line's end have to be there.
bool has_magic(std::string_view told, const Kind& kind) {
  if (told.size() <= kind.at) return false;
  const std::string_view there = told.substr(kind.at);
  return there.starts_with(kind.magic) || (there == kind.magic.substr(0, kind.magic.find('\n')));
}

/// The sentence about a file that begins as those of another program do; empty for any other file.
std::string other_program(std::string_view first, const std::string& path) {
  const bool is_binary = holds_control_bytes(first.substr(0, words_bytes));
  for (const Kind& kind : kinds) {
    if (!has_magic(first, kind)) continue;
    // Letters alone do not prove it: a header of CSV may begin with "ORC" or "RDX".
    if (is_binary || !may_be_csv(kind)) return sentence(path, kind.name, kind.remedy);
  }
  if (is_utf32(first)) {
    return sentence(path, "UTF-32 text", "write it as UTF-8: iconv -f UTF-32 -t UTF-8 '%' > '%.utf8'");
  }
  if (const std::string_view name = name_of_utf16(first); !name.empty()) {
    return sentence(path, std::string(name) + " text",
                    "write it as UTF-8: iconv -f " + std::string(name) + " -t UTF-8 '%' > '%.utf8'");
  }
  return {};
}

/// The name for a compressed file's content: that of the file without its ending, unless a file has that name
/// already, which the content would overwrite.
std::string content_name(const std::string& path) {
  for (const std::string_view ending : {".gz", ".zst", ".bz2", ".xz", ".zip"}) {
    if (!path.ends_with(ending) || path.size() == ending.size()) continue;
    std::string name = path.substr(0, path.size() - ending.size());
    std::error_code unknown;
    if (!std::filesystem::exists(name, unknown)) return name;
  }
  return path + ".unpacked";
}

/// What counts as a record where the question is whether a file is of another kind.
RecordShape shape_of_records(const config::InputSettings& settings) {
  return [&settings](std::string_view line) { return looks_like_record(line, settings); };
}

}  // namespace

std::string other_kind(const FirstContent& first, const config::InputSettings& settings, const std::string& path) {
  if (!may_decide(first, settings, shape_of_records(settings))) return {};
  const std::string_view told = public_part(first.bytes, settings);
  if (std::string found = other_program(told, path); !found.empty()) return found;
  const TextKind text = text_kind(first, settings);
  return text.what.empty() ? std::string() : "'" + path + "' is " + text.what + ": " + with_path(text.remedy, path);
}

std::string name_to_type(const std::string& path) {
  if (is_standard_input(path)) return "FILE";
  // A command would take a name that begins with a dash for one of its options.
  return path.starts_with('-') ? "./" + path : path;
}

std::string told_of_content(const std::string& path,
                            const std::function<std::string(const std::string& name)>& tell) {
  const std::string plain = tell(path);
  const std::string command = plain.empty() ? std::string() : unpacking_command(path);
  if (command.empty()) return plain;
  const std::string name = content_name(path);
  const std::string found = tell(name);
  const std::string begin = "'" + name + "'";  // each sentence begins with the name
  const std::string behind = found.substr(begin.size());
  // Where settings alone are to be changed, the compressed file is read as it is.
  const bool is_setting = behind.find(": set stream.") != std::string::npos;
  if (is_setting && behind.find("'" + within_quotes(name)) == std::string::npos) return plain;
  return "'" + path + "'" + behind + "; unpack it before: " + command + " " + in_quotes(name_to_type(path)) + " > " +
         in_quotes(name);
}

std::string kind_by_word(std::string_view header) {
  // A longer word is more likely the name of a column.
  constexpr std::size_t longest = 4;  // as in RDX3
  const auto found = std::ranges::find_if(kinds, [&](const Kind& kind) {
    // Of bytes that go on behind the end of a line, a header is only what stands before it.
    const std::string_view line = kind.magic.substr(0, kind.magic.find('\n'));
    const bool is_it = line.size() < kind.magic.size() ? header == line : header.starts_with(line);
    return kind.is_word && header.size() <= longest && is_it;
  });
  return found == kinds.end() ? std::string() : std::string(found->name) + ": " + with_path(found->remedy, "FILE");
}

void refuse_other_kinds(const config::InputSettings& settings) {
  FirstContents contents(settings, shape_of_records(settings));
  for (const std::string& path : settings.files) {
    const std::optional<FirstContent> first = contents.of(path);
    // A pipe: it is looked at when its first lines come.
    if (!first) continue;
    const std::string found =
        told_of_content(path, [&](const std::string& name) { return other_kind(*first, settings, name); });
    if (!found.empty()) throw Failure(Exit::data, found);
  }
}

}  // namespace nustream::decode

// The frame of a report: head, style, script and policy. A report is opened from a disk or an e-mail, so that it
// brings everything along and its content security policy allows nothing from elsewhere.
#include "report/document.h"

#include <openssl/evp.h>
#include <sodium.h>

#include <array>

#include <fmt/format.h>

#include "chart/chart.h"
#include "error.h"
#include "serve/assets.h"
#include "version.h"

namespace nustream::report {
namespace {

/// Style that only reports need: several lines in one chart with their keys, controls, figures beside each other.
constexpr std::string_view style_of_reports = R"([hidden]{display:none!important}
.keys{list-style:none;margin:4px 0 8px;padding:0;display:flex;flex-wrap:wrap;gap:2px 16px;font-size:14px;color:var(--soft)}
.keys li{display:flex;align-items:center;gap:6px}
.chart.key{width:22px;flex:none}
.wide{grid-template-columns:repeat(auto-fit,minmax(min(360px,100%),1fr))}
.cards+.scroll{margin-top:14px}
.controls{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(320px,100%),1fr));gap:8px 24px;margin:0 0 12px}
.controls label{display:block;font-size:15px}
.controls input{width:100%;accent-color:var(--link)}
.controls output{font-weight:600;font-variant-numeric:tabular-nums}
.least td,.least th{font-weight:700;color:var(--good)}
.legend+.facts{margin-top:14px}
pre{overflow:auto;font-size:13px}
)";

/// 'sha256-…' of a style or script, as a content security policy names it.
std::string hash_of(std::string_view text) {
  std::array<unsigned char, 32> hash{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw Failure(Exit::internal, "the hash of a report's style cannot be computed");
  }
  std::array<char, 64> base64{};
  sodium_bin2base64(base64.data(), base64.size(), hash.data(), hash.size(), sodium_base64_VARIANT_ORIGINAL);
  return fmt::format("'sha256-{}'", base64.data());
}

}  // namespace

std::string policy_for(std::string_view style, std::string_view script) {
  // base-uri and form-action do not follow default-src, so that they are named.
  return fmt::format("default-src 'none'; style-src {};{} base-uri 'none'; form-action 'none'", hash_of(style),
                     script.empty() ? std::string() : fmt::format(" script-src {};", hash_of(script)));
}

std::string document(const Document& document) {
  // The hash is of exactly these bytes. So style and script are put into the page unchanged.
  const std::string style = std::string(serve::page_style).append(chart::colours()).append(style_of_reports);
  const std::string title = chart::escaped(document.title);
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"{}\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><meta "
      "name=\"color-scheme\" content=\"light dark\"><title>{} · nustream report</title><style>{}</style></head>\n"
      "<body><header><p class=\"product\">nustream report</p><h1>{}</h1></header>\n<main>\n{}</main>\n<footer>"
      "<p>nustream {}</p></footer>",
      policy_for(style, document.script), title, style, title, document.body, chart::escaped(version));
  // At the end, so that the page is there when the script runs.
  if (!document.script.empty()) out += fmt::format("<script>{}</script>", document.script);
  return out + "</body></html>\n";
}

std::string section(std::string_view id, std::string_view title, std::string_view html) {
  // The heading's id is made of the section's, since a screen reader takes the section's name from it.
  return fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-h\"><h2 id=\"{0}-h\">{1}</h2>{2}</section>\n", id,
                     chart::escaped(title), html);
}

std::string copied(std::string_view label, std::string_view text) {
  return fmt::format("<pre class=\"why\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</pre>",
                     chart::escaped(label), chart::escaped(text));
}

}  // namespace nustream::report

// The page /docs of a gateway: the same set-ups as `headway config` prints, for its own address.
#pragma once

#include <string>
#include <vector>

namespace hw::setup {

// What the page is filled in with. Nothing of it is trusted; all is escaped.
struct DocsFacts {
  std::string root;                 // base URL as the reader reaches it, without /v1
  std::vector<std::string> models;  // to show, the first one in the samples; may be empty
};

// The headers that go with it. The page loads nothing: no script but its own, no font, no picture.
inline constexpr const char* kDocsContentType = "text/html; charset=utf-8";
inline constexpr const char* kDocsContentSecurityPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

// At most this many models are listed.
inline constexpr int kDocsModelsMax = 100;

// One self-contained HTML page in English and Chinese, light and dark as the reader's system is.
// It has no key in it: samples say YOUR_KEY. Readable without scripts; with them it begins in the
// browser's language and samples have a button that copies.
std::string render_docs_page(const DocsFacts& facts);

}  // namespace hw::setup

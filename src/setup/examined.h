// For tests: examines settings given as texts and tells what was found, a line each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "setup/plan.h"

namespace hw::setup {

// What a client finds on a machine, built up by a test.
class Machine {
 public:
  explicit Machine(Client client) : client_(client) {
    where_.environment["HOME"] = "/h";
    where_.folder = "/work";
    expected_ = {"http://127.0.0.1:8080", "hw-0123456789", "m"};
  }
  Machine& file(std::string path, std::string text, unsigned mode = 0600) {
    files_.push_back({std::move(path), true, std::move(text), mode});
    return *this;
  }
  Machine& variable(std::string name, std::string value) {
    where_.environment[std::move(name)] = std::move(value);
    return *this;
  }
  Examination examine() const {
    std::vector<settings::FileText> seen;
    for (const std::string& path : examined_paths(client_, where_)) {
      settings::FileText text;
      text.path = path;
      for (const settings::FileText& file : files_) {
        if (file.path == path) text = file;
      }
      seen.push_back(std::move(text));
    }
    return setup::examine(client_, seen, where_, expected_);
  }
  // "severity code source:line -> change", notes about retries left out.
  std::string found() const { return lines(examine()); }
  static std::string lines(const Examination& examination) {
    std::string out;
    for (const Finding& one : examination.findings) {
      if (one.code == Code::kRetriesHide) continue;
      out += concat(severity_name(one.severity), " ", code_name(one.code), " ", one.place.source,
                    ":", one.place.line, " -> ", one.change, "\n");
    }
    return out;
  }

 private:
  Client client_;
  Surroundings where_;
  Access expected_;
  std::vector<settings::FileText> files_;
};

}  // namespace hw::setup

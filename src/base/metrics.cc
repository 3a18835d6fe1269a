#include "base/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <new>

#include "base/assert.h"
#include "base/text.h"

namespace hw {
namespace {

constexpr uint32_t kNoCell = UINT32_MAX;  // the registry is full

enum class Type : uint8_t { kCounter, kGauge, kHistogram };

std::string_view type_name(Type type) {
  switch (type) {
    case Type::kCounter:
      return "counter";
    case Type::kGauge:
      return "gauge";
    case Type::kHistogram:
      return "histogram";
  }
  return "untyped";
}

bool name_ok(std::string_view name, std::string_view also_allowed) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           also_allowed.find(c) != std::string_view::npos;
  });
}

// A backslash and a line feed are escaped everywhere, a quote in label values only.
void append_escaped(std::string& out, std::string_view text, bool in_quotes) {
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\\' || (c == '"' && in_quotes)) out += '\\';
      out += c;
    }
  }
}

// Decimal notation where that stays short, so that bounds read as they were written.
void append_double(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-Inf" : "+Inf";
  } else {
    const double size = std::fabs(value);
    const bool plain = size == 0 || (size >= 1e-9 && size < 1e16);
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, value,
                                   plain ? std::chars_format::fixed : std::chars_format::general);
    out.append(digits, end.ptr);
  }
}

// `a="x",b="y"`, sorted by name so that the order given does not make another series.
std::string render_labels(const Labels& labels) {
  Labels sorted = labels;
  std::sort(sorted.begin(), sorted.end(),
            [](const Label& a, const Label& b) { return a.name < b.name; });
  std::string out;
  for (const Label& label : sorted) {
    HW_ASSERT(name_ok(label.name, "") && label.name != "le");
    if (!out.empty()) out += ',';
    append(out, label.name);
    out += "=\"";
    append_escaped(out, label.value, true);
    out += '"';
  }
  return out;
}

struct Series {
  std::string labels;  // rendered, without braces
  uint32_t cell = 0;
};

struct Family {
  std::string name, help;
  Type type = Type::kCounter;
  double scale = 1;
  std::vector<double> buckets;  // as given, for `le`
  std::vector<int64_t> bounds;  // in integer units; handles point here
  std::vector<Series> series;
  std::map<std::string, size_t, std::less<>> by_labels;

  uint32_t cells() const {
    return type == Type::kHistogram ? static_cast<uint32_t>(bounds.size()) + 2 : 1;
  }
};

struct Hook {
  uint64_t id;
  std::function<void()> run;
};

}  // namespace

// What a registration asks for.
struct Registry::Request {
  Type type;
  std::string_view name, help;
  const Labels& labels;
  double scale;
  std::span<const double> buckets{};
};

// The list of what is registered; guarded by `lock`, `hooks` by `hooks_lock` (a hook may register).
struct Registry::Index {
  std::mutex lock;
  std::vector<std::unique_ptr<Family>> families;
  std::map<std::string, Family*, std::less<>> by_name;
  uint32_t cells_used = 0;
  std::mutex hooks_lock;
  std::vector<Hook> hooks;
  uint64_t next_hook = 1;
  std::atomic<int64_t> dropped{0};
};

void set_metric_shard(int shard) {
  HW_ASSERT(shard >= 0);
  metrics_detail::t_shard = std::min(shard, metrics_detail::kSharedShard);
}

Registry::Registry() : index_(std::make_unique<Index>()) {}

Registry::~Registry() {
  for (auto& shard : chunks_) {
    for (auto& chunk : shard) {
      ::operator delete[](chunk.load(std::memory_order_relaxed), std::align_val_t{64});
    }
  }
}

Registry& metrics() {
  static Registry* const registry = new Registry();  // never ends: loops may outlive main()
  return *registry;
}

// Several threads may come here for the shared shard: the first one's chunk stays.
Registry::Cell* Registry::add_chunk(int shard, uint32_t chunk) {
  void* memory = ::operator new[](kChunkCells * sizeof(Cell), std::align_val_t{64});
  Cell* made = static_cast<Cell*>(memory);
  for (uint32_t i = 0; i < kChunkCells; ++i) new (made + i) Cell(0);
  Cell* present = nullptr;
  auto& slot = chunks_[static_cast<size_t>(shard)][chunk];
  if (slot.compare_exchange_strong(present, made, std::memory_order_acq_rel)) return made;
  ::operator delete[](memory, std::align_val_t{64});
  return present;
}

int64_t Registry::total(uint32_t index) const {
  int64_t sum = 0;
  for (const auto& shard : chunks_) {
    const Cell* chunk = shard[index >> kChunkBits].load(std::memory_order_acquire);
    if (chunk != nullptr) sum += chunk[index & (kChunkCells - 1)].load(std::memory_order_relaxed);
  }
  return sum;
}

double Registry::total_sum(uint32_t index) const {
  double sum = 0;
  for (const auto& shard : chunks_) {
    const Cell* chunk = shard[index >> kChunkBits].load(std::memory_order_acquire);
    if (chunk == nullptr) continue;
    const Cell& at = chunk[index & (kChunkCells - 1)];
    sum += std::bit_cast<double>(at.load(std::memory_order_relaxed));
  }
  return sum;
}

namespace {

std::unique_ptr<Family> make_family(Type type, std::string_view name, std::string_view help,
                                    double scale, std::span<const double> buckets) {
  HW_ASSERT(name_ok(name, ":"));
  HW_ASSERT(scale > 0);
  HW_ASSERT(std::is_sorted(buckets.begin(), buckets.end(), std::less_equal<>()));
  auto family = std::make_unique<Family>();
  family->name = name;
  family->help = help;
  family->type = type;
  family->scale = scale;
  family->buckets.assign(buckets.begin(), buckets.end());
  for (double bound : buckets) family->bounds.push_back(std::llround(bound * scale));
  return family;
}

// A series' cells lie within one chunk, so that touching the second one finds the chunk present.
uint32_t place_cells(uint32_t used, uint32_t count, uint32_t chunk_cells) {
  const uint32_t left = chunk_cells - used % chunk_cells;
  return left < count ? used + left : used;
}

}  // namespace

std::pair<uint32_t, std::span<const int64_t>> Registry::find_or_add(const Request& request) {
  std::string labels = render_labels(request.labels);
  const std::lock_guard guard(index_->lock);
  auto found = index_->by_name.find(request.name);
  if (found == index_->by_name.end()) {
    index_->families.push_back(
        make_family(request.type, request.name, request.help, request.scale, request.buckets));
    found = index_->by_name.emplace(request.name, index_->families.back().get()).first;
  }
  Family& family = *found->second;
  HW_ASSERT(family.type == request.type);
  HW_ASSERT(std::equal(family.buckets.begin(), family.buckets.end(), request.buckets.begin(),
                       request.buckets.end()));
  const auto series = family.by_labels.find(labels);
  if (series != family.by_labels.end()) {
    return {family.series[series->second].cell, family.bounds};
  }
  const uint32_t at = place_cells(index_->cells_used, family.cells(), kChunkCells);
  if (at + family.cells() > kCellsMax) {
    index_->dropped.fetch_add(1, std::memory_order_relaxed);
    return {kNoCell, family.bounds};
  }
  index_->cells_used = at + family.cells();
  family.by_labels.emplace(labels, family.series.size());
  family.series.push_back({std::move(labels), at});
  return {at, family.bounds};
}

Counter Registry::counter(std::string_view name, std::string_view help, const Labels& labels,
                          double scale) {
  const uint32_t cell = find_or_add({Type::kCounter, name, help, labels, scale}).first;
  return cell == kNoCell ? Counter() : Counter(this, cell);
}

Gauge Registry::gauge(std::string_view name, std::string_view help, const Labels& labels,
                      double scale) {
  const uint32_t cell = find_or_add({Type::kGauge, name, help, labels, scale}).first;
  return cell == kNoCell ? Gauge() : Gauge(this, cell);
}

HistogramMetric Registry::histogram(std::string_view name, std::string_view help,
                                    const Labels& labels, std::span<const double> buckets,
                                    double scale) {
  HW_ASSERT(buckets.size() <= kBucketsMax);
  const auto [cell, bounds] = find_or_add({Type::kHistogram, name, help, labels, scale, buckets});
  return cell == kNoCell ? HistogramMetric() : HistogramMetric(this, cell, bounds);
}

CollectHook Registry::on_collect(std::function<void()> hook) {
  const std::lock_guard guard(index_->hooks_lock);
  const uint64_t id = index_->next_hook++;
  index_->hooks.push_back({id, std::move(hook)});
  return CollectHook(this, id);
}

void Registry::remove_hook(uint64_t id) {
  const std::lock_guard guard(index_->hooks_lock);
  std::erase_if(index_->hooks, [id](const Hook& hook) { return hook.id == id; });
}

namespace {

// Appends lines; `total` and `total_sum` read a cell over all shards.
template <class Total, class TotalSum>
class Exposition {
 public:
  Exposition(std::string& out, Total total, TotalSum total_sum)
      : out_(out), total_(total), total_sum_(total_sum) {}

  void family(const Family& family) {
    append(out_, "# HELP ");
    append(out_, family.name);
    out_ += ' ';
    append_escaped(out_, family.help, false);
    append(out_, "\n# TYPE ");
    append(out_, family.name);
    out_ += ' ';
    append(out_, type_name(family.type));
    out_ += '\n';
    for (const Series& series : family.series) {
      if (family.type == Type::kHistogram) {
        histogram(family, series);
      } else {
        line(family.name, "", series.labels, "");
        value(static_cast<double>(total_(series.cell)) / family.scale);
      }
    }
  }

 private:
  void histogram(const Family& family, const Series& series) {
    int64_t seen = 0;
    for (size_t i = 0; i <= family.bounds.size(); ++i) {
      seen += total_(series.cell + 1 + static_cast<uint32_t>(i));
      std::string le = "le=\"";
      if (i < family.bounds.size()) {
        append_double(le, family.buckets[i]);
      } else {
        le += "+Inf";
      }
      le += '"';
      line(family.name, "_bucket", series.labels, le);
      value(static_cast<double>(seen));
    }
    line(family.name, "_sum", series.labels, "");
    value(total_sum_(series.cell) / family.scale);
    line(family.name, "_count", series.labels, "");
    value(static_cast<double>(seen));
  }
  // `name suffix{labels,more} `
  void line(std::string_view name, std::string_view suffix, std::string_view labels,
            std::string_view more) {
    append(out_, name);
    append(out_, suffix);
    if (!labels.empty() || !more.empty()) {
      out_ += '{';
      append(out_, labels);
      if (!labels.empty() && !more.empty()) out_ += ',';
      append(out_, more);
      out_ += '}';
    }
    out_ += ' ';
  }
  void value(double number) {
    append_double(out_, number);
    out_ += '\n';
  }

  std::string& out_;
  Total total_;
  TotalSum total_sum_;
};

}  // namespace

void Registry::collect(std::string& out) {
  {
    const std::lock_guard guard(index_->hooks_lock);
    for (const Hook& hook : index_->hooks) hook.run();
  }
  const std::lock_guard guard(index_->lock);
  Exposition exposition(
      out, [this](uint32_t cell) { return total(cell); },
      [this](uint32_t cell) { return total_sum(cell); });
  for (const auto& family : index_->families) exposition.family(*family);
  const int64_t dropped = index_->dropped.load(std::memory_order_relaxed);
  append(out,
         "# HELP headway_metric_series_dropped_total Series that found no room in the registry.\n"
         "# TYPE headway_metric_series_dropped_total counter\n"
         "headway_metric_series_dropped_total ");
  append(out, dropped);
  out += '\n';
}

int64_t Counter::value() const {
  return registry_ == nullptr ? 0 : registry_->total(cell_);
}

int64_t Gauge::value() const {
  return registry_ == nullptr ? 0 : registry_->total(cell_);
}

void Gauge::set(int64_t value) const {
  if (registry_ == nullptr) return;
  registry_->cell(metrics_detail::kSharedShard, cell_).store(value, std::memory_order_relaxed);
}

int64_t HistogramMetric::count() const {
  if (registry_ == nullptr) return 0;
  int64_t seen = 0;
  for (size_t i = 0; i <= bounds_.size(); ++i) {
    seen += registry_->total(cell_ + 1 + static_cast<uint32_t>(i));
  }
  return seen;
}

double HistogramMetric::sum() const {
  return registry_ == nullptr ? 0 : registry_->total_sum(cell_);
}

CollectHook::CollectHook(CollectHook&& other) noexcept
    : registry_(std::exchange(other.registry_, nullptr)), id_(other.id_) {}

CollectHook& CollectHook::operator=(CollectHook&& other) noexcept {
  if (this != &other) {
    release();
    registry_ = std::exchange(other.registry_, nullptr);
    id_ = other.id_;
  }
  return *this;
}

CollectHook::~CollectHook() {
  release();
}

void CollectHook::release() {
  if (registry_ != nullptr) registry_->remove_hook(id_);
  registry_ = nullptr;
}

}  // namespace hw

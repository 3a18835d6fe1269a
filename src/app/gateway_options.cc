// The table of options of headway.toml.
#include "app/gateway_file.h"
#include "base/text.h"

namespace hw::app {

using namespace config;
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kDayMs = 24 * kHourMs;
constexpr int64_t kTebibyte = int64_t{1} << 40;

Field listen_field() {
  using O = gateway::Options;
  Field out;
  out.set = [](void* target, const Value& value) -> std::optional<Words> {
    O& options = *static_cast<O*>(target);
    if (parse_listen(value.text, options.listen_host, options.listen_port)) return std::nullopt;
    return Words{"an address and a port, \"127.0.0.1:8080\" or \"[::]:8080\"",
                 "地址与端口，例如 \"127.0.0.1:8080\" 或 \"[::]:8080\""};
  };
  out.show = [](const void* target) {
    const O& options = *static_cast<const O*>(target);
    const bool v6 = options.listen_host.find(':') != std::string::npos;
    return toml_quoted(
        concat(v6 ? "[" : "", options.listen_host, v6 ? "]" : "", ":", options.listen_port));
  };
  return out;
}

// Where it listens and how much it holds.
std::vector<Option> gateway_limits() {
  using O = gateway::Options;
  using enum Applies;
  return {
      row("listen", listen_field(), "", kOnRestart,
          {"Address and port; port 0: any free one.", "监听地址与端口；端口 0 表示任一空闲端口。"},
          "Nothing is reachable from outside unless asked for."),
      row("threads", integer<O>(&O::threads, 0, 1024), "", kOnRestart,
          {"Event loops; 0: one per core.", "事件循环数；0 表示每核一个。"},
          "A loop never waits, so more than one a core only adds switches."),
      row("body_bytes_max", integer<O>(&O::body_bytes_max, 1024, int64_t{1} << 32), "bytes",
          kOnReload,
          {"Largest request body, after decoding; above it: 413.",
           "请求体上限（解码后）；超出则 413。"},
          "The limit of Anthropic's own API."),
      row("body_memory_bytes_max", integer<O>(&O::body_memory_bytes_max, 1 << 20, kTebibyte),
          "bytes", kOnReload,
          {"All request bodies held at once; above it: 503.",
           "同时持有的全部请求体上限；超出则 503。"},
          "A burst of large bodies must not take the machine's memory."),
      row("head_bytes_max", integer<O>(&O::head_bytes_max, 1024, 1 << 20), "bytes", kOnReload,
          {"Largest request head; above it: 431.", "请求头上限；超出则 431。"},
          "Agents send 1.4 KB, and their metadata grows."),
      row("connections_max", integer<O>(&O::connections_max, 1, 1'000'000), "", kOnReload,
          {"Client connections at once; above it new ones get 503.",
           "同时的客户端连接数；超出的新连接得到 503。"},
          "Bounds memory and descriptors; the limit of open files must allow twice as many."),
  };
}

// How it treats its clients.
std::vector<Option> gateway_habits() {
  using O = gateway::Options;
  using enum Applies;
  using H = gateway::HalfClose;
  return {
      row("idle_ms", integer<O>(&O::idle_ms, 1, kDayMs), "ms", kOnReload,
          {"How long a kept-alive connection may stay without a request.",
           "保持的连接在没有请求时可停留多久。"},
          "The default of nginx; most clients drop theirs earlier."),
      row("tls.certificate", text<O>([](O& o) -> auto& { return o.tls.certificate; }), "",
          kOnReload,
          {"PEM file with the certificate chain, read again by a reload; without: plain HTTP, and "
           "changing between the two takes a restart.",
           "证书链的 PEM 文件，重新加载时重读；没有则为明文 HTTP，两者之间切换需要重启。"},
          "On one machine plain HTTP is enough.", "\"certificate.pem\""),
      row("tls.key", text<O>([](O& o) -> auto& { return o.tls.key; }), "", kOnReload,
          {"PEM file with the certificate's key.", "证书私钥的 PEM 文件。"},
          "Belongs to the certificate.", "\"key.pem\""),
      row("client_half_close",
          choice<O, H>(&O::client_half_close,
                       {{"abort", H::kAbort}, {"serve", H::kServe}, {"probe", H::kProbe}}),
          "", kOnReload,
          {"When a client half-closes: `abort` takes it as gone, `serve` goes on, `probe` writes "
           "one "
           "SSE comment to find out.",
           "客户端半关闭时：`abort` 视为离开，`serve` 继续服务，`probe` 写一条 SSE 注释来判断。"},
          "A half-close and a full close look the same on the wire, and no SDK half-closes."),
      row("keepalive_ms", integer<O>(&O::keepalive_ms, 0, kHourMs), "ms", kOnReload,
          {"Heartbeat to a streaming client while it waits; 0: none.",
           "流式客户端等待时的心跳间隔；0 表示没有。"},
          "Proxies drop silent connections after 60 s, clients after 300 s."),
      row("drain_s", integer<O>(&O::drain_s, 0, 86'400), "s", kOnReload,
          {"How long streams may finish after SIGTERM.", "收到 SIGTERM 后流可继续多久。"},
          "Kubernetes kills after 30 s by default."),
      row("admin_token", secret<O>(&O::admin_token), "", kOnReload,
          {"Bearer token of /api; without: /api is closed.",
           "/api 的 Bearer 令牌；没有则 /api 关闭。"},
          "An open admin interface must be asked for.", "\"env:HEADWAY_ADMIN_TOKEN\""),
  };
}

Section gateway_section() {
  using O = gateway::Options;
  return make_section<O>(
      "gateway", SectionKind::kTable,
      {"The listening side and the limits of the process.", "监听端与进程的各项上限。"},
      joined({gateway_limits(), gateway_habits()}));
}

Section store_section() {
  using O = store::StoreOptions;
  using enum Applies;
  return make_section<O>(
      "store", SectionKind::kTable, {"Where calls and keys are kept.", "调用与密钥的存放处。"},
      {
          row("path", text<O>(&O::path), "", kOnRestart,
              {"Database file; the journal lies beside it.", "数据库文件；日志在其旁边。"},
              "Relative to the working directory."),
          row("keep_days", integer<O>(&O::keep_days, 0, 36'500), "days", kOnRestart,
              {"Older calls are pruned; 0: never.", "更早的调用会被清除；0 表示从不。"},
              "A month covers one billing period."),
          row("bytes_max", integer<O>(&O::bytes_max, 0, 64 * kTebibyte), "bytes", kOnRestart,
              {"Above this size the oldest calls are pruned as well; 0: no limit.",
               "超过此大小时最早的调用也会被清除；0 表示没有上限。"},
              "A busy gateway must not fill the disk; this is some 30 million calls."),
          row("journal_bytes", integer<O>(&O::journal_bytes, 1 << 20, int64_t{1} << 36), "bytes",
              kOnRestart,
              {"Set aside on disk beforehand for calls that the database has not taken yet.",
               "预先在磁盘上留出的空间，存放数据库尚未接收的调用。"},
              "A full disk or a locked database then loses nothing until it is used up: about "
              "200,000 "
              "calls."),
          row("access_log", text<O>(&O::access_log), "", kOnRestart,
              {"One JSON line for each finished call: a path, or \"-\" for standard output.",
               "每个结束的调用一行 JSON：文件路径，或 \"-\" 表示标准输出。"},
              "The database has every call.", "\"data/access.jsonl\""),
      });
}

Section retry_section() {
  using O = gateway::Retry;
  using enum Applies;
  return make_section<O>(
      "retry", SectionKind::kTable,
      {"One budget for the whole exchange, all channels together.",
       "一次交换的总预算，所有通道合计。"},
      {
          row("attempts_max", integer<O>(&O::attempts_max, 1, 100), "", kOnReload,
              {"Attempts in one exchange.", "一次交换中的尝试次数。"},
              "A third channel seldom answers where two failed, but costs the caller time."),
          row("wait_ms_max", integer<O>(&O::wait_ms_max, 0, kHourMs), "ms", kOnReload,
              {"How long an exchange may wait for a cooling channel; 0: it does not.",
               "一次交换可为冷却中的通道等待多久；0 表示不等。"},
              "Clients retry by themselves and know how long they want to wait."),
      });
}

Section timeouts_section() {
  using O = gateway::Timeouts;
  using enum Applies;
  const auto clock = [](int64_t O::* field) { return integer<O>(field, 0, kDayMs); };
  return make_section<O>(
      "timeouts", SectionKind::kTable,
      {"Clocks in milliseconds; 0: none. Each names itself in the error that it causes.",
       "以毫秒计的时限；0 表示没有。每个时限在它引起的错误中写明自己。"},
      {
          row("head_ms", clock(&O::head_ms), "ms", kOnReload,
              {"The client's request head, from its first byte.", "客户端请求头，自第一个字节起。"},
              "A head is one packet; a slower one holds a connection for nothing."),
          row("body_ms", clock(&O::body_ms), "ms", kOnReload,
              {"The client's body, from head to last byte.",
               "客户端请求体，自请求头到最后一个字节。"},
              "32 MiB at 4 Mbit/s."),
          row("pool_wait_ms", clock(&O::pool_wait_ms), "ms", kOnReload,
              {"For a free connection of a capped pool.", "等待有上限的连接池中的空闲连接。"},
              "Longer, and another channel would have answered."),
          row("connect_ms", clock(&O::connect_ms), "ms", kOnReload,
              {"DNS, TCP and TLS together.", "DNS、TCP 与 TLS 合计。"},
              "Three lost packets to another continent still fit."),
          row("first_token_ms", clock(&O::first_token_ms), "ms", kOnReload,
              {"Streams: from the last byte sent to the first token.",
               "流式：自最后一个字节发出到第一个令牌。"},
              "A thinking model may take minutes."),
          row("silence_ms", clock(&O::silence_ms), "ms", kOnReload,
              {"No byte at all from the upstream, once its head has come.",
               "上游响应头到达后没有任何字节。"},
              "Upstreams ping every 15 to 30 s."),
          row("between_tokens_ms", clock(&O::between_tokens_ms), "ms", kOnReload,
              {"No token, though pings may come.", "没有令牌，尽管可能有心跳。"},
              "Hidden reasoning in the middle of an answer may take minutes."),
          row("total_ms", clock(&O::total_ms), "ms", kOnReload,
              {"From arrival to the end, all attempts together.", "自到达到结束，所有尝试合计。"},
              "Longer than any useful answer."),
          row("write_stall_ms", clock(&O::write_stall_ms), "ms", kOnReload,
              {"The client takes no byte.", "客户端不接收任何字节。"},
              "A vanished client must not hold its upstream."),
      });
}

// Which upstream it is.
std::vector<Option> channel_account() {
  using W = WrittenChannel;
  using enum Applies;
  using enum Presence;
  return {
      row("name", text<W>([](W& w) -> auto& { return w.options.name; }), "", kOnReload,
          {"In logs, metrics, `x-headway-channel`, and `name/model` asks for this channel.",
           "用于日志、指标、`x-headway-channel`；`名称/模型` 指定此通道。"},
          "Letters, digits, `.`, `_` and `-`, at most 64.", "\"local\"", kRequired),
      row("dialect",
          choice<W, Family>([](W& w) -> auto& { return w.options.family; },
                            {{"openai", Family::kOpenai}, {"anthropic", Family::kAnthropic}}),
          "", kOnReload, {"What the upstream speaks.", "上游使用的方言。"}, "Cannot be guessed.",
          "", kRequired),
      row("base_url", text<W>(&W::base_url), "", kOnReload,
          {"As the dialect's SDK takes it: openai with /v1, anthropic without.",
           "与该方言 SDK 的写法相同：openai 带 /v1，anthropic 不带。"},
          "Copied from the upstream's own documentation.", "\"http://127.0.0.1:8000/v1\"",
          kRequired),
      row("credential", secret<W>([](W& w) -> auto& { return w.options.credential; }), "",
          kOnReload,
          {"What the upstream wants; the client's own credentials are never sent on.",
           "上游所需的凭据；客户端自己的凭据从不转发。"},
          "A local instance needs none.", "\"env:LOCAL_KEY\""),
  };
}

// What it serves and when it is chosen.
std::vector<Option> channel_service() {
  using W = WrittenChannel;
  using enum Applies;
  return {
      row("inject_usage", boolean<W>([](W& w) -> auto& { return w.options.inject_usage; }), "",
          kOnReload,
          {"Ask for usage in chat and completions streams, hide the extra chunk from a client "
           "that did not.",
           "在 chat 与 completions 流中请求用量，并对未请求的客户端隐藏多出的块。"},
          "Without it tokens of such streams are only estimated."),
      row("connections_max",
          integer<W>([](W& w) -> auto& { return w.options.connections_max; }, 1, 1'000'000), "",
          kOnReload, {"Per loop and instance.", "每个事件循环、每个实例。"},
          "High enough to be no limit, low enough to bound a runaway."),
      row("max_tokens_default",
          integer<W>([](W& w) -> auto& { return w.options.max_tokens_default; }, 1, 10'000'000), "",
          kOnReload,
          {"Sent to an anthropic channel where a client of another dialect gave no limit.",
           "其他方言的客户端未给出上限时，发送给 anthropic 通道的值。"},
          "The dialect demands one; every current model takes this."),
      row("extra_fields", text_list<W>([](W& w) -> auto& { return w.options.extra_fields; }), "",
          kOnReload,
          {"Fields that this channel takes beyond its dialect's, in translated requests.",
           "在转换后的请求中，此通道接受的方言之外的字段。"},
          "Others than the dialect's own are left out and marked, since many servers refuse them.",
          "[\"top_k\"]"),
      row("fields", text_list<W>([](W& w) -> auto& { return w.options.fields; }), "", kOnReload,
          {"The only top-level fields of a request that this channel takes; others are left out "
           "and "
           "marked. The model, the conversation, stream and max_tokens need not be named.",
           "此通道仅接受的顶层请求字段；其余被删除并标记。模型、对话、stream 与 max_tokens "
           "无需列出。"},
          "Without a list all pass as they came, which is right for most upstreams.",
          "[\"temperature\", \"tools\"]"),
      row("betas", text_list<W>([](W& w) -> auto& { return w.options.betas; }), "", kOnReload,
          {"The only flags of anthropic-beta that this channel takes, one * at the end of each; "
           "others are left out and marked. [\"none\"] lets none through.",
           "此通道仅接受的 anthropic-beta 标志，末尾可有一个 *；其余被删除并标记。[\"none\"] "
           "全部不放行。"},
          "Without a list all pass; servers of the dialect beside its maker's may refuse some.",
          "[\"interleaved-thinking-*\"]"),
      row("serves", text_list<W>(&W::serves), "", kOnReload,
          {"What it can be asked: \"chat\", \"completions\", \"responses\", \"embeddings\"; "
           "anthropic: \"messages\", \"count_tokens\". Without: all of them. Chat, responses and "
           "messages that it does not serve are translated. \"tokenize\", to be named: vLLM's "
           "/tokenize, by which count_tokens is answered.",
           "可被请求的内容：\"chat\"、\"completions\"、\"responses\"、\"embeddings\"；anthropic："
           "\"messages\"、\"count_tokens\"。省略则为全部。未提供的 chat、responses 与 messages "
           "会被转换。\"tokenize\" 需写明：以 vLLM 的 /tokenize 回答 count_tokens。"},
          "Most upstreams answer all of their dialect."),
      row("models", text_list<W>([](W& w) -> auto& { return w.options.models; }), "", kOnReload,
          {"Names that it serves under the same name; one * at the end.",
           "以同名提供的模型；末尾可有一个 *。"},
          "Nothing is served unless named.", "[\"smollm2-135m\"]"),
      row("model_map", text_map<W>([](W& w) -> auto& { return w.options.model_map; }), "",
          kOnReload,
          {"Name asked for to name sent; a key here counts as served; one * at the end.",
           "请求的名称到发送的名称；此处的键视为已提供；末尾可有一个 *。"},
          "Clients ask for names that they have built in.",
          "{ \"gpt-4o\" = \"smollm2-135m\", \"claude-*\" = \"smollm2-135m\" }"),
      row("priority",
          integer<W>([](W& w) -> auto& { return w.options.priority; }, -1'000'000, 1'000'000), "",
          kOnReload, {"Higher is tried first.", "数值高者先尝试。"}, "Equals share the load."),
      row("weight", integer<W>([](W& w) -> auto& { return w.options.weight; }, 1, 1000), "",
          kOnReload, {"Share among channels of equal priority.", "同优先级通道间的份额。"},
          "Equals share equally."),
  };
}

// How it is reached.
std::vector<Option> channel_connection() {
  using W = WrittenChannel;
  using enum Applies;
  const auto clock = [](std::optional<int64_t> route::ChannelTimeouts::* field) {
    return integer<W>([field](W& w) -> auto& { return w.options.timeouts.*field; }, 0, kDayMs);
  };
  using T = route::ChannelTimeouts;
  const Words own = {"This channel's own value.", "此通道自己的值。"};
  constexpr std::string_view kInherited = "Without it the gateway's value holds.";
  return {
      row("timeouts.pool_wait_ms", clock(&T::pool_wait_ms), "ms", kOnReload, own, kInherited),
      row("timeouts.connect_ms", clock(&T::connect_ms), "ms", kOnReload, own, kInherited),
      row("timeouts.first_token_ms", clock(&T::first_token_ms), "ms", kOnReload, own, kInherited,
          "60000"),
      row("timeouts.silence_ms", clock(&T::silence_ms), "ms", kOnReload, own, kInherited),
      row("timeouts.between_tokens_ms", clock(&T::between_tokens_ms), "ms", kOnReload, own,
          kInherited),
      row("ca_file", text<W>([](W& w) -> auto& { return w.options.ca_file; }), "", kOnReload,
          {"PEM file of further trusted roots for this upstream.",
           "此上游额外信任的根证书（PEM 文件）。"},
          "The system's roots are trusted anyway.", "\"company-ca.pem\""),
      row("use_proxy", boolean<W>([](W& w) -> auto& { return w.options.use_proxy; }), "", kOnReload,
          {"Honour HTTP(S)_PROXY and NO_PROXY of the environment.",
           "遵循环境中的 HTTP(S)_PROXY 与 NO_PROXY。"},
          "A gateway inside a network must not send its traffic out by accident."),
  };
}

Section channels_section() {
  using W = WrittenChannel;
  return make_section<W>("channels", SectionKind::kList,
                         {"One upstream account or instance each.", "每个为一个上游账户或实例。"},
                         joined({channel_account(), channel_service(), channel_connection()}));
}

Section keys_section() {
  using K = access::DeclaredKey;
  using enum Applies;
  using enum Presence;
  return make_section<K>(
      "keys", SectionKind::kList,
      {"Declared keys; others are created at run time (`headway key create`).",
       "声明的密钥；其余在运行时创建（`headway key create`）。"},
      {
          row("name", text<K>(&K::name), "", kOnReload,
              {"Shown in calls and logs.", "显示在调用与日志中。"}, "At most 64 bytes, no blanks.",
              "\"dev\"", kRequired),
          row("secret", secret<K>(&K::secret), "", kOnReload,
              {"What the client presents.", "客户端出示的密钥。"}, "Kept as a SHA-256 only.",
              "\"env:MY_DEV_KEY\"", kRequired),
          row("models", text_list<K>(&K::models), "", kOnReload,
              {"Models that it may ask for; one * at the end.", "可请求的模型；末尾可有一个 *。"},
              "Limits are asked for, not assumed."),
      });
}

}  // namespace

const OptionTable& gateway_options() {
  static const OptionTable table = {"headway.toml",
                                    {gateway_section(), store_section(), retry_section(),
                                     timeouts_section(), channels_section(), keys_section()}};
  return table;
}

}  // namespace hw::app

#include "engine_server/server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "engine/fake_backend.h"

namespace hw::engine_server {
namespace {

// A blocking client's socket.
class Client {
 public:
  explicit Client(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  ~Client() { leave(); }
  void leave() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void send(const std::string& bytes) {
    REQUIRE(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  // All bytes until `mark` has come, or the end of the connection.
  std::string read_until(const std::string& mark) {
    while (got_.find(mark) == std::string::npos) {
      char bytes[4096];
      const ssize_t count = ::recv(fd_, bytes, sizeof bytes, 0);
      if (count <= 0) break;
      got_.append(bytes, static_cast<size_t>(count));
    }
    return got_;
  }
  std::string read_all() { return read_until("\1never\1"); }

 private:
  int fd_;
  std::string got_;
};

// Holds the backend's steps until it is opened.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for_arrival() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return arrived_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int arrived_ = 0;
};

// An instance over a fake backend that answers "abc..." on a free port.
class Bench {
 public:
  explicit Bench(engine::Limits limits = engine::fake_limits()) {
    engine::Options options;
    options.server.port = 0;
    options.model.model_id = "fake";
    options.server.admin_token = "t0ken";
    auto backend = std::make_unique<engine::FakeBackend>(limits);
    backend->script = [this](const engine::StepItem& item) {
      gate.pass();
      return static_cast<engine::Token>('a' + item.output.size() % 26);
    };
    engine::Instance instance;
    instance.tokenizer = std::make_unique<engine::FakeTokenizer>();
    instance.backend = std::move(backend);
    instance.limits = limits;
    set_log_level(LogLevel::kError);
    auto opened = InstanceServer::open(options, std::move(instance), registry);
    REQUIRE(opened.has_value());
    server = std::move(*opened);
    thread = std::thread([this] { server->run(); });
  }
  ~Bench() {
    gate.open();
    server->stop();
    server->stop();
    thread.join();
    set_log_level(LogLevel::kInfo);
  }

  std::string ask(const std::string& request) {
    Client client(server->port());
    client.send(request);
    return client.read_all();
  }
  std::string get(const std::string& path) {
    return ask("GET " + path + " HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  }
  static std::string post(const std::string& path, const std::string& body,
                          const std::string& headers = "connection: close\r\n") {
    return concat("POST ", path, " HTTP/1.1\r\nhost: x\r\ncontent-length: ", body.size(), "\r\n",
                  headers, "\r\n", body);
  }
  static std::string chat(const std::string& more = "") {
    return R"({"model":"fake","messages":[{"role":"user","content":"hi"}])" + more + "}";
  }
  // The metrics' value of a series; waits until it is `wanted`, for what another thread does.
  bool comes_to(const std::string& series, const std::string& wanted) {
    for (int i = 0; i < 5000; ++i) {
      if (get("/metrics").find("\n" + series + " " + wanted + "\n") != std::string::npos) {
        return true;
      }
    }
    return false;
  }

  Registry registry;
  Gate gate;
  std::unique_ptr<InstanceServer> server;
  std::thread thread;
};

const std::string kChatPath = "/v1/chat/completions";

TEST_CASE("a chat completion is answered whole, with timings, usage and the caller's id") {
  Bench bench;
  bench.gate.open();
  const std::string answer =
      bench.ask(Bench::post(kChatPath, Bench::chat(R"(,"max_tokens":4)"),
                            "connection: close\r\nx-request-id: req_ABC-1\r\n"));
  CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(answer.find("\r\nx-request-id: req_ABC-1\r\n") != std::string::npos);
  CHECK(answer.find("\r\nserver-timing: queue;dur=") != std::string::npos);
  CHECK(answer.find(R"("id":"chatcmpl-req_ABC-1")") != std::string::npos);
  CHECK(answer.find(R"("content":"abcd")") != std::string::npos);
  CHECK(answer.find(R"("finish_reason":"length")") != std::string::npos);
  CHECK(answer.find(R"("prompt_tokens":8,"completion_tokens":4)") != std::string::npos);
  CHECK(answer.find(R"("timings":{"source":"headway")") != std::string::npos);
}

TEST_CASE("a completion of token ids and one of text, with a stop string") {
  Bench bench;
  bench.gate.open();
  CHECK(
      bench.ask(Bench::post("/v1/completions", R"({"model":"fake","prompt":[1,2],"max_tokens":2})"))
          .find(R"("text":"ab")") != std::string::npos);
  const std::string stopped =
      bench.ask(Bench::post("/completions", R"({"model":"fake","prompt":"x","stop":"ef"})"));
  CHECK(stopped.find(R"("text":"abcd")") != std::string::npos);
  CHECK(stopped.find(R"("finish_reason":"stop")") != std::string::npos);
}

TEST_CASE("a streamed chat has role, tokens, finish with timings, usage and DONE, then ends") {
  Bench bench;
  bench.gate.open();
  const std::string answer = bench.ask(Bench::post(
      kChatPath,
      Bench::chat(R"(,"max_tokens":3,"stream":true,"stream_options":{"include_usage":true})")));
  CHECK(answer.find("\r\ncontent-type: text/event-stream") != std::string::npos);
  CHECK(answer.find("\r\nx-accel-buffering: no\r\n") != std::string::npos);
  std::vector<size_t> places;
  for (const char* mark : {R"("delta":{"role":"assistant")", R"("delta":{"content":)",
                           R"("finish_reason":"length")", R"("timings":{"source":"headway")",
                           R"("choices":[],"usage":{"prompt_tokens":8,"completion_tokens":3)",
                           "data: [DONE]\n\n\r\n0\r\n\r\n"}) {
    CAPTURE(mark);
    places.push_back(answer.find(mark));
    CHECK(places.back() != std::string::npos);
  }
  CHECK(std::is_sorted(places.begin(), places.end()));
}

TEST_CASE("an HTTP/1.0 client gets the stream without chunks") {
  Bench bench;
  bench.gate.open();
  const std::string body = Bench::chat(R"(,"max_tokens":2,"stream":true)");
  const std::string answer = bench.ask(concat("POST /v1/chat/completions HTTP/1.0\r\n",
                                              "content-length: ", body.size(), "\r\n\r\n", body));
  CHECK(answer.find("transfer-encoding") == std::string::npos);
  CHECK(answer.ends_with("data: [DONE]\n\n"));
}

TEST_CASE("wrong requests are refused in OpenAI's shape") {
  Bench bench;
  bench.gate.open();
  const auto check = [&](const std::string& request, const std::string& status,
                         const std::string& part) {
    CAPTURE(request);
    const std::string answer = bench.ask(request);
    CHECK(answer.starts_with("HTTP/1.1 " + status));
    CHECK(answer.find(R"({"error":{"message":)") != std::string::npos);
    CHECK(answer.find(part) != std::string::npos);
  };
  check(Bench::post(kChatPath, "{"), "400", "invalid_request_error");
  check(Bench::post(kChatPath, Bench::chat(R"(,"temperature":3)")), "400", "temperature: ");
  check(Bench::post(kChatPath, R"({"model":"gpt-9","messages":[{"role":"user"}]})"), "404",
        "model_not_found");
  check(Bench::post("/v1/completions", R"({"model":"fake","prompt":[999]})"), "400", "prompt: 999");
  check(Bench::post("/v1/completions",
                    R"({"model":"fake","prompt":")" + std::string(600, 'x') + "\"}"),
        "400", "at most 511");
  check(Bench::post("/v1/completions",
                    R"({"model":"fake","prompt":")" + std::string(70'000, 'x') + "\"}"),
        "400", "at most 511");
  check(Bench::post("/v1/embeddings", "{}"), "404", "unknown_route");
  check("GET /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", "405",
        "method_not_allowed");
  check("BAD\r\n\r\n", "400", "bad_request");
}

TEST_CASE("text and conversations become tokens, and tokens text") {
  Bench bench;
  const auto ask = [&](const std::string& path, const std::string& body) {
    return bench.ask(Bench::post(path, body));
  };
  const std::string text = ask("/tokenize", R"({"model":"fake","prompt":"abc"})");
  CHECK(text.starts_with("HTTP/1.1 200"));
  CHECK(text.find(R"("count":3,"max_model_len":512,"tokens":[97,98,99]})") != std::string::npos);
  const std::string chat = ask("/tokenize", R"({"messages":[{"role":"user","content":"hi"}]})");
  CHECK(chat.find(R"("count":8,)") != std::string::npos);  // "user:hi\n"
  const std::string back = ask("/v1/detokenize", R"({"tokens":[97,98,99]})");
  CHECK(back.find(R"({"prompt":"abc"})") != std::string::npos);
  CHECK(ask("/tokenize", R"({"model":"other","prompt":"a"})").starts_with("HTTP/1.1 404"));
  CHECK(ask("/tokenize", R"({"model":"fake"})").find("prompt: ") != std::string::npos);
  CHECK(ask("/detokenize", R"({"tokens":[100000]})").find("100000 is no token") !=
        std::string::npos);
  CHECK(ask("/detokenize", R"({"tokens":"a"})").starts_with("HTTP/1.1 400"));
  CHECK(bench.ask("GET /tokenize HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            .starts_with("HTTP/1.1 405"));
}

TEST_CASE("faults are made by whoever has the token, and their steps fail until they are off") {
  Bench bench;
  bench.gate.open();
  const auto ask = [&](const std::string& token, const std::string& body) {
    return bench.ask(Bench::post("/admin/faults", body,
                                 "connection: close\r\nauthorization: Bearer " + token + "\r\n"));
  };
  CHECK(ask("other", "{}").starts_with("HTTP/1.1 401"));
  CHECK(ask("", "{}").starts_with("HTTP/1.1 401"));
  CHECK(ask("t0ken", R"({"slow":1})").find("unknown fault") != std::string::npos);
  CHECK(ask("t0ken", R"({"crash_step":1})").starts_with("HTTP/1.1 200"));
  const std::string request = Bench::post(kChatPath, Bench::chat(R"(,"max_tokens":2)"));
  CHECK_FALSE(bench.ask(request).starts_with("HTTP/1.1 200"));
  CHECK(bench.get("/metrics")
            .find("\nheadway_engine_failed_steps_total{engine=\"0\",model_name=\"fake\"} 1\n") !=
        std::string::npos);
  CHECK(ask("t0ken", "{}").starts_with("HTTP/1.1 200"));
  CHECK(bench.ask(request).find(R"("content":"ab")") != std::string::npos);
  CHECK(bench.get("/admin/faults").starts_with("HTTP/1.1 405"));
}

TEST_CASE("the admin token ends a request by its id and forgets the prefix cache") {
  Bench bench;
  const auto admin = [&](const std::string& path, const std::string& body,
                         const std::string& token = "t0ken") {
    return bench.ask(
        Bench::post(path, body, "connection: close\r\nauthorization: Bearer " + token + "\r\n"));
  };
  Client client(bench.server->port());
  client.send(Bench::post(kChatPath, Bench::chat(R"(,"max_tokens":200)"),
                          "connection: close\r\nx-request-id: req_abc-1\r\n"));
  bench.gate.wait_for_arrival();
  CHECK(admin("/admin/abort", R"({"id":"req_abc-1"})", "other").starts_with("HTTP/1.1 401"));
  CHECK(admin("/admin/abort", "{}").starts_with("HTTP/1.1 400"));
  bench.gate.open();
  const std::string done = admin("/admin/abort", R"({"id":"req_abc-1"})");
  const bool in_time = done.starts_with("HTTP/1.1 200");
  CHECK((in_time || done.starts_with("HTTP/1.1 404")));  // it may have come to its end
  CHECK(client.read_all().starts_with(in_time ? "HTTP/1.1 5" : "HTTP/1.1 200"));
  CHECK(admin("/admin/abort", R"({"id":"req_abc-1"})").starts_with("HTTP/1.1 404"));
  CHECK(admin("/admin/reset_prefix_cache", "").starts_with("HTTP/1.1 200"));
  CHECK(bench.get("/admin/abort").starts_with("HTTP/1.1 405"));
}

TEST_CASE("models, health and metrics") {
  Bench bench;
  bench.gate.open();
  CHECK(bench.get("/v1/models").find(R"("id":"fake")") != std::string::npos);
  CHECK(bench.get("/v1/models/fake").starts_with("HTTP/1.1 200"));
  CHECK(bench.get("/v1/models/other").starts_with("HTTP/1.1 404"));
  CHECK(bench.get("/health").find(R"({"status":"ok","running":0,"waiting":0})") !=
        std::string::npos);
  CHECK(bench.get("/health/live").find(R"({"live":true,"step_ms":)") != std::string::npos);
  CHECK(
      bench.get("/load").find(R"({"server_load":0,"running":0,"waiting":0,"kv_blocks_used":0,)") !=
      std::string::npos);
  bench.ask(Bench::post(kChatPath, Bench::chat(R"(,"max_tokens":4)")));
  const std::string metrics = bench.get("/metrics");
  const std::string labels = R"({engine="0",model_name="fake"})";
  for (const std::string& line :
       {"vllm:num_requests_running" + labels + " 0",
        "vllm:num_requests_waiting" + labels + " 0",
        "vllm:kv_cache_usage_perc" + labels + " 0",
        "vllm:prompt_tokens_total" + labels + " 8",
        "vllm:generation_tokens_total" + labels + " 4",
        "vllm:time_to_first_token_seconds_count" + labels + " 1",
        "vllm:inter_token_latency_seconds_count" + labels + " 3",
        "vllm:e2e_request_latency_seconds_count" + labels + " 1",
        "vllm:request_inference_time_seconds_count" + labels + " 1",
        "vllm:request_time_per_output_token_seconds_count" + labels + " 1",
        "vllm:request_prompt_tokens_sum" + labels + " 8",
        "vllm:request_generation_tokens_sum" + labels + " 4",
        "vllm:request_params_max_tokens_sum" + labels + " 4",
        "vllm:request_max_num_generation_tokens_sum" + labels + " 4",
        "vllm:request_params_n_sum" + labels + " 1",
        "vllm:request_prefill_kv_computed_tokens_sum" + labels + " 8",
        "headway_engine_block_drift" + labels + " 0",
        std::string("vllm:num_requests_waiting_by_reason{engine=\"0\",model_name=\"fake\",") +
            "reason=\"capacity\"} 0",
        std::string("vllm:engine_sleep_state{engine=\"0\",model_name=\"fake\",") +
            "sleep_state=\"awake\"} 1",
        std::string("vllm:request_success_total{engine=\"0\",finished_reason=\"length\",") +
            "model_name=\"fake\"} 1"}) {
    CAPTURE(line);
    CHECK(metrics.find("\n" + line + "\n") != std::string::npos);
  }
  const size_t cache = metrics.find("\nvllm:cache_config_info{");
  REQUIRE(cache != std::string::npos);
  const std::string info = metrics.substr(cache, metrics.find('\n', cache + 1) - cache);
  CHECK(info.find("gpu_memory_utilization=\"0.85\",kv_cache_max_concurrency=\"") !=
        std::string::npos);
}

TEST_CASE("above max_concurrent_requests: 429 with retry-after, at once") {
  engine::Limits limits = engine::fake_limits();
  limits.scheduling.max_concurrent_requests = 1;
  Bench bench(limits);
  Client first(bench.server->port());
  first.send(Bench::post(kChatPath, Bench::chat(R"(,"max_tokens":2)")));
  bench.gate.wait_for_arrival();
  const std::string refused = bench.ask(Bench::post(kChatPath, Bench::chat()));
  CHECK(refused.starts_with("HTTP/1.1 429"));
  CHECK(refused.find("\r\nretry-after: 1\r\n") != std::string::npos);
  bench.gate.open();
  CHECK(first.read_all().find(R"("content":"ab")") != std::string::npos);
}

const std::string kRunning = R"(vllm:num_requests_running{engine="0",model_name="fake"})";
const std::string kAborted =
    R"(vllm:request_success_total{engine="0",finished_reason="abort",model_name="fake"})";

TEST_CASE("a client that leaves aborts its sequence, streamed, not streamed and waiting") {
  Bench bench;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 6; ++i) {  // four run, two wait
    clients.push_back(std::make_unique<Client>(bench.server->port()));
    clients.back()->send(
        Bench::post(kChatPath, Bench::chat(i % 2 == 0 ? R"(,"stream":true)" : "")));
  }
  bench.gate.wait_for_arrival();
  // The one loop answers this after it has read what came before: the engine has all six, and
  // then knows that their clients have left.
  for (int i = 0; i < 2; ++i) bench.get("/health");
  for (auto& client : clients) client->leave();
  for (int i = 0; i < 2; ++i) bench.get("/health");
  bench.gate.open();
  CHECK(bench.comes_to(kAborted, "6"));
  CHECK(bench.comes_to(kRunning, "0"));
  CHECK(bench.comes_to(R"(vllm:kv_cache_usage_perc{engine="0",model_name="fake"})", "0"));
}

TEST_CASE(
    "of 257 requests at once against 256 one is refused with 429, and the others are answered") {
  engine::Limits limits = engine::fake_limits();
  limits.scheduling.max_concurrent_requests = 256;
  Bench bench(limits);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 256; ++i) {
    clients.push_back(std::make_unique<Client>(bench.server->port()));
    clients.back()->send(Bench::post(kChatPath, Bench::chat(R"(,"max_tokens":1)")));
  }
  bench.gate.wait_for_arrival();
  std::string health;  // the loop may not have read all of them yet
  for (int i = 0; i < 5000 && health.find(R"("waiting":252)") == std::string::npos; ++i) {
    health = bench.get("/health");
  }
  CHECK(bench.ask(Bench::post(kChatPath, Bench::chat())).starts_with("HTTP/1.1 429"));
  bench.gate.open();
  int answered = 0;
  for (auto& client : clients) {
    if (client->read_all().starts_with("HTTP/1.1 200")) ++answered;
  }
  CHECK(answered == 256);
}

TEST_CASE("tokens found in the prefix cache are told, unless the salt is another") {
  engine::Limits limits = engine::fake_limits();
  limits.scheduling.enable_prefix_caching = true;
  Bench bench(limits);
  bench.gate.open();
  const std::string path = "/v1/completions";
  const auto body = [](const std::string& more) {
    return concat(R"({"model":"fake","max_tokens":1,"prompt":")", std::string(40, 'x'), "\"", more,
                  "}");
  };
  CHECK(bench.ask(Bench::post(path, body(""))).find(R"("cached_tokens":0,)") != std::string::npos);
  const std::string again = bench.ask(Bench::post(path, body("")));
  CHECK(again.find(R"("cached_tokens":32,"prompt_n":40)") != std::string::npos);
  CHECK(again.find(R"("prompt_tokens_details":{"cached_tokens":32})") != std::string::npos);
  const std::string salted = bench.ask(Bench::post(path, body(R"(,"cache_salt":"s")")));
  CHECK(salted.find(R"("cached_tokens":0,)") != std::string::npos);
  CHECK(bench.comes_to(R"(vllm:prefix_cache_hits_total{engine="0",model_name="fake"})", "32"));
  CHECK(bench.comes_to(R"(vllm:kv_cache_usage_perc{engine="0",model_name="fake"})", "0"));
}

TEST_CASE("a request that takes too long is a 504, in a stream an error event and no clean end") {
  engine::Limits limits = engine::fake_limits();
  limits.scheduling.request_timeout_ns = 1;  // over before its first step
  Bench bench(limits);
  bench.gate.open();
  const std::string late = bench.ask(Bench::post(kChatPath, Bench::chat(R"(,"stream":true)")));
  CHECK(late.starts_with("HTTP/1.1 504"));
  CHECK(late.find("request_timeout_seconds") != std::string::npos);
}

TEST_CASE("stop lets a running stream finish, and refuses what comes later") {
  Bench bench;
  Client running(bench.server->port());
  running.send(Bench::post(kChatPath, Bench::chat(R"(,"max_tokens":3,"stream":true)"), ""));
  bench.gate.wait_for_arrival();
  bench.server->stop();
  bench.gate.open();
  const std::string answer = running.read_all();
  CHECK(answer.find("data: [DONE]") != std::string::npos);
}

TEST_CASE("a second stop breaks off a running stream") {
  Bench bench;
  Client running(bench.server->port());
  running.send(Bench::post(kChatPath, Bench::chat(R"(,"stream":true)"), ""));
  bench.gate.wait_for_arrival();
  bench.server->stop();
  bench.server->stop();
  const std::string answer = running.read_all();
  CHECK(answer.find("data: [DONE]") == std::string::npos);
}

TEST_CASE("a long prompt is tokenised beside the loop and answered as any other") {
  engine::Limits limits = engine::fake_limits();
  limits.scheduling.max_model_len = 20'000;
  limits.scheduling.kv_blocks = 1'300;
  Bench bench(limits);
  bench.gate.open();
  const std::string prompt(10'000, 'x');
  const std::string answer = bench.ask(Bench::post(
      "/v1/completions", concat(R"({"model":"fake","max_tokens":2,"prompt":")", prompt, "\"}")));
  CHECK(answer.find(R"("prompt_tokens":10000)") != std::string::npos);
  CHECK(answer.find(R"("text":"ab")") != std::string::npos);
}

TEST_CASE("requests follow one another on a connection") {
  Bench bench;
  bench.gate.open();
  Client client(bench.server->port());
  for (int i = 0; i < 3; ++i) {
    client.send(Bench::post(kChatPath, Bench::chat(R"(,"max_tokens":1)"), ""));
  }
  client.send("GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  const std::string all = client.read_all();
  size_t answers = 0;
  for (size_t at = 0; (at = all.find("HTTP/1.1 200 OK", at)) != std::string::npos; ++at) ++answers;
  CHECK(answers == 4);
}

}  // namespace
}  // namespace hw::engine_server

// The serving side of HTTP/1.1: connections that read requests, watch their client all the time and
// write answers, and the server that owns them on one loop.
//
// One coroutine per connection reads a head, calls RequestHandler::serve() and goes on while the
// connection may be kept. Bytes that arrive during an exchange are pipelining and wait; an end or a
// reset of the client is noticed at once, whatever the exchange is waiting for, and raises kGone.
//
//   Task<void> serve(ServerConnection& client, const RequestHead& head) {
//     Status body = co_await client.read_body(limit, deadline);
//     if (!body) ...
//     co_await client.write(bytes);          // false: the client is gone
//   }
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/buffer.h"
#include "http/chunked.h"
#include "http/head.h"
#include "net/event.h"
#include "net/socket.h"
#include "net/task.h"
#include "net/timers.h"
#include "net/tls.h"

namespace hw::http {

class Server;
class ServerConnection;

// Signals of a connection's event. The lower ones belong to the connection, the rest to whoever
// serves the request.
inline constexpr net::Signals kReadable = 1 << 0;  // the client has sent something
inline constexpr net::Signals kWritable = 1 << 1;  // the client takes bytes again
inline constexpr net::Signals kGone = 1 << 2;      // the client left, or the server gives up
inline constexpr net::Signals kDeadline = 1 << 3;  // the connection's deadline has passed
inline constexpr net::Signals kHalfClosed = 1
                                            << 4;  // the client ended its side; see HalfClosePolicy
inline constexpr net::Signals kFirstOwnSignal = 1 << 8;

// ServerConnection::gone_reason() where the server gave up and not the client.
inline constexpr std::string_view kShutdownReason = "shutdown";

// What a half-closed client means.
enum class HalfClosePolicy : uint8_t { kAbort, kServe, kProbe };

// Limits and clocks of the serving side; 0 ms: none.
struct ServerOptions {
  HeadLimits head;
  int64_t head_ms = 10'000;
  int64_t idle_ms = 75'000;
  int64_t write_stall_ms = 60'000;
  HalfClosePolicy half_close = HalfClosePolicy::kAbort;
  int connections_max = 20'000;  // of Server::accept(), on this loop
};

// Serves requests; one for each loop. Outlives its server.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  // One exchange. Must have written a whole answer, or call client.end_connection(). `head` is
  // valid until client.release_request().
  virtual net::Task<void> serve(ServerConnection& client, const RequestHead& head) = 0;
  // The answer to a head that cannot be read, as complete bytes with `connection: close`; also for
  // kTimeoutHead. `target` is the request's target as far as it is known.
  virtual void refuse(const Error& error, std::string_view target, std::string& out) = 0;
  // Settings that new requests follow; the server asks before each head.
  virtual const ServerOptions& options() = 0;
};

// One client connection, seen from inside serve(). Lives on its loop.
class ServerConnection final : private net::SocketHandler {
 public:
  // Whether there is a place for the client. One without is only told so.
  enum class Place : uint8_t { kTaken, kNone };

  ServerConnection(Server& server, net::Socket socket, Place place);
  ~ServerConnection();

  // The loop on which the connection lives.
  net::Loop& loop();
  // What the exchange waits on: the signals above, and its own from kFirstOwnSignal.
  net::Event& event() { return event_; }
  // The time limit of whatever the exchange waits for; kDeadline is raised when it passes.
  net::Deadline& deadline() { return deadline_; }

  // When the first byte of this request's head was read: monotonic, and wall clock.
  Nanos arrived() const { return arrived_; }
  Nanos arrived_wall() const { return arrived_wall_; }
  // When the head was complete, monotonic.
  Nanos head_read() const { return head_read_; }

  // Takes the body where all of it has come behind the head already, as small ones do. False: call
  // read_body().
  bool take_body(uint64_t bytes_max);
  // Reads the body to its end, decoded from chunks, sending 100-continue where it is asked for.
  // `until`: monotonic deadline. Errors: kBodyTooLarge above `bytes_max` (at once where the length
  // says so), kBadRequest, kTimeoutBody, kDraining (told_to_end()), kClientGone.
  net::Task<Status> read_body(uint64_t bytes_max, Nanos until);
  // The body read; `body_readable()` bytes may be read from its start.
  std::string_view body() const { return body_; }
  size_t body_readable() const { return body_readable_; }
  // True where the request has no body or all of it was read.
  bool body_complete() const { return body_complete_; }

  // From here on the client's end is watched. Called by read_body(); call it yourself for a request
  // whose body you do not read.
  void watch();
  // The time of the whole server is over (Server::end_exchanges()): tell the client and end.
  bool told_to_end() const;
  // The client left or the server gave up; nothing can be written.
  bool gone() const { return gone_; }
  // Why, for the log: "client closed", "client reset", kShutdownReason, "write stalled", "pipelined
  // too much".
  std::string_view gone_reason() const { return gone_reason_; }
  // The client ended its side and the policy is to go on.
  bool half_closed() const { return half_closed_; }

  // Writes all of `pieces` in order, waiting while the client takes no bytes. False: the client is
  // gone, or took nothing for write_stall_ms (then gone() with "write stalled"). `pieces` is used
  // up.
  net::Task<bool> write(std::span<iovec> pieces);
  net::Task<bool> write(std::string_view bytes);
  // Writes what can be written at once; returns how much. Never waits.
  size_t try_write(std::string_view bytes);
  // How long writes of this exchange were blocked by the client, and since when they are now (-1).
  Nanos blocked_ns() const { return blocked_ns_; }
  // Bytes written since the exchange began, and bytes of the request.
  uint64_t bytes_written() const { return bytes_written_; }
  uint64_t bytes_read() const { return bytes_read_; }

  // Frees head and body; views of both end here. For long streams, once no retry is possible.
  void release_request();
  // No further request on this connection. What was written is still delivered.
  void end_connection() { keep_alive_ = false; }
  // Ends the connection so that an HTTP/1.1 client sees that the answer is incomplete: FIN without
  // the last chunk.
  void break_off() { keep_alive_ = false; }
  bool keep_alive() const { return keep_alive_; }
  // The client speaks HTTP/1.0: no chunked answers.
  bool http_1_0() const { return minor_ == 0; }

  // What the kernel knows of the connection, asked for again after a while; the client's address.
  net::TcpInfo tcp_info(Nanos now) { return socket_.tcp_info(now); }
  const std::string& peer_address() const { return peer_address_; }

 private:
  friend class Server;
  struct ClientDeadline final : net::Deadline {
    ServerConnection& connection;
    explicit ClientDeadline(ServerConnection& c);
    void on_deadline() override { connection.event_.raise(kDeadline); }
  };
  enum class Phase : uint8_t { kIdle, kReading, kBusy };
  enum class Got : uint8_t { kBytes, kNothing, kEnd };

  net::Task<void> run();
  net::Task<bool> shake_hands();
  net::Task<void> serve_all();
  net::Task<void> turn_away();
  net::Task<bool> next_head();
  Error late_head() const;
  Error late_body() const;
  net::Task<Status> read_length(uint64_t left);
  void keep_body(size_t length);
  net::Task<Status> read_chunked(uint64_t bytes_max);
  net::Task<bool> wait_for_bytes();
  net::Task<void> refuse(const Error& error);
  net::Task<void> linger();
  Got read_some(Buffer& into, size_t at_most);
  Result<bool> parse_head();
  void stamp_arrival();
  void begin_exchange();
  void end_exchange();
  void leave(std::string_view reason);
  void shut_down(std::string_view reason);
  void watch_readable();
  void on_readable() override;
  void on_writable() override { event_.raise(kWritable); }

  Server& server_;
  net::Socket socket_;
  net::Event event_;
  ClientDeadline deadline_;
  Buffer in_;                          // head and, where it has a length, body of the request
  Buffer chunked_;                     // body decoded from chunks
  Buffer pipelined_;                   // what came while an exchange ran
  std::unique_ptr<RequestHead> head_;  // 1 KiB and more: held while it is needed
  HeadScanner scanner_;
  std::string_view body_;
  size_t body_readable_ = 0;
  size_t used_ = 0;  // bytes of in_ that belong to this request
  Nanos arrived_ = 0, arrived_wall_ = 0, head_read_ = 0;
  Nanos blocked_ns_ = 0;
  uint64_t bytes_written_ = 0, bytes_read_ = 0;
  std::string_view gone_reason_;
  std::string peer_address_;
  Nanos body_until_ = 0;  // of the body being read
  const Place place_;
  Phase phase_ = Phase::kIdle;
  uint8_t minor_ = 1;
  bool keep_alive_ = true;
  bool gone_ = false;
  bool half_closed_ = false;
  bool body_complete_ = false;
  bool continue_due_ = false;
  bool drained_ = false;                  // the last read took all there was
  ServerConnection* previous_ = nullptr;  // in the server's list
  ServerConnection* next_ = nullptr;
};

// The connections of one loop.
class Server {
 public:
  // `tls`: null for plain HTTP. All outlive the server.
  Server(net::Loop& loop, RequestHandler& handler, net::TlsContext* tls);
  ~Server();

  // Clients that are being turned away at once; more are closed without a word, so that a flood
  // cannot take what connections_max is to bound.
  static constexpr int kTurnedAwayMax = 64;

  // Connections that come from now on are secured by `tls`, which outlives the server or the next
  // call. Only for a server that had one from the start.
  void set_tls(net::TlsContext& tls);
  // Serves an accepted, non-blocking descriptor; above connections_max it is turned away.
  void accept(int fd);
  // Serves one that the loop's count of connections has already: whoever deals connections out over
  // loops counts it at once, and not when its loop comes to it. Looks at no limit.
  void admit(int fd);
  // For a client that there is no place for: its request is answered with kOverloaded, then the
  // connection ends. It is in no loop's count.
  void turn_away(int fd);
  // Closes connections without a request now and the others after their exchange.
  void drain();
  // Exchanges are to tell their clients and end: they wake up by kDeadline and see told_to_end().
  void end_exchanges();
  // Ends all exchanges; they see gone() with kShutdownReason.
  void abort_all();
  // All that are left, those being turned away included.
  int connections() const { return loop_.connections() + turned_away_; }

 private:
  friend class ServerConnection;
  void enlist(ServerConnection& connection);
  void strike(ServerConnection& connection);

  net::Loop& loop_;
  RequestHandler& handler_;
  net::TlsContext* tls_;
  std::unique_ptr<RequestHead> borrow_head();
  void give_back(std::unique_ptr<RequestHead> head);

  ServerConnection* first_ = nullptr;
  std::vector<std::unique_ptr<RequestHead>> spare_heads_;
  int turned_away_ = 0;
  bool draining_ = false;
  bool ending_ = false;
};

}  // namespace hw::http

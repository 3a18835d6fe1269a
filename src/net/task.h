// The one header that lets Asio's coroutine types out of net and http: Task<T> for whoever awaits.
//
// Rules for code that awaits (g++ 12 miscompiles the rest): no capturing lambda and no braced
// aggregate inside a co_await expression, await into a variable before a switch or if, parameters
// are references that outlive the coroutine, views, or classes with constructors.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>

namespace hw::net {

// Where coroutines run: the loop's, as a type that needs no virtual calls.
using Executor = boost::asio::io_context::executor_type;

// A lazily started coroutine on one loop; awaited at most once.
template <class T = void>
using Task = boost::asio::awaitable<T, Executor>;

// A suspended coroutine; calling it goes on with it.
using Resumption = boost::asio::detail::awaitable_async_op_handler<void(), Executor>;

}  // namespace hw::net

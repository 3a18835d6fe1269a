"""The test stand: starts gateways and loads on loopback, pinned, and reads what they cost.

Used by bench/compare, bench/overhead and the loads of tests/e2e. Python's standard library only.
"""

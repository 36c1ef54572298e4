"""The proxy beside others, in one run: ``python -m bench.proxy [--toxiproxy BINARY] [--json]``.

The server, the client and the peer between them are a process each. The measurements:

* ping-pong: a request of 1 KiB and its answer, one after the other, on one connection, and on 16
* bulk: requests of 64 KiB that get no answer (Produce with acks=0), and answers of 1 MiB
* 1,000 connections at once, a request and an answer on each, twenty times
* memory while a receiver does not read

All frames are Kafka's, so that a peer that decodes frames has its work to do. Between client and
server stand: nothing; a bare asyncio relay that only writes what it reads; our proxy without rules;
with an interceptor that wants nothing now; with rewriting and counters on but nothing to rewrite;
toxiproxy (Go) without toxics. Peers take turns in short rounds, and a ratio is the median over the
rounds of one peer by the other, so that other load of the machine affects all of them.

toxiproxy is given by ``--toxiproxy``, or found on PATH, or built with Go; else its rows say
"not run", and its goals are not judged.
"""

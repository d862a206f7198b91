// Package fleet carries a run to other machines: to workers, which offer its load, and to hosts,
// which run its servers.
//
// The coordinator is the process that runs an experiment. It listens (Listen), and the others dial
// in (Work), so they have no open port. What a worker can be asked to do is what internal/load says
// of a Worker, and nothing else: it opens no file and runs no command that the coordinator names. A
// host starts, stops and breaks servers, by its own driver's steps (docs/design/lab.md).
//
// # Trust
//
// Each fleet has a certificate authority of its own, which lives as long as its coordinator. A
// join token holds a secret and the digest of that authority's certificate. So a worker knows the
// coordinator before it sends the secret, and gets a client certificate for it. A name joins once.
// Whoever has no certificate can only join. The plan, with the target's secrets, travels only to
// holders of one. Workers and coordinator are of one version.
//
// # One clock
//
// A worker does its part of a run on the coordinator's clock, so windows, due times, latencies and
// accounts merge without a conversion. Processes of one kernel share its monotonic clock, and their
// offset is zero. On another machine the worker's clock is disciplined (internal/skew), and every
// sample carries the bound of its error. chrony is asked there once, for a second at most. Its word
// is shown beside the bound and changes nothing.
//
// # Loss
//
// A host that is gone, silent or broken is lost too, and ends the run. A host that has not heard of
// its coordinator for ownerLimit heals its faults, kills its servers and removes their data.
//
// A worker that is gone, silent or broken is lost for the rest of the run, which it ends. The
// run keeps what the worker told last, and has no account. The load is never given to another
// worker. A worker that has not heard of its coordinator for ownerLimit ends its load.
//
// # Bounds
//
// A message on the wire has at most wireMost bytes. A larger answer comes in parts, and the order
// bounds it: the plan and what was counted bound an account. What a worker says is refused if it
// cannot be true (internal/load; for hosts, hostobserver.go), and the worker is then lost. A worker
// has one stream of orders and one of exchanges of time. The coordinator has four connections for
// each expected worker or host, and a few more. Connections without a certificate have a deadline,
// and idle ones make room for others (internal/admission).
package fleet

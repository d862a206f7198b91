// Package postgres is all there is to know about PostgreSQL as a messaging system: a driver
// on pgx, and a primary with its standbys on this machine, from the distribution's packages.
//
// Plimsoll's words on it: a topic is a table, and a second table for its readers; a partition
// is a value of the column part. The setting shape says what the table is:
//
//   - queue: a row is a message for one subscription. Consumers take the oldest rows with FOR
//     UPDATE SKIP LOCKED, delete them in a transaction that stays open while they are handled,
//     and acknowledge by its COMMIT (queue.go says why, and not by a lease). The topic's first
//     subscription takes the rows from the start; each further one has a copy of each row from
//     then on. Order holds within one consumer only.
//   - log: rows are only added. A subscription has a position in each partition, which its
//     consumers take in turn under an advisory lock. Positions are safe against transactions
//     that commit out of order (log.go says how, and what it costs). Order holds.
//
// All tables are on one primary. It is found among the endpoints when a run connects, and is
// not followed when it moves.
//
// # What an acknowledgement is worth
//
// A producer has one INSERT of many rows under way, committed by itself; the answer to the
// commit acknowledges all of them. synchronous_commit, which each session sets, says what the
// commit waits for: local, the WAL on the primary's disk; remote_write, then also in the memory
// of as many standbys as synchronous_standby_names asks for; on, then also on their disks; off,
// nothing. The levels are read back from a session and from each server; level 1 needs the
// standbys among the endpoints, because nothing else tells their fsync.
//
// What no level promises:
//
//   - There is no failover here. When the primary dies the cluster waits for its restart, and
//     producers keep what was not sent for delivery_timeout. A promoted standby lacks, at
//     levels 3 and 4, what it had not received; at levels 1 and 2 one of the standbys has it,
//     and the operator must find out which.
//   - Commits that nobody has acknowledged can be seen. A row is on the primary's disk before a
//     standby has it, and is there after a crash of the primary, acknowledged or not.
//   - A commit that is told to stop waiting (by a cancelled query, a shutdown) is answered as a
//     success, with a warning. Such a message is unknown here.
//   - A primary that loses power at level 2 loses nothing: its own disk has been synced. It is
//     more than the level asks for. At level 4 the last 0.6 s are lost, and also when only the
//     process is killed.
//   - A consumer's position and its deletions are data like any other. What is lost of them is
//     delivered again.
//
// # Sending
//
// A message that no server can have got, because there was no connection or the primary still
// recovers, is kept for delivery_timeout. Nothing else is repeated. An INSERT that is answered
// with an error was rolled back, and is refused; one without an answer is unknown.
//
// # Waking
//
// With wake notify, a producer sends NOTIFY in a transaction of its own after each commit. In
// the same transaction it would hold a lock of the whole database while the commit waits for
// disks and standbys, so that no two producers could commit at once. A notification that is
// lost costs poll_interval.
//
// # What kills such queues
//
// A deleted row is dead, and stays in the table and its index until VACUUM removes it, which it
// cannot while a transaction is open that began before. Consumers search from the oldest row, so
// they wade through the dead. ReadGauges observes it during the run: live and dead rows, the
// size of the tables, the age of the oldest transaction, and what autovacuum has done. The
// planner's habit of reading a small table whole is switched off in consumers' sessions.
//
// # Servers on this machine
//
// PostgreSQL refuses to run as root; root's servers run as the package's user postgres. The
// standbys begin as copies of the folder that initdb made. Each connection is a process:
// plimsoll counts, pauses and kills all that descend from a server as the server.
package postgres

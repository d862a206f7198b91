// Package postgres has everything about PostgreSQL as a messaging system: a driver
// on pgx, and a primary with its standbys on this machine, from the distribution's packages.
//
// Plimsoll's words on PostgreSQL: a topic is a table, and a second table for its readers; a
// partition is a value of the column part. The setting shape chooses the kind of table:
//
//   - queue: a row is a message for one subscription. Consumers take the oldest rows with FOR
//     UPDATE SKIP LOCKED, delete them in a transaction that stays open while they are handled, and
//     acknowledge by its COMMIT (queue.go says why not by a lease). The topic's first subscription
//     takes the rows from the start; each further one gets its own copy of each row from its
//     creation on. Order holds only within one consumer.
//   - log: rows are only added. A subscription has a position in each partition. Its consumers
//     take the partitions in turn under an advisory lock. Positions are safe against transactions
//     that commit out of order (log.go says how, and what it costs). Order holds.
//
// All tables are on one primary. plimsoll finds it among the endpoints when a run connects, and
// does not follow it to another server.
//
// # What an acknowledgement is worth
//
// A producer has one INSERT of many rows at a time, in its own transaction; the answer to the
// commit acknowledges all rows. Each session's synchronous_commit decides what the commit waits
// for. local: the WAL is on the primary's disk. remote_write: and in the memory of as many
// standbys as synchronous_standby_names requires. on: and on their disks. off: nothing. The levels
// are read back from a session and from each server. Level 1 needs the standbys among the
// endpoints, because only they show their fsync.
//
// What no level promises:
//
//   - There is no failover here. When the primary dies the cluster waits for its restart, and
//     producers keep unsent messages for delivery_timeout. At levels 3 and 4 a promoted standby
//     lacks the messages that it had not received. At levels 1 and 2 one of the standbys has them,
//     and the operator must find out which.
//   - Consumers can see unacknowledged messages after a crash. A row is on the primary's disk
//     before a standby has it, and survives a crash of the primary, acknowledged or not.
//   - A commit whose wait is ended (by a cancelled query, a shutdown) is answered as a success
//     with a warning. plimsoll counts its messages as unknown.
//   - A primary that loses power at level 2 loses nothing, because its own disk has been synced.
//     That is more than the level requires. At level 4 the last 0.6 s are lost, even if only the
//     process is killed.
//   - A consumer's position and its deletions are ordinary data. If they are lost, messages are
//     redelivered.
//
// # Sending
//
// A message that no server can have received, because there was no connection or the primary is
// still recovering, is kept for delivery_timeout. Nothing else is repeated. An INSERT that is
// answered with an error was rolled back and counts as refused; without an answer its outcome is
// unknown.
//
// # Waking
//
// With wake=notify, a producer sends NOTIFY in a separate transaction after each commit. Within
// the commit, NOTIFY would hold a lock of the whole database while the commit waits for disks and
// standbys, so that no two producers could commit at once. A lost notification delays messages by
// poll_interval.
//
// # What kills such queues
//
// A deleted row is dead, and stays in the table and its index until VACUUM removes it. VACUUM
// cannot remove it while an older transaction is open. Consumers search from the oldest row, so
// they read through the dead rows. ReadGauges observes this during the run: live and dead rows,
// the size of the tables, the age of the oldest transaction, and the work of autovacuum.
// Consumers' sessions disable sequential scans, which the planner prefers for small tables.
//
// # Servers on this machine
//
// PostgreSQL refuses to run as root; root's servers run as the package's user postgres. The
// standbys begin as copies of the folder that initdb made. Each connection is a process: plimsoll
// counts, pauses and kills all descendants of a server as part of the server.
package postgres

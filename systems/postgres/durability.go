package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// levels returns the meaning of each level. A commit is answered when its WAL record is on the
// primary's disk (synchronous_commit local) and, in addition, has been written (remote_write) or
// synced (on) by as many standbys as synchronous_standby_names requires. With off it is answered
// at once. TestAcknowledgementWaitsFor proves it with delayed syncs and paused standbys.

func levels() map[workload.Level]system.Guarantee {
	const (
		quorum = ", with synchronous_standby_names = 'ANY 1 (…)' on the primary (more with " +
			"more copies), and fsync on"
		moved = "; nothing promotes a standby: an operator who does must choose the one that is " +
			"furthest, or acknowledged messages are lost"
	)
	return map[workload.Level]system.Guarantee{
		workload.SyncSync: {How: "synchronous_commit on: synced on the primary and on a majority " +
			"of the copies" + quorum + moved},
		workload.SyncAsync: {How: "synchronous_commit remote_write: synced on the primary, and " +
			"in the memory of standbys so that a majority of the copies has it; more than the " +
			"level asks for, because a commit waits for the primary's disk first" + quorum + moved},
		workload.AsyncSync: {
			How: "synchronous_commit local: synced on the primary; standbys follow"},
		workload.AsyncAsync: {How: "synchronous_commit off: in the memory of the primary, which " +
			"syncs within three times wal_writer_delay (0.6 s); its end, not only a loss of " +
			"power, loses the messages acknowledged since"},
	}
}

// standbysAwaited returns the number of standbys in a majority of the copies.
func standbysAwaited(s system.Settings) int {
	return driver.Majority(int(s.Count(setReplication))) - 1 // the primary has it
}

// awaited returns the number of standbys that a value of synchronous_standby_names waits for.
func awaited(names string) int {
	head, _, listed := strings.Cut(names, "(")
	switch words := strings.Fields(strings.ToUpper(head)); {
	case strings.TrimSpace(names) == "":
		return 0
	case !listed:
		return 1 // a plain list means its first standby
	default:
		n, _ := strconv.Atoi(words[len(words)-1])
		return n
	}
}

// follower is a line of pg_stat_replication.
type follower struct{ name, state, sync string }

// ReadDurability reads the configuration of the servers, and which standbys follow.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (
	system.Evidence, error,
) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	r := &driver.Reading{Level: c.level}
	for _, check := range []func(context.Context, *driver.Reading) error{
		func(ctx context.Context, r *driver.Reading) error { return c.checkTables(ctx, r, topics) },
		c.checkSession, c.checkStandbys, c.checkServers,
	} {
		if err := check(ctx, r); err != nil {
			return system.Evidence{}, err
		}
	}
	return r.Evidence(), nil
}

// checkTables checks that the topics' tables exist, have the requested shape, and are written to
// the WAL.
func (c *cluster) checkTables(ctx context.Context, r *driver.Reading, topics []system.Topic) error {
	for _, t := range topics {
		if _, err := c.open(ctx, t); err != nil {
			return err
		}
		rows, err := c.ask(ctx, "SELECT relpersistence FROM pg_class WHERE oid = to_regclass($1)",
			quoted(t.Name))
		if err != nil || len(rows) == 0 {
			return fmt.Errorf("read how the table %s is kept: %w", t.Name, err)
		}
		if kept := rows[0][0]; kept != "p" {
			return r.Contradicts("a permanent table (relpersistence p)", "%s has "+
				"relpersistence %s, so that a crash empties it", t.Name, kept)
		}
	}
	r.Add("topics", "relpersistence", fmt.Sprintf("p (permanent), %d of %d", len(topics),
		len(topics)), "pg_class")
	return nil
}

// checkSession checks what the clients' commits wait for.
func (c *cluster) checkSession(ctx context.Context, r *driver.Reading) error {
	rows, err := c.ask(ctx, "SELECT current_setting('synchronous_commit')")
	if err != nil {
		return fmt.Errorf("read synchronous_commit: %w", err)
	}
	has, want := rows[0][0], synchronousCommit(c.level)
	r.Add("producers", "synchronous_commit", has, "SHOW in a session like the producers'")
	if has != want {
		return r.Contradicts("synchronous_commit "+want, "a session has %s", has)
	}
	return nil
}

// checkStandbys checks how many standbys follow, and how many of them a commit waits for.
func (c *cluster) checkStandbys(ctx context.Context, r *driver.Reading) error {
	rows, err := c.askOnce(ctx, c.primary, "SELECT current_setting('synchronous_standby_names'), "+
		"NULL, NULL UNION ALL SELECT application_name, state, sync_state FROM pg_stat_replication")
	if err != nil {
		return fmt.Errorf("read the standbys, which needs pg_monitor: %w", c.explain(err))
	}
	names := rows[0][0]
	r.Add(c.primary, "synchronous_standby_names", cmp.Or(names, "(empty)"), "SHOW")
	streaming, synchronous := 0, 0
	for _, row := range rows[1:] {
		f := follower{row[0], row[1], row[2]}
		if f.state == "" {
			return fmt.Errorf("%s hides its standbys: grant the user pg_monitor, or name an "+
				"administrator in the target's credentials", c.primary)
		}
		if f.state != "streaming" {
			continue
		}
		streaming++
		if f.sync == "quorum" || f.sync == "sync" {
			synchronous++
		}
		r.Add(c.primary, "standby "+f.name, f.state+", sync_state "+f.sync, "pg_stat_replication")
	}
	r.Copies(streaming + 1)
	copies := copiesOf(c.Settings, c.level)
	found := c.primary + " has " + quantity.Plural(streaming, "standby", "standbys") + " streaming"
	if err := copies.Enough(streaming+1, found); err != nil {
		return err
	}
	if want := int(c.Count(setReplication)); copies.Fixed() && streaming+1 != want {
		asked := fmt.Sprintf("%d copies (%s), so for %d standbys", want, setReplication, want-1)
		return r.Contradicts(asked, "%s has %d standbys streaming", c.primary, streaming)
	}
	if !c.level.Majority() {
		return nil
	}
	want := standbysAwaited(c.Settings)
	asked := fmt.Sprintf("commits that wait for %d standbys or more", want)
	if n := awaited(names); n < want {
		return r.Contradicts(asked, "%s waits for %d (synchronous_standby_names '%s')", c.primary,
			n, names)
	}
	if synchronous < want {
		return r.Contradicts(asked, "%s counts %d of its standbys as synchronous "+
			"(synchronous_standby_names '%s')", c.primary, synchronous, names)
	}
	return nil
}

// checkServers checks that the servers sync, if the level requires it.
func (c *cluster) checkServers(ctx context.Context, r *driver.Reading) error {
	servers, errs := c.askAll(ctx)
	standbys := 0
	for i, s := range servers {
		if errs[i] != nil {
			return fmt.Errorf("ask %s: %w", c.options.Endpoints[i], c.explain(errs[i]))
		}
		role := "primary"
		if s.standby {
			role, standbys = "standby", standbys+1
		}
		r.Add(s.address, role+"'s fsync", s.fsync, "SHOW")
		r.Add(s.address, role+"'s full_page_writes", s.pageWrite, "SHOW")
		if !r.Level.Synced() || s.standby && !r.Level.Majority() {
			continue
		}
		if s.fsync != "on" {
			return r.Contradicts("fsync on on the "+role, "%s has fsync %s", s.address, s.fsync)
		}
		if s.pageWrite != "on" {
			return r.Contradicts("full_page_writes on on the "+role, "%s has full_page_writes %s",
				s.address, s.pageWrite)
		}
	}
	if want := int(c.Count(setReplication)) - 1; c.level == workload.SyncSync && standbys < want {
		return r.Contradicts("standbys that sync", "only %d of %d standbys are among the "+
			"endpoints, so that their fsync cannot be read: name them all", standbys, want)
	}
	return nil
}

// ServerVersions returns a line for each server.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	servers, errs := c.askAll(ctx)
	var lines []string
	for _, s := range servers {
		role := "primary"
		if s.standby {
			role = "standby"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", role, s.address, s.version))
	}
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, fmt.Errorf("ask %s: %w", c.options.Endpoints[i], c.explain(errs[i]))
	}
	return lines, nil
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type postgresSystem struct{}

// New returns the PostgreSQL system.
func New() driver.CompleteSystem { return postgresSystem{} }

// Describe returns PostgreSQL's terms, durability levels and settings.
func (postgresSystem) Describe() system.Description {
	return system.Description{
		Name: "postgres",
		Summary: "PostgreSQL: a table as a queue (SKIP LOCKED) or as a log, on one primary with " +
			"streaming replication",
		Client: "pgx " + driver.LibraryVersion("github.com/jackc/pgx/v5"),
		Terms: driver.Terms{
			Topic:     "table, and a second one for its readers",
			Partition: "column part; all partitions are in the table, on the primary",
			Key:       "column key",
			Subscription: "queue: a copy of each row for it; log: a row of positions for each " +
				"partition, from the start of the log",
			Consumer: "connection; queue: it takes rows of all partitions; log: one partition " +
				"after the other, each under an advisory lock",
			Acknowledgement: "the answer to the commit of an INSERT of many rows",
			Backlog:         "queue: rows of the table; log: rows behind the position",
		}.List(),
		Levels:   levels(),
		Delivery: []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings: slices.Concat(clientSettings, serverSettings),
		Clients:  aims,
		Waits:    settingWaits,
		Periods: []system.Period{{What: "autovacuum", Setting: setNaptime},
			{What: "PostgreSQL's checkpoints", Every: 5 * time.Minute}},
		Copies:     []string{setReplication},
		Redelivery: redelivery,
		// The consumers of a queue share each partition.
		OwnsPartitions: func(s system.Settings) bool { return s.Text(setShape) == shapeLog },
		RefuseExisting: refuseExisting,
		Capabilities:   capabilities,
		Variant:        func(o system.Options) string { return o.Settings.Text(setShape) },
	}
}

// redelivery says when a message comes again although no consumer fails.
func redelivery(s system.Settings, d workload.Delivery) system.Redelivery {
	why := "rows are locked by their consumer's transaction, which no time-out ends"
	switch {
	case s.Text(setShape) == shapeLog:
		why = "a partition is locked by its consumer's connection, which no time-out ends"
	case d == workload.AtMostOnce:
		why = "rows are deleted before they are handled"
	}
	return system.Redelivery{Never: true, Why: why}
}

const askWithin = 5 * time.Second

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is the connection to the primary. Its methods may be called from any goroutine.
type cluster struct {
	system.Settings
	options  system.Options
	level    workload.Level
	primary  string // the primary's address
	standbys []string
	clients  driver.Clients

	mu         sync.Mutex // guards admin
	admin      *link      // for requests that are not measured
	gaugesBusy sync.Mutex // guards gauges
	gauges     *link
}

// Connect finds the primary among the endpoints. It returns within ten seconds.
func (postgresSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if err := driver.CheckOptions(o, problems, "postgres-1:5432"); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	c := &cluster{Settings: o.Settings, options: o, level: o.Durability}
	servers, errs := c.askAll(ctx)
	if err := c.choosePrimary(servers, errs); err != nil {
		return nil, c.explain(err)
	}
	c.admin, c.gauges = c.link(nil), c.link(nil)
	return c, nil
}

// server describes a server by its own answers.
type server struct {
	address   string
	standby   bool
	follows   string // host and port of a standby's primary
	identity  string // of the data: equal on a primary and its standbys
	version   string
	fsync     string
	pageWrite string // full_page_writes
}

// askServer asks one server what it is.
const askServer = `SELECT pg_is_in_recovery()::text,
 coalesce((SELECT sender_host || ':' || sender_port FROM pg_stat_wal_receiver), ''),
 (SELECT system_identifier::text FROM pg_control_system()),
 current_setting('server_version'), current_setting('fsync'), current_setting('full_page_writes')`

// askAll queries all endpoints at once.
func (c *cluster) askAll(ctx context.Context) ([]server, []error) {
	all := c.options.Endpoints
	return driver.AskAll(len(all), func(i int) (server, error) {
		rows, err := c.askOnce(ctx, all[i], askServer)
		if err != nil {
			return server{}, err
		}
		r := rows[0]
		return server{address: all[i], standby: r[0] == "true", follows: r[1],
			identity: r[2], version: r[3], fsync: r[4], pageWrite: r[5]}, nil
	})
}

// askOnce queries a server over a separate connection, as the administrator if the target names
// one.
func (c *cluster) askOnce(ctx context.Context, address, query string) ([][]string, error) {
	as := c.link(nil)
	as.address = address
	who := c.options.Credentials.Admin()
	as.user, as.password = who.User, who.Password
	defer as.drop()
	return as.ask(ctx, query)
}

// choosePrimary keeps the only primary and its standbys, from the answers and errors of all
// servers.
func (c *cluster) choosePrimary(found []server, errs []error) error {
	var failed error
	identity := ""
	for i, s := range found {
		switch {
		case errs[i] != nil:
			failed = errors.Join(failed, errs[i])
		case s.standby:
		case c.primary != "":
			return fmt.Errorf("%s and %s are both primaries: name one of them, and its standbys",
				c.primary, s.address)
		default:
			c.primary, identity = s.address, s.identity
		}
	}
	for i, s := range found {
		switch {
		case errs[i] != nil || !s.standby:
		case c.primary != "" && s.identity == identity:
			c.standbys = append(c.standbys, s.address)
		case c.primary == "" && s.follows != "":
			return fmt.Errorf("%s is a read-only standby of %s: name the primary among the "+
				"endpoints", s.address, s.follows)
		case c.primary == "":
			return fmt.Errorf("%s is a read-only standby: name the primary among the endpoints",
				s.address)
		default:
			return fmt.Errorf("%s is a standby of another primary than %s: remove it from the "+
				"endpoints", s.address, c.primary)
		}
	}
	if c.primary == "" {
		return errs[slices.IndexFunc(errs, func(err error) bool { return err != nil })]
	}
	return nil
}

// ask queries the primary, for requests that are not measured.
func (c *cluster) ask(ctx context.Context, query string, args ...string) ([][]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	rows, err := c.admin.ask(ctx, query, args...)
	if err != nil {
		return nil, c.explain(err)
	}
	return rows, nil
}

// Leader returns the primary, if it still is the primary and has the topic.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	rows, err := c.ask(ctx, "SELECT pg_is_in_recovery()::text")
	if err != nil {
		return "", err
	}
	if rows[0][0] != "false" {
		return "", fmt.Errorf("%s is no longer the primary", c.primary)
	}
	have, err := c.tableOf(ctx, t.Name)
	if err == nil && partition >= have.partitions {
		err = fmt.Errorf("topic %s has %d partitions", t.Name, have.partitions)
	}
	if err != nil {
		return "", err
	}
	return c.primary, nil
}

// Close closes every producer and consumer that is open, and the connections.
func (c *cluster) Close(ctx context.Context) error {
	return c.clients.Close(ctx, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.gaugesBusy.Lock()
		defer c.gaugesBusy.Unlock()
		c.admin.drop()
		c.gauges.drop()
		return nil
	})
}

// refuseExisting refuses existing topics: readers take messages out of a queue, and a log is two
// tables.
func refuseExisting(s system.Settings) string {
	if s.Text(setShape) != shapeLog {
		return system.Destructive
	}
	return system.OwnForm
}

package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// errNotConnected is wrapped by errors of requests that were not sent.
var errNotConnected = errors.New("no connection")

// link is a connection that is opened on demand and reopened after it broke. One goroutine uses
// it. It repeats no request.
type link struct {
	of             *cluster
	address        string // empty: the primary's
	user, password string
	parameters     map[string]string // of the session
	statements     map[string]string // prepared when the connection is opened, by name
	channel        string            // to LISTEN to; empty: none

	conn    *pgconn.PgConn
	socket  atomic.Pointer[net.Conn] // of the last connection
	woken   bool                     // a notification has come
	warning error                    // of a commit that no standby may have
}

// link returns a link to the primary with prepared statements.
func (c *cluster) link(statements map[string]string) *link {
	return &link{of: c, user: c.options.Credentials.User, password: c.options.Credentials.Password,
		parameters: map[string]string{"synchronous_commit": synchronousCommit(c.level)},
		statements: statements}
}

// open connects and prepares the statements, unless it is connected.
func (l *link) open(ctx context.Context) error {
	if l.conn != nil && !l.conn.IsClosed() {
		return nil
	}
	config, err := l.config()
	if err != nil {
		return err
	}
	if l.conn, err = pgconn.ConnectConfig(ctx, config); err != nil {
		l.conn = nil
		return fmt.Errorf("%w: %w", errNotConnected, plain(err))
	}
	for _, name := range slices.Sorted(maps.Keys(l.statements)) {
		if _, err := l.conn.Prepare(ctx, name, l.statements[name], nil); err != nil {
			l.drop()
			return fmt.Errorf("%w: %w", errNotConnected, err)
		}
	}
	if l.channel == "" {
		return nil
	}
	if _, err := l.conn.Exec(ctx, "LISTEN "+quoted(l.channel)).ReadAll(); err != nil {
		l.drop()
		return fmt.Errorf("%w: %w", errNotConnected, err)
	}
	l.woken = true // messages before LISTEN were not announced
	return nil
}

// ready opens the link within request_timeout, unless it is open.
func (l *link) ready(ctx context.Context) error {
	if l.conn != nil && !l.conn.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.of.Duration(setRequest))
	defer cancel()
	return l.open(ctx)
}

// begin begins a pipeline whose answers have to come within request_timeout; sever ends it early.
// The socket's deadline bounds it, because the library watches a context with a goroutine, which
// costs each message two switches of threads.
func (l *link) begin() *pgconn.Pipeline {
	// An error means that the socket is closed, which the pipeline finds out.
	_ = l.conn.Conn().SetDeadline(time.Now().Add(l.of.Duration(setRequest)))
	return l.conn.StartPipeline(context.Background())
}

// awaitNotification waits for a notification until ctx ends.
func (l *link) awaitNotification(ctx context.Context) error {
	_ = l.conn.Conn().SetDeadline(time.Time{}) // as in begin
	return l.conn.WaitForNotification(ctx)
}

// keepalive makes a server end the session of an isolated client within half a minute. Until then
// the session's transaction keeps its rows locked.
var keepalive = map[string]string{"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5",
	"tcp_keepalives_count": "3", "tcp_user_timeout": "25000"}

// config returns the connection's configuration. It ignores the environment of this process.
func (l *link) config() (*pgconn.Config, error) {
	config, err := pgconn.ParseConfig("host=localhost user=nobody sslmode=disable")
	if err != nil {
		return nil, fmt.Errorf("make a connection's configuration: %w", plain(err))
	}
	host, port, err := net.SplitHostPort(cmp.Or(l.address, l.of.primary))
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("port %q is not a number: correct the endpoint", port)
	}
	config.Host, config.Port = host, uint16(number)
	config.Database, config.Fallbacks = l.of.Text(setDatabase), nil
	config.User, config.Password = cmp.Or(l.user, "postgres"), l.password
	config.RuntimeParams = map[string]string{"application_name": "plimsoll"}
	maps.Copy(config.RuntimeParams, keepalive)
	maps.Copy(config.RuntimeParams, l.parameters)
	if encrypted := l.of.options.TLS; encrypted != nil {
		config.TLSConfig = encrypted.Clone()
		config.TLSConfig.ServerName = cmp.Or(encrypted.ServerName, host)
	}
	config.ConnectTimeout = askWithin
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := driver.Dial(ctx, network, address, nil) // the protocol starts TLS itself
		if err == nil {
			l.socket.Store(&conn)
		}
		return conn, err
	}
	config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) { l.woken = true }
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.Routine == "SyncRepWaitForLSN" {
			l.warning = fmt.Errorf("the primary has committed, and did not wait for a standby: %s",
				n.Message)
		}
	}
	return config, nil
}

// plain returns the cause of an error, without the library's text that names user and database.
func plain(err error) error {
	var failed *pgconn.ConnectError
	if errors.As(err, &failed) {
		return failed.Unwrap()
	}
	return err
}

// drop ends the connection at once. The server rolls back what is not committed.
func (l *link) drop() {
	if l.conn == nil {
		return
	}
	over, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_ = l.conn.Close(over) // it closes even with an error
	l.conn = nil
}

// dropBroken drops a connection that broke since its last request, which need not have failed.
func (l *link) dropBroken(ctx context.Context) {
	if l.conn != nil && l.conn.Ping(ctx) != nil {
		l.drop()
	}
}

// sever ends the connection. Unlike drop, any goroutine may call it.
func (l *link) sever() {
	if conn := l.socket.Load(); conn != nil {
		_ = (*conn).Close() // it may be closed already
	}
}

// ask sends a query and returns the rows as text. NULL becomes "".
func (l *link) ask(ctx context.Context, query string, args ...string) ([][]string, error) {
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	var values [][]byte
	for _, a := range args {
		values = append(values, []byte(a))
	}
	got := l.conn.ExecParams(ctx, query, values, nil, nil, nil).Read()
	if got.Err != nil {
		return nil, got.Err
	}
	var rows [][]string
	for _, r := range got.Rows {
		row := make([]string, len(r))
		for i, value := range r {
			row[i] = string(value)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// execute executes statements without parameters in one transaction.
func (l *link) execute(ctx context.Context, statements string) error {
	if err := l.open(ctx); err != nil {
		return err
	}
	_, err := l.conn.Exec(ctx, statements).ReadAll()
	return err
}

// quoted quotes an identifier for a statement.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// literal quotes a text for a statement.
func literal(text string) string { return `'` + strings.ReplaceAll(text, `'`, `''`) + `'` }

// synchronousCommit returns the value of synchronous_commit for a level.
func synchronousCommit(l workload.Level) string {
	return map[workload.Level]string{
		workload.SyncSync: "on", workload.SyncAsync: "remote_write",
		workload.AsyncSync: "local", workload.AsyncAsync: "off",
	}[l]
}

// States (SQLSTATE) of the servers' errors.
const (
	stateNoDatabase   = "3D000"
	statePassword     = "28P01"
	stateNotAllowed   = "28000"
	stateNoRight      = "42501"
	stateReadOnly     = "25006"
	stateExists       = "42P07"
	stateNoTable      = "42P01"
	stateTooMany      = "53300"
	stateDiskFull     = "53100"
	stateStarting     = "57P03"
	classIntervention = "57P"
)

// state returns the SQLSTATE of a server's error, or "" for other errors.
func state(err error) string {
	var told *pgconn.PgError
	if errors.As(err, &told) {
		return told.Code
	}
	return ""
}

// ended reports whether the server ended the connection with this error.
func ended(err error) bool {
	var told *pgconn.PgError
	return errors.As(err, &told) && told.SeverityUnlocalized != "ERROR"
}

// explain returns an error that says in one sentence why no server can be reached.
func (c *cluster) explain(err error) error {
	peer := driver.Peer{Endpoints: c.options.Endpoints, Protocol: "PostgreSQL",
		Encrypted: c.options.TLS != nil}
	if told := c.explainState(peer, err); told != nil {
		return told
	}
	if strings.Contains(err.Error(), "server refused TLS connection") {
		return fmt.Errorf("%s does not speak TLS: remove tls from the target or correct the "+
			"port: %w", peer.At(), err)
	}
	if told := peer.Explain(err); told != nil {
		return told
	}
	switch text := err.Error(); {
	case driver.Broken(err), strings.Contains(text, "unknown message type"),
		strings.Contains(text, "received unexpected message"),
		strings.Contains(text, "message body"), strings.Contains(text, "invalid"):
		return peer.HungUp(err)
	}
	return err
}

// explainState explains a server's error, or returns nil if it needs no explanation.
func (c *cluster) explainState(peer driver.Peer, err error) error {
	says := func(what string) error { return fmt.Errorf("%s %s: %w", peer.At(), what, err) }
	switch state(err) {
	case stateNotAllowed:
		if strings.Contains(err.Error(), "no encryption") {
			return says("asks for TLS (pg_hba.conf): give the target tls, or add a line to " +
				"pg_hba.conf")
		}
		return peer.RefusesLogin(err, " and pg_hba.conf")
	case statePassword:
		return peer.RefusesLogin(err, "")
	case stateNoDatabase:
		return says("has no database " + c.Text(setDatabase) + ": create it, or correct the " +
			"setting " + setDatabase)
	case stateNoRight:
		return says("gives the user too few rights: grant the missing one (CREATE on the " +
			"schema public, pg_monitor), or name another user")
	case stateNoTable:
		return says("has no table of the topic: it was deleted")
	case stateReadOnly:
		return says("is read-only, as a standby is: name the primary among the endpoints")
	case stateTooMany:
		return says("has too many connections: raise max_connections, or use fewer producers " +
			"and consumers")
	case stateDiskFull:
		return says("has no room on its disk: free some, or offer less")
	case stateStarting:
		return says("is starting, stopping or recovering: try again when it is up")
	}
	return nil
}

// unsent reports whether an error came before anything was sent.
func unsent(err error) bool {
	return errors.Is(err, errNotConnected) || pgconn.SafeToRetry(err)
}

// passing reports whether an error may pass: the primary is down or starting.
func passing(err error) bool {
	code := state(err)
	return code == "" || strings.HasPrefix(code, classIntervention) || code == stateTooMany ||
		strings.HasPrefix(code, "40") || strings.HasPrefix(code, "08")
}

// outcome classifies the error of an INSERT. An error of the statement is a refusal. Without an
// answer, or if the server ended the connection while the commit waited, the rows may exist.
func (c *cluster) outcome(err error) error {
	switch {
	case err == nil:
		return nil
	case unsent(err), state(err) != "" && !ended(err):
		return c.explain(err)
	}
	return fmt.Errorf("%w: %w", err, system.ErrUnknown)
}

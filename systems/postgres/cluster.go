package postgres

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

// Names of the servers' settings, in PostgreSQL's own words where it has them.
const (
	setSecurity    = "security"
	setConnections = "max_connections"
	setBuffers     = "shared_buffers"
	setNaptime     = "autovacuum_naptime"
)

// serverSettings are the settings of the servers that plimsoll starts.
var serverSettings = driver.ServerSettings(system.MustSettings(driver.DeclarePrograms + `
security text password password|tls|none
    how clients and servers authenticate: a user and password (scram-sha-256), these over
    TLS, or nothing
max_connections count 300 100..10k
    most connections; each producer and each consumer has one (PostgreSQL's default is 100)
shared_buffers bytes 128MB 16MB..
    the memory in which a server keeps pages of tables
autovacuum_naptime duration 1m 1s..1h
    how often the server looks for tables whose dead rows VACUUM should remove
`))

const (
	clientPort = 5432
	configFile = "postgresql.conf"
	hbaFile    = "pg_hba.conf"
	passFile   = "pgpass"
	firstPass  = "password" // for initdb, removed afterwards
	dataFolder = "data"
	benchUser  = "plimsoll"
	superuser  = "postgres" // without passwords; also the package's user of the operating system
)

// servers describes how PostgreSQL's servers start, fail and stop.
var servers = driver.Servers{
	StartWithin: 3 * time.Minute, StopGrace: 15 * time.Second,
	AskEvery: 20 * time.Millisecond, AskWithin: 2 * time.Second,
	LastComplaint: driver.LastLineWith("FATAL:", "PANIC:", "error:"),
	AddressTaken:  []string{"could not create any TCP/IP sockets"},
}

// NodeNames returns the names of the servers: the first is the primary.
func (postgresSystem) NodeNames(p system.Provision) []string {
	return driver.Numbered("n", p.Nodes)
}

// Provision starts a primary and its standbys as processes of this machine. It returns when
// all standbys are streaming. The primary never changes: plimsoll promotes no standby.
func (postgresSystem) Provision(ctx context.Context, p system.Provision) (
	system.Provisioned, error,
) {
	folder, err := programs.Find(p.Settings)
	if err != nil {
		return nil, err
	}
	s := starter{Provision: p, programs: folder}
	if os.Geteuid() == 0 {
		if s.user, s.group, err = serverUser(); err != nil {
			return nil, err
		}
	}
	return servers.Provision(ctx, p, driver.BuildAt(p.Nodes, s.buildAt, clientPort))
}

// programs are looked for by version, the newest first. The types that the log uses came with
// version 13.
var programs = driver.Programs{
	Names: []string{"postgres", "initdb"}, Folders: programFolders(),
	Missing: system.Missing{Software: "a PostgreSQL server of version 13 or later",
		Packages: []string{"postgresql"}},
}

func programFolders() []string {
	var all []string
	for version := 18; version >= 13; version-- {
		for _, format := range []string{"/usr/lib/postgresql/%d/bin", "/usr/pgsql-%d/bin",
			"/opt/homebrew/opt/postgresql@%d/bin", "/usr/local/opt/postgresql@%d/bin"} {
			all = append(all, fmt.Sprintf(format, version))
		}
	}
	return append(all, "/usr/bin", "/usr/local/bin")
}

// FindSoftware looks for the servers' programs.
func (postgresSystem) FindSoftware(s system.Settings) error {
	_, err := programs.Find(s)
	return err
}

// serverUser returns the user for the servers when plimsoll runs as root, because they refuse to
// run as root.
func serverUser() (id, group int, err error) {
	u, err := user.Lookup(superuser)
	if err == nil {
		id, err = strconv.Atoi(u.Uid)
	}
	if err == nil {
		group, err = strconv.Atoi(u.Gid)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("PostgreSQL refuses to run as root: run plimsoll as another user, "+
			"or make the user %s, which its packages have: %w", superuser, err)
	}
	return id, group, nil
}

// starter starts one cluster.
type starter struct {
	system.Provision
	programs    string // the programs' folder
	user, group int    // of the operating system; 0: this process's
}

func (s starter) buildAt(ctx context.Context, c *driver.Cluster, addresses [][]string) error {
	c.RunAs(s.user, s.group)
	if err := c.Secure(s.Settings.Text(setSecurity), benchUser); err != nil {
		return err
	}
	for i, name := range (postgresSystem{}).NodeNames(s.Provision) {
		if err := s.prepare(ctx, c, c.Add(name, addresses[i][0])); err != nil {
			return err
		}
	}
	err := c.Launch(c.Members(), func(n *driver.Node) process.Spec {
		return s.run("postgres", "-D", n.Path(dataFolder), "-c",
			"config_file="+n.Path(configFile))
	})
	if err != nil {
		return err
	}
	of := &cluster{Settings: s.Settings, primary: c.Members()[0].Address, level: s.Durability,
		options: system.Options{Credentials: c.Credentials(), TLS: c.TLS()}}
	asking := of.link(nil)
	defer asking.drop()
	return c.AwaitEach(ctx, c.Members()[:1], func(ctx context.Context, _ *driver.Node) error {
		return awaitStandbys(ctx, asking, s.Nodes-1)
	})
}

// run returns the process that runs one of the programs.
func (s starter) run(program string, args ...string) process.Spec {
	return process.Spec{Path: filepath.Join(s.programs, program), Args: args,
		Env:  []string{"LC_ALL=C", "PATH=/usr/bin:/bin"},
		Quit: syscall.SIGINT, // a fast shutdown: SIGTERM waits until all clients have disconnected
	}
}

// prepare creates a node's folder. The standbys begin as copies of the untouched cluster that
// initdb made, so all servers can start at once.
func (s starter) prepare(ctx context.Context, c *driver.Cluster, n *driver.Node) error {
	secrets, primary := c.Credentials(), c.Members()[0]
	files := map[string]string{configFile: s.config(c, n), hbaFile: s.access()}
	if n != primary {
		files[passFile] = strings.Join([]string{primary.Host, primary.Port, "*", secrets.User,
			secrets.Password}, ":") + "\n"
		if err := c.Furnish(n, files); err != nil {
			return err
		}
		copying := s.run("cp", "-a", primary.Path(dataFolder), n.Path(dataFolder))
		copying.Path = "/bin/cp"
		if err := c.Run(ctx, n, "copy the primary's folder", copying); err != nil {
			return err
		}
		signal := map[string]string{filepath.Join(dataFolder, "standby.signal"): ""}
		if err := c.Furnish(n, signal); err != nil {
			return err
		}
		return c.Run(ctx, n, "write the copy to disk",
			s.run("initdb", "--sync-only", "-D", n.Path(dataFolder)))
	}
	args := []string{"-D", n.Path(dataFolder), "-E", "UTF8", "--locale=C", "-U", superuser,
		"--auth=trust"}
	if secrets.User != "" {
		files[firstPass] = secrets.Password
		args = []string{"-D", n.Path(dataFolder), "-E", "UTF8", "--locale=C", "-U", secrets.User,
			"--auth=scram-sha-256", "--pwfile=" + n.Path(firstPass)}
	}
	if err := c.Furnish(n, files); err != nil {
		return err
	}
	if err := c.Run(ctx, n, "initdb", s.run("initdb", args...)); err != nil {
		return err
	}
	if secrets.User != "" {
		return os.Remove(n.Path(firstPass))
	}
	return nil
}

// access returns pg_hba.conf: which users may connect, and how they authenticate.
func (s starter) access() string {
	kind, method := "host", "scram-sha-256"
	switch s.Settings.Text(setSecurity) {
	case driver.SecurityTLS:
		kind = "hostssl"
	case driver.SecurityNone:
		method = "trust"
	}
	return fmt.Sprintf("%[1]s all all 127.0.0.0/8 %[2]s\n%[1]s replication all 127.0.0.0/8 "+
		"%[2]s\n", kind, method)
}

// config returns the configuration file of a server. It holds no secret.
func (s starter) config(c *driver.Cluster, n *driver.Node) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		value := strings.ReplaceAll(fmt.Sprintf(format, args...), "'", "''")
		fmt.Fprintf(&b, "%s = '%s'\n", name, value)
	}
	line("listen_addresses", "%s", n.Host)
	line("port", "%s", n.Port)
	line("unix_socket_directories", "")
	line("hba_file", "%s", n.Path(hbaFile))
	line("cluster_name", "%s", n.Name)
	line("max_connections", "%d", s.Settings.Count(setConnections))
	line("shared_buffers", "%dkB", s.Settings.Bytes(setBuffers)>>10)
	line("autovacuum_naptime", "%ds", s.Settings.Duration(setNaptime)/time.Second)
	line("wal_level", "replica")
	// A standby refuses lower values than initdb has given the primary.
	line("max_wal_senders", "%d", 10+s.Nodes)
	// A standby that returns finds the WAL that it missed.
	line("wal_keep_size", "512MB")
	// A standby that starts before its primary retries soon.
	line("wal_retrieve_retry_interval", "100ms")
	line("synchronous_standby_names", "%s", s.synchronous())
	if c.TLS() != nil {
		line("ssl", "on")
		line("ssl_cert_file", "%s", n.Path(driver.CertificateFile))
		line("ssl_key_file", "%s", n.Path(driver.KeyFile))
	}
	if primary := c.Members()[0]; primary != n {
		line("primary_conninfo", "%s", s.follow(c, primary, n))
	}
	return b.String()
}

// synchronous returns the value of synchronous_standby_names: as many standbys as form a majority
// with the primary. For levels that wait for no standby, the sessions override it.
func (s starter) synchronous() string {
	names := (postgresSystem{}).NodeNames(s.Provision)[1:]
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("ANY %d (%s)", standbysAwaited(s.Settings), strings.Join(names, ", "))
}

// follow returns a standby's connection string for its primary. The password is in a file.
func (s starter) follow(c *driver.Cluster, primary, n *driver.Node) string {
	user, encryption := superuser, "sslmode=disable"
	if c.Credentials().User != "" {
		user = c.Credentials().User
	}
	if c.TLS() != nil {
		encryption = "sslmode=verify-full sslrootcert='" + n.Path(driver.CAFile) + "'"
	}
	return fmt.Sprintf("host=%s port=%s user=%s passfile='%s' application_name=%s %s",
		primary.Host, primary.Port, user, n.Path(passFile), n.Name, encryption)
}

// awaitStandbys returns nil when all standbys of a primary are streaming.
func awaitStandbys(ctx context.Context, l *link, want int) error {
	rows, err := l.ask(ctx, "SELECT count(*)::text FROM pg_stat_replication "+
		"WHERE state = 'streaming' AND sync_state = 'quorum'")
	if err != nil {
		return err
	}
	if rows[0][0] != strconv.Itoa(want) {
		return fmt.Errorf("%s of %d standbys are streaming", rows[0][0], want)
	}
	return nil
}

package nats

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/plimsoll-bench/plimsoll/system"
)

// clusterConfig is the shared configuration of one cluster's nodes.
type clusterConfig struct {
	provision   system.Provision
	maxFile     int64 // most bytes of disk that each node fills
	name        string
	secret      string   // of the routes
	routes      []string // addresses, by node
	first       int      // so many start together; the others join them
	credentials system.Credentials
}

func newClusterConfig(p system.Provision, maxFile int64, routes []string, later int,
	secret func() string) clusterConfig {
	return clusterConfig{
		provision: p, maxFile: maxFile,
		name: "plimsoll-" + secret()[:8], secret: secret(), routes: routes,
		first: len(routes) - later,
		credentials: system.Credentials{
			User: "bench", Password: secret(),
			AdminUser: "admin", AdminPassword: secret(),
		},
	}
}

func (c clusterConfig) routeURLs() string {
	var urls []string
	for _, address := range c.routes[:c.first] {
		urls = append(urls, fmt.Sprintf("nats-route://route:%s@%s", c.secret, address))
	}
	return strings.Join(urls, ", ")
}

// connections returns the number of routes of a server that is connected to all others that start
// together.
func (c clusterConfig) connections() int { return (c.first - 1) * (routePool + 1) }

// node returns the configuration of the server with an index, in the format of its file. It is
// never written to a file, because it holds the passwords.
func (c clusterConfig) node(name, dir, listen string, index int) string {
	s := c.provision.Settings
	interval, cluster := fmt.Sprintf("%q", s.Duration(setSyncInterval)), ""
	if c.provision.Durability.Synced() {
		interval = syncAlways
	}
	if len(c.routes) > 1 {
		cluster = fmt.Sprintf(`
cluster {
  name: %q
  listen: %q
  authorization { user: route, password: %q, timeout: 5 }
  routes: [%s]
  pool_size: %d
}`, c.name, c.routes[index], c.secret, c.routeURLs(), routePool)
	}
	return fmt.Sprintf(`
server_name: %q
listen: %q
server_tags: [%q]
max_payload: %d
jetstream {
  store_dir: %q
  max_file_store: %d
  max_memory_store: %d
  max_buffered_msgs: %d
  max_buffered_size: %d
  sync_interval: %s
  # By default a server takes 50 open batches of a stream, and each producer may have one.
  limits: { batch: { max_inflight_per_stream: 65536, max_inflight_total: 65536 } }
}%s
accounts {
  %s { jetstream: enabled, users: [{user: %q, password: %q}] }
  %s { users: [{user: %q, password: %q}] }
}
system_account: %s
`, name, listen, name, s.Bytes(setMaxPayload),
		dir, c.maxFile, s.Bytes(setMaxMemoryStore), s.Count(setMaxBufferedMsgs),
		s.Bytes(setMaxBufferedSize), interval, cluster,
		account, c.credentials.User, c.credentials.Password,
		systemAccount, c.credentials.AdminUser, c.credentials.AdminPassword,
		systemAccount)
}

// newServer returns a server with a configuration. It does not start the server.
func newServer(config string) (*server.Server, error) {
	options := &server.Options{NoSigs: true, NoLog: true, DisableJetStreamBanner: true}
	if err := options.ProcessConfigString(config); err != nil {
		// The text holds secrets, and the parser's error may quote it.
		return nil, errors.New(
			"the server does not accept the configuration made from the settings")
	}
	return server.NewServer(options)
}

package nats

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// clusterConfig is what the nodes of one cluster share.
type clusterConfig struct {
	name        string
	secret      string   // of the routes
	routes      []string // addresses, by node
	credentials system.Credentials
}

func newClusterConfig(routes []string) clusterConfig {
	return clusterConfig{
		name: "plimsoll-" + driver.Secret()[:8], secret: driver.Secret(), routes: routes,
		credentials: system.Credentials{
			User: "bench", Password: driver.Secret(),
			AdminUser: "admin", AdminPassword: driver.Secret(),
		},
	}
}

func (c clusterConfig) routeURLs() string {
	var urls []string
	for _, address := range c.routes {
		urls = append(urls, fmt.Sprintf("nats-route://route:%s@%s", c.secret, address))
	}
	return strings.Join(urls, ", ")
}

// connections is how many routes a server of the cluster has when it is
// connected to all others.
func (c clusterConfig) connections() int { return (len(c.routes) - 1) * (routePool + 1) }

// node is the configuration of the server of that index, as its file would
// hold it. It is not written anywhere, because it holds the passwords.
func (c clusterConfig) node(name, dir, listen string, index int, cfg serverConfig,
	always bool) string {
	interval := fmt.Sprintf("%q", cfg.syncInterval)
	if always {
		interval = syncAlways
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
}
cluster {
  name: %q
  listen: %q
  authorization { user: route, password: %q, timeout: 5 }
  routes: [%s]
  pool_size: %d
}
accounts {
  %s { jetstream: enabled, users: [{user: %q, password: %q}] }
  %s { users: [{user: %q, password: %q}] }
}
system_account: %s
`, name, listen, name, cfg.maxPayload,
		dir, cfg.maxFile, cfg.maxMemory, cfg.bufferedMsgs, cfg.bufSize, interval,
		c.name, c.routes[index], c.secret, c.routeURLs(), routePool,
		account, c.credentials.User, c.credentials.Password,
		systemAccount, c.credentials.AdminUser, c.credentials.AdminPassword,
		systemAccount)
}

// newServer makes a server of its configuration; it is not started.
func newServer(config string) (*server.Server, error) {
	options := &server.Options{NoSigs: true, NoLog: true, DisableJetStreamBanner: true}
	if err := options.ProcessConfigString(config); err != nil {
		// The text holds secrets; the parser's complaint may quote it.
		return nil, errors.New(
			"the server does not accept the configuration made from the settings")
	}
	return server.NewServer(options)
}

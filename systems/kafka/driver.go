package kafka

import "github.com/plimsoll-bench/plimsoll/system"

type kafkaSystem struct{}

// declared is every setting: those of the clients, then those of the servers.
func declared() []system.Setting { return serverSettings() }

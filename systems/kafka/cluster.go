package kafka

import "github.com/plimsoll-bench/plimsoll/system"

// serverSettings shape the servers that plimsoll starts.
func serverSettings() []system.Setting { return nil }

// Command plimsoll measures how much a messaging system carries, how fast, how
// much of it arrives, and what its acknowledgement is worth.
package main

import (
	"os"

	"github.com/plimsoll-bench/plimsoll/command"
)

// version is set by the Makefile, from CHANGELOG.md.
var version string

func main() { os.Exit(command.Main(version)) }

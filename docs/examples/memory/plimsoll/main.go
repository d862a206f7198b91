// Command plimsoll is plimsoll with one more system.
package main

import (
	"os"

	_ "github.com/plimsoll-bench/plimsoll/docs/examples/memory"

	"github.com/plimsoll-bench/plimsoll/command"
)

func main() { os.Exit(command.Main("")) }

package driver

import (
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// ErrNoEndpoints is the error of a target without endpoints.
var ErrNoEndpoints = errors.New(
	"no endpoints: name at least one host:port, or let plimsoll start a cluster")

// CheckOptions returns the reasons why the options cannot be used for a connection: problems of
// the settings at the durability level, or endpoints that CheckEndpoints refuses.
func CheckOptions(o system.Options,
	problems func(system.Settings, workload.Level) strict.Violations, example string) error {
	if bad := problems(o.Settings, o.Durability); len(bad) > 0 {
		return bad
	}
	return CheckEndpoints(o.Endpoints, example)
}

// CheckEndpoints refuses endpoints other than host:port, which a client library would
// misread or print. example is a valid endpoint for the error.
func CheckEndpoints(endpoints []string, example string) error {
	if len(endpoints) == 0 {
		return ErrNoEndpoints
	}
	for _, e := range endpoints {
		if strings.Contains(e, "@") {
			return errors.New("an endpoint holds a user or password: give them as credentials, " +
				"so that they stay out of results")
		}
		host, port, err := net.SplitHostPort(e)
		if err != nil || host == "" || port == "" || strings.ContainsAny(host, "/,") {
			return fmt.Errorf("endpoint %q is not host:port, like %s", e, example)
		}
	}
	return nil
}

// LibraryVersion returns the version of a module of this program.
func LibraryVersion(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == module {
				return strings.TrimPrefix(d.Version, "v")
			}
		}
	}
	return "of an unknown version"
}

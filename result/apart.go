package result

import (
	"fmt"
	"strings"
)

// Apart has the CPUs of servers and load.
type Apart struct {
	Servers []int `json:"servers,omitempty"`
	Load    []int `json:"load,omitempty"`
	// Why says why they had no separate CPUs; empty: they had.
	Why string `json:"why_not,omitempty"`
}

// String names the CPUs: servers 0, load 1.
func (a *Apart) String() string {
	if a.Why != "" {
		return "shared by servers and load: " + a.Why
	}
	list := func(cpus []int) string {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(cpus), " ", ", "), "[]")
	}
	return "servers " + list(a.Servers) + "; load " + list(a.Load)
}

// OwnCPUs returns the numbers of separate CPUs of the servers and of the load; 0, 0: they shared
// all.
func (e Environment) OwnCPUs() (servers, load int) {
	if e.Apart == nil || len(e.Apart.Load) == 0 {
		return 0, 0
	}
	return len(e.Apart.Servers), len(e.Apart.Load)
}

package driver

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/process"
)

// Numbered are n names: the prefix with the numbers from 1 on.
func Numbered(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = prefix + strconv.Itoa(i+1)
	}
	return all
}

// Secret is 128 random bits, in letters that need no quoting.
func Secret() string {
	var b [16]byte
	rand.Read(b[:]) // it never fails: it ends the program instead
	return "s" + hex.EncodeToString(b[:])
}

// Hosts finds n loopback addresses, each with all of the ports free, for
// servers that must have an address each and their ports as they are.
func Hosts(n int, ports ...int) ([]string, error) {
	addresses, err := process.Addresses(n, ports...)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for _, a := range addresses {
		host, port, err := net.SplitHostPort(a[0])
		if err != nil || port != strconv.Itoa(ports[0]) {
			return nil, errors.New("each server needs a loopback address of its own, and this " +
				"machine has only one: start the cluster on Linux, or give endpoints")
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// At is an address: a host and a port.
func At(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// FindProgram is the first of the paths at which there is a program; empty:
// there is none.
func FindProgram(paths ...string) string {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

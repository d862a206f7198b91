package driver

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system/process"
)

// Numbered returns n names: the prefix with the numbers 1 to n.
func Numbered(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = prefix + strconv.Itoa(i+1)
	}
	return all
}

// Secret returns 128 random bits as text that needs no quoting.
func Secret() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	return "s" + hex.EncodeToString(b[:])
}

// Hosts finds n loopback addresses on which all the ports are free. It is for servers with fixed
// ports, which need separate addresses.
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

// At returns the address of a host and a port.
func At(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// FindProgram returns the first of the paths with a program, or "".
func FindProgram(paths ...string) string {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

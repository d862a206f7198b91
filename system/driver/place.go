package driver

import (
	"crypto/rand"
	"encoding/hex"
	"net"
	"os"
	"strconv"
)

// Numbered returns n names: the prefix with the numbers 1 to n.
func Numbered(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = prefix + strconv.Itoa(i+1)
	}
	return all
}

// Secret returns 128 random bits as text that needs no quoting, for servers in this process. Others
// have Cluster.Secret.
func Secret() string {
	var b [secretBytes]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	return secretText(b[:])
}

const secretBytes = 16

func secretText(b []byte) string { return "s" + hex.EncodeToString(b) }

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

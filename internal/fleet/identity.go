package fleet

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
)

// kernel names the kernel, and the time namespace, whose monotonic clock this process reads. It
// is empty where the system does not say.
func kernel() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/time")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

func newKey() (*ecdsa.PrivateKey, crypto.PublicKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	return key, key.Public(), nil
}

// pinned is the configuration of a worker that trusts the coordinator of a token only. mine, the
// worker's own certificate, is nil until it has joined.
func (t Token) pinned(mine *tls.Certificate) *tls.Config {
	c := &tls.Config{
		MinVersion: tls.VersionTLS13,
		// VerifyConnection checks the chain. The usual check asks for the name of a host, and a
		// coordinator may be reached by any.
		InsecureSkipVerify: true,
		VerifyConnection:   t.verify,
	}
	if mine != nil {
		c.Certificates = []tls.Certificate{*mine}
	}
	return c
}

var errStranger = errors.New("it is not the coordinator of this join token")

// verify holds that the other end is the coordinator of the token, whose certificates live as long
// as it does. A wrong clock of this machine is measured later, and no reason to refuse.
func (t Token) verify(state tls.ConnectionState) error {
	for _, one := range state.PeerCertificates[min(1, len(state.PeerCertificates)):] {
		digest := sha256.Sum256(one.Raw)
		if subtle.ConstantTimeCompare(digest[:], t.pin[:]) != 1 {
			continue
		}
		roots := x509.NewCertPool()
		roots.AddCert(one)
		leaf := state.PeerCertificates[0]
		_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: leaf.NotBefore,
			KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
		if err == nil {
			return nil
		}
	}
	return errStranger
}

package driver

import (
	"crypto/tls"
	"fmt"
	"os"

	"software.sslmate.com/src/go-pkcs12"
)

// KeyStore writes the key and certificate of a node into a file of its folder, in PKCS #12
// under the password, for Java servers that do not read PEM. Furnish comes before it, in an
// encrypted cluster.
func (n *Node) KeyStore(name, password string) error {
	fail := func(err error) error {
		return fmt.Errorf("making the key store of %s: %w", n.Name, err)
	}
	pair, err := tls.LoadX509KeyPair(n.Path(CertificateFile), n.Path(KeyFile))
	if err != nil {
		return fail(err)
	}
	store, err := pkcs12.Modern.Encode(pair.PrivateKey, pair.Leaf, nil, password)
	if err != nil {
		return fail(err)
	}
	if err := os.WriteFile(n.Path(name), store, 0o600); err != nil {
		return fail(err)
	}
	return nil
}

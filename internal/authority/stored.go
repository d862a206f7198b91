package authority

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// The types of the blocks that hold an authority.
const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
)

// Text returns the authority with its private key, in PEM, as Load reads it. It is a secret.
func (a *Authority) Text() ([]byte, error) {
	pkcs8, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return nil, fmt.Errorf("write the authority's key: %w", err)
	}
	return append(append([]byte(nil), a.pem...),
		pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: pkcs8})...), nil
}

// Load reads an authority that is valid at the given time, and returns the rest of the text. Its
// error shows nothing of the text.
func Load(text []byte, now time.Time) (a *Authority, rest []byte, err error) {
	broken := errors.New("there is no certificate with its private key")
	first, rest := pem.Decode(text)
	if first == nil || first.Type != certificateBlock {
		return nil, nil, broken
	}
	second, rest := pem.Decode(rest)
	if second == nil || second.Type != keyBlock {
		return nil, nil, broken
	}
	certificate, err := x509.ParseCertificate(first.Bytes)
	if err != nil || !certificate.IsCA {
		return nil, nil, broken
	}
	key, err := x509.ParsePKCS8PrivateKey(second.Bytes)
	if err != nil {
		return nil, nil, broken
	}
	private, is := key.(*ecdsa.PrivateKey)
	if !is || !private.PublicKey.Equal(certificate.PublicKey) {
		return nil, nil, errors.New("the private key is not that of the certificate")
	}
	if now.After(certificate.NotAfter) {
		return nil, nil, fmt.Errorf("the certificate expired on %s",
			certificate.NotAfter.Format(time.DateOnly))
	}
	return &Authority{certificate: certificate, key: private,
		pem: pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: first.Bytes})}, rest, nil
}

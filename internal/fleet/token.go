package fleet

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
)

// secretBytes is the length of a token's secret, and of the digest beside it.
const secretBytes = 32

// Token is what a worker needs to join a fleet. Its text is a secret.
type Token struct {
	secret [secretBytes]byte
	pin    [sha256.Size]byte // of the certificate of the fleet's authority
}

func newToken(authority []byte) (t Token) {
	_, _ = rand.Read(t.secret[:]) // it never fails
	t.pin = sha256.Sum256(authority)
	return t
}

// String hides the token: see Text.
func (Token) String() string { return "(token)" }

// GoString hides the token from %#v.
func (Token) GoString() string { return "(token)" }

// Text returns the token as ParseToken reads it.
func (t Token) Text() string {
	return base64.RawURLEncoding.EncodeToString(t.secret[:]) + "." +
		base64.RawURLEncoding.EncodeToString(t.pin[:])
}

// ParseToken reads a token. Its error does not show it.
func ParseToken(text string) (t Token, err error) {
	secret, pin, _ := strings.Cut(strings.TrimSpace(text), ".")
	for _, part := range []struct {
		text string
		into []byte
	}{{secret, t.secret[:]}, {pin, t.pin[:]}} {
		b, err := base64.RawURLEncoding.DecodeString(part.text)
		if err != nil || len(b) != len(part.into) {
			return Token{}, errors.New("the join token is not one of plimsoll's: copy it whole, " +
				"as the coordinator gave it")
		}
		copy(part.into, b)
	}
	return t, nil
}

package fleet

import (
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
)

// Identity makes a coordinator the one that a join token names. It can exist before the
// coordinator, so that workers have their token before the coordinator starts. One identity is for
// one coordinator at a time. Its text is a secret.
type Identity struct {
	authority *authority.Authority
	token     Token
}

// secretBlock is the type of the block that holds the secret of the join token.
const secretBlock = "PLIMSOLL JOIN SECRET"

// NewIdentity returns an identity that nobody else has.
func NewIdentity() (*Identity, error) {
	a, err := authority.New()
	if err != nil {
		return nil, err
	}
	return &Identity{a, newToken(a.DER())}, nil
}

// Token is what workers need to join.
func (i *Identity) Token() Token { return i.token }

// String hides the identity: see Text.
func (*Identity) String() string { return "(identity)" }

// GoString hides the identity from %#v.
func (*Identity) GoString() string { return "(identity)" }

// Text returns the identity as ParseIdentity reads it.
func (i *Identity) Text() (string, error) {
	text, err := i.authority.Text()
	if err != nil {
		return "", err
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: secretBlock, Bytes: i.token.secret[:]})
	return string(text) + string(secret), nil
}

// ParseIdentity reads an identity that is valid at the given time. Its error shows nothing of the
// text.
func ParseIdentity(text []byte, now time.Time) (*Identity, error) {
	a, rest, err := authority.Load(text, now)
	if err != nil {
		return nil, fmt.Errorf("%w: make an identity with plimsoll fleet identity", err)
	}
	block, _ := pem.Decode(rest)
	if block == nil || block.Type != secretBlock || len(block.Bytes) != secretBytes {
		return nil, errors.New("the secret of the join token is missing: make an identity with " +
			"plimsoll fleet identity")
	}
	i := &Identity{a, newToken(a.DER())}
	copy(i.token.secret[:], block.Bytes)
	return i, nil
}

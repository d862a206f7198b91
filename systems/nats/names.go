package nats

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// maxName bounds stream and consumer names: they become directory names.
const maxName = 180

// safeName turns any name into one that JetStream accepts for a stream, a
// consumer or a token of a subject. A name that is acceptable stays as it is;
// another gets a digest, so that two names never become one.
func safeName(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	safe := b.String()
	if safe == name && name != "" && len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return safe[:min(len(safe), maxName)] + "-" + hex.EncodeToString(sum[:6])
}

// mirrorOf names a stream's copy number n, from 1, at levels 3 and 4.
func mirrorOf(stream string, n int) string {
	return stream + "-mirror-" + strconv.Itoa(n)
}

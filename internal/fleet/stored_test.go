package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func identityText(t testing.TB) (*Identity, string) {
	t.Helper()
	i, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	text, err := i.Text()
	if err != nil {
		t.Fatal(err)
	}
	return i, text
}

// An identity that was written and read again has the same join token.
func TestIdentityIsStored(t *testing.T) {
	i, text := identityText(t)
	read, err := ParseIdentity([]byte(text), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if read.Token().Text() != i.Token().Text() {
		t.Error("the join token has changed")
	}
	if other, _ := identityText(t); other.Token().Text() == i.Token().Text() {
		t.Error("two identities have one token")
	}
	for _, shown := range []string{fmt.Sprint(i), fmt.Sprintf("%#v", i), fmt.Sprintf("%+v", i)} {
		if shown != "(identity)" {
			t.Errorf("an identity prints as %s", shown)
		}
	}
}

func TestBrokenIdentitiesAreRefused(t *testing.T) {
	_, text := identityText(t)
	_, other := identityText(t)
	certificate, rest, _ := strings.Cut(text, "-----BEGIN PRIVATE")
	_, otherRest, _ := strings.Cut(other, "-----BEGIN PRIVATE")
	withoutSecret, _, _ := strings.Cut(text, "-----BEGIN PLIMSOLL")
	now := time.Now()
	for _, c := range []struct {
		name, text, want string
		now              time.Time
	}{
		{"empty", "", "no certificate", now},
		{"a certificate alone", certificate, "no certificate with its private key", now},
		{"a key alone", "-----BEGIN PRIVATE" + rest, "no certificate", now},
		{"the key of another", certificate + "-----BEGIN PRIVATE" + otherRest, "not that of", now},
		{"no secret", withoutSecret, "the secret of the join token is missing", now},
		{"expired", text, "expired on", now.Add(2 * 365 * 24 * time.Hour)},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseIdentity([]byte(c.text), c.now)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func FuzzParseIdentity(f *testing.F) {
	_, text := identityText(f)
	f.Add([]byte(text))
	f.Add([]byte(text[:len(text)/2]))
	f.Fuzz(func(t *testing.T, raw []byte) {
		i, err := ParseIdentity(raw, time.Now())
		if err != nil {
			return
		}
		again, err := i.Text()
		if err != nil {
			t.Fatal(err)
		}
		if read, err := ParseIdentity([]byte(again), time.Now()); err != nil ||
			read.Token() != i.Token() {
			t.Fatalf("an identity does not come back: %v", err)
		}
	})
}

package pulsar

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// Roles that a provisioned cluster knows. Both may do everything: the bench's
// makes namespaces, and the brokers' is what they show one another.
const (
	benchRole  = "plimsoll"
	brokerRole = "broker"
)

// newSecret is the key that a cluster's tokens are signed with.
func newSecret() []byte {
	key := make([]byte, 32)
	rand.Read(key) // it never fails: it ends the program instead
	return key
}

// signToken is a JSON Web Token for a role, signed with HMAC-SHA256, which
// never expires: its key is gone with the cluster.
func signToken(secret []byte, role string) string {
	encode := base64.RawURLEncoding.EncodeToString
	claims, _ := json.Marshal(map[string]string{"sub": role}) // strings always can be
	signed := encode([]byte(`{"alg":"HS256"}`)) + "." + encode(claims)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil))
}

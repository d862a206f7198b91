package target

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Credentials says where the secrets are: in environment variables, by name, or in files, by
// path. It never holds the secrets, so it can be stored and printed.
type Credentials struct {
	UserEnv, UserFile                   string
	PasswordEnv, PasswordFile           string
	AdminUserEnv, AdminUserFile         string
	AdminPasswordEnv, AdminPasswordFile string
}

// Secrets are the resolved credentials; the ones that are not asked for are empty. They print
// as a placeholder, so that no log or error shows them by accident.
type Secrets struct {
	User, Password           string
	AdminUser, AdminPassword string
}

const redacted = "(secrets)"

// String hides the secrets.
func (Secrets) String() string { return redacted }

// GoString hides the secrets from %#v.
func (Secrets) GoString() string { return redacted }

// LogValue hides the secrets from structured logs.
func (Secrets) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the secrets from JSON and its like.
func (Secrets) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// reference is the place of one secret, with the key that names it.
type reference struct {
	key       string
	env, path string
}

func (c Credentials) references() []reference {
	return []reference{
		{"user", c.UserEnv, c.UserFile},
		{"password", c.PasswordEnv, c.PasswordFile},
		{"admin_user", c.AdminUserEnv, c.AdminUserFile},
		{"admin_password", c.AdminPasswordEnv, c.AdminPasswordFile},
	}
}

func (c Credentials) check(doc *strict.Document) {
	for _, r := range c.references() {
		env, path := "credentials."+r.key+"_env", "credentials."+r.key+"_file"
		if r.env != "" && r.path != "" {
			doc.Reject(path, "cannot be combined with "+r.key+"_env: keep one")
		}
		// The value may be the secret itself, in the wrong place, so it is not shown.
		if (r.env != "" || doc.Has(env)) && !isVariable(r.env) {
			doc.RejectSecret(env,
				"is not the name of an environment variable: write a name of letters, digits and "+
					"_, not the value")
		}
		if r.path == "" && doc.Has(path) || len(r.path) > maxText || !strict.IsText(r.path) {
			doc.RejectSecret(path,
				"is not a path: write that of a file that holds the value and nothing else")
		}
	}
}

func isVariable(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != "" && len(name) <= maxText
}

// Resolve reads the secrets. It reads variables through lookupEnv, which is os.LookupEnv
// outside tests, and files relative to the working directory, without a line end at the end.
// The error is a strict.Violations that names every reference that cannot be resolved, and
// never a secret.
func (c Credentials) Resolve(lookupEnv func(name string) (value string, set bool)) (Secrets,
	error) {
	var bad strict.Violations
	found := map[string]string{}
	for _, r := range c.references() {
		value, err := r.resolve(lookupEnv)
		if err != nil {
			bad = append(bad, strict.Violation{Message: err.Error()})
		}
		found[r.key] = value
	}
	if len(bad) > 0 {
		return Secrets{}, bad
	}
	return Secrets{
		User: found["user"], Password: found["password"],
		AdminUser: found["admin_user"], AdminPassword: found["admin_password"],
	}, nil
}

func (r reference) resolve(lookupEnv func(string) (string, bool)) (string, error) {
	switch {
	case r.env != "":
		value, set := lookupEnv(r.env)
		if !set {
			return "", fmt.Errorf(
				"credentials.%s_env: the environment variable %s is not set: export it or "+
					"correct the name", r.key, r.env)
		}
		if value == "" {
			return "", fmt.Errorf(
				"credentials.%s_env: the environment variable %s is empty: give it a value or "+
					"remove the key", r.key, r.env)
		}
		return value, nil
	case r.path != "":
		src, err := strict.ReadFile(r.path)
		if err != nil {
			return "", fmt.Errorf("credentials.%s_file: %w", r.key, err)
		}
		value := strings.TrimSuffix(strings.TrimSuffix(string(src), "\n"), "\r")
		if value == "" {
			return "", fmt.Errorf(
				"credentials.%s_file: %s is empty: write the value into it or remove the key",
				r.key, r.path)
		}
		return value, nil
	}
	return "", nil
}

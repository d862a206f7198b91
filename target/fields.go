package target

import (
	"reflect"
	"slices"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// field is a key of a target. Parsing, defaults and printing follow from the table of
// fields.
type field struct {
	path string               // as a file has it: testbed.nodes
	at   func(t *Target) any  // points to the field of the target
	when func(t *Target) bool // reports whether the key is printed; nil: unless it is empty

	fallback string // the value of a file without the key; empty: none
	// refuse says why the key must not be given; empty: it may be.
	refuse string
	block  bool                 // as in strict.Key
	empty  func(t *Target) bool // as in strict.Key; nil: no
}

// fields returns all keys of a target, in the order in which they are printed.
func fields() []field {
	return slices.Concat(clusterFields, credentialFields, tlsFields, processFields)
}

var clusterFields = []field{
	{path: "name", at: func(t *Target) any { return &t.Name }},
	{path: "system", at: func(t *Target) any { return &t.System }},
	{path: "endpoints", at: func(t *Target) any { return &t.Endpoints }},
	{path: "testbed.nodes", block: true, fallback: "3",
		at:   func(t *Target) any { return (*quantity.Whole)(&t.Testbed.Nodes) },
		when: func(t *Target) bool { return len(t.Endpoints) == 0 }},
	{path: "testbed.dir", at: func(t *Target) any { return &t.Testbed.Dir }},
	{path: "settings", at: func(t *Target) any { return &t.Settings }},
}

var credentialFields = []field{
	{path: "credentials.user_env", block: true,
		at: func(t *Target) any { return &t.Credentials.UserEnv }},
	{path: "credentials.user_file", block: true,
		at: func(t *Target) any { return &t.Credentials.UserFile }},
	{path: "credentials.password_env", block: true,
		at: func(t *Target) any { return &t.Credentials.PasswordEnv }},
	{path: "credentials.password_file", block: true,
		at: func(t *Target) any { return &t.Credentials.PasswordFile }},
	{path: "credentials.admin_user_env", block: true,
		at: func(t *Target) any { return &t.Credentials.AdminUserEnv }},
	{path: "credentials.admin_user_file", block: true,
		at: func(t *Target) any { return &t.Credentials.AdminUserFile }},
	{path: "credentials.admin_password_env", block: true,
		at: func(t *Target) any { return &t.Credentials.AdminPasswordEnv }},
	{path: "credentials.admin_password_file", block: true,
		at: func(t *Target) any { return &t.Credentials.AdminPasswordFile }},
	secret("credentials.user", "user_env", "user_file"),
	secret("credentials.password", "password_env", "password_file"),
	secret("credentials.admin_user", "admin_user_env", "admin_user_file"),
	secret("credentials.admin_password", "admin_password_env", "admin_password_file"),
	secret("credentials.token", "password_env", "password_file"),
}

var tlsFields = []field{
	{path: "tls.ca_file", at: func(t *Target) any { return &t.TLS.CAFile },
		empty: func(t *Target) bool { return t.TLS.Enabled }},
	{path: "tls.cert_file", at: func(t *Target) any { return &t.TLS.CertFile }},
	{path: "tls.key_file", at: func(t *Target) any { return &t.TLS.KeyFile }},
	{path: "tls.server_name", at: func(t *Target) any { return &t.TLS.ServerName }},
	{path: "tls.insecure",
		refuse: "is not offered: name the certificate that signed the servers' own in ca_file, " +
			"and the name it holds in server_name"},
	{path: "tls.key", refuse: inPlainSight +
		"write key_file, the path of the file that holds it"},
}

var processFields = []field{
	{path: "processes", at: func(t *Target) any { return &t.Processes }},
	{path: "hooks.start", at: func(t *Target) any { return &t.Hooks.Start }},
	{path: "hooks.end", at: func(t *Target) any { return &t.Hooks.End }},
	{path: "password", refuse: inPlainSight + "write credentials: {password_env: NAME}, " +
		"the name of an environment variable that holds it"},
}

const inPlainSight = "must not be in a file that others may read: "

// secret is a key that would hold a secret. It is refused.
func secret(path, env, file string) field {
	return field{path: path, refuse: inPlainSight + "write " + env +
		", the name of an environment variable that holds it, or " + file}
}

// keys returns the table of fields with the values of a target.
func (t *Target) keys() strict.Keys {
	var out strict.Keys
	for _, f := range fields() {
		key := strict.Key{Path: f.path, Default: f.fallback, Refuse: f.refuse, Block: f.block}
		if f.at != nil {
			key.Into = f.at(t)
			key.Hidden = !f.printed(t)
			key.Empty = f.empty != nil && f.empty(t)
		}
		out = append(out, key)
	}
	return out
}

// printed reports whether the printed target has the key.
func (f field) printed(t *Target) bool {
	if f.when != nil {
		return f.when(t)
	}
	v := reflect.ValueOf(f.at(t)).Elem()
	return !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0)
}

// YAML prints a valid target with its defaults spelled out. Parse reads back the same
// target, except for the places of its settings. It prints where secrets are, and never a
// secret.
func (t *Target) YAML() string { return t.keys().YAML() }

package target

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
)

// The bounds of a target.
const (
	MaxNodes     = 9
	MaxEndpoints = 100
	MaxProcesses = 100

	defaultNodes = 3
	maxName      = 64
	maxText      = 4096 // bytes of an endpoint, a path or a setting's name
)

// file is a target as it is written.
type file struct {
	Name        string          `yaml:"name"`
	System      string          `yaml:"system"`
	Endpoints   []string        `yaml:"endpoints"`
	Testbed     fileTestbed     `yaml:"testbed"`
	Settings    strict.Pairs    `yaml:"settings"`
	Credentials fileCredentials `yaml:"credentials"`
	TLS         fileTLS         `yaml:"tls"`
	Processes   []fileProcess   `yaml:"processes"`
	Password    strict.Refused  `yaml:"password" refuse:"must not stand in a file that others may read: write credentials: {password_env: NAME}, the name of an environment variable that holds it"`
}

type fileTLS struct {
	CAFile     string `yaml:"ca_file"`
	CertFile   string `yaml:"cert_file"`
	KeyFile    string `yaml:"key_file"`
	ServerName string `yaml:"server_name"`

	Insecure strict.Refused `yaml:"insecure" refuse:"is not offered: name the certificate that signed the servers' own in ca_file, and the name it holds in server_name"`
	Key      strict.Refused `yaml:"key" refuse:"must not stand in a file that others may read: write key_file, the path of the file that holds it"`
}

type fileProcess struct {
	Name string `yaml:"name"`
	PID  int    `yaml:"pid"`
}

type fileTestbed struct {
	Nodes quantity.Number `yaml:"nodes"`
	Dir   string          `yaml:"dir"`
}

type fileCredentials struct {
	UserEnv           string `yaml:"user_env"`
	UserFile          string `yaml:"user_file"`
	PasswordEnv       string `yaml:"password_env"`
	PasswordFile      string `yaml:"password_file"`
	AdminUserEnv      string `yaml:"admin_user_env"`
	AdminUserFile     string `yaml:"admin_user_file"`
	AdminPasswordEnv  string `yaml:"admin_password_env"`
	AdminPasswordFile string `yaml:"admin_password_file"`

	User          strict.Refused `yaml:"user" refuse:"must not stand in a file that others may read: write user_env, the name of an environment variable that holds it, or user_file"`
	Password      strict.Refused `yaml:"password" refuse:"must not stand in a file that others may read: write password_env, the name of an environment variable that holds it, or password_file"`
	AdminUser     strict.Refused `yaml:"admin_user" refuse:"must not stand in a file that others may read: write admin_user_env, the name of an environment variable that holds it, or admin_user_file"`
	AdminPassword strict.Refused `yaml:"admin_password" refuse:"must not stand in a file that others may read: write admin_password_env, the name of an environment variable that holds it, or admin_password_file"`
	Token         strict.Refused `yaml:"token" refuse:"must not stand in a file that others may read: write password_env, the name of an environment variable that holds it, or password_file"`
}

// Of is the target that a system's name alone means: a cluster of three nodes
// that plimsoll starts itself, with the system's default settings.
func Of(system string) *Target {
	return &Target{Name: system, System: system, Testbed: Testbed{Nodes: defaultNodes}}
}

// Parse reads a target from YAML and checks every rule that needs no system.
// The file is named in errors only. The error is a strict.Violations with
// everything that is wrong.
func Parse(fileName string, src []byte) (*Target, error) {
	return parse(fileName, src, nil)
}

// parse is Parse, and checks the system's name against those given, if any.
func parse(fileName string, src []byte, systemNames []string) (*Target, error) {
	f := file{Testbed: fileTestbed{Nodes: defaultNodes}}
	doc := strict.Decode(fileName, src, &f)
	if doc.Broken() {
		return nil, doc.Err()
	}
	f.checkSpelling(doc)
	t := f.target(doc)
	t.check(doc)
	if len(systemNames) > 0 && t.System != "" && !slices.Contains(systemNames, t.System) {
		doc.Reject("system",
			"is not one that exists: "+strict.Unknown("system", t.System, systemNames))
	}
	if err := doc.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// checkSpelling checks the rules that are about the file and not about the
// target it makes: which keys go together.
func (f *file) checkSpelling(doc *strict.Document) {
	if doc.Has("endpoints") && doc.Has("testbed") {
		doc.Reject("testbed",
			"cannot stand beside endpoints: endpoints name a cluster that runs, a testbed is one "+
				"to start, keep one")
	}
	if doc.Has("endpoints") && len(f.Endpoints) == 0 {
		doc.Reject("endpoints",
			"names none: list host:port, or remove the key and plimsoll starts a cluster")
	}
	if doc.Has("name") && f.Name == "" {
		doc.Reject("name", "is empty: give one or remove the key")
	}
}

func (f *file) target(doc *strict.Document) *Target {
	t := &Target{
		Name: cmp.Or(f.Name, f.System), System: f.System, Endpoints: f.Endpoints,
		Testbed: Testbed{Nodes: int(f.Testbed.Nodes), Dir: f.Testbed.Dir},
	}
	if doc.Has("endpoints") {
		t.Testbed = Testbed{}
	}
	for _, pair := range f.Settings {
		t.Settings = append(t.Settings, Setting{Name: pair.Name, Value: pair.Value, At: pair.At})
	}
	c := f.Credentials
	t.Credentials = Credentials{
		UserEnv: c.UserEnv, UserFile: c.UserFile, PasswordEnv: c.PasswordEnv,
		PasswordFile: c.PasswordFile,
		AdminUserEnv: c.AdminUserEnv, AdminUserFile: c.AdminUserFile,
		AdminPasswordEnv: c.AdminPasswordEnv, AdminPasswordFile: c.AdminPasswordFile,
	}
	t.TLS = TLS{Enabled: doc.Has("tls"), CAFile: f.TLS.CAFile, CertFile: f.TLS.CertFile,
		KeyFile: f.TLS.KeyFile, ServerName: f.TLS.ServerName}
	for _, p := range f.Processes {
		t.Processes = append(t.Processes, Process(p))
	}
	return t
}

// Find resolves what -t may be: a system's name or the path of a file, and
// returns the target together with the YAML it was read from. The names are
// those of the systems that exist. The error is a strict.Violations when a file
// does not hold a valid target, and one sentence when there is no such file or
// system.
func Find(nameOrPath string, systemNames []string) (t *Target, source string, err error) {
	if slices.Contains(systemNames, nameOrPath) {
		t = Of(nameOrPath)
		return t, "system: " + strict.Quote(nameOrPath) + "\n", nil
	}
	if nameOrPath == "" {
		return nil, "", fmt.Errorf("the target is empty: name a file, or one of the systems %s",
			strings.Join(systemNames, ", "))
	}
	if !strict.IsPath(nameOrPath) {
		return nil, "", errors.New(strict.Unknown("system", nameOrPath, systemNames))
	}
	src, err := strict.ReadFile(nameOrPath)
	if err != nil {
		return nil, "", fmt.Errorf("target file %w", err)
	}
	t, err = parse(nameOrPath, src, systemNames)
	if err != nil {
		return nil, "", err
	}
	return t, string(src), nil
}

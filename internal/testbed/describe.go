package testbed

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

// describe writes the target with which plimsoll run reaches the cluster. Each secret is in
// a file that only its owner may read. All paths are absolute, so that the target works from
// any directory.
func (r *folder) describe(name string, o Order, bed *Testbed) error {
	cluster := bed.cluster
	t := &target.Target{
		Name: name, System: o.System, Endpoints: cluster.Endpoints(), Settings: o.Settings,
	}
	if bed.hosts == nil {
		t.Processes = processesOf(name, cluster.Nodes())
	}
	secrets := filepath.Join(r.dir, secretsName)
	if err := os.Mkdir(secrets, 0o700); err != nil {
		return err
	}
	c := cluster.Credentials()
	for _, s := range []struct {
		name, value string
		path        *string
	}{
		{"user", c.User, &t.Credentials.UserFile},
		{"password", c.Password, &t.Credentials.PasswordFile},
		{"admin_user", c.AdminUser, &t.Credentials.AdminUserFile},
		{"admin_password", c.AdminPassword, &t.Credentials.AdminPasswordFile},
	} {
		if s.value == "" {
			continue
		}
		*s.path = filepath.Join(secrets, s.name)
		if err := os.WriteFile(*s.path, []byte(s.value+"\n"), 0o600); err != nil {
			return err
		}
	}
	if cluster.TLS() != nil {
		if cluster.CAFile() == "" {
			return errors.New("the cluster is encrypted and gives no file with its authority's " +
				"certificate, which the target needs: use a setting without encryption")
		}
		t.TLS = target.TLS{Enabled: true, CAFile: cluster.CAFile()}
	}
	if err := t.Validate(); err != nil {
		return err
	}
	return result.ReplaceFile(filepath.Join(r.dir, targetName), []byte(t.YAML()))
}

// processesOf lists the processes to observe. Servers that share a process, because they
// run in-process with the owner, count as one.
func processesOf(name string, nodes []system.Node) []target.Process {
	shared := map[int]int{}
	for _, n := range nodes {
		shared[n.PID]++
	}
	var all []target.Process
	for _, n := range nodes {
		switch shared[n.PID] {
		case 0: // listed already
			continue
		case 1:
			all = append(all, target.Process{Name: n.Name, PID: n.PID})
		default:
			all = append(all, target.Process{Name: name, PID: n.PID})
		}
		shared[n.PID] = 0
	}
	return all
}

package command

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/fleet"
	"github.com/plimsoll-bench/plimsoll/internal/kubernetes"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// fleetCommand holds the commands for before and after a fleet's run.
type fleetCommand struct {
	Identity fleetIdentityCommand `cmd:"" help:"Print the identity of a coordinator to be started later, for --fleet-identity: a secret."`
	Token    fleetTokenCommand    `cmd:"" help:"Print the join token of an identity, for workers: a secret."`
	Manifest manifestCommand      `cmd:"" help:"Print what kubectl apply takes to run an experiment on a fleet in Kubernetes."`
	Pack     packCommand          `cmd:"" help:"Write a folder of run directories to standard output, as a compressed tar archive: for kubectl exec."`
}

type fleetIdentityCommand struct{}

// Run prints a new identity.
func (*fleetIdentityCommand) Run(con console) error {
	identity, err := fleet.NewIdentity()
	if err != nil {
		return err
	}
	text, err := identity.Text()
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(con.out, text)
	return err
}

type fleetTokenCommand struct {
	Identity string `arg:"" type:"path" help:"The file with the identity."`
}

// Run prints the join token of an identity.
func (c *fleetTokenCommand) Run(con console) error {
	identity, err := readIdentity(c.Identity)
	if err != nil {
		return inputError{err}
	}
	_, err = fmt.Fprintln(con.out, identity.Token().Text())
	return err
}

type packCommand struct {
	Dir string `arg:"" optional:"" default:"runs" type:"path" help:"The folder."`
}

// Run packs a folder.
func (c *packCommand) Run(con console) error {
	info, err := os.Stat(c.Dir)
	switch {
	case err != nil:
		return inputError{fmt.Errorf("%s does not exist: name a folder of runs", relative(c.Dir))}
	case !info.IsDir():
		return inputError{fmt.Errorf("%s is not a folder: name a folder of runs", relative(c.Dir))}
	}
	return kubernetes.Pack(con.out, c.Dir)
}

// readIdentity reads the file with a coordinator's identity, which only this user may read. A
// pod's files belong to another user and are readable by the pod's group.
func readIdentity(path string) (*fleet.Identity, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() {
		refused := fs.FileMode(0o077)
		if !ownedByMe(info) {
			refused = 0o027
		}
		if info.Mode().Perm()&refused != 0 {
			return nil, fmt.Errorf("others may read the identity in %s: chmod 600 it, or make "+
				"another one", path)
		}
	}
	raw, err := strict.ReadFile(path)
	if err != nil {
		return nil, err
	}
	identity, err := fleet.ParseIdentity(raw, time.Now())
	if err != nil {
		return nil, fmt.Errorf("%s is not a coordinator's identity: %w", path, err)
	}
	return identity, nil
}

// ownedByMe reports whether a file belongs to this process's user.
func ownedByMe(info fs.FileInfo) bool {
	s, is := info.Sys().(*syscall.Stat_t)
	return !is || int(s.Uid) == os.Geteuid()
}

// manifestCommand prints a manifest for Kubernetes.
type manifestCommand struct {
	Workload string   `short:"w" default:"default" placeholder:"NAME|FILE" help:"The load to offer: a built-in workload, or a YAML file."`
	Target   []string `short:"t" sep:"none" required:"" placeholder:"NAME|FILE" help:"The target of the load: a YAML file with endpoints that pods reach, or with --hosts a system whose servers they start; repeat it to measure one after the other."`
	Workers  int      `required:"" placeholder:"N" help:"The number of workers, each a pod."`

	Hosts       int    `placeholder:"N" help:"The number of hosts, each a pod that runs servers of its own."`
	HostCPU     string `name:"host-cpu" default:"2" help:"The CPU of each host."`
	HostMemory  string `default:"4Gi" help:"The memory of each host."`
	HostStorage string `default:"20Gi" help:"The size of the volume of each host, which is deleted with it."`

	Name            string `default:"plimsoll" help:"The prefix of all objects' names."`
	Namespace       string `placeholder:"NAME" help:"The namespace of the objects. Default: kubectl's."`
	CreateNamespace bool   `help:"Create the namespace too. kubectl delete -f then deletes it with everything in it."`
	Image           string `default:"${default_image}" help:"The image that the Dockerfile builds, under a name that the cluster can pull."`
	Secret          string `placeholder:"NAME" help:"Your Secret with the credentials of targets: a variable that a target names is a key of it, and each key is a file in /etc/plimsoll/secret."`

	CPU               string `name:"cpu" default:"2" help:"The CPU of each worker, its request and its limit."`
	Memory            string `default:"2Gi" help:"The memory of each worker."`
	CoordinatorCPU    string `name:"coordinator-cpu" default:"1" help:"The CPU of the coordinator."`
	CoordinatorMemory string `default:"1Gi" help:"The memory of the coordinator."`
	Storage           string `default:"10Gi" help:"The size of the volume with the results."`
	StorageClass      string `placeholder:"NAME" help:"Its class. Default: the cluster's."`

	FleetIdentity string   `type:"path" placeholder:"FILE" help:"The coordinator's identity (plimsoll fleet identity). Default: a new one."`
	Command       []string `arg:"" optional:"" help:"After --: the experiment and its flags, like run --rate 1M/s. Default: run."`
}

// defaultImage is the image of this version.
func defaultImage() string { return "plimsoll:" + strings.ReplaceAll(build().Version, "+", "-") }

// Run prints the manifest.
func (c *manifestCommand) Run(con console) error {
	m, err := c.manifest()
	if err != nil {
		return inputError{err}
	}
	text, err := m.YAML()
	if err != nil {
		return inputError{err}
	}
	if _, err := fmt.Fprint(con.out, text); err != nil {
		return err
	}
	_, err = fmt.Fprintln(con.err, "the manifest holds the fleet's secrets: keep it private, "+
		"and delete it with the objects that it created")
	return err
}

func (c *manifestCommand) manifest() (*kubernetes.Manifest, error) {
	m := &kubernetes.Manifest{
		Name: c.Name, Namespace: c.Namespace, CreateNamespace: c.CreateNamespace, Image: c.Image,
		Workers: c.Workers, Worker: kubernetes.Resources{CPU: c.CPU, Memory: c.Memory},
		Coordinator: kubernetes.Resources{CPU: c.CoordinatorCPU, Memory: c.CoordinatorMemory},
		Hosts:       c.Hosts, Host: kubernetes.Resources{CPU: c.HostCPU, Memory: c.HostMemory},
		HostStorage: c.HostStorage,
		Storage:     c.Storage, StorageClass: c.StorageClass, Secret: c.Secret,
		PageToken: rand.Text(),
	}
	if err := c.identify(m); err != nil {
		return nil, err
	}
	args, err := c.files(m)
	if err != nil {
		return nil, err
	}
	experiment, rest := "run", c.Command
	if len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		experiment, rest = rest[0], rest[1:]
	}
	m.Args = append(append([]string{experiment}, rest...), args...)
	return m, checkArguments(m.Args)
}

// identify gives the manifest the identity of its coordinator.
func (c *manifestCommand) identify(m *kubernetes.Manifest) (err error) {
	var identity *fleet.Identity
	if c.FleetIdentity == "" {
		identity, err = fleet.NewIdentity()
	} else if identity, err = readIdentity(c.FleetIdentity); err != nil {
		err = fmt.Errorf("--fleet-identity: %w", err)
	}
	if err != nil {
		return err
	}
	m.JoinToken = identity.Token().Text()
	m.Identity, err = identity.Text()
	return err
}

// files gives the manifest the workload and the targets, and returns the coordinator's arguments
// that name them.
func (c *manifestCommand) files(m *kubernetes.Manifest) (args []string, err error) {
	add := func(name, text string) string {
		m.Files = append(m.Files, kubernetes.File{Name: name, Text: text})
		return path.Join(kubernetes.FilesFolder, name)
	}
	in := inputs{Workload: c.Workload}
	w, err := in.workload()
	if err != nil {
		return nil, err
	}
	args = append(args, "-w", add("workload.yaml", in.source))
	for i, name := range c.Target {
		t, text, err := findTarget(name)
		if err == nil {
			err = c.check(w, t)
		}
		if err != nil {
			return nil, fmt.Errorf("target %s: %w", name, err)
		}
		args = append(args, "-t", add(fmt.Sprintf("target-%d.yaml", i+1), text))
		secret := t.Credentials
		for _, variable := range []string{secret.UserEnv, secret.PasswordEnv, secret.AdminUserEnv,
			secret.AdminPasswordEnv} {
			if variable != "" && !slices.Contains(m.Variables, variable) {
				m.Variables = append(m.Variables, variable)
			}
		}
	}
	if c.Hosts > 0 {
		args = append(args, "--hosts", strconv.Itoa(c.Hosts))
	}
	return append(args,
		"--workers-from", path.Join(kubernetes.FilesFolder, kubernetes.NamesFile),
		"--fleet-listen", net.JoinHostPort("0.0.0.0", strconv.Itoa(kubernetes.JoinPort)),
		"--fleet-identity", kubernetes.IdentityFile, "--runs", kubernetes.RunsFolder), nil
}

// check refuses a target that the coordinator's pod could not use.
func (c *manifestCommand) check(w *workload.Workload, t *target.Target) error {
	s, err := systems.Registry().Get(t.System)
	if err != nil {
		return err
	}
	if system.Starts(s, t) && c.Hosts == 0 {
		return errors.New("without --hosts plimsoll starts no servers in a cluster: give it, or " +
			"give the target the endpoints of servers that pods reach")
	}
	if len(t.Processes) > 0 {
		return errors.New("processes belong to one machine: remove them")
	}
	settings, err := s.Describe().Resolve(w.Clients, t.Settings)
	if err != nil {
		return err
	}
	secret := t.Credentials
	for _, file := range []string{secret.UserFile, secret.PasswordFile, secret.AdminUserFile,
		secret.AdminPasswordFile, t.TLS.CAFile, t.TLS.CertFile, t.TLS.KeyFile} {
		if file == "" {
			continue
		}
		if path.Dir(path.Clean(file)) != kubernetes.SecretFolder || c.Secret == "" {
			return fmt.Errorf("a pod has no file %s: put it into the Secret that --secret names, "+
				"under a key, and write %s/KEY", file, kubernetes.SecretFolder)
		}
	}
	job := &bench.Job{Workload: w, Target: t, System: s, Settings: settings, Clock: clock.Precise(),
		OnHosts: c.Hosts}
	return job.Check()
}

// checkArguments refuses arguments that the coordinator would refuse.
func checkArguments(args []string) error {
	ended := false
	parser, err := newParser(io.Discard, io.Discard, func(int) { ended = true })
	if err != nil {
		return err
	}
	if _, err = parser.Parse(args); err == nil && ended {
		err = errors.New("it is not an experiment")
	}
	if err != nil {
		return fmt.Errorf("the command %s: %w", strict.Quote(args[0]), err)
	}
	return nil
}

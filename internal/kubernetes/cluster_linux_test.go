package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	toolsVariable = "PLIMSOLL_KUBERNETES"
	startLimit    = 2 * time.Minute
	commandLimit  = 3 * time.Minute
	nodes         = 2
	outside       = "10.99.0.1" // this machine, as the pods see it
	inside        = "10.99.0.2" // the control plane
	door          = "plimsoll-kube"
	groupName     = "plimsoll-kubernetes" // as in cluster.sh
)

// cluster is a real Kubernetes in namespaces of this machine.
type cluster struct {
	tools, run string
	exited     chan struct{}
}

// findTools skips the test by name where the cluster cannot run.
func findTools(t *testing.T) string {
	t.Helper()
	tools := os.Getenv(toolsVariable)
	switch {
	case tools == "":
		t.Skipf("%s does not name the folder with Kubernetes' programs: see docs/KUBERNETES.md",
			toolsVariable)
	case os.Geteuid() != 0:
		t.Skip("the nodes of a cluster need root on Linux")
	}
	for _, name := range []string{"bin/kubeall", "bin/coredns", "images/pause.tar",
		"root/usr/bin/containerd", "root/usr/bin/ctr", "root/usr/sbin/runc", "root/usr/sbin/nft",
		"root/usr/sbin/conntrack", "root/usr/lib/cni/bridge", "root/usr/lib/cni/host-local"} {
		if _, err := os.Stat(filepath.Join(tools, name)); err != nil {
			t.Skipf("%s is missing in the folder of %s: see docs/KUBERNETES.md", name, toolsVariable)
		}
	}
	for _, name := range []string{"unshare", "ip", "openssl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is missing", name)
		}
	}
	if _, err := net.InterfaceByName(door); err == nil {
		t.Skipf("another cluster of this test runs on this machine: it has the network %s", door)
	}
	if _, err := os.Stat("/sys/fs/cgroup/cpuset/cpuset.cpus"); err != nil {
		t.Skip("the nodes of the test's cluster need control groups of version 1")
	}
	return tools
}

// start starts a cluster whose nodes have the images. It ends with the test.
func start(t *testing.T, tools string, images ...string) *cluster {
	t.Helper()
	c := &cluster{tools: tools, run: t.TempDir(), exited: make(chan struct{})}
	script, err := filepath.Abs("testdata/cluster.sh")
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(c.run, "control.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child",
		"--mount-proc", "bash", script, "control")
	cmd.Env = append(os.Environ(), "TOOLS="+tools, "RUN="+c.run, fmt.Sprintf("NODES=%d", nodes),
		"IMAGES="+strings.Join(images, " "))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	began := make(chan error)
	go func() {
		// The cluster dies with the thread that started it.
		runtime.LockOSThread()
		defer close(c.exited)
		err := cmd.Start()
		began <- err
		if err == nil {
			_ = cmd.Wait() // it is always killed
		}
	}()
	if err := <-began; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			c.logs(t)
		}
		_ = cmd.Process.Kill()
		<-c.exited
		c.sweep(t)
	})
	c.connect(t, cmd.Process.Pid)
	c.await(t, "the API server", "get", "--raw", "/readyz")
	c.await(t, "the controllers", "get", "serviceaccount", "default")
	for n := range nodes {
		c.await(t, "a node", "wait", "--for=condition=Ready", fmt.Sprintf("node/node%d", n+1),
			"--timeout=5s")
	}
	return c
}

// connect gives the cluster its network, whose other end is on this machine.
func (c *cluster) connect(t *testing.T, pid int) {
	t.Helper()
	child := ""
	c.until(t, "the namespaces", func() bool {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		child = strings.TrimSpace(string(raw))
		return err == nil && child != ""
	})
	for _, args := range [][]string{
		{"link", "add", door, "type", "veth", "peer", "name", "eth0", "netns", child},
		{"addr", "add", outside + "/24", "dev", door},
		{"link", "set", door, "up"},
		{"route", "add", "10.99.0.0/16", "via", inside},
		{"route", "add", "10.244.0.0/16", "via", inside},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
}

// sweep removes the control groups and the nodes' files. The kernel takes a moment until the last
// process is gone.
func (c *cluster) sweep(t *testing.T) {
	_ = exec.Command("ip", "link", "del", door).Run() // it goes with the namespace
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		roots, err := filepath.Glob("/sys/fs/cgroup/*/" + groupName)
		if err != nil || len(roots) == 0 {
			return
		}
		for _, root := range roots {
			removeGroups(root)
		}
		if time.Now().After(deadline) {
			t.Errorf("these control groups are left: %v", roots)
			return
		}
	}
}

func removeGroups(root string) {
	var all []string
	_ = filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			all = append(all, name)
		}
		return nil
	})
	for _, name := range slices.Backward(all) {
		_ = os.Remove(name) // tried again
	}
}

// until waits for something of the cluster.
func (c *cluster) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(startLimit); !done(); time.Sleep(200 * time.Millisecond) {
		select {
		case <-c.exited:
			t.Fatalf("the cluster ended before %s was there", what)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s was not there within %s", what, startLimit)
		}
	}
}

func (c *cluster) await(t *testing.T, what string, args ...string) {
	t.Helper()
	c.until(t, what, func() bool {
		_, err := c.try(t, nil, args...)
		return err == nil
	})
}

// try runs kubectl.
func (c *cluster) try(t *testing.T, input []byte, args ...string) (out []byte, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(c.tools, "bin", "kubeall"),
		append([]string{"kubectl", "--kubeconfig", filepath.Join(c.run, "admin.kubeconfig")},
			args...)...)
	cmd.Stdin = strings.NewReader(string(input))
	out, err = cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return out, err
}

// kubectl runs kubectl, which must not fail.
func (c *cluster) kubectl(t *testing.T, input []byte, args ...string) string {
	t.Helper()
	out, err := c.try(t, input, args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// logs prints the logs of a cluster in which a test failed.
func (c *cluster) logs(t *testing.T) {
	for _, args := range [][]string{{"get", "all,pvc,pv,events", "-o", "wide"},
		{"logs", "--prefix", "--tail=30", "-l", "app.kubernetes.io/name=plimsoll"}} {
		if out, err := c.try(t, nil, args...); err == nil {
			t.Logf("%s", out)
		} else {
			t.Log(err)
		}
	}
	all, _ := filepath.Glob(filepath.Join(c.run, "log", "*"))
	for _, name := range append(all, filepath.Join(c.run, "control.log")) {
		raw, err := os.ReadFile(name)
		if err == nil {
			t.Logf("the end of %s:\n%s", filepath.Base(name), raw[max(0, len(raw)-1500):])
		}
	}
}

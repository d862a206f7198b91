package driver

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	hostsFile  = "hosts"
	tempFolder = "tmp"
)

// Jars are the programs of a system's servers, downloaded once: a maven.Artifacts or
// a maven.Archive.
type Jars interface {
	Fetch(ctx context.Context, progress func(sentence string)) (dir string, err error)
	// Fetched reports whether Fetch would find the files on this machine.
	Fetched() bool
}

// Collectors are the options of Java's garbage collectors, by the names that settings give them.
var Collectors = map[string]string{
	"g1": "-XX:+UseG1GC", "serial": "-XX:+UseSerialGC", "zgc": "-XX:+UseZGC",
}

// FindJava returns a *system.Missing when Java or Maven, which FetchJava needs, is missing. It
// names all missing software, so that one installation suffices.
func FindJava(jars Jars) error {
	if jars.Fetched() {
		_, err := maven.Java()
		return err
	}
	return maven.Available()
}

// Java runs classes on the Java virtual machine.
type Java struct {
	Path string // of the java program
	Dir  string // of the downloaded files
	// Classpath lists the classes. FetchJava sets it to all jars of Dir.
	Classpath string
}

// FetchJava downloads the servers' jars, unless they are on this machine already, and
// finds a java program to run them. progress may be nil.
func FetchJava(ctx context.Context, jars Jars, progress func(sentence string)) (Java, error) {
	if err := FindJava(jars); err != nil {
		return Java{}, err
	}
	path, err := maven.Java()
	if err != nil {
		return Java{}, err
	}
	dir, err := jars.Fetch(ctx, progress)
	return Java{Path: path, Dir: dir, Classpath: maven.Classpath(dir)}, err
}

// JavaOf is FetchJava for the servers of a request; where other machines have all of them, it does
// nothing.
func JavaOf(ctx context.Context, p system.Provision, jars Jars) (Java, error) {
	if p.Away() {
		return Java{}, nil
	}
	return FetchJava(ctx, jars, nil)
}

// Furnish is Cluster.Furnish with the files to which Options refers.
func (Java) Furnish(c *Cluster, n *Node, files map[string]string, folders ...string) error {
	hosts, err := process.Hosts()
	if err != nil {
		return err
	}
	all := map[string]string{hostsFile: string(hosts)}
	maps.Copy(all, files)
	return c.Furnish(n, all, append(folders, tempFolder)...)
}

// Options returns the options of a server's virtual machine: a heap of the given bytes, reserved
// whole at the start, and the node's own folder for temporary files and its own hosts file. Native
// libraries are unpacked into that folder; elsewhere they would remain after a kill.
func (Java) Options(n *Node, heap int64) []string {
	bytes := strconv.FormatInt(heap, 10)
	return []string{
		"-Xms" + bytes, "-Xmx" + bytes,
		"-Djava.awt.headless=true", "-Djava.net.preferIPv4Stack=true",
		"-Djava.io.tmpdir=" + n.Path(tempFolder), "-Djdk.net.hosts.file=" + n.Path(hostsFile),
	}
}

// Command runs a class with the machine's options and the class's arguments.
func (j Java) Command(options []string, class string, args ...string) process.Spec {
	return process.Spec{
		Path: j.Path, Env: []string{"LC_ALL=C.UTF-8"},
		Args: slices.Concat(options, []string{"-cp", j.Classpath, class}, args),
	}
}

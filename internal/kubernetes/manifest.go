package kubernetes

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"unicode"

	"github.com/plimsoll-bench/plimsoll/internal/fleet"
)

// The paths within a pod.
const (
	FilesFolder  = "/etc/plimsoll/files" // the manifest's own files
	SecretFolder = "/etc/plimsoll/secret"
	IdentityFile = "/etc/plimsoll/identity/identity"
	TokenFile    = "/etc/plimsoll/join/token"
	RunsFolder   = "/runs"
	DataFolder   = "/data"   // of a host
	NamesFile    = "workers" // in FilesFolder: the names of the workers
	JoinPort     = 7433
	PagePort     = 8080
)

// Manifest is an experiment on a fleet.
type Manifest struct {
	Name            string // of all objects: the beginning of their names
	Namespace       string // empty: the one that kubectl has
	CreateNamespace bool
	Image           string
	Workers         int
	Worker          Resources // of each
	Coordinator     Resources
	Hosts           int // that run servers; 0: none
	Host            Resources
	HostStorage     string // of the volume of each
	Storage         string // of the volume with the results
	StorageClass    string // empty: the cluster's default
	Args            []string
	Files           []File // in FilesFolder of the coordinator
	// Secret is the name of the user's Secret. The coordinator has its keys as files in
	// SecretFolder, and those in Variables as variables of its environment.
	Secret    string
	Variables []string

	Identity, JoinToken, PageToken string // secrets
}

// Resources are the requests of a pod, which are its limits too.
type Resources struct{ CPU, Memory string }

// File is a file of the manifest's own.
type File struct{ Name, Text string }

//go:embed manifest.yaml.tmpl
var source string

var page = template.Must(template.New("manifest").Funcs(template.FuncMap{
	"text": quoted, "lines": block, "argument": argument,
}).Parse(source))

// YAML returns the manifest. It holds the fleet's secrets.
func (m *Manifest) YAML() (string, error) {
	if err := m.check(); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := page.Execute(&b, m); err != nil {
		return "", fmt.Errorf("write the manifest: %w", err)
	}
	return b.String(), nil
}

// The paths and ports that the template has.

// FilesFolder is FilesFolder.
func (*Manifest) FilesFolder() string { return FilesFolder }

// SecretFolder is SecretFolder.
func (*Manifest) SecretFolder() string { return SecretFolder }

// TokenFile is TokenFile.
func (*Manifest) TokenFile() string { return TokenFile }

// RunsFolder is RunsFolder.
func (*Manifest) RunsFolder() string { return RunsFolder }

// DataFolder is DataFolder.
func (*Manifest) DataFolder() string { return DataFolder }

// JoinPort is JoinPort.
func (*Manifest) JoinPort() int { return JoinPort }

// PagePort is PagePort.
func (*Manifest) PagePort() int { return PagePort }

// Names are the names of the workers, which are those of their pods, a line each.
func (m *Manifest) Names() string {
	var b strings.Builder
	for i := range m.Workers {
		fmt.Fprintf(&b, "%s-worker-%d\n", m.Name, i)
	}
	return b.String()
}

var (
	label    = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	object   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	cpu      = regexp.MustCompile(`^([1-9][0-9]{0,3}(\.[0-9]{1,3})?|0\.[0-9]{1,3}|[1-9][0-9]{0,6}m)$`)
	size     = regexp.MustCompile(`^[1-9][0-9]{0,8}(Ki|Mi|Gi|Ti)$`)
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

const (
	longestName   = 40  // with its suffix a label of at most 63 characters
	longestObject = 63  // of a namespace, a Secret or a class
	longestImage  = 500 // with registry, tag and digest
	mostFileBytes = 900_000
)

// check refuses values that a cluster would refuse later or misread.
func (m *Manifest) check() error {
	if len(m.Name) > longestName || !label.MatchString(m.Name) {
		return fmt.Errorf("%q is not a valid name of an object: write up to %d small letters, "+
			"digits and -, a letter first", m.Name, longestName)
	}
	for _, o := range []struct{ what, name string }{
		{"namespace", m.Namespace}, {"Secret", m.Secret}, {"storage class", m.StorageClass},
	} {
		if o.name != "" && (len(o.name) > longestObject || !object.MatchString(o.name)) {
			return fmt.Errorf("%q is not a valid name of a %s: write up to %d small letters, "+
				"digits, hyphens and dots", o.name, o.what, longestObject)
		}
	}
	if m.CreateNamespace && m.Namespace == "" {
		return errors.New("the namespace to create has no name: give --namespace")
	}
	if m.Workers < 1 || m.Workers > fleet.MostWorkers {
		return fmt.Errorf("%d workers: give a number from 1 to %d", m.Workers, fleet.MostWorkers)
	}
	if m.Image == "" || len(m.Image) > longestImage || strings.ContainsFunc(m.Image, unsafe) {
		return fmt.Errorf("%q is not a valid name of an image: write it like registry/plimsoll:1.2",
			m.Image)
	}
	if m.Hosts < 0 || m.Hosts > fleet.MostHosts {
		return fmt.Errorf("%d hosts: give a number from 1 to %d", m.Hosts, fleet.MostHosts)
	}
	pods, volumes := []Resources{m.Worker, m.Coordinator}, []string{m.Storage}
	if m.Hosts > 0 {
		pods, volumes = append(pods, m.Host), append(volumes, m.HostStorage)
	}
	for _, r := range pods {
		if !cpu.MatchString(r.CPU) {
			return fmt.Errorf("%q is not an amount of CPU: write cores like 2, or thousandths "+
				"like 500m", r.CPU)
		}
		if !size.MatchString(r.Memory) {
			return fmt.Errorf("%q is not an amount of memory: write it like 2Gi", r.Memory)
		}
	}
	for _, v := range volumes {
		if !size.MatchString(v) {
			return fmt.Errorf("%q is not the size of a volume: write it like 10Gi", v)
		}
	}
	return m.checkContents()
}

func (m *Manifest) checkContents() error {
	for _, name := range m.Variables {
		if !variable.MatchString(name) {
			return fmt.Errorf("%q is not a valid name of a variable: write letters, digits and "+
				"_, no digit first", name)
		}
	}
	if len(m.Variables) > 0 && m.Secret == "" {
		return fmt.Errorf("a target reads %s from the environment: name the Secret that has "+
			"them as keys, with --secret", strings.Join(m.Variables, ", "))
	}
	all := len(m.Names())
	for _, f := range m.Files {
		all += len(f.Text)
	}
	if all > mostFileBytes {
		return fmt.Errorf("the files have %d bytes, but a ConfigMap takes at most %d: leave out "+
			"files, or shorten them", all, mostFileBytes)
	}
	return nil
}

func unsafe(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }

// quoted writes any text as a YAML scalar. All of Go's escapes are YAML's too.
func quoted(text string) string { return strconv.QuoteToASCII(text) }

// argument writes an argument of a container, in which $(NAME) would be replaced by a variable.
func argument(text string) string {
	return quoted(strings.ReplaceAll(text, "$(", "$$("))
}

// block writes a text of lines as people read it, and every other one quoted.
func block(indent int, text string) string {
	odd := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") || lines[0] == "" ||
		lines[0][0] == ' ' || strings.ContainsFunc(text, odd) {
		return quoted(text)
	}
	var b strings.Builder
	b.WriteString("|")
	for _, line := range lines {
		b.WriteString("\n")
		if line != "" {
			b.WriteString(strings.Repeat(" ", indent) + line)
		}
	}
	return b.String()
}
